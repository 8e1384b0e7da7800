package schedule_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/hold"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/task"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/logtest"
)

// process is one process on a database: it has its own connections, tasks and registry.
type process struct {
	*schedule.Registry
	t     *testing.T
	db    *db.DB
	tasks *task.Registry
	logs  *logtest.Buffer
	end   func() // stops it; nil while it does not run
}

// incarnations counts the processes.
var incarnations atomic.Int64

// open opens the database in a folder, as another process does; close must be called.
func open(t *testing.T, dir string) *process {
	t.Helper()
	d, err := db.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, db: d, logs: new(logtest.Buffer)}
	self, log := dbtest.Self(incarnations.Add(1)), slog.New(slog.NewTextHandler(p.logs, nil))
	p.tasks = task.New(d, self, log)
	p.Registry = schedule.New(d, hold.New(d, self, log), p.tasks, func() string { return "here" }, log)
	return p
}

// run has it start jobs by itself.
func (p *process) run() {
	ctx, cancel := context.WithCancel(p.t.Context())
	ended := make(chan struct{})
	go func() { p.Run(ctx); close(ended) }()
	p.end = func() { cancel(); <-ended }
}

// stop ends it in order.
func (p *process) stop() {
	if p.end != nil {
		p.end()
	}
	if err := p.tasks.Stop(context.Background()); err != nil {
		p.t.Error(err)
	}
	if err := p.db.Close(); err != nil {
		p.t.Error(err)
	}
}

// status is how a job stands.
func (p *process) status(name string) schedule.JobStatus {
	p.t.Helper()
	s, err := p.Status(p.t.Context(), name)
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

// set changes the row of every job.
func (p *process) set(columns string, args ...any) {
	p.t.Helper()
	if err := p.db.Write(p.t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE jobs SET "+columns, args...)
		return err
	}); err != nil {
		p.t.Fatal(err)
	}
}

// counted is a job that counts its runs; most is 0 while no two of them were under way at once.
type counted struct{ runs, now, most atomic.Int32 }

func (c *counted) run(work func(ctx context.Context, run *schedule.Run) error) func(context.Context, *schedule.Run) error {
	return func(ctx context.Context, run *schedule.Run) error {
		c.runs.Add(1)
		if now := c.now.Add(1); now > 1 {
			c.most.Store(now)
		}
		defer c.now.Add(-1)
		return work(ctx, run)
	}
}

func done(context.Context, *schedule.Run) error { return nil }

func every(d time.Duration) func() schedule.Plan {
	return func() schedule.Plan { return schedule.Every(d) }
}

// Whoever comes first runs it; everybody else is told so. Here time is real.
func TestTwoProcessesNeverRunAJobAtOnce(t *testing.T) {
	dir := dbtest.Folder(t)
	var c counted
	processes := []*process{open(t, dir), open(t, dir)}
	for _, p := range processes {
		defer p.stop()
		p.Add(schedule.Job{Name: "job", Plan: every(time.Millisecond), Quiet: true, Run: c.run(done)})
		p.run()
	}
	var asking sync.WaitGroup
	for _, p := range processes {
		asking.Go(func() {
			for c.runs.Load() < 60 {
				if _, err := p.Start(t.Context(), "job"); err != nil && !errors.Is(err, schedule.ErrRunning) {
					t.Error(err)
				}
				p.Kick()
			}
		})
	}
	asking.Wait()
	if most := c.most.Load(); most != 0 {
		t.Errorf("%d runs at once", most)
	}
}

// A time of the plan is run by one of the processes that see it.
func TestATimeIsRunOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := dbtest.Folder(t)
		var c counted
		for range 3 {
			p := open(t, dir)
			defer p.stop()
			p.Add(schedule.Job{Name: "job", Plan: every(time.Hour), Run: c.run(done)})
			p.run()
		}
		time.Sleep(5*time.Hour + 30*time.Minute)
		if runs := c.runs.Load(); runs != 5 {
			t.Errorf("%d runs in five hours", runs)
		}
	})
}

// A run keeps its job for as long as it works.
func TestALongRunKeepsItsJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := dbtest.Folder(t)
		var c counted
		one, two := open(t, dir), open(t, dir)
		for _, p := range []*process{one, two} {
			defer p.stop()
			p.Add(schedule.Job{Name: "job", Plan: every(time.Hour), Run: c.run(func(ctx context.Context, _ *schedule.Run) error {
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(20 * time.Minute):
					return nil
				}
			})})
		}
		running, err := one.Start(t.Context(), "job")
		if err != nil {
			t.Fatal(err)
		}
		two.run()
		if again, err := one.Start(t.Context(), "job"); !errors.Is(err, schedule.ErrRunning) || again == nil || again.Status().ID != running.Status().ID {
			t.Errorf("again in the same process: %v, %v", again, err)
		}
		for range 19 {
			time.Sleep(time.Minute)
			if _, err := two.Start(t.Context(), "job"); !errors.Is(err, schedule.ErrRunning) {
				t.Errorf("in another process: %v", err)
			}
			if s := two.status("job"); !s.Running {
				t.Errorf("it stands as %+v", s)
			}
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if s := two.status("job"); s.Running || s.LastOutcome != schedule.Done || c.runs.Load() != 1 || !s.NextRun.Equal(s.LastRun.Add(time.Hour)) {
			t.Errorf("after %d runs it stands as %+v", c.runs.Load(), s)
		}
	})
}

// A process that was killed has its job until it is evicted; then another one has it.
func TestTheJobOfAnEvictedReplicaIsTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const dead = 1 << 40
		var c counted
		p := open(t, dbtest.Folder(t))
		defer p.stop()
		p.Add(schedule.Job{Name: "job", Plan: every(time.Hour), AtStart: new(time.Duration), Run: c.run(done)})
		p.run()
		synctest.Wait()
		p.set("next_run = ?", time.Now().UnixMilli())
		other := hold.New(p.db, dbtest.Self(dead), slog.New(slog.DiscardHandler))
		if got, err := other.Take(t.Context(), "job job"); !got || err != nil {
			t.Fatal(got, err)
		}
		time.Sleep(30 * time.Minute)
		if _, err := p.Start(t.Context(), "job"); !errors.Is(err, schedule.ErrRunning) || c.runs.Load() != 1 {
			t.Errorf("while the other has it: %v, %d runs", err, c.runs.Load())
		}
		if err := p.db.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error { return hold.FreeTx(ctx, tx, []int64{dead}) }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		if s := p.status("job"); c.runs.Load() != 2 || s.Running || s.LastOutcome != schedule.Done {
			t.Errorf("after %d runs it stands as %+v", c.runs.Load(), s)
		}
	})
}

// Times that were missed while the service was off are made up for by one run, at the start.
func TestMissedTimesAreMadeUpForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := dbtest.Folder(t)
		var c counted
		for day := range 3 {
			p := open(t, dir)
			p.Add(schedule.Job{Name: "job", Plan: every(time.Hour), Run: c.run(done)})
			p.run()
			synctest.Wait()
			if runs := c.runs.Load(); int(runs) != day {
				t.Errorf("day %d: %d runs", day, runs)
			}
			p.stop()
			time.Sleep(24 * time.Hour)
		}
	})
}

// What is known from elsewhere of the last run counts until the row knows one, and when it does not lie ahead.
func TestARunThatTheRowDoesNotKnow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c counted
		var last atomic.Pointer[time.Time]
		last.Store(&time.Time{})
		p := open(t, dbtest.Folder(t))
		defer p.stop()
		p.Add(schedule.Job{Name: "job", Plan: every(time.Hour), Run: c.run(done), Last: func(context.Context) (time.Time, error) { return *last.Load(), nil }})
		p.run()
		for _, one := range []struct {
			last time.Time
			runs int32
		}{{time.Time{}, 0}, {time.Now().AddDate(1, 0, 0), 0}, {time.Now().Add(-30 * time.Minute), 0}, {time.Now().Add(-time.Hour), 1}, {time.Now().AddDate(-1, 0, 0), 1}} {
			last.Store(&one.last)
			p.Kick()
			synctest.Wait()
			if runs := c.runs.Load(); runs != one.runs {
				t.Errorf("when it ran at %v, there are %d runs", one.last, runs)
			}
		}
	})
}

// What is planned for a time that a clock was ahead is planned anew.
func TestAClockThatWasSetBackHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c counted
		p := open(t, dbtest.Folder(t))
		defer p.stop()
		p.Add(schedule.Job{Name: "job", Plan: every(time.Hour), Run: c.run(done)})
		p.run()
		time.Sleep(90 * time.Minute)
		ahead := time.Now().AddDate(1, 0, 0)
		p.set("planned_from = ?, next_run = ?, ended_at = ?", ahead.UnixMilli(), ahead.Add(time.Hour).UnixMilli(), ahead.UnixMilli())
		time.Sleep(62 * time.Minute)
		if runs := c.runs.Load(); runs != 2 {
			t.Errorf("%d runs", runs)
		}
		if s := p.status("job"); s.LastRun.After(time.Now()) || s.NextRun.After(time.Now().Add(time.Hour)) {
			t.Errorf("it stands as %+v", s)
		}
	})
}

func TestHowARunEnds(t *testing.T) {
	broken := errors.New("the disk is on fire")
	for name, c := range map[string]struct {
		run     func(ctx context.Context, run *schedule.Run) error
		outcome schedule.Outcome
		problem string
		next    time.Duration
		logged  string
	}{
		"well":                  {run: done, outcome: schedule.Done, next: time.Hour},
		"it fails":              {run: func(context.Context, *schedule.Run) error { return broken }, outcome: schedule.Failed, problem: "the disk is on fire", next: time.Hour, logged: "a job failed"},
		"it asks for a retry":   {run: func(_ context.Context, run *schedule.Run) error { run.Again(time.Minute); return broken }, outcome: schedule.Failed, problem: "the disk is on fire", next: time.Minute, logged: "a job failed"},
		"it asks for more time": {run: func(_ context.Context, run *schedule.Run) error { run.Again(48 * time.Hour); return nil }, outcome: schedule.Done, next: 48 * time.Hour},
		"it panics":             {run: func(context.Context, *schedule.Run) error { panic("a bug") }, outcome: schedule.Failed, problem: "internal error: the log of the service has the details", next: time.Hour, logged: "a bug"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := open(t, dbtest.Folder(t))
				defer p.stop()
				p.Add(schedule.Job{Name: "job", Plan: every(time.Hour), Quiet: true, Run: c.run})
				p.run()
				time.Sleep(time.Hour)
				synctest.Wait()
				s := p.status("job")
				if s.Running || s.LastOutcome != c.outcome || s.LastProblem.Text != c.problem || s.LastRun == nil || s.NextRun.Sub(*s.LastRun) != c.next {
					t.Errorf("it stands as %+v", s)
				}
				if log := p.logs.String(); !strings.Contains(log, c.logged) || c.logged == "" && log != "" {
					t.Errorf("the log says %s", log)
				}
				if tasks, err := p.tasks.List(t.Context()); err != nil || len(tasks) != 0 {
					t.Errorf("there are tasks: %+v", tasks)
				}
			})
		})
	}
}

// A failure that stays is told once.
func TestAFailureThatStaysIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, dbtest.Folder(t))
		defer p.stop()
		p.Add(schedule.Job{Name: "job", Plan: every(time.Hour), Run: func(context.Context, *schedule.Run) error { return errors.New("no room") }})
		p.run()
		time.Sleep(5*time.Hour + time.Minute)
		if log := p.logs.String(); strings.Count(log, "no room") != 1 {
			t.Errorf("the log says %s", log)
		}
	})
}

// A run that the stop of the service ends is due still; one that a person ends is not.
func TestRunsThatAreEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := dbtest.Folder(t)
		var c counted
		job := schedule.Job{Name: "job", Plan: every(time.Hour), Run: c.run(func(ctx context.Context, _ *schedule.Run) error {
			<-ctx.Done()
			return ctx.Err()
		})}
		p := open(t, dir)
		p.Add(job)
		p.run()
		time.Sleep(time.Hour)
		synctest.Wait()
		if s := p.status("job"); !s.Running {
			t.Fatalf("when it is time it stands as %+v", s)
		}
		p.stop()

		p = open(t, dir)
		defer p.stop()
		p.Add(job)
		if s := p.status("job"); s.Running || s.LastRun != nil || s.NextRun.After(time.Now()) {
			t.Errorf("after a stop it stands as %+v", s)
		}
		p.run()
		synctest.Wait()
		if err := p.tasks.Cancel(t.Context(), p.status("job").TaskID); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if s := p.status("job"); s.Running || s.LastOutcome != schedule.Cancelled || c.runs.Load() != 2 || !s.NextRun.After(time.Now()) {
			t.Errorf("after a person stopped it, and %d runs, it stands as %+v", c.runs.Load(), s)
		}
	})
}

// A job that does not end is left behind: the stop has its bound.
func TestAStopIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, dbtest.Folder(t))
		leave := make(chan struct{})
		p.Add(schedule.Job{Name: "job", Plan: every(time.Hour), Quiet: true, AtStart: new(time.Duration), Run: func(context.Context, *schedule.Run) error {
			<-leave
			return nil
		}})
		p.run()
		synctest.Wait()
		p.end()
		p.end = nil
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := p.tasks.Stop(ctx); err == nil || !strings.Contains(err.Error(), "job") {
			t.Errorf("the stop says %v", err)
		}
		if _, err := p.Start(t.Context(), "job"); err == nil {
			t.Error("it starts while the service stops")
		}
		close(leave)
		p.stop()
	})
}

// Other work in the place of the job's own keeps it from running, and counts only when it is of its kind.
func TestOtherWorkHoldsTheJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		taken := errors.New("the room says that it is busy")
		off := errors.New("switched off")
		var refused error
		p := open(t, dbtest.Folder(t))
		defer p.stop()
		p.Add(schedule.Job{Name: "job", Plan: every(time.Hour), Run: done, Busy: taken, Ready: func(context.Context) error { return refused }})
		wait := func(context.Context, *schedule.Run) error { time.Sleep(time.Minute); return nil }
		if _, err := p.StartWith(t.Context(), "job", "preview", wait); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Start(t.Context(), "job"); !errors.Is(err, taken) {
			t.Errorf("beside it: %v", err)
		}
		if err := p.Do(t.Context(), "job", func(context.Context) error { return nil }); !errors.Is(err, taken) {
			t.Errorf("beside it, at once: %v", err)
		}
		time.Sleep(2 * time.Minute)
		if s := p.status("job"); s.Running || s.LastRun != nil {
			t.Errorf("after it the job stands as %+v", s)
		}
		if err := p.Do(t.Context(), "job", func(context.Context) error { return off }); !errors.Is(err, off) {
			t.Errorf("done at once: %v", err)
		}
		if s := p.status("job"); s.LastOutcome != schedule.Failed {
			t.Errorf("after that the job stands as %+v", s)
		}
		refused = off
		if _, err := p.Start(t.Context(), "job"); !errors.Is(err, off) {
			t.Errorf("refused: %v", err)
		}
		if _, err := p.Start(t.Context(), "another"); !errors.Is(err, schedule.ErrNotFound) {
			t.Errorf("unknown: %v", err)
		}
	})
}

// A job that cannot do what is due by its look is tried again in a while, not without end; one that asks for less, sooner.
func TestAJobThatStaysDueRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fails, asks counted
		due := func(context.Context) (bool, error) { return true, nil }
		p := open(t, dbtest.Folder(t))
		defer p.stop()
		p.Add(schedule.Job{Name: "fails", Plan: every(time.Hour), Look: due, Run: fails.run(func(context.Context, *schedule.Run) error { return errors.New("it is away") })},
			schedule.Job{Name: "asks", Plan: every(time.Hour), Look: due, Run: asks.run(func(_ context.Context, run *schedule.Run) error { run.Again(time.Second); return nil })})
		p.run()
		time.Sleep(59 * time.Second)
		synctest.Wait()
		if n := fails.runs.Load(); n != 12 {
			t.Errorf("in a minute it is tried %d times", n)
		}
		if n := asks.runs.Load(); n != 60 {
			t.Errorf("in a minute it runs %d times by its own word", n)
		}
	})
}

// A job may be due for what it sees, and runs when settings that change its plan say so.
func TestLooksAndSettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c counted
		var see, panics atomic.Bool
		var plan atomic.Pointer[schedule.Plan]
		plan.Store(&schedule.Plan{})
		p := open(t, dbtest.Folder(t))
		defer p.stop()
		p.Add(schedule.Job{Name: "job", Plan: func() schedule.Plan { return *plan.Load() }, Run: c.run(done), Look: func(context.Context) (bool, error) {
			if panics.Load() {
				panic("a bug")
			}
			return see.Swap(false), nil
		}})
		p.run()
		change := func(to schedule.Plan) {
			plan.Store(&to)
			p.Kick()
			synctest.Wait()
		}
		see.Store(true)
		time.Sleep(time.Hour)
		if c.runs.Load() != 0 || p.status("job").NextRun != nil {
			t.Errorf("switched off it runs %d times", c.runs.Load())
		}
		change(schedule.Every(time.Hour))
		if c.runs.Load() != 1 {
			t.Errorf("switched on an hour after it was seen first, it runs %d times", c.runs.Load())
		}
		change(schedule.Every(24 * time.Hour))
		time.Sleep(3 * time.Hour)
		if c.runs.Load() != 1 {
			t.Errorf("it keeps the plan of before")
		}
		change(schedule.Every(2 * time.Hour))
		if c.runs.Load() != 2 {
			t.Errorf("a plan by which it is late has it run %d times", c.runs.Load())
		}
		see.Store(true)
		time.Sleep(61 * time.Second)
		if c.runs.Load() != 3 {
			t.Errorf("what it sees has it run %d times", c.runs.Load())
		}
		panics.Store(true)
		time.Sleep(2 * time.Hour)
		if c.runs.Load() != 4 {
			t.Errorf("with a look that panics it runs %d times", c.runs.Load())
		}
	})
}
