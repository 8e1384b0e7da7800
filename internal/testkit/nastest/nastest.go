// Package nastest makes libraries of a NAS for tests, with the tables of upstreams/nas.md,
// section 2. The writer stays open until Stop, as the media app of the NAS does, so the
// write-ahead log lies beside the file.
package nastest

import (
	"database/sql"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the driver
)

// tables are the columns of each table.
var tables = map[string][]string{
	"user": {"guid TEXT PRIMARY KEY", "username TEXT", "status INTEGER", "is_admin INTEGER", "passwd TEXT"},
	"item": {"guid TEXT PRIMARY KEY", "parent_guid TEXT", "type TEXT", "title TEXT", "original_title TEXT", "season_number INTEGER", "episode_number INTEGER",
		"release_date TEXT", "air_date TEXT", "runtime INTEGER", "tmdb_id INTEGER", "imdb_id TEXT", "episode_imdb_id TEXT", "external_ids TEXT", "path TEXT", "filename TEXT"},
	"item_user_play": {"item_guid TEXT", "user_guid TEXT", "watched INTEGER", "ts INTEGER", "visible INTEGER", "create_time INTEGER", "update_time INTEGER",
		"media_guid TEXT", "video_guid TEXT"},
	"item_media":   {"guid TEXT", "item_guid TEXT", "path TEXT", "sort_num INTEGER"},
	"media_stream": {"guid TEXT", "media_guid TEXT", "codec_type TEXT", "duration INTEGER"},
}

// Columns are values by column.
type Columns map[string]any

// Library is a library whose writer is open.
type Library struct {
	// Path is that of the database.
	Path string
	t    testing.TB
	w    writer
}

// writer is a connection to the library, in this process or another one.
type writer interface {
	exec(query string, args ...any) error
	close() error
}

// Create makes a library in folder. without names tables and columns that it lacks,
// such as "item.type".
func Create(t testing.TB, folder string, without ...string) *Library {
	t.Helper()
	path := filepath.Join(folder, "trimmedia.db")
	return create(t, path, openLocal(path), without)
}

func create(t testing.TB, path string, w writer, without []string) *Library {
	t.Helper()
	l := &Library{path, t, w}
	t.Cleanup(l.Stop)
	l.Exec("PRAGMA journal_mode(WAL)")
	l.Exec("PRAGMA wal_autocheckpoint(0)")
	for table, columns := range tables {
		columns = slices.DeleteFunc(slices.Clone(columns), func(column string) bool {
			name, _, _ := strings.Cut(column, " ")
			return slices.Contains(without, table+"."+name)
		})
		if !slices.Contains(without, table) {
			l.Exec(fmt.Sprintf("CREATE TABLE %q (%s)", table, strings.Join(columns, ", ")))
		}
	}
	return l
}

// Exec runs a statement as the media app.
func (l *Library) Exec(query string, args ...any) {
	l.t.Helper()
	if err := l.w.exec(query, args...); err != nil {
		l.t.Fatalf("%s: %v", query, err)
	}
}

// Stop closes the writer, which leaves neither a log nor its index.
func (l *Library) Stop() {
	if err := l.w.close(); err != nil {
		l.t.Errorf("stop the writer: %v", err)
	}
}

// Insert adds a row to a table.
func (l *Library) Insert(table string, row Columns) {
	l.t.Helper()
	names := slices.Sorted(maps.Keys(row))
	var args []any
	for _, name := range names {
		args = append(args, row[name])
	}
	l.Exec(fmt.Sprintf("INSERT INTO %q (%s) VALUES (%s)", table, strings.Join(names, ", "), strings.TrimPrefix(strings.Repeat(", ?", len(names)), ", ")), args...)
}

// User adds a user who may sign in.
func (l *Library) User(guid, name string) {
	l.t.Helper()
	l.Insert("user", Columns{"guid": guid, "username": name, "status": 1, "is_admin": 0, "passwd": "hash-of-" + guid})
}

// Item adds a film, show, season or episode; more are further columns.
func (l *Library) Item(guid, kind, parent, title string, more Columns) {
	l.t.Helper()
	row := Columns{"guid": guid, "type": kind, "parent_guid": parent, "title": title}
	maps.Copy(row, more)
	l.Insert("item", row)
}

// Play writes what a user did with an item, watched to the end; more are further columns. at is the
// update_time, in whatever unit. An earlier row of the two is replaced.
func (l *Library) Play(user, item string, at int64, more Columns) {
	l.t.Helper()
	l.Exec("DELETE FROM item_user_play WHERE user_guid = ? AND item_guid = ?", user, item)
	row := Columns{"user_guid": user, "item_guid": item, "watched": 1, "ts": 0, "visible": 1, "create_time": at, "update_time": at}
	maps.Copy(row, more)
	l.Insert("item_user_play", row)
}

// local is a writer in this process.
type local struct{ db *sql.DB }

func openLocal(path string) writer {
	// No test outlives the power of its machine.
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)&_pragma=synchronous(OFF)")
	if err != nil {
		panic(err) // the driver is linked in
	}
	db.SetMaxOpenConns(1)
	return local{db}
}

func (w local) exec(query string, args ...any) error {
	_, err := w.db.Exec(query, args...) //nolint:noctx // a fixture is not cancelled
	return err
}

func (w local) close() error { return w.db.Close() }
