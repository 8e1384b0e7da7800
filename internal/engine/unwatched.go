package engine

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/reason"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// UnwatchedRule is what an account wants done about what was set back to unwatched. One on dry run wants nothing written.
func (e *Engine) UnwatchedRule(a account.Account) account.Unwatched {
	if !a.Enabled || a.DryRun {
		return account.IgnoreUnwatched
	}
	return cmp.Or(a.Unwatched, e.Options().Unwatched, account.IgnoreUnwatched)
}

// Unwatch takes in what a person set back to unwatched on a media server, as a webhook of it.
func (e *Engine) Unwatch(ctx context.Context, events []watch.Event) error {
	waits := false
	err := e.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, event := range events {
			_, noted, err := e.unwatchTx(ctx, tx, event)
			if err != nil {
				return err
			}
			waits = waits || noted
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotStored, err)
	}
	if waits {
		e.Unwatched()
	}
	return nil
}

// unwatchTx notes within tx which marks are to be taken back because of an event, or a person is to be asked about. said is what becomes of it.
func (e *Engine) unwatchTx(ctx context.Context, tx *sql.Tx, event watch.Event) (said reason.Reason, noted bool, err error) {
	naming, err := account.ForUser(ctx, tx, event.UserName)
	if err != nil {
		return said, false, err
	}
	heard, own := false, false
	for _, a := range naming {
		if e.UnwatchedRule(a) == account.IgnoreUnwatched {
			continue
		}
		if !heard {
			if own, err = e.Unseen(ctx, tx, event); err != nil {
				return said, false, err
			}
			heard = true
		}
		if own {
			return unwatchedOwn.With(), false, nil
		}
		ids, err := record.HoldersTx(ctx, tx, a.ID, event)
		if err != nil {
			return said, false, err
		}
		if err := record.UnwatchTx(ctx, tx, a.ID, ids, time.Now()); err != nil {
			return said, false, err
		}
		noted = noted || len(ids) > 0
	}
	switch {
	case !heard:
		return unwatchedIgnored.With(), false, nil
	case !noted:
		return unwatchedNothing.With(), false, nil
	}
	return unwatchedNoted.With(), true, nil
}
