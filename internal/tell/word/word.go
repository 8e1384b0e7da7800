// Package word asks people for a rating and a comment when they have watched an entry to its end, and writes what they say to their list.
//
// It promises that an entry is asked about once, that nothing is written before the person says so, and that what stands on the list is
// changed only as the person saw it.
package word

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/catalog/entries"
	"watchmark/internal/platform/db"
	"watchmark/internal/record"
	"watchmark/internal/tell/notify"
)

const (
	// askedMost is how often an account is asked in a day: who finishes more has marked a library by hand.
	askedMost, askedIn = 5, 24 * time.Hour
)

// Lists reads and writes what a person says of an entry; *account.Client is one.
type Lists interface {
	Entry(ctx context.Context, a account.Account, subject catalog.SubjectID) (catalog.Entry, error)
	Say(ctx context.Context, a account.Account, subject catalog.SubjectID, shown, wanted catalog.Said) (catalog.SayResult, error)
}

// Config is what a Service is made of; every field must be set.
type Config struct {
	DB       *db.DB
	Accounts *account.Store
	Lists    Lists
	Entries  *entries.Entries
	Notices  *notify.Notifier
	Log      *slog.Logger
}

// Service asks, and takes the answers.
type Service struct{ Config }

// NewService is a Service.
func NewService(c Config) *Service { return &Service{c} }

// AskTx asks the owner of an entry of which a record marked the last episode, within tx, and answers the notices of that. Nothing is asked
// twice, nor too much in a day; that it is of something watched just now is the caller's to know.
func AskTx(ctx context.Context, tx *sql.Tx, w record.Work, a account.Account, subject catalog.SubjectID, name string) ([]notify.Notice, error) {
	now := time.Now()
	asked := 0
	err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM asked_words WHERE account_id = ? AND asked_at > ?`, a.ID, now.Add(-askedIn).UnixMilli()).Scan(&asked)
	if err != nil {
		return nil, fmt.Errorf("count what account %d was asked: %w", a.ID, err)
	}
	if asked >= askedMost {
		return nil, nil
	}
	result, err := tx.ExecContext(ctx, `INSERT INTO asked_words (account_id, subject_id, asked_at) SELECT ?, ?, ? WHERE `+account.Existing+` IS NOT NULL
		ON CONFLICT (account_id, subject_id) DO NOTHING`, a.ID, subject, now.UnixMilli(), a.ID)
	if err != nil {
		return nil, fmt.Errorf("ask for a word on subject %d: %w", subject, err)
	}
	rows, err := result.RowsAffected()
	if err != nil || rows == 0 {
		return nil, err
	}
	if name == "" {
		name = "#" + strconv.Itoa(int(subject))
	}
	n := notice(a.ID, subject)
	n.User, n.Account, n.RecordID = w.UserName, a.Username, w.ID
	n.Facts["subject_name"] = name
	return []notify.Notice{n}, nil
}

// notice is the matter of an entry.
func notice(accountID int64, subject catalog.SubjectID) notify.Notice {
	id := strconv.Itoa(int(subject))
	return notify.Notice{Kind: notify.WordAsked, AccountID: accountID, About: id, Facts: map[string]string{"subject_id": id}}
}

// View is an entry as it is on the list now.
type View struct {
	Account account.Account
	Entry   catalog.Entry
	// Asked: the question is open.
	Asked bool
	// Hidden: others do not see the entry any more since this was written, by the catalog's word filter.
	Hidden bool
}

// Show reads an entry anew. A question about one that is rated by now, or gone, is closed with that. Errors: account.ErrNotFound,
// catalog.ErrNotListed, and those of the catalog.
func (k *Service) Show(ctx context.Context, accountID int64, subject catalog.SubjectID) (View, error) {
	a, err := k.Accounts.Get(ctx, accountID)
	if err != nil {
		return View{}, err
	}
	now, err := k.Lists.Entry(ctx, a, subject)
	if err != nil {
		return View{}, err
	}
	if now.Type == 0 {
		return View{}, errors.Join(catalog.ErrNotListed, k.Close(ctx, accountID, subject))
	}
	if now.Rate != 0 {
		return View{Account: a, Entry: now}, k.Close(ctx, accountID, subject)
	}
	v := View{Account: a, Entry: now}
	err = k.DB.Read().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM asked_words WHERE account_id = ? AND subject_id = ? AND over_at = 0)`, accountID, subject).Scan(&v.Asked)
	if err != nil {
		return View{}, fmt.Errorf("look whether subject %d is asked about: %w", subject, err)
	}
	return v, nil
}

// Write gives an entry the rating and the comment that a person wants, who saw what was shown, and closes the question. Where the list
// says something else by now, nothing is written, and the error is catalog.ErrSaidOtherwise. Other errors: account.ErrNotFound,
// ErrOnTrial, *reason.FieldError, and those of account.Client.
func (k *Service) Write(ctx context.Context, accountID int64, subject catalog.SubjectID, shown, wanted catalog.Said) (View, error) {
	a, err := k.Accounts.Get(ctx, accountID)
	if err != nil {
		return View{}, err
	}
	if a.DryRun {
		return View{}, ErrOnTrial
	}
	if wanted.Comment != shown.Comment { // one of before may have what is refused now
		if wanted.Comment, err = catalog.Comment(wanted.Comment); err != nil {
			return View{}, err
		}
	}
	entry, err := k.Entries.Take(ctx, accountID, subject)
	if err != nil {
		return View{}, err
	}
	said, err := k.Lists.Say(entry.With(ctx), a, subject, shown, wanted)
	ctx = context.WithoutCancel(ctx) // what is written is written
	if err := errors.Join(err, entry.Give(ctx, catalog.Rest(err))); err != nil {
		return View{}, err
	}
	k.Log.InfoContext(ctx, "a rating or comment was written", "account", a.Username, "subject_id", subject)
	return View{Account: a, Entry: said.Entry, Hidden: said.Hidden}, k.Close(ctx, accountID, subject)
}

// Close closes the question about an entry, where it is open.
func (k *Service) Close(ctx context.Context, accountID int64, subjects ...catalog.SubjectID) error {
	if len(subjects) == 0 {
		return nil
	}
	closed := false
	err := k.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		over, err := CloseTx(ctx, tx, accountID, subjects...)
		if err != nil {
			return err
		}
		closed = len(over) > 0
		return k.Notices.AddTx(ctx, tx, over...)
	})
	if err == nil && closed {
		k.Notices.Wake()
	}
	return err
}

// CloseTx closes questions about entries within tx, where they are open, and answers the notices of that.
func CloseTx(ctx context.Context, tx *sql.Tx, accountID int64, subjects ...catalog.SubjectID) (over []notify.Notice, err error) {
	list, args := db.In(subjects)
	within, whose := account.Within(ctx, "account_id")
	ids, err := db.Values[catalog.SubjectID](ctx, tx, "close questions for a word", `UPDATE asked_words SET over_at = ?
		WHERE account_id = ? AND over_at = 0 AND subject_id IN `+list+` AND `+within+` RETURNING subject_id`, slices.Concat([]any{time.Now().UnixMilli(), accountID}, args, whose)...)
	for _, subject := range ids {
		n := notice(accountID, subject)
		n.Over = true
		over = append(over, n)
	}
	return over, err
}

// Asked is an open question for a word.
type Asked struct {
	AccountID int64
	Subject   catalog.SubjectID
	// Name is that of the entry; empty where no record has one.
	Name string
	At   time.Time
}

// Asked are open questions, the newest first, at most so many.
func (k *Service) Asked(ctx context.Context, most int) ([]Asked, error) {
	within, whose := account.Within(ctx, "account_id")
	return db.All(ctx, k.DB.Read(), "list open questions for a word", func(row db.Row) (a Asked, err error) {
		var at int64
		err = row.Scan(&a.AccountID, &a.Subject, &a.Name, &at)
		a.At = time.UnixMilli(at)
		return a, err
	}, `SELECT account_id, subject_id, COALESCE(`+record.SubjectNameOf("asked_words.account_id", "asked_words.subject_id")+`, ''), asked_at
		FROM asked_words WHERE over_at = 0 AND `+within+` ORDER BY asked_at DESC LIMIT ?`, append(whose, most)...)
}

// open are the entries of an account that are asked about.
func (k *Service) open(ctx context.Context, accountID int64) ([]catalog.SubjectID, error) {
	return db.Values[catalog.SubjectID](ctx, k.DB.Read(), "list open questions for a word", `SELECT subject_id FROM asked_words WHERE account_id = ? AND over_at = 0`, accountID)
}

// Seen closes the questions about entries that are rated by now or gone, as a whole list tells that was just read.
func (k *Service) Seen(ctx context.Context, accountID int64, list []catalog.Entry) error {
	asked, err := k.open(ctx, accountID)
	if err != nil || len(asked) == 0 {
		return err
	}
	unrated := map[catalog.SubjectID]bool{}
	for _, e := range list {
		unrated[e.Subject] = e.Rate == 0
	}
	var over []catalog.SubjectID
	for _, subject := range asked {
		if !unrated[subject] {
			over = append(over, subject)
		}
	}
	return k.Close(ctx, accountID, over...)
}

// Leave closes all questions of an account, which is about to be deleted.
func (k *Service) Leave(ctx context.Context, accountID int64) error {
	asked, err := k.open(ctx, accountID)
	if err != nil {
		return err
	}
	return k.Close(ctx, accountID, asked...)
}
