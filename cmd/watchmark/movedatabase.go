package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"watchmark/internal/app"
	"watchmark/internal/upkeep/movedb"
)

type moveDatabaseCommand struct {
	dataFlags
	To     string `help:"Move from the data folder to this empty PostgreSQL database." placeholder:"URL" xor:"direction" required:""`
	From   string `help:"Move from this PostgreSQL database to the data folder." placeholder:"URL" xor:"direction" required:""`
	DryRun bool   `help:"Only show what would be moved. It changes nothing, and the service may be running."`
}

func (c moveDatabaseCommand) absent() absence {
	switch {
	case c.DryRun:
		return looks
	case c.From != "":
		return makes
	}
	return refuses
}

// Run moves the database, or shows what it would move.
func (c moveDatabaseCommand) Run(ctx context.Context, std standard) error {
	began := time.Now()
	show := &steps{out: std.out}
	do := app.MoveDatabase
	if c.DryRun {
		do = app.LookAtMove
	}
	moved, err := do(ctx, c.options(std.err), app.Move{To: c.To, From: c.From, Tell: show.tell})
	if err != nil {
		return err
	}
	printTables(std.out, moved.Lines)
	switch {
	case c.DryRun:
		_, err = fmt.Fprintln(std.out, "\nNothing was moved: run it without --dry-run for that, with the service stopped.")
	case c.To != "":
		_, err = fmt.Fprintf(std.out, movedThere, time.Since(began).Seconds(), moved.Aside)
	default:
		_, err = fmt.Fprintf(std.out, movedBack, time.Since(began).Seconds(), c.Data)
	}
	return err
}

const movedThere = `
Moved in %.1f s: every table has the same rows on both sides. The old database is kept as %s.
Next: set database.url in watchmark.toml or WATCHMARK_DATABASE_URL to the same address, and start the service. Each further
replica gets a data folder of its own, with a copy of secret.key or the same WATCHMARK_SECRET_KEY.
`

const movedBack = `
Moved in %.1f s: every table has the same rows on both sides. A service does not start on the old database any more.
Next: remove database.url from watchmark.toml, or WATCHMARK_DATABASE_URL, and start the service on %s.
`

// printTables prints the tables that have rows.
func printTables(out io.Writer, lines []movedb.Line) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	var all movedb.Line
	_, _ = fmt.Fprintln(table, "\nTable\tRows\tSHA-256\t")
	for _, l := range lines {
		all.Rows += l.Rows
		all.Cleaned += l.Cleaned
		if l.Rows == 0 {
			continue
		}
		note := ""
		if l.Cleaned > 0 {
			note = fmt.Sprintf("%d texts with characters that cannot be kept", l.Cleaned)
		}
		_, _ = fmt.Fprintf(table, "%s\t%d\t%.16s\t%s\n", l.Table, l.Rows, l.Digest, note)
	}
	_, _ = fmt.Fprintf(table, "%d tables\t%d\t\t\n", len(lines), all.Rows)
	_ = table.Flush() // the last line of the command tells whether writing works
}

// steps prints how far a move is, at each twentieth of a phase.
type steps struct {
	out        io.Writer
	phase      movedb.Phase
	last, next int64
}

func (s *steps) tell(p movedb.Progress) {
	if p.Phase != s.phase || p.Done < s.last { // both sides are compared
		s.phase, s.next = p.Phase, 0
	}
	s.last = p.Done
	if p.Done < s.next {
		return
	}
	percent := int64(100)
	if p.Total > 0 {
		percent = 100 * p.Done / p.Total
	}
	_, _ = fmt.Fprintf(s.out, "%s: %3d %%, %d of %d rows\n", p.Phase, percent, p.Done, p.Total)
	s.next = p.Done + max(1, p.Total/20)
}
