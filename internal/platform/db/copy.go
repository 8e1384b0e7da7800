package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/pressly/goose/v3"
)

// CopyTo writes a consistent copy of the database at path to target, which must be an
// empty file. A service may write to the database meanwhile.
func CopyTo(ctx context.Context, path, target string) error {
	return withFile(path, func(file *sql.DB) error {
		if _, err := file.ExecContext(ctx, "VACUUM INTO ?", target); err != nil {
			return fmt.Errorf("copy the database %s: %w", path, err)
		}
		return nil
	})
}

// Put adds files to the database at path, which no service uses: they stand in a table
// of their own that Take removes.
func Put(ctx context.Context, path string, files map[string][]byte) error {
	return withFile(path, func(file *sql.DB) error {
		if _, err := file.ExecContext(ctx, "CREATE TABLE backup_files (name TEXT PRIMARY KEY, content BLOB NOT NULL)"); err != nil {
			return fmt.Errorf("add files to %s: %w", path, err)
		}
		for name, content := range files {
			if _, err := file.ExecContext(ctx, "INSERT INTO backup_files (name, content) VALUES (?, ?)", name, content); err != nil {
				return fmt.Errorf("add %s to %s: %w", name, path, err)
			}
		}
		return nil
	})
}

// Take checks the database at path, which no service uses, and takes the files out that
// Put added. The error says what is wrong: it is no database of this program, it is
// damaged (ErrDamaged), or a newer program made it.
func Take(ctx context.Context, path string) (files map[string][]byte, err error) {
	err = withFile(path, func(file *sql.DB) error {
		if err := checkWhole(ctx, file); err != nil {
			return err
		}
		if files, err = readFiles(ctx, file); err != nil {
			return err
		}
		for _, statement := range []string{"DROP TABLE IF EXISTS backup_files", "PRAGMA journal_mode(DELETE)"} {
			if _, err := file.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("make the copy ready: %w", err)
			}
		}
		return nil
	})
	return files, err
}

// Check reads the whole database at path, which no service uses. The error says what is wrong,
// as that of Take does.
func Check(ctx context.Context, path string) error {
	return withFile(path, func(file *sql.DB) error { return checkWhole(ctx, file) })
}

// Fold brings what stands in the journal of the database at path into its file, which no
// service uses.
func Fold(ctx context.Context, path string) error {
	return withFile(path, func(file *sql.DB) error {
		if _, err := file.ExecContext(ctx, "PRAGMA journal_mode(DELETE)"); err != nil {
			return fmt.Errorf("fold the journal of %s: %w", path, err)
		}
		return nil
	})
}

// withFile opens a database file as it is, without migrating it.
func withFile(path string, use func(file *sql.DB) error) error {
	file := sql.OpenDB(connector{sqliteDriver, dsn(path)})
	file.SetMaxOpenConns(1)
	return errors.Join(use(file), file.Close())
}

func checkWhole(ctx context.Context, file *sql.DB) error {
	var verdict string
	if err := file.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict); err != nil {
		return fmt.Errorf("check the database: %w", err)
	}
	if verdict != "ok" {
		return fmt.Errorf("%w (%s)", ErrDamaged, verdict)
	}
	var ours int
	err := file.QueryRowContext(ctx, "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name IN ('goose_db_version', 'records', 'accounts')").Scan(&ours)
	if err != nil || ours != 3 {
		return errors.Join(errors.New("this is no database of watchmark"), err)
	}
	var has int64
	if err := file.QueryRowContext(ctx, "SELECT MAX(version_id) FROM goose_db_version").Scan(&has); err != nil {
		return fmt.Errorf("read the schema version: %w", err)
	}
	newest, err := NewestSchema()
	if err != nil {
		return err
	}
	if has > newest {
		return fmt.Errorf("a newer program made this (schema version %d, this one knows up to %d): restore it with that program", has, newest)
	}
	return nil
}

// NewestSchema is the schema version that this program brings a database to.
func NewestSchema() (newest int64, err error) {
	files, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil || len(files) == 0 {
		return 0, fmt.Errorf("read embedded migrations: %w", err)
	}
	return goose.NumericComponent(path.Base(slices.Max(files)))
}

func readFiles(ctx context.Context, file *sql.DB) (map[string][]byte, error) {
	files := map[string][]byte{}
	var added bool
	if err := file.QueryRowContext(ctx, "SELECT COUNT(*) FROM sqlite_master WHERE name = 'backup_files'").Scan(&added); err != nil || !added {
		return files, err
	}
	err := Each(ctx, file, "read the files of the backup", func(row Row) error {
		var name string
		var content []byte
		err := row.Scan(&name, &content)
		files[name] = content
		return err
	}, "SELECT name, content FROM backup_files")
	return files, err
}
