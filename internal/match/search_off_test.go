package match_test

import (
	"errors"
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/match"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/watch"
)

// While the search of Bangumi is switched off the old one may find the entry; what it does not find waits.
func TestSearchSwitchedOff(t *testing.T) {
	server, base := catalogtest.Start(t, catalogtest.Config{SearchOff: true})
	server.AddSubject(
		catalogtest.Subject{ID: 100, Type: catalog.Anime, Name: "星を編む人", NameCN: "织星人", Platform: "TV", Date: "2016-01-04", Eps: 12},
		catalogtest.Subject{ID: 200, Type: catalog.Anime, Name: "織る人の長い長い旅路", NameCN: "旅", Platform: "OVA", Date: "1999-01-04", Eps: 1},
	)
	weekly(server, 100, 1, 12, "2016-01-04")
	m := match.New(match.Config{Catalog: newClient(t, base), Archive: noArchive, Rules: newRules(t), Dataset: noTable, Options: standard})
	for name, c := range map[string]struct {
		event watch.Event
		want  match.Status
	}{
		"found by the old search":            {episode("织星人", 1, 3, "2016-01-18"), match.Matched},
		"found by neither":                   {episode("全新旅程", 1, 3, ""), match.Unreachable},
		"the old search has another one":     {episode("織る人の長い長い旅路 外伝", 3, 3, "2020-01-18"), match.Unreachable},
		"a film of which it has another one": {with(episode("旅", 1, 1, "2024-05-05"), func(e *watch.Event) { e.Media = watch.Movie }), match.Unreachable},
	} {
		trace := m.Match(t.Context(), c.event)
		if trace.Result.Status != c.want {
			t.Errorf("%s: %s, want %s\n%s", name, trace.Result.Status, c.want, brief(trace))
		}
		if c.want == match.Unreachable && (trace.Result.Reason.Code != "catalog_search_off" || !errors.Is(trace.Err, catalog.ErrUnreachable) || !catalog.Asked(trace.Err)) {
			t.Errorf("%s: %q, %v", name, trace.Result.Reason, trace.Err)
		}
	}
}
