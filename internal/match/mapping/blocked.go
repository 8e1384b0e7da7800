package mapping

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"watchmark/internal/platform/db"
)

const blockedColumns = `id, keyword, kind, source, created_at`

func scanBlocked(row db.Row) (b Blocked, err error) {
	var created int64
	err = row.Scan(&b.ID, &b.Keyword, &b.Kind, &b.Source, &created)
	b.CreatedAt = time.UnixMilli(created)
	return b, err
}

// GetBlocked is the blocked keyword with id, or ErrNotFound.
func (s *Store) GetBlocked(ctx context.Context, id int64) (Blocked, error) {
	b, err := scanBlocked(s.db.Read().QueryRowContext(ctx, `SELECT `+blockedColumns+` FROM blocked_keywords WHERE id = ?`, id))
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
	var updated Blocked
	err := s.Change(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		var taken int
		if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM blocked_keywords WHERE keyword = ? AND kind = ? AND id <> ?`, b.Keyword, b.Kind, b.ID).Scan(&taken); err != nil {
			return fmt.Errorf("look for blocked keyword: %w", err)
		}
		if taken > 0 {
			return ErrBlockedTaken
		}
		updated, err = scanBlocked(tx.QueryRowContext(ctx, `UPDATE blocked_keywords SET keyword = ?, kind = ?, source = ?
			WHERE id = ? RETURNING `+blockedColumns, b.Keyword, b.Kind, b.Source, b.ID))
		if errors.Is(err, sql.ErrNoRows) {
			return ErrNotFound
		}
		if err != nil {
			return fmt.Errorf("update blocked keyword %d: %w", b.ID, err)
		}
		return nil
	})
	return updated, err
}

// Unblock removes a blocked keyword, or returns ErrNotFound.
func (s *Store) Unblock(ctx context.Context, id int64) error {
	return s.deleteRow(ctx, `DELETE FROM blocked_keywords WHERE id = ?`, id)
}
