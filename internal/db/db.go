// Package db opens the service's one SQLite database, migrates it, and hands
// out its connections: one writer, several readers.
//
// Every write goes through DB.Write, which runs one transaction at a time on a
// single connection with synchronous=FULL, so a committed write survives power
// loss and "database is locked" cannot arise inside the process. Readers see
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

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// FileName is the database's name inside the data folder.
const FileName = "watchmark.db"

// readers is how many connections may read at once; each may use up to 2 MiB of page cache.
var readers = max(2, min(runtime.NumCPU(), 4))

// DB is an open database. It is safe for concurrent use.
type DB struct {
	writer *sql.DB
	reader *sql.DB
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
	writer, err := sql.Open("sqlite", dsn(path, "journal_mode(WAL)", "synchronous(FULL)")+"&_txlock=immediate")
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	writer.SetMaxOpenConns(1)
	reader, err := sql.Open("sqlite", dsn(path, "query_only(1)"))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open database %s: %w", path, err), writer.Close())
	}
	reader.SetMaxOpenConns(readers)
	reader.SetMaxIdleConns(readers)
	d := &DB{writer: writer, reader: reader}
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
		return fmt.Errorf("database %s cannot be used: %w; put a good copy in its place or move it away to start anew", path, err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return fmt.Errorf("protect database %s: %w", path, err)
	}
	return d.migrate(ctx, path, migrations)
}

// Close closes every connection. Calls in flight fail.
func (d *DB) Close() error { return errors.Join(d.reader.Close(), d.writer.Close()) }

// Read is the pool for queries. Writing through it fails.
func (d *DB) Read() *sql.DB { return d.reader }

// Write runs fn in one transaction and commits it; when fn fails, nothing is
// written and fn's error is returned. fn must use tx only and do no other I/O:
// all writers wait for it.
func (d *DB) Write(ctx context.Context, fn func(ctx context.Context, tx *sql.Tx) error) error {
	tx, err := d.writer.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}
	if err := fn(ctx, tx); err != nil {
		if rollback := tx.Rollback(); rollback != nil && !errors.Is(rollback, sql.ErrTxDone) {
			return errors.Join(err, fmt.Errorf("roll back: %w", rollback))
		}
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}
