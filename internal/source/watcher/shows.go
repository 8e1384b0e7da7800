package watcher

import (
	"context"
	"errors"

	"watchmark/internal/match/seriesid"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/source/payload"
)

// showsMost bounds the shows that a login remembers.
const showsMost = 2000

// shows are what a server told of its series, each asked for once.
type shows map[string]mediaserver.Show

// fill gives events of episodes the ids and the original title of their series.
func (s *Service) fill(ctx context.Context, l Login, client mediaserver.Client, known shows, items []*mediaserver.Item) error {
	if len(known)+len(items) > showsMost { // before it is looked for what is missing: what is known of these would be gone, too
		clear(known)
	}
	var missing []string
	asked := map[string]bool{}
	for _, i := range items {
		if id := i.Report.Event.SeriesID; id != "" && !asked[id] {
			asked[id] = true
			if _, there := known[id]; !there {
				missing = append(missing, id)
			}
		}
	}
	if len(missing) > 0 {
		if err := s.learnShows(ctx, l, client, known, missing); err != nil {
			return err
		}
	}
	for _, i := range items {
		e := &i.Report.Event
		show, there := known[e.SeriesID]
		if !there {
			continue
		}
		if e.OriginalTitle == "" {
			e.OriginalTitle = show.Original
		}
		for provider, id := range show.IDs {
			e.SeriesIDs = payload.AddID(e.SeriesIDs, provider, id)
		}
	}
	return nil
}

// learnShows asks a server for series, and remembers them for its webhooks, too.
func (s *Service) learnShows(ctx context.Context, l Login, client mediaserver.Client, known shows, ids []string) error {
	told, err := client.Shows(ctx, ids)
	if errors.Is(err, mediaserver.ErrCannot) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, id := range ids {
		known[id] = mediaserver.Show{} // one that the server does not tell is not asked for again
	}
	var series []seriesid.Series
	for _, show := range told {
		known[show.ID] = show
		series = append(series, seriesid.Series{
			Source: webhookSource(l.Kind), Server: l.ServerID, ID: show.ID, Title: show.Title, Original: show.Original, Year: show.Year, IDs: show.IDs,
		})
	}
	return s.Remember(ctx, series)
}
