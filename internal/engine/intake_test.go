package engine

import (
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
