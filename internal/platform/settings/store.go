package settings

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"watchmark/internal/platform/changes"
	"watchmark/internal/platform/db"
)

// changed is the name of the settings on the board.
const changed = "settings"

// Store keeps overrides in the table settings.
type Store struct {
	db    *db.DB
	board *changes.Board
}

// NewStore gives the store of an open database.
func NewStore(d *db.DB, board *changes.Board) *Store { return &Store{d, board} }

// All implements Overrides.
func (s *Store) All(ctx context.Context) (map[string]string, error) { return all(ctx, s.db.Read()) }

func all(ctx context.Context, from db.Querier) (map[string]string, error) {
	values := map[string]string{}
	err := db.Each(ctx, from, "read settings", func(row db.Row) error {
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

// Change implements Overrides, in one exclusive transaction.
func (s *Store) Change(ctx context.Context, fn func(stored map[string]string) (map[string]*string, error)) error {
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		stored, err := all(ctx, tx)
		if err != nil {
			return err
		}
		values, err := fn(stored)
		if err != nil || len(values) == 0 {
			return err
		}
		if err := put(ctx, tx, values); err != nil {
			return err
		}
		return changes.Raise(ctx, tx, changed)
	})
	if err != nil {
		return err
	}
	return s.board.Tell(ctx) // also of what another replica has changed already
}

func put(ctx context.Context, tx *sql.Tx, values map[string]*string) error {
	for key, value := range values {
		if value == nil {
			if _, err := tx.ExecContext(ctx, `DELETE FROM settings WHERE key = ?`, key); err != nil {
				return fmt.Errorf("delete setting %s: %w", key, err)
			}
			continue
		}
		const upsert = `INSERT INTO settings (key, value, updated_at) VALUES (?, ?, ?)
			ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`
		if _, err := tx.ExecContext(ctx, upsert, key, *value, time.Now().UnixMilli()); err != nil {
			return fmt.Errorf("store setting %s: %w", key, err)
		}
	}
	return nil
}

// Follow implements Overrides.
func (s *Store) Follow(reload func(ctx context.Context) error) { s.board.On(changed, reload) }
