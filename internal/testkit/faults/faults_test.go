package faults

import (
	"os"
	"testing"
	"time"

	"watchmark/internal/testkit/catalogtest"
)

// scenario is one way to go wrong.
type scenario struct {
	name     string
	fault    string // what the table calls it
	rounds   int    // how often, unless WATCHMARK_FAULT_ROUNDS asks for more
	marks    int    // different marks in a round
	play     func(s *stage, rounds, marks int)
	folder   func(tb testing.TB, rounds int) string // makes the data folder
	settings []string
	waits    bool // marks wait for the catalog, or for a person, and others go ahead of them
}

// killRounds is how often the service is killed when nobody asks for more; the other
// scenarios grow with it.
const killRounds = 20

// scenarios is what goes wrong with the service, its machine and its accounts, and then
// every way in which the catalog breaks down.
func scenarios() []scenario {
	all := []scenario{
		{name: "NothingIsLostWhenKilled", fault: "kill -9 at any moment", rounds: killRounds, marks: 24, play: kill},
		{name: "NothingIsLostWhenStopped", fault: "SIGTERM under load", rounds: 4, marks: 110, play: terminate, waits: true},
		{name: "NothingIsLostWhenTheDiskIsFull", fault: "disk full", rounds: 1, marks: 440, play: fillDisk, folder: smallDisk},
		{name: "NothingIsLostWhenTheClockStepsForward", fault: "clock a day forward", rounds: 2, marks: 220, play: stepClock(24 * time.Hour), waits: true},
		{name: "NothingIsLostWhenTheClockStepsBack", fault: "clock a day back", rounds: 2, marks: 220, play: stepClock(-24 * time.Hour), waits: true},
		{name: "NothingIsDoubledWhenRecordsAreClaimedTwice", fault: "two workers on one record", rounds: 1, marks: 440, play: claimTwice,
			settings: []string{"WATCHMARK_NETWORK_TIMEOUT_SECONDS=10"}}, // or what is in hand would end before it is claimed again
		{name: "NothingIsLostAt401OnceRetried", fault: "401, then retried by hand", rounds: 1, marks: 440, play: refuseTokens, waits: true},
		{name: "NothingIsLostWhenTheCatalogRefusesConnections", fault: "catalog refuses connections", rounds: 1, marks: 440, play: refuse, waits: true},
	}
	for _, broken := range breakdowns {
		all = append(all, scenario{name: broken.name, fault: broken.called, rounds: 1, marks: 440, play: during(broken.fault), waits: true})
	}
	return all
}

// breakdowns are the ways in which the catalog answers wrongly or not at all for a while.
var breakdowns = []struct {
	name, called string
	fault        catalogtest.Fault
}{
	{"NothingIsLostWhenTheCatalogResetsConnections", "catalog resets connections", catalogtest.Fault{Mode: catalogtest.Refuse, For: outage}},
	{"NothingIsLostWhenTheCatalogHangs", "catalog hangs", catalogtest.Fault{Mode: catalogtest.Hang, For: longOutage}},
	{"NothingIsDoubledWhenAnswersOfWritesAreCut", "connection cut after the write", catalogtest.Fault{Mode: catalogtest.Cut, For: outage, Paths: catalogtest.Writes}},
	{"NothingIsDoubledWhenEveryAnswerIsCut", "every connection cut before the answer", catalogtest.Fault{Mode: catalogtest.Cut, For: outage}},
	{"NothingIsLostAt429WithRetryAfter", "429 with Retry-After", catalogtest.Fault{Mode: catalogtest.Status, Status: 429, RetryAfter: time.Second, For: outage}},
	{"NothingIsLostAt429WithoutRetryAfter", "429 without Retry-After", catalogtest.Fault{Mode: catalogtest.Status, Status: 429, For: outage}},
	{"NothingIsLostAt503", "503", catalogtest.Fault{Mode: catalogtest.Status, Status: 503, For: outage}},
	{"NothingIsLostAt500OfWrites", "500 to writes", catalogtest.Fault{Mode: catalogtest.Status, Status: 500, For: outage, Paths: catalogtest.Writes}},
	{"NothingIsLostWhenHTMLIsAnswered", "HTML with status 200", catalogtest.Fault{Mode: catalogtest.HTML, For: outage}},
	{"NothingIsDoubledWhenAnswersDrip", "answers drip too slowly", catalogtest.Fault{Mode: catalogtest.Slow, For: longOutage, Delay: 4 * time.Second}},
}

// TestFaults plays every scenario on a service of its own and prints the table at the end.
func TestFaults(t *testing.T) {
	if testing.Short() && os.Getenv("WATCHMARK_FAULT_ROUNDS") == "" {
		t.Skip("takes more than a minute")
	}
	kills, seed := number(t, "WATCHMARK_FAULT_ROUNDS", killRounds), seed(t)
	t.Logf("WATCHMARK_FAULT_SEED=%d", seed)
	episodes := certain(t)
	results := &table{}
	t.Cleanup(func() { t.Log(results) }) // after the scenarios, which run beside each other
	for _, sc := range scenarios() {
		if underRace && sc.waits { // they wait for most of their time, and the race detector finds nothing in that
			continue
		}
		rounds := max(1, sc.rounds*kills/killRounds)
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			folder := func(tb testing.TB, _ int) string { return tb.TempDir() }
			if sc.folder != nil {
				folder = sc.folder
			}
			s := newStage(t, randomOf(seed, sc.name), episodes, rounds*sc.marks, folder(t, rounds), sc.settings...)
			defer func() { // a scenario that fails has its line as well
				r := s.books.close(t, s.catalog, s.service, !sc.waits)
				r.fault, r.rounds = sc.fault, rounds
				results.add(r)
			}()
			sc.play(s, rounds, sc.marks)
			s.settled()
		})
	}
}
