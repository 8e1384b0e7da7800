// Package dbtest makes data folders for tests, with a new database in each. Bringing one to the newest schema takes longer
// than most tests do, so that is done once, and its file is copied.
package dbtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"watchmark/internal/platform/db"
)

// Folder is a data folder whose database has the newest schema and holds nothing; it is removed when the test ends.
func Folder(t testing.TB) string {
	t.Helper()
	file, err := empty()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, db.FileName), file, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Open is the database of a new Folder; it is closed when the test ends.
func Open(t testing.TB) *db.DB {
	t.Helper()
	return OpenIn(t, Folder(t))
}

// OpenIn is the database in a data folder; it is closed when the test ends.
func OpenIn(t testing.TB, dir string) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// empty is the file of a database that was opened once.
var empty = sync.OnceValues(func() (file []byte, err error) {
	dir, err := os.MkdirTemp("", "watchmark-dbtest-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	d, err := db.Open(context.Background(), dir)
	if err != nil {
		return nil, err
	}
	if err := d.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, db.FileName))
})
