package web

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"

	"watchmark/internal/catalog/account"
	"watchmark/internal/record"
)

// unroutedMost is how many users without an account a page lists.
const unroutedMost = 20

// unroutedUser is a user of a media server whom no account lists, with the accounts that could.
type unroutedUser struct {
	User string
	// Accounts are the enabled accounts, or none when there are More than have room; one is then chosen on their page.
	// Disabled is the name of a disabled account that lists the user; empty without one.
	Accounts []account.Account
	More     bool
	Disabled string
}

// Body is the request body that names the user.
func (u unroutedUser) Body() string {
	body, _ := json.Marshal(map[string]string{"name": u.User}) // a map of strings always encodes
	return string(body)
}

// RetryPath is the path of the API that retries the user's failed records.
func (u unroutedUser) RetryPath() string { return "/api/records/retry?user=" + url.QueryEscape(u.User) }

// Path is the path of the user's records.
func (u unroutedUser) Path() string { return "/records?user=" + url.QueryEscape(u.User) }

// unroutedLine is an unrouted user with their records.
type unroutedLine struct {
	unroutedUser
	record.Unrouted
}

// User is the name; both parts have one.
func (l unroutedLine) User() string { return l.unroutedUser.User }

// ChoosePath is the page where the account of the user is chosen.
func (u unroutedUser) ChoosePath() string { return "/people?add=" + url.QueryEscape(u.User) }

// offeredAccounts is how many accounts a card offers by a button each.
const offeredAccounts = 6

// offers are the accounts to which users of media servers can be added.
type offers struct {
	accounts []account.Account
	more     bool
	// naming are the accounts that list one of the users.
	naming []account.Account
}

// offersFor looks up what can be offered for users.
func offersFor(ctx context.Context, accounts *account.Store, users []string) (o offers, err error) {
	if len(users) == 0 {
		return o, nil
	}
	if o.accounts, err = accounts.Find(ctx, account.Filter{Enabled: true}, 0, offeredAccounts+1); err != nil {
		return o, err
	}
	if o.more = len(o.accounts) > offeredAccounts; o.more {
		o.accounts = nil
	}
	o.naming, err = accounts.Find(ctx, account.Filter{Users: users}, 0, accountsOfUsers)
	return o, err
}

// accountsOfUsers is how many accounts are looked up by the users that they list.
const accountsOfUsers = 1000

// of makes the unrouted user of a name; nil when an enabled account lists the name by now.
func (o offers) of(user string) *unroutedUser {
	u := &unroutedUser{User: user, Accounts: o.accounts, More: o.more}
	for _, a := range o.naming {
		switch {
		case !slices.Contains(a.MediaUserNames, user):
		case a.Enabled:
			return nil
		default:
			u.Disabled = a.Username
		}
	}
	return u
}

// unrouted are the users without an account.
func (g Records) unrouted(ctx context.Context) ([]unroutedLine, error) {
	users, err := g.Records.Unrouted(ctx, unroutedMost)
	if err != nil || len(users) == 0 {
		return nil, err
	}
	var names []string
	for _, u := range users {
		names = append(names, u.User)
	}
	offered, err := offersFor(ctx, g.Accounts, names)
	var lines []unroutedLine
	for _, u := range users {
		if of := offered.of(u.User); of != nil { // nil when an account lists the name since the query
			lines = append(lines, unroutedLine{*of, u})
		}
	}
	return lines, err
}
