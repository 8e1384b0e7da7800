package queue_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/engine/queue"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/record"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/watch"
)

// bench is a queue on a real database, and a catalog that is what the test says.
type bench struct {
	t     *testing.T
	db    *db.DB
	queue *queue.Queue
	*queue.Scheduler

	mu       sync.Mutex
	log      bytes.Buffer
	known    catalog.Reachability
	probe    error // what a probe brings; nil ends the outage
	enabled  bool
	probes   int
	released [][]int64
	held     []int64
}

func newBench(t *testing.T, dir string) *bench {
	t.Helper()
	d, err := db.Open(t.Context(), dir)
	must(t, err)
	b := &bench{t: t, db: d, queue: queue.NewQueue(d), enabled: true, known: catalog.Reachability{Reachable: true}}
	b.Scheduler = queue.New(queue.Config{
		Queue: b.queue, Log: slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Enabled: func() bool {
			b.mu.Lock()
			defer b.mu.Unlock()
			return b.enabled
		},
		Next: func(at time.Time) time.Time { return at.Truncate(5 * time.Minute).Add(5 * time.Minute) },
		Reachability: func() catalog.Reachability {
			b.mu.Lock()
			defer b.mu.Unlock()
			return b.known
		},
		Probe: func(context.Context) error {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.probes++
			return b.learn(b.probe)
		},
		Held: func(ids []int64) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.held = append(b.held, ids...)
		},
		Released: func(ids []int64) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.released = append(b.released, slices.Clone(ids))
		},
	})
	// Accounts 1 and 2.
	b.write(`INSERT INTO accounts (username, auth_method, access_token, enabled, preferred, private, complete_series, complete_films, created_at, updated_at)
		VALUES ('mira', 'token', 'sealed', 1, 1, 0, 0, 0, 0, 0), ('alex', 'token', 'sealed', 1, 0, 0, 0, 0, 0, 0)`)
	return b
}

// learn does what the breaker would. The caller holds mu.
func (b *bench) learn(err error) error {
	switch {
	case errors.Is(err, queue.ErrNoProbe):
	case err == nil:
		b.known = catalog.Reachability{Reachable: true}
	default:
		b.known.NextTrial = time.Now().Add(time.Minute)
	}
	return err
}

// catalogIs makes the catalog what it is from now on.
func (b *bench) catalogIs(known catalog.Reachability, probe error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.known, b.probe = known, probe
}

// seen is what the scheduler did so far.
func (b *bench) seen() (probes int, released [][]int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.probes, slices.Clone(b.released)
}

func (b *bench) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.log.Write(p)
}

func (b *bench) logged(text string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Count(b.log.String(), text)
}

func (b *bench) write(statement string, args ...any) {
	b.t.Helper()
	must(b.t, b.db.Write(b.t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, statement, args...)
		return err
	}))
}

// put queues a new record; the answer is its id.
func (b *bench) put(task queue.Task) (id int64) {
	b.t.Helper()
	return b.putMany(1, task)[0]
}

// putMany queues n new records at once.
func (b *bench) putMany(n int, task queue.Task) (ids []int64) {
	b.t.Helper()
	number := 1.0
	event := watch.Event{Source: watch.Custom, Action: watch.Watched, Media: watch.Episode, Title: "灯塔守望者", Episode: &number, UserName: "mira"}
	must(b.t, b.db.Write(b.t.Context(), func(ctx context.Context, tx *sql.Tx) (err error) {
		for range n {
			if task.RecordID, err = record.Insert(ctx, tx, event, false, time.Now()); err != nil {
				return err
			}
			if _, err := settle(ctx, tx, task); err != nil {
				return err
			}
			ids = append(ids, task.RecordID)
		}
		return nil
	}))
	return ids
}

// fails settles the record of a task as queued.
func (b *bench) fails(task queue.Task) (status queue.Status) {
	b.t.Helper()
	must(b.t, b.db.Write(b.t.Context(), func(ctx context.Context, tx *sql.Tx) (err error) {
		status, err = settle(ctx, tx, task)
		return err
	}))
	return status
}

// settle queues a task and settles its record as the engine does.
func settle(ctx context.Context, tx *sql.Tx, task queue.Task) (queue.Status, error) {
	put, err := queue.PutTx(ctx, tx, task, 3)
	status := put.Status
	if err != nil {
		return "", err
	}
	o := record.Outcome{RecordID: task.RecordID, Status: record.Queued, AccountID: task.AccountID, SubjectID: task.SubjectID}
	if status == queue.Abandoned {
		o.Status, o.ErrorKind = record.Failed, record.Abandoned
	}
	return status, record.SettleTx(ctx, tx, o)
}

// entry is the task of a record.
func (b *bench) entry(id int64) queue.Entry {
	b.t.Helper()
	entries, _, err := b.queue.List(b.t.Context(), queue.Filter{After: id - 1, Limit: 1})
	must(b.t, err)
	if len(entries) != 1 || entries[0].RecordID != id {
		b.t.Fatalf("no task of record %d: %+v", id, entries)
	}
	return entries[0]
}

func (b *bench) message(id int64) string {
	b.t.Helper()
	var message reason.Reason
	must(b.t, b.db.Read().QueryRowContext(b.t.Context(), `SELECT message FROM records WHERE id = ?`, id).Scan(&message))
	return message.Text
}

func (b *bench) status(id int64) (status record.Status) {
	b.t.Helper()
	must(b.t, b.db.Read().QueryRowContext(b.t.Context(), `SELECT status FROM records WHERE id = ?`, id).Scan(&status))
	return status
}

// play runs test in a bubble, beside the scheduler when it shall run.
func play(t *testing.T, running bool, test func(t *testing.T, b *bench)) {
	t.Helper()
	dir := dbtest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, dir)
		ctx, stop := context.WithCancel(t.Context())
		var ended sync.WaitGroup
		if running {
			ended.Go(func() { b.Run(ctx) })
		}
		defer func() { stop(); ended.Wait(); _ = b.db.Close() }()
		test(t, b)
	})
}

var down = &catalog.Error{Kind: catalog.ErrUnreachable}

func TestEmptyQueueMakesNoRequest(t *testing.T) {
	play(t, true, func(t *testing.T, b *bench) {
		time.Sleep(24 * time.Hour)
		if probes, released := b.seen(); probes != 0 || len(released) != 0 {
			t.Errorf("%d probes, released %v", probes, released)
		}
		if n := b.logged("the queue is empty"); n < 200 {
			t.Errorf("the log says %d times that the queue is empty, want once for each round", n)
		}
		if b.logged("level=INFO") != 1 {
			t.Error("more than one of these lines is of interest")
		}
	})
}

func TestStandingTellsTheLastRoundAndTheNext(t *testing.T) {
	play(t, true, func(t *testing.T, b *bench) {
		is := func(want queue.Outcome, count int) {
			t.Helper()
			time.Sleep(6 * time.Minute)
			s := b.Standing()
			if s.Last.Outcome != want || s.Last.Count != count || time.Since(s.Last.At) > 6*time.Minute || !s.Enabled || !s.Running || time.Until(s.NextRun) > 5*time.Minute {
				t.Errorf("%+v, want %s with %d", s, want, count)
			}
		}
		is(queue.Empty, 0)
		b.catalogIs(catalog.Reachability{NextTrial: time.Now().Add(time.Hour)}, down)
		b.put(queue.Task{AccountID: 1, Asked: true, RetryAfter: 20 * time.Minute})
		is(queue.Unreachable, 0)
		b.catalogIs(catalog.Reachability{Reachable: true}, nil)
		is(queue.NoneDue, 0)
		b.put(queue.Task{AccountID: 1})
		b.Kick()
		time.Sleep(time.Second)
		if last := b.Standing().Last; last.Outcome != queue.Sent || last.Count != 1 {
			t.Errorf("%+v after a task was due", last)
		}
		must(t, b.db.Close())
		is(queue.Failed, 0)
	})
}

func TestRoundFollowsAtOnceOnWhatIsQueued(t *testing.T) {
	play(t, true, func(t *testing.T, b *bench) {
		time.Sleep(time.Second)
		start := time.Now()
		id := b.put(queue.Task{AccountID: 1})
		b.Kick()
		for b.status(id) != record.Received {
			time.Sleep(10 * time.Millisecond)
		}
		if took := time.Since(start); took > 500*time.Millisecond {
			t.Errorf("released after %v", took)
		}
	})
}

func TestTaskThatFailedRestsLongerEachTime(t *testing.T) {
	play(t, true, func(t *testing.T, b *bench) {
		task := queue.Task{RecordID: 1, AccountID: 1, SubjectID: 8, Asked: true}
		b.put(task)
		for n, want := range []time.Duration{0, 5 * time.Second, 10 * time.Second} {
			if n > 0 {
				if status := b.fails(task); status != queue.Pending || b.entry(1).RetryCount != n {
					t.Fatalf("after %d failed tries it is %s with %d", n, status, b.entry(1).RetryCount)
				}
			}
			b.Kick()
			start := time.Now()
			for b.status(1) != record.Received {
				time.Sleep(100 * time.Millisecond)
			}
			if took := time.Since(start); took < want || took > want*5/4+time.Second {
				t.Errorf("try %d comes after %v, want %v and up to a quarter more", n+1, took, want)
			}
		}
		if status := b.fails(task); status != queue.Abandoned {
			t.Errorf("with the last retry allowed it is %s", status)
		}
		b.Kick()
		time.Sleep(24 * time.Hour)
		if b.status(1) != record.Failed {
			t.Errorf("the record of an abandoned task is %s", b.status(1))
		}
	})
}

func TestRetryAfterIsHonoured(t *testing.T) {
	play(t, true, func(t *testing.T, b *bench) {
		start := time.Now()
		id := b.put(queue.Task{AccountID: 1, Asked: true, RetryAfter: 10 * time.Minute})
		b.Kick()
		for b.status(id) != record.Received {
			time.Sleep(time.Second)
		}
		if took := time.Since(start); took < 10*time.Minute || took > 10*time.Minute+2*time.Second {
			t.Errorf("released after %v", took)
		}
	})
}

func TestOutageCostsNoTryAndEndsWithAProbe(t *testing.T) {
	play(t, true, func(t *testing.T, b *bench) {
		b.catalogIs(catalog.Reachability{NextTrial: time.Now().Add(time.Second)}, down)
		id := b.put(queue.Task{AccountID: 1})
		b.Kick()
		time.Sleep(time.Hour)
		if probes, released := b.seen(); probes < 50 || probes > 70 || len(released) != 0 {
			t.Errorf("%d probes in an hour, released %v", probes, released)
		}
		for _, marker := range []string{"API still unreachable", "probe failed: the request itself failed"} {
			if b.logged(marker) < 50 {
				t.Errorf("the log says %d times %q", b.logged(marker), marker)
			}
		}
		b.fails(queue.Task{RecordID: id, AccountID: 1})
		if e := b.entry(id); e.RetryCount != 0 {
			t.Errorf("the task counts %d tries, none was made", e.RetryCount)
		}
		b.catalogIs(catalog.Reachability{NextTrial: time.Now().Add(time.Second)}, nil)
		time.Sleep(2 * time.Minute)
		if b.status(id) != record.Received {
			t.Errorf("the record is %s after the return", b.status(id))
		}
	})
}

func TestWithoutAUsableAccountARoundStops(t *testing.T) {
	for name, known := range map[string]catalog.Reachability{"reachable": {Reachable: true}, "unreachable": {}} {
		t.Run(name, func(t *testing.T) {
			play(t, true, func(t *testing.T, b *bench) {
				b.catalogIs(known, nil)
				b.write(`UPDATE accounts SET enabled = 0`)
				id := b.put(queue.Task{AccountID: 1})
				b.Kick()
				time.Sleep(24 * time.Hour)
				probes, released := b.seen()
				if probes != 0 || len(released) != 0 || b.status(id) != record.Queued || b.entry(id).Status != queue.Pending || b.Standing().Last.Outcome != queue.NoAccount {
					t.Errorf("%d probes, released %v, record %s, last %+v", probes, released, b.status(id), b.Standing().Last)
				}
				if n := b.logged("no usable account configuration for probing"); n < 200 || n > 400 {
					t.Errorf("the marker stands %d times in the log", n)
				}
				if _, err := b.Replay(t.Context(), 10); !errors.Is(err, queue.ErrNoProbe) {
					t.Errorf("by hand: %v", err)
				}
				if err := b.ReplayOne(t.Context(), id); !errors.Is(err, queue.ErrNoProbe) {
					t.Errorf("one by hand: %v", err)
				}
				b.write(`UPDATE accounts SET enabled = 1 WHERE id = 1`)
				b.Kick()
				time.Sleep(time.Second)
				if b.status(id) != record.Received {
					t.Errorf("with an account the record is %s", b.status(id))
				}
			})
		})
	}
}

func TestATaskWaitsForItsAccount(t *testing.T) {
	for name, c := range map[string]struct {
		lose, back string
		reason     string
	}{
		"disabled": {`UPDATE accounts SET enabled = 0 WHERE id = 1`, `UPDATE accounts SET enabled = 1 WHERE id = 1`, "the account mira is disabled: this waits until it is enabled"},
		"no token": {`UPDATE accounts SET access_token = '' WHERE id = 1`, `UPDATE accounts SET access_token = 'sealed' WHERE id = 1`, "the account mira has no access token: this waits until it has one"},
		"deleted":  {`DELETE FROM accounts WHERE id = 1`, `INSERT INTO account_media_users (account_id, name) VALUES (2, 'mira')`, queue.AccountGone.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, true, func(t *testing.T, b *bench) {
				b.catalogIs(catalog.Reachability{NextTrial: time.Now().Add(time.Hour)}, down)
				id := b.put(queue.Task{AccountID: 1, SubjectID: 8})
				other := b.put(queue.Task{AccountID: 2, SubjectID: 8})
				b.write(c.lose)
				b.catalogIs(catalog.Reachability{Reachable: true}, nil)
				b.Kick()
				time.Sleep(24 * time.Hour)
				if b.status(other) != record.Received {
					t.Errorf("the record of another account is %s", b.status(other))
				}
				e := b.entry(id)
				if b.status(id) != record.Queued || e.Status != queue.Pending || !e.Held || e.LastError.Text != c.reason || b.message(id) != c.reason {
					t.Errorf("record %s %q, task %+v", b.status(id), b.message(id), e)
				}
				if err := b.ReplayOne(t.Context(), id); !errors.Is(err, queue.ErrHeld) {
					t.Errorf("by hand: %v", err)
				}
				if ids, err := b.Replay(t.Context(), 10); err != nil || len(ids) != 0 {
					t.Errorf("all by hand: %v, %v", ids, err)
				}
				// A person who retries the record finds it back in the queue.
				b.write(`UPDATE records SET status = 'processing' WHERE id = ?`, id)
				if held, err := b.queue.Hold(t.Context(), 0, id); err != nil || !held || b.status(id) != record.Queued {
					t.Errorf("retried: %v, %v, record %s", held, err, b.status(id))
				}
				b.mu.Lock()
				if !slices.Equal(b.held, []int64{id}) {
					t.Errorf("told of %v", b.held)
				}
				b.mu.Unlock()
				b.write(c.back)
				if held, err := b.queue.Hold(t.Context(), 0, id); err != nil || held {
					t.Errorf("held with the account back: %v, %v", held, err)
				}
				b.Kick()
				time.Sleep(time.Second)
				if e := b.entry(id); b.status(id) != record.Received || e.Held {
					t.Errorf("with the account back: record %s, task %+v", b.status(id), e)
				}
			})
		})
	}
}

func TestAMarkIsQueuedThoughItsAccountIsGone(t *testing.T) {
	play(t, false, func(t *testing.T, b *bench) {
		id := b.put(queue.Task{AccountID: 77})
		if e := b.entry(id); e.Status != queue.Pending || !e.Held || e.AccountID != 0 {
			t.Errorf("%+v", e)
		}
	})
}

func TestSwitchedOffNothingIsSent(t *testing.T) {
	play(t, true, func(t *testing.T, b *bench) {
		b.mu.Lock()
		b.enabled = false
		b.mu.Unlock()
		synctest.Wait() // a round that had begun before is through
		id := b.put(queue.Task{AccountID: 1})
		b.Kick()
		time.Sleep(time.Hour)
		if b.status(id) != record.Queued || b.Standing().Running {
			t.Errorf("record %s, running %v", b.status(id), b.Standing().Running)
		}
		if ids, err := b.Replay(t.Context(), 10); err != nil || !slices.Equal(ids, []int64{id}) {
			t.Errorf("by hand: %v, %v", ids, err)
		}
	})
}

func TestOneSubjectOfOneAccountGoesTogetherAndInOrder(t *testing.T) {
	play(t, true, func(t *testing.T, b *bench) {
		first := b.put(queue.Task{AccountID: 1, SubjectID: 8, Asked: true, RetryAfter: time.Minute})
		second := b.put(queue.Task{AccountID: 1, SubjectID: 8})
		third := b.put(queue.Task{AccountID: 1, SubjectID: 8, Asked: true, RetryAfter: time.Hour})
		other := b.put(queue.Task{AccountID: 1, SubjectID: 9})
		hers := b.put(queue.Task{AccountID: 2, SubjectID: 8})
		unmatched := b.put(queue.Task{AccountID: 1})
		b.Kick()
		time.Sleep(2 * time.Minute)
		_, released := b.seen()
		// What may go at once goes in one round or in two: the first may begin before all are there.
		last := max(0, len(released)-1)
		if len(released) == 0 || !slices.Equal(slices.Concat(released[:last]...), []int64{other, hers, unmatched}) || !slices.Equal(released[last], []int64{first, second, third}) {
			t.Errorf("released %v, want %v at once and then %v together", released, []int64{other, hers, unmatched}, []int64{first, second, third})
		}
	})
}

func TestEarlierTaskOfTheSubjectGoesFirst(t *testing.T) {
	play(t, false, func(t *testing.T, b *bench) {
		first := b.put(queue.Task{AccountID: 1, SubjectID: 8, Asked: true, RetryAfter: time.Hour})
		for name, c := range map[string]struct {
			record, account int64
			subject         catalog.SubjectID
			want            bool
		}{
			"a later episode":    {first + 1, 1, 8, true},
			"another account":    {first + 1, 2, 8, false},
			"another subject":    {first + 1, 1, 9, false},
			"the episode itself": {first, 1, 8, false},
		} {
			if behind, err := b.queue.Behind(t.Context(), c.record, c.account, c.subject, false); err != nil || behind != c.want {
				t.Errorf("%s: behind is %v (%v)", name, behind, err)
			}
		}
		if due := b.entry(first).NextAttempt; time.Until(due) < 50*time.Minute {
			t.Errorf("the task was advanced to %v by a look", due)
		}
		if behind, err := b.queue.Behind(t.Context(), first+1, 1, 8, true); err != nil || !behind {
			t.Error(behind, err)
		}
		if due := b.entry(first).NextAttempt; time.Until(due) > time.Second {
			t.Errorf("the task is due at %v only", due)
		}
	})
}

func TestManyTasksAreReleasedWithoutFloodingTheEngine(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	play(t, true, func(t *testing.T, b *bench) {
		b.putMany(2400, queue.Task{AccountID: 1})
		b.Kick()
		time.Sleep(time.Minute)
		var n int
		must(t, b.db.Read().QueryRowContext(t.Context(), `SELECT COUNT(*) FROM records WHERE status = 'received'`).Scan(&n))
		if n != 1024 {
			t.Errorf("%d records are before the engine, want 1024", n)
		}
		b.write(`UPDATE records SET status = 'success' WHERE status = 'received'`)
		time.Sleep(time.Second)
		must(t, b.db.Read().QueryRowContext(t.Context(), `SELECT COUNT(*) FROM records WHERE status = 'received'`).Scan(&n))
		if n != 1024 {
			t.Errorf("%d more followed when there was room, want 1024", n)
		}
	})
}

func TestAccountsTakeTurnsAfterAnOutage(t *testing.T) {
	play(t, true, func(t *testing.T, b *bench) {
		b.putMany(2400, queue.Task{AccountID: 1})
		hers := b.put(queue.Task{AccountID: 2})
		b.Kick()
		time.Sleep(time.Minute)
		var status string
		must(t, b.db.Read().QueryRowContext(t.Context(), `SELECT status FROM records WHERE id = ?`, hers).Scan(&status))
		if status != "received" {
			t.Errorf("what waits of another account is %s after the first round", status)
		}
	})
}

func TestClockThatWasSetBackKeepsNobodyWaiting(t *testing.T) {
	play(t, true, func(t *testing.T, b *bench) {
		id := b.put(queue.Task{AccountID: 1})
		b.write(`UPDATE pending_sync_queue SET next_attempt = ?`, time.Now().Add(2*time.Hour).UnixMilli())
		b.Kick()
		time.Sleep(time.Second)
		if b.status(id) != record.Received {
			t.Errorf("the record is %s", b.status(id))
		}
	})
}

func TestByHand(t *testing.T) {
	play(t, false, func(t *testing.T, b *bench) {
		waiting := b.put(queue.Task{AccountID: 1, Asked: true, RetryAfter: time.Hour})
		given := b.put(queue.Task{AccountID: 1, Asked: true})
		for range 3 {
			b.fails(queue.Task{RecordID: given, AccountID: 1, Asked: true})
		}
		done := b.put(queue.Task{AccountID: 1})
		must(t, b.db.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			_, err := queue.DoneTx(ctx, tx, done)
			return errors.Join(err, record.SettleTx(ctx, tx, record.Outcome{RecordID: done, Status: record.Success}))
		}))
		const unknown = 99
		for _, c := range []struct {
			name string
			do   func(context.Context, int64) error
			id   int64
			want error
		}{
			{"replay what nobody queued", b.ReplayOne, unknown, queue.ErrNotFound},
			{"replay what is done", b.ReplayOne, done, queue.ErrSynced},
			{"revive what nobody queued", b.Revive, unknown, queue.ErrNotFound},
			{"revive what is done", b.Revive, done, queue.ErrSynced},
			{"revive what is pending", b.Revive, waiting, queue.ErrPending},
			{"delete what nobody queued", b.queue.Delete, unknown, queue.ErrNotFound},
			{"revive what was given up", b.Revive, given, nil},
			{"revive it twice", b.Revive, given, queue.ErrPending},
			{"replay what is not due", b.ReplayOne, waiting, nil},
			{"replay it twice", b.ReplayOne, waiting, queue.ErrInWork},
			{"delete what is in work", b.queue.Delete, waiting, queue.ErrInWork},
			{"delete what waits", b.queue.Delete, given, nil},
			{"delete what is done", b.queue.Delete, done, nil},
		} {
			if err := c.do(t.Context(), c.id); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", c.name, err, c.want)
			}
		}
		for id, want := range map[int64]record.Status{waiting: record.Received, given: record.Ignored, done: record.Success} {
			if got := b.status(id); got != want {
				t.Errorf("record %d is %s, want %s", id, got, want)
			}
		}
		counts, err := b.queue.Counts(t.Context())
		if err != nil || counts[queue.Pending] != 1 || counts[queue.Abandoned]+counts[queue.Synced] != 0 {
			t.Errorf("counts %v (%v)", counts, err)
		}
	})
}

// TestATaskIsDeletedAsItStandsThen has a task revived between the click and the deletion.
func TestATaskIsDeletedAsItStandsThen(t *testing.T) {
	play(t, false, func(t *testing.T, b *bench) {
		id := b.put(queue.Task{AccountID: 1, Asked: true})
		for range 3 {
			b.fails(queue.Task{RecordID: id, AccountID: 1, Asked: true})
		}
		free := make(chan struct{})
		var ended sync.WaitGroup
		for _, do := range []func() error{
			func() error {
				return b.db.Write(t.Context(), func(context.Context, *sql.Tx) error { <-free; return nil })
			},
			func() error { return b.Revive(t.Context(), id) },
			func() error { return b.queue.Delete(t.Context(), id) },
		} {
			ended.Go(func() {
				if err := do(); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait() // the next one comes behind it
		}
		close(free)
		ended.Wait()
		if got := b.status(id); got != record.Ignored {
			t.Errorf("the record is %s, and no task waits for it", got)
		}
	})
}

func TestRevivedTaskHasAllItsTries(t *testing.T) {
	play(t, true, func(t *testing.T, b *bench) {
		id := b.put(queue.Task{AccountID: 1, Asked: true})
		for range 3 {
			b.fails(queue.Task{RecordID: id, AccountID: 1, Asked: true})
		}
		must(t, b.Revive(t.Context(), id))
		time.Sleep(time.Second)
		if e := b.entry(id); e.Status != queue.Pending || e.RetryCount != 0 || b.status(id) != record.Received {
			t.Errorf("%+v, record %s", e, b.status(id))
		}
	})
}

func TestListIsPagedInOrder(t *testing.T) {
	play(t, false, func(t *testing.T, b *bench) {
		var all []int64
		for range 5 {
			all = append(all, b.put(queue.Task{AccountID: 1, SubjectID: 8, Episodes: []catalog.EpisodeID{801}}))
		}
		must(t, b.ReplayOne(t.Context(), all[2]))
		backwards := slices.Clone(all)
		slices.Reverse(backwards)
		for newest, want := range map[bool][]int64{false: all, true: backwards} {
			var got []int64
			for after := int64(0); ; {
				entries, next, err := b.queue.List(t.Context(), queue.Filter{Status: queue.Pending, Newest: newest, After: after, Limit: 2})
				must(t, err)
				for _, e := range entries {
					got = append(got, e.RecordID)
					if e.Title != "灯塔守望者" || e.MediaType != watch.Episode || e.SubjectID != 8 || !slices.Equal(e.Episodes, []catalog.EpisodeID{801}) || e.InWork != (e.RecordID == all[2]) {
						t.Errorf("%+v", e)
					}
				}
				if after = next; next == 0 {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("listed %v, want %v", got, want)
			}
		}
	})
}

func TestPruneRemovesOnlyWhatIsDone(t *testing.T) {
	play(t, false, func(t *testing.T, b *bench) {
		for range 3 {
			id := b.put(queue.Task{AccountID: 1})
			must(t, b.db.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error { _, err := queue.DoneTx(ctx, tx, id); return err }))
		}
		pending := b.put(queue.Task{AccountID: 1})
		if n, err := b.queue.Prune(t.Context(), time.Now().Add(-time.Hour), 10); err != nil || n != 0 {
			t.Errorf("removed %d (%v) that are young", n, err)
		}
		if n, err := b.queue.Prune(t.Context(), time.Now().Add(time.Hour), 2); err != nil || n != 2 {
			t.Errorf("removed %d (%v), want the limit of 2", n, err)
		}
		if _, err := b.queue.Prune(t.Context(), time.Now().Add(time.Hour), 10); err != nil || b.entry(pending).Status != queue.Pending {
			t.Error(err)
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
