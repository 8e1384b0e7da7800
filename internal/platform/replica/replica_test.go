package replica_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/replica"
	"watchmark/internal/testkit/logtest"
	"watchmark/internal/testkit/postgrestest"
)

// life is that of the replicas of tests.
const life = 1500 * time.Millisecond

// one is a replica with its own connections.
type one struct {
	*replica.Self
	db  *db.DB
	log *logtest.Buffer

	mu    sync.Mutex
	freed []int64
	told  []string
}

// join makes a replica on a database.
func join(t *testing.T, d *db.DB, name string) *one {
	t.Helper()
	o := &one{db: d, log: new(logtest.Buffer)}
	var err error
	o.Self, err = replica.Join(t.Context(), replica.Config{
		DB: d, Name: name, Program: "1.0", Log: slog.New(slog.NewTextHandler(o.log, nil)),
		About: func() replica.About {
			return replica.About{Address: "10.0.0.1", Egress: "shared", Reachable: name != "deaf"}
		},
		Free: []func(ctx context.Context, tx *sql.Tx, dead []int64) error{func(_ context.Context, _ *sql.Tx, dead []int64) error {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.freed = append(o.freed, dead...)
			return nil
		}},
		Told: func(_ context.Context, _ *sql.Tx, names []string) error {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.told = append(o.told, names...)
			return nil
		},
	})
	must(t, err)
	return o
}

// run has it beat until the test ends, or stop is called.
func (o *one) run(t *testing.T) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { o.Run(ctx); close(ended) }()
	stop = sync.OnceFunc(func() { cancel(); <-ended })
	t.Cleanup(stop)
	return stop
}

func (o *one) seen() (freed []int64, told []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.freed), slices.Clone(o.told)
}

// write writes a row that nothing else needs.
func (o *one) write(t *testing.T) error {
	return o.db.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE claims SET owner = 0 WHERE id = 1`)
		return err
	})
}

// open opens a database in PostgreSQL once more; the test is skipped where that is missing.
func open(t *testing.T, address string) *db.DB {
	t.Helper()
	d, err := db.OpenServer(t.Context(), address)
	must(t, err)
	t.Cleanup(func() { must(t, d.Close()) })
	return d
}

func schema(t *testing.T) string {
	t.Helper()
	return postgrestest.Schema(t, postgrestest.Shared(t).URL())
}

func TestAloneAStartEvictsAllBefore(t *testing.T) {
	d, err := db.Open(t.Context(), t.TempDir())
	must(t, err)
	defer func() { must(t, d.Close()) }()
	first := join(t, d, "here")
	second := join(t, d, "here")
	if freed, _ := first.seen(); !slices.Equal(freed, []int64{0}) {
		t.Errorf("the first freed %v", freed)
	}
	if freed, told := second.seen(); !slices.Equal(freed, []int64{first.Incarnation(), 0}) || len(told) != 0 || second.Incarnation() == first.Incarnation() {
		t.Errorf("the second, %d, freed %v and told %v", second.Incarnation(), freed, told)
	}
	all, err := replica.List(t.Context(), d)
	if err != nil || len(all) != 1 || all[0].Incarnation != second.Incarnation() || !all[0].Live || all[0].Schema != d.SchemaVersion() {
		t.Errorf("listed are %+v, %v", all, err)
	}
	second.Run(t.Context()) // returns: there is nothing to tell anybody
	if err := second.Member().May(time.Hour); err != nil || second.OthersReach() {
		t.Errorf("alone it may not write: %v", err)
	}
	must(t, second.Leave(t.Context()))
	if freed, _ := second.seen(); !slices.Contains(freed, second.Incarnation()) {
		t.Errorf("leaving frees %v", freed)
	}
}

func TestTheSameReplicaStartedAgainEvictsItsFormerIncarnationAtOnce(t *testing.T) {
	address := schema(t)
	before := join(t, open(t, address), "a")
	other := join(t, open(t, address), "b")
	must(t, before.write(t))
	again := join(t, open(t, address), "a")
	if freed, told := again.seen(); !slices.Equal(freed, []int64{before.Incarnation()}) || len(told) != 0 {
		t.Errorf("freed %v, told %v", freed, told)
	}
	if err := before.write(t); !errors.Is(err, db.ErrEvicted) {
		t.Errorf("the former incarnation writes: %v", err)
	}
	must(t, other.write(t))
	must(t, again.write(t))
}

// A server that was put back to an earlier state gives numbers anew that live replicas have: each finds that out.
func TestANumberThatAnotherReplicaHasIsNoOnesOwn(t *testing.T) {
	address := schema(t)
	before, after := join(t, open(t, address), "a"), open(t, address)
	must(t, after.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE replicas SET replica = 'b'`)
		return err
	}))
	before.run(t)
	number := before.Incarnation()
	if m := before.Await(t.Context()); m.Incarnation == number {
		select {
		case <-m.Ended():
		case <-time.After(10 * time.Second):
			t.Fatal("it goes on as a number that another replica has")
		}
	}
	if m := before.Await(t.Context()); m.Incarnation == number {
		t.Errorf("it joined as %d again", number)
	}
}

// What is not heard for its life is evicted by one that was heard for one; it finds that out, and joins anew.
func TestWhoIsNotHeardIsEvictedAndJoinsAnew(t *testing.T) {
	address := schema(t)
	asleep, awake := join(t, open(t, address), "asleep"), join(t, open(t, address), "awake")
	asleep.Shorten(life)
	awake.Shorten(life)
	former := asleep.Member()
	stop := asleep.run(t)
	awake.run(t)
	eventually(t, "both beat", func() bool {
		all, err := replica.List(t.Context(), awake.db)
		must(t, err)
		return !slices.ContainsFunc(all, func(r replica.Replica) bool { return time.Until(r.LeaseUntil) > life })
	})
	stop()
	eventually(t, "it is evicted", func() bool { // counted after the commit
		counted := awake.Evictions.Samples()
		return len(counted) == 1 && counted[0].Value == 1
	})
	if freed, told := awake.seen(); !slices.Equal(freed, []int64{former.Incarnation}) || !slices.Equal(told, []string{"asleep"}) {
		t.Errorf("freed %v, told %v", freed, told)
	}
	if err := asleep.write(t); !errors.Is(err, db.ErrEvicted) {
		t.Errorf("the evicted one writes: %v", err)
	}
	if err := former.May(0); !errors.Is(err, replica.ErrNotLive) {
		t.Errorf("the evicted one may send: %v", err)
	}
	asleep.run(t) // it wakes up
	eventually(t, "it is another one", func() bool { return asleep.Incarnation() != former.Incarnation })
	select {
	case <-former.Ended():
	default:
		t.Error("the former incarnation has not ended")
	}
	if asleep.Await(t.Context()) != asleep.Member() || asleep.Member().May(0) != nil || former.May(0) == nil {
		t.Error("only the new one is live")
	}
	must(t, asleep.write(t))
	all, err := replica.List(t.Context(), awake.db)
	if err != nil || len(all) != 3 || all[0].Live || !all[1].Live || !all[2].Heard || all[2].Address != "10.0.0.1" || all[2].ClockOffset.Abs() > time.Second {
		t.Errorf("listed are %+v, %v", all, err)
	}
}

// After an outage the first to look would evict all others if it did not wait for its own life.
func TestNobodyIsEvictedByOneThatWasNotHeardForALife(t *testing.T) {
	address := schema(t)
	quiet, fresh := join(t, open(t, address), "quiet"), join(t, open(t, address), "fresh")
	must(t, fresh.db.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE replicas SET lease_until = now_ms() - 1 WHERE replica = 'quiet'`)
		return err
	}))
	began := time.Now()
	fresh.Shorten(life)
	fresh.run(t)
	eventually(t, "it is evicted", func() bool { return len(fresh.Evictions.Samples()) == 1 })
	if took := time.Since(began); took < life {
		t.Errorf("evicted after %v, before it was heard for %v", took, life)
	}
	if err := quiet.write(t); !errors.Is(err, db.ErrEvicted) {
		t.Errorf("the evicted one writes: %v", err)
	}
}

// A beat that comes first keeps the replica, an eviction that comes first ends it: never both.
func TestBeatAgainstEviction(t *testing.T) {
	address := schema(t)
	d, other := open(t, address), open(t, address)
	for range 20 {
		d.Fence(0) // another process begins
		m := join(t, d, "a")
		expire := `UPDATE replicas SET lease_until = now_ms() WHERE incarnation = ?`
		must(t, other.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, expire, m.Incarnation())
			return err
		}))
		var beats, evicts int64
		var both sync.WaitGroup
		both.Go(func() {
			must(t, d.WriteAside(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
				result, err := tx.ExecContext(ctx, `UPDATE replicas SET lease_until = now_ms() + 30000 WHERE incarnation = ? AND state = 'live'`, m.Incarnation())
				if err == nil {
					beats, err = result.RowsAffected()
				}
				return err
			}))
		})
		both.Go(func() {
			must(t, other.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
				result, err := tx.ExecContext(ctx, `UPDATE replicas SET state = 'dead' WHERE state = 'live' AND lease_until <= now_ms()`)
				if err == nil {
					evicts, err = result.RowsAffected()
				}
				return err
			}))
		})
		both.Wait()
		if err := m.write(t); beats+evicts != 1 || (err == nil) != (beats == 1) {
			t.Fatalf("%d beats, %d evictions, and then a write: %v", beats, evicts, err)
		}
	}
}

// A request is sent only when it is over before others may take the replica for dead.
func TestMayCountsFromTheLastBeat(t *testing.T) {
	m := join(t, open(t, schema(t)), "a") // and beats no more
	for timeout, may := range map[time.Duration]bool{0: true, 15 * time.Second: true, 27 * time.Second: true, 29 * time.Second: false, replica.Life: false} {
		if err := m.Member().May(timeout); (err == nil) != may {
			t.Errorf("a request of %v: %v", timeout, err)
		}
	}
	m.Shorten(200 * time.Millisecond)
	eventually(t, "it may not", func() bool { return errors.Is(m.Member().May(0), replica.ErrNotLive) && !m.Live() })
}

func TestOthersReachTellsOfLiveOnes(t *testing.T) {
	address := schema(t)
	a, deaf := join(t, open(t, address), "a"), join(t, open(t, address), "deaf")
	a.run(t)
	deaf.run(t)
	eventually(t, "the deaf one hears of the other", func() bool { return deaf.OthersReach() && !a.OthersReach() })
}

// What older programs would do wrong is written when none of them lives, and none comes in afterwards.
func TestWhatOlderProgramsDoWrongWaitsForThem(t *testing.T) {
	address := schema(t)
	old, d := join(t, open(t, address), "old"), open(t, address)
	late := old.Config
	late.Name, late.DB = "late", open(t, address)
	join(t, d, "other")
	require := func(schema int64) error {
		return d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error { return replica.RequireTx(ctx, tx, schema) })
	}
	floor := func(want int64) {
		t.Helper()
		if got, err := d.SchemaFloor(t.Context()); err != nil || got != want {
			t.Errorf("the floor is %d, %v, want %d", got, err, want)
		}
	}
	knows := d.SchemaVersion()
	must(t, require(knows))
	must(t, require(knows-1))
	floor(knows)
	if err := require(knows + 1); !errors.Is(err, replica.ErrOlder) {
		t.Errorf("two that know too little: %v", err)
	}
	floor(knows)
	execute := func(statement string, args ...any) {
		t.Helper()
		must(t, d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, statement, args...)
			return err
		}))
	}
	execute(`UPDATE replicas SET schema = ? WHERE incarnation <> ?`, knows+1, old.Incarnation())
	if err := require(knows + 1); !errors.Is(err, replica.ErrOlder) {
		t.Errorf("one that knows too little: %v", err)
	}
	execute(`UPDATE replicas SET state = 'dead' WHERE incarnation = ?`, old.Incarnation())
	must(t, require(knows+1))
	floor(knows + 1)
	if _, err := replica.Join(t.Context(), late); err == nil || !strings.Contains(err.Error(), "newer program") {
		t.Errorf("one that was opened before comes in: %v", err)
	}
}

func TestNameIsThatOfTheFolder(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	name, err := replica.NameIn(dir)
	must(t, err)
	again, err := replica.NameIn(dir)
	must(t, err)
	another, err := replica.NameIn(other)
	must(t, err)
	if name != again || name == another {
		t.Errorf("%q, %q, %q", name, again, another)
	}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
		t.FailNow()
	}
}
