package main

import (
	"context"

	"watchmark/internal/app"
)

type healthCommand struct{ folderFlag }

// Run succeeds when the service that runs on the data folder is well.
func (c healthCommand) Run(ctx context.Context) error { return app.Health(ctx, c.Data) }
