package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/tell/notify"
)

// AssignKind is the task that makes a user without an account one of an account. It is about the account, and its result is an Assignment.
const AssignKind = "assign_user"

// Assignment is what became of a user that was without an account.
type Assignment struct {
	UserName    string `json:"user_name"`
	AccountID   int64  `json:"account_id"`
	AccountName string `json:"account_name"`
	// Bound: the account did not name the user before.
	Bound bool `json:"bound"`
	Tally
}

// AssignUser lets an enabled account name a media-server user, and runs what failed for want of that again, the oldest first, as a task
// that can be cancelled and undone. The name is bound when it returns. Errors are ErrAccountDisabled, ErrAssigning, task.ErrStopping,
// account.ErrNotFound, that of a user who is another person, a *reason.FieldError of the field name, or that of ctx, after which the task goes on.
func (e *Engine) AssignUser(ctx context.Context, user string, accountID int64) (*task.Task, error) {
	bound := make(chan error, 1)
	t, err := e.Tasks.Start(ctx, task.Spec{Kind: AssignKind, About: accountID, Alone: AssignKind + " " + user}, func(ctx context.Context, t *task.Task) error {
		a, err := e.bind(ctx, user, accountID)
		bound <- err
		if err != nil {
			return err
		}
		t.SetResult(a)
		ids, err := e.Records.UnroutedIDs(ctx, user)
		if err != nil {
			return err
		}
		return e.retryAll(ctx, t, ids, func(tally Tally) any {
			a.Tally = tally
			return a
		})
	})
	switch {
	case errors.Is(err, task.ErrRunning):
		return nil, ErrAssigning
	case err != nil:
		return nil, err
	}
	select {
	case err = <-bound:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("assign a user to account %d: %w", accountID, err)
	}
	return t, nil
}

// bind lets an account name a user, whose notice is closed with that.
func (e *Engine) bind(ctx context.Context, user string, accountID int64) (made Assignment, err error) {
	err = e.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		a, added, err := account.AddUserNameTx(ctx, tx, accountID, user)
		if err != nil {
			return err
		}
		if !a.Enabled {
			return ErrAccountDisabled
		}
		if a.PersonID != 0 {
			if err := e.People.GiveUserTx(ctx, tx, a.PersonID, user); err != nil {
				return err
			}
		}
		made = Assignment{UserName: user, AccountID: a.ID, AccountName: a.Username, Bound: added}
		return e.Notices.AddTx(ctx, tx, notify.Notice{Kind: notify.NoAccount, About: user, Over: true})
	})
	return made, err
}

// Unbind is the first step of taking an assignment back: the account does not name the user any more, where it did not before. It answers
// the user; empty where there is nothing to be taken back.
func (e *Engine) Unbind(ctx context.Context, s task.Status) (user string, err error) {
	made, there := task.ResultOf[Assignment](s)
	if !there { // its replica ended before it told; it was bound, as there are records of it
		if made.UserName, err = e.Records.UserOfTask(ctx, s.ID, s.RecordID); err != nil {
			return "", err
		}
		made.Bound = true
	}
	if made.UserName == "" || !made.Bound {
		return made.UserName, nil
	}
	err = e.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		person, err := account.DropUserNameTx(ctx, tx, s.RecordID, made.UserName)
		switch {
		case errors.Is(err, account.ErrNotFound):
			return nil
		case err != nil || person == 0:
			return err
		}
		return e.People.TakeUserTx(ctx, tx, person, made.UserName)
	})
	return made.UserName, err
}

// Unassign is the last step: what the task ran for an account, and holds no mark of any more, has no account again, as before. Its notices
// are closed, and that of the user is open again.
func (e *Engine) Unassign(ctx context.Context, s task.Status, user string) error {
	var ids []int64
	err := e.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		if ids, err = record.UnassignTx(ctx, tx, s.ID, s.RecordID, user, noAccount.With(user)); err != nil || len(ids) == 0 {
			return err
		}
		return e.Notices.ReopenTx(ctx, tx, notify.Notice{Kind: notify.NoAccount, About: user})
	})
	if err != nil {
		return err
	}
	for _, id := range ids {
		e.Records.Feed.Publish(id)
	}
	return e.closeNews(ctx, ids, s.RecordID)
}

// CloseNews closes what people were told of a record, where it is left alone now.
func (e *Engine) CloseNews(ctx context.Context, id int64) error {
	r, err := e.Records.Get(ctx, id)
	if err != nil || r.Status != record.Ignored {
		return err
	}
	return e.closeNews(ctx, []int64{id}, r.AccountID)
}

// closeNews closes what people were told of records as those of an account, which they may not be any more.
func (e *Engine) closeNews(ctx context.Context, ids []int64, accountID int64) error {
	return e.closeTold(ctx, ids, func(w record.Work) []notify.Notice {
		return settledBy(w.Event, record.Outcome{Status: record.Ignored, AccountID: accountID}, notify.NoAccount)
	})
}

// CloseAsked closes what people were told of the question that some records wait for.
func (e *Engine) CloseAsked(ctx context.Context, ids []int64) error {
	return e.closeTold(ctx, ids, func(w record.Work) []notify.Notice {
		return []notify.Notice{{Kind: notify.ReviewWaiting, AccountID: w.AccountID, Account: w.AccountName, About: aboutShow(w.Event), Over: true}}
	})
}

// closedAtOnce is how many records are looked at for one write.
const closedAtOnce = 100

// closeTold closes what over answers for some records, as far as they are there.
func (e *Engine) closeTold(ctx context.Context, ids []int64, over func(record.Work) []notify.Notice) error {
	for some := range slices.Chunk(ids, closedAtOnce) {
		var all []notify.Notice
		for _, id := range some {
			w, err := e.Records.Work(ctx, id)
			if errors.Is(err, record.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			all = append(all, over(w)...)
		}
		if err := e.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error { return e.Notices.AddTx(ctx, tx, all...) }); err != nil {
			return err
		}
	}
	return nil
}

// IgnoreUser leaves alone what a media-server user watches whom no account names: what failed for that is ignored now,
// and its notice closed. It returns an *reason.FieldError.
func (e *Engine) IgnoreUser(ctx context.Context, user string) error {
	return e.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := account.IgnoreTx(ctx, tx, user); err != nil {
			return err
		}
		if err := record.IgnoreUserTx(ctx, tx, user, userIgnored.With(user)); err != nil {
			return err
		}
		return e.Notices.AddTx(ctx, tx, notify.Notice{Kind: notify.NoAccount, About: user, Over: true})
	})
}

// HeedUser takes back IgnoreUser: what came before and meanwhile failed for want of an account, its notice is open again, and it can be
// retried. It returns account.ErrNotFound for a user that is not ignored.
func (e *Engine) HeedUser(ctx context.Context, user string) error {
	return e.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := account.HeedTx(ctx, tx, user); err != nil {
			return err
		}
		if err := record.HeedUserTx(ctx, tx, user, noAccount.With(user)); err != nil {
			return err
		}
		return e.Notices.ReopenTx(ctx, tx, notify.Notice{Kind: notify.NoAccount, About: user})
	})
}
