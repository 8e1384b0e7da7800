package record

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/task"
	"watchmark/internal/watch"
)

// Insert adds a received record for event within tx. The caller publishes the id on the Feed after the commit.
func Insert(ctx context.Context, tx *sql.Tx, event watch.Event, test bool, now time.Time) (int64, error) {
	return insert(ctx, tx, task.IDOf(ctx), event, test, Received, 0, 0, now)
}

// InsertAll is Insert for some events, with few statements; accountID is the account that they are given to, 0 leaves them unrouted. The ids
// are in the order of the events.
func InsertAll(ctx context.Context, tx *sql.Tx, events []watch.Event, test bool, accountID int64, now time.Time) (ids []int64, err error) {
	for rows := range db.Groups(events) {
		var args []any
		for _, event := range rows {
			one, err := insertArgs(task.IDOf(ctx), event, test, Received, 0, accountID, now)
			if err != nil {
				return nil, err
			}
			args = append(args, one...)
		}
		added, err := db.Values[int64](ctx, tx, "insert records", insertInto+db.Rows(insertRow, len(rows))+` RETURNING id`, args...)
		if err != nil {
			return nil, err
		}
		slices.Sort(added) // RETURNING has no order, and rows get their ids in theirs
		ids = append(ids, added...)
	}
	return ids, nil
}

// Past is a record that came about elsewhere and is kept as it came out there.
type Past struct {
	Event watch.Event
	// Test is set for one that was only a test.
	Test bool
	// At is when it came about.
	At time.Time
	// Outcome is how it came out. It names no record, and no mark: what was marked is not known to be of this service.
	Outcome Outcome
}

// InsertPast adds a settled record within tx. The engine has nothing to do with it until somebody retries it.
func InsertPast(ctx context.Context, tx *sql.Tx, p Past) (id int64, err error) {
	text, err := json.Marshal(p.Event)
	if err != nil {
		return 0, fmt.Errorf("encode event: %w", err)
	}
	e, o := p.Event, p.Outcome
	err = tx.QueryRowContext(ctx, `
		INSERT INTO records (status, is_test, source, action, media_type, user_name, title, original_title,
			season, episode, release_date, account_id, account_name, subject_id, subject_name, episode_id, episode_sort,
			method, confidence, message, error_kind, attempts, event, source_label, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULLIF(?, 0), ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?) RETURNING id`,
		o.Status, p.Test, e.Source, e.Action, e.Media, e.UserName, e.Title, e.OriginalTitle,
		e.Season, e.Episode, e.AirDate.String(), o.AccountID, o.AccountName, o.SubjectID, o.SubjectName, o.EpisodeID, o.EpisodeSort,
		o.Method, o.Confidence, o.Message, o.ErrorKind, string(text), e.Label, p.At.UnixMilli(), p.At.UnixMilli()).Scan(&id)
	if err != nil {
		return 0, fmt.Errorf("insert a past record: %w", err)
	}
	return id, SetTraceTx(ctx, tx, id, o.Trace)
}

// The statement that adds records.
const (
	insertInto = `INSERT INTO records (status, is_test, source, action, media_type, user_name, title, original_title,
		season, episode, release_date, account_id, owner, attempts, event, source_label, created_at, updated_at, task_id) VALUES `
	insertRow = `(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULLIF(CAST(? AS BIGINT), 0), ?, ?, ?, ?, ?, ?, ?)`
)

// insertArgs are the values of a row; owner has it in hand, accountID 0 leaves it unrouted. by is the task by which it came; 0 for none.
func insertArgs(by int64, event watch.Event, test bool, status Status, owner, accountID int64, now time.Time) ([]any, error) {
	text, err := json.Marshal(event)
	if err != nil {
		return nil, fmt.Errorf("encode event: %w", err)
	}
	attempts := 0
	if status == Processing { // as a claim counts it
		attempts = 1
	}
	return []any{
		status, test, event.Source, event.Action, event.Media, event.UserName, event.Title, event.OriginalTitle,
		event.Season, event.Episode, event.AirDate.String(), accountID, owner, attempts, string(text), event.Label, now.UnixMilli(), now.UnixMilli(), by,
	}, nil
}

func insert(ctx context.Context, tx *sql.Tx, by int64, event watch.Event, test bool, status Status, owner, accountID int64, now time.Time) (id int64, err error) {
	args, err := insertArgs(by, event, test, status, owner, accountID, now)
	if err != nil {
		return 0, err
	}
	if err := tx.QueryRowContext(ctx, insertInto+insertRow+` RETURNING id`, args...).Scan(&id); err != nil {
		return 0, fmt.Errorf("insert record: %w", err)
	}
	return id, nil
}

// InsertClaimed adds a record that the incarnation owner works on itself. It is a shared write: it adds a row.
func (s *Store) InsertClaimed(ctx context.Context, event watch.Event, test bool, owner int64) (Work, error) {
	now := time.Now()
	var id int64
	err := s.db.WriteShared(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		id, err = insert(ctx, tx, task.IDOf(ctx), event, test, Processing, owner, 0, now)
		return err
	})
	if err != nil {
		return Work{}, err
	}
	s.Feed.Publish(id)
	r, err := s.Get(ctx, id)
	return Work{Record: r, Event: event, Owner: owner}, err
}

// Assign binds a claimed record to its first account and adds one record for each
// further account, in one transaction, so that a crash can neither lose nor double one. It returns ErrMoved when the record is not in
// the hand of its owner any more. It is a shared write: nobody else changes what the owner has in hand.
func (s *Store) Assign(ctx context.Context, w Work, accountIDs []int64) error {
	now := time.Now()
	var added []int64
	err := s.db.WriteShared(ctx, func(ctx context.Context, tx *sql.Tx) error {
		added = nil
		var by int64
		err := tx.QueryRowContext(ctx, `UPDATE records SET account_id = ? WHERE id = ? AND owner = ? RETURNING task_id`, accountIDs[0], w.ID, w.Owner).Scan(&by)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrMoved
		}
		if err != nil {
			return fmt.Errorf("assign record %d: %w", w.ID, err)
		}
		for _, account := range accountIDs[1:] {
			id, err := insert(ctx, tx, by, w.Event, w.Test, Received, 0, account, now)
			if err != nil {
				return err
			}
			added = append(added, id)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range added {
		s.Feed.Publish(id)
	}
	return nil
}
