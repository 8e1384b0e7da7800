package budget_test

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"watchmark/internal/catalog/budget"
	"watchmark/internal/platform/db"
	"watchmark/internal/testkit/postgrestest"
)

// replicas are connections to one database, as several processes have them.
func replicas(t *testing.T, n int) []*db.DB {
	t.Helper()
	address := postgrestest.Schema(t, postgrestest.Shared(t).URL())
	all := make([]*db.DB, n)
	for i := range all {
		d, err := db.OpenServer(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		all[i] = d
	}
	return all
}

// spends sends as many requests as may be sent, by all of these at the same time, and holds that they are as many as wanted.
func spends(t *testing.T, want int64, all ...*budget.Budget) {
	t.Helper()
	var sent atomic.Int64
	var takers sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	for _, b := range all {
		takers.Go(func() {
			for {
				if _, err := b.Wait(ctx, lookUp); err != nil {
					if !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
					return
				}
				sent.Add(1)
			}
		})
	}
	until(t, "all are sent", func() bool { return sent.Load() >= want })
	more, end := context.WithTimeout(ctx, 300*time.Millisecond) // in which others may take too many
	<-more.Done()
	end()
	stop()
	takers.Wait()
	if got := sent.Load(); got != want {
		t.Errorf("%d requests were sent, want %d", got, want)
	}
}

func TestTenTakersShareOneBudget(t *testing.T) {
	const burst = 333
	all := replicas(t, 3)
	var takers []*budget.Budget
	for n := range 10 {
		takers = append(takers, open(t, all[n%len(all)], budget.Options{PerMinute: 1, Burst: burst, Egress: "shared"}))
	}
	spends(t, burst, takers...)
}

func TestEgressesHaveBudgetsOfTheirOwn(t *testing.T) {
	all := replicas(t, 2)
	one := open(t, all[0], budget.Options{PerMinute: 1, Burst: 30, Egress: "one"})
	two := open(t, all[1], budget.Options{PerMinute: 1, Burst: 40, Egress: "two"})
	spends(t, 70, one, two)
}

func TestTheCeilingCountsWhatReplicasHaveInHand(t *testing.T) {
	all := replicas(t, 1)
	for n, egress := range []string{"shared", "shared", "other", "shared"} {
		err := all[0].Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO replicas (replica, address, state, lease_until, started_at, program, schema, reachable, egress, clock_offset, settings_digest)
				VALUES ('r', '', ?, 0, 0, '', 99, 1, ?, 0, '')`, map[bool]string{true: "dead", false: "live"}[n == 3], egress)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	// One a minute are 10 in ten; two live replicas of this egress may have 40 in hand.
	spends(t, 60, open(t, all[0], budget.Options{PerMinute: 1, Burst: 800, Ceiling: 110, Egress: "shared"}))
}

// until waits for a condition.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not so after 20 seconds: %s", what)
		}
	}
}

func TestABanIsSeenByEveryReplicaOfItsEgress(t *testing.T) {
	all := replicas(t, 3)
	elsewhere := roomy
	elsewhere.Egress = "elsewhere"
	banned, other, far := open(t, all[0], roomy), open(t, all[1], roomy), open(t, all[2], elsewhere)
	lifted := make(chan string, 1)
	other.OnLift(func(host string) { lifted <- host })
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	for _, b := range []*budget.Budget{banned, other, far} {
		running.Go(func() { b.Run(ctx) })
		wants(t, "before", b, lookUp, true) // so each has some in hand
	}
	banned.Refused(ctx, lookUp, 0)
	wants(t, "who was banned", banned, lookUp, false)
	until(t, "another replica of the egress stops, whatever it has in hand", func() bool { ok, _ := may(t, other, lookUp); return !ok })
	wants(t, "another egress", far, lookUp, true)
	wants(t, "a replica that starts", open(t, all[2], roomy), lookUp, false)

	// One of them may look whether it is over, and the other one then may not.
	until(t, "a trial is let through", func() bool { _, trial := may(t, other, lookUp); return trial })
	wants(t, "a second trial", banned, lookUp, false)
	wants(t, "a probe beside the trial", banned, budget.Draw{Host: host, Probe: true}, false)
	banned.Answered(ctx, lookUp)
	wants(t, "who was answered", banned, lookUp, true)
	if got := <-lifted; got != host {
		t.Errorf("told that the ban of %s is over", got)
	}
	wants(t, "another replica", other, lookUp, true)
}

func TestABanIsSeenWithTheNextTokens(t *testing.T) {
	all := replicas(t, 2)
	one, two := open(t, all[0], roomy), open(t, all[1], roomy) // neither hears of the other
	wants(t, "before", two, lookUp, true)
	one.Refused(t.Context(), lookUp, 0)
	until(t, "it is seen when the hand is empty", func() bool { ok, _ := may(t, two, lookUp); return !ok })
}

func TestWhatIsInHandIsSentWithoutTheDatabase(t *testing.T) {
	d := replicas(t, 1)[0]
	b := open(t, d, roomy)
	wants(t, "before", b, lookUp, true)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	spends(t, 19, b)
}
