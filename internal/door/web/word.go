package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/reason"
	"watchmark/internal/tell/word"
)

// Words reads what the list says of an entry; *word.Service is one.
type Words interface {
	Show(ctx context.Context, accountID int64, subject catalog.SubjectID) (word.View, error)
}

// wordPage asks for a rating and a comment of an entry.
type wordPage struct {
	word.View
	Account account.Account
	Subject catalog.SubjectID
	Name    string
	API     string
	// Problem is why the list cannot be read; zero when it was.
	Problem reason.Reason
	Rates   []int
	Most    int
}

// Tags are those on the list.
func (p wordPage) Tags() string { return strings.Join(p.Entry.Tags, " ") }

// wordTime bounds how long the page waits for the list.
const wordTime = 12 * time.Second

// word is the page that asks for a rating and a comment. It reads the list anew.
func (g Accounts) word(r *request) (content, error) {
	id, err := idOf(r)
	if err != nil {
		return content{}, err
	}
	subject, err := strconv.ParseInt(r.PathValue("subject"), 10, 32)
	if err != nil || subject < 1 {
		return content{}, errNoPage
	}
	page := wordPage{Subject: catalog.SubjectID(subject), Most: catalog.CommentMost, API: fmt.Sprintf("/api/accounts/%d/entries/%d/word", id, subject)}
	for n := range 11 {
		page.Rates = append(page.Rates, n)
	}
	if page.Account, err = g.Accounts.Get(r.Context(), id); err != nil {
		return content{}, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), wordTime)
	defer cancel()
	page.View, err = g.Words.Show(ctx, id, page.Subject)
	if r.Context().Err() != nil {
		return content{}, err
	}
	if err != nil {
		var failure *catalog.Error
		switch {
		case errors.Is(err, catalog.ErrNotListed):
			page.Problem = catalog.ErrNotListed.With()
		case errors.As(err, &failure), errors.Is(err, account.ErrNoToken), errors.Is(err, account.ErrOtherUser), errors.Is(err, account.ErrTaken):
			page.Problem = reason.Of(err)
		default:
			return content{}, err
		}
	}
	page.Name = cmp.Or(page.Entry.About.NameCN, page.Entry.About.Name, "#"+strconv.Itoa(int(subject)))
	return content{Heading: page.Name, Data: page}, nil
}
