package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"watchmark/internal/app"
	"watchmark/internal/match"
	"watchmark/internal/watch"
)

type matchCommand struct {
	dataFlags
	Title    string    `arg:"" help:"The title as the media server shows it."`
	Original string    `help:"The title in its original language." placeholder:"TITLE"`
	Season   int       `help:"Season number; 0 is specials." default:"1" placeholder:"N"`
	Episode  float64   `help:"Episode number." default:"1" placeholder:"N"`
	Date     string    `help:"Air date of the episode, such as 2024-05-19, or what is known of it, such as 2024." placeholder:"DATE"`
	Movie    bool      `help:"The title is a film."`
	ID       watch.IDs `name:"id" help:"Id of the show, or of the film, on another site, such as tmdb=1429; may be given several times." placeholder:"SITE=ID"`
	JSON     bool      `name:"json" help:"Print the steps as JSON."`
}

// errUnreachable ends a match that could not be finished.
var errUnreachable = errors.New("cannot reach Bangumi: check catalog.api_url and network.proxy in the settings, or try later")

// Run matches the title against the catalog that the settings name and prints the trace.
func (c matchCommand) Run(ctx context.Context, std standard) error {
	date := watch.ParseDate(c.Date)
	if date.String() != c.Date { // it drops what is none
		return fmt.Errorf("--date: %q is not a date such as 2024-05-19", c.Date)
	}
	event := watch.Event{
		Source: watch.Custom, Action: watch.Watched, Media: watch.Episode, Title: strings.TrimSpace(c.Title), OriginalTitle: c.Original,
		Season: &c.Season, Episode: &c.Episode, AirDate: date,
	}
	if c.Movie {
		event.Media, event.Season, event.Episode, event.ItemIDs = watch.Movie, nil, nil, c.ID
	} else {
		event.SeriesIDs = c.ID
	}
	if err := event.Validate(); err != nil {
		return err
	}
	if _, err := os.Stat(c.Data); errors.Is(err, fs.ErrNotExist) { // a mistyped one, perhaps
		_, _ = fmt.Fprintf(std.err, "watchmark: there is no data folder %s: matched without your mappings and without an archive.\n", c.Data)
	}
	return withoutTrace(ctx, c.options(std.err), func(data *app.Data) error {
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
