package web

import (
	"slices"
	"strconv"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/settings"
	"watchmark/internal/record"
)

// Accounts is the page of the accounts.
type Accounts struct {
	Accounts *account.Store
	Records  *record.Store
	Settings *settings.Manager
}

// tokenURL is the catalog's page where people make a token by hand.
const tokenURL = "https://next.bgm.tv/demo/access-token"

// accountForm is the form of an account; Account is nil for a new one.
type accountForm struct {
	Account *account.Account
	// Seen are user names of media servers in recent events.
	Seen []seenName
}

// TokenURL is the page where a token is made.
func (accountForm) TokenURL() string { return tokenURL }

// ID makes the ids of the fields unique on a page with several forms.
func (f accountForm) ID() string {
	if f.Account == nil {
		return "new"
	}
	return strconv.FormatInt(f.Account.ID, 10)
}

// seenName is a user name of a media server in recent events. It is free while no account lists it.
type seenName struct {
	Name string
	Free bool
}

type accountView struct {
	account.Account
	Health health
	Form   accountForm
	// Open is set when the form is shown unfolded.
	Open bool
}

type accountsPage struct {
	Accounts   []accountView
	New        accountForm
	OAuthReady bool
	// Connected is the account that was just connected by OAuth; nil otherwise.
	Connected *account.Account
	// ErrorKey is the text key of the error of OAuth; empty otherwise.
	ErrorKey string
	// Ignored are the users whose plays are ignored.
	Ignored []account.IgnoredUser
	// Free are recent names that no account lists: their events are marked for nobody.
	Free []string
}

// offeredNames is how many recent names a form offers.
const offeredNames = 12

// oauthProblems are the values of ?oauth_error= that have a text of their own. GET /api/accounts/oauth/callback of
// the API documents them.
var oauthProblems = []string{"denied", "state", "not_configured", "refused", "unreachable", "other_user", "taken"}

func (g Accounts) list(r *request) (content, error) {
	list, err := g.Accounts.List(r.Context())
	if err != nil {
		return content{}, err
	}
	names, err := g.Records.UserNames(r.Context())
	if err != nil {
		return content{}, err
	}
	page := accountsPage{OAuthReady: g.Settings.Current().Catalog.OAuthClientID != ""}
	if page.Ignored, err = g.Accounts.Ignored(r.Context()); err != nil {
		return content{}, err
	}
	ignored := func(name string) bool {
		return slices.ContainsFunc(page.Ignored, func(u account.IgnoredUser) bool { return u.Name == name })
	}
	var seen []seenName
	for _, name := range names {
		free := !slices.ContainsFunc(list, func(a account.Account) bool { return slices.Contains(a.MediaUserNames, name) })
		if free && !ignored(name) {
			page.Free = append(page.Free, name)
		}
		seen = append(seen, seenName{name, free})
	}
	seen = seen[:min(len(seen), offeredNames)]
	page.New = accountForm{Seen: seen}
	connected := r.URL.Query().Get("connected")
	for i := range list {
		a := &list[i]
		view := accountView{Account: *a, Health: healthOf(*a, time.Now()), Form: accountForm{Account: a, Seen: seen}}
		if view.Form.ID() == connected {
			page.Connected, view.Open = a, len(a.MediaUserNames) == 0
		}
		page.Accounts = append(page.Accounts, view)
	}
	if problem := r.URL.Query().Get("oauth_error"); problem != "" {
		page.ErrorKey = "oauth.error.other"
		if slices.Contains(oauthProblems, problem) {
			page.ErrorKey = "oauth.error." + problem
		}
	}
	return content{Data: page}, nil
}

// enabledOf returns the enabled accounts.
func enabledOf(all []account.Account) []account.Account {
	return slices.DeleteFunc(all, func(a account.Account) bool { return !a.Enabled })
}
