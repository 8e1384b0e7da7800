package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// explained adds to an error of SQLite what to do about it, once.
func explained(err error) error {
	var failure *sqlite.Error
	if errors.Is(err, ErrDamaged) || errors.Is(err, ErrStorage) || !errors.As(err, &failure) {
		return err
	}
	switch failure.Code() & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%w (%w)", ErrDamaged, err)
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY:
		return fmt.Errorf("%w (%w)", ErrStorage, err)
	}
	return err
}

// crashed reports whether the last run on the database at path did not close it. It
// returns an error when all there is is a journal: SQLite would start a new, empty database.
func crashed(path string) (bool, error) {
	if size(path+"-wal") == 0 {
		return false, nil
	}
	if size(path) == 0 {
		return false, fmt.Errorf("%s is missing or empty, but its journal %s-wal is not: put the file back or restore a backup with watchmark restore FILE; "+
			"to start anew, move the journal away", path, path)
	}
	return true, nil
}

// size is that of a file in bytes; 0 for one that is not there.
func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

func (f *folder) CheckWhole(ctx context.Context) error {
	var verdict string
	if err := f.reader.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return fmt.Errorf("check the database: %w", explained(err))
	}
	if verdict != "ok" {
		return fmt.Errorf("%w (%s)", ErrDamaged, verdict)
	}
	return nil
}

// Empty reports whether there is no database in dataDir, or one without any table. A journal that was left counts as one: Open
// says what to do about it.
func Empty(ctx context.Context, dataDir string) (bool, error) {
	path := filepath.Join(dataDir, FileName)
	if size(path) == 0 {
		return size(path+"-wal") == 0, nil
	}
	var tables int
	err := withFile(path, func(file *sql.DB) error {
		return file.QueryRowContext(ctx, "SELECT COUNT(*) FROM sqlite_master").Scan(&tables)
	})
	if err != nil {
		return false, nil //nolint:nilerr // Open says what is wrong with it
	}
	return tables == 0, nil
}
