package match_test

import (
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/match"
	"watchmark/internal/match/mapping"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/watch"
)

// Relations, mappings and ids keep the number of a subject that was merged; what it was merged into is meant.
func TestMergedSubjectsLeadToTheirTargets(t *testing.T) {
	server, online := newCatalog(t)
	server.AddSubject(
		catalogtest.Subject{ID: 100, Type: catalog.Anime, Name: "星を編む人", NameCN: "织星人", Platform: "TV", Date: "2016-01-04", Eps: 12},
		catalogtest.Subject{ID: 101, Type: catalog.Anime, Name: "星を編む人 第2期", NameCN: "织星人 第二季", Platform: "TV", Date: "2017-01-05", Eps: 12},
		catalogtest.Subject{ID: 901, Type: catalog.Anime, Name: "星を編む人2", MergedInto: 101},
		catalogtest.Subject{ID: 902, Type: catalog.Anime, Name: "星を編む人", RedirectsTo: 100},
		catalogtest.Subject{ID: 903, Type: catalog.Anime, Name: "星を編む人3", MergedInto: 999},
	)
	weekly(server, 100, 1, 12, "2016-01-04")
	weekly(server, 101, 1, 12, "2017-01-05")
	server.AddUnordered(100, catalog.CodeSequel, 902, 903, 901) // itself, nothing, and the second season
	server.AddRelation(101, catalog.CodePrequel, 902)
	rules := newRules(t)
	if _, err := rules.Create(t.Context(), mapping.Mapping{Title: "织星者", SubjectID: 901}); err != nil {
		t.Fatal(err)
	}
	m := match.New(match.Config{Catalog: online, Archive: noArchive, Rules: rules, Dataset: noTable, Options: standard})
	for name, c := range map[string]struct {
		event watch.Event
		want  string
	}{
		"a later season":                  {episode("织星人", 2, 3, ""), "matched 101/10103"},
		"counted into a merged sequel":    {episode("织星人", 1, 15, "2017-01-19"), "matched 101/10103"},
		"by a mapping":                    {episode("织星者", 1, 3, ""), "matched 101/10103"},
		"by the id in the payload":        {with(episode("x", 1, 3, ""), func(e *watch.Event) { e.CatalogSubject = 901 }), "matched 101/10103"},
		"merged into what is not there":   {with(episode("织星人", 1, 3, ""), func(e *watch.Event) { e.CatalogSubject = 903 }), "matched 100/10003"},
		"redirected, and not banned":      {with(episode("x", 1, 3, ""), func(e *watch.Event) { e.CatalogSubject = 902 }), "matched 100/10003"},
		"the season that begins all this": {episode("织星人", 1, 3, ""), "matched 100/10003"},
	} {
		t.Run(name, func(t *testing.T) {
			for range 3 { // relations come in another order each time
				if trace := m.Match(t.Context(), c.event); outcome(trace.Result) != c.want {
					t.Errorf("%s, want %s\n%s", outcome(trace.Result), c.want, brief(trace))
				}
			}
		})
	}
}
