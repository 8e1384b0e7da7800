package settings

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"watchmark/internal/platform/db"
)

// Store keeps overrides in the table settings.
type Store struct{ db *db.DB }

// NewStore gives the store of an open database.
func NewStore(db *db.DB) *Store { return &Store{db: db} }

// All gives every stored value by the key's path.
func (s *Store) All(ctx context.Context) (map[string]string, error) {
	values := map[string]string{}
	err := db.Each(ctx, s.db.Read(), "read settings", func(row db.Row) error {
		var key, value string
		err := row.Scan(&key, &value)
		values[key] = value
		return err
	}, `SELECT key, value FROM settings`)
	if err != nil {
		return nil, err
	}
	return values, nil
}

// Put stores values and deletes those that are nil, in one transaction.
func (s *Store) Put(ctx context.Context, values map[string]*string) error {
	now := time.Now().UnixMilli()
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for key, value := range values {
			if value == nil {
				if _, err := tx.ExecContext(ctx, `DELETE FROM settings WHERE key = ?`, key); err != nil {
					return fmt.Errorf("delete setting %s: %w", key, err)
				}
				continue
			}
			const upsert = `INSERT INTO settings (key, value, updated_at) VALUES (?, ?, ?)
				ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`
			if _, err := tx.ExecContext(ctx, upsert, key, *value, now); err != nil {
				return fmt.Errorf("store setting %s: %w", key, err)
			}
		}
		return nil
	})
}
