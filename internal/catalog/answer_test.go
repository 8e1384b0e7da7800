package catalog_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/testkit/catalogtest"
)

// What is not an answer of the catalog's is an outage, whatever its status.
func TestOnlyDocumentedAnswersAreRead(t *testing.T) {
	reads := map[string]func(*testing.T, *catalog.Client) error{
		"subject":   func(t *testing.T, c *catalog.Client) error { _, err := c.Subject(t.Context(), 8); return err },
		"episode":   func(t *testing.T, c *catalog.Client) error { _, err := c.Episode(t.Context(), 8); return err },
		"episodes":  func(t *testing.T, c *catalog.Client) error { _, err := c.Episodes(t.Context(), 8); return err },
		"relations": func(t *testing.T, c *catalog.Client) error { _, err := c.Relations(t.Context(), 8); return err },
		"search": func(t *testing.T, c *catalog.Client) error {
			_, err := c.Search(t.Context(), catalog.SearchQuery{Keyword: "x"})
			return err
		},
		"me": func(t *testing.T, c *catalog.Client) error { _, err := c.As(token).Me(t.Context()); return err },
		"list": func(t *testing.T, c *catalog.Client) error {
			_, err := c.As(token).Collections(t.Context(), "mira", catalog.Anime, catalog.Doing)
			return err
		},
		"entry": func(t *testing.T, c *catalog.Client) error {
			entry := entryOf(c, 8)
			_, err := entry.Watched(t.Context())
			return err
		},
	}
	answers := map[string]http.HandlerFunc{
		"nothing":              say(200, asJSON, ``),
		"null":                 say(200, asJSON, `null`),
		"an empty object":      say(200, asJSON, `{}`),
		"an error":             say(200, asJSON, `{"title":"Internal Server Error","description":"it is broken"}`),
		"a list that has gone": say(200, asJSON, `{"data":null,"total":99}`),
		"a list of nobody":     say(200, asJSON, `{"data":[{}],"total":1}`),
		"an array of nobody":   say(200, asJSON, `[{}]`),
		"accepted":             say(202, asJSON, `{"id":8,"subject_id":8,"type":2,"username":"mira","data":[],"total":0}`),
		"no content":           status(204, ""),
		"not in JSON":          say(404, "text/plain", `404 page not found`),
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://elsewhere.example"+r.URL.Path, http.StatusFound)
		},
	}
	for what, read := range reads {
		for name, answer := range answers {
			t.Run(what+"/"+name, func(t *testing.T) {
				if err := read(t, answering(t, answer)); !errors.Is(err, catalog.ErrUnreachable) {
					t.Errorf("%v", err)
				}
			})
		}
	}
}

// Somebody else must not answer in the catalog's place.
func TestNothingIsReadFromAnotherHost(t *testing.T) {
	var asked atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		say(200, asJSON, `{"id":8,"type":2,"name":"somebody else's"}`)(w, r)
	}))
	t.Cleanup(other.Close)
	c := answering(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusFound)
	})
	if s, err := c.Subject(t.Context(), 8); !errors.Is(err, catalog.ErrUnreachable) || asked.Load() != 0 {
		t.Errorf("%+v, %v, asked %d times", s, err, asked.Load())
	}
}

// A mirror below a path of its own passes the catalog's redirect on as it is.
func TestMergesBehindAMirror(t *testing.T) {
	s, _ := house(t, catalogtest.Config{})
	mirror := httptest.NewServer(http.StripPrefix("/mirror", s))
	t.Cleanup(mirror.Close)
	if got, err := connect(t, mirror.URL+"/mirror", 0).Subject(t.Context(), 103); err != nil || got.ID != 100 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestOnlyDocumentedAnswersCountAsWritten(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"200 without a body": say(200, asJSON, ``),
		"200 with an error":  say(200, asJSON, `{"title":"Bad Request","description":"no"}`),
		"202 with a text":    say(202, "text/plain", `accepted`),
		"204 of a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://elsewhere.example/", http.StatusSeeOther)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var lost atomic.Bool
			s, c := between(t, 0, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				switch {
				case r.Method == http.MethodGet:
					next.ServeHTTP(w, r)
				case lost.Load():
					answer(w, r)
				default:
					stored(r, next)
					answer(w, r)
				}
			})
			must(t, s.Collect("mira", 100, catalog.Doing, false))
			mark := func(episode catalog.EpisodeID) error {
				_, err := catalog.NewMarker().Mark(t.Context(), catalog.MarkRequest{ListEntry: entryOf(c, 100), Episodes: []catalog.EpisodeID{episode}})
				return err
			}
			if err := mark(1001); err != nil {
				t.Errorf("what was stored was not read back: %v", err)
			}
			lost.Store(true)
			if err := mark(1002); !errors.Is(err, catalog.ErrUnreachable) || len(s.Marks()) != 1 {
				t.Errorf("%v, marks %v", err, s.Marks())
			}
		})
	}
}

// Millions of empty rows fit into the bytes that an answer may have.
func TestListsAreBoundedInRows(t *testing.T) {
	body := `{"data":[` + strings.Repeat(`{},`, 2_500_000) + `{}],"total":1}`
	c := answering(t, say(200, asJSON, body))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for name, read := range map[string]func() error{
		"episodes": func() error { _, err := c.Episodes(t.Context(), 8); return err },
		"search":   func() error { _, err := c.Search(t.Context(), catalog.SearchQuery{Keyword: "x"}); return err },
		"list": func() error {
			_, err := c.As(token).Collections(t.Context(), "mira", catalog.Anime, catalog.Doing)
			return err
		},
	} {
		if err := read(); !errors.Is(err, catalog.ErrUnreachable) || !errors.Is(err, httpx.ErrTooMany) {
			t.Errorf("%s: %v", name, err)
		}
	}
	runtime.ReadMemStats(&after)
	if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 250 {
		t.Errorf("%d MiB were allocated for answers of %d MiB", took, 3*len(body)>>20)
	}
}
