package engine_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/engine"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

func TestRetryIsFollowedByItsLog(t *testing.T) {
	h := newHouse(t)
	h.list.fail(account.ErrNoToken)
	h.account(t, "one", true, "mira")
	h.run(t)
	id := h.settled(t, h.accept(t, episode("a", "mira", 1))[0]).ID
	if _, err := h.LastRetry(t.Context(), id); !errors.Is(err, engine.ErrNotRetried) {
		t.Errorf("before the retry: %v", err)
	}
	h.list.fail(nil)
	run := h.retry(t, id)
	status := ended(t, run)
	lines, _ := run.After(0)
	r, _ := task.ResultOf[record.Record](status)
	if status.State != task.Done || status.RecordID != id || r.Status != record.Success || len(lines) == 0 || !strings.Contains(lines[len(lines)-1].Text, "record settled") {
		t.Errorf("%+v, log %v", status, lines)
	}
	if last, err := h.LastRetry(t.Context(), id); err != nil || last.Status().ID != run.Status().ID {
		t.Errorf("the last retry is another one (%v)", err)
	}
}

// What settles a record logs that after it is stored. Who waits for the record must not be gone by then: the log of
// a retry, which ends with that wait, would lack its last line.
func TestTheWaitForARecordEndsAfterItsLog(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	reached, release := make(chan struct{}), make(chan struct{})
	h.Log = slog.New(atLog{slog.DiscardHandler, func(r slog.Record) {
		if r.Message == "record settled" {
			close(reached)
			<-release
		}
	}})
	h.run(t)
	id := h.accept(t, episode("a", "mira", 1))[0]
	<-reached
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if r, err := h.Settled(ctx, id); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the wait ends with %s and %v before it is logged", r.Status, err)
	}
	close(release)
	if r, err := h.Settled(t.Context(), id); err != nil || r.Status != record.Success {
		t.Errorf("the wait ends with %s and %v", r.Status, err)
	}
}

func TestRetryOfWhatIsOnItsWayIsRefused(t *testing.T) {
	h := newHouse(t)
	h.list.block = make(chan struct{})
	h.account(t, "one", true, "mira")
	h.run(t)
	id := h.accept(t, episode("a", "mira", 1))[0]
	if _, err := h.Retry(t.Context(), id); !errors.Is(err, engine.ErrInProgress) {
		t.Errorf("error %v", err)
	}
	if _, err := h.Retry(t.Context(), id+1); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("error %v", err)
	}
	close(h.list.block)
	h.settled(t, id)
}

func TestAllFailedRecordsAreRetriedAndOnlyThese(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.run(t)
	h.list.fail(account.ErrNoToken)
	var events []watch.Event
	for number := range 150 {
		events = append(events, episode(fmt.Sprint("show ", number%7), "mira", float64(number+1)))
	}
	for _, id := range h.accept(t, events...) {
		h.settled(t, id)
	}
	h.list.fail(nil)
	marked := h.settled(t, h.accept(t, episode("other", "mira", 200))[0])
	run, err := h.RetryFailed(t.Context(), record.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	status := ended(t, run)
	if tally, _ := task.ResultOf[engine.Tally](status); status.State != task.Done || status.Done != 150 || tally.Marked != 150 {
		t.Errorf("%+v", status)
	}
	if again, err := h.records.Get(t.Context(), marked.ID); err != nil || again.Attempts != 1 {
		t.Errorf("a record that had not failed was run %d times (%v)", again.Attempts, err)
	}
}

func TestBulkRetryPassesOverWhatIsNotFailedAnyMore(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.run(t)
	h.list.fail(account.ErrNoToken)
	var events []watch.Event
	for number := range 70 { // more than are run at once
		events = append(events, episode("a", "mira", float64(number+1)))
	}
	h.seen(t, events...)
	last := h.seen(t, episode("b", "mira", 1))[0]
	h.list.fail(nil)
	matching, goOn := make(chan struct{}, len(events)), make(chan struct{})
	h.matcher.hold(func(e watch.Event) {
		if e.Title == "a" {
			matching <- struct{}{}
			<-goOn
		}
	})
	run, err := h.RetryFailed(t.Context(), record.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	<-matching
	ended(t, h.retry(t, last))
	close(goOn)
	status := ended(t, run)
	if tally, _ := task.ResultOf[engine.Tally](status); tally.Retried != 70 || tally.Skipped != 1 {
		t.Errorf("%+v", status)
	}
	if r := h.settled(t, last); r.Attempts != 2 {
		t.Errorf("a record that was retried by hand meanwhile is run %d times", r.Attempts)
	}
}

func TestCancelledBulkRetryLeavesTheRestFailed(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.run(t)
	h.list.fail(account.ErrNoToken)
	var events []watch.Event
	for number := range 200 {
		events = append(events, episode("a", "mira", float64(number+1)))
	}
	ids := h.accept(t, events...)
	for _, id := range ids {
		h.settled(t, id)
	}
	h.list.fail(nil)
	h.list.block = make(chan struct{})
	run, err := h.RetryFailed(t.Context(), record.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.RetryFailed(t.Context(), record.Filter{}); !errors.Is(err, engine.ErrRetrying) {
		t.Errorf("a second one beside it: %v", err)
	}
	if err := h.tasks.Cancel(t.Context(), run.Status().ID); err != nil {
		t.Fatal(err)
	}
	close(h.list.block)
	_ = h.tasks.Stop(context.Background())
	if state := run.Status().State; state != task.Cancelled {
		t.Errorf("it is %s", state)
	}
	if last := h.settled(t, ids[199]); last.Status != record.Failed || last.Attempts != 1 {
		t.Errorf("the last record is %s after %d attempts", last.Status, last.Attempts)
	}
}

func TestARetryWaitsWithItsContext(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.run(t)
	id := h.accept(t, episode("a", "mira", 1))[0]
	h.settled(t, id)
	writing, done := make(chan struct{}), make(chan struct{})
	written := make(chan error, 1)
	go func() {
		written <- h.DB.Write(context.Background(), func(context.Context, *sql.Tx) error { close(writing); <-done; return nil })
	}()
	<-writing
	ctx, leave := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer leave()
	if _, err := h.Retry(ctx, id); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	close(done)
	if err := <-written; err != nil {
		t.Error(err)
	}
}
