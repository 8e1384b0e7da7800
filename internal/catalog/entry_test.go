package catalog_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/catalogtest"
)

// A 404 tells what is missing, and only that there is no entry makes one.
func TestNotCollectedIsReadFromItsWords(t *testing.T) {
	const nobody, nowhere, nothing = `{"description":"user doesn't exist or has been removed"}`,
		`{"description":"resource can't be found in the database or has been removed"}`, `{"description":"subject is not collected by user"}`
	for _, c := range []struct {
		name  string
		says  []string // the first answers for the entry
		known bool
		kind  error
		asked int
		me    int
		wrote []string
	}{
		{"not collected, unknown before", []string{nothing}, false, nil, 1, 0, []string{"POST 100 3", "PUT 1001 2"}},
		{"not collected once, known before", []string{nothing}, true, nil, 2, 0, []string{}},
		{"not collected twice, known before", []string{nothing, nothing}, true, nil, 2, 0, []string{"POST 100 3", "PUT 1001 2"}},
		{"another user name", []string{nobody}, false, nil, 2, 1, []string{}},
		{"no such user, who owns the token", []string{nobody, nobody}, false, catalog.ErrUnreachable, 2, 1, []string{}},
		{"no such subject", []string{nowhere}, false, catalog.ErrNotFound, 1, 0, []string{}},
		{"no words", []string{`{}`}, false, nil, 2, 1, []string{}},
		{"no words twice", []string{`{}`, `{}`}, false, nil, 2, 1, []string{"POST 100 3", "PUT 1001 2"}},
		{"not in the catalog's form", []string{``}, false, catalog.ErrUnreachable, 1, 0, []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var asked, me atomic.Int64
			s, client := between(t, 0, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				switch {
				case r.URL.Path == "/v0/me":
					me.Add(1)
				case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/mira/collections/100"):
					if n := asked.Add(1); int(n) <= len(c.says) {
						say(404, asJSON, c.says[n-1])(w, r)
						return
					}
				}
				next.ServeHTTP(w, r)
			})
			if len(c.wrote) == 0 {
				must(t, s.Collect("mira", 100, catalog.Done, false))
			}
			entry := entryOf(client, 100)
			entry.Known = func(context.Context) bool { return c.known }
			_, err := catalog.NewMarker().Mark(t.Context(), catalog.MarkRequest{ListEntry: entry, Episodes: []catalog.EpisodeID{1001}})
			if !errors.Is(err, c.kind) || int(asked.Load()) != c.asked || int(me.Load()) != c.me {
				t.Errorf("%v, asked for the entry %d times and for the name %d times", err, asked.Load(), me.Load())
			}
			if diff := cmp.Diff(c.wrote, wrote(s)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A locked subject takes marks, and no change of its entry.
func TestLockedSubjects(t *testing.T) {
	for _, c := range []struct {
		name    string
		entry   catalog.CollectionType
		want    []string
		refused bool
	}{
		{"doing", catalog.Doing, []string{"PUT 1101 2"}, false},
		{"dropped", catalog.Dropped, []string{"PUT 1101 2"}, false},
		{"on hold", catalog.OnHold, []string{"PUT 1101 2"}, false},
		{"wish", catalog.Wish, []string{"PUT 1101 2"}, false},
		{"not collected", 0, []string{}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, client := house(t, catalogtest.Config{})
			s.AddSubject(catalogtest.Subject{ID: 110, Type: catalog.Anime, Name: "鍵", Locked: true})
			s.AddEpisodes(110, catalogtest.Episode{ID: 1101, Sort: 1}, catalogtest.Episode{ID: 1102, Sort: 2})
			if c.entry != 0 {
				must(t, s.Collect("mira", 110, c.entry, false))
			}
			got, err := catalog.NewMarker().Mark(t.Context(), catalog.MarkRequest{ListEntry: entryOf(client, 110), Episodes: []catalog.EpisodeID{1101}})
			if errors.Is(err, catalog.ErrNotFound) != c.refused || !c.refused && (err != nil || already(got) != "1101 marked" || got.Moved || got.Created) {
				t.Errorf("%+v, %v", got, err)
			}
			if (got.NotMoved != nil) != (c.entry == catalog.OnHold || c.entry == catalog.Wish) {
				t.Errorf("told %v", got.NotMoved)
			}
			if diff := cmp.Diff(c.want, wrote(s)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
