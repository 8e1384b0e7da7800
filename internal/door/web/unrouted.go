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

// unroutedUser is a media-server user that no account names, and what can be done about that.
type unroutedUser struct {
	User string
	// Accounts could name the user. Disabled is the name of an account that does, and is switched off.
	Accounts []account.Account
	Disabled string
}

// Body is the user as requests name it.
func (u unroutedUser) Body() string {
	body, _ := json.Marshal(map[string]string{"name": u.User}) // a text always encodes
	return string(body)
}

// RetryPath is where the API runs what failed of the user again.
func (u unroutedUser) RetryPath() string { return "/api/records/retry?user=" + url.QueryEscape(u.User) }

// Path is the list of the user's records.
func (u unroutedUser) Path() string { return "/records?user=" + url.QueryEscape(u.User) }

// unroutedLine is such a user with what came from them.
type unroutedLine struct {
	unroutedUser
	record.Unrouted
}

// User is the name.
func (l unroutedLine) User() string { return l.unroutedUser.User }

// unroutedOf is what can be done about a user without an account; nil for one whom an enabled account names by now.
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
		if of := unroutedOf(u.User, accounts); of != nil { // nil for who was added to an account in between
			lines = append(lines, unroutedLine{*of, u})
		}
	}
	return lines, err
}
