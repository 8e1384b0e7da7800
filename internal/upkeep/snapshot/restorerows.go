package snapshot

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/db"
)

// restore is a row of restores.
type restore struct {
	task, account, snapshot, undoes int64
	chosen                          RestoreRequest
	before                          int64
	same                            int
	began, ended                    time.Time
}

// restoreRow is a row of restore_rows.
type restoreRow struct {
	subject      catalog.SubjectID
	name, nameCN string
	wanted       catalog.Wanted
	// written is what was sent; nil while nothing was.
	written *catalog.Change
	// outcome is what became of it; nil until then.
	outcome *RestoreRow
	hidden  bool
	// now is the entry as it was read, for a preview; it is not stored.
	now catalog.Entry
}

func (s store) addRestore(ctx context.Context, r restore) error {
	chosen, err := json.Marshal(r.chosen)
	if err == nil {
		err = s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO restores (task_id, account_id, snapshot_id, undoes, chosen, began_at) VALUES (?, ?, ?, ?, ?, ?)`,
				r.task, r.account, r.snapshot, r.undoes, string(chosen), r.began.UnixMilli())
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("store what is to be brought back: %w", err)
	}
	return nil
}

const restoreColumns = `task_id, account_id, snapshot_id, undoes, chosen, before_id, same, began_at, ended_at`

func scanRestore(row db.Row) (r restore, err error) {
	var chosen []byte
	var began, ended int64
	if err := row.Scan(&r.task, &r.account, &r.snapshot, &r.undoes, &chosen, &r.before, &r.same, &began, &ended); err != nil {
		return r, err
	}
	r.began = time.UnixMilli(began)
	if ended != 0 {
		r.ended = time.UnixMilli(ended)
	}
	return r, json.Unmarshal(chosen, &r.chosen)
}

// restore is what a task brings back, or ErrNoRestore.
func (s store) restore(ctx context.Context, task int64) (restore, error) {
	within, whose := account.Within(ctx, "account_id")
	r, err := scanRestore(s.db.Read().QueryRowContext(ctx, `SELECT `+restoreColumns+` FROM restores WHERE task_id = ? AND `+within, append([]any{task}, whose...)...))
	if errors.Is(err, sql.ErrNoRows) {
		return r, ErrNoRestore
	}
	if err != nil {
		return r, fmt.Errorf("read what is brought back: %w", err)
	}
	return r, nil
}

// openRestores are those that are to go on, and those that have ended since.
func (s store) openRestores(ctx context.Context, since time.Time) ([]restore, error) {
	return db.All(ctx, s.db.Read(), "list what is brought back", scanRestore, `SELECT `+restoreColumns+` FROM restores WHERE ended_at = 0 OR ended_at > ? ORDER BY task_id`, since.UnixMilli())
}

func (s store) restoresBetween(ctx context.Context, accountID int64, since, until time.Time) ([]int64, error) {
	within, whose := account.Within(ctx, "account_id")
	return db.All(ctx, s.db.Read(), "list what was brought back", func(row db.Row) (id int64, err error) { return id, row.Scan(&id) },
		`SELECT task_id FROM restores WHERE (account_id = ? OR CAST(? AS BIGINT) = 0)
		AND EXISTS (SELECT 1 FROM restore_rows w WHERE w.task_id = restores.task_id AND w.written <> '' AND w.written_at >= ? AND w.written_at <= ?)
		AND `+within+` ORDER BY task_id`, append([]any{accountID, accountID, since.UnixMilli(), until.UnixMilli()}, whose...)...)
}

func (s store) lastRestore(ctx context.Context, accountID int64) (id int64, err error) {
	within, whose := account.Within(ctx, "account_id")
	err = s.db.Read().QueryRowContext(ctx, `SELECT COALESCE(MAX(task_id), 0) FROM restores WHERE account_id = ? AND undoes = 0 AND ended_at <> 0
		AND EXISTS (SELECT 1 FROM restore_rows w WHERE w.task_id = restores.task_id AND w.written <> '')
		AND NOT EXISTS (SELECT 1 FROM restores u WHERE u.undoes = restores.task_id) AND `+within, append([]any{accountID}, whose...)...).Scan(&id)
	if err != nil {
		return 0, fmt.Errorf("look for what was brought back: %w", err)
	}
	return id, nil
}

// plan stores what is to become of entries, all at once.
func (s store) plan(ctx context.Context, r restore, rows []*restoreRow) error {
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE restores SET before_id = ?, same = ? WHERE task_id = ?`, r.before, r.same, r.task); err != nil {
			return err
		}
		for _, row := range rows {
			wanted, err := json.Marshal(row.wanted)
			if err != nil {
				return err
			}
			outcome := ""
			if row.outcome != nil {
				text, err := json.Marshal(row.outcome)
				if err != nil {
					return err
				}
				outcome = string(text)
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO restore_rows (task_id, subject_id, name, name_cn, wanted, outcome) VALUES (?, ?, ?, ?, ?, ?)`,
				r.task, row.subject, row.name, row.nameCN, string(wanted), outcome); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("store what is to be brought back: %w", err)
	}
	return nil
}

// restoreRows are the rows of a task, by subject.
func (s store) restoreRows(ctx context.Context, task int64) ([]*restoreRow, error) {
	return db.All(ctx, s.db.Read(), "list what is brought back", func(row db.Row) (r *restoreRow, err error) {
		r = &restoreRow{}
		var wanted, written, outcome []byte
		if err := row.Scan(&r.subject, &r.name, &r.nameCN, &wanted, &written, &outcome, &r.hidden); err != nil {
			return r, err
		}
		err = json.Unmarshal(wanted, &r.wanted)
		if len(written) > 0 {
			r.written = &catalog.Change{}
			err = errors.Join(err, json.Unmarshal(written, r.written))
		}
		if len(outcome) > 0 {
			r.outcome = &RestoreRow{}
			err = errors.Join(err, json.Unmarshal(outcome, r.outcome))
		}
		return r, err
	}, `SELECT subject_id, name, name_cn, wanted, written, outcome, hidden FROM restore_rows WHERE task_id = ? ORDER BY subject_id`, task)
}

// noteWritten stores what is about to be sent of an entry.
func (s store) noteWritten(ctx context.Context, task int64, subject catalog.SubjectID, c catalog.Change) error {
	text, err := writtenText(c)
	if err == nil {
		err = s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE restore_rows SET written = ?, written_at = ? WHERE task_id = ? AND subject_id = ?`, text, time.Now().UnixMilli(), task, subject)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("store what is written to a list: %w", err)
	}
	return nil
}

// writtenText is what is stored of a change: without what was not written, which its row tells.
func writtenText(c catalog.Change) (string, error) {
	if c.Empty() {
		return "", nil
	}
	c.Cannot, c.Held = nil, nil
	text, err := json.Marshal(c)
	return string(text), err
}

// settleTx stores what became of an entry.
func settleTx(ctx context.Context, tx *sql.Tx, task int64, r *restoreRow) error {
	written := ""
	var err error
	if r.written != nil {
		if written, err = writtenText(*r.written); err != nil {
			return err
		}
	}
	outcome, err := json.Marshal(r.outcome)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE restore_rows SET written = ?, outcome = ?, hidden = ? WHERE task_id = ? AND subject_id = ?`, written, string(outcome), r.hidden, task, r.subject)
	if err != nil {
		return fmt.Errorf("store what was brought back of entry %d: %w", r.subject, err)
	}
	return nil
}

// endRestore notes that a restore does not go on.
func (s store) endRestore(ctx context.Context, task int64) error {
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE restores SET ended_at = ? WHERE task_id = ?`, time.Now().UnixMilli(), task)
		return err
	})
	if err != nil {
		return fmt.Errorf("store that bringing back has ended: %w", err)
	}
	return nil
}

// hidden are the subjects of an account that Bangumi hid when they were brought back.
func (s store) hidden(ctx context.Context, account int64) (map[catalog.SubjectID]bool, error) {
	all := map[catalog.SubjectID]bool{}
	err := db.Each(ctx, s.db.Read(), "list what Bangumi hides", func(row db.Row) error {
		var id catalog.SubjectID
		err := row.Scan(&id)
		all[id] = true
		return err
	}, `SELECT w.subject_id FROM restore_rows w JOIN restores r ON r.task_id = w.task_id WHERE r.account_id = ? AND w.hidden = 1`, account)
	return all, err
}

// restored is what restores wrote to an account's list in a span of time.
func (s store) restored(ctx context.Context, account int64, from, to time.Time) (map[catalog.SubjectID]catalog.Wanted, error) {
	all := map[catalog.SubjectID]catalog.Wanted{}
	err := db.Each(ctx, s.db.Read(), "list what was brought back", func(row db.Row) error {
		var id catalog.SubjectID
		var text []byte
		if err := row.Scan(&id, &text); err != nil {
			return err
		}
		var c catalog.Change
		err := json.Unmarshal(text, &c)
		all[id] = (catalog.Change{Sent: all[id]}).Then(c).Sent
		return err
	}, `SELECT w.subject_id, w.written FROM restore_rows w JOIN restores r ON r.task_id = w.task_id
		WHERE r.account_id = ? AND w.written <> '' AND w.written_at >= ? AND w.written_at <= ? ORDER BY w.written_at`, account, from.UnixMilli(), to.UnixMilli())
	return all, err
}

func (s store) pruneRestores(ctx context.Context, before time.Time, limit int) (removed int64, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `DELETE FROM restores WHERE task_id IN (SELECT task_id FROM restores WHERE ended_at <> 0 AND ended_at < ? ORDER BY task_id LIMIT ?)`, before.UnixMilli(), limit)
		if err != nil {
			return err
		}
		removed, err = result.RowsAffected()
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("remove what was brought back long ago: %w", err)
	}
	return removed, nil
}
