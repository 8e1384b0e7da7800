package seriesid

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"testing"

	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/watch"
)

// series is one of the server "attic", a Jellyfin.
func series(id, title string, ids watch.IDs) Series {
	return Series{Source: watch.Jellyfin, Server: "attic", ID: id, Title: title, IDs: ids}
}

// event is an episode of a series of that server that has no ids.
func event(id, title string, change ...func(*watch.Event)) watch.Event {
	e := watch.Event{
		Source: watch.Jellyfin, Action: watch.Watched, Media: watch.Episode, Title: title, Season: new(2), Episode: new(3.0),
		ServerID: "attic", ServerName: "Attic", SeriesID: id, ItemIDs: watch.IDs{"tvdb": "77"}, AirDate: watch.Date{Year: 2020, Month: 4, Day: 18},
	}
	for _, c := range change {
		c(&e)
	}
	return e
}

func TestWhichSeriesIsMeant(t *testing.T) {
	star, other := watch.IDs{"tvdb": "500", "imdb": "tt1", "bangumi": "9001"}, watch.IDs{"tvdb": "600"}
	year := func(s Series, n int) Series { s.Year = n; return s }
	original := func(s Series, text string) Series { s.Original = text; return s }
	for name, c := range map[string]struct {
		remembered []Series
		event      watch.Event
		want       watch.IDs
	}{
		"the series itself":                       {[]Series{series("1", "Star", star)}, event("1", "Star"), watch.IDs{"tvdb": "500"}},
		"an event that names no series":           {[]Series{series("1", "Star", star)}, event("", "Star"), watch.IDs{"tvdb": "500"}},
		"ids of a template":                       {[]Series{series("77aa", "Star", star)}, event("77-AA", "Star", func(e *watch.Event) { e.ServerID = "At-tic" }), watch.IDs{"tvdb": "500"}},
		"another title":                           {[]Series{series("1", "Star", star)}, event("1", "Stars"), nil},
		"another series of the title":             {[]Series{series("1", "Star", star)}, event("2", "Star"), nil},
		"another server":                          {[]Series{series("1", "Star", star)}, event("1", "Star", func(e *watch.Event) { e.ServerID = "cellar" }), nil},
		"another kind of server":                  {[]Series{series("1", "Star", star)}, event("1", "Star", func(e *watch.Event) { e.Source = watch.Emby }), nil},
		"an event that does not name its server":  {[]Series{series("1", "Star", star)}, event("1", "Star", func(e *watch.Event) { e.ServerID = "" }), nil},
		"an event with ids of its own":            {[]Series{series("1", "Star", star)}, event("1", "Star", func(e *watch.Event) { e.SeriesIDs = other }), nil},
		"an event with ids that lead nowhere":     {[]Series{series("1", "Star", star)}, event("1", "Star", func(e *watch.Event) { e.SeriesIDs = watch.IDs{"imdb": "tt1"} }), watch.IDs{"tvdb": "500"}},
		"a film":                                  {[]Series{series("1", "Star", star)}, event("1", "Star", func(e *watch.Event) { e.Media, e.Season, e.Episode = watch.Movie, nil, nil }), nil},
		"two of a title, and one is named":        {[]Series{series("1", "Star", star), series("2", "Star", other)}, event("2", "Star"), other},
		"two of a title, and neither is named":    {[]Series{series("1", "Star", star), series("2", "Star", other)}, event("", "Star"), nil},
		"two of a title that are the same":        {[]Series{series("1", "Star", star), series("2", "Star", watch.IDs{"tvdb": "500", "tmdb": "5"})}, event("", "Star"), watch.IDs{"tvdb": "500"}},
		"two of a title, and one has no ids":      {[]Series{series("1", "Star", star), series("2", "Star", nil)}, event("", "Star"), nil},
		"two of a title, and the year tells":      {[]Series{year(series("1", "Star", star), 2001), year(series("2", "Star", other), 2024)}, event("", "Star"), watch.IDs{"tvdb": "500"}},
		"an episode from before the series":       {[]Series{year(series("1", "Star", star), 2022)}, event("1", "Star"), nil},
		"a special from before the series":        {[]Series{year(series("1", "Star", star), 2022)}, event("1", "Star", func(e *watch.Event) { e.Season = new(0) }), watch.IDs{"tvdb": "500"}},
		"an original title that contradicts":      {[]Series{original(series("1", "Star", star), "星の標")}, event("1", "Star", func(e *watch.Event) { e.OriginalTitle = "二つの道" }), nil},
		"an original title that agrees":           {[]Series{original(series("1", "Star", star), "星の標")}, event("1", "Star", func(e *watch.Event) { e.OriginalTitle = "星の標 " }), watch.IDs{"tvdb": "500"}},
		"the newest word of a series counts":      {[]Series{series("1", "Star", star), series("1", "Star", other)}, event("", "Star"), other},
		"a series that lost its ids":              {[]Series{series("1", "Star", star), series("1", "Star", nil)}, event("1", "Star"), nil},
		"a series that was renamed":               {[]Series{series("1", "Star", star), series("1", "Comet", star)}, event("1", "Star"), nil},
		"what has no id on the server":            {[]Series{series("", "Star", star)}, event("", "Star"), nil},
		"what is told later without its original": {[]Series{original(series("1", "Star", star), "星の標"), series("1", "Star", star)}, event("1", "Star", func(e *watch.Event) { e.OriginalTitle = "二つの道" }), nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewStore(dbtest.Open(t))
			if err := s.Remember(t.Context(), c.remembered); err != nil {
				t.Fatal(err)
			}
			got, from, err := s.Find(t.Context(), c.event)
			if err != nil || !maps.Equal(got, c.want) || (from.Code == fromImport.Code()) != (c.want != nil) {
				t.Errorf("found %v (%s), %v; want %v", got, from.Code, err, c.want)
			}
		})
	}
}

func TestAnEventTeachesItsIDs(t *testing.T) {
	s := NewStore(dbtest.Open(t))
	learn := func(e watch.Event) {
		t.Helper()
		err := s.db.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error { return LearnTx(ctx, tx, e) })
		if err != nil {
			t.Fatal(err)
		}
	}
	withIDs := event("1", "Star", func(e *watch.Event) { e.SeriesIDs = watch.IDs{"tvdb": "500"} })
	learn(withIDs)
	learn(event("1", "Star")) // one without ids takes nothing back
	ids, from, err := s.Find(t.Context(), event("1", "Star"))
	if err != nil || ids["tvdb"] != "500" || from.Code != fromEvent.Code() {
		t.Errorf("found %v (%s), %v", ids, from.Code, err)
	}
}

func TestTooManySeriesAreForgotten(t *testing.T) {
	s := NewStore(dbtest.Open(t))
	var all []Series
	for n := range alikeMost + 2 {
		all = append(all, series(fmt.Sprint(n), "Star", watch.IDs{"tvdb": "500"}))
	}
	if err := s.Remember(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	if ids, _, err := s.Find(t.Context(), event("", "Star")); err != nil || ids != nil {
		t.Errorf("of too many series of one title these are used: %v, %v", ids, err)
	}
	for _, want := range []int64{5, 5, 0} {
		if n, err := s.prune(t.Context(), 2, 5); err != nil || n != want {
			t.Errorf("%d are forgotten, not %d: %v", n, want, err)
		}
	}
	if ids, _, err := s.Find(t.Context(), event("11", "Star")); err != nil || ids == nil {
		t.Errorf("the newest is forgotten: %v", err)
	}
	if ids, _, err := s.Find(t.Context(), event("1", "Star")); err != nil || ids != nil {
		t.Errorf("an old one is kept: %v, %v", ids, err)
	}
}
