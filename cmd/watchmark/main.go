// Command watchmark hears from media servers what was watched and marks it on the
// right person's catalog list.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
	_ "golang.org/x/crypto/x509roots/fallback" // a system without certificates, such as an empty container

	"watchmark/internal/app"
	"watchmark/internal/rights"
)

// cli is the command line; every field is a command.
type cli struct {
	Serve    serveCommand    `cmd:"" help:"Run the service."`
	Demo     demoCommand     `cmd:"" help:"Try the service: an embedded catalog, webhooks of every source, the page open."`
	Simulate simulateCommand `cmd:"" help:"Run a catalog that behaves like the real one, to try things without touching a real list."`
	Match    matchCommand    `cmd:"" help:"Show how a title would be matched, and why. Marks nothing."`
	Archive  archiveCommand  `cmd:"" help:"Import, show and search the offline archive: a local copy of the catalog."`
	APIKey   apiKeyCommand   `cmd:"" name:"api-key" help:"Make, list and remove API keys for scripts."`
	Password passwordCommand `cmd:"" help:"Set the administrator's password and end all sessions."`
	Codes    codesCommand    `cmd:"" name:"two-factor" help:"Turn the code at sign-in off."`
	Doctor   doctorCommand   `cmd:"" help:"Look at this machine and at the services outside: what is wrong, and what to do."`
	Health   healthCommand   `cmd:"" help:"Ask the service that runs on a data folder whether it is well; for health checks of containers."`
	Backup   backupCommand   `cmd:"" help:"Write all of a data folder into one file, while the service runs."`
	Restore  restoreCommand  `cmd:"" help:"Put a backup in place of what the data folder holds."`
	Service  serviceCommand  `cmd:"" help:"Have the system start the service by itself: systemd, or launchd of macOS."`
	Version  versionCommand  `cmd:"" help:"Print the version."`

	ImportFrom importFromCommand `cmd:"" name:"import-from" help:"Take over what another tool left in its folder; shows it first. The service must be stopped."`
}

// folderFlag names the data folder.
type folderFlag struct {
	Data string `help:"Data folder." default:"./data" env:"WATCHMARK_DATA" type:"path" placeholder:"DIR"`
}

// dataFlags are the flags of every command that opens the data with its settings.
type dataFlags struct {
	folderFlag
	Config string `help:"Settings file; default is watchmark.toml in the data folder, if there is one." env:"WATCHMARK_CONFIG" type:"path" placeholder:"FILE"`
}

// options are what package app needs to open the data folder.
func (f dataFlags) options(logs io.Writer) app.Options {
	return app.Options{DataDir: f.Data, ConfigFile: f.Config, Environ: os.Environ(), Logs: logs}
}

// standard is where commands read and write; tests put their own in.
type standard struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], standard{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

// run parses and runs one command line and answers the exit code: 0 done, 1 failed, 2 wrong usage.
func run(ctx context.Context, args []string, std standard) (code int) {
	type exited int
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(exited)
			if !ok {
				panic(r)
			}
			code = int(e)
		}
	}()
	parser, err := kong.New(&cli{},
		kong.Name("watchmark"),
		kong.Description("Marks what you watch on Plex, Emby, Jellyfin and others on your anime list."),
		kong.Writers(std.out, std.err),
		kong.Exit(func(code int) { panic(exited(code)) }), // kong goes on after Exit returns
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(std),
	)
	if err != nil {
		_, _ = fmt.Fprintln(std.err, "watchmark:", err)
		return 2
	}
	command, err := parser.Parse(args)
	if err != nil {
		_, _ = fmt.Fprintf(std.err, "watchmark: %v; add --help to see what there is\n", err)
		return 2
	}
	err = dropRights(command)
	if err == nil {
		err = command.Run()
	}
	if err != nil {
		_, _ = fmt.Fprintln(std.err, "watchmark:", err)
		return 1
	}
	return 0
}

// dropRights has no command work on a data folder as root that another user is to own.
func dropRights(command *kong.Context) error {
	for _, flag := range command.Flags() {
		if flag.Name == "data" {
			return rights.Drop(flag.Target.String(), os.Getenv)
		}
	}
	return nil
}

type versionCommand struct{}

// Run prints the version, commit and Go version.
func (versionCommand) Run(std standard) error {
	_, err := fmt.Fprintln(std.out, "watchmark", app.BuildInfo())
	return err
}
