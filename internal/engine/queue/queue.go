// Package queue keeps the marks that wait for the catalog, and sends them through
// the engine again once it answers.
package queue

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
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
	RecordID int64
	// AccountID may be that of an account that was deleted meanwhile: the task waits for another one.
	AccountID int64
	// SubjectID is 0 while matching is still to do.
	SubjectID catalog.SubjectID
	Episodes  []catalog.EpisodeID
	Action    watch.Action
	LastError reason.Reason
	// Asked is set when the catalog was asked and failed: that counts as a try. A task that
	// found the catalog known to be unreachable waits for its return alone.
	Asked bool
	// RetryAfter is what the catalog asked for; 0 when it did not.
	RetryAfter time.Duration
}

const (
	// The wait before a task's next attempt grows from firstWait to longestWait.
	firstWait   = 5 * time.Second
	longestWait = 15 * time.Minute
	// longestPause bounds what a Retry-After may ask for: the catalog bans for an hour
	// (upstreams/catalog.md section 2).
	longestPause = time.Hour
	// horizon is later than any next attempt can be. One beyond it was written before
	// the clock was set back, and is due.
	horizon = longestPause + time.Minute
)

// Queue is the table pending_sync_queue.
type Queue struct{ db *db.DB }

// NewQueue is the queue over d.
func NewQueue(d *db.DB) *Queue { return &Queue{db: d} }

// Put is how a task stands after PutTx.
type Put struct {
	Status Status
	// Waited is set when the task was pending before, and Retries is how often it was sent again and failed.
	Waited  bool
	Retries int
}

// PutTx queues a task within tx; when it is pending already and the catalog was asked, that counts as one more failed
// retry. It is Abandoned with the maxRetries-th.
func PutTx(ctx context.Context, tx *sql.Tx, t Task, maxRetries int) (Put, error) {
	if t.Episodes == nil {
		t.Episodes = []catalog.EpisodeID{}
	}
	episodes, err := json.Marshal(t.Episodes)
	if err != nil {
		return Put{}, fmt.Errorf("encode episodes: %w", err)
	}
	put := Put{Status: Pending}
	err = tx.QueryRowContext(ctx, `SELECT retry_count FROM pending_sync_queue WHERE record_id = ? AND status = 'pending'`, t.RecordID).Scan(&put.Retries)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return Put{}, fmt.Errorf("read task of record %d: %w", t.RecordID, err)
	}
	put.Waited = err == nil
	if put.Waited && t.Asked {
		if put.Retries++; put.Retries >= maxRetries {
			put.Status = Abandoned
		}
	}
	now := time.Now()
	next := now
	if t.Asked {
		next = now.Add(max(wait(put.Retries), min(t.RetryAfter, longestPause)))
	}
	_, err = tx.ExecContext(ctx, `
		INSERT INTO pending_sync_queue (record_id, account_id, subject_id, episodes, action, retry_count, status, last_error, next_attempt, created_at, updated_at)
		VALUES (?, `+account.Existing+`, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (record_id) DO UPDATE SET account_id = excluded.account_id, subject_id = excluded.subject_id, episodes = excluded.episodes,
			action = excluded.action, retry_count = excluded.retry_count, status = excluded.status, last_error = excluded.last_error,
			next_attempt = excluded.next_attempt, updated_at = excluded.updated_at`,
		t.RecordID, t.AccountID, t.SubjectID, string(episodes), t.Action, put.Retries, put.Status, t.LastError,
		next.UnixMilli(), now.UnixMilli(), now.UnixMilli())
	if err != nil {
		return Put{}, fmt.Errorf("queue record %d: %w", t.RecordID, err)
	}
	return put, nil
}

// wait is how long a task rests after its nth failed replay, with up to a quarter of
// jitter. It is replayed for the first time as soon as the catalog answers.
func wait(retries int) time.Duration {
	switch {
	case retries == 0:
		return 0
	case retries > 8:
		return longestWait + rand.N(longestWait/4)
	}
	d := min(firstWait<<(retries-1), longestWait)
	return d + rand.N(d/4)
}

// DoneTx closes the task of a record that came out otherwise than queued, if it has one:
// then the record waited.
func DoneTx(ctx context.Context, tx *sql.Tx, recordID int64) (waited bool, err error) {
	result, err := tx.ExecContext(ctx, `UPDATE pending_sync_queue SET status = 'synced', updated_at = ? WHERE record_id = ? AND status <> 'synced'`,
		time.Now().UnixMilli(), recordID)
	if err != nil {
		return false, fmt.Errorf("close task of record %d: %w", recordID, err)
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// Behind reports whether earlier records of the account and subject still wait. With
// advance these are due at once, so that they and recordID are marked in order and soon.
func (q *Queue) Behind(ctx context.Context, recordID, accountID int64, subject catalog.SubjectID, advance bool) (bool, error) {
	earlier := ` FROM pending_sync_queue q WHERE ` + idle + ` AND q.account_id = ? AND q.subject_id = ? AND q.record_id < ?`
	var behind bool
	err := q.db.Read().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1`+earlier+`)`, accountID, subject, recordID).Scan(&behind)
	if err != nil {
		return false, fmt.Errorf("look for earlier tasks of subject %d: %w", subject, err)
	}
	if !behind || !advance {
		return behind, nil
	}
	return true, q.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE pending_sync_queue SET next_attempt = ? WHERE record_id IN (SELECT q.record_id`+earlier+`)`,
			time.Now().UnixMilli(), accountID, subject, recordID)
		if err != nil {
			return fmt.Errorf("advance the tasks of subject %d: %w", subject, err)
		}
		return nil
	})
}

// Counts is the number of tasks by state.
func (q *Queue) Counts(ctx context.Context) (map[Status]int, error) {
	counts := map[Status]int{Pending: 0, Synced: 0, Abandoned: 0}
	within, whose := account.Within(ctx, "account_id")
	err := db.Each(ctx, q.db.Read(), "count tasks", func(row db.Row) error {
		var status Status
		var n int
		err := row.Scan(&status, &n)
		counts[status] = n
		return err
	}, `SELECT status, COUNT(*) FROM pending_sync_queue WHERE `+within+` GROUP BY status`, whose...)
	return counts, err
}

// WaitedFor counts the marks that the end of an outage sets going: those that wait, but for what waits for its account,
// and those that went through since it began.
func (q *Queue) WaitedFor(ctx context.Context, outage time.Time) (n int, err error) {
	err = q.db.Read().QueryRowContext(ctx, `SELECT COUNT(*) FROM pending_sync_queue q
		WHERE q.status = 'pending' AND `+free+` OR q.status = 'synced' AND q.updated_at >= ? AND `+record.StatusOf("q.record_id")+` = 'success'`, outage.UnixMilli()).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count what waited for the catalog: %w", err)
	}
	return n, nil
}

// Oldest is since when the mark waits that has waited longest; zero when none waits.
func (q *Queue) Oldest(ctx context.Context) (time.Time, error) {
	var oldest sql.NullInt64
	if err := q.db.Read().QueryRowContext(ctx, `SELECT MIN(created_at) FROM pending_sync_queue WHERE status = 'pending'`).Scan(&oldest); err != nil {
		return time.Time{}, fmt.Errorf("look for the oldest task: %w", err)
	}
	if !oldest.Valid {
		return time.Time{}, nil
	}
	return time.UnixMilli(oldest.Int64), nil
}

// leader joins the oldest pending task of the same account and subject to a task q; a
// task that is not matched yet, or has no account, has none.
const leader = ` LEFT JOIN pending_sync_queue lead ON lead.record_id = (SELECT MIN(o.record_id) FROM pending_sync_queue o
	WHERE o.status = 'pending' AND o.account_id = q.account_id AND o.subject_id = q.subject_id AND q.subject_id <> 0)`

// turn is when a task q with its leader is due, in unix ms: 0 when that is beyond the
// parameter, which is now + horizon.
const turn = `(CASE WHEN COALESCE(lead.next_attempt, q.next_attempt) > ? THEN 0 ELSE COALESCE(lead.next_attempt, q.next_attempt) END)`

// waiting is every task that nobody works on and whose account can be used.
var waiting = ` FROM pending_sync_queue q` + leader + ` WHERE ` + idle + ` AND ` + free

// idle holds for a task q that nobody works on.
var idle = `q.status = 'pending' AND ` + record.StatusOf("q.record_id") + ` = 'queued'`

// waits reports whether any task waits, held ones included.
func (q *Queue) waits(ctx context.Context) (bool, error) {
	return q.exists(ctx, `SELECT 1 FROM pending_sync_queue q WHERE `+idle)
}

func (q *Queue) exists(ctx context.Context, query string) (bool, error) {
	var found bool
	if err := q.db.Read().QueryRowContext(ctx, `SELECT EXISTS (`+query+`)`).Scan(&found); err != nil {
		return false, fmt.Errorf("look for tasks: %w", err)
	}
	return found, nil
}

// firstTurn is when the first waiting task is due; false when none waits.
func (q *Queue) firstTurn(ctx context.Context) (time.Time, bool, error) {
	var first sql.NullInt64
	err := q.db.Read().QueryRowContext(ctx, `SELECT MIN(`+turn+`)`+waiting, time.Now().Add(horizon).UnixMilli()).Scan(&first)
	if err != nil {
		return time.Time{}, false, fmt.Errorf("look for tasks: %w", err)
	}
	return time.UnixMilli(first.Int64), first.Valid, nil
}

// inTurns is the end of a statement that takes the oldest of each account first, then the second of each, and so on.
const inTurns = ` ORDER BY ROW_NUMBER() OVER (PARTITION BY q.account_id ORDER BY q.record_id), q.record_id LIMIT ?`

// releaseDue sends the records of up to limit due tasks through the engine again, in turns of their accounts and the
// oldest of each first. What waits for one subject of one account goes together, when the
// oldest of it is due.
func (q *Queue) releaseDue(ctx context.Context, limit int) ([]int64, error) {
	now := time.Now()
	return q.release(ctx, `SELECT q.record_id`+waiting+` AND `+turn+` <= ?`+inTurns,
		now.Add(horizon).UnixMilli(), now.UnixMilli(), limit)
}

// released is how many records of waiting tasks are on their way.
func (q *Queue) released(ctx context.Context) (int, error) {
	return record.CountOnTheWay(ctx, q.db.Read(), `EXISTS (SELECT 1 FROM pending_sync_queue q WHERE q.record_id = records.id AND q.status = 'pending')`)
}

// releaseOldest is releaseDue for tasks that are not due as well.
func (q *Queue) releaseOldest(ctx context.Context, limit int) ([]int64, error) {
	return q.release(ctx, `SELECT q.record_id`+waiting+inTurns, limit)
}

// releaseOne is releaseDue for the task of one record. It returns ErrNotFound, ErrSynced, ErrHeld or ErrInWork.
func (q *Queue) releaseOne(ctx context.Context, recordID int64) error {
	if _, err := standing(ctx, q.db.Read(), recordID); err != nil {
		return err
	}
	released, err := q.release(ctx, `SELECT q.record_id FROM pending_sync_queue q
		WHERE q.record_id = ? AND q.status <> 'synced' AND `+free, recordID)
	if err != nil || len(released) > 0 {
		return err
	}
	why, _, err := held(ctx, q.db.Read(), recordID)
	if err != nil {
		return err
	}
	if !why.IsZero() {
		return ErrHeld
	}
	return ErrInWork
}

func (q *Queue) release(ctx context.Context, query string, args ...any) ([]int64, error) {
	var released []int64
	err := q.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		ids, err := db.Values[int64](ctx, tx, "read due tasks", query, args...)
		if err != nil {
			return err
		}
		released, err = record.RequeueAllTx(ctx, tx, ids)
		return err
	})
	return released, err
}
