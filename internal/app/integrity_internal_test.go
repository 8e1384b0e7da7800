package app

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

// TestAStartWaitsForItsCheckOnlySoLong, and tells what it finds later.
func TestAStartWaitsForItsCheckOnlySoLong(t *testing.T) {
	broken := errors.New("a page is broken")
	for name, c := range map[string]struct {
		takes, wait time.Duration
		finds       error
		starts      bool
		later       error
	}{
		"quick and sound":          {time.Millisecond, time.Second, nil, true, nil},
		"quick and damaged":        {time.Millisecond, time.Second, broken, false, broken},
		"slow and sound":           {time.Minute, time.Second, nil, true, nil},
		"slow and damaged":         {time.Minute, time.Second, broken, true, broken},
		"after a crash, and sound": {time.Minute, 0, nil, true, nil},
		"after a crash, damaged":   {time.Minute, 0, broken, false, broken},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				check := func(context.Context) error { time.Sleep(c.takes); return c.finds }
				i, err := checkIntegrity(t.Context(), check, c.wait, slog.New(slog.DiscardHandler))
				if c.starts != (err == nil) {
					t.Fatalf("the start ends with %v", err)
				}
				if took := time.Since(began); c.wait > 0 && took > c.wait {
					t.Errorf("the start waits %v", took)
				}
				if checking, damaged := i.standing(); checking != (time.Since(began) < c.takes) || damaged != (err != nil) {
					t.Errorf("it is told checking %v, damaged %v", checking, damaged)
				}
				time.Sleep(time.Hour)
				if checking, damaged := i.standing(); checking || damaged != (c.later != nil) {
					t.Errorf("later it is told checking %v, damaged %v", checking, damaged)
				}
				ready := &readiness{dataDir: t.TempDir(), alive: func(context.Context) error { return nil }, sound: i.problem, fits: func(context.Context) error { return nil }, draining: make(chan struct{})}
				if problems := ready.problems(t.Context()); (len(problems) > 0) != (c.later != nil) {
					t.Errorf("problems are %v", problems)
				}
				i.stop()
			})
		})
	}
}

// TestAServiceStopsWhileItIsChecked without waiting for the end of the check.
func TestAServiceStopsWhileItIsChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, err := checkIntegrity(t.Context(), func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, time.Second, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		i.stop()
		if i.problem() != nil {
			t.Errorf("what was not finished is told as %v", i.problem())
		}
	})
}
