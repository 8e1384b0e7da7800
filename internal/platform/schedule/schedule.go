// Package schedule runs jobs: work of the service that comes by the clock. A job is a row of the table jobs, which says
// when it ran and when it is due, and a function that code registers.
//
// What it promises:
//
//   - A job is never run twice at once, not by two processes on one database either: a run takes the row by one
//     conditional UPDATE that names its holder and how long it has it, renews that lease while it works, and gives it up
//     at the end. A run that lost its lease is cancelled. A lease that ran out is taken over.
//   - A time that was missed, because the service was off or the job was at work, is made up for once and at once,
//     however many times were missed. One that the service was stopped in is missed.
//   - A clock that is set back, or was ahead, makes no job wait longer than its plan does.
//   - A panic of a job is logged, and kept as its failure. What a job returns is kept, too, until it ends again.
//   - Runs are tasks: they end when the registry of tasks is stopped, which is bounded.
package schedule

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/task"
)

const (
	// lease is how long a run has its job without renewing it, and renewEvery how often it does.
	lease      = time.Minute
	renewEvery = lease / 4
	// lookEvery is how often the clock and the rows are looked at: somebody may set the one, and another process change the others.
	lookEvery = time.Minute
)

// Reasons that callers branch on, or that are kept.
var (
	// ErrNotFound is returned for a job that nobody has registered.
	ErrNotFound = reason.New("job_not_found", "there is no such job: GET /api/jobs lists them", "没有这个定时任务：GET /api/jobs 会列出所有定时任务").For(reason.NotFound)
	// ErrRunning is returned while the job runs, here or in another process.
	ErrRunning = reason.New("job_running", "this job is running already", "该定时任务正在运行").For(reason.Conflict)

	errLost     = reason.New("job_lease_lost", "another process has taken over the job", "另一个进程已接手该定时任务")
	errPanicked = reason.New("job_panicked", "internal error: the log of the service has the details", "服务内部出错：详情见服务日志")
)

// Registry has the jobs of a process. It may be used by several goroutines.
type Registry struct {
	db     *db.DB
	tasks  *task.Registry
	log    *slog.Logger
	holder string // this process in the rows
	wake   Signal

	starting sync.Mutex // held from taking a job until its task is known

	mu   sync.Mutex
	jobs []Job
	// here are the jobs that this process runs.
	here map[string]*held
	// seen are the leases of others, each with when it was seen first. One that nobody renewed for as long as a lease lasts is dead, though
	// the clock, which may have been set back, says that it lasts.
	seen map[string]seenLease
}

// held is a job that this process runs.
type held struct {
	over bool          // its work has ended, and only its row is to be written
	left chan struct{} // closed when that is done
}

type seenLease struct {
	row   row
	since time.Time
}

// New is a registry without jobs.
func New(d *db.DB, tasks *task.Registry, log *slog.Logger) *Registry {
	return &Registry{db: d, tasks: tasks, log: log, holder: rand.Text(), wake: NewSignal(), here: map[string]*held{}, seen: map[string]seenLease{}}
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
	begin := time.Now()
	for ctx.Err() == nil {
		wait := lookEvery
		for _, j := range r.all() {
			next := r.runIfDue(ctx, j, begin)
			if !next.IsZero() {
				wait = min(wait, time.Until(next))
			}
		}
		begin = time.Time{}
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

// runIfDue plans a job and runs it when it is due. It answers when it is due next; zero is never, or not before the next call. begin is when
// the service started, at the first call after that.
func (r *Registry) runIfDue(ctx context.Context, j Job, begin time.Time) time.Time {
	due, err := false, error(nil)
	if j.Look != nil {
		err = r.guarded(ctx, j.Name, func() (err error) { due, err = j.Look(ctx); return err })
	}
	if err != nil && ctx.Err() == nil {
		r.log.ErrorContext(ctx, "a job cannot see whether it is due", "job", j.Name, "error", err)
	}
	var soon time.Time
	switch {
	case due:
		soon = time.Now()
	case j.AtStart != nil && !begin.IsZero():
		soon = begin.Add(*j.AtStart)
	}
	now := time.Now()
	planned, err := r.planned(ctx, j, now, soon)
	switch {
	case err != nil:
		if ctx.Err() == nil {
			r.log.ErrorContext(ctx, "a job cannot be planned", "job", j.Name, "error", err)
		}
		return time.Time{}
	case planned.Next.IsZero():
		return time.Time{}
	case planned.Next.After(now):
		return planned.Next
	}
	if _, err := r.start(ctx, j, j.Name, j.Run, true); err != nil && ctx.Err() == nil && !errors.Is(err, j.busy()) && !errors.Is(err, task.ErrStopping) {
		r.log.ErrorContext(ctx, "a job does not start", "job", j.Name, "error", err)
	}
	return time.Time{}
}

// planned is the row of a job after it was brought in line with its plan. soon has it due then, at the latest.
func (r *Registry) planned(ctx context.Context, j Job, now, soon time.Time) (row, error) {
	before, last, there, err := r.read(ctx, j)
	if err != nil {
		return row{}, err
	}
	bring := func(r row) row {
		after := r.since(last, now).plan(j.Plan(), now)
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
		before, _, err := load(ctx, tx, j.Name)
		if err != nil {
			return err
		}
		after = bring(before)
		return store(ctx, tx, j.Name, after)
	})
	return after, err
}

// read is the row of a job, and when it ran last, as far as that is known from elsewhere and the row knows no run.
func (r *Registry) read(ctx context.Context, j Job) (now row, last time.Time, there bool, err error) {
	now, there, err = load(ctx, r.db.Read(), j.Name)
	if err != nil || j.Last == nil || !now.Ended.IsZero() {
		return now, time.Time{}, there, err
	}
	if last, err = j.Last(ctx); err != nil {
		err = fmt.Errorf("look when the job %s ran last: %w", j.Name, err)
	}
	return now, last, there, err
}

// FreeTx frees the jobs of dead incarnations, within tx.
func FreeTx(ctx context.Context, tx *sql.Tx, dead []int64) error {
	if !slices.Contains(dead, 0) { // others hold them by leases of their own
		return nil
	}
	if _, err := tx.ExecContext(ctx, `UPDATE jobs SET holder = '', lease_until = 0 WHERE holder <> ''`); err != nil {
		return fmt.Errorf("release the jobs: %w", err)
	}
	return nil
}

// Start runs a job now, as a task. It returns ErrNotFound, what Ready says, task.ErrStopping, or the job's Busy: then with the task
// of the run that is under way, when this process runs it.
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
		t, none := r.tasks.Newest(kind, 0)
		if none != nil || t.Status().State != task.Running {
			t = nil
		}
		return t, err
	}
	start := r.tasks.Start
	if j.Quiet {
		start = r.tasks.StartQuiet
	}
	t, err := start(kind, 0, func(ctx context.Context, t *task.Task) error {
		return r.run(ctx, j, kind == j.Name, &Run{Task: t, Asked: !due, before: before}, work)
	})
	if err != nil {
		r.give(j.Name, nil)
	}
	return t, err
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

// Cancel cancels the run of a job that this process has listed as a task, if one is under way.
func (r *Registry) Cancel(name string) {
	if t, err := r.tasks.Newest(name, 0); err == nil {
		_ = r.tasks.Cancel(t.Status().ID) // one that has ended stays as it is
	}
}
