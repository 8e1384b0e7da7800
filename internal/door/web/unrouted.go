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
	// Accounts are the enabled accounts. Disabled is the name of a disabled account that lists the user; empty without one.
	Accounts []account.Account
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

// unroutedOf makes the unrouted user of a name; nil when an enabled account lists the name by now.
func unroutedOf(user string, accounts []account.Account) *unroutedUser {
	u := &unroutedUser{User: user, Accounts: enabledOf(slices.Clone(accounts))}
	for _, a := range accounts {
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
	accounts, err := g.Accounts.List(ctx)
	var lines []unroutedLine
	for _, u := range users {
		if of := unroutedOf(u.User, accounts); of != nil { // nil when an account lists the name since the query
			lines = append(lines, unroutedLine{*of, u})
		}
	}
	return lines, err
}
