package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/secret"
)

// HasData reports whether there is a database, in the data folder or on a server. One that cannot be looked at is there:
// opening it says why.
func HasData(o Options) bool {
	address, err := databaseURL(o)
	return err != nil || address != "" || hasFile(o.DataDir)
}

func hasFile(dataDir string) bool { return !missing(filepath.Join(dataDir, db.FileName)) }

// Aside is o on a data folder of its own, for what is tried and leaves nothing behind: with a copy of the
// database and its key, where they are there, and the settings of the folder of o. remove removes it.
func Aside(ctx context.Context, o Options) (aside Options, remove func() error, err error) {
	folder, err := os.MkdirTemp("", "watchmark-aside-*")
	if err != nil {
		return o, nil, fmt.Errorf("make a folder to try it in: %w", err)
	}
	remove = func() error { return os.RemoveAll(folder) }
	defer func() {
		if err != nil {
			err = errors.Join(err, remove())
		}
	}()
	aside = o
	aside.DataDir = folder
	if aside.ConfigFile, err = configFile(o); err != nil {
		return o, nil, err
	}
	if !hasFile(o.DataDir) {
		return aside, remove, nil
	}
	key, err := os.ReadFile(filepath.Join(o.DataDir, secret.KeyFile))
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, secret.KeyFile), key, 0o600) //nolint:gosec // a temporary folder of ours
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return o, nil, fmt.Errorf("copy the key: %w", err)
	}
	return aside, remove, db.CopyTo(ctx, filepath.Join(o.DataDir, db.FileName), filepath.Join(folder, db.FileName))
}
