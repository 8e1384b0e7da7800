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

// accountForm is what the form of an account shows; Account is nil for a new one.
type accountForm struct {
	Account *account.Account
	// Seen are media user names that events carried lately.
	Seen []seenName
}

// TokenURL is the page where a token is made.
func (accountForm) TokenURL() string { return tokenURL }

// ID tells the fields of several forms on one page apart.
func (f accountForm) ID() string {
	if f.Account == nil {
		return "new"
	}
	return strconv.FormatInt(f.Account.ID, 10)
}

// seenName is a media user name that events carried lately. Free ones belong to no account yet.
type seenName struct {
	Name string
	Free bool
}

type accountView struct {
	account.Account
	Health health
	Form   accountForm
	// Open shows the form at once.
	Open bool
}

type accountsPage struct {
	Accounts   []accountView
	New        accountForm
	OAuthReady bool
	// Connected is the account that OAuth just brought; nil otherwise.
	Connected *account.Account
	// Problem is the key of what went wrong with OAuth; empty otherwise.
	Problem string
	// Ignored are the users whose plays are left alone.
	Ignored []account.IgnoredUser
	// Free are names seen lately that no account claims: their events go nowhere.
	Free []string
}

// offeredNames is how many names seen lately a form offers.
const offeredNames = 12

// oauthProblems are the values of ?oauth_error= that have words of their own here; the
// API says what they mean (GET /api/accounts/oauth/callback).
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
		page.Problem = "oauth.error.other"
		if slices.Contains(oauthProblems, problem) {
			page.Problem = "oauth.error." + problem
		}
	}
	return content{Title: "accounts.title", Data: page}, nil
}

// enabledOf are those accounts that are marked.
func enabledOf(all []account.Account) []account.Account {
	return slices.DeleteFunc(all, func(a account.Account) bool { return !a.Enabled })
}
