package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestReadiness(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		var answer, fit error
		held := make(chan struct{})
		close(held)
		stopping := make(chan struct{})
		r := &readiness{dataDir: dir, draining: stopping, fits: func(context.Context) error { return fit }, sound: func() error { return nil }, alive: func(context.Context) error {
			asked.Add(1)
			<-held
			return answer
		}}
		expect := func(what string, parts ...string) {
			t.Helper()
			got := r.problems(t.Context())
			if len(got) != len(parts) || len(got) > 0 && !strings.Contains(got[0], parts[0]) {
				t.Errorf("%s: %q", what, got)
			}
		}
		for range 100 {
			expect("at first")
		}
		if asked.Load() != 1 {
			t.Errorf("a flood asks the database %d times", asked.Load())
		}
		answer = errors.New("disk I/O error in /secret/place")
		time.Sleep(healthFor)
		expect("when the database fails", "cannot be read and written")
		if got := r.problems(t.Context()); strings.Contains(strings.Join(got, ""), "secret") {
			t.Errorf("it tells everybody %q", got)
		}
		answer, held = nil, make(chan struct{})
		for range 3 {
			time.Sleep(healthFor)
			expect("while the database does not answer", "has not answered for 3 seconds")
		}
		if asked.Load() != 3 {
			t.Errorf("a database that does not answer is asked %d times", asked.Load()-2)
		}
		close(held)
		time.Sleep(healthFor)
		expect("when it answers again")
		r.dataDir = "/nowhere/at/all"
		time.Sleep(healthFor)
		expect("without its folder", "data folder cannot be used")
		r.dataDir = dir
		fit = fmt.Errorf("look: %w", unfit("another clock"))
		time.Sleep(healthFor)
		expect("what does not fit", "another clock")
		close(stopping)
		expect("while it stops", "stopping")
		if !slices.Equal(r.problems(t.Context()), []string{"the service is stopping"}) {
			t.Error("stopping is not told at once")
		}
	})
}
