package hold_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/hold"
	"watchmark/internal/testkit/dbtest"
)

// replicas are some on one database, each with connections of its own.
func replicas(t *testing.T, n int) (all []*hold.Holds, d *db.DB) {
	t.Helper()
	dir := dbtest.Folder(t)
	for i := range n {
		d = dbtest.OpenIn(t, dir)
		all = append(all, hold.New(d, dbtest.Self(i+1), slog.New(slog.DiscardHandler)))
	}
	return all, d
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestOneReplicaHasANameUntilItGivesItUpOrIsEvicted(t *testing.T) {
	r, d := replicas(t, 2)
	for name, free := range map[string]func(){
		"given up": func() { r[0].Give(t.Context(), "x") },
		"evicted": func() {
			must(t, d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error { return hold.FreeTx(ctx, tx, []int64{7, 1}) }))
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 { // what it has, it has
				got, err := r[0].Take(t.Context(), "x")
				if err != nil || !got || !r[0].Has("x") {
					t.Fatalf("the first has it: %v, %v", got, err)
				}
			}
			if got, err := r[1].Take(t.Context(), "x"); err != nil || got || r[1].Has("x") {
				t.Fatalf("the second has it, too: %v, %v", got, err)
			}
			waited := make(chan error, 1)
			go func() { waited <- r[1].Wait(t.Context(), "x") }()
			for wanted := []string(nil); len(wanted) == 0; {
				var err error
				wanted, err = r[0].Wanted(t.Context())
				must(t, err)
			}
			select {
			case err := <-waited:
				t.Fatalf("it does not wait: %v", err)
			default:
			}
			free()
			must(t, <-waited)
			if owner, err := r[0].Owner(t.Context(), "x"); err != nil || owner != 2 {
				t.Errorf("it is had by %d, %v", owner, err)
			}
			if wanted, err := r[1].Wanted(t.Context()); err != nil || len(wanted) != 0 {
				t.Errorf("somebody waits still: %v, %v", wanted, err)
			}
			r[0].Give(t.Context(), "x") // which is not its any more
			if owner, err := r[1].Owner(t.Context(), "x"); err != nil || owner != 2 {
				t.Errorf("then it is had by %d, %v", owner, err)
			}
			r[1].Give(t.Context(), "x")
		})
	}
}

func TestAlone(t *testing.T) {
	r, _ := replicas(t, 3)
	var inside, most, done atomic.Int32
	var all sync.WaitGroup
	for _, one := range r {
		for range 3 {
			all.Go(func() {
				err := one.Alone(t.Context(), "x", func() error {
					most.Store(max(most.Load(), inside.Add(1)))
					time.Sleep(time.Millisecond) // so that others would be seen
					inside.Add(-1)
					done.Add(1)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	if most.Load() != 1 || done.Load() != 9 {
		t.Errorf("%d at once, %d in all", most.Load(), done.Load())
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	r, _ := replicas(t, 2)
	if got, err := r[0].Take(t.Context(), "x"); !got || err != nil {
		t.Fatal(got, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := r[1].Alone(ctx, "x", func() error { return nil }); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// lost is a replica that was not heard, and joined anew as another incarnation.
type lost struct{ incarnation, live atomic.Int64 }

func (l *lost) Incarnation() int64 { return l.incarnation.Load() }
func (l *lost) Live() bool         { return l.live.Load() == 1 }

func TestAReplicaThatWasEvictedHasNothing(t *testing.T) {
	d := dbtest.Open(t)
	var self lost
	self.incarnation.Store(1)
	h := hold.New(d, &self, slog.New(slog.DiscardHandler))
	if got, err := h.Take(t.Context(), "x"); !got || err != nil {
		t.Fatal(got, err)
	}
	if err := h.Alone(t.Context(), "y", func() error { return nil }); err == nil {
		t.Error("it works alone though others may take it for dead")
	}
	cause := errors.New("evicted")
	ctx, cancel := h.While(t.Context(), "x", cause)
	defer cancel(nil)
	self.incarnation.Store(2)
	if h.Has("x") {
		t.Error("it has what its former incarnation had")
	}
	if d.Alone() {
		return // nobody evicts anybody there
	}
	<-ctx.Done()
	if !errors.Is(context.Cause(ctx), cause) {
		t.Errorf("it ended for %v", context.Cause(ctx))
	}
}
