package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pressly/goose/v3"
)

const (
	// sharedWriters is how many writes of WriteShared run at the same time, firstWriters those of WriteFirst, and serverReaders how many
	// queries.
	sharedWriters, firstWriters, serverReaders = 6, 2, 8
	// writeTries is how often a write is begun that the server ended to break a deadlock.
	writeTries = 4
	// againWithin bounds the time after which it is begun a second time.
	againWithin = 50 * time.Millisecond
	// oldestServer is the oldest version of PostgreSQL that the tests know, as server_version_num has it.
	oldestServer = 15_00_00
	// migrateTries is how often a migration is begun that waited too long for a lock on a table.
	migrateTries = 30
)

// timeouts bound what a connection waits for in the server: a replica that was stopped within a transaction holds others up
// for the last of them. A migration takes its time, but waits no longer for a table than others.
var (
	timeouts        = map[string]string{"statement_timeout": "15s", "lock_timeout": lockTime, "idle_in_transaction_session_timeout": "5s"}
	migrateTimeouts = map[string]string{"lock_timeout": lockTime}
)

const lockTime = "10s"

// server is the engine of a database in PostgreSQL. What it shares with its connections is in dial.
type server struct {
	dial   *dial
	alone  *sql.DB // one connection for Write
	shared *sql.DB // those for WriteShared
	first  *sql.DB // those for WriteFirst
	reader *sql.DB
	aside  *sql.DB // one connection for what waits for no lock

	hearing sync.Once
	closing context.Context // ends with Close
	end     context.CancelFunc
	mu      sync.Mutex // held while work is added, and while closing ends
	work    sync.WaitGroup
}

// dial is how the connections to a server are made.
type dial struct {
	config *pgconn.Config
	// pooled is set once the server, which is a pooler then, has refused parameters at the start of a connection. unnamed is set
	// by the address for one that keeps no prepared statements.
	pooled  atomic.Bool
	unnamed bool
	key     int64        // of the advisory lock
	fence   atomic.Int64 // the incarnation that must be live; 0 for any
	suspect atomic.Int64 // when a connection broke last, in unix ns: those used before may be broken, too
	trips   atomic.Int64 // messages that were waited for
}

// OpenServer opens a database in PostgreSQL and brings it to the newest schema. The address is a URL as that of libpq:
// postgres://user:password@host/name. Behind a pooler that keeps no prepared statements it has default_query_exec_mode=exec.
func OpenServer(ctx context.Context, address string) (*DB, error) {
	migrations, err := fs.Sub(migrationFiles, "migrations")
	if err != nil {
		return nil, fmt.Errorf("read embedded migrations: %w", err)
	}
	return openServer(ctx, address, migrations)
}

// dialTo reads the address of a server.
func dialTo(address string) (*dial, error) {
	config, err := pgconn.ParseConfig(address)
	if err != nil {
		// The error may quote the password, but not where it is about files of TLS.
		if cause := errors.Unwrap(err); cause != nil && strings.Contains(err.Error(), "failed to configure TLS") {
			return nil, errTLSSettings.With(cause)
		}
		return nil, errAddress
	}
	d := &dial{config: config}
	const mode = "default_query_exec_mode" // of pgx, which people know from other programs
	d.unnamed = config.RuntimeParams[mode] != "" && config.RuntimeParams[mode] != "cache_statement"
	delete(config.RuntimeParams, mode)
	config.RuntimeParams["application_name"] = "watchmark"
	if config.ConnectTimeout == 0 || config.ConnectTimeout > dialTime {
		config.ConnectTimeout = dialTime
	}
	return d, nil
}

func openServer(ctx context.Context, address string, migrations fs.FS) (*DB, error) {
	d, err := dialTo(address)
	if err != nil {
		return nil, err
	}
	s := &server{dial: d}
	s.closing, s.end = context.WithCancel(context.Background())
	schema, err := s.prepare(ctx, serverMigrations{migrations})
	if err != nil {
		return nil, err
	}
	return s.opened(schema), nil
}

// opened is the database with its connections, none of which is made before it is needed.
func (s *server) opened(schema int64) *DB {
	s.alone = s.dial.pool(1, begins{lock: "pg_advisory_xact_lock"})
	s.shared = s.dial.pool(sharedWriters, begins{lock: "pg_advisory_xact_lock_shared"})
	s.first = s.dial.pool(firstWriters, begins{lock: "pg_advisory_xact_lock_shared"})
	s.aside = s.dial.pool(1, begins{})
	s.reader = s.dial.pool(serverReaders, begins{reads: true})
	return &DB{engine: s, reader: s.reader, schema: schema}
}

// pool are connections of a kind.
func (d *dial) pool(most int, kind begins) *sql.DB {
	pool := sql.OpenDB(serverConnector{d, kind})
	pool.SetMaxOpenConns(most)
	pool.SetMaxIdleConns(most)
	pool.SetConnMaxIdleTime(10 * time.Minute)
	return pool
}

// parameters are those of a session, beside those of the address.
func (d *dial) parameters(kind begins) map[string]string {
	all := maps.Clone(d.config.RuntimeParams)
	if d.pooled.Load() {
		return all
	}
	maps.Copy(all, kind.timeouts())
	if kind.reads {
		all["default_transaction_read_only"] = "on"
	}
	return all
}

// prepare migrates the database, and answers the version that it has then. Others that begin at the same time wait: the lock is
// that of a transaction, which a pooler lets be, as it does not those of a session.
func (s *server) prepare(ctx context.Context, migrations fs.FS) (version int64, err error) {
	if err := s.identify(ctx); err != nil {
		return 0, fmt.Errorf("open the database server: %w", err)
	}
	pool := s.dial.pool(2, begins{migrates: true})
	defer func() { err = errors.Join(err, pool.Close()) }()
	lock, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return 0, fmt.Errorf("lock the database: %w", err)
	}
	defer func() { _ = lock.Rollback() }() // which frees it
	for _, statement := range []string{"SET LOCAL idle_in_transaction_session_timeout = 0", "SET LOCAL lock_timeout = 0"} {
		if _, err := lock.ExecContext(ctx, statement); err != nil {
			return 0, fmt.Errorf("lock the database: %w", err)
		}
	}
	if err := lock.QueryRowContext(ctx, "SELECT pg_advisory_xact_lock(?)", s.dial.key+1).Scan(new(any)); err != nil {
		return 0, fmt.Errorf("lock the database: %w", err)
	}
	return migrateServer(ctx, pool, migrations)
}

// migrateServer runs the migrations that the database lacks. One that waits too long for a lock on a table is tried again: those
// who come after it wait for the table, too.
func migrateServer(ctx context.Context, pool *sql.DB, migrations fs.FS) (version int64, err error) {
	provider, err := goose.NewProvider(goose.DialectPostgres, pool, migrations, inAnyOrder)
	if err != nil {
		return 0, fmt.Errorf("prepare migrations: %w", err)
	}
	has, want, err := provider.GetVersions(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the schema version: %w", err)
	}
	if has > want { // by a newer program, that others beside this one run already
		return want, mayRun(ctx, pool, has, want)
	}
	if lacks, err := provider.HasPending(ctx); err != nil || !lacks {
		return want, err
	}
	for try := 1; ; try++ {
		_, err := provider.Up(ctx)
		if err == nil {
			return want, nil
		}
		var failure *pgconn.PgError
		if has == 0 && errors.As(err, &failure) && failure.Code == tableExists {
			return 0, fmt.Errorf("%w (%w)", errForeign, failure)
		}
		if try == migrateTries || !errors.As(err, &failure) || failure.Code != lockNotAvailable {
			return 0, fmt.Errorf("migrate from version %d: %w", has, err)
		}
	}
}

// identify finds out whether the server takes parameters at the start of a connection, and the key of its lock: each schema has
// its own, and a lock holds within a database. It gives the server the functions that it lacks.
func (s *server) identify(ctx context.Context) (err error) {
	pool := s.dial.pool(1, begins{})
	defer func() { err = errors.Join(err, pool.Close()) }()
	var schema sql.NullString
	var encoding, name string
	var version int64
	if err := pool.QueryRowContext(ctx, "SELECT current_schema(), current_setting('server_encoding'), current_setting('server_version'), CAST(current_setting('server_version_num') AS BIGINT)").
		Scan(&schema, &encoding, &name, &version); err != nil {
		return err
	}
	switch {
	case version < oldestServer:
		return errOld.With(name)
	case encoding != "UTF8":
		return errEncoding.With(encoding)
	case !schema.Valid:
		return errNoSchema
	}
	key := fnv.New64a()
	_, _ = key.Write([]byte("watchmark " + schema.String))
	s.dial.key = int64(key.Sum64())
	for signature, definition := range functions {
		var known bool
		if err := pool.QueryRowContext(ctx, "SELECT to_regprocedure(?) IS NOT NULL", signature).Scan(&known); err != nil {
			return err
		}
		if !known {
			if err := s.define(ctx, pool, definition); err != nil {
				return err
			}
		}
	}
	return nil
}

// functions are those of SQLite that statements use and PostgreSQL lacks, by their signatures.
var functions = map[string]string{
	"now_ms()": `now_ms() RETURNS BIGINT LANGUAGE sql VOLATILE AS 'SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)'`,
	"json_valid(text)": `json_valid(document TEXT) RETURNS BOOLEAN LANGUAGE plpgsql IMMUTABLE AS
		'BEGIN PERFORM CAST(document AS JSON); RETURN TRUE; EXCEPTION WHEN data_exception THEN RETURN FALSE; END'`,
	// Paths are of one step.
	"json_extract(text,text)": `json_extract(document TEXT, path TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE AS 'SELECT CAST(document AS JSON) ->> substr(path, 3)'`,
}

func (s *server) define(ctx context.Context, pool *sql.DB, definition string) error {
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // it does nothing after a commit
	for _, statement := range []string{
		"SELECT pg_advisory_xact_lock(" + strconv.FormatInt(s.dial.key, 10) + ")", // two must not replace it at the same time
		"CREATE OR REPLACE FUNCTION " + definition,
	} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (s *server) write(ctx context.Context, how beside, fn func(ctx context.Context, tx *sql.Tx) error) error {
	pool := map[beside]*sql.DB{nobody: s.alone, sharers: s.shared, ahead: s.first, everybody: s.aside}[how]
	for try := 1; ; try++ {
		err := s.writeOnce(ctx, pool, fn)
		if try == writeTries || !again(err) {
			return err
		}
		// At once it could take the rows again before the other one has woken up that waits for them.
		select {
		case <-time.After(rand.N(time.Duration(try) * againWithin)):
		case <-ctx.Done():
			return err
		}
	}
}

func (s *server) writeOnce(ctx context.Context, pool *sql.DB, fn func(ctx context.Context, tx *sql.Tx) error) (err error) {
	if !s.enter() {
		return ErrClosed
	}
	defer s.work.Done()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return failed(ctx, err)
	}
	defer func() { _ = conn.Close() }() // back into the pool
	ctx = context.WithoutCancel(ctx)
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // it does nothing after a commit
	if err := fn(ctx, tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// enter has Close wait for the caller until work.Done, and reports whether it is not too late for that.
func (s *server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Err() != nil {
		return false
	}
	s.work.Add(1)
	return true
}

func (s *server) Close() error {
	s.mu.Lock()
	s.end()
	s.mu.Unlock()
	s.work.Wait()
	return errors.Join(s.reader.Close(), s.shared.Close(), s.first.Close(), s.alone.Close(), s.aside.Close())
}

func (s *server) Size() (bytes int64) {
	ctx, cancel := context.WithTimeout(s.closing, 3*time.Second)
	defer cancel()
	if s.reader.QueryRowContext(ctx, "SELECT pg_database_size(current_database())").Scan(&bytes) != nil {
		return 0
	}
	return bytes
}

func (s *server) describe() (engine, query string) {
	return "PostgreSQL", "SELECT split_part(current_setting('server_version'), ' ', 1)"
}

func (s *server) Alone() bool                      { return false }
func (s *server) Crashed() bool                    { return false }
func (s *server) CheckWhole(context.Context) error { return nil }
func (s *server) setFence(incarnation int64)       { s.dial.fence.Store(incarnation) }
