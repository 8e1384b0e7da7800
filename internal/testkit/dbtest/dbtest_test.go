package dbtest_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"

	"watchmark/internal/testkit/dbtest"
)

func TestEachTestHasAnEmptyDatabase(t *testing.T) {
	for range 3 {
		t.Run("", func(t *testing.T) {
			dir := dbtest.Folder(t)
			d := dbtest.OpenIn(t, dir)
			var seen [3]int64
			if err := dbtest.OpenIn(t, dir).Read().QueryRowContext(t.Context(), `SELECT (SELECT COUNT(*) FROM settings), (SELECT COUNT(*) FROM notification_rules), (SELECT COUNT(*) FROM people)`).
				Scan(&seen[0], &seen[1], &seen[2]); err != nil || seen != [3]int64{0, 1, 0} {
				t.Errorf("it holds %v (%v)", seen, err)
			}
			err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
				if _, err := tx.ExecContext(ctx, `INSERT INTO settings (key, value, updated_at) VALUES ('a', '1', 0)`); err != nil {
					return err
				}
				if _, err := tx.ExecContext(ctx, `DELETE FROM notification_rules`); err != nil {
					return err
				}
				var id int64
				err := tx.QueryRowContext(ctx, `INSERT INTO people (name, password_hash, created_at, updated_at) VALUES ('mira', '', 0, 0) RETURNING id`).Scan(&id)
				if id != 1 {
					t.Errorf("the first row has the number %d", id)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// What a test renames is not there in the next one.
func TestEachTestHasTheNewestTables(t *testing.T) {
	for range 2 {
		t.Run("", func(t *testing.T) {
			err := dbtest.Open(t).Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
				_, err := tx.ExecContext(ctx, `ALTER TABLE records RENAME COLUMN method TO gone`)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestWhatIsKeptIsFound(t *testing.T) {
	dir := dbtest.Folder(t)
	err := dbtest.OpenIn(t, dir).Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO settings (key, value, updated_at) VALUES ('a', 'spoken aloud', 0)`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, content := range dbtest.Kept(t, dir) {
		found = found || strings.Contains(content, "spoken aloud")
	}
	if !found {
		t.Error("it is not found")
	}
}
