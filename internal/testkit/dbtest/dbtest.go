// Package dbtest makes data folders for tests, with a new database in each: a file in the folder, or with
// WATCHMARK_TEST_DATABASE a schema in PostgreSQL. Bringing one to the newest schema takes longer than most tests do, so that is
// done once, and its file is copied, or the schema emptied for the next test.
package dbtest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/secret"
)

// Env runs tests on PostgreSQL: with the URL of a database whose user may make schemas, or with "postgres", which starts a
// cluster of the test process.
const Env = "WATCHMARK_TEST_DATABASE"

// Folder is a data folder whose database has the newest schema and holds nothing; it is removed when the test ends.
func Folder(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if OnServer() {
		address(t, dir)
		return dir
	}
	file, err := empty()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, db.FileName), file, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// OnServer reports whether tests run on PostgreSQL. Those of files of a database are skipped then.
func OnServer() bool { return os.Getenv(Env) != "" }

// InBubble skips a test that plays time in a bubble of testing/synctest by what a server's clock says, which goes on by itself.
func InBubble(t testing.TB) {
	t.Helper()
	if OnServer() {
		t.Skip("the clock of a server goes on by itself")
	}
}

// Environ is what a service must be told in its environment to work on the database of a data folder.
func Environ(t testing.TB, dir string) []string {
	t.Helper()
	if !OnServer() {
		return nil
	}
	key := filepath.Join(dir, secret.KeyFile) // which a service makes for a folder only
	if _, err := os.Stat(key); errors.Is(err, fs.ErrNotExist) {
		if err := os.WriteFile(key, []byte(strings.Repeat("5e", 32)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"WATCHMARK_DATABASE_URL=" + address(t, dir)}
}

// Open is the database of a new Folder; it is closed when the test ends.
func Open(t testing.TB) *db.DB {
	t.Helper()
	return OpenIn(t, Folder(t))
}

// OpenIn is the database of a data folder, also opened again; it is closed when the test ends.
func OpenIn(t testing.TB, dir string) *db.DB {
	t.Helper()
	d, err := Try(t, dir)
	return opened(t, d, err)
}

// OpenFile is the file of a database in a folder, whatever tests run on: for what is about such files. It is closed when the test ends.
func OpenFile(t testing.TB, dir string) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), dir)
	return opened(t, d, err)
}

func opened(t testing.TB, d *db.DB, err error) *db.DB {
	t.Helper()
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

// Try opens the database of a data folder; the caller closes it.
func Try(t testing.TB, dir string) (*db.DB, error) {
	t.Helper()
	if OnServer() {
		return db.OpenServer(t.Context(), address(t, dir))
	}
	return db.Open(t.Context(), dir)
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

// Self is the replica that a test is, by its incarnation. It lives.
type Self int64

// Incarnation is the number.
func (s Self) Incarnation() int64 { return int64(s) }

// Live is always true.
func (s Self) Live() bool { return true }
