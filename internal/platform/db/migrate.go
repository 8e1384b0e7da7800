package db

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql migrations/postgres/*.sql
var migrationFiles embed.FS

// copiesKept is how many copies from before a migration stay beside the database.
const copiesKept = 3

// inAnyOrder has a migration run also where one with a higher number did before: two may have been made at the same time, and
// the other one may have been first.
var inAnyOrder = goose.WithAllowOutofOrder(true)

// migrate runs the migrations that the database lacks, and answers the version it has then. When it
// already holds a schema, a consistent copy named FileName.before-N (N is the
// version it had) is made first. A database newer than this program is refused.
func (f *folder) migrate(ctx context.Context, migrations fs.FS) (version int64, err error) {
	provider, err := goose.NewProvider(goose.DialectSQLite3, f.writer, migrations, inAnyOrder)
	if err != nil {
		return 0, fmt.Errorf("prepare migrations of %s: %w", f.path, err)
	}
	has, want, err := provider.GetVersions(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the schema version of %s: %w; if the file is damaged, restore a backup with watchmark restore FILE", f.path, err)
	}
	if has > want {
		return 0, fmt.Errorf("database %s has schema version %d, this program knows up to %d: run the newer program, or restore an older copy", f.path, has, want)
	}
	if lacks, err := provider.HasPending(ctx); err != nil || !lacks {
		return want, err
	}
	if has > 0 {
		if err := f.copyBefore(ctx, has); err != nil {
			return 0, err
		}
	}
	if _, err := provider.Up(ctx); err != nil {
		return 0, fmt.Errorf("migrate %s from version %d: %w", f.path, has, err)
	}
	return want, nil
}

// copyBefore writes the copy for version and removes the oldest ones.
func (f *folder) copyBefore(ctx context.Context, version int64) error {
	target := fmt.Sprintf("%s.before-%06d", f.path, version)
	if err := os.Remove(target); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("remove the old copy %s: %w", target, err)
	}
	if _, err := f.writer.ExecContext(ctx, "VACUUM INTO ?", target); err != nil {
		return fmt.Errorf("copy the database to %s before migrating: %w; free some disk space", target, err)
	}
	if err := os.Chmod(target, 0o600); err != nil {
		return fmt.Errorf("protect %s: %w", target, err)
	}
	copies, err := filepath.Glob(f.path + ".before-*")
	if err != nil {
		return fmt.Errorf("list old copies: %w", err)
	}
	slices.Sort(copies)
	for _, old := range copies[:max(0, len(copies)-copiesKept)] {
		if err := os.Remove(old); err != nil {
			return fmt.Errorf("remove the old copy %s: %w", old, err)
		}
	}
	return nil
}
