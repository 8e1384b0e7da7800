package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/postgrestest"
	"watchmark/internal/testkit/proxytest"
	"watchmark/internal/testkit/simulated"
)

const (
	// replicas is how many there are.
	replicas = 3
	// life is how long a replica that is not heard of counts as alive (docs/design/replicas.md).
	life = 30 * time.Second
	// lingering is how long at most the catalog goes on with a write whose client was killed.
	lingering = 50 * time.Second
	// answerMost is how long a media server waits for an answer before it sends the webhook again.
	answerMost = 5 * time.Second
	// settleMost is how long it may take until all is at its end: an eviction, the rest of what was in hand, and the work.
	settleMost = 5 * time.Minute
	// secretKey is the one of all replicas.
	secretKey = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
)

// trio is what a scenario of several replicas plays on: they share a database, each by a line of its own, a catalog, and accounts.
type trio struct {
	testing.TB
	postgres *postgrestest.Server
	lines    []*proxytest.Proxy
	members  []*service
	catalog  *catalogtest.Server
	written  *witness
	clocks   []*clock
	random   *rand.Rand
	events   []event // not yet sent
	books    *books
}

// plan is what a trio is made for.
type plan struct {
	events   []event
	users    []string
	catalog  catalogtest.Config
	settings []string
	clocks   []*clock // of the replicas; none are right
}

// newTrio starts PostgreSQL, a catalog and the replicas, all of them at once on the empty database.
func newTrio(tb testing.TB, random *rand.Rand, p plan) *trio {
	tb.Helper()
	g := &trio{TB: tb, postgres: postgrestest.Start(tb), random: random, clocks: p.clocks, events: p.events, books: newBooks(), written: &witness{}}
	p.catalog.Users = people(p.users)
	g.catalog = catalogtest.New(p.catalog)
	must(tb, g.catalog.LoadSample())
	database, err := url.Parse(g.postgres.URL())
	must(tb, err)
	program, err := build()
	if p.clocks != nil {
		program, err = buildShifted()
	}
	must(tb, err)
	for i := range replicas {
		line := proxytest.Start(tb, database.Host)
		through := *database
		through.Host = line.Address()
		environ := append(append(environment(simulated.Start(tb, g.written.of(i, g.catalog))), soonWritten), onServer(through.String())...)
		if p.clocks != nil {
			environ = append(environ, clockEnv+"="+p.clocks[i].path)
		}
		g.lines = append(g.lines, line)
		g.members = append(g.members, newService(tb, program, tb.TempDir(), append(environ, p.settings...)))
	}
	g.startAll()
	g.members[0].makeKey()
	for _, m := range g.members {
		m.key = g.members[0].key
	}
	g.members[0].addAccounts(p.users)
	return g
}

// startAll starts every replica that does not run, at once.
func (g *trio) startAll() {
	g.Helper()
	starting := map[*service]*process{}
	for _, m := range g.members {
		if !m.alive() {
			starting[m] = m.spawn()
		}
	}
	for m, p := range starting {
		m.runs(p)
	}
}

// alive reports whether the process runs, or is stopped.
func (s *service) alive() bool {
	p := s.process()
	if p == nil {
		return false
	}
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// next takes n events that were not sent before; every fifth comes a second time.
func (g *trio) next(n int) []event {
	g.Helper()
	if n > len(g.events) {
		g.Fatalf("%d events are left, not %d", len(g.events), n)
	}
	taken := g.events[:n]
	g.events = g.events[n:]
	var batch []event
	for i, e := range taken {
		if batch = append(batch, e); i%5 == 0 {
			batch = append(batch, e)
		}
	}
	return batch
}

// deliver sends n new events to any of the replicas, spread over a time.
func (g *trio) deliver(n int, over time.Duration) *delivery {
	return deliver(g.members, g.books, answerMost, over, g.next(n))
}

// moment is a random time between least and most.
func (g *trio) moment(least, most time.Duration) time.Duration {
	return least + time.Duration(g.random.Int64N(int64(most-least)))
}

// settled waits until every record is at its end and the catalog has nothing more to write. A replica that has ended by itself
// is started again, as the system does.
func (g *trio) settled() {
	g.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), settleMost)
	defer cancel()
	for {
		g.startAll()
		if counts := g.counts(); counts != nil && counts["received"]+counts["processing"]+counts["queued"] == 0 && g.catalog.Working() == 0 {
			return
		}
		select {
		case <-time.After(200 * time.Millisecond): // counting takes the replicas time
		case <-ctx.Done():
			g.Fatalf("after %v there are records without an end: %v, and %d writes at the catalog: %s", settleMost, g.counts(), g.catalog.Working(), g.unfinished())
		}
	}
}

// counts is how many records there are by status; nil when no replica can tell.
func (g *trio) counts() map[string]int {
	for _, m := range g.members {
		ctx, cancel := context.WithTimeout(context.Background(), answerMost)
		status, answer, err := m.request(ctx, http.MethodGet, "/api/stats", nil)
		cancel()
		var stats struct{ Total map[string]int }
		if err == nil && status == http.StatusOK && json.Unmarshal(answer, &stats) == nil {
			return stats.Total
		}
	}
	return nil
}

// unfinished are some records that are not at their end.
func (g *trio) unfinished() string {
	var lines []string
	for _, status := range []string{"received", "processing", "queued"} {
		for _, r := range g.members[0].records(status) {
			lines = append(lines, g.members[0].fate(r.ID))
		}
	}
	return strings.Join(lines[:min(len(lines), 5)], "\n")
}

// shared are events of a few people at a time, so that all replicas work on the same list entries: those of the first people
// come first, mixed, each show in its order.
func shared(random *rand.Rand, episodes []episode, n int) (events []event, users []string) {
	const together = 3
	users = usersNamed(together * ((n + together*len(episodes) - 1) / (together * len(episodes))))
	for group := range slices.Chunk(users, together) {
		var queues [][]event
		for _, user := range group {
			of := map[string]int{}
			for _, e := range episodes {
				i, known := of[e.title]
				if !known {
					i = len(queues)
					of[e.title] = i
					queues = append(queues, nil)
				}
				queues[i] = append(queues[i], event{e, user})
			}
		}
		for len(queues) > 0 {
			i := random.IntN(len(queues))
			events = append(events, queues[i][0])
			if queues[i] = queues[i][1:]; len(queues[i]) == 0 {
				queues = slices.Delete(queues, i, i+1)
			}
		}
	}
	return events[:n], users
}

// witness knows which replica wrote to the catalog when.
type witness struct {
	mu     sync.Mutex
	writes []sighting
}

type sighting struct {
	replica int
	at      time.Time
	what    string
}

// of is the catalog as a replica sees it.
func (w *witness) of(replica int, next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && strings.HasPrefix(r.URL.Path, "/v0/users/") {
			w.mu.Lock()
			w.writes = append(w.writes, sighting{replica, time.Now(), r.Method + " " + r.URL.Path})
			w.mu.Unlock()
		}
		next.ServeHTTP(rw, r)
	})
}

// between are the writes of a replica in a time.
func (w *witness) between(replica int, from, to time.Time) (lines []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.writes {
		if s.replica == replica && s.at.After(from) && s.at.Before(to) {
			lines = append(lines, fmt.Sprintf("replica %d: %s at %v", replica+1, s.what, s.at.Format(stamp)))
		}
	}
	return lines
}
