package mapping

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"watchmark/internal/platform/db"
)

const blockedColumns = `id, COALESCE(person_id, 0), keyword, kind, source, created_at`

func scanBlocked(row db.Row) (b Blocked, err error) {
	var created int64
	err = row.Scan(&b.ID, &b.PersonID, &b.Keyword, &b.Kind, &b.Source, &created)
	b.CreatedAt = time.UnixMilli(created)
	return b, err
}

// GetBlocked is the blocked keyword with id, or ErrNotFound.
func (s *Store) GetBlocked(ctx context.Context, id int64) (Blocked, error) {
	reached, whose := within(ctx)
	b, err := scanBlocked(s.db.Read().QueryRowContext(ctx, `SELECT `+blockedColumns+` FROM blocked_keywords WHERE id = ? AND `+reached, append([]any{id}, whose...)...))
	if errors.Is(err, sql.ErrNoRows) {
		return Blocked{}, ErrNotFound
	}
	if err != nil {
		return Blocked{}, fmt.Errorf("read blocked keyword %d: %w", id, err)
	}
	return b, nil
}

// Block adds a blocked keyword. It returns a *reason.FieldError or ErrBlockedTaken.
func (s *Store) Block(ctx context.Context, b Blocked) (Blocked, error) {
	b.PersonID = madeBy(ctx)
	var created Blocked
	err := s.Change(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		var added bool
		if created, added, err = BlockTx(ctx, tx, b); err == nil && !added {
			err = ErrBlockedTaken
		}
		return err
	})
	return created, err
}

// UpdateBlocked replaces the blocked keyword with b.ID, which is that of b.Source from now on. It
// returns a *reason.FieldError, ErrBlockedTaken or ErrNotFound.
func (s *Store) UpdateBlocked(ctx context.Context, b Blocked) (Blocked, error) {
	if err := b.check(); err != nil {
		return Blocked{}, err
	}
	reached, whose := within(ctx)
	var updated Blocked
	err := s.Change(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		err = tx.QueryRowContext(ctx, `SELECT COALESCE(person_id, 0) FROM blocked_keywords WHERE id = ? AND `+reached, append([]any{b.ID}, whose...)...).Scan(&b.PersonID)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrNotFound
		}
		if err != nil {
			return fmt.Errorf("look for blocked keyword %d: %w", b.ID, err)
		}
		var taken int
		if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM blocked_keywords WHERE COALESCE(person_id, 0) = ? AND keyword = ? AND kind = ? AND id <> ?`, b.PersonID, b.Keyword, b.Kind, b.ID).Scan(&taken); err != nil {
			return fmt.Errorf("look for blocked keyword: %w", err)
		}
		if taken > 0 {
			return ErrBlockedTaken
		}
		updated, err = scanBlocked(tx.QueryRowContext(ctx, `UPDATE blocked_keywords SET keyword = ?, kind = ?, source = ?
			WHERE id = ? RETURNING `+blockedColumns, b.Keyword, b.Kind, b.Source, b.ID))
		if err != nil {
			return fmt.Errorf("update blocked keyword %d: %w", b.ID, err)
		}
		return nil
	})
	return updated, err
}

// Unblock removes a blocked keyword, or returns ErrNotFound.
func (s *Store) Unblock(ctx context.Context, id int64) error {
	return s.deleteRow(ctx, `blocked_keywords`, id)
}
