package engine_test

import (
	"testing"
	"time"

	"watchmark/internal/engine"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

func TestWhatWasWatchedJustNow(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		event watch.Event
		test  bool
		live  bool
	}{
		"a webhook that tells no time":  {watch.Event{Source: watch.Plex}, false, true},
		"a play of yesterday":           {watch.Event{Source: watch.Tracker, OccurredAt: now.Add(-47 * time.Hour)}, false, true},
		"a play of before":              {watch.Event{Source: watch.Tracker, OccurredAt: now.Add(-49 * time.Hour)}, false, false},
		"a webhook of an old play":      {watch.Event{Source: watch.Jellyfin, OccurredAt: now.Add(-49 * time.Hour)}, false, false},
		"an import that tells no time":  {watch.Event{Source: watch.Emby, RawEvent: watch.FromHistory}, false, false},
		"a file that tells no time":     {watch.Event{Source: watch.File, RawEvent: watch.FromHistory}, false, false},
		"a library that tells no time":  {watch.Event{Source: watch.NAS}, false, false},
		"a test":                        {watch.Event{Source: watch.Plex}, true, false},
		"a clock that goes before ours": {watch.Event{Source: watch.Jellyfin, OccurredAt: now.Add(time.Hour)}, false, true},
		"a start, which is no play":     {watch.Event{Source: watch.Plex, Action: watch.Started}, false, false},
	} {
		if c.event.Action == "" {
			c.event.Action = watch.Watched
		}
		if got := engine.IsLive(record.Work{Record: record.Record{Source: c.event.Source, Test: c.test, CreatedAt: now}, Event: c.event}); got != c.live {
			t.Errorf("%s: %t", name, got)
		}
	}
}
