package faults

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/simulated"
)

// evening is a house in which one imports what they have ever watched, while others watch.
type evening struct {
	tb       testing.TB
	catalog  *catalogtest.Server
	url      string // of the catalog
	users    []string
	importer string
	members  []*service

	mu sync.Mutex
	// asked is when the catalog was asked; ofImport counts what was asked because of the import.
	asked    []time.Time
	ofImport int
}

// newEvening has a catalog and no replica yet.
func newEvening(tb testing.TB, persons int) *evening {
	tb.Helper()
	all := usersNamed(persons + 1)
	h := &evening{tb: tb, users: all[:persons], importer: all[persons]}
	h.catalog = catalogtest.New(catalogtest.Config{Users: people(all), AtomicMarks: true})
	must(tb, h.catalog.LoadSample())
	h.url = simulated.Start(tb, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		h.mu.Lock()
		h.asked = append(h.asked, time.Now())
		if bytes.Contains(body, []byte(imported)) {
			h.ofImport++
		}
		h.mu.Unlock()
		h.catalog.ServeHTTP(w, r)
	}))
	return h
}

// imported begins the titles of the import, which nobody else watches and the catalog does not have: each has to be looked for.
const imported = "wanderjahre"

// letters write a number as a word: a number at the end of a title may be that of a season.
var letters = strings.NewReplacer("0", "ba", "1", "ce", "2", "di", "3", "fo", "4", "gu", "5", "ka", "6", "le", "7", "mi", "8", "no", "9", "pu")

// join adds a replica, with what Bangumi may be asked per minute, and at once.
func (h *evening) join(perMinute, burst int, settings ...string) {
	h.tb.Helper()
	program, err := build()
	must(h.tb, err)
	s := newService(h.tb, program, h.tb.TempDir(), append(append(environment(h.url),
		"WATCHMARK_NETWORK_TIMEOUT_SECONDS=10", fmt.Sprintf("WATCHMARK_CATALOG_REQUESTS_PER_MINUTE=%d", perMinute), fmt.Sprintf("WATCHMARK_CATALOG_BURST=%d", burst)), settings...))
	s.start()
	if len(h.members) == 0 {
		s.makeKey()
		s.addAccounts(append(slices.Clone(h.users), h.importer))
	} else {
		s.key = h.members[0].key
	}
	h.members = append(h.members, s)
}

// begin starts an import of n plays, each of another show.
func (h *evening) begin(n int) {
	h.tb.Helper()
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"id":%d,"watched_at":"2024-05-19T12:00:00.000Z","action":"watch","type":"episode","episode":{"season":1,"number":1,"title":"","ids":{"trakt":%[1]d}},
			"show":{"title":"%s %s","year":2024,"ids":{"trakt":%[1]d}}}`, i+1, imported, letters.Replace(fmt.Sprint(i)))
	}
	h.members[0].call(http.StatusAccepted, http.MethodPost, "/api/import/file?format=trakt&user="+url.QueryEscape(h.importer), "["+strings.Join(rows, ",")+"]", nil)
}

// importAsked is how often the catalog was asked because of the import.
func (h *evening) importAsked() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ofImport
}

// inTenMinutes is how often the catalog was asked in ten minutes, at most.
func (h *evening) inTenMinutes() (most int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for from, to := 0, 0; to < len(h.asked); to++ {
		for h.asked[to].Sub(h.asked[from]) > 10*time.Minute {
			from++
		}
		most = max(most, to-from+1)
	}
	return most
}

// watch sends an event to a replica, and answers when its mark is on the list.
func (h *evening) watch(at int, e event) time.Time {
	h.tb.Helper()
	h.members[at%len(h.members)].call(http.StatusAccepted, http.MethodPost, webhookPath, string(e.body()), nil)
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-time.After(5 * time.Millisecond) {
		for _, w := range h.catalog.Writes() {
			if w.Username == e.user && slices.Contains(w.Episodes, e.id) {
				return w.At
			}
		}
	}
	h.tb.Fatalf("what %s watched is not marked", e.user)
	return time.Time{}
}

// evenings are the engines of the database that an evening is played on.
var evenings = []struct {
	name     string
	replicas int
}{{"SQLite", 1}, {"PostgreSQL", 3}}

// settings are those of a replica on the database of an evening.
func eveningOn(tb testing.TB, replicas int) []string {
	tb.Helper()
	if replicas == 1 {
		return nil
	}
	return onServer(durable(tb).URL())
}

func TestAnImportDoesNotDelayWhatIsWatched(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	episodes := certain(t)
	for _, engine := range evenings {
		t.Run(engine.name, func(t *testing.T) {
			h := newEvening(t, 5)
			settings := eveningOn(t, engine.replicas)
			for range engine.replicas {
				h.join(600, 120, settings...)
			}
			h.begin(5000)
			eventually(t, "the import has used up its part of what may be asked at once", func() bool { return h.importAsked() >= 60 })
			var watching sync.WaitGroup
			for n, user := range h.users {
				watching.Go(func() {
					before := h.importAsked()
					h.watch(n, event{episodes[n], user})
					// All that is in hand for the import are some hundred requests.
					if between := h.importAsked() - before; between > 50 {
						t.Errorf("the import had %d requests before what %s watched was marked", between, user)
					}
				})
			}
			watching.Wait()
		})
	}
}

// BenchmarkEvening measures an import of 20,000 plays beside five people who watch, with the settings as they are at first: from the answer to
// the webhook until the mark.
func BenchmarkEvening(b *testing.B) {
	const plays, marks, every = 20_000, 100, 6 * time.Second
	episodes := certain(b)
	for _, engine := range evenings {
		b.Run(engine.name, func(b *testing.B) {
			h := newEvening(b, 5)
			settings := eveningOn(b, engine.replicas)
			for range engine.replicas {
				h.join(100, 800, settings...)
			}
			h.begin(plays)
			eventually(b, "the import has begun", func() bool { return h.importAsked() >= 100 })
			for b.Loop() {
				times := make([]time.Duration, marks)
				var watching sync.WaitGroup
				for n := range marks {
					e := event{episodes[n/len(h.users)%len(episodes)], h.users[n%len(h.users)]}
					watching.Go(func() {
						began := time.Now()
						times[n] = h.watch(n, e).Sub(began)
					})
					if n%len(h.users) == len(h.users)-1 { // all five at the same time
						next, stop := context.WithTimeout(context.Background(), time.Duration(len(h.users))*every)
						<-next.Done()
						stop()
					}
				}
				watching.Wait()
				slices.Sort(times)
				l := load{times: times}
				b.ReportMetric(l.quantile(0.5), "p50-ms")
				b.ReportMetric(l.quantile(0.99), "p99-ms")
				b.ReportMetric(float64(times[len(times)-1].Milliseconds()), "most-ms")
				b.ReportMetric(float64(h.inTenMinutes()), "requests/10min")
				b.ReportMetric(float64(h.importAsked()), "import-requests")
			}
		})
	}
}
