package schedule

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/task"
)

// take takes a job for a run, or returns its Busy.
func (r *Registry) take(ctx context.Context, j Job, due bool) (before row, err error) {
	if err := r.enter(ctx, j); err != nil {
		return row{}, err
	}
	name := r.rowOf(j)
	now, err := r.db.Now(ctx)
	if err == nil {
		before, err = r.planned(ctx, j, now, time.Time{})
	}
	got := false
	if err == nil && before.Owner == 0 {
		err = r.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
			got = true
			if due {
				got, err = isDue(ctx, tx, name, now)
			}
			if got && err == nil {
				got, err = r.holds.TakeTx(ctx, tx, holdOf(name))
			}
			return err
		})
	}
	switch {
	case err != nil:
		err = fmt.Errorf("take the job %s: %w", j.Name, err)
	case !got:
		err = j.busy()
	default:
		r.holds.Took(holdOf(name))
	}
	if err != nil {
		r.left(j.Name)
	}
	return before, err
}

// enter notes that this process runs a job, or returns its Busy when it does already. One whose work has ended is waited for.
func (r *Registry) enter(ctx context.Context, j Job) error {
	for {
		r.mu.Lock()
		there := r.here[j.Name]
		if there == nil {
			r.here[j.Name] = &held{left: make(chan struct{})}
		}
		over := there != nil && there.over
		r.mu.Unlock()
		switch {
		case there == nil:
			return nil
		case !over:
			return j.busy()
		}
		select {
		case <-there.left:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// left tells that this process does not run a job any more.
func (r *Registry) left(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.here[name].left)
	delete(r.here, name)
}

// run does the work of a job that was taken, and keeps how it ended when counts is set.
func (r *Registry) run(ctx context.Context, j Job, counts bool, run *Run, work func(ctx context.Context, run *Run) error) error {
	working, cancel := r.holds.While(ctx, holdOf(r.rowOf(j)), errLost)
	err := r.guarded(ctx, j.Name, func() error { return work(working, run) })
	r.mu.Lock()
	r.here[j.Name].over = true
	r.ended[j.Name] = time.Now()
	r.mu.Unlock()
	why := context.Cause(working)
	cancel(nil)
	switch {
	case errors.Is(why, errLost):
		err = errLost
		r.log.WarnContext(ctx, "a run of a job was cancelled, because this replica may have been evicted", "job", j.Name)
		r.give(ctx, j, nil)
	case !counts, errors.Is(why, task.ErrStopping): // it is due still
		r.give(ctx, j, nil)
	default:
		outcome, problem := Done, reason.Reason{}
		switch {
		case err == nil:
		case why != nil:
			outcome = Cancelled
		default:
			outcome, problem = Failed, reason.Of(err)
		}
		r.give(ctx, j, func(now time.Time) row {
			after := ended(r.planOf(j), now, run.retry)
			after.Outcome, after.Problem = outcome, problem
			if outcome == Failed {
				level := slog.LevelWarn
				if run.before.Outcome == Failed && run.before.Problem.Text == problem.Text { // it was told when that began
					level = slog.LevelDebug
				}
				r.log.Log(ctx, level, "a job failed", "job", j.Name, "error", err, "next_run", after.Next)
			}
			return after
		})
	}
	return err
}

// give gives a job up, and keeps what its row is then; nil leaves that as it is.
func (r *Registry) give(ctx context.Context, j Job, after func(now time.Time) row) {
	ctx = context.WithoutCancel(ctx) // it must not end with the run
	name := r.rowOf(j)
	if after != nil {
		now, err := r.db.Now(ctx)
		if err != nil {
			now = time.Now()
		}
		ended := after(now)
		err = r.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
			return errors.Join(finish(ctx, tx, name, ended), r.holds.GiveTx(ctx, tx, holdOf(name)))
		})
		if err == nil {
			r.holds.Gave(holdOf(name))
		} else {
			r.log.ErrorContext(ctx, "the end of a job cannot be kept: it runs again", "job", j.Name, "error", err)
		}
	}
	r.holds.Give(ctx, holdOf(name))
	r.left(j.Name)
	r.Kick()
}

// guarded turns a panic of a job into an error.
func (r *Registry) guarded(ctx context.Context, name string, work func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.log.ErrorContext(ctx, "a job panicked", "job", name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = errPanicked
		}
	}()
	return work()
}
