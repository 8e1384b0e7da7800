package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestAcceptedWorkGivesWayForSoLongAndNoLonger(t *testing.T) {
	for name, c := range map[string]struct {
		burst *time.Duration // how long ago senders waited for the disk
		want  time.Duration
	}{
		"never":                        {nil, 0},
		"just now":                     {ago(0), restAfter},
		"a while ago":                  {ago(time.Second), 0},
		"by a clock that was set back": {ago(-time.Hour), wayMost},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var e Engine
				if c.burst != nil {
					last := time.Now().Add(-*c.burst)
					e.lastBurst.Store(&last)
				}
				began := time.Now()
				e.giveWay(t.Context())
				if took := time.Since(began); took != c.want {
					t.Errorf("it waits for %v, want %v", took, c.want)
				}
			})
		})
	}
}

func ago(d time.Duration) *time.Duration { return &d }

func TestACommitGathersAsManyAsTheOneUnderWayHas(t *testing.T) {
	for name, c := range map[string]struct {
		underWay int           // arrivals of the other commit; 0 for no such commit
		come     int           // how many come, 1 ms apart, after the first
		done     time.Duration // when the other commit is done
		want     int
		after    time.Duration
	}{
		"no other":                    {0, 3, 0, 1, 0},
		"another one of one":          {1, 3, time.Minute, 1, 0},
		"until as many have come":     {4, 10, time.Minute, 4, 3 * time.Millisecond},
		"until the other one is done": {4, 1, 2500 * time.Microsecond, 2, 2500 * time.Microsecond},
		"no longer than it may":       {4, 1, time.Minute, 2, gatherMost},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := Engine{intake: make(chan *arrival, intakeMost)}
				if c.underWay > 0 {
					other := &committing{c.underWay, make(chan struct{})}
					e.underWay.Store(other)
					time.AfterFunc(c.done, func() { close(other.done) })
				}
				ctx, cancel := context.WithCancel(t.Context())
				go func() {
					for range c.come {
						select {
						case <-time.After(time.Millisecond):
							e.intake <- &arrival{}
						case <-ctx.Done():
							return
						}
					}
				}()
				began := time.Now()
				batch := e.gather(&arrival{})
				if took := time.Since(began); len(batch) != c.want || took != c.after {
					t.Errorf("%d after %v, want %d after %v", len(batch), took, c.want, c.after)
				}
				cancel()
			})
		})
	}
}
