package main

import (
	"context"
	"io"

	"watchmark/internal/app/demo"
)

type demoCommand struct {
	Listen  string `help:"Address of the page; a free port of this machine when not given." placeholder:"HOST:PORT"`
	Once    bool   `help:"End after the webhooks: exit code 0 when all results are right."`
	Verbose bool   `help:"Show the service's log, too."`
}

// Run plays the demo.
func (c demoCommand) Run(ctx context.Context, std standard) error {
	logs := io.Discard
	if c.Verbose {
		logs = std.err
	}
	return demo.Run(ctx, demo.Options{Listen: c.Listen, Once: c.Once, Out: std.out, Logs: logs})
}
