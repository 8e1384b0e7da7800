package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Alive returns what keeps the database from being read and written, or nil. It touches the
// disk only when the last write failed: asked every few seconds, it must not keep a disk from
// going to sleep. A full disk is found by the next write that fails on it, and by the look
// at the space that the caller takes.
func (d *DB) Alive(ctx context.Context) error {
	var one int
	if err := d.reader.QueryRowContext(ctx, "SELECT COUNT(*) FROM (SELECT 1 FROM write_trials LIMIT 1) AS one").Scan(&one); err != nil {
		return fmt.Errorf("read the database: %w", explained(err))
	}
	broken := d.broken.Load()
	err := d.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if !broken {
			return nil // that the writer answers and gets its lock says enough
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO write_trials (id, at) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET at = excluded.at`, time.Now().UnixMilli())
		return err
	})
	if err != nil {
		return fmt.Errorf("write to the database: %w", explained(err))
	}
	if broken {
		d.broken.Store(false)
	}
	return nil
}

// judged looks at the error of a write, and returns it: Alive tries to write after one that the disk, the
// file or the server is to blame for. Others are the caller's.
func (d *DB) judged(err error) error {
	if err == nil {
		return nil
	}
	if found := explained(err); errors.Is(found, ErrStorage) || errors.Is(found, ErrDamaged) {
		d.broken.Store(true)
	}
	return err
}
