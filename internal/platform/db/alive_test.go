package db_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"watchmark/internal/platform/db"
)

func TestAliveTouchesTheDiskOnlyAfterAWriteFailed(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	exec(t, d, addSetting, "a")
	journal := filepath.Join(dir, db.FileName+"-wal")
	written := func() int64 {
		info, err := os.Stat(journal)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := written()
	for range 3 {
		if err := d.Alive(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if after := written(); after != before {
		t.Errorf("the journal grew from %d to %d bytes", before, after)
	}

	exec(t, d, "PRAGMA max_page_count = 1") // none beyond those that are there
	err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO settings (key, value, updated_at) VALUES ('b', ?, 0)`, strings.Repeat("x", 1<<20))
		return err
	})
	if !errors.Is(err, db.ErrStorage) {
		t.Fatalf("a full disk is told as %v", err)
	}
	for range 3 {
		if err := d.Alive(t.Context()); err != nil {
			t.Errorf("what little it writes has room: %v", err)
		}
	}
	if n := count(t, d, "write_trials"); n != 1 {
		t.Errorf("after a write that failed it does not try to write")
	}
	before = written()
	if err := d.Alive(t.Context()); err != nil || written() != before {
		t.Errorf("it goes on writing (%v)", err)
	}

	exec(t, d, "PRAGMA query_only = 1") // as of a file system that was made read-only by an error
	if err := d.Alive(t.Context()); !errors.Is(err, db.ErrStorage) || strings.Count(err.Error(), db.ErrStorage.Error()) != 1 {
		t.Errorf("of a disk that cannot be written: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if err := d.Alive(t.Context()); err == nil {
		t.Error("a closed database is alive")
	}
}
