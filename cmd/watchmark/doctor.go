package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"watchmark/internal/app"
	"watchmark/internal/upkeep/diagnose"
)

type doctorCommand struct {
	dataFlags
	JSON bool `name:"json" help:"Print the whole result as JSON."`
}

// The ends of a diagnosis that found something.
var (
	errOutside = errors.New("something that is in use cannot be reached")
	errHere    = errors.New("something on this machine needs mending")
)

// diagnosis is what the doctor found, as JSON.
type diagnosis struct {
	Machine  []app.Check       `json:"machine"`
	Services []diagnose.Result `json:"services"`
}

// Run looks at this machine, then goes to every service that the settings name, and prints what it found.
// What was found on the machine is told even where the data folder cannot be opened.
func (c doctorCommand) Run(ctx context.Context, std standard) error {
	options := c.options(std.err)
	found := diagnosis{Machine: app.CheckFolder(options.DataDir), Services: []diagnose.Result{}}
	err := withoutTrace(ctx, options, func(data *app.Data) (err error) {
		found.Machine = append(found.Machine, data.Checkup(ctx, options)...)
		found.Services, err = data.Doctor().Diagnose(ctx, "")
		return err
	})
	if c.JSON {
		err = errors.Join(err, printJSON(std.out, found))
	} else {
		err = errors.Join(err, printDiagnosis(std.out, found))
	}
	if slices.ContainsFunc(found.Machine, func(one app.Check) bool { return !one.OK }) {
		err = errors.Join(err, errHere)
	}
	if slices.ContainsFunc(found.Services, func(r diagnose.Result) bool { return r.InUse && !r.OK }) {
		err = errors.Join(err, errOutside)
	}
	return err
}

// targetNames are the targets as a person reads them.
var targetNames = map[diagnose.Kind]string{
	diagnose.CatalogAPI: "Catalog API", diagnose.CatalogWeb: "Catalog website", diagnose.CatalogImages: "Catalog images", diagnose.Archive: "Offline archive",
	diagnose.ArchiveMirror: "Archive mirror", diagnose.Dataset: "ID table", diagnose.AnimeLists: "Anime-Lists", diagnose.Shinkro: "shinkro-mapping", diagnose.TrackerAuth: "Tracker sign-in", diagnose.TrackerAPI: "Tracker, by mail", diagnose.TrackerAppAPI: "Tracker, own app",
	diagnose.LoginProvider: "Sign-in provider", diagnose.Database: "Database server",
}

// printDiagnosis writes what each look at the machine found, and for each target the stages of
// every way to it, and what to do.
func printDiagnosis(out io.Writer, found diagnosis) error {
	var b strings.Builder
	states := map[bool]string{true: "ok", false: "FAILED"}
	for _, one := range found.Machine {
		fmt.Fprintf(&b, "%-7s %-17s %s\n", states[one.OK], one.Name, one.Detail)
	}
	for _, r := range found.Services {
		fmt.Fprintf(&b, "%-7s %-17s %s", states[r.OK], targetNames[r.Kind], r.Host)
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
	if route.Advice.IsZero() {
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
