package schedule_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/platform/schedule"
)

func TestWaitEndsByWhatComesFirst(t *testing.T) {
	for name, c := range map[string]struct {
		before []string // what was done before the wait
		after  string   // what is done ten seconds into it
		rung   bool
		waited time.Duration
	}{
		"nothing":                   {waited: time.Minute},
		"rung":                      {after: "ring", rung: true, waited: 10 * time.Second},
		"rung before":               {before: []string{"ring"}, rung: true},
		"rung before, and twice":    {before: []string{"ring", "ring"}, rung: true},
		"rung, and heard of before": {before: []string{"ring", "wait"}, waited: time.Minute},
		"the service ends":          {after: "end", waited: 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, end := context.WithCancel(t.Context())
				defer end()
				b := schedule.NewSignal()
				do := map[string]func(){"": func() {}, "ring": b.Raise, "end": end, "wait": func() { b.Wait(ctx, time.Hour) }}
				for _, what := range c.before {
					do[what]()
				}
				began := time.Now()
				time.AfterFunc(10*time.Second, do[c.after])
				rung := b.Wait(ctx, time.Minute)
				if waited := time.Since(began); rung != c.rung || waited != c.waited {
					t.Errorf("rung %v after %v, want %v after %v", rung, waited, c.rung, c.waited)
				}
			})
		})
	}
}
