package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/record"
)

// free holds for a task q whose account can be used. After the account was deleted, that is any
// account that names the user of the record: it is routed anew.
var free = `(CASE WHEN q.account_id IS NULL THEN ` + account.AnyUsableFor(record.UserOf("q.record_id")) + ` ELSE ` + account.IsUsable("q.account_id") + ` END)`

// accountOf is the name of the account of a task q, and whether it is enabled.
var accountOf = account.NameOf("q.account_id") + `, ` + account.EnabledOf("q.account_id")

// reasonOf is why a task waits whose account, if it is still there, cannot be used.
func reasonOf(name sql.NullString, enabled sql.NullBool) reason.Reason {
	switch {
	case !name.Valid:
		return AccountGone.With()
	case !enabled.Bool:
		return accountOff.With(name.String)
	}
	return tokenGone.With(name.String)
}

// held is why the task of a record waits for its account, and what it says so far; zero when it does not.
func held(ctx context.Context, q db.Querier, recordID int64) (why, before reason.Reason, err error) {
	var name sql.NullString
	var enabled sql.NullBool
	err = q.QueryRowContext(ctx, `SELECT `+accountOf+`, q.last_error FROM pending_sync_queue q
		WHERE q.record_id = ? AND q.status <> 'synced' AND NOT `+free, recordID).Scan(&name, &enabled, &before)
	if errors.Is(err, sql.ErrNoRows) {
		return why, before, nil
	}
	if err != nil {
		return why, before, fmt.Errorf("look at the account of the task of record %d: %w", recordID, err)
	}
	return reasonOf(name, enabled), before, nil
}

// Hold gives a record that is worked on back to the queue, if its task waits for an account that is disabled,
// deleted or without a token, and says so in record and task. It reports false for any other record, and one that owner has not in hand any more.
func (q *Queue) Hold(ctx context.Context, owner, recordID int64) (is bool, err error) {
	err = q.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		why, _, err := held(ctx, tx, recordID)
		if is = !why.IsZero(); err != nil || !is {
			return err
		}
		inHand, err := record.InHandTx(ctx, tx, owner, recordID)
		if is = inHand[recordID]; err != nil || !is {
			return err
		}
		return holdTx(ctx, tx, recordID, record.Processing, why)
	})
	return is, err
}

// holdTx says in record and task why both wait.
func holdTx(ctx context.Context, tx *sql.Tx, recordID int64, from record.Status, why reason.Reason) error {
	if err := record.MoveTx(ctx, tx, recordID, from, record.Queued, record.NoAccount, why); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE pending_sync_queue SET status = 'pending', last_error = ? WHERE record_id = ?`, why, recordID); err != nil {
		return fmt.Errorf("hold the task of record %d: %w", recordID, err)
	}
	return nil
}

// hold says in the waiting tasks whose account cannot be used, and in their records, that they wait for it, and
// returns the records that said something else before.
func (q *Queue) hold(ctx context.Context) ([]int64, error) {
	var found []int64
	err := db.Each(ctx, q.db.Read(), "look for held tasks", func(row db.Row) error {
		var id int64
		var name sql.NullString
		var enabled sql.NullBool
		var before reason.Reason
		err := row.Scan(&id, &name, &enabled, &before)
		if !before.Is(reasonOf(name, enabled)) {
			found = append(found, id)
		}
		return err
	}, `SELECT q.record_id, `+accountOf+`, q.last_error FROM pending_sync_queue q WHERE `+idle+` AND NOT `+free)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	var changed []int64
	err = q.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, id := range found {
			why, before, err := held(ctx, tx, id)
			if err != nil {
				return err
			}
			if why.IsZero() || before.Is(why) {
				continue
			}
			err = holdTx(ctx, tx, id, record.Queued, why)
			if errors.Is(err, record.ErrMoved) { // somebody retries it
				continue
			}
			if err != nil {
				return err
			}
			changed = append(changed, id)
		}
		return nil
	})
	return changed, err
}

// anyUsable reports whether there is an account that marks can be sent for.
func (q *Queue) anyUsable(ctx context.Context) (bool, error) {
	return q.exists(ctx, `SELECT 1 WHERE `+account.AnyUsable)
}

// anyFree reports whether a task waits for nothing but the catalog and its time.
func (q *Queue) anyFree(ctx context.Context) (bool, error) { return q.exists(ctx, `SELECT 1`+waiting) }
