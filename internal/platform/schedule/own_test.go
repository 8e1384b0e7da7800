package schedule_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/hold"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/task"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/logtest"
	"watchmark/internal/testkit/postgrestest"
)

// Three replicas that are started at the same moment run what each must do for itself, such as fetching files, one after the other.
func TestEachReplicaRunsWhatIsItsOwn(t *testing.T) {
	address := postgrestest.Schema(t, postgrestest.Shared(t).URL())
	var shared, own atomic.Int32
	midnight := schedule.Plan{Text: "0 0 * * *", Next: func(after time.Time) time.Time { return after.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour) }}
	var all []*process
	for _, name := range []string{"north", "south", "west"} {
		d, err := db.OpenServer(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		p := &process{t: t, db: d, logs: new(logtest.Buffer)}
		self, log := dbtest.Self(incarnations.Add(1)), slog.New(slog.NewTextHandler(p.logs, nil))
		p.tasks = task.New(d, self, log)
		p.Registry = schedule.New(d, hold.New(d, self, log), p.tasks, func() string { return name }, log)
		p.Add(schedule.Job{Name: "own", Own: true, Plan: every(24 * time.Hour), Look: func(context.Context) (bool, error) { return true, nil },
			Run: func(context.Context, *schedule.Run) error { own.Add(1); return nil }},
			schedule.Job{Name: "planned", Own: true, Plan: func() schedule.Plan { return midnight }, Run: done},
			schedule.Job{Name: "shared", Plan: every(24 * time.Hour), Look: func(context.Context) (bool, error) { return shared.Load() == 0, nil },
				Run: func(context.Context, *schedule.Run) error { shared.Add(1); return nil }})
		defer p.stop()
		p.run()
		all = append(all, p)
	}
	began := time.Now()
	var soon, planned []time.Time
	for _, p := range all {
		var next *time.Time
		for next == nil { // until it has looked
			next = p.status("planned").NextRun
		}
		planned = append(planned, *next)
		soon = append(soon, *p.status("own").NextRun)
	}
	for i := range all {
		if s := soon[i].Sub(began); s > time.Minute+5*time.Second && s < 23*time.Hour { // else it has run already
			t.Errorf("replica %d begins in %v what somebody waits for", i, s)
		}
		for j := range i {
			if d := soon[i].Sub(soon[j]).Abs(); d < time.Second {
				t.Errorf("replicas %d and %d begin within %v", i, j, d)
			}
			if d := planned[i].Sub(planned[j]).Abs(); d < 10*time.Second || d > 11*time.Minute {
				t.Errorf("by their plan replicas %d and %d run %v apart", i, j, d)
			}
		}
	}
	for _, p := range all {
		if _, err := p.Start(t.Context(), "own"); err != nil {
			t.Errorf("a replica does not start its own: %v", err)
		}
	}
	for own.Load() < 3 || shared.Load() < 1 {
		select {
		case <-t.Context().Done():
			t.Fatalf("%d of 3 ran their own, the shared one ran %d times", own.Load(), shared.Load())
		case <-time.After(10 * time.Millisecond):
		}
	}
	if shared.Load() != 1 {
		t.Errorf("what one does for all ran %d times", shared.Load())
	}
}
