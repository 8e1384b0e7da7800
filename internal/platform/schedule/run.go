package schedule

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/task"
)

// take takes a job for a run, or returns its Busy.
func (r *Registry) take(ctx context.Context, j Job, due bool) (before row, err error) {
	if err := r.enter(ctx, j); err != nil {
		return row{}, err
	}
	now := time.Now()
	before, err = r.planned(ctx, j, now, time.Time{})
	got := false
	if err == nil {
		dead := r.dead(j.Name, before, now)
		err = r.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
			got, err = take(ctx, tx, j.Name, r.holder, dead, due, now)
			return err
		})
	}
	switch {
	case err != nil:
		err = fmt.Errorf("take the job %s: %w", j.Name, err)
	case !got:
		err = j.busy()
	case before.Holder != "":
		r.log.WarnContext(ctx, "a run of a job did not come to its end: it runs again", "job", j.Name)
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

// dead is the row of a lease of another that was not renewed for as long as a lease lasts; an empty one when there is none.
func (r *Registry) dead(name string, now row, at time.Time) row {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen, known := r.seen[name]
	switch {
	case now.Holder == "":
		delete(r.seen, name)
	case !known || seen.row.Holder != now.Holder || !seen.row.Until.Equal(now.Until):
		r.seen[name] = seenLease{now, at}
	case at.Sub(seen.since) > lease: // by a clock that nobody sets
		return now
	}
	return row{Holder: "", Until: time.UnixMilli(-1)}
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
	working, cancel := context.WithCancelCause(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() { r.renew(working, j.Name, cancel) })
	err := r.guarded(ctx, j.Name, func() error { return work(working, run) })
	r.mu.Lock()
	r.here[j.Name].over = true
	r.mu.Unlock()
	why := context.Cause(working)
	cancel(nil)
	renewing.Wait()
	switch {
	case errors.Is(why, errLost):
		err = errLost
		r.log.WarnContext(ctx, "a run of a job lost its lease and was cancelled", "job", j.Name)
		r.left(j.Name)
	case !counts, errors.Is(why, task.ErrStopping): // it is due still
		r.give(j.Name, nil)
	default:
		now := time.Now()
		after := ended(j.Plan(), now, run.retry)
		switch {
		case err == nil:
			after.Outcome = Done
		case why != nil:
			after.Outcome = Cancelled
		default:
			after.Outcome, after.Problem = Failed, reason.Of(err)
			level := slog.LevelWarn
			if run.before.Outcome == Failed && run.before.Problem.Text == after.Problem.Text { // it was told when that began
				level = slog.LevelDebug
			}
			r.log.Log(ctx, level, "a job failed", "job", j.Name, "error", err, "next_run", after.Next)
		}
		r.give(j.Name, &after)
	}
	return err
}

// give gives a job up, and keeps what its row is then; nil leaves that as it is.
func (r *Registry) give(name string, after *row) {
	ctx := context.Background() // it must not end with the run
	err := r.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if after == nil {
			_, err := release(ctx, tx, name, r.holder)
			return err
		}
		_, err := finish(ctx, tx, name, r.holder, *after)
		return err
	})
	if err != nil {
		r.log.ErrorContext(ctx, "the end of a job cannot be kept: it runs again", "job", name, "error", err)
	}
	r.left(name)
	r.Kick()
}

// renew renews the lease of a job until ctx ends, and cancels the run when it is lost.
func (r *Registry) renew(ctx context.Context, name string, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	renewed := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		have := false
		now := time.Now()
		err := r.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
			have, err = renew(ctx, tx, name, r.holder, now)
			return err
		})
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && have:
			renewed = now
		case err == nil, time.Since(renewed) > lease-renewEvery:
			cancel(errLost)
			return
		}
	}
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
