package record

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/db"
)

// Writings select what records wrote: in a span of time, or by a task.
type Writings struct {
	// Since and Until bound when it was written: not before Since, and before Until.
	Since, Until time.Time
	// AccountID is whose list it is on; 0 for everybody's.
	AccountID int64
	// TaskID is the task by which it came; then there is no span and no account.
	TaskID int64
}

// where is the condition on record_marks, those on lists that the scope of ctx reaches, and its arguments.
func (w Writings) where(ctx context.Context) (condition string, args []any) {
	within, whose := account.Within(ctx, "account_id")
	if w.TaskID != 0 {
		return `task_id = ? AND task_id <> 0 AND ` + within, append([]any{w.TaskID}, whose...)
	}
	args = append([]any{w.Since.UnixMilli(), w.Until.UnixMilli()}, whose...)
	if w.AccountID != 0 {
		return `written_at >= ? AND written_at < ? AND ` + within + ` AND account_id = ?`, append(args, w.AccountID)
	}
	return `written_at >= ? AND written_at < ? AND ` + within + ` AND account_id IN (SELECT DISTINCT account_id FROM record_marks)`, args // each by its index
}

// holds reports whether what came at a time by a task is selected, on the list of w.
func (w Writings) holds(at time.Time, by int64) bool {
	if w.TaskID != 0 {
		return by == w.TaskID
	}
	return !at.Before(w.Since) && at.Before(w.Until)
}

// ListEntry names an entry of an account's list.
type ListEntry struct {
	AccountID int64
	SubjectID catalog.SubjectID
}

// WrittenEntries are the entries of lists that were written to, by account and subject.
func (s *Store) WrittenEntries(ctx context.Context, w Writings) ([]ListEntry, error) {
	where, args := w.where(ctx)
	return db.All(ctx, s.db.Read(), "list the entries that were written to", func(row db.Row) (e ListEntry, err error) {
		err = row.Scan(&e.AccountID, &e.SubjectID)
		return e, err
	}, `SELECT DISTINCT account_id, subject_id FROM record_marks WHERE `+where+` ORDER BY account_id, subject_id`, args...)
}

// WrittenTo are the marks on one entry that w selects, with the records that hold them.
func (s *Store) WrittenTo(ctx context.Context, e ListEntry, w Writings) (marks []Mark, of map[int64]Record, err error) {
	where, args := w.where(ctx)
	marks, err = db.All(ctx, s.db.Read(), "read what was written to an entry", scanMark,
		`SELECT `+markColumns+` FROM record_marks WHERE `+where+` AND account_id = ? AND subject_id = ? ORDER BY episode_id, record_id`,
		append(args, e.AccountID, e.SubjectID)...)
	if err != nil {
		return nil, nil, err
	}
	of = map[int64]Record{}
	for _, m := range marks {
		of[m.RecordID] = Record{}
	}
	ids := make([]int64, 0, len(of))
	for id := range of {
		ids = append(ids, id)
	}
	list, args := db.In(ids)
	all, err := recordsOf(ctx, s.db.Read(), `WHERE id IN `+list, args...)
	for _, r := range all {
		of[r.ID] = r
	}
	return marks, of, err
}

// Unfinished are the records of a task that are on their way, and those that wait for the catalog.
func (s *Store) Unfinished(ctx context.Context, taskID int64) (onTheWay, queued []int64, err error) {
	within, whose := account.Within(ctx, "account_id")
	err = db.Each(ctx, s.db.Read(), "list what of a task is not finished", func(row db.Row) error {
		var id int64
		var status Status
		err := row.Scan(&id, &status)
		if status == Queued {
			queued = append(queued, id)
		} else {
			onTheWay = append(onTheWay, id)
		}
		return err
	}, `SELECT id, status FROM records WHERE status IN ('received', 'processing', 'queued') AND task_id = ? AND `+within+` ORDER BY id`, append([]any{taskID}, whose...)...)
	return onTheWay, queued, err
}

// OfTaskTx notes within tx that records were run again by a task, and so is what they have written since.
func OfTaskTx(ctx context.Context, tx *sql.Tx, taskID int64, since time.Time, ids ...int64) error {
	if taskID == 0 {
		return nil
	}
	list, args := db.In(ids)
	if _, err := tx.ExecContext(ctx, `UPDATE records SET task_id = ? WHERE id IN `+list, append([]any{taskID}, args...)...); err != nil {
		return fmt.Errorf("note the task of records: %w", err)
	}
	if _, err := tx.ExecContext(ctx, `UPDATE record_marks SET task_id = ? WHERE written_at >= ? AND record_id IN `+list, append([]any{taskID, since.UnixMilli()}, args...)...); err != nil {
		return fmt.Errorf("note the task of marks: %w", err)
	}
	return nil
}

// HandChangeTx has another mark on the entry of m, the oldest, keep within tx in which state the entry was before; with no other nobody does.
func HandChangeTx(ctx context.Context, tx *sql.Tx, m Mark) error {
	_, err := tx.ExecContext(ctx, `UPDATE record_marks SET was = ? WHERE account_id = ? AND subject_id = ? AND was < 0 AND episode_id <> 0
		AND record_id = (SELECT MIN(o.record_id) FROM record_marks o WHERE o.account_id = ? AND o.subject_id = ? AND o.episode_id <> 0)`,
		m.was(), m.AccountID, m.SubjectID, m.AccountID, m.SubjectID)
	if err != nil {
		return fmt.Errorf("keep how the entry of subject %d was: %w", m.SubjectID, err)
	}
	return nil
}
