package app_test

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"watchmark/internal/app"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/secret"
)

// closed is a data folder that was in use and closed as it should be.
func closed(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	a, err := app.New(t.Context(), app.Options{DataDir: dir, Logs: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, db.FileName+"-wal")); err == nil && info.Size() > 0 {
		t.Fatal("the database was not closed")
	}
	return dir
}

// opens is the error of a start, and of a command, on the folder.
func opens(t *testing.T, dir string) error {
	t.Helper()
	a, err := app.New(t.Context(), app.Options{DataDir: dir, Logs: io.Discard})
	if err == nil {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	return err
}

// TestDamageIsFoundAfterACleanStopToo: a disk fails whenever it wants.
func TestDamageIsFoundAfterACleanStopToo(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	dir := closed(t)
	path := filepath.Join(dir, db.FileName)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// Pages that the start itself does not need.
	const page = 4096
	found := 0
	for at := page * 3; at+page <= len(content); at += page * 7 {
		damaged := append([]byte(nil), content...)
		for i := range 200 {
			damaged[at+i] = 0xff
		}
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := opens(t, dir); errors.Is(err, db.ErrDamaged) {
			found++
		} else if err == nil {
			t.Errorf("the start does not see the damage at byte %d of %d", at, len(content))
		}
	}
	if found == 0 {
		t.Error("no start names the damage")
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := opens(t, dir); err != nil {
		t.Errorf("the whole database: %v", err)
	}
}

// TestALostDatabaseStopsTheStart: a new one in its place would hide that.
func TestALostDatabaseStopsTheStart(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	for name, lose := range map[string]func(path string) error{
		"gone":  os.Remove,
		"empty": func(path string) error { return os.Truncate(path, 0) },
		"without tables": func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			fresh, err := sql.Open("sqlite", path)
			if err != nil {
				return err
			}
			_, err = fresh.ExecContext(context.Background(), "PRAGMA journal_mode=WAL; PRAGMA user_version=0; VACUUM")
			return errors.Join(err, fresh.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := closed(t)
			path := filepath.Join(dir, db.FileName)
			if err := lose(path); err != nil {
				t.Fatal(err)
			}
			before, _ := os.Stat(path)
			err := opens(t, dir)
			if err == nil || !strings.Contains(err.Error(), "watchmark restore FILE") || !strings.Contains(err.Error(), secret.KeyFile+" away") {
				t.Fatalf("the start ends with %v", err)
			}
			after, _ := os.Stat(path)
			if (before == nil) != (after == nil) || before != nil && before.Size() != after.Size() {
				t.Error("the start has made another database")
			}
			if err := os.Rename(filepath.Join(dir, secret.KeyFile), filepath.Join(t.TempDir(), "away")); err != nil {
				t.Fatal(err)
			}
			if err := opens(t, dir); err != nil {
				t.Errorf("to start anew: %v", err)
			}
		})
	}
}
