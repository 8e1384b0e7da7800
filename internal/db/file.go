package db

import (
	"database/sql"

	"modernc.org/sqlite"
)

// CreateFile opens a database file of its own for one writer that fills it once: nothing
// is journalled or synced, so a crash leaves rubbish, which the caller must recognise by
// its name. Sync the file before it is used.
func CreateFile(path string) *sql.DB {
	// 16 KiB pages hold most blobs whole.
	file := sql.OpenDB(connector{&sqlite.Driver{}, dsn(path, "page_size(16384)", "journal_mode(OFF)", "synchronous(OFF)", "locking_mode(EXCLUSIVE)", "cache_size(-8192)", "temp_store(2)")})
	file.SetMaxOpenConns(1)
	return file
}

// OpenFile opens a finished database file that nobody changes any more, for reading.
func OpenFile(path string) *sql.DB {
	file := sql.OpenDB(connector{&sqlite.Driver{}, dsn(path, "query_only(1)", "cache_size(-1024)") + "&mode=ro&immutable=1"})
	file.SetMaxOpenConns(readers)
	file.SetMaxIdleConns(readers)
	return file
}
