package web

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/settings"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/upkeep/snapshot"
)

// Accounts is the page of the accounts.
type Accounts struct {
	Accounts *account.Store
	Records  *record.Store
	Settings *settings.Manager
	// Snapshots are those of the accounts' lists, whose tasks are in Tasks.
	Words     Words
	Snapshots *snapshot.Service
	Tasks     *task.Registry
	WhoAre    whoAre
}

// tokenURL is the catalog's page where people make a token by hand.
const tokenURL = "https://next.bgm.tv/demo/access-token"

// accountForm is the form of an account; Account is nil for a new one.
type accountForm struct {
	Account *account.Account
	// Seen are user names of media servers in recent events.
	Seen []seenName
	// Rules are the settings that an account can have otherwise.
	Rules []accountRule
}

// accountRule is a setting with what an account says instead.
type accountRule struct {
	settings.Key
	// Name is the field of the account and Own its value, which is empty where Set, that of the settings, holds.
	Name, Own, Set string
}

// Chosen is the choice of a value.
func (r accountRule) Chosen(value string) (chosen settings.Choice) {
	for _, c := range r.Choices {
		if c.Value == value {
			chosen = c
		}
	}
	return chosen
}

// rulesOf are the rules of an account.
func (g Accounts) rulesOf(a account.Account) (rules []accountRule) {
	inForce := g.Settings.View()
	for _, section := range g.Settings.Schema() {
		for _, key := range section.Keys {
			rule := accountRule{Key: key}
			switch key.Path {
			case "sync.adult":
				rule.Name, rule.Own = "adult", string(a.Adult)
			case "sync.unwatched":
				rule.Name, rule.Own = "unwatched", string(a.Unwatched)
			case "sync.rewatch":
				rule.Name, rule.Own = "rewatch", string(a.Rewatch)
			default:
				continue
			}
			rule.Set = controlText(inForce[section.Name][rule.Name])
			rules = append(rules, rule)
		}
	}
	return rules
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
	// Add is the user that can be added to the account; nil for none.
	Add *unroutedUser
}

// accountsShown is how many accounts a page shows.
const accountsShown = 30

type accountsPage struct {
	// Text is what is searched for. Trouble is set when only accounts are listed that need a person, and Add when the account of
	// a user of a media server is chosen.
	Text    string
	Trouble bool
	Add     *unroutedUser
	// Any is set when there are accounts, and Many when there are more than a page shows.
	Any, Many bool
	pager
	Accounts   []accountView
	New        accountForm
	OAuthReady bool
	// Connected is the account that was just connected by OAuth; nil otherwise.
	Connected *account.Account
	// ErrorKey is the text key of the error of OAuth; empty otherwise.
	ErrorKey string
	// Ignored are the users whose plays are ignored.
	Ignored []account.IgnoredUser
	// Unrouted are the users without an account: what they watch is marked for nobody.
	Unrouted unroutedList
}

// offeredNames is how many recent names a form offers.
const offeredNames = 12

// oauthProblems are the values of ?oauth_error= that have a text of their own. GET /api/accounts/oauth/callback of
// the API documents them.
var oauthProblems = []string{"denied", "state", "not_configured", "refused", "unreachable", "other_user", "taken"}

// Filtered reports whether something restricts the list.
func (p accountsPage) Filtered() bool { return p.Text != "" || p.Trouble }

func (g Accounts) list(r *request) (content, error) {
	ctx, q := r.Context(), r.URL.Query()
	page := accountsPage{OAuthReady: g.Settings.Current().Catalog.OAuthClientID != "", Text: strings.TrimSpace(q.Get("q")), Trouble: q.Has("trouble")}
	if add := q.Get("add"); add != "" {
		page.Add = &unroutedUser{User: add}
	}
	all, err := g.Accounts.Count(ctx, account.Filter{})
	if err != nil {
		return content{}, err
	}
	page.Any, page.Many = all > 0, all > accountsShown
	f := account.Filter{Text: page.Text}
	if page.Trouble {
		f.EndsBefore = time.Now().Add(expiresSoon)
	}
	from := int(min(cursor(r, "from"), int64(all)))
	list, err := g.Accounts.Find(ctx, f, from, accountsShown+1)
	if err != nil {
		return content{}, err
	}
	next := 0
	if len(list) > accountsShown {
		list, next = list[:accountsShown], from+accountsShown
	}
	page.pager = page.pages(from, next)
	names, err := g.Records.UserNames(ctx)
	if err != nil {
		return content{}, err
	}
	var naming []account.Account
	if len(names) > 0 {
		if naming, err = g.Accounts.Find(ctx, account.Filter{Users: names}, 0, accountsOfUsers); err != nil {
			return content{}, err
		}
	}
	if page.Ignored, err = g.Accounts.Ignored(ctx); err != nil {
		return content{}, err
	}
	if page.Unrouted, err = unroutedOf(ctx, g.Records, g.Accounts, g.WhoAre); err != nil {
		return content{}, err
	}
	page.Unrouted.Open = true
	var seen []seenName
	for _, name := range names {
		free := !slices.ContainsFunc(naming, func(a account.Account) bool { return slices.Contains(a.MediaUserNames, name) })
		seen = append(seen, seenName{name, free})
	}
	seen = seen[:min(len(seen), offeredNames)]
	page.New = accountForm{Seen: seen, Rules: g.rulesOf(account.Account{})}
	if id, err := strconv.ParseInt(q.Get("connected"), 10, 64); err == nil {
		connected, err := g.Accounts.Get(ctx, id)
		if err == nil {
			page.Connected = &connected
			if !slices.ContainsFunc(list, func(a account.Account) bool { return a.ID == id }) {
				list = append([]account.Account{connected}, list...)
			}
		} else if !errors.Is(err, account.ErrNotFound) {
			return content{}, err
		}
	}
	for i := range list {
		a := &list[i]
		page.Accounts = append(page.Accounts, accountView{
			Account: *a, Health: healthOf(*a, time.Now()), Form: accountForm{Account: a, Seen: seen, Rules: g.rulesOf(*a)}, Add: page.Add,
			Open: page.Connected != nil && page.Connected.ID == a.ID && len(a.MediaUserNames) == 0,
		})
	}
	page.ErrorKey = oauthErrorKey(q.Get("oauth_error"))
	return content{Data: page}, nil
}

// oauthErrorKey is the text key of a value of ?oauth_error=; empty without one.
func oauthErrorKey(problem string) string {
	switch {
	case problem == "":
		return ""
	case slices.Contains(oauthProblems, problem):
		return "oauth.error." + problem
	}
	return "oauth.error.other"
}

// pages is the pager of a list that begins behind the first ones; next is how many are before the next page, 0 at the end.
func (p accountsPage) pages(from, next int) pager {
	fields := map[string]string{"q": p.Text}
	if p.Trouble {
		fields["trouble"] = "1"
	}
	if p.Add != nil {
		fields["add"] = p.Add.User
	}
	var led pager
	if from > 0 {
		led.Newest = fromCursor("/people", fields, "from", int64(max(0, from-accountsShown)))
		delete(fields, "from")
	}
	if next > 0 {
		led.Older = fromCursor("/people", fields, "from", int64(next))
	}
	return led
}

// enabledOf returns the enabled accounts.
func enabledOf(all []account.Account) []account.Account {
	return slices.DeleteFunc(all, func(a account.Account) bool { return !a.Enabled })
}
