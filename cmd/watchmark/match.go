package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"watchmark/internal/app"
	"watchmark/internal/match"
	"watchmark/internal/watch"
)

type matchCommand struct {
	dataFlags
	Title    string  `arg:"" help:"The title as the media server shows it."`
	Original string  `help:"The title in its original language."`
	Season   int     `help:"Season number; 0 is specials." default:"1"`
	Episode  float64 `help:"Episode number." default:"1"`
	Date     string  `help:"Air date of the episode, such as 2024-05-19."`
	Movie    bool    `help:"The title is a film."`
	JSON     bool    `name:"json" help:"Print the trace as JSON."`
}

// errUnreachable ends a match that could not be finished.
var errUnreachable = errors.New("the catalog could not be asked: check catalog.api_url and network.proxy in the settings, or try later")

// Run matches the title against the catalog that the settings name and prints the trace.
func (c matchCommand) Run(ctx context.Context, std standard) error {
	event := watch.Event{
		Source: watch.Custom, Action: watch.Watched, Media: watch.Episode, Title: strings.TrimSpace(c.Title), OriginalTitle: c.Original,
		Season: &c.Season, Episode: &c.Episode, AirDate: watch.ParseDate(c.Date),
	}
	if c.Date != "" && event.AirDate.IsZero() {
		return fmt.Errorf("--date: %q is not a date such as 2024-05-19", c.Date)
	}
	if c.Movie {
		event.Media, event.Season, event.Episode = watch.Movie, nil, nil
	}
	if err := event.Validate(); err != nil {
		return err
	}
	return withData(ctx, c.options(std.err), func(data *app.Data) error {
		trace := data.Matcher().Match(ctx, event)
		if err := c.print(std.out, trace); err != nil {
			return err
		}
		if trace.Result.Status == match.Unreachable {
			return errUnreachable
		}
		return nil
	})
}

func (c matchCommand) print(out io.Writer, t match.Trace) error {
	if !c.JSON {
		return printTrace(out, t)
	}
	return printJSON(out, t)
}

// printJSON writes v for scripts, and for people who read it.
func printJSON(out io.Writer, v any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

// printTrace writes the trace for a person.
func printTrace(out io.Writer, t match.Trace) error {
	var b strings.Builder
	for _, step := range t.Steps {
		fmt.Fprintf(&b, "%-10s %-7s %8.1f ms\n", step.Name, step.Status, step.ElapsedMS)
		for _, c := range step.Candidates {
			fmt.Fprintf(&b, "    %.2f  %d  %s", c.Score, c.SubjectID, c.Name)
			if c.NameCN != "" && c.NameCN != c.Name {
				fmt.Fprintf(&b, " (%s)", c.NameCN)
			}
			if c.Date != "" {
				fmt.Fprintf(&b, "  %s", c.Date)
			}
			if c.Reason != "" {
				fmt.Fprintf(&b, "\n          %s", c.Reason)
			}
			b.WriteString("\n")
		}
	}
	r := t.Result
	fmt.Fprintf(&b, "\n%s", r.Status)
	if r.SubjectID != 0 {
		fmt.Fprintf(&b, ": %d %s", r.SubjectID, r.SubjectName)
	}
	if r.EpisodeSort != nil {
		fmt.Fprintf(&b, ", episode %g (id %d)", *r.EpisodeSort, r.EpisodeID)
	}
	if r.Confidence > 0 {
		fmt.Fprintf(&b, ", by %s, confidence %.2f", r.Method, r.Confidence)
	}
	fmt.Fprintf(&b, "\n%s\n", r.Reason)
	_, err := io.WriteString(out, b.String())
	return err
}
