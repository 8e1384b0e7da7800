package db

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
)

// CreateFile opens a database file of its own for one writer that fills it once: nothing
// is journalled or synced, so a crash leaves rubbish, which the caller must recognise by
// its name. Settle makes it a file to rely on.
func CreateFile(path string) *sql.DB {
	// 16 KiB pages hold most blobs whole.
	file := sql.OpenDB(connector{sqliteDriver, dsn(path,
		"page_size(16384)", "journal_mode(OFF)", "synchronous(OFF)", "locking_mode(EXCLUSIVE)", "cache_size(-8192)", "temp_store(2)")})
	file.SetMaxOpenConns(1)
	return file
}

// OpenFile opens a finished database file that nobody changes any more, for reading. All
// its connections are made at once: another process may delete the file while it is in use.
func OpenFile(ctx context.Context, path string) (*sql.DB, error) {
	file := sql.OpenDB(connector{sqliteDriver, dsn(path, "query_only(1)", "cache_size(-1024)") + "&mode=ro&immutable=1"})
	file.SetMaxOpenConns(readers)
	file.SetMaxIdleConns(readers)
	var conns []*sql.Conn
	var err error
	for range readers {
		var c *sql.Conn
		if c, err = file.Conn(ctx); err != nil {
			break
		}
		conns = append(conns, c)
		// SQLite opens the file at the first look into it.
		var version int
		if err = c.QueryRowContext(ctx, "PRAGMA schema_version").Scan(&version); err != nil {
			break
		}
	}
	for _, c := range conns {
		err = errors.Join(err, c.Close()) // back into the pool
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Settle gives a finished file its name, and has both reach the disk.
func Settle(tmp, path string) error {
	if err := toDisk(tmp); err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	_ = toDisk(filepath.Dir(path)) // not every system can
	return nil
}

// toDisk brings a file, or the names in a folder, to the disk.
func toDisk(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		if file, err = os.Open(path); err != nil { // a folder
			return err
		}
	}
	return errors.Join(file.Sync(), file.Close())
}
