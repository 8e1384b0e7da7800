package budget_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/catalog/budget"
	"watchmark/internal/platform/db"
	"watchmark/internal/testkit/dbtest"
)

// inBackground is a request of the background for an account.
func inBackground(account int64) budget.Draw {
	return budget.Draw{Host: host, Turn: budget.Turn{Whose: account, Background: true}, Class: budget.LookUp}
}

// sends counts what is sent of d, by so many at the same time, until ctx ends.
func sends(ctx context.Context, t *testing.T, b *budget.Budget, d budget.Draw, takers int) *atomic.Int64 {
	var sent atomic.Int64
	for range takers {
		go func() {
			for {
				if _, err := b.Wait(ctx, d); err != nil {
					if !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
					return
				}
				sent.Add(1)
			}
		}()
	}
	return &sent
}

func TestTheBackgroundLeavesHalfOfTheBudget(t *testing.T) {
	dbtest.InBubble(t)
	d := dbtest.Open(t)
	synctest.Test(t, func(t *testing.T) {
		b := open(t, d, budget.Options{PerMinute: 60, Burst: 20, Egress: "shared"})
		ctx, stop := context.WithCancel(t.Context())
		defer synctest.Wait()
		defer stop()
		began := time.Now()
		sent := sends(ctx, t, b, inBackground(1), 5)
		for range 2 {
			time.Sleep(time.Minute)
			// 10 at once, and one a second.
			if n, want := sent.Load(), int64(10+time.Since(began)/time.Second); n < want-2 || n > want+1 {
				t.Errorf("the background sent %d in %v, want %d", n, time.Since(began), want)
			}
		}
		now := time.Now()
		for range 10 {
			wants(t, "what somebody waits for", b, lookUp, true)
		}
		if waited := time.Since(now); waited > 0 {
			t.Errorf("what somebody waits for waited for %v", waited)
		}
		before := sent.Load()
		time.Sleep(9 * time.Second)
		if n := sent.Load() - before; n > 1 {
			t.Errorf("the background sent %d before the half was there again", n)
		}
		time.Sleep(time.Minute)
		if n := sent.Load() - before; n < 55 {
			t.Errorf("the background sent %d afterwards", n)
		}
	})
}

func TestAccountsInTheBackgroundTakeTurns(t *testing.T) {
	dbtest.InBubble(t)
	d := dbtest.Open(t)
	synctest.Test(t, func(t *testing.T) {
		b := open(t, d, budget.Options{PerMinute: 60, Burst: 2, Egress: "shared"})
		ctx, stop := context.WithCancel(t.Context())
		defer synctest.Wait()
		defer stop()
		many, few := sends(ctx, t, b, inBackground(1), 12), sends(ctx, t, b, inBackground(2), 1)
		time.Sleep(10 * time.Minute)
		if m, f := many.Load(), few.Load(); m > f+5 || f > m+5 {
			t.Errorf("12 of one account sent %d, and the one of another %d", m, f)
		}
	})
}

func TestTheBackgroundIsNotStarved(t *testing.T) {
	dbtest.InBubble(t)
	d := dbtest.Open(t)
	synctest.Test(t, func(t *testing.T) {
		b := open(t, d, budget.Options{PerMinute: 60, Burst: 4, Egress: "shared"})
		ctx, stop := context.WithCancel(t.Context())
		defer synctest.Wait()
		defer stop()
		first := sends(ctx, t, b, ofOne, 5)
		behind := sends(ctx, t, b, inBackground(2), 5)
		time.Sleep(10 * time.Minute)
		if f, n := first.Load(), behind.Load(); f < 500 || n < 40 || n > 80 {
			t.Errorf("%d were sent that somebody waits for, and %d of the background", f, n)
		}
	})
}

// spendsAtMost sends d by all of these at the same time until nothing more may be sent for a while, and answers how many went.
func spendsAtMost(t *testing.T, d budget.Draw, all ...*budget.Budget) int64 {
	t.Helper()
	var sent atomic.Int64
	var takers sync.WaitGroup
	for _, b := range all {
		takers.Go(func() {
			for {
				ctx, end := context.WithTimeout(t.Context(), 2*time.Second)
				_, err := b.Wait(ctx, d)
				end()
				if err != nil {
					return
				}
				sent.Add(1)
			}
		})
	}
	takers.Wait()
	return sent.Load()
}

func TestReplicasLeaveHalfOfTheirBudget(t *testing.T) {
	all := replicas(t, 3)
	open := func(d *db.DB) *budget.Budget {
		return open(t, d, budget.Options{PerMinute: 1, Burst: 200, Egress: "shared"})
	}
	one, two, three := open(all[0]), open(all[1]), open(all[2])
	if n := spendsAtMost(t, inBackground(1), one, two); n != 100 {
		t.Errorf("the background of two replicas sent %d of 200", n)
	}
	if n := spendsAtMost(t, lookUp, three); n != 100 {
		t.Errorf("a third one sent %d of what is left", n)
	}
}
