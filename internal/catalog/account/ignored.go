package account

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"watchmark/internal/platform/db"
)

// IgnoredUser is a media-server user whose plays are left alone while no account names them.
type IgnoredUser struct {
	Name      string    `json:"name"`
	IgnoredAt time.Time `json:"ignored_at"`
}

// IgnoreTx has a media-server user ignored, within tx. It returns a *reason.FieldError of the field name.
func IgnoreTx(ctx context.Context, tx *sql.Tx, name string) error {
	if err := CheckUserNames("name", []string{name}); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO ignored_users (name, ignored_at) VALUES (?, ?) ON CONFLICT (name) DO NOTHING`, name, time.Now().UnixMilli())
	if err != nil {
		return fmt.Errorf("ignore a user: %w", err)
	}
	return nil
}

// HeedTx ends that a media-server user is ignored, within tx. It returns ErrNotFound for one that is not.
func HeedTx(ctx context.Context, tx *sql.Tx, name string) error {
	result, err := tx.ExecContext(ctx, `DELETE FROM ignored_users WHERE name = ?`, name)
	if err != nil {
		return fmt.Errorf("end that a user is ignored: %w", err)
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return ErrNotFound
	}
	return nil
}

// Ignored are the media-server users that are ignored, by name.
func (s *Store) Ignored(ctx context.Context) ([]IgnoredUser, error) {
	return db.All(ctx, s.db.Read(), "list ignored users", func(row db.Row) (u IgnoredUser, err error) {
		var at int64
		err = row.Scan(&u.Name, &at)
		u.IgnoredAt = time.UnixMilli(at).UTC()
		return u, err
	}, `SELECT name, ignored_at FROM ignored_users ORDER BY name`)
}

// IsIgnored reports whether a media-server user is ignored.
func (s *Store) IsIgnored(ctx context.Context, name string) (bool, error) {
	var n int
	err := s.db.Read().QueryRowContext(ctx, `SELECT COUNT(*) FROM ignored_users WHERE name = ?`, name).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("look whether a user is ignored: %w", err)
	}
	return n > 0, nil
}
