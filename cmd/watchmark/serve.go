package main

import (
	"context"

	"watchmark/internal/app"
)

type serveCommand struct {
	dataFlags
	Listen string `help:"Address to listen on; the setting server.listen, 127.0.0.1:8787, when not given." placeholder:"HOST:PORT"`
}

// Run serves until the process is told to stop.
func (c serveCommand) Run(ctx context.Context, std standard) error {
	options := c.options(std.err)
	options.Listen = c.Listen
	service, err := app.New(ctx, options)
	if err != nil {
		return err
	}
	return service.Run(ctx)
}
