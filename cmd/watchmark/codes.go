package main

import (
	"context"
	"fmt"

	"watchmark/internal/app"
)

type codesCommand struct {
	Off codesOffCommand `cmd:"" help:"Stop asking for a code at sign-in, for somebody who lost the phone and the recovery codes."`
}

type codesOffCommand struct {
	dataFlags
	Name string `arg:"" help:"Name of the person."`
}

// Run turns the code at sign-in off.
func (c codesOffCommand) Run(ctx context.Context, std standard) error {
	return withData(ctx, c.options(std.err), func(data *app.Data) error {
		if err := data.Auth.ResetTwoFactor(ctx, c.Name); err != nil {
			return err
		}
		_, err := fmt.Fprintln(std.out, "Signing in asks for the password alone now. Set the code up again on the page Settings › Access.")
		return err
	})
}
