package engine_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"testing"
	"time"

	"watchmark/internal/platform/task"
	"watchmark/internal/watch"
)

// imported stores n plays of a user by a task.
func (h *house) imported(t *testing.T, user string, n int) (ids []int64) {
	t.Helper()
	run, err := h.tasks.Start(t.Context(), task.Spec{Kind: "import"}, func(ctx context.Context, _ *task.Task) (err error) {
		var events []watch.Event
		for i := range n {
			events = append(events, episode(fmt.Sprintf("%s %d", user, i), user, 1))
		}
		ids, err = h.Take(ctx, events, func(context.Context, *sql.Tx, []int64) error { return nil })
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if s := ended(t, run); s.State != task.Done {
		t.Fatalf("the plays are not stored: %+v", s)
	}
	return ids
}

func TestNothingThatIsWatchedWaitsForAnImport(t *testing.T) {
	h := newHouse(t)
	h.account(t, "alex", true, "alex")
	h.account(t, "mira", true, "mira")
	held := make(chan struct{})
	free := sync.OnceFunc(func() { close(held) })
	h.matcher.hold(func(e watch.Event) {
		if e.UserName == "alex" {
			<-held
		}
	})
	all := h.imported(t, "alex", 500)
	h.run(t)
	t.Cleanup(free)
	// All workers of the background are held up; mira's own import waits behind them, but not what she watches, nor what has to be before it.
	own := h.imported(t, "mira", 3)
	h.seen(t, episode("night flight", "mira", 1), episode("mira 1", "mira", 2))
	h.wantMarks(t, "mira/8/801", "mira/8/802") // also the first of her import
	free()
	for _, id := range append(all, own...) {
		h.settled(t, id)
	}
}

func TestPeopleOfTheBackgroundTakeTurns(t *testing.T) {
	h := newHouse(t)
	h.account(t, "alex", true, "alex")
	h.account(t, "mira", true, "mira")
	release := make(chan struct{})
	h.matcher.hold(func(watch.Event) { <-release })
	h.imported(t, "alex", 400)
	h.run(t)
	free := sync.OnceFunc(func() { close(release) })
	t.Cleanup(free)
	mine := h.imported(t, "mira", 5)
	// What is settled of alex's makes room for mira's, which come in turn from then on, and not behind the 400.
	for range 200 {
		select {
		case release <- struct{}{}:
		case <-time.After(time.Minute):
			t.Fatal("nothing is matched")
		}
		h.matcher.mu.Lock()
		seen := 0
		for _, e := range h.matcher.seen {
			if e.UserName == "mira" {
				seen++
			}
		}
		h.matcher.mu.Unlock()
		if seen == len(mine) {
			return
		}
	}
	t.Error("mira's were not matched with the first 200")
}
