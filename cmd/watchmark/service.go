package main

import (
	"context"
	"fmt"
	"time"

	"watchmark/internal/app"
	"watchmark/internal/upkeep/install"
)

type serviceCommand struct {
	Install   serviceInstallCommand   `cmd:"" help:"Let systemd or launchd start the service, or update it to this version."`
	Uninstall serviceUninstallCommand `cmd:"" help:"Stop the service and remove it from the system. The data stays."`
}

type serviceInstallCommand struct {
	DryRun bool `help:"Print what would be done."`
}

// startTime is how long an installed service may take until it answers: the database may
// have to be brought up to date first.
const startTime = 30 * time.Second

// Run installs the service and waits until it answers.
func (c serviceInstallCommand) Run(ctx context.Context, std standard) error {
	system, err := install.Here(std.out)
	if err != nil {
		return err
	}
	system.DryRun = c.DryRun
	data, err := system.Install(ctx)
	if err != nil || c.DryRun {
		return err
	}
	for deadline := time.Now().Add(startTime); ; {
		if err = app.Health(ctx, data); err == nil {
			_, err = fmt.Fprintln(std.out, "The service runs.")
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("it was installed, but does not run yet: %w; its log says why", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

type serviceUninstallCommand struct {
	DryRun bool `help:"Print what would be done."`
}

// Run uninstalls the service.
func (c serviceUninstallCommand) Run(ctx context.Context, std standard) error {
	system, err := install.Here(std.out)
	if err != nil {
		return err
	}
	system.DryRun = c.DryRun
	return system.Uninstall(ctx)
}
