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

// Intent is what is about to be written for a record that its owner has in hand.
type Intent struct {
	RecordID, Owner int64
	AccountID       int64
	SubjectID       catalog.SubjectID
	EpisodeID       catalog.EpisodeID
	// At is when it is to be written, or was by an earlier try, by the catalog's clock.
	At time.Time
	Written
}

// mark is what was written as it is kept.
func (w Written) mark(record, account int64, subject catalog.SubjectID, episode catalog.EpisodeID) Mark {
	m := Mark{
		RecordID: record, AccountID: account, SubjectID: subject, EpisodeID: episode, Completed: w.Completed, Created: w.Created, Changed: w.Changed, Was: w.Was,
		Written: time.Now(),
	}
	if w.EntryAlone {
		m.EpisodeID = 0
	}
	return m
}

// Intend keeps what is about to be written to a list. It returns ErrMoved, and keeps nothing, when a
// record is not its owner's any more or the account is gone. It is a shared write: the rows are the owner's.
func (s *Store) Intend(ctx context.Context, intents []Intent) error {
	return s.db.WriteShared(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, i := range intents {
			m := i.mark(i.RecordID, i.AccountID, i.SubjectID, i.EpisodeID)
			result, err := tx.ExecContext(ctx, `INSERT INTO record_marks (`+markColumns+`, task_id)
				SELECT r.id, ?, ?, ?, ?, ?, ?, ?, ?, r.task_id FROM records r WHERE r.id = ? AND r.owner = ? AND `+account.Existing+` IS NOT NULL
				ON CONFLICT (record_id, account_id, subject_id, episode_id) DO UPDATE SET completed = excluded.completed, created = excluded.created,
					was = CASE WHEN excluded.was < 0 THEN record_marks.was ELSE excluded.was END, intended_at = excluded.intended_at,
					written_at = excluded.written_at, task_id = excluded.task_id`,
				m.AccountID, m.SubjectID, m.EpisodeID, m.Completed, m.Created, m.was(), i.At.Unix(), m.Written.UnixMilli(), m.RecordID, i.Owner, m.AccountID)
			if err != nil {
				return fmt.Errorf("keep what record %d is about to write: %w", m.RecordID, err)
			}
			if n, err := result.RowsAffected(); err != nil || n == 0 {
				return fmt.Errorf("keep what record %d is about to write: %w", m.RecordID, ErrMoved)
			}
		}
		return nil
	})
}

// Intended is what some records were about to write for a subject on an account's list, while nobody knows whether they did.
func (s *Store) Intended(ctx context.Context, account int64, subject catalog.SubjectID, ids []int64) ([]Mark, error) {
	list, args := db.In(ids)
	return db.All(ctx, s.db.Read(), "read what was about to be written", scanMark,
		`SELECT `+markColumns+` FROM record_marks WHERE account_id = ? AND subject_id = ? AND intended_at > 0 AND record_id IN `+list,
		append([]any{account, subject}, args...)...)
}

// Unintend forgets what some records were about to write for a subject and did not. It is a shared write, as Intend.
func (s *Store) Unintend(ctx context.Context, account int64, subject catalog.SubjectID, ids []int64) error {
	return s.db.WriteShared(ctx, func(ctx context.Context, tx *sql.Tx) error { return forgetIntents(ctx, tx, account, subject, ids...) })
}

func forgetIntents(ctx context.Context, tx *sql.Tx, account int64, subject catalog.SubjectID, ids ...int64) error {
	list, args := db.In(ids)
	_, err := tx.ExecContext(ctx, `DELETE FROM record_marks WHERE account_id = ? AND subject_id = ? AND intended_at > 0 AND record_id IN `+list,
		append([]any{account, subject}, args...)...)
	if err != nil {
		return fmt.Errorf("forget what was not written: %w", err)
	}
	return nil
}
