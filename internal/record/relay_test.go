package record_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"watchmark/internal/record"
	"watchmark/internal/testkit/dbtest"
)

// relaying are the feeds of two replicas on a database.
func relaying(t *testing.T) (here, there *record.Store) {
	t.Helper()
	dir := dbtest.Folder(t)
	one, other := dbtest.OpenIn(t, dir), dbtest.OpenIn(t, dir)
	if one.Alone() {
		t.Skip("one process works on a folder; run with " + dbtest.Env + "=postgres")
	}
	here, there = record.NewStore(one), record.NewStore(other)
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { here.Feed.Relay(ctx, one) })
	running.Go(func() { there.Feed.Relay(ctx, other) })
	t.Cleanup(func() { stop(); running.Wait() })
	return here, there
}

// next is what comes next, Anything apart: each replica is told that once it listens.
func next(t *testing.T, changes <-chan int64) int64 {
	t.Helper()
	for {
		select {
		case id := <-changes:
			if id != record.Anything {
				return id
			}
		case <-time.After(20 * time.Second):
			t.Fatal("nothing comes")
		}
	}
}

func TestAnotherReplicaHearsOfChanges(t *testing.T) {
	here, there := relaying(t)
	mine, end := here.Feed.Subscribe()
	defer end()
	changes, cancel := there.Feed.Subscribe()
	defer cancel()
	for <-changes != record.Anything { // it listens
	}
	for <-mine != record.Anything {
	}
	here.Feed.Publish(7)
	here.Feed.Publish(record.Arrival)
	here.Feed.Publish(7)
	var heard []int64
	for len(heard) < 2 {
		heard = append(heard, next(t, changes))
	}
	if slices.Sort(heard); !slices.Equal(heard, []int64{record.Arrival, 7}) {
		t.Errorf("heard %v", heard)
	}
	there.Feed.Publish(8)
	if got := []int64{next(t, mine), next(t, mine), next(t, mine), next(t, mine)}; !slices.Equal(got, []int64{7, record.Arrival, 7, 8}) {
		t.Errorf("who published hears its own from others: %v", got)
	}
	if id := next(t, changes); id != 8 {
		t.Errorf("heard %d", id)
	}
}

func TestManyChangesAreToldAsOne(t *testing.T) {
	here, there := relaying(t)
	changes, cancel := there.Feed.Subscribe()
	defer cancel()
	for <-changes != record.Anything { // it listens
	}
	for id := range int64(1000) {
		here.Feed.Publish(id + 1)
	}
	if id := <-changes; id != record.Anything {
		t.Errorf("of a thousand it hears of %d", id)
	}
}
