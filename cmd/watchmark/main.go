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
)

// cli is the command line; every field is a command.
type cli struct {
	Serve        serveCommand        `cmd:"" help:"Run the service."`
	Demo         demoCommand         `cmd:"" help:"Try the service with a simulated Bangumi, webhooks of every source and an open page."`
	Simulate     simulateCommand     `cmd:"" help:"Run a simulated Bangumi, to try things without touching a real list."`
	Match        matchCommand        `cmd:"" help:"Show how a title would be matched, and why. Marks nothing."`
	Archive      archiveCommand      `cmd:"" help:"Import, show and search the offline data: a local copy of Bangumi."`
	APIKey       apiKeyCommand       `cmd:"" name:"api-key" help:"Make, list and remove API keys for scripts."`
	Password     passwordCommand     `cmd:"" help:"Set the password of a person and end their sessions."`
	Codes        codesCommand        `cmd:"" name:"two-factor" help:"Switch off the code at sign-in."`
	Doctor       doctorCommand       `cmd:"" help:"Check this machine and the services outside: say what is wrong, and what to do."`
	Health       healthCommand       `cmd:"" help:"Check whether the service that runs on a data folder is healthy; for health checks of containers."`
	Backup       backupCommand       `cmd:"" help:"Write the whole data folder into one file. The service may be running."`
	Restore      restoreCommand      `cmd:"" help:"Replace the contents of the data folder by a backup."`
	MoveDatabase moveDatabaseCommand `cmd:"" name:"move-database" help:"Move the data to a PostgreSQL database, or back. The service must be stopped."`

	Service serviceCommand `cmd:"" help:"Let the system start the service automatically: systemd, or launchd of macOS."`
	Version versionCommand `cmd:"" help:"Print the version."`
	Help    helpCommand    `cmd:"" help:"Show how a command is used, as --help does."`

	ImportFrom importFromCommand `cmd:"" name:"import-from" help:"Move in from another tool: show what its folder holds, then take it. The service must be stopped."`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version."`
}

// standard is where commands read and write; tests put their own in.
type standard struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal ends it at once
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
	parser, err := kong.New(&cli{}, append(plainWords(),
		kong.Name("watchmark"),
		kong.Description("Marks what you watch on Plex, Emby, Jellyfin and others on your anime list."),
		kong.Vars{"version": versionLine()},
		kong.Writers(std.out, std.err),
		kong.Exit(func(code int) { panic(exited(code)) }), // kong goes on after Exit returns
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(std),
	)...)
	if err != nil {
		_, _ = fmt.Fprintln(std.err, "watchmark:", err)
		return 2
	}
	command, err := parser.Parse(args)
	if err != nil {
		_, _ = fmt.Fprintf(std.err, "watchmark: %v; add --help to see what there is\n", err)
		return 2
	}
	if help, is := command.Selected().Target.Addr().Interface().(*helpCommand); is {
		return run(ctx, append(help.Command, "--help"), std)
	}
	err = readyFolder(command)
	if err == nil {
		err = command.Run()
	}
	if err != nil {
		_, _ = fmt.Fprintln(std.err, "watchmark:", err)
		return 1
	}
	return 0
}

type versionCommand struct{}

// Run prints the version, commit and Go version.
func (versionCommand) Run(std standard) error {
	_, err := fmt.Fprintln(std.out, versionLine())
	return err
}

func versionLine() string { return "watchmark " + app.BuildInfo() }

// helpCommand is run as the command that it names with --help.
type helpCommand struct {
	Command []string `arg:"" optional:"" help:"The command, such as api-key create; all of them when not given."`
}
