package faults

import (
	"net/http"
	"testing"
	"time"

	"watchmark/internal/catalog/catalogtest"
)

// scenario is one way to go wrong.
type scenario struct {
	name   string
	fault  string // what the table calls it
	rounds int    // how often, unless WATCHMARK_FAULT_ROUNDS asks for more
	marks  int    // different marks in a round
	play   func(s *stage, rounds, marks int)
}

// killRounds is how often the service is killed when nobody asks for more; the other
// scenarios grow with it.
const killRounds = 20

var scenarios = []scenario{
	{"NothingIsLostWhenKilled", "kill -9 at any moment", killRounds, 24, kill},
	{"NothingIsLostWhenTheCatalogRefusesConnections", "catalog refuses connections", 1, 440, refuse},
	{"NothingIsLostWhenTheCatalogResetsConnections", "catalog resets connections", 1, 440, during(catalogtest.Fault{Mode: catalogtest.Refuse, For: outage})},
	{"NothingIsLostWhenTheCatalogHangs", "catalog hangs", 1, 440, during(catalogtest.Fault{Mode: catalogtest.Hang, For: longOutage})},
	{"NothingIsDoubledWhenAnswersOfWritesAreCut", "connection cut after the write", 1, 440, during(catalogtest.Fault{Mode: catalogtest.Cut, For: outage, Paths: catalogtest.Writes})},
	{"NothingIsDoubledWhenEveryAnswerIsCut", "every connection cut before the answer", 1, 440, during(catalogtest.Fault{Mode: catalogtest.Cut, For: outage})},
	{"NothingIsLostAt429WithRetryAfter", "429 with Retry-After", 1, 440, during(catalogtest.Fault{Mode: catalogtest.Status, Status: http.StatusTooManyRequests, RetryAfter: time.Second, For: outage})},
	{"NothingIsLostAt429WithoutRetryAfter", "429 without Retry-After", 1, 440, during(catalogtest.Fault{Mode: catalogtest.Status, Status: http.StatusTooManyRequests, For: outage})},
	{"NothingIsLostAt503", "503", 1, 440, during(catalogtest.Fault{Mode: catalogtest.Status, Status: http.StatusServiceUnavailable, For: outage})},
	{"NothingIsLostAt500OfWrites", "500 to writes", 1, 440, during(catalogtest.Fault{Mode: catalogtest.Status, Status: http.StatusInternalServerError, For: outage, Paths: catalogtest.Writes})},
	{"NothingIsLostWhenHTMLIsAnswered", "HTML with status 200", 1, 440, during(catalogtest.Fault{Mode: catalogtest.HTML, For: outage})},
	{"NothingIsDoubledWhenAnswersDrip", "answers drip too slowly", 1, 440, during(catalogtest.Fault{Mode: catalogtest.Slow, For: longOutage, Delay: 4 * time.Second})},
}

// TestFaults plays every scenario on a service of its own and prints the table at the end.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than a minute")
	}
	kills, seed := number(t, "WATCHMARK_FAULT_ROUNDS", killRounds), seed(t)
	t.Logf("WATCHMARK_FAULT_SEED=%d", seed)
	episodes := certain(t)
	results := &table{}
	t.Cleanup(func() { t.Log(results) }) // after the scenarios, which run beside each other
	for _, sc := range scenarios {
		rounds := max(1, sc.rounds*kills/killRounds)
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, randomOf(seed, sc.name), episodes, rounds*sc.marks, t.TempDir())
			sc.play(s, rounds, sc.marks)
			s.settled()
			r := s.books.close(t, s.catalog)
			r.fault, r.rounds = sc.fault, rounds
			results.add(r)
		})
	}
}
