package record

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/task"
)

// SettleTx writes an outcome and its trace within tx, of a record that its owner has in hand: InHandTx tells. The caller publishes the
// id after the commit.
func SettleTx(ctx context.Context, tx *sql.Tx, o Outcome) error {
	rule, args := "", []any{
		o.Status, o.AccountID, o.AccountName, o.SubjectID, o.SubjectName, o.EpisodeID, o.EpisodeSort, o.Method,
		o.Confidence, o.Message, o.ErrorKind, o.Rewatch, time.Now().UnixMilli(),
	}
	if o.Trace != nil {
		rule, args = `, rule_id = ?, rule_subject_id = ?, rule_offset = ?`, append(args, o.Rule.columns()...)
	}
	_, err := tx.ExecContext(ctx, `
		UPDATE records SET status = ?, account_id = `+account.Existing+`, account_name = ?, subject_id = ?, subject_name = ?,
			episode_id = ?, episode_sort = ?, method = ?, confidence = ?, message = ?, error_kind = ?, rewatch = ?,
			lease_until = 0, owner = 0, updated_at = ?`+rule+`
		WHERE id = ? AND owner = ?`, append(args, o.RecordID, o.Owner)...)
	if err != nil {
		return fmt.Errorf("settle record %d: %w", o.RecordID, err)
	}
	if o.Mark != nil {
		if err := addMark(ctx, tx, o.Mark.mark(o.RecordID, o.AccountID, o.SubjectID, o.EpisodeID)); err != nil {
			return err
		}
	}
	if o.Answered {
		if err := forgetIntents(ctx, tx, o.AccountID, o.SubjectID, o.RecordID); err != nil {
			return err
		}
	}
	if o.Trace == nil {
		return nil
	}
	return SetTraceTx(ctx, tx, o.RecordID, o.Trace)
}

// InHandTx are those of some records that their owner still has in hand. While a transaction lasts nobody takes one from a live owner.
func InHandTx(ctx context.Context, tx *sql.Tx, owner int64, ids ...int64) (map[int64]bool, error) {
	list, args := db.In(ids)
	held := make(map[int64]bool, len(ids))
	err := db.Each(ctx, tx, "look what is in hand", func(row db.Row) error {
		var id int64
		err := row.Scan(&id)
		held[id] = true
		return err
	}, `SELECT id FROM records WHERE owner = ? AND id IN `+list, append([]any{owner}, args...)...)
	return held, err
}

// RequeueTx sends a record through the engine again, within tx. It reports false
// when there is no such record or it is being worked on.
func RequeueTx(ctx context.Context, tx *sql.Tx, id int64) (bool, error) {
	requeued, err := RequeueAllTx(ctx, tx, []int64{id})
	return len(requeued) == 1, err
}

// RequeueAllTx is RequeueTx for some records. It answers those that are sent, in their order. What they write is of the task of ctx, if
// there is one.
func RequeueAllTx(ctx context.Context, tx *sql.Tx, ids []int64) ([]int64, error) {
	list, args := db.In(ids)
	by := task.IDOf(ctx)
	requeued, err := db.Values[int64](ctx, tx, "requeue records", `UPDATE records SET status = 'received', lease_until = 0, updated_at = ?,
			task_id = CASE WHEN CAST(? AS BIGINT) = 0 THEN task_id ELSE CAST(? AS BIGINT) END
		WHERE id IN `+list+` AND status NOT IN ('received', 'processing') RETURNING id`, append([]any{time.Now().UnixMilli(), by, by}, args...)...)
	slices.Sort(requeued)
	return requeued, err
}

// MoveTx changes the state of a record that stays as it came out, within tx. It returns
// ErrMoved when the record is not in the state from.
func MoveTx(ctx context.Context, tx *sql.Tx, id int64, from, to Status, kind ErrorKind, message reason.Reason) error {
	result, err := tx.ExecContext(ctx, `UPDATE records SET status = ?, error_kind = ?, message = ?, owner = 0, updated_at = ? WHERE id = ? AND status = ?`,
		to, kind, message, time.Now().UnixMilli(), id, from)
	if err != nil {
		return fmt.Errorf("move record %d: %w", id, err)
	}
	n, err := result.RowsAffected()
	if err != nil {
		return fmt.Errorf("move record %d: %w", id, err)
	}
	if n == 0 {
		return ErrMoved
	}
	return nil
}

// IgnoreTx ends a settled record as ignored, within tx; one that is on its way stays so.
func IgnoreTx(ctx context.Context, tx *sql.Tx, id int64, message reason.Reason) error {
	_, err := tx.ExecContext(ctx, `UPDATE records SET status = 'ignored', error_kind = '', message = ?, updated_at = ?
		WHERE id = ? AND status NOT IN ('received', 'processing')`, message, time.Now().UnixMilli(), id)
	if err != nil {
		return fmt.Errorf("end record %d: %w", id, err)
	}
	return nil
}
