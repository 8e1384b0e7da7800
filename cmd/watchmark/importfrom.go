package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"

	"watchmark/internal/app"
	"watchmark/internal/upkeep/movein"
)

type importFromCommand struct {
	BangumiSyncer importFromSyncer `cmd:"" name:"bangumi-syncer" help:"Settings, accounts, mappings, blocked words, notifications and history of Bangumi-syncer."`
}

type importFromSyncer struct {
	dataFlags
	DryRun bool   `help:"Only show what would be taken. It changes nothing, and the service may be running."`
	Yes    bool   `help:"Take it without asking."`
	Dir    string `arg:"" help:"The folder of Bangumi-syncer, or the one that its container mounts config and data from. Nothing is written there." type:"path"`
}

// Run shows what the folder holds, asks, and takes it.
func (c importFromSyncer) Run(ctx context.Context, std standard) error {
	options := c.options(std.err)
	if c.DryRun {
		aside, remove, err := app.Aside(ctx, options)
		if err != nil {
			return err
		}
		defer func() { _ = remove() }() // it is in the folder for temporary files
		options = aside
	}
	agreed := false
	report, err := app.MoveIn(ctx, options, c.Dir, func(files []string, preview movein.Report) (bool, error) {
		_, _ = fmt.Fprintf(std.out, "Read: %s\n", strings.Join(files, ", "))
		printMove(std.out, preview, "would be taken")
		switch {
		case !preview.Takes():
			_, _ = fmt.Fprintln(std.out, "\nThere is nothing to take that is not here already.")
		case c.DryRun:
			_, _ = fmt.Fprintln(std.out, "\nNothing was taken: run it without --dry-run for that.")
		case c.Yes:
			agreed = true
		default:
			_, _ = fmt.Fprint(std.err, "\nTake it? [y/N] ")
			answer, err := bufio.NewReader(std.in).ReadString('\n')
			if err != nil && answer == "" {
				return false, errors.New("nobody answered, nothing was taken: answer y, or add --yes")
			}
			answer = strings.ToLower(strings.TrimSpace(answer))
			if agreed = answer == "y" || answer == "yes"; !agreed {
				_, _ = fmt.Fprintln(std.out, "Nothing was taken.")
			}
		}
		return agreed, nil
	})
	if err != nil || !agreed {
		return err
	}
	_, _ = fmt.Fprintln(std.out, "\nDone:")
	printMove(std.out, movein.Report{Parts: report.Parts, History: report.History}, "taken")
	_, err = fmt.Fprint(std.out, nextSteps)
	return err
}

const nextSteps = `
Next: start the service and look at the pages People and Records. So that media servers need no change, switch on
server.legacy_paths and let the service listen on their port (/docs/moving on the pages of the service).
`

// fateWords are said of what is not taken.
var fateWords = map[movein.Fate]string{movein.Same: "here already", movein.Kept: "kept yours", movein.Refused: "cannot be taken"}

// longestPart is how many lines of a part are printed one by one.
const longestPart = 40

// printMove prints a report; takes says what becomes of what is new.
func printMove(out io.Writer, r movein.Report, takes string) {
	for _, part := range r.Parts {
		_, _ = fmt.Fprintf(out, "\n%s\n", part.Name)
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		counts := map[movein.Fate]int{}
		for _, line := range part.Lines {
			counts[line.Fate]++
			if (line.Fate == movein.Takes || line.Fate == movein.Same) && len(part.Lines) > longestPart {
				continue
			}
			word := takes
			if line.Fate != movein.Takes {
				word = fateWords[line.Fate]
			}
			_, _ = fmt.Fprintf(table, "  %s\t%s\t%s\n", readable(line.What), word, readable(line.Note))
		}
		_ = table.Flush() // out fails, or does not, with the last line
		if len(part.Lines) > longestPart {
			_, _ = fmt.Fprintf(out, "  %d %s, %d %s\n", counts[movein.Takes], takes, counts[movein.Same], fateWords[movein.Same])
		}
	}
	if h := r.History; h != (movein.History{}) {
		_, _ = fmt.Fprintf(out, "\nHistory\n  %d records %s as they came out; they are not marked again\n", h.Past, takes)
		for _, count := range []struct {
			n    int
			what string
		}{
			{h.Open, "watches that waited there " + takes + ", to be marked when the service runs"},
			{h.Known, "records here already"},
			{h.Unusable, "rows cannot be taken: they lack a title, a time, or a number that can be"},
		} {
			if count.n > 0 {
				_, _ = fmt.Fprintf(out, "  %d %s\n", count.n, count.what)
			}
		}
	}
	if len(r.Left) > 0 {
		_, _ = fmt.Fprintln(out, "\nNot taken")
		for _, left := range r.Left {
			_, _ = fmt.Fprintf(out, "  %s: %s\n", readable(left.What), readable(left.Why))
		}
	}
}

// readable is a text of a foreign file as a terminal may get it.
func readable(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > 300 {
		return string(runes[:300]) + "…"
	}
	return text
}
