// Package replay keeps the marks that wait for the catalog, and sends them through
// the engine again once it answers.
package replay

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/db"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// Status is the state of a task.
type Status string

// Pending waits for its next attempt; Synced is done; Abandoned was tried too often.
const (
	Pending   Status = "pending"
	Synced    Status = "synced"
	Abandoned Status = "abandoned"
)

// Task is one record that waits for the catalog.
type Task struct {
	RecordID  int64
	AccountID int64
	// SubjectID is 0 while matching is still to do.
	SubjectID catalog.SubjectID
	Episodes  []catalog.EpisodeID
	Action    watch.Action
	LastError string
	// RetryAfter is what the catalog asked for; 0 when it did not.
	RetryAfter time.Duration
}

// The wait before a task's next attempt grows from firstWait to longestWait.
const (
	firstWait   = 5 * time.Second
	longestWait = 15 * time.Minute
)

// Queue is the table pending_sync_queue.
type Queue struct{ db *db.DB }

// NewQueue is the queue over d.
func NewQueue(d *db.DB) *Queue { return &Queue{db: d} }

// ErrNoAccount is returned for a task whose account does not exist any more.
var ErrNoAccount = errors.New("the account of the task does not exist")

// PutTx queues a task within tx, or counts one more failed attempt of it. The
// answer is Abandoned when that was one attempt more than maxRetries. It returns
// ErrNoAccount when the account was deleted meanwhile.
func PutTx(ctx context.Context, tx *sql.Tx, t Task, maxRetries int) (Status, error) {
	if t.Episodes == nil {
		t.Episodes = []catalog.EpisodeID{}
	}
	episodes, err := json.Marshal(t.Episodes)
	if err != nil {
		return "", fmt.Errorf("encode episodes: %w", err)
	}
	var retries int
	err = tx.QueryRowContext(ctx, `SELECT retry_count + 1 FROM pending_sync_queue WHERE record_id = ? AND status = 'pending'`, t.RecordID).Scan(&retries)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("read task of record %d: %w", t.RecordID, err)
	}
	status := Pending
	if retries > maxRetries {
		status = Abandoned
	}
	now := time.Now()
	result, err := tx.ExecContext(ctx, `
		INSERT INTO pending_sync_queue (record_id, account_id, subject_id, episodes, action, retry_count, status, last_error, next_attempt, created_at, updated_at)
		SELECT ?, a.id, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM accounts a WHERE a.id = ?
		ON CONFLICT (record_id) DO UPDATE SET account_id = excluded.account_id, subject_id = excluded.subject_id, episodes = excluded.episodes,
			action = excluded.action, retry_count = excluded.retry_count, status = excluded.status, last_error = excluded.last_error,
			next_attempt = excluded.next_attempt, updated_at = excluded.updated_at`,
		t.RecordID, t.SubjectID, string(episodes), t.Action, retries, status, t.LastError,
		now.Add(max(wait(retries), t.RetryAfter)).UnixMilli(), now.UnixMilli(), now.UnixMilli(), t.AccountID)
	if err != nil {
		return "", fmt.Errorf("queue record %d: %w", t.RecordID, err)
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return "", errors.Join(ErrNoAccount, err)
	}
	return status, nil
}

// wait is how long a task rests after its nth failed replay, with up to a quarter of jitter.
func wait(retries int) time.Duration {
	d := longestWait
	if retries < 12 {
		d = min(firstWait<<retries, longestWait)
	}
	return d + rand.N(d/4)
}

// DoneTx closes the task of a record that came out otherwise than queued, if it has one.
func DoneTx(ctx context.Context, tx *sql.Tx, recordID int64) error {
	_, err := tx.ExecContext(ctx, `UPDATE pending_sync_queue SET status = 'synced', updated_at = ? WHERE record_id = ? AND status = 'pending'`,
		time.Now().UnixMilli(), recordID)
	if err != nil {
		return fmt.Errorf("close task of record %d: %w", recordID, err)
	}
	return nil
}

// Counts is the number of tasks by state.
func (q *Queue) Counts(ctx context.Context) (map[Status]int, error) {
	counts := map[Status]int{Pending: 0, Synced: 0, Abandoned: 0}
	rows, err := q.db.Read().QueryContext(ctx, `SELECT status, COUNT(*) FROM pending_sync_queue GROUP BY status`)
	if err != nil {
		return nil, fmt.Errorf("count tasks: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var status Status
		var n int
		if err := rows.Scan(&status, &n); err != nil {
			return nil, fmt.Errorf("count tasks: %w", err)
		}
		counts[status] = n
	}
	return counts, rows.Err()
}

// hasDue reports whether a task's next attempt has come.
func (q *Queue) hasDue(ctx context.Context) (bool, error) {
	var due bool
	err := q.db.Read().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pending_sync_queue WHERE status = 'pending' AND next_attempt <= ?)`,
		time.Now().UnixMilli()).Scan(&due)
	if err != nil {
		return false, fmt.Errorf("look for due tasks: %w", err)
	}
	return due, nil
}

// release sends the records of up to limit due tasks through the engine again,
// oldest first, and tells which they are.
func (q *Queue) release(ctx context.Context, limit int) ([]int64, error) {
	var released []int64
	err := q.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		released = released[:0]
		ids, err := due(ctx, tx, limit)
		if err != nil {
			return err
		}
		for _, id := range ids {
			requeued, err := record.RequeueTx(ctx, tx, id)
			if err != nil {
				return err
			}
			if requeued {
				released = append(released, id)
			}
		}
		return nil
	})
	return released, err
}

func due(ctx context.Context, tx *sql.Tx, limit int) ([]int64, error) {
	rows, err := tx.QueryContext(ctx, `SELECT q.record_id FROM pending_sync_queue q JOIN records r ON r.id = q.record_id
		WHERE q.status = 'pending' AND q.next_attempt <= ? AND r.status = 'queued' ORDER BY q.record_id LIMIT ?`, time.Now().UnixMilli(), limit)
	if err != nil {
		return nil, fmt.Errorf("read due tasks: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("read due task: %w", err)
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// postpone moves the due tasks to a later time without counting an attempt.
func (q *Queue) postpone(ctx context.Context, until time.Time) error {
	return q.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE pending_sync_queue SET next_attempt = ? WHERE status = 'pending' AND next_attempt < ?`,
			until.UnixMilli(), until.UnixMilli())
		if err != nil {
			return fmt.Errorf("postpone tasks: %w", err)
		}
		return nil
	})
}
