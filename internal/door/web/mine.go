package web

import (
	"context"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/door/auth"
	"watchmark/internal/record"
)

// minePath is the first page of a person.
const minePath = "/mine"

// Mine are the pages of a person: what the stores answer in the scope of the reader, and nothing else.
type Mine struct {
	Records  *record.Store
	Accounts *account.Store
	Person   func(ctx context.Context, id int64) (auth.Person, error)
}

type minePage struct {
	Text    string
	Records []record.Record
	// Connected is set when the reader has an account.
	Connected bool
	pager
}

// Takeable reports whether there may be a mark to take back.
func (minePage) Takeable(r record.Record) bool { return r.Status == record.Success }

// list shows what became of what the reader watched.
func (g Mine) list(r *request) (content, error) {
	f := record.Filter{Text: r.URL.Query().Get("q"), Before: cursor(r, "before")}
	page := minePage{Text: f.Text}
	has, err := g.Accounts.Count(r.Context(), account.Filter{})
	if err != nil {
		return content{}, err
	}
	page.Connected = has > 0
	list, next, err := g.Records.List(r.Context(), f)
	if err != nil {
		return content{}, err
	}
	page.Records, page.pager = list, pagerOf(minePath, map[string]string{"q": f.Text}, f.Before, next)
	return content{Data: page}, nil
}

type mineAccount struct {
	Accounts []mineAccountView
	// Users are the media-server users that the reader is.
	Users    []string
	TokenURL string
}

type mineAccountView struct {
	account.Account
	Health health
}

// account shows the accounts of the reader.
func (g Mine) account(r *request) (content, error) {
	page := mineAccount{TokenURL: tokenURL}
	me, err := g.Person(r.Context(), r.viewer.Person)
	if err != nil {
		return content{}, err
	}
	page.Users = me.MediaUserNames
	list, err := g.Accounts.Find(r.Context(), account.Filter{}, 0, accountsShown)
	if err != nil {
		return content{}, err
	}
	for _, a := range list {
		page.Accounts = append(page.Accounts, mineAccountView{a, healthOf(a, time.Now())})
	}
	return content{Data: page}, nil
}
