package tickets_test

import (
	"context"
	"database/sql"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/tickets"
	"watchmark/internal/testkit/dbtest"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newBox(t *testing.T) *secret.Box {
	t.Helper()
	box, err := secret.OpenBox(t.TempDir(), "", false)
	must(t, err)
	return box
}

func anyone(int) bool { return true }

// age lets the time of every ticket be over.
func age(t *testing.T, d *db.DB) {
	t.Helper()
	must(t, d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE tickets SET until = now_ms()`)
		return err
	}))
}

func count(t *testing.T, d *db.DB) (n int) {
	t.Helper()
	must(t, d.Read().QueryRowContext(t.Context(), `SELECT COUNT(*) FROM tickets`).Scan(&n))
	return n
}

func TestATicketIsGoodOnceAndForATime(t *testing.T) {
	d := dbtest.Open(t)
	box := newBox(t)
	here, there := tickets.New[int](d, box, "a", time.Minute, 10), tickets.New[int](d, box, "a", time.Minute, 10)
	take := func(name string, mine func(int) bool) (int, bool) {
		t.Helper()
		value, found, err := there.Take(t.Context(), name, mine)
		must(t, err)
		return value, found
	}
	name, err := here.Give(t.Context(), 7)
	must(t, err)
	if _, found := take(name, func(int) bool { return false }); found {
		t.Error("it was given to somebody else")
	}
	if _, found, _ := tickets.New[int](d, box, "b", time.Minute, 10).Take(t.Context(), name, anyone); found {
		t.Error("another kind has it")
	}
	if value, found, _ := there.Find(t.Context(), name); !found || value != 7 {
		t.Errorf("it is %d, %t", value, found)
	}
	if value, found := take(name, anyone); !found || value != 7 {
		t.Errorf("it gives %d, %t", value, found)
	}
	if _, found := take(name, anyone); found {
		t.Error("it is good twice")
	}
	late, err := here.Give(t.Context(), 8)
	must(t, err)
	var left int64
	must(t, d.Read().QueryRowContext(t.Context(), `SELECT until - now_ms() FROM tickets`).Scan(&left))
	if left <= 50_000 || left > 60_000 {
		t.Errorf("it is good for %d ms", left)
	}
	age(t, d)
	if _, found := take(late, anyone); found {
		t.Error("it is good for longer than its life")
	}
	if all, err := here.All(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("there are %v (%v)", all, err)
	}
	_, err = here.Give(t.Context(), 9)
	must(t, err)
	if n := count(t, d); n != 1 {
		t.Errorf("%d rows are left", n)
	}
}

func TestOneOfManyTakesATicket(t *testing.T) {
	d := dbtest.Open(t)
	k := tickets.New[int](d, newBox(t), "a", time.Minute, 10)
	for range 10 {
		name, err := k.Give(t.Context(), 7)
		must(t, err)
		var taken atomic.Int32
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if _, found, err := k.Take(t.Context(), name, anyone); err != nil {
					t.Error(err)
				} else if found {
					taken.Add(1)
				}
			})
		}
		all.Wait()
		if taken.Load() != 1 {
			t.Fatalf("%d took it", taken.Load())
		}
	}
}

func TestTheOldestMakeRoom(t *testing.T) {
	d := dbtest.Open(t)
	k, other := tickets.New[int](d, newBox(t), "a", time.Minute, 10), tickets.New[int](d, newBox(t), "b", time.Minute, 10)
	kept, err := other.Give(t.Context(), 1)
	must(t, err)
	var names []string
	for n := range 25 {
		name, err := k.Give(t.Context(), n)
		must(t, err)
		names = append(names, name)
		must(t, k.Put(t.Context(), name, n)) // once more, which is not one more
	}
	if n := count(t, d); n != 11 {
		t.Errorf("%d are kept", n)
	}
	if value, found, err := k.Take(t.Context(), names[24], anyone); !found || value != 24 {
		t.Errorf("the newest is %d, %t (%v)", value, found, err)
	}
	if _, found, err := other.Take(t.Context(), kept, anyone); !found {
		t.Errorf("one of another kind made room (%v)", err)
	}
}

func TestTriesAreCountedAcrossReplicas(t *testing.T) {
	d := dbtest.Open(t)
	k := tickets.New[string](d, newBox(t), "a", time.Minute, 10)
	must(t, k.Put(t.Context(), "mira", "x"))
	var counted atomic.Int32
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, found, err := k.Try(t.Context(), "mira", 6); err != nil {
				t.Error(err)
			} else if found {
				counted.Add(1)
			}
		})
	}
	all.Wait()
	if counted.Load() != 6 {
		t.Errorf("%d tries of 6", counted.Load())
	}
	must(t, k.Withdraw(t.Context(), "mira"))
	if n, found, err := k.Try(t.Context(), "mira", 6); n != 6 || !found || err != nil {
		t.Errorf("after one that was taken back: %d, %t, %v", n, found, err)
	}
	must(t, k.Put(t.Context(), "mira", "y"))
	if n, found, err := k.Try(t.Context(), "mira", 6); n != 1 || !found || err != nil {
		t.Errorf("a new value: %d, %t, %v", n, found, err)
	}
	must(t, k.Drop(t.Context(), "mira"))
	if _, found, err := k.Try(t.Context(), "mira", 6); found || err != nil {
		t.Errorf("no value: %t, %v", found, err)
	}
}

func TestTheTableTellsNeitherNamesNorValues(t *testing.T) {
	d := dbtest.Open(t)
	k := tickets.New[string](d, newBox(t), "a", time.Minute, 10)
	must(t, k.Put(t.Context(), "name-of-mira", "value-of-mira"))
	var row string
	must(t, d.Read().QueryRowContext(t.Context(), `SELECT hash || kind || sealed FROM tickets`).Scan(&row))
	if strings.Contains(row, "mira") {
		t.Errorf("it holds %s", row)
	}
	if _, found, err := tickets.New[string](d, newBox(t), "a", time.Minute, 10).Find(t.Context(), "name-of-mira"); found || err != nil {
		t.Errorf("with another key: %t, %v", found, err)
	}
}
