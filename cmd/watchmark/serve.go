package main

import (
	"context"
	"runtime/debug"

	"watchmark/internal/app"
)

// gcPercent is how much the heap may grow before garbage is collected. On a small server memory is dearer than
// the few percent of speed that Go's own choice, 100, would bring.
const gcPercent = 50

type serveCommand struct {
	dataFlags
	Listen string `help:"Address to listen on; the setting server.listen, 127.0.0.1:8787, when not given." placeholder:"HOST:PORT"`
}

// Run serves until the process is told to stop.
func (c serveCommand) Run(ctx context.Context, std standard) error {
	debug.SetGCPercent(gcPercent)
	options := c.options(std.err)
	options.Listen = c.Listen
	service, err := app.New(ctx, options)
	if err != nil {
		return err
	}
	return service.Run(ctx)
}
