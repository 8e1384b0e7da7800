package queue

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// Entry is a task as people see it, with what its record is about.
type Entry struct {
	RecordID    int64               `json:"record_id"`
	Status      Status              `json:"status" enum:"pending,synced,abandoned"`
	AccountID   int64               `json:"account_id" doc:"0 when the account was deleted."`
	AccountName string              `json:"account_name"`
	Title       string              `json:"title"`
	MediaType   watch.Media         `json:"media_type"`
	Season      *int                `json:"season"`
	Episode     *float64            `json:"episode"`
	SubjectID   catalog.SubjectID   `json:"subject_id" doc:"0 while matching is still to do."`
	SubjectName string              `json:"subject_name"`
	Episodes    []catalog.EpisodeID `json:"episodes"`
	Action      watch.Action        `json:"action"`
	RetryCount  int                 `json:"retry_count" doc:"How often it was tried again and failed."`
	LastError   reason.Reason       `json:"last_error_value,omitzero"`
	InWork      bool                `json:"in_work" doc:"Whether its record is on its way right now."`
	Held        bool                `json:"held" doc:"Whether it waits for its account, which is disabled, deleted or without a token; last_error says which."`
	NextAttempt time.Time           `json:"next_attempt" doc:"Not before this; a task waits for Bangumi's return besides."`
	CreatedAt   time.Time           `json:"created_at"`
	UpdatedAt   time.Time           `json:"updated_at"`
}

// MarshalJSON adds the text of the last error.
func (e Entry) MarshalJSON() ([]byte, error) {
	type plain Entry
	return reason.MarshalBeside((*plain)(&e))
}

// Filter selects tasks for List; zero fields do not restrict.
type Filter struct {
	Status Status
	// Newest lists the newest records first, else they come in the order they are sent in.
	Newest bool
	// After is the cursor: only what comes after the task of this record.
	After int64
	// Limit is how many tasks a page has at most, above 0.
	Limit int
}

// List is the tasks that pass the filter, and the cursor of the next page (0 = none).
func (q *Queue) List(ctx context.Context, f Filter) (entries []Entry, next int64, err error) {
	where, order, args := "1 = 1", "ASC", []any{}
	if f.Status != "" {
		where, args = where+" AND q.status = ?", append(args, f.Status)
	}
	if f.Newest {
		order = "DESC"
	}
	switch {
	case f.After == 0:
	case f.Newest:
		where, args = where+" AND q.record_id < ?", append(args, f.After)
	default:
		where, args = where+" AND q.record_id > ?", append(args, f.After)
	}
	entries, err = db.All(ctx, q.db.Read(), "list tasks", scanEntry, `
		SELECT q.record_id, q.status, COALESCE(q.account_id, 0), q.subject_id, q.episodes, q.action, q.retry_count, q.last_error,
			q.status = 'pending' AND NOT `+free+`, q.next_attempt, q.created_at, q.updated_at
		FROM pending_sync_queue q WHERE `+where+` ORDER BY q.record_id `+order+` LIMIT ?`, append(args, f.Limit+1)...)
	if err != nil {
		return nil, 0, err
	}
	if len(entries) > f.Limit {
		entries = entries[:f.Limit]
		next = entries[f.Limit-1].RecordID
	}
	return entries, next, q.addRecords(ctx, entries)
}

// scanEntry reads a task without what its record is about.
func scanEntry(row db.Row) (e Entry, err error) {
	var episodes string
	var due, created, updated int64
	if err := row.Scan(&e.RecordID, &e.Status, &e.AccountID, &e.SubjectID, &episodes, &e.Action, &e.RetryCount, &e.LastError,
		&e.Held, &due, &created, &updated); err != nil {
		return e, err
	}
	e.NextAttempt, e.CreatedAt, e.UpdatedAt = time.UnixMilli(due), time.UnixMilli(created), time.UnixMilli(updated)
	if err := json.Unmarshal([]byte(episodes), &e.Episodes); err != nil {
		return e, fmt.Errorf("decode the episodes of task %d: %w", e.RecordID, err)
	}
	return e, nil
}

// addRecords tells in entries what their records are about.
func (q *Queue) addRecords(ctx context.Context, entries []Entry) error {
	ids := make([]int64, len(entries))
	for i, e := range entries {
		ids[i] = e.RecordID
	}
	records, err := record.Some(ctx, q.db.Read(), ids)
	for i := range entries {
		e, r := &entries[i], records[entries[i].RecordID]
		e.AccountName, e.Title, e.MediaType, e.Season, e.Episode = r.AccountName, r.Title, r.MediaType, r.Season, r.Episode
		e.SubjectName, e.InWork = r.SubjectName, r.Status.IsOnTheWay()
	}
	return err
}

// standing is the state of a record's task; ErrNotFound and ErrSynced for one that
// nothing can be done with.
func standing(ctx context.Context, q db.Querier, recordID int64) (Status, error) {
	var status Status
	err := q.QueryRowContext(ctx, `SELECT status FROM pending_sync_queue WHERE record_id = ?`, recordID).Scan(&status)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", ErrNotFound
	case err != nil:
		return "", fmt.Errorf("read task of record %d: %w", recordID, err)
	case status == Synced:
		return status, ErrSynced
	}
	return status, nil
}

// revive makes an abandoned task pending again, with all its tries before it. It
// returns ErrNotFound, ErrSynced, ErrPending, or ErrInWork while its record is retried.
func (q *Queue) revive(ctx context.Context, recordID int64) error {
	return q.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		status, err := standing(ctx, tx, recordID)
		if err != nil {
			return err
		}
		if status == Pending {
			return ErrPending
		}
		if err := record.MoveTx(ctx, tx, recordID, record.Failed, record.Queued, record.Unreachable, revived.With()); err != nil {
			return orInWork(err)
		}
		now := time.Now().UnixMilli()
		_, err = tx.ExecContext(ctx, `UPDATE pending_sync_queue SET status = 'pending', retry_count = 0, next_attempt = ?, updated_at = ? WHERE record_id = ?`, now, now, recordID)
		if err != nil {
			return fmt.Errorf("revive task of record %d: %w", recordID, err)
		}
		return nil
	})
}

// Delete takes a task out of the queue. A record that waited for it is ignored from
// then on; it may still be retried. It returns ErrNotFound or ErrInWork.
func (q *Queue) Delete(ctx context.Context, recordID int64) error {
	return q.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		status, err := standing(ctx, tx, recordID)
		if err != nil && !errors.Is(err, ErrSynced) {
			return err
		}
		if status == Pending {
			if err := record.MoveTx(ctx, tx, recordID, record.Queued, record.Ignored, "", takenOut.With()); err != nil {
				return orInWork(err)
			}
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM pending_sync_queue WHERE record_id = ?`, recordID); err != nil {
			return fmt.Errorf("delete task of record %d: %w", recordID, err)
		}
		return nil
	})
}

// orInWork is ErrInWork for a record that is not in the state its task says.
func orInWork(err error) error {
	if errors.Is(err, record.ErrMoved) {
		return ErrInWork
	}
	return err
}

// Prune removes up to limit tasks that were done before cutoff and reports how many went.
func (q *Queue) Prune(ctx context.Context, cutoff time.Time, limit int) (int64, error) {
	var n int64
	err := q.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `DELETE FROM pending_sync_queue WHERE record_id IN (
			SELECT record_id FROM pending_sync_queue WHERE status = 'synced' AND updated_at < ? ORDER BY record_id LIMIT ?)`, cutoff.UnixMilli(), limit)
		if err != nil {
			return fmt.Errorf("delete old tasks: %w", err)
		}
		n, err = result.RowsAffected()
		return err
	})
	return n, err
}
