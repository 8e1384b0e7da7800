package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"watchmark/internal/app"
	"watchmark/internal/upkeep/rights"
)

// How much the heap may grow before garbage is collected, in percent. On a small server memory is dearer than the few percent of
// speed that Go's own choice, 100, would bring. The start makes most of the garbage, and its peak should not set the size of the process.
const (
	gcAtStart = 20
	gcPercent = 50
)

const rootAdvice = "start it as another user, or set PUID and PGID to the numbers of the user and group that it shall become; PUID=0 is root nevertheless"

type serveCommand struct {
	dataFlags
	Listen    string `help:"Address to listen on; the setting server.listen, 127.0.0.1:8787, when not given." placeholder:"HOST:PORT"`
	Container bool   `hidden:"" env:"WATCHMARK_CONTAINER"`
}

// Run serves until the process is told to stop.
func (c serveCommand) Run(ctx context.Context, std standard) error {
	debug.SetGCPercent(gcAtStart)
	if c.Container && rights.StaysRoot(os.Getenv) {
		return errors.New("this would serve as root: " + rootAdvice)
	}
	options := c.options(std.err)
	options.Listen, options.Container = c.Listen, c.Container
	service, err := app.New(ctx, options)
	if err != nil {
		return err
	}
	if rights.StaysRoot(os.Getenv) {
		_, _ = fmt.Fprintln(std.err, "watchmark: this serves as root. Better", rootAdvice)
	}
	debug.SetGCPercent(gcPercent)
	return service.Run(ctx)
}
