package record

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Claim takes up to limit records that wait for work, oldest first, and holds them
// until the lease runs out. Records whose lease ran out are taken again, and those whose
// lease ends later than any can: the clock was set back since it was given. One whose event
// cannot be read fails, so that it stands in nobody's way.
func (s *Store) Claim(ctx context.Context, limit int, lease time.Duration) ([]Work, error) {
	now := time.Now()
	var works []Work
	var unreadable []int64
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		// SQLite plans by the value of a bare LIMIT ?, so it would prepare this anew at every call.
		rows, err := tx.QueryContext(ctx, `
			UPDATE records SET status = 'processing', lease_until = ?, attempts = attempts + 1, updated_at = ?
			WHERE id IN (SELECT id FROM records WHERE status IN ('received', 'processing') AND (lease_until < ? OR lease_until > ?) ORDER BY id LIMIT (? + 0))
			RETURNING `+columns+`, event`,
			now.Add(lease).UnixMilli(), now.UnixMilli(), now.UnixMilli(), now.Add(2*lease).UnixMilli(), limit)
		if err != nil {
			return fmt.Errorf("claim records: %w", err)
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var w Work
			var event string
			if err := scan(rows, &w.Record, &event); err != nil {
				return err
			}
			if err := json.Unmarshal([]byte(event), &w.Event); err != nil {
				unreadable = append(unreadable, w.ID)
				continue
			}
			works = append(works, w)
		}
		if err := rows.Err(); err != nil {
			return err
		}
		for _, id := range unreadable {
			if err := SettleTx(ctx, tx, Outcome{RecordID: id, Status: Failed, ErrorKind: Internal, Message: eventUnreadable.With()}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(works, func(a, b Work) int { return cmp.Compare(a.ID, b.ID) }) // RETURNING has no order
	for _, w := range works {
		s.Feed.Publish(w.ID)
	}
	for _, id := range unreadable {
		s.Feed.Publish(id)
	}
	return works, nil
}

// Extend prolongs the leases of records that are still being worked on.
func (s *Store) Extend(ctx context.Context, ids []int64, lease time.Duration) error {
	if len(ids) == 0 {
		return nil
	}
	until := time.Now().Add(lease).UnixMilli()
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, id := range ids {
			if _, err := tx.ExecContext(ctx, `UPDATE records SET lease_until = ? WHERE id = ? AND status = 'processing'`, until, id); err != nil {
				return fmt.Errorf("extend leases: %w", err)
			}
		}
		return nil
	})
}

// Release gives a claimed record back untouched, for another worker to take at once.
func (s *Store) Release(ctx context.Context, id int64) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE records SET status = 'received', lease_until = 0, attempts = attempts - 1
			WHERE id = ? AND status = 'processing'`, id); err != nil {
			return fmt.Errorf("release record %d: %w", id, err)
		}
		return nil
	})
}

// ReleaseAll gives back every claimed record. It is for the start of the only service
// on the database: what was in work when the last one ended is taken up at once.
func (s *Store) ReleaseAll(ctx context.Context) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE records SET status = 'received', lease_until = 0 WHERE status = 'processing'`); err != nil {
			return fmt.Errorf("release what was in work: %w", err)
		}
		return nil
	})
}

// HoldTx has a received record wait, within tx, until LetTx is called or the hold runs out.
func HoldTx(ctx context.Context, tx *sql.Tx, id int64, hold time.Duration) error {
	return holdTx(ctx, tx, id, time.Now().Add(hold).UnixMilli())
}

// LetTx ends the hold on a record, within tx.
func LetTx(ctx context.Context, tx *sql.Tx, id int64) error { return holdTx(ctx, tx, id, 0) }

func holdTx(ctx context.Context, tx *sql.Tx, id, until int64) error {
	if _, err := tx.ExecContext(ctx, `UPDATE records SET lease_until = ? WHERE id = ? AND status = 'received'`, until, id); err != nil {
		return fmt.Errorf("hold record %d: %w", id, err)
	}
	return nil
}
