package faults

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"watchmark/internal/testkit/catalogtest"
)

// stage is what a scenario plays on: a service, a catalog, events and the books.
type stage struct {
	testing.TB
	*service
	catalog     *catalogtest.Server
	catalogURL  string
	stopCatalog func() // nil while the catalog does not listen
	random      *rand.Rand
	events      []event // not yet sent
	books       *books
}

// soonWritten lets marks gather for a moment only, so that many writes are under way when trouble comes.
const soonWritten = "WATCHMARK_SYNC_COALESCE_MS=50"

// newStage starts a catalog and, on the data folder, a service with accounts for marks different events.
func newStage(tb testing.TB, random *rand.Rand, episodes []episode, marks int, data string, settings ...string) *stage {
	tb.Helper()
	events, users := shuffled(random, episodes, marks)
	s := &stage{TB: tb, random: random, events: events, books: newBooks(), catalog: catalogtest.New(catalogtest.Config{Users: people(users)})}
	must(tb, s.catalog.LoadSample())
	s.openCatalog("127.0.0.1:0")
	tb.Cleanup(func() {
		if s.stopCatalog != nil {
			s.stopCatalog() // cuts what a failed test left
		}
	})
	s.service = serve(tb, data, s.catalogURL, append([]string{soonWritten}, settings...)...)
	s.addAccounts(users)
	return s
}

// openCatalog lets the catalog listen.
func (s *stage) openCatalog(address string) {
	s.Helper()
	var err error
	s.catalogURL, s.stopCatalog, err = s.catalog.Listen(context.Background(), address)
	must(s, err)
}

// closeCatalog takes the catalog away: connections are refused from now on.
func (s *stage) closeCatalog() {
	s.Helper()
	s.stopCatalog()
	s.stopCatalog = nil
}

// next takes n events that were not sent before; every fifth comes a second time, as media servers do.
func (s *stage) next(n int) []event {
	taken := s.events[:n]
	s.events = s.events[n:]
	batch := append([]event{}, taken...)
	for i := 0; i < n; i += 5 {
		batch = append(batch, taken[i])
	}
	return batch
}

// deliver starts to send events.
func (s *stage) deliver(events []event) *delivery {
	return deliver([]*service{s.service}, s.books, patience, 0, events)
}

// breakCatalog puts a fault in force, for as long as it says or until the next.
func (s *stage) breakCatalog(f catalogtest.Fault) {
	s.Helper()
	must(s, s.catalog.SetFault(f))
}

// writes is how many writes the catalog has applied.
func (s *stage) writes() int { return len(s.catalog.Writes()) }

// asked is how many requests of a group the catalog got.
func (s *stage) asked(group catalogtest.FaultPaths) (n int) {
	for pattern, count := range s.catalog.Requests() {
		if group != catalogtest.Writes || !strings.HasPrefix(pattern, http.MethodGet) && strings.Contains(pattern, " /v0/users/") {
			n += count
		}
	}
	return n
}

// moment is a random time of up to most: the one thing here that has no condition to wait for.
func (s *stage) moment(most time.Duration) { <-time.After(time.Duration(s.random.Int64N(int64(most)))) }

// seed is the one of WATCHMARK_FAULT_SEED, or a new one.
func seed(tb testing.TB) uint64 {
	tb.Helper()
	text := os.Getenv("WATCHMARK_FAULT_SEED")
	if text == "" {
		return rand.Uint64()
	}
	n, err := strconv.ParseUint(text, 10, 64)
	must(tb, err)
	return n
}

// randomOf are the random choices of one scenario, the same for the same seed whatever runs beside it.
func randomOf(seed uint64, scenario string) *rand.Rand {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(scenario)) // a hash takes everything
	return rand.New(rand.NewPCG(seed, hash.Sum64()))
}

// number is an environment variable that holds a number above 0.
func number(tb testing.TB, variable string, standard int) int {
	tb.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return standard
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		tb.Fatalf("%s is %q: give a number above 0", variable, text)
	}
	return n
}
