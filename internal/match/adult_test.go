package match_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/match"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/watch"
)

// eyes are those of an account, with a note of what was searched.
type eyes struct {
	catalog.Session
	searched []string
}

func (e *eyes) AdultTitles(ctx context.Context, q catalog.SearchQuery) ([]catalog.Subject, error) {
	e.searched = append(e.searched, q.Keyword)
	return e.Session.AdultTitles(ctx, q)
}

// tired are eyes whose token is refused once the search has answered.
type tired struct{ *eyes }

func (t tired) Episodes(ctx context.Context, id catalog.SubjectID) ([]catalog.EpisodeInfo, error) {
	return nil, &catalog.Error{Kind: catalog.ErrUnauthorized}
}

// TestARefusedTokenIsTold: what was weighed without all that the account may see is no reason to say that nothing fits.
func TestARefusedTokenIsTold(t *testing.T) {
	server, _, m := world(t)
	server.SetUser(catalogtest.User{Username: "mira", Token: "mira-token"})
	server.AddSubject(catalogtest.Subject{ID: 700, Type: catalog.Anime, Name: "夜の果樹園", Platform: "TV", Date: "2026-04-07", NSFW: true})
	weekly(server, 700, 1, 2, "2026-04-07")
	me := &eyes{Session: m.Catalog.(*catalog.Client).As("mira-token")}
	for name, c := range map[string]struct {
		event watch.Event
		by    match.Viewer
		want  bool
	}{
		"at the search":         {episode("夜の果樹園", 1, 2, ""), &eyes{Session: m.Catalog.(*catalog.Client).As("gone")}, true},
		"after the search":      {episode("夜の果樹園", 1, 2, ""), tired{me}, true},
		"where it sees all":     {episode("夜の果樹園", 1, 2, ""), me, false},
		"where it is not asked": {episode("灯塔守望者", 1, 99, ""), tired{me}, false},
	} {
		t.Run(name, func(t *testing.T) {
			trace := m.Match(match.SeenBy(t.Context(), c.by), c.event)
			if got := errors.Is(trace.Err, match.ErrViewerRefused); got != c.want {
				t.Errorf("refused is %v: %s\n%s", got, outcome(trace.Result), brief(trace))
			}
		})
	}
}

func TestAdultTitlesAreSearchedByTheAccount(t *testing.T) {
	server, _, m := world(t)
	server.SetUser(catalogtest.User{Username: "mira", Token: "mira-token"})
	server.AddSubject(
		catalogtest.Subject{ID: 700, Type: catalog.Anime, Name: "夜の果樹園", Platform: "TV", Date: "2026-04-07", NSFW: true},
		catalogtest.Subject{ID: 701, Type: catalog.Real, Name: "真夜中の温室", Platform: "日剧", Date: "2026-04-07", NSFW: true},
	)
	weekly(server, 700, 1, 2, "2026-04-07")
	weekly(server, 701, 1, 2, "2026-04-07")
	me := m.Catalog.(*catalog.Client).As("mira-token")
	orchard := episode("夜の果樹園", 1, 2, "")
	for name, c := range map[string]struct {
		event    watch.Event
		by       *eyes
		arbiter  bool
		live     bool
		want     string
		searched []string
	}{
		"found":                     {event: orchard, by: &eyes{Session: me}, want: "matched 700/70002", searched: []string{"夜の果樹園"}},
		"the arbiter hears it":      {event: orchard, by: &eyes{Session: me}, arbiter: true, want: "matched 700/70002", searched: []string{"夜の果樹園"}},
		"a token that is refused":   {event: orchard, by: &eyes{Session: m.Catalog.(*catalog.Client).As("gone")}, want: "not_found", searched: []string{"夜の果樹園"}},
		"a catalog that is away":    {event: orchard, by: &eyes{Session: newClient(t, "http://127.0.0.1:1").As("mira-token")}, want: "unreachable", searched: []string{"夜の果樹園"}},
		"nobody to ask":             {event: orchard, want: "not_found"},
		"live action":               {event: episode("真夜中の温室", 1, 1, ""), by: &eyes{Session: me}, live: true, want: "matched 701/70101", searched: []string{"真夜中の温室"}},
		"live action is off":        {event: episode("真夜中の温室", 1, 1, ""), by: &eyes{Session: me}, want: "not_found", searched: []string{"真夜中の温室"}},
		"what is sure is enough":    {event: episode("灯塔守望者", 1, 2, ""), by: &eyes{Session: me}, want: "matched 100/10002"},
		"for the arbiter, too":      {event: episode("灯塔守望者", 1, 2, ""), by: &eyes{Session: me}, arbiter: true, want: "matched 100/10002"},
		"a show without that":       {event: episode("灯塔守望者", 1, 99, ""), by: &eyes{Session: me}, want: "episode_not_found 100"},
		"an id that is wrong":       {event: with(orchard, func(e *watch.Event) { e.CatalogSubject = 115 }), by: &eyes{Session: me}, want: "not_found"},
		"several titles":            {event: with(episode("夜の果樹園 第2期", 1, 1, ""), func(e *watch.Event) { e.OriginalTitle, e.SeasonTitle = "Night Orchard 2nd Season", "さくらんぼ" }), by: &eyes{Session: me}, want: "not_found", searched: []string{"夜の果樹園 第2期", "night orchard 2nd season", "さくらんぼ"}},
		"without the season's mark": {event: with(orchard, func(e *watch.Event) { e.Title = "夜の果樹園 2" }), by: &eyes{Session: me}, want: "not_found", searched: []string{"夜の果樹園 2", "夜の果樹園"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := match.New(m.Config)
			m.Options = func() match.Options {
				return match.Options{Thresholds: asItComes, Arbiter: c.arbiter, LiveAction: c.live}
			}
			ctx := t.Context()
			var searched []string
			if c.by != nil {
				ctx = match.SeenBy(ctx, c.by)
			}
			trace := m.Match(ctx, c.event)
			if c.by != nil {
				searched = c.by.searched
			}
			if got := outcome(trace.Result); got != c.want || !slices.Equal(searched, c.searched) {
				t.Errorf("%s, want %s; searched %q\n%s", got, c.want, searched, brief(trace))
			}
			if c.want == "unreachable" && !errors.Is(trace.Err, catalog.ErrUnreachable) {
				t.Errorf("the error is %v", trace.Err)
			}
		})
	}
}
