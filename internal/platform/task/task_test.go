package task_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/logs"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/scope"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/task"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/postgrestest"
)

// registry is that of a replica on a new database.
func registry(t *testing.T) *task.Registry {
	t.Helper()
	return task.New(dbtest.Open(t), dbtest.Self(1), slog.New(slog.DiscardHandler))
}

// ended waits for the end of a task and gives its log.
func ended(t *testing.T, run *task.Task) (task.Status, []logs.Line) {
	t.Helper()
	for {
		_, more := run.After(0) // before the state, or the end might come between them unheard
		if status := run.Status(); status.State != task.Running {
			lines, _ := run.After(0)
			return status, lines
		}
		<-more
	}
}

func TestTaskTellsItsProgressAndHowItEnded(t *testing.T) {
	for name, c := range map[string]struct {
		work  func(ctx context.Context, run *task.Task) error
		state task.State
		says  string
	}{
		"done": {func(_ context.Context, run *task.Task) error {
			run.SetResult(map[string]int{"marked": 2})
			run.Progress(2, 2, reason.Text("two marked"))
			return nil
		}, task.Done, "two marked"},
		"failed":   {func(context.Context, *task.Task) error { return errors.New("no disk") }, task.Failed, "no disk"},
		"panicked": {func(context.Context, *task.Task) error { panic("a bug") }, task.Failed, "internal error: the log of the service has the details"},
	} {
		t.Run(name, func(t *testing.T) {
			r := registry(t)
			run, err := r.Start(t.Context(), task.Spec{Kind: "test", About: 42}, c.work)
			if err != nil {
				t.Fatal(err)
			}
			status, _ := ended(t, run)
			if status.State != c.state || !strings.HasPrefix(status.Message.Text, c.says) || status.EndedAt == nil || status.RecordID != 42 {
				t.Errorf("%+v", status)
			}
			if err := r.Cancel(t.Context(), status.ID); !errors.Is(err, task.ErrEnded) {
				t.Errorf("cancel of an ended task: %v", err)
			}
		})
	}
}

func TestAPanicIsInTheLogs(t *testing.T) {
	var usual strings.Builder
	r := task.New(dbtest.Open(t), dbtest.Self(1), slog.New(task.Handler(slog.NewTextHandler(&usual, nil))))
	run, err := r.Start(t.Context(), task.Spec{Kind: "test"}, func(context.Context, *task.Task) error { panic("a bug") })
	if err != nil {
		t.Fatal(err)
	}
	_, lines := ended(t, run)
	if len(lines) != 1 || !strings.Contains(lines[0].Text, "a bug") || !strings.Contains(lines[0].Text, "task_test.go") {
		t.Errorf("the log of the task holds %v", lines)
	}
	if !strings.Contains(usual.String(), "a bug") {
		t.Errorf("the service's log holds %q", usual.String())
	}
}

func TestCancelAndStopEndTheWork(t *testing.T) {
	r := registry(t)
	waits := func(ctx context.Context, _ *task.Task) error { <-ctx.Done(); return ctx.Err() }
	first, _ := r.Start(t.Context(), task.Spec{Kind: "test"}, waits)
	second, _ := r.Start(t.Context(), task.Spec{Kind: "test"}, waits)
	if err := r.Cancel(t.Context(), first.Status().ID); err != nil {
		t.Fatal(err)
	}
	if status, _ := ended(t, first); status.State != task.Cancelled || second.Status().State != task.Running {
		t.Errorf("%+v, and the other %+v", status, second.Status())
	}
	if err := r.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if s := second.Status(); s.State != task.Failed || s.Message.Code != "task_cut" {
		t.Errorf("after Stop: %+v", s)
	}
	if _, err := r.Start(t.Context(), task.Spec{Kind: "test"}, waits); !errors.Is(err, task.ErrStopping) {
		t.Errorf("started after Stop: %v", err)
	}
}

func TestStopIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := registry(t)
		deaf := make(chan struct{})
		if _, err := r.Start(t.Context(), task.Spec{Kind: "deaf"}, func(context.Context, *task.Task) error { <-deaf; return nil }); err != nil {
			t.Fatal(err)
		}
		bounded, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.Stop(bounded); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "deaf") {
			t.Errorf("got %v", err)
		}
		close(deaf)
		if err := r.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestOutlive(t *testing.T) {
	failed := errors.New("refused")
	for name, c := range map[string]struct {
		work func(ctx context.Context) error
		want error
		took time.Duration
	}{
		"ends in time":    {func(context.Context) error { time.Sleep(time.Second); return nil }, nil, time.Second},
		"fails in time":   {func(context.Context) error { time.Sleep(time.Second); return failed }, failed, time.Second},
		"never ends":      {func(ctx context.Context) error { <-ctx.Done(); return nil }, context.Canceled, task.OutliveMost},
		"is not cut off":  {func(ctx context.Context) error { return ctx.Err() }, nil, 0},
		"ends at its own": {func(ctx context.Context) error { time.Sleep(3 * time.Second); return ctx.Err() }, nil, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, leave := context.WithCancel(t.Context())
				leave()
				began := time.Now()
				if err := task.Outlive(ctx, time.Minute, c.work); !errors.Is(err, c.want) || time.Since(began) != c.took {
					t.Errorf("after %v: %v", time.Since(began), err)
				}
				time.Sleep(time.Minute)
			})
		})
	}
	if err := task.Outlive(t.Context(), time.Minute, func(context.Context) error { panic("a bug") }); err == nil || !strings.Contains(err.Error(), "a bug") {
		t.Errorf("of a panic: %v", err)
	}
}

func TestAloneIsOneAtATime(t *testing.T) {
	d := dbtest.Open(t)
	here, elsewhere := task.New(d, dbtest.Self(1), slog.New(slog.DiscardHandler)), task.New(d, dbtest.Self(2), slog.New(slog.DiscardHandler))
	waits := func(ctx context.Context, _ *task.Task) error { <-ctx.Done(); return ctx.Err() }
	alone := task.Spec{Kind: "test", Alone: "the one"}
	first, err := here.Start(t.Context(), alone, waits)
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]*task.Registry{"here": here, "at another replica": elsewhere} {
		if again, err := r.Start(t.Context(), alone, waits); !errors.Is(err, task.ErrRunning) || again == nil || again.Status().ID != first.Status().ID {
			t.Errorf("the second, %s: %v, %v", name, again, err)
		}
		if id, err := r.RunningOf(t.Context(), 0, "test", "other"); err != nil || id != first.Status().ID {
			t.Errorf("what runs, %s: %d, %v", name, id, err)
		}
	}
	if other, err := elsewhere.Start(t.Context(), task.Spec{Kind: "test", Alone: "another"}, waits); err != nil || other == first {
		t.Errorf("of another name: %v", err)
	}
	if err := here.Cancel(t.Context(), first.Status().ID); err != nil {
		t.Fatal(err)
	}
	ended(t, first)
	panicked, err := elsewhere.Start(t.Context(), alone, func(context.Context, *task.Task) error { panic("a bug") })
	if err != nil {
		t.Fatalf("after the end of the first: %v", err)
	}
	ended(t, panicked)
	if next, err := here.Start(t.Context(), alone, waits); err != nil || next == panicked {
		t.Errorf("after a panic: %v", err)
	}
	for _, r := range []*task.Registry{here, elsewhere} {
		if err := r.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := r.Start(t.Context(), alone, waits); !errors.Is(err, task.ErrStopping) {
			t.Errorf("after Stop: %v", err)
		}
	}
}

// What one replica started, all show; it ends with its replica.
func TestTasksAreShownByAllReplicas(t *testing.T) {
	d := dbtest.Open(t)
	here, elsewhere := task.New(d, dbtest.Self(1), slog.New(slog.DiscardHandler)), task.New(d, dbtest.Self(2), slog.New(slog.DiscardHandler))
	log := slog.New(task.Handler(slog.DiscardHandler))
	done, err := here.Start(t.Context(), task.Spec{Kind: "test", About: 7}, func(ctx context.Context, run *task.Task) error {
		log.WarnContext(ctx, "the first", "with", "two\nlines")
		log.DebugContext(ctx, "the second")
		run.Progress(3, 4, reason.Text("three of four"))
		run.SetResult(map[string]int{"marked": 3})
		return errors.New("no disk")
	})
	if err != nil {
		t.Fatal(err)
	}
	want, lines := ended(t, done)
	seen, err := elsewhere.Get(t.Context(), want.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got := seen.Status(); got.JSON() == "" || got.State != task.Failed || got.Message.Text != "no disk" || got.Done != 3 || got.RecordID != 7 || got.EndedAt == nil {
		t.Errorf("another replica shows %+v", got)
	}
	if result, is := task.ResultOf[struct{ Marked int }](seen.Status()); !is || result.Marked != 3 {
		t.Errorf("its result is %+v, %v", result, is)
	}
	if got, _ := seen.After(0); !slices.Equal(got, lines) || seen.EndNumber() != done.EndNumber() {
		t.Errorf("its log is %+v, want %+v; its end %d", got, lines, seen.EndNumber())
	}
	waits, err := here.Start(t.Context(), task.Spec{Kind: "test", Alone: "x"}, func(ctx context.Context, _ *task.Task) error { <-ctx.Done(); return ctx.Err() })
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = here.Stop(context.Background()) }()
	id := waits.Status().ID
	if err := elsewhere.Cancel(t.Context(), id); err != nil {
		t.Errorf("cancel at another replica: %v", err)
	}
	if err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error { return task.FreeTx(ctx, tx, []int64{1}) }); err != nil {
		t.Fatal(err)
	}
	cut, err := elsewhere.Get(t.Context(), id)
	if err != nil || cut.Status().State != task.Failed || cut.Status().Message.Code != "task_cut" {
		t.Errorf("after the eviction of its replica: %+v, %v", cut.Status(), err)
	}
	if err := elsewhere.Cancel(t.Context(), id); !errors.Is(err, task.ErrEnded) {
		t.Errorf("cancel of what is over: %v", err)
	}
	if next, err := elsewhere.Start(t.Context(), task.Spec{Kind: "test", Alone: "x"}, func(context.Context, *task.Task) error { return nil }); err != nil {
		t.Errorf("what it did alone: %v", err)
	} else {
		ended(t, next)
	}
}

// A task is watched and cancelled at another replica while it runs.
func TestATaskIsCancelledAtAnotherReplica(t *testing.T) {
	address := postgrestest.Schema(t, postgrestest.Shared(t).URL())
	log := slog.New(task.Handler(slog.DiscardHandler))
	replica := func(self dbtest.Self) *task.Registry {
		d, err := db.OpenServer(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		return task.New(d, self, slog.New(slog.DiscardHandler))
	}
	here, elsewhere := replica(1), replica(2)
	run, err := here.Start(t.Context(), task.Spec{Kind: "test", Alone: "x"}, func(ctx context.Context, run *task.Task) error {
		log.InfoContext(ctx, "the first")
		run.Progress(1, 4, reason.Text("one of four"))
		<-ctx.Done()
		return ctx.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	id := run.Status().ID
	if other, err := elsewhere.Start(t.Context(), task.Spec{Kind: "test", Alone: "x"}, func(context.Context, *task.Task) error { return nil }); !errors.Is(err, task.ErrRunning) || other.Status().ID != id {
		t.Errorf("both do what one does alone: %v", err)
	}
	for { // it tells each second
		seen, err := elsewhere.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		lines, _ := seen.After(0)
		if s := seen.Status(); s.Done == 1 && s.Total == 4 && len(lines) == 1 {
			break
		}
		if t.Context().Err() != nil {
			t.Fatal("another replica does not see how far it is")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := elsewhere.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if s, _ := ended(t, run); s.State != task.Cancelled {
		t.Errorf("it ends as %+v", s)
	}
	if seen, err := elsewhere.Get(t.Context(), id); err != nil || seen.Status().State != task.Cancelled {
		t.Errorf("another replica shows %+v, %v", seen.Status(), err)
	}
}

func TestWhatIsLoggedForATaskIsInItsLogDownToDebug(t *testing.T) {
	masker := &secret.Masker{}
	masker.Add("token-of-mira")
	var usual strings.Builder
	log := slog.New(logs.Handler(masker.Handler(task.Handler(slog.NewTextHandler(&usual, nil))))).With("part", "engine")
	r := registry(t)
	run, _ := r.Start(t.Context(), task.Spec{Kind: "test"}, func(ctx context.Context, run *task.Task) error {
		log.DebugContext(ctx, "request sent", "url", "http://catalog", "header", "Bearer token-of-mira")
		log.InfoContext(ctx, "record settled", "record_id", 42)
		log.DebugContext(context.Background(), "somebody else's")
		return nil
	})
	_, lines := ended(t, run)
	if len(lines) != 2 || lines[0].ID != 1 || lines[1].ID != 2 || run.EndNumber() != 3 {
		t.Fatalf("%+v, end %d", lines, run.EndNumber())
	}
	var line map[string]any
	if err := json.Unmarshal([]byte(lines[0].Text), &line); err != nil {
		t.Fatal(err)
	}
	if line["level"] != "DEBUG" || line["msg"] != "request sent" || line["url"] != "http://catalog" || line["part"] != "engine" {
		t.Errorf("%v", line)
	}
	if strings.Contains(lines[0].Text, "token-of-mira") || strings.Contains(lines[0].Text, "task_id") {
		t.Errorf("a secret in %s", lines[0].Text)
	}
	if text := usual.String(); strings.Contains(text, "request sent") || !strings.Contains(text, "part=engine record_id=42 task_id=1") {
		t.Errorf("the service's log holds %s", text)
	}
	if rest, _ := run.After(1); len(rest) != 1 || rest[0].ID != 2 {
		t.Errorf("after the first line: %+v", rest)
	}
}

func TestLogAndMemoryAreBounded(t *testing.T) {
	log := slog.New(task.Handler(slog.DiscardHandler))
	r := registry(t)
	run, _ := r.Start(t.Context(), task.Spec{Kind: "test"}, func(ctx context.Context, _ *task.Task) error {
		for range 1000 {
			log.InfoContext(ctx, strings.Repeat("x", 1000))
		}
		return nil
	})
	_, lines := ended(t, run)
	if len(lines) > 300 || lines[len(lines)-1].ID != 1000 {
		t.Errorf("%d lines are kept, the last is %d", len(lines), lines[len(lines)-1].ID)
	}
	for range 100 {
		run, _ := r.Start(t.Context(), task.Spec{Kind: "test"}, func(context.Context, *task.Task) error { return nil })
		ended(t, run)
	}
	if all, err := r.List(t.Context()); err != nil || len(all) != 40 || all[0].ID != 101 {
		t.Errorf("%d tasks are remembered: %v", len(all), err)
	}
	if _, err := r.Get(t.Context(), 1); !errors.Is(err, task.ErrNotFound) {
		t.Errorf("the oldest: %v", err)
	}
	if newest, err := r.Newest(t.Context(), 0, "test"); err != nil || newest.ID != 101 {
		t.Errorf("the newest: %v", err)
	}
}

func TestATaskThatWasCutOffGoesOnUnderItsID(t *testing.T) {
	d := dbtest.Open(t)
	first := task.New(d, dbtest.Self(1), slog.New(slog.DiscardHandler))
	spec := task.Spec{Kind: "test", About: 42, Alone: "it"}
	cut, err := first.Start(t.Context(), spec, func(ctx context.Context, _ *task.Task) error {
		<-ctx.Done()
		return ctx.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	spec.Again = cut.Status().ID
	if _, err := first.Start(t.Context(), spec, nil); !errors.Is(err, task.ErrRunning) {
		t.Errorf("while it runs: %v", err)
	}
	if err := first.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := task.New(d, dbtest.Self(2), slog.New(slog.DiscardHandler))
	again, err := second.Start(t.Context(), spec, func(_ context.Context, run *task.Task) error {
		run.SetResult(map[string]int{"marked": 2})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	status, _ := ended(t, again)
	if all, err := second.List(t.Context()); err != nil || len(all) != 1 || all[0].ID != spec.Again || status.State != task.Done || all[0].State != task.Done || all[0].RecordID != 42 || all[0].Result == nil {
		t.Errorf("%+v %+v %v", status, all, err)
	}
}

// A person sees, follows and cancels their own tasks alone, without their logs, and the work of one runs in the person's scope.
func TestATaskIsOfWhoBeganIt(t *testing.T) {
	d := dbtest.Open(t)
	if err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO people (id, name, role, password_hash, created_at, updated_at) VALUES (2, 'mira', 'person', '', 0, 0), (3, 'alex', 'person', '', 0, 0)`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	r := task.New(d, dbtest.Self(1), slog.New(task.Handler(slog.DiscardHandler)))
	mira, alex := scope.In(t.Context(), scope.Of(2)), scope.In(t.Context(), scope.Of(3))
	seen := make(chan int64, 2)
	waits := func(ctx context.Context, run *task.Task) error {
		seen <- scope.From(ctx).Person()
		run.Progress(1, 2, reason.Text("half"))
		<-ctx.Done()
		return ctx.Err()
	}
	theirs, err := r.Start(mira, task.Spec{Kind: "test", About: 7, Alone: "one thing"}, waits)
	if err != nil {
		t.Fatal(err)
	}
	owners, err := r.Start(t.Context(), task.Spec{Kind: "test", About: 7}, waits)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := <-seen, <-seen; a+b != 2 || a*b != 0 {
		t.Errorf("the work ran for %d and %d", a, b)
	}
	for name, c := range map[string]struct {
		ctx  context.Context
		want []int64
	}{
		"the owner": {scope.In(t.Context(), scope.Everything()), []int64{owners.Status().ID, theirs.Status().ID}},
		"who began": {mira, []int64{theirs.Status().ID}},
		"another":   {alex, nil},
		"nobody":    {scope.In(t.Context(), scope.Scope{}), []int64{owners.Status().ID}[:0]},
	} {
		t.Run(name, func(t *testing.T) {
			var ids []int64
			all, err := r.List(c.ctx)
			for _, s := range all {
				ids = append(ids, s.ID)
			}
			if err != nil || !slices.Equal(ids, c.want) {
				t.Errorf("sees %v: %v", ids, err)
			}
			newest, err := r.Newest(c.ctx, 7, "test")
			if len(c.want) == 0 != errors.Is(err, task.ErrNotFound) || len(c.want) > 0 && newest.ID != c.want[0] {
				t.Errorf("the newest is %d: %v", newest.ID, err)
			}
			running, err := r.RunningOf(c.ctx, 7, "test")
			if err != nil || len(c.want) == 0 != (running == 0) {
				t.Errorf("%d runs: %v", running, err)
			}
		})
	}
	for _, ctx := range []context.Context{alex, scope.In(t.Context(), scope.Scope{})} {
		for _, run := range []*task.Task{theirs, owners} {
			if _, err := r.Get(ctx, run.Status().ID); !errors.Is(err, task.ErrNotFound) {
				t.Errorf("another gets it: %v", err)
			}
			if err := r.Cancel(ctx, run.Status().ID); !errors.Is(err, task.ErrNotFound) || run.Status().State != task.Running {
				t.Errorf("another cancels it: %v", err)
			}
		}
		if other, err := r.Start(ctx, task.Spec{Kind: "test", Alone: "one thing"}, waits); other != nil || !errors.Is(err, task.ErrRunning) {
			t.Errorf("another is told of %v: %v", other, err)
		}
	}
	own, err := r.Get(mira, theirs.Status().ID)
	if err != nil {
		t.Fatal(err)
	}
	if lines, _ := own.After(0); len(lines) > 0 || own.EndNumber() != 1 || own.Status().Done != 1 {
		t.Errorf("the person sees %v of %+v", lines, own.Status())
	}
	if err := r.Cancel(mira, theirs.Status().ID); err != nil {
		t.Fatal(err)
	}
	ended(t, theirs)
	if own, err = own.Now(mira); err != nil || own.Status().State != task.Cancelled {
		t.Errorf("the person's task: %v", err)
	}
	if err := r.CancelOf(t.Context(), 2); err != nil || owners.Status().State != task.Running {
		t.Errorf("leaving: %v", err)
	}
	if err := r.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// A task that goes on is of who began it, at whichever replica, and is the owner's once the person is gone.
func TestATaskGoesOnForWhoBeganIt(t *testing.T) {
	d := dbtest.Open(t)
	write := func(statement string) {
		t.Helper()
		if err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error { _, err := tx.ExecContext(ctx, statement); return err }); err != nil {
			t.Fatal(err)
		}
	}
	write(`INSERT INTO people (id, name, role, password_hash, created_at, updated_at) VALUES (2, 'mira', 'person', '', 0, 0)`)
	mira := scope.In(t.Context(), scope.Of(2))
	first := task.New(d, dbtest.Self(1), slog.New(slog.DiscardHandler))
	begun, err := first.Start(mira, task.Spec{Kind: "test"}, func(ctx context.Context, _ *task.Task) error { <-ctx.Done(); return ctx.Err() })
	if err != nil {
		t.Fatal(err)
	}
	id := begun.Status().ID
	if err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error { return task.FreeTx(ctx, tx, []int64{1}) }); err != nil {
		t.Fatal(err)
	}
	second := task.New(d, dbtest.Self(2), slog.New(slog.DiscardHandler))
	seen := make(chan int64, 1)
	on, err := second.Start(t.Context(), task.Spec{Kind: "test", Again: id}, func(ctx context.Context, _ *task.Task) error {
		seen <- scope.From(ctx).Person()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	ended(t, on)
	if person := <-seen; person != 2 || on.Status().PersonID != 2 {
		t.Errorf("it goes on for %d, as that of %d", person, on.Status().PersonID)
	}
	if s, err := second.Newest(mira, 0, "test"); err != nil || s.ID != id || s.State != task.Done {
		t.Errorf("the person sees %+v: %v", s, err)
	}
	write(`DELETE FROM people WHERE id = 2`)
	if _, err := second.Get(mira, id); !errors.Is(err, task.ErrNotFound) {
		t.Errorf("an id that is given again leads to it: %v", err)
	}
	if s, err := second.Newest(t.Context(), 0, "test"); err != nil || s.ID != id {
		t.Errorf("the owner sees %+v: %v", s, err)
	}
	_ = first.Stop(t.Context())
}

// What many people did forgets nothing of another.
func TestEndedTasksAreForgottenOfEachPerson(t *testing.T) {
	d := dbtest.Open(t)
	if err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO people (id, name, role, password_hash, created_at, updated_at) VALUES (2, 'mira', 'person', '', 0, 0)`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	r := task.New(d, dbtest.Self(1), slog.New(slog.DiscardHandler))
	mira := scope.In(t.Context(), scope.Of(2))
	run := func(ctx context.Context, n int) {
		for range n {
			one, err := r.Start(ctx, task.Spec{Kind: "test"}, func(context.Context, *task.Task) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			ended(t, one)
		}
	}
	run(t.Context(), 3)
	run(mira, 50)
	all, err := r.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	own, err := r.List(mira)
	if err != nil || len(own) != 20 || len(all) != 23 {
		t.Errorf("the person has %d, all are %d: %v", len(own), len(all), err)
	}
}
