package web

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/door/auth"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/tell/word"
)

// minePath is the first page of a person.
const minePath = "/mine"

// Mine are the pages of a person: what the stores answer in the scope of the reader, and nothing else.
type Mine struct {
	Records  *record.Store
	Accounts *account.Store
	Words    AskedWords
	Tasks    *task.Registry
	Person   func(ctx context.Context, id int64) (auth.Person, error)
	// OAuthReady reports whether an application of Bangumi is set, by which accounts are connected.
	OAuthReady func() bool
}

// AskedWords are the open questions for a rating and a comment; *word.Service has them.
type AskedWords interface {
	Asked(ctx context.Context, most int) ([]word.Asked, error)
}

type minePage struct {
	// Home is set on the first page without a filter, which has what is not a record, too.
	Home bool
	Text string
	// Status and User restrict the records; empty where they do not.
	Status  record.Status
	User    string
	Records []record.Record
	// Connected is set when the reader has an account.
	Connected bool
	Needs     []need
	Accounts  []mineAccountView
	Today     []tile
	// All is how many records there are, and Marked how many of them are marked.
	All, Marked int
	Unwatched   []unwatchedView
	// MoreUnwatched is set when there is more than a page asks about.
	MoreUnwatched bool
	Words         []askedWord
	Tasks         []taskView
	pager
}

// askedWord is an open question for a word with its page.
type askedWord struct {
	word.Asked
	Path string
}

const (
	// wordsShown and tasksShown are how many open questions for a word, and tasks, a person's first page has.
	wordsShown, tasksShown = 5, 5
)

// Takeable reports whether there may be a mark to take back.
func (minePage) Takeable(r record.Record) bool { return r.Status == record.Success }

// list shows what became of what the reader watched, and on the first page what waits for them and how their accounts are.
func (g Mine) list(r *request) (content, error) {
	q := r.URL.Query()
	f := record.Filter{Text: q.Get("q"), Status: record.Status(q.Get("status")), User: q.Get("user"), Before: cursor(r, "before")}
	if !slices.Contains(record.Statuses, f.Status) {
		f.Status = ""
	}
	page := minePage{Text: f.Text, Status: f.Status, User: f.User, Home: f.Text == "" && f.Status == "" && f.User == "" && f.Before == 0}
	accounts, err := g.accounts(r)
	if err != nil {
		return content{}, err
	}
	page.Connected = len(accounts) > 0
	list, next, err := g.Records.List(r.Context(), f)
	if err != nil {
		return content{}, err
	}
	page.Records, page.pager = list, pagerOf(minePath, map[string]string{"q": f.Text, "status": string(f.Status), "user": f.User}, f.Before, next)
	if page.Home && page.Connected {
		page.Accounts = accounts
		err = g.home(r, &page)
	}
	return content{Data: page}, err
}

// home adds what is on the first page beside records.
func (g Mine) home(r *request, page *minePage) error {
	ctx := r.Context()
	counts, err := g.Records.Stats(ctx, time.Now())
	if err != nil {
		return err
	}
	page.Today, page.Marked = todayTiles(minePath, counts.Today), counts.Total[record.Success]
	for _, n := range counts.Total {
		page.All += n
	}
	for _, a := range page.Accounts {
		if displayOf(a.Health).Tone == "bad" || a.Health == expiring {
			page.Needs = append(page.Needs, need{display: displayOf(a.Health), Kind: "account", Name: a.Username, Path: "/mine/account"})
		}
	}
	for _, waits := range []struct {
		kind   string
		status record.Status
		count  int
	}{{"error", record.Failed, counts.Week[record.Failed]}, {"asked", record.Review, counts.Total[record.Review]}, {"queued", record.Queued, counts.Total[record.Queued]}} {
		if waits.count > 0 {
			page.Needs = append(page.Needs, need{display: displayOf(waits.status), Kind: waits.kind, Count: waits.count, Path: withQuery(minePath, map[string]string{"status": string(waits.status)})})
		}
	}
	if page.Unwatched, page.MoreUnwatched, err = unwatched(r, g.Records); err != nil {
		return err
	}
	asked, err := g.Words.Asked(ctx, wordsShown)
	if err != nil {
		return err
	}
	for _, a := range asked {
		a.Name = cmp.Or(a.Name, "#"+strconv.Itoa(int(a.Subject)))
		page.Words = append(page.Words, askedWord{a, fmt.Sprintf("/people/%d/entries/%d/word", a.AccountID, a.Subject)})
	}
	tasks, err := g.Tasks.List(ctx)
	if err != nil {
		return err
	}
	for _, t := range tasks[:min(len(tasks), tasksShown)] {
		view, err := r.taskView(t)
		if err != nil {
			return err
		}
		page.Tasks = append(page.Tasks, view)
	}
	return nil
}

// accounts are those of the reader.
func (g Mine) accounts(r *request) (views []mineAccountView, err error) {
	list, err := g.Accounts.Find(r.Context(), account.Filter{}, 0, accountsShown)
	for _, a := range list {
		views = append(views, mineAccountView{a, healthOf(a, time.Now())})
	}
	return views, err
}

type mineAccount struct {
	Accounts []mineAccountView
	// Users are the media-server users that the reader is.
	Users    []string
	TokenURL string
	// OAuthReady is set when Bangumi can be asked by its own page; Connected is the account that was just connected so, nil without one, and
	// ErrorKey the text key of what went wrong, empty otherwise.
	OAuthReady bool
	Connected  *account.Account
	ErrorKey   string
}

type mineAccountView struct {
	account.Account
	Health health
}

// account shows the accounts of the reader.
func (g Mine) account(r *request) (content, error) {
	page := mineAccount{TokenURL: tokenURL, OAuthReady: g.OAuthReady(), ErrorKey: oauthErrorKey(r.URL.Query().Get("oauth_error"))}
	me, err := g.Person(r.Context(), r.viewer.Person)
	if err != nil {
		return content{}, err
	}
	page.Users = me.MediaUserNames
	if page.Accounts, err = g.accounts(r); err != nil {
		return content{}, err
	}
	for i, a := range page.Accounts {
		if r.URL.Query().Get("connected") == strconv.FormatInt(a.ID, 10) {
			page.Connected = &page.Accounts[i].Account
		}
	}
	return content{Data: page}, nil
}
