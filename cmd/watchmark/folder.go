package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/alecthomas/kong"

	"watchmark/internal/app"
	"watchmark/internal/upkeep/rights"
)

// folderFlag names the data folder.
type folderFlag struct {
	Data string `help:"Data folder." default:"./data" env:"WATCHMARK_DATA" type:"path" placeholder:"DIR"`
}

// dataFlags are the flags of every command that opens the data with its settings.
type dataFlags struct {
	folderFlag
	Config string `help:"Settings file; when not given, watchmark.toml in the data folder, if there is one." env:"WATCHMARK_CONFIG" type:"path" placeholder:"FILE"`
}

// options are what package app needs to open the data folder.
func (f dataFlags) options(logs io.Writer) app.Options {
	return app.Options{DataDir: f.Data, ConfigFile: f.Config, Environ: os.Environ(), Logs: logs}
}

// absence is what a command does where there is no data folder. Commands refuse: a mistyped
// name would be a new, empty service.
type absence int

const (
	refuses absence = iota
	makes           // the folder
	looks           // at nothing, and leaves nothing behind
)

func (serveCommand) absent() absence   { return makes }
func (archiveImport) absent() absence  { return makes }
func (restoreCommand) absent() absence { return makes }
func (matchCommand) absent() absence   { return looks }
func (doctorCommand) absent() absence  { return looks }

func (c importFromSyncer) absent() absence {
	if c.DryRun {
		return looks
	}
	return refuses
}

// readyFolder refuses a data folder that is not there to commands that need one, and has no command
// work as root on one that another user is to own.
func readyFolder(command *kong.Context) error {
	for _, flag := range command.Flags() {
		if flag.Name != "data" {
			continue
		}
		folder, does := flag.Target.String(), refuses
		if c, says := command.Selected().Target.Interface().(interface{ absent() absence }); says {
			does = c.absent()
		}
		if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) && does == refuses { //nolint:gosec // the folder is the one that whoever runs the command names
			return fmt.Errorf("there is no data folder %s: name the one of the service with --data or WATCHMARK_DATA; a new one begins with watchmark serve", folder)
		}
		if err := rights.Drop(folder, does == makes, os.Getenv); err != nil {
			return err
		}
		return makeRoom(folder)
	}
	return nil
}

// makeRoom has temporary files made in the data folder where the machine has no place for them: a container may hold nothing but the program.
func makeRoom(folder string) error {
	if _, err := os.Stat(os.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return os.Setenv("TMPDIR", folder)
}

// withData opens the data folder for fn, beside a running service or without one.
func withData(ctx context.Context, options app.Options, fn func(*app.Data) error) error {
	data, err := app.OpenData(ctx, options)
	if err != nil {
		return err
	}
	if err := fn(data); err != nil {
		_ = data.Close() // the first error is the one to tell
		return err
	}
	return data.Close()
}

// withoutTrace is withData for what changes nothing in the folder: where there is no database yet, fn gets an empty
// one elsewhere, with the settings of the folder.
func withoutTrace(ctx context.Context, options app.Options, fn func(*app.Data) error) (err error) {
	if app.HasData(options) {
		return withData(ctx, options, fn)
	}
	aside, remove, err := app.Aside(ctx, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	return withData(ctx, aside, fn)
}
