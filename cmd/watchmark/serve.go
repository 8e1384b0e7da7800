package main

import (
	"context"
	"os"

	"watchmark/internal/app"
	"watchmark/internal/rights"
)

type serveCommand struct {
	dataFlags
	Listen    string `help:"Address to listen on; the setting server.listen, 127.0.0.1:8787, when not given." placeholder:"HOST:PORT"`
	Container bool   `hidden:"" env:"WATCHMARK_CONTAINER"`
}

// Run serves until the process is told to stop.
func (c serveCommand) Run(ctx context.Context, std standard) error {
	if err := rights.CheckServe(os.Getenv); err != nil {
		return err
	}
	options := c.options(std.err)
	options.Listen, options.Container = c.Listen, c.Container
	service, err := app.New(ctx, options)
	if err != nil {
		return err
	}
	return service.Run(ctx)
}
