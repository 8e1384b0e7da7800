package db

import "io/fs"

// OpenWith opens a database with migrations of the test's own, OpenServerWith one in PostgreSQL.
var OpenWith, OpenServerWith = open, openServer

// Migrations are the files of all migrations.
var Migrations fs.FS = migrationFiles

// IdleTrusted is how long after its last use a connection is taken to be whole.
var IdleTrusted = &idleTrusted

// SharedWriters is how many writes of WriteShared run at the same time on a server.
const SharedWriters = sharedWriters

// Trips counts the messages to the server that were waited for.
func Trips(d *DB) int64 { return d.engine.(*server).dial.trips.Load() }

// ServerMigrations are the migrations as PostgreSQL takes them.
func ServerMigrations() fs.FS {
	migrations, err := fs.Sub(migrationFiles, "migrations")
	if err != nil {
		panic(err)
	}
	return serverMigrations{migrations}
}

// ForServer is a statement as PostgreSQL takes it.
var ForServer = forServer
