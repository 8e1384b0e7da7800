package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"modernc.org/sqlite"
)

// FileName is the database's name inside the data folder.
const FileName = "watchmark.db"

// readers is how many connections may read at once; each may use up to 2 MiB of page cache.
var readers = max(2, min(runtime.NumCPU(), 4))

// journalLimit lets the journal shrink again, to 64 MiB, after a burst or a long reader made it large.
const journalLimit = "journal_size_limit(67108864)"

// sqliteDriver is the driver with the functions that statements use.
var sqliteDriver = func() *sqlite.Driver {
	d := &sqlite.Driver{}
	d.MustRegisterScalarFunction("now_ms", 0, func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
		return time.Now().UnixMilli(), nil
	})
	return d
}()

// folder is the engine of a database in a data folder.
type folder struct {
	path    string
	writer  *sql.DB
	reader  *sql.DB
	crashed bool // the last run did not close it

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
	writer := sql.OpenDB(connector{sqliteDriver, dsn(path, "journal_mode(WAL)", "synchronous(FULL)", "temp_store(2)", journalLimit) + "&_txlock=immediate"})
	writer.SetMaxOpenConns(1)
	reader := sql.OpenDB(connector{sqliteDriver, dsn(path, "query_only(1)")})
	reader.SetMaxOpenConns(readers)
	reader.SetMaxIdleConns(readers)
	f := &folder{path: path, writer: writer, reader: reader, writes: make(chan *write), closing: make(chan struct{}), closed: make(chan struct{}), crashed: afterCrash}
	go f.writeAll()
	schema, err := f.prepare(ctx, migrations)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &DB{engine: f, reader: reader, schema: schema}, nil
}

// dsn is the driver's address of the file at path, with the pragmas every connection needs.
func dsn(path string, pragmas ...string) string {
	q := url.Values{"_pragma": append([]string{"busy_timeout(10000)", "foreign_keys(1)"}, pragmas...)}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
}

// prepare checks that the file can be used, migrates it, and answers the version it has then.
func (f *folder) prepare(ctx context.Context, migrations fs.FS) (schema int64, err error) {
	if err := f.writer.PingContext(ctx); err != nil {
		return 0, fmt.Errorf("database %s cannot be used: %w; restore a backup with watchmark restore FILE, or move the file away to start anew", f.path, err)
	}
	if err := os.Chmod(f.path, 0o600); err != nil {
		return 0, fmt.Errorf("protect database %s: %w", f.path, err)
	}
	return f.migrate(ctx, migrations)
}

func (f *folder) Close() error {
	f.close.Do(func() { close(f.closing) })
	<-f.closed
	return errors.Join(f.reader.Close(), f.writer.Close())
}

// Size counts the journal, too.
func (f *folder) Size() int64 { return size(f.path) + size(f.path+"-wal") }

func (f *folder) describe() (engine, query string) { return "SQLite", "SELECT sqlite_version()" }

func (f *folder) Alone() bool    { return true }
func (f *folder) Crashed() bool  { return f.crashed }
func (f *folder) setFence(int64) {}

// notify calls the listeners: nobody else is there.
func (f *folder) notify(_ context.Context, topic, payload string, heard *listeners) error {
	heard.tell(topic, payload)
	return nil
}

func (f *folder) hear(*listeners) {}
