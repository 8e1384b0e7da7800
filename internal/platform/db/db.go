// Package db opens the service's one database, migrates it, and hands out its connections: SQLite in the data folder, or
// PostgreSQL, which several replicas may share. Nobody else knows which it is: statements are written once, in what both
// understand (docs/design/replicas.md).
//
// SQLite has one writer and several readers. Every write goes through DB.Write, on a single connection with
// synchronous=FULL: a committed write survives power loss, those that wait at the same time share one commit, and
// "database is locked" cannot arise inside the process. Readers see the last committed state and never wait for the
// writer (WAL). Another process (the command line) may write too; both wait for each other up to ten seconds.
//
// On PostgreSQL a write is a transaction of its own. Those of Write come one after the other across all replicas, by an
// advisory lock; those of WriteShared and WriteFirst run beside each other (postgres.go).
package db

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
)

// DB is an open database. It is safe for concurrent use.
type DB struct {
	engine
	reader *sql.DB
	schema int64
	broken atomic.Bool // the last write failed by the disk, the file or the server
	heard  listeners
}

// engine is what the two kinds of databases do each in their way.
type engine interface {
	// write runs fn in a transaction and commits it; how says beside whom.
	write(ctx context.Context, how beside, fn func(ctx context.Context, tx *sql.Tx) error) error
	// notify tells every process that listens.
	notify(ctx context.Context, topic, payload string, heard *listeners) error
	// hear begins to hand what others tell to heard, at its first call.
	hear(heard *listeners)
	setFence(incarnation int64)
	// snapshot has read see one state of the database.
	snapshot(ctx context.Context, read func(ctx context.Context, from Querier) error) error
	// tables are those of the schema in any order; triggers asks for the statements that make and drop each of its triggers.
	tables(ctx context.Context) ([]Table, error)
	triggers() string
	// continueIDs has ids go on after the largest.
	continueIDs(ctx context.Context, tx *sql.Tx) error

	// describe is a query for the version of the engine with its name.
	describe() (engine, query string)

	// Size is how many bytes the database takes on the disk; 0 where that cannot be told.
	Size() int64
	// Alone reports that no other process works on this database: the folder is locked for one.
	Alone() bool
	// Crashed reports whether the last run on the database did not close it. A server sees to that by itself.
	Crashed() bool
	// CheckWhole reads the whole database, and returns ErrDamaged when it is not sound. That takes the time to read the file, and a
	// quarter of a second for 200 MB. Others may use it meanwhile. Of a server it says nothing.
	CheckWhole(ctx context.Context) error
	// Close lets the writes that are under way end and closes every connection. Calls that come later fail.
	Close() error
}

// beside says which other writes may run at the same time.
type beside int

const (
	nobody    beside = iota // Write
	sharers                 // WriteShared
	ahead                   // WriteFirst
	everybody               // WriteAside
)

// Read is the pool for queries. Writing through it fails.
func (d *DB) Read() *sql.DB { return d.reader }

// Write runs fn in a transaction of its own, as far as fn can tell, and commits it;
// when fn fails, nothing of it is written and its error is returned. No other Write, WriteShared or WriteFirst runs at the same
// time, in this process or another, so what fn reads stays so until it ends. fn must use tx
// only and do no other I/O: all writers wait for it. Once fn has begun it does not end
// with ctx. After Close, Write returns ErrClosed.
//
// On PostgreSQL an error of a statement that answers nothing may come with the next statement that answers, or with the
// commit, and fn may run again from its beginning when the server ended the transaction to break a deadlock.
func (d *DB) Write(ctx context.Context, fn func(ctx context.Context, tx *sql.Tx) error) error {
	return d.judged(d.write(ctx, nobody, fn))
}

// WriteShared is Write beside others of its kind. fn must hold against any of them: what it reads
// may be changed before it ends, unless its statements lock it. It must begin by resetting what it gives out, since it may run again.
func (d *DB) WriteShared(ctx context.Context, fn func(ctx context.Context, tx *sql.Tx) error) error {
	return d.judged(d.write(ctx, sharers, fn))
}

// WriteFirst is WriteShared for what a sender waits for: it does not wait until the work of the background has a connection to spare.
func (d *DB) WriteFirst(ctx context.Context, fn func(ctx context.Context, tx *sql.Tx) error) error {
	return d.judged(d.write(ctx, ahead, fn))
}

// WriteAside is for what must wait for no other write, and is written by an evicted replica too: its heartbeat. fn must begin by
// resetting what it gives out.
func (d *DB) WriteAside(ctx context.Context, fn func(ctx context.Context, tx *sql.Tx) error) error {
	return d.judged(d.write(ctx, everybody, fn))
}

// Fence has every Write, WriteShared and WriteFirst go on only while the replica with this incarnation is live; else they return
// ErrEvicted and write nothing. 0 asks for nothing. A database in a folder has the folder's lock instead.
func (d *DB) Fence(incarnation int64) { d.setFence(incarnation) }

// Now is the clock of the database, to the millisecond. Statements have it as now_ms().
func (d *DB) Now(ctx context.Context) (time.Time, error) {
	var ms int64
	if err := d.reader.QueryRowContext(ctx, "SELECT now_ms()").Scan(&ms); err != nil {
		return time.Time{}, fmt.Errorf("read the database's clock: %w", err)
	}
	return time.UnixMilli(ms), nil
}

// Describe names the engine and its version, for people.
func (d *DB) Describe(ctx context.Context) (engine, version string, err error) {
	engine, query := d.describe()
	if err := d.reader.QueryRowContext(ctx, query).Scan(&version); err != nil {
		return "", "", fmt.Errorf("ask the database for its version: %w", explained(err))
	}
	return engine, version, nil
}

// SchemaVersion is the number of the newest migration, which the database has.
func (d *DB) SchemaVersion() int64 { return d.schema }

// HoldsRows reports whether any of some tables has a row.
func (d *DB) HoldsRows(ctx context.Context, tables ...string) (held bool, err error) {
	query := `SELECT EXISTS (SELECT 1 FROM ` + strings.Join(tables, `) OR EXISTS (SELECT 1 FROM `) + `)`
	if err := d.reader.QueryRowContext(ctx, query).Scan(&held); err != nil {
		return false, fmt.Errorf("look for rows: %w", explained(err))
	}
	return held, nil
}
