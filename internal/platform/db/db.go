// Package db opens the service's one SQLite database, migrates it, and hands
// out its connections: one writer, several readers.
//
// Every write goes through DB.Write, on a single connection with synchronous=FULL: a
// committed write survives power loss, those that wait at the same time share one
// commit, and "database is locked" cannot arise inside the process. Readers see
// the last committed state and never wait for the writer (WAL). Another process
// (the command line) may write too; both wait for each other up to ten seconds.
package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"modernc.org/sqlite"
)

// FileName is the database's name inside the data folder.
const FileName = "watchmark.db"

// readers is how many connections may read at once; each may use up to 2 MiB of page cache.
var readers = max(2, min(runtime.NumCPU(), 4))

// journalLimit lets the journal shrink again, to 64 MiB, after a burst or a long reader made it large.
const journalLimit = "journal_size_limit(67108864)"

// DB is an open database. It is safe for concurrent use.
type DB struct {
	path    string
	writer  *sql.DB
	reader  *sql.DB
	crashed bool // the last run did not close it
	schema  int64
	broken  atomic.Bool // the last write failed by the disk or the file

	writes  chan *write
	close   sync.Once
	closing chan struct{} // closed by Close
	closed  chan struct{} // closed when the last write has ended
}

// Open opens or creates the database in dataDir and brings it to the newest
// schema. Before a migration changes an existing database, a copy is written
// beside it (see migrate). The folder is created with mode 0700.
func Open(ctx context.Context, dataDir string) (*DB, error) {
	migrations, err := fs.Sub(migrationFiles, "migrations")
	if err != nil {
		return nil, fmt.Errorf("read embedded migrations: %w", err)
	}
	return open(ctx, dataDir, migrations)
}

func open(ctx context.Context, dataDir string, migrations fs.FS) (*DB, error) {
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return nil, fmt.Errorf("create the data folder %s: %w; give the service's user write access to it", dataDir, err)
	}
	path := filepath.Join(dataDir, FileName)
	afterCrash, err := crashed(path)
	if err != nil {
		return nil, err
	}
	writer := sql.OpenDB(connector{&sqlite.Driver{}, dsn(path, "journal_mode(WAL)", "synchronous(FULL)", "temp_store(2)", journalLimit) + "&_txlock=immediate"})
	writer.SetMaxOpenConns(1)
	reader := sql.OpenDB(connector{&sqlite.Driver{}, dsn(path, "query_only(1)")})
	reader.SetMaxOpenConns(readers)
	reader.SetMaxIdleConns(readers)
	d := &DB{path: path, writer: writer, reader: reader, writes: make(chan *write), closing: make(chan struct{}), closed: make(chan struct{}), crashed: afterCrash}
	go d.writeAll()
	if err := d.prepare(ctx, path, migrations); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// dsn is the driver's address of the file at path, with the pragmas every connection needs.
func dsn(path string, pragmas ...string) string {
	q := url.Values{"_pragma": append([]string{"busy_timeout(10000)", "foreign_keys(1)"}, pragmas...)}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
}

// prepare checks that the file can be used and migrates it.
func (d *DB) prepare(ctx context.Context, path string, migrations fs.FS) error {
	if err := d.writer.PingContext(ctx); err != nil {
		return fmt.Errorf("database %s cannot be used: %w; restore a backup with watchmark restore FILE, or move the file away to start anew", path, err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return fmt.Errorf("protect database %s: %w", path, err)
	}
	return d.migrate(ctx, path, migrations)
}

// Close lets the write that is under way end and closes every connection. Calls that
// come later fail.
func (d *DB) Close() error {
	d.close.Do(func() { close(d.closing) })
	<-d.closed
	return errors.Join(d.reader.Close(), d.writer.Close())
}

// Size is how many bytes the database takes on the disk, its journal included.
func (d *DB) Size() int64 { return size(d.path) + size(d.path+"-wal") }

// Read is the pool for queries. Writing through it fails.
func (d *DB) Read() *sql.DB { return d.reader }

// HoldsRows reports whether any of some tables has a row.
func (d *DB) HoldsRows(ctx context.Context, tables ...string) (held bool, err error) {
	query := `SELECT EXISTS (SELECT 1 FROM ` + strings.Join(tables, `) OR EXISTS (SELECT 1 FROM `) + `)`
	if err := d.reader.QueryRowContext(ctx, query).Scan(&held); err != nil {
		return false, fmt.Errorf("look for rows: %w", explained(err))
	}
	return held, nil
}
