package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"watchmark/internal/app"
	"watchmark/internal/platform/secret"
)

type backupCommand struct {
	dataFlags
	File string `arg:"" help:"Where to write the backup." type:"path"`
}

// Run writes a backup, beside a running service or not.
func (c backupCommand) Run(ctx context.Context, std standard) error {
	with, err := app.Backup(ctx, c.options(std.err), c.File)
	if err != nil {
		return err
	}
	info, err := os.Stat(c.File)
	if err != nil {
		return fmt.Errorf("look at the backup: %w", err)
	}
	_, _ = fmt.Fprintf(std.out, "%s: %.1f MiB, the database%s.\n", c.File, float64(info.Size())/(1<<20), and(with))
	if os.Getenv(secret.KeyEnv) != "" {
		_, _ = fmt.Fprintf(std.out, "The key in %s is not in it: keep that too.\n", secret.KeyEnv)
	}
	_, err = fmt.Fprintln(std.out, "Whoever has this file has the tokens: keep it as safe as a password.")
	return err
}

type restoreCommand struct {
	dataFlags
	File string `arg:"" help:"A backup, or a plain copy of the database." type:"path"`
}

// Run puts a backup in place of what the data folder holds.
func (c restoreCommand) Run(ctx context.Context, std standard) error {
	restored, err := app.Restore(ctx, c.options(std.err), c.File)
	if err != nil {
		return err
	}
	if !restored.Checked {
		_, _ = fmt.Fprintln(std.out, "This file has no checksum, as backups of older versions and plain copies of a database: its structure is sound, but nobody can tell whether its content was changed.")
	}
	_, err = fmt.Fprintf(std.out, "Restored to %s: %s. What was there before ends in .before-restore; remove it when all is well.\n",
		c.Data, strings.Join(restored.Files, ", "))
	return err
}

// and lists what comes besides.
func and(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " and " + strings.Join(names, ", ")
}
