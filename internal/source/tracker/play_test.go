package tracker_test

import (
	"fmt"
	"testing"
	"time"

	"watchmark/internal/testkit/trackertest"
	"watchmark/internal/watch"
)

// told is an event in one line.
func told(e watch.Event) string {
	season, number := "none", "none"
	if e.Season != nil {
		season = fmt.Sprint(*e.Season)
	}
	if e.Episode != nil {
		number = fmt.Sprint(*e.Episode)
	}
	at := "unknown"
	if !e.OccurredAt.IsZero() {
		at = e.OccurredAt.Format(time.RFC3339)
	}
	return fmt.Sprintf("%s %q/%q season %s number %s aired %q at %s series %v item %v id %s", e.Media, e.Title, e.OriginalTitle, season, number, e.AirDate, at, e.SeriesIDs, e.ItemIDs, e.ItemID)
}

// TestTheFormsOfAPlay is upstreams/tracker.md section 4. An empty want is a play that cannot be read.
func TestTheFormsOfAPlay(t *testing.T) {
	for name, c := range map[string]struct{ raw, want string }{
		"an episode": {
			`{"id":9876543210123,"watched_at":"2026-05-01T12:34:56.000Z","action":"scrobble","type":"episode","episode":{"season":1,"number":3,"title":"Third","ids":{"trakt":33,"tvdb":44,"imdb":"tt55","tmdb":66}},"show":{"title":"Example","year":2023,"ids":{"slug":"example","tvdb":2,"imdb":"tt3","tmdb":4}}}`,
			`episode "Example"/"" season 1 number 3 aired "" at 2026-05-01T12:34:56Z series map[imdb:tt3 tmdb:4 tvdb:2] item map[imdb:tt55 tmdb:66 tvdb:44] id 9876543210123`, // the year of the show is not its date
		},
		"ids that are none": {
			`{"id":1,"watched_at":"2026-05-01T12:34:56.000Z","type":"episode","episode":{"season":1,"number":3,"ids":{"tvdb":null,"imdb":"","tmdb":0}},"show":{"title":"Example","ids":null}}`,
			`episode "Example"/"" season 1 number 3 aired "" at 2026-05-01T12:34:56Z series map[] item map[] id 1`,
		},
		"a special": {
			`{"id":1,"watched_at":"1970-01-01T00:00:00.000Z","type":"episode","episode":{"season":0,"number":2,"first_aired":"2024-03-01"},"show":{"title":"Example"}}`,
			`episode "Example"/"" season 0 number 2 aired "2024-03-01" at unknown series map[] item map[] id 1`,
		},
		"of no season, late at night": {
			`{"id":1,"watched_at":"yesterday","type":"episode","episode":{"season":null,"number":1071,"first_aired":"2024-03-01T15:30:00.000Z"},"show":{"title":"Example","original_title":"例","airs":{"timezone":"Asia/Tokyo"}}}`,
			`episode "Example"/"例" season none number 1071 aired "2024-03-02" at unknown series map[] item map[] id 1`,
		},
		"in a zone nobody knows": {
			`{"id":1,"type":"episode","episode":{"season":1,"number":1,"first_aired":"2024-03-01T15:30:00.000Z"},"show":{"title":"Example","airs":{"timezone":"Nowhere"}}}`,
			`episode "Example"/"" season 1 number 1 aired "2024-03-01" at unknown series map[] item map[] id 1`,
		},
		"a title in its own language only": {
			`{"id":1,"type":"episode","episode":{"season":1,"number":1},"show":{"title":null,"original_title":"例"}}`,
			`episode "例"/"例" season 1 number 1 aired "" at unknown series map[] item map[] id 1`,
		},
		"a film of a year": {
			`{"id":1,"type":"movie","movie":{"title":"Film","year":2020,"ids":{"tmdb":9}}}`,
			`movie "Film"/"" season none number none aired "2020" at unknown series map[] item map[tmdb:9] id 1`,
		},
		"a film of a day": {
			`{"id":1,"type":"movie","movie":{"title":"Film","year":2020,"released":"2020-02-02"},"episode":{"season":1,"number":1}}`,
			`movie "Film"/"" season none number none aired "2020-02-02" at unknown series map[] item map[] id 1`,
		},
		"no number":      {raw: `{"id":1,"type":"episode","episode":{"season":1,"number":null},"show":{"title":"Example"}}`},
		"no show":        {raw: `{"id":1,"type":"episode","episode":{"season":1,"number":1}}`},
		"no title":       {raw: `{"id":1,"type":"movie","movie":{"ids":{"tmdb":9}}}`},
		"a season":       {raw: `{"id":1,"type":"season","show":{"title":"Example"}}`},
		"another form":   {raw: `{"id":1,"type":"episode","episode":[],"show":{"title":"Example"}}`},
		"no id":          {raw: `{"type":"movie","movie":{"title":"Film"}}`},
		"an id of words": {raw: `{"id":"one","type":"movie","movie":{"title":"Film"}}`},
		"no object":      {raw: `[1]`},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.signIn(mira)
			r.remote.AddPlays(mira, trackertest.Play{WatchedAt: time.Now(), Kind: "show", Raw: []byte(c.raw)})
			got, _ := r.sync(true)
			if c.want == "" {
				if got.Unreadable != 1 || got.Taken != 0 {
					t.Errorf("got %+v", got)
				}
				return
			}
			events := r.events()
			if len(events) != 1 {
				t.Fatalf("got %+v", got)
			}
			if have := told(events[0]); have != c.want {
				t.Errorf("got  %s\nwant %s", have, c.want)
			}
		})
	}
}
