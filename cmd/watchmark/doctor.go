package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"watchmark/internal/app"
	"watchmark/internal/diagnose"
)

type doctorCommand struct {
	dataFlags
	JSON bool `name:"json" help:"Print everything that was seen as JSON."`
}

// errUnwell ends a diagnosis that found something.
var errUnwell = errors.New("something that is in use cannot be reached")

// Run goes to every service that the settings name and prints what it found.
func (c doctorCommand) Run(ctx context.Context, std standard) error {
	return withData(ctx, c.options(std.err), func(data *app.Data) error {
		found, err := data.Doctor().Diagnose(ctx)
		if err != nil {
			return err
		}
		if c.JSON {
			err = printJSON(std.out, found)
		} else {
			err = printDiagnosis(std.out, found)
		}
		if err != nil {
			return err
		}
		for _, r := range found {
			if r.InUse && !r.OK {
				return errUnwell
			}
		}
		return nil
	})
}

// targetNames are the targets as a person reads them.
var targetNames = map[diagnose.Kind]string{
	diagnose.CatalogAPI: "Catalog API", diagnose.CatalogWeb: "Catalog website", diagnose.CatalogImages: "Catalog images", diagnose.Archive: "Offline archive",
	diagnose.ArchiveMirror: "Archive mirror", diagnose.Dataset: "Id table", diagnose.TrackerAuth: "Tracker sign-in", diagnose.TrackerAPI: "Tracker, by mail", diagnose.TrackerAppAPI: "Tracker, own app",
}

// printDiagnosis writes for each target the stages of every way to it, and what to do.
func printDiagnosis(out io.Writer, found []diagnose.Result) error {
	var b strings.Builder
	for _, r := range found {
		state := "ok"
		if !r.OK {
			state = "FAILED"
		}
		fmt.Fprintf(&b, "%-7s %-17s %s", state, targetNames[r.Kind], r.Host)
		if !r.InUse {
			b.WriteString(" (not in use)")
		}
		b.WriteString("\n")
		for _, route := range r.Routes {
			printRoute(&b, route)
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func printRoute(b *strings.Builder, route diagnose.Route) {
	stages := make([]string, len(route.Stages))
	for i, s := range route.Stages {
		stages[i] = fmt.Sprintf("%s %.0f ms", s.Name, s.ElapsedMS)
		if !s.OK {
			stages[i] = fmt.Sprintf("%s FAILED: %s", s.Name, s.Detail)
		}
	}
	fmt.Fprintf(b, "        %s: %s\n", route.Via, strings.Join(stages, ", "))
	if route.Advice == "" {
		return
	}
	fmt.Fprintf(b, "        %s\n", route.Advice)
	if route.ClockDifference != nil && *route.ClockDifference != 0 {
		fmt.Fprintf(b, "        clock: %+.0f s against the server\n", *route.ClockDifference)
	}
	for _, c := range route.Chain {
		fmt.Fprintf(b, "        certificate: %s, issued by %s, %s to %s, for %s\n", c.Subject, c.Issuer,
			c.NotBefore.Format("2006-01-02"), c.NotAfter.Format("2006-01-02"), strings.Join(c.Names, " "))
	}
}
