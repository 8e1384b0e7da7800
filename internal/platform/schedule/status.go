package schedule

import (
	"context"
	"errors"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/task"
)

// JobStatus is how a job stands.
type JobStatus struct {
	Name    string `json:"name" doc:"Its name, which is the kind of its tasks, too."`
	Plan    string `json:"schedule" doc:"When it runs: cron expressions with a semicolon between them, or @every and a duration; empty while it does not run by itself." example:"17 4 * * *"`
	Running bool   `json:"running"`
	TaskID  int64  `json:"task_id" doc:"The task of the run that is under way, or was last; 0 when there was none since the start, and for jobs that are no tasks."`
	// LastRun is when the last run ended.
	LastRun     *time.Time    `json:"last_run" doc:"When the last run ended; null before the first."`
	LastOutcome Outcome       `json:"last_outcome" enum:",done,failed,cancelled" doc:"How it ended; empty before the first run."`
	LastProblem reason.Reason `json:"last_problem" doc:"Why it failed."`
	NextRun     *time.Time    `json:"next_run" doc:"When it is due next; null while nothing is planned."`
}

// List is how all jobs stand, in the order in which they were registered.
func (r *Registry) List(ctx context.Context) ([]JobStatus, error) {
	all := []JobStatus{}
	for _, j := range r.all() {
		s, err := r.status(ctx, j)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// Status is how a job stands, or ErrNotFound.
func (r *Registry) Status(ctx context.Context, name string) (JobStatus, error) {
	j, err := r.job(name)
	if err != nil {
		return JobStatus{}, err
	}
	return r.status(ctx, j)
}

// Now is Status for a caller who can do without: what cannot be read is logged, and not there.
func (r *Registry) Now(name string) JobStatus {
	s, err := r.Status(context.Background(), name)
	if err != nil {
		r.log.Warn("cannot read how a job stands", "job", name, "error", err)
	}
	return s
}

func (r *Registry) status(ctx context.Context, j Job) (JobStatus, error) {
	now, err := r.db.Now(ctx)
	if err != nil {
		return JobStatus{}, err
	}
	before, last, _, err := r.read(ctx, j)
	if err != nil {
		return JobStatus{}, err
	}
	plan := r.planOf(j)
	seen := before.since(last, now).plan(plan, now)
	s := JobStatus{Name: j.Name, Plan: plan.Text, Running: seen.Owner != 0, LastRun: shown(seen.Ended), LastOutcome: seen.Outcome, LastProblem: seen.Problem, NextRun: shown(seen.Next)}
	newest := func() (task.Status, error) { return r.tasks.Newest(ctx, 0, j.Name) }
	if j.Own {
		newest = func() (task.Status, error) { return r.tasks.NewestHere(ctx, j.Name) }
	}
	if !j.Quiet {
		switch t, err := newest(); {
		case err == nil:
			s.TaskID = t.ID
		case !errors.Is(err, task.ErrNotFound):
			return s, err
		}
	}
	if s.Running { // what is due while it runs is its own
		s.NextRun = shown(plan.After(now))
	}
	return s, nil
}

// shown is a time as answers have it; nil for none.
func shown(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
