// Package schedule runs jobs: work of the service that comes by the clock. A job is a row of the table jobs, which says
// when it ran and when it is due, and a function that code registers.
//
// What it promises:
//
//   - A job is never run twice at once, not by two replicas on one database either: a run has the name of the job (package hold)
//     until it ends, or until its replica is evicted. A run whose replica may have been evicted is cancelled.
//   - A job that is Own is about its replica: each has a row and runs of its own, and not at the minute at which others do.
//   - A time that was missed, because the service was off or the job was at work, is made up for once and at once,
//     however many times were missed. One that the service was stopped in is missed.
//   - Times are those of the database. A clock that is set back, or was ahead, makes no job wait longer than its plan does.
//   - A panic of a job is logged, and kept as its failure. What a job returns is kept, too, until it ends again.
//   - Runs are tasks: they end when the registry of tasks is stopped, which is bounded.
package schedule

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"slices"
	"sync"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/hold"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/task"
)

const (
	// lookEvery is how often the clock and the rows are looked at: somebody may set the one, and another replica change the others.
	lookEvery = time.Minute
	// spread is within how long after their plan replicas run what each runs for itself.
	spread = 10 * time.Minute
	// rest is how long a job that Look says is due rests after a run: one that could not do what is due would run without end.
	rest = 5 * time.Second
	// hurried is by how much less they are spread when somebody waits for it.
	hurried = 10
)

// Reasons that callers branch on, or that are kept.
var (
	// ErrNotFound is returned for a job that nobody has registered.
	ErrNotFound = reason.New("job_not_found", "there is no such job: GET /api/jobs lists them", "没有这个定时任务：GET /api/jobs 会列出所有定时任务").For(reason.NotFound)
	// ErrRunning is returned while the job runs, at this replica or another.
	ErrRunning = reason.New("job_running", "this job is running already", "该定时任务正在运行").For(reason.Conflict)

	errLost     = reason.New("job_lease_lost", "another process has taken over the job", "另一个进程已接手该定时任务")
	errPanicked = reason.New("job_panicked", "internal error: the log of the service has the details", "服务内部出错：详情见服务日志")
)

// Registry has the jobs of a replica. It may be used by several goroutines.
type Registry struct {
	db      *db.DB
	holds   *hold.Holds
	tasks   *task.Registry
	replica func() string
	log     *slog.Logger
	wake    Signal

	starting sync.Mutex // held from taking a job until its task is known

	mu   sync.Mutex
	jobs []Job
	// here are the jobs that this process runs.
	here map[string]*held
	// ended is when this process ended its last run of a job, by its own clock.
	ended map[string]time.Time
}

// held is a job that this process runs.
type held struct {
	over bool          // its work has ended, and only its row is to be written
	left chan struct{} // closed when that is done
}

// New is a registry without jobs. replica names this replica among others; it is asked for only when there may be others.
func New(d *db.DB, holds *hold.Holds, tasks *task.Registry, replica func() string, log *slog.Logger) *Registry {
	return &Registry{db: d, holds: holds, tasks: tasks, replica: replica, log: log, wake: NewSignal(), here: map[string]*held{}, ended: map[string]time.Time{}}
}

// rowOf is the name of the row of a job.
func (r *Registry) rowOf(j Job) string {
	if !j.Own || r.db.Alone() {
		return j.Name
	}
	return j.Name + ownRow + r.replica()
}

// ownRow stands in the name of a row between the job and the replica.
const ownRow = " at "

// planOf is the plan of a job as this replica follows it.
func (r *Registry) planOf(j Job) Plan {
	p := j.Plan()
	if !j.Own || r.db.Alone() || p.Next == nil {
		return p
	}
	later := r.later(j)
	return Plan{p.Text, func(after time.Time) time.Time {
		next := p.Next(after.Add(-later))
		if next.IsZero() {
			return next
		}
		return next.Add(later)
	}}
}

// later is how long after others this replica runs a job of its own: the same at each time, by the name of the replica.
func (r *Registry) later(j Job) time.Duration {
	if !j.Own || r.db.Alone() {
		return 0
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(r.rowOf(j))) // it never fails
	return time.Duration(sum.Sum32()) * time.Microsecond % spread
}

// Add registers jobs. A name is registered once.
func (r *Registry) Add(jobs ...Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, j := range jobs {
		if slices.ContainsFunc(r.jobs, func(k Job) bool { return k.Name == j.Name }) {
			panic("the job " + j.Name + " is registered twice")
		}
		r.jobs = append(r.jobs, j)
	}
}

// Kick has plans and clock looked at now.
func (r *Registry) Kick() { r.wake.Raise() }

// Run starts jobs when they are due, until ctx ends. The runs are tasks, which go on.
func (r *Registry) Run(ctx context.Context) {
	for starts := true; ctx.Err() == nil; starts = false {
		wait := lookEvery
		for _, j := range r.all() {
			wait = min(wait, r.runIfDue(ctx, j, starts))
		}
		r.wake.Wait(ctx, wait)
	}
}

func (r *Registry) all() []Job {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.jobs)
}

func (r *Registry) job(name string) (Job, error) {
	for _, j := range r.all() {
		if j.Name == name {
			return j, nil
		}
	}
	return Job{}, ErrNotFound
}

// runIfDue plans a job and runs it when it is due. It answers after how long to look again. starts is set at the first call after the
// start of the service.
func (r *Registry) runIfDue(ctx context.Context, j Job, starts bool) time.Duration {
	due, err := false, error(nil)
	if j.Look != nil {
		err = r.guarded(ctx, j.Name, func() (err error) { due, err = j.Look(ctx); return err })
	}
	if err != nil && ctx.Err() == nil {
		r.log.ErrorContext(ctx, "a job cannot see whether it is due", "job", j.Name, "error", err)
	}
	var planned row
	now, err := r.db.Now(ctx)
	if err == nil {
		var soon time.Time
		switch {
		case due: // replicas that are started together see the same
			soon = now.Add(max(r.later(j)/hurried, r.rests(j.Name)))
		case j.AtStart != nil && starts:
			soon = now.Add(*j.AtStart + r.later(j)/hurried)
		}
		planned, err = r.planned(ctx, j, now, soon)
	}
	switch {
	case err != nil:
		if ctx.Err() == nil {
			r.log.ErrorContext(ctx, "a job cannot be planned", "job", j.Name, "error", err)
		}
		return lookEvery
	case planned.Next.IsZero():
		return lookEvery
	case planned.Next.After(now):
		return planned.Next.Sub(now)
	}
	if _, err := r.start(ctx, j, j.Name, j.Run, true); err != nil && ctx.Err() == nil && !errors.Is(err, j.busy()) && !errors.Is(err, task.ErrStopping) {
		r.log.ErrorContext(ctx, "a job does not start", "job", j.Name, "error", err)
	}
	return lookEvery
}

// rests is for how long a job rests still after a run of this process, whose end has it looked at again; others look within a minute only.
func (r *Registry) rests(name string) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return rest - time.Since(r.ended[name])
}

// planned is the row of a job after it was brought in line with its plan. soon has it due then, at the latest.
func (r *Registry) planned(ctx context.Context, j Job, now, soon time.Time) (row, error) {
	before, last, there, err := r.read(ctx, j)
	if err != nil {
		return row{}, err
	}
	plan, name := r.planOf(j), r.rowOf(j)
	bring := func(r row) row {
		after := r.since(last, now).plan(plan, now)
		if !soon.IsZero() && !after.Next.IsZero() && after.Next.After(soon) {
			after.Next, after.Retry = soon, 0
		}
		return after
	}
	after := bring(before)
	if there && after.same(before) {
		return after, nil
	}
	err = r.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		before, _, err := load(ctx, tx, name)
		if err != nil {
			return err
		}
		after = bring(before)
		return store(ctx, tx, name, after)
	})
	return after, err
}

// read is the row of a job, and when it ran last, as far as that is known from elsewhere and the row knows no run.
func (r *Registry) read(ctx context.Context, j Job) (now row, last time.Time, there bool, err error) {
	now, there, err = load(ctx, r.db.Read(), r.rowOf(j))
	if err != nil || j.Last == nil || !now.Ended.IsZero() {
		return now, time.Time{}, there, err
	}
	if last, err = j.Last(ctx); err != nil {
		err = fmt.Errorf("look when the job %s ran last: %w", j.Name, err)
	}
	return now, last, there, err
}

// Start runs a job now, as a task. It returns ErrNotFound, what Ready says, task.ErrStopping, or the job's Busy: then with the task
// of the run that is under way, when it is one.
func (r *Registry) Start(ctx context.Context, name string) (*task.Task, error) {
	j, err := r.job(name)
	if err != nil {
		return nil, err
	}
	if j.Ready != nil {
		if err := j.Ready(ctx); err != nil {
			return nil, err
		}
	}
	return r.start(ctx, j, j.Name, j.Run, false)
}

// StartWith runs other work in the place of that of a job, as a task of a kind. When that is not the name of the job, the job is held
// meanwhile, and what is known of its runs stays. Ready is not asked. Errors as Start's.
func (r *Registry) StartWith(ctx context.Context, name, kind string, work func(ctx context.Context, run *Run) error) (*task.Task, error) {
	j, err := r.job(name)
	if err != nil {
		return nil, err
	}
	return r.start(ctx, j, kind, work, false)
}

// start is StartWith for a job that was found; due has it start only when its row says so.
func (r *Registry) start(ctx context.Context, j Job, kind string, work func(ctx context.Context, run *Run) error, due bool) (*task.Task, error) {
	r.starting.Lock() // whoever finds the job taken finds its task, too
	defer r.starting.Unlock()
	before, err := r.take(ctx, j, due)
	if err != nil {
		return r.underWay(ctx, kind), err
	}
	t, err := r.tasks.Start(ctx, task.Spec{Kind: kind, Quiet: j.Quiet}, func(ctx context.Context, t *task.Task) error {
		return r.run(ctx, j, kind == j.Name, &Run{Task: t, Asked: !due, before: before}, work)
	})
	if err != nil {
		r.give(ctx, j, nil)
	}
	return t, err
}

// underWay is the task of a kind that runs; nil when there is none.
func (r *Registry) underWay(ctx context.Context, kind string) *task.Task {
	s, err := r.tasks.Newest(ctx, 0, kind)
	if err != nil || s.State != task.Running {
		return nil
	}
	t, err := r.tasks.Get(ctx, s.ID)
	if err != nil {
		return nil
	}
	return t
}

// Do is Start for a caller who waits for the end: other work in the place of that of a job. The error is that of work, too.
func (r *Registry) Do(ctx context.Context, name string, work func(ctx context.Context) error) error {
	j, err := r.job(name)
	if err != nil {
		return err
	}
	before, err := r.take(ctx, j, false)
	if err != nil {
		return err
	}
	return r.run(ctx, j, true, &Run{Asked: true, before: before}, func(ctx context.Context, _ *Run) error { return work(ctx) })
}

// Cancel cancels the run of a job that this replica has listed as a task, if one is under way.
func (r *Registry) Cancel(ctx context.Context, name string) {
	if s, err := r.tasks.NewestHere(ctx, name); err == nil {
		_ = r.tasks.Cancel(ctx, s.ID) // one that has ended stays as it is
	}
}
