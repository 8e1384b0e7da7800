package engine_test

import (
	"context"
	"database/sql"
	"sync"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/engine"
	"watchmark/internal/match"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// patient has marks wait for others as long as they may: an hour, which no test does.
func patient(o *engine.Options) { o.Coalesce = time.Hour }

// season are the episodes of a title from one number to another.
func season(title, user string, from, to int) (events []watch.Event) {
	for number := from; number <= to; number++ {
		events = append(events, episode(title, user, float64(number)))
	}
	return events
}

// holding has the list wait with every mark until let is called, and tells of each that begins.
func (h *house) holding(t *testing.T) (begun chan struct{}, let func()) {
	h.list.block, h.list.begun = make(chan struct{}), make(chan struct{}, 100)
	let = sync.OnceFunc(func() { close(h.list.block) })
	t.Cleanup(let)
	return h.list.begun, let
}

// matched waits until so many events were matched.
func (h *house) matched(t *testing.T, events int) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; <-time.After(time.Millisecond) {
		h.matcher.mu.Lock()
		seen := len(h.matcher.seen)
		h.matcher.mu.Unlock()
		if seen >= events {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d events were matched", seen, events)
		}
	}
}

func wait(t *testing.T, what string, until <-chan struct{}) {
	t.Helper()
	select {
	case <-until:
	case <-time.After(2 * time.Minute):
		t.Fatal("waited in vain for " + what)
	}
}

func TestASingleWatchIsMarkedAtOnce(t *testing.T) {
	h := newHouse(t)
	h.set(patient)
	h.account(t, "one", true, "mira")
	h.run(t)
	ids := h.accept(t, episode("a", "mira", 1))
	if r := h.settled(t, ids[0]); r.Status != record.Success {
		t.Errorf("record is %s: %s", r.Status, r.Message.Text)
	}
}

func TestAWholeSeasonAtOnceIsOneWrite(t *testing.T) {
	h := newHouse(t)
	h.set(patient)
	h.account(t, "one", true, "mira")
	h.run(t)
	for _, id := range h.accept(t, season("a", "mira", 1, 12)...) {
		h.settled(t, id)
	}
	if marks, calls := h.list.marks(); len(marks) != 12 || calls != 1 {
		t.Errorf("%d marks in %d calls, want 12 in 1", len(marks), calls)
	}
}

func TestWhatComesWhileOneIsWrittenIsOneWrite(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	begun, let := h.holding(t)
	h.run(t)
	ids := h.accept(t, episode("a", "mira", 1))
	wait(t, "the first write", begun)
	for _, e := range season("a", "mira", 2, 12) { // one webhook after the other
		ids = append(ids, h.accept(t, e)...)
	}
	h.matched(t, 12)
	let()
	for _, id := range ids {
		h.settled(t, id)
	}
	if marks, calls := h.list.marks(); len(marks) != 12 || calls != 2 {
		t.Errorf("%d marks in %d calls, want 12 in 2", len(marks), calls)
	}
}

func TestWhatComesSoonAfterAWriteGathers(t *testing.T) {
	h := newHouse(t)
	h.set(func(o *engine.Options) { o.Coalesce = 2 * time.Second })
	h.account(t, "one", true, "mira")
	h.run(t)
	ids := h.seen(t, episode("a", "mira", 1))
	for _, e := range season("a", "mira", 2, 12) {
		ids = append(ids, h.accept(t, e)...)
	}
	for _, id := range ids {
		h.settled(t, id)
	}
	if marks, calls := h.list.marks(); len(marks) != 12 || calls != 2 {
		t.Errorf("%d marks in %d calls, want 12 in 2", len(marks), calls)
	}
}

// The second episode of the show takes long to match; the first does not wait for it for ever.
func TestGatheringEnds(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	end := make(chan struct{})
	h.matcher.hold(func(e watch.Event) {
		if *e.Episode == 2 {
			<-end
		}
	})
	h.run(t)
	ids := h.accept(t, season("a", "mira", 1, 2)...)
	if r := h.settled(t, ids[0]); r.Status != record.Success {
		t.Errorf("the first is %s: %s", r.Status, r.Message.Text)
	}
	close(end)
	h.settled(t, ids[1])
}

// What is expected and never comes, for it was deleted, holds nothing up.
func TestNobodyWaitsForWhatWasDeleted(t *testing.T) {
	h := newHouse(t)
	h.set(patient)
	h.account(t, "one", true, "mira")
	ids, err := h.Take(t.Context(), season("a", "mira", 1, 1), func(context.Context, *sql.Tx, []int64) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	err = h.DB.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM records WHERE id = ?`, ids[0])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	h.run(t)
	h.matcher.lead(func(e watch.Event) *match.Result {
		return &match.Result{Status: match.Matched, SubjectID: catalog.SubjectID(len(e.Title)), EpisodeID: 1}
	})
	h.seen(t, episode("another", "mira", 1)) // by now everything there is was claimed
	h.seen(t, episode("a", "mira", 2))
}
