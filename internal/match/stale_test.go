package match_test

import (
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/match"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/reason"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/watch"
)

// TestStaleArchive gives the matcher an archive that the catalog has left behind: the
// first part of a show has 12 episodes there, and 13 in the catalog.
func TestStaleArchive(t *testing.T) {
	server, online := newCatalog(t)
	before, archive := newCatalog(t)
	for _, s := range []*catalogtest.Server{server, before} {
		s.AddSubject(
			catalogtest.Subject{ID: 100, Type: catalog.Anime, Name: "星を編む人", NameCN: "织星人", Platform: "TV", Date: "2026-01-04"},
			catalogtest.Subject{ID: 101, Type: catalog.Anime, Name: "星を編む人 第2クール", NameCN: "织星人 第2部分", Platform: "TV", Date: "2026-07-05"},
		)
		weekly(s, 101, 1, 12, "2026-07-05")
		sequel(s, 100, 101)
	}
	weekly(before, 100, 1, 12, "2026-01-04")
	weekly(server, 100, 1, 13, "2026-01-04")
	server.AddSubject(catalogtest.Subject{ID: 102, Type: catalog.Anime, Name: "新しい旅", NameCN: "全新旅程", Platform: "TV", Date: "2026-09-06"})
	weekly(server, 102, 1, 12, "2026-09-06")
	rules := newRules(t)
	if _, err := rules.Create(t.Context(), mapping.Mapping{Title: "织星者", SubjectID: 100}); err != nil {
		t.Fatal(err)
	}
	m := match.New(match.Config{
		Catalog: online, Archive: func() (match.Catalog, reason.Reason) { return archive, reason.Reason{} }, Rules: rules,
		Dataset: noTable, Options: standard,
	})
	named := func(subject, episode int) func(*watch.Event) {
		return func(e *watch.Event) { e.CatalogSubject, e.CatalogEpisode = subject, episode }
	}
	for name, c := range map[string]struct {
		event watch.Event
		want  string
		asked bool // the catalog
	}{
		"an episode of both":                          {episode("织星人", 1, 3, "2026-01-18"), "matched 100/10003", false},
		"the new episode, by its date":                {episode("织星人", 1, 13, "2026-03-29"), "matched 100/10013", true},
		"the new episode, no date":                    {episode("织星人", 1, 13, ""), "matched 100/10013", true},
		"the new episode, the season's date":          {episode("织星人", 1, 13, "2026-01-04"), "matched 100/10013", true},
		"the new episode, by a mapping":               {episode("织星者", 1, 13, ""), "matched 100/10013", true},
		"the new episode, by the subject's id":        {with(episode("x", 1, 13, ""), named(100, 0)), "matched 100/10013", true},
		"the new episode, by its id, another number":  {with(episode("x", 1, 3, ""), named(100, 10013)), "matched 100/10013", true},
		"an old episode by its id":                    {with(episode("x", 1, 9, ""), named(0, 10003)), "matched 100/10003", false},
		"a show that is new":                          {episode("全新旅程", 1, 2, ""), "matched 102/10202", true},
		"a show that neither has":                     {episode("另一段旅程", 1, 2, ""), "not_found", true},
		"counted into the sequel, the date says so":   {episode("织星人", 1, 14, "2026-07-12"), "matched 101/10102", false},
		"counted into the sequel, the catalog counts": {episode("织星人", 1, 14, ""), "matched 101/10101", true},
	} {
		t.Run(name, func(t *testing.T) {
			start := requests(server)
			trace := m.Match(t.Context(), c.event)
			if got := outcome(trace.Result); got != c.want {
				t.Errorf("%s, want %s\n%s", got, c.want, brief(trace))
			}
			if asked := requests(server) > start; asked != c.asked {
				t.Errorf("the catalog was asked: %v\n%s", asked, brief(trace))
			}
		})
	}
}

func TestWhatIsNewerThanTheArchiveIsNotHidden(t *testing.T) {
	server, online := newCatalog(t)
	_, archive := newCatalog(t)
	server.AddSubject(catalogtest.Subject{ID: 102, Type: catalog.Anime, Name: "新しい旅", NameCN: "全新旅程", Platform: "TV", Date: "2026-09-06"})
	weekly(server, 102, 1, 12, "2026-09-06")
	m := match.New(match.Config{
		Catalog: online, Archive: func() (match.Catalog, reason.Reason) { return archive, reason.Reason{} }, Rules: newRules(t), Options: standard,
		Dataset: tableOf(t, []string{"102", "tv/7", "2026-09-06", "新しい旅", "全新旅程"}),
	})
	for name, event := range map[string]watch.Event{
		"by its id":    with(episode("?", 1, 2, ""), ofShow("7")),
		"by its title": episode("全新旅程", 1, 2, ""),
	} {
		if r := m.Match(t.Context(), event).Result; outcome(r) != "matched 102/10202" || r.Method != "dataset" {
			t.Errorf("%s: %s by %s: %s", name, outcome(r), r.Method, r.Reason)
		}
	}
}
