package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"watchmark/internal/match"
	"watchmark/internal/platform/logs"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/scope"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
)

// The kinds of task that the engine starts.
const (
	RetryKind       = "retry"
	RetryFailedKind = "retry_failed"
)

// RunMost is how many records a task that runs many again has in the pipeline at once, so that it
// can be cancelled and does not stand in the way of what people watch meanwhile.
const RunMost = 64

// Retry sends a settled record through the whole pipeline again, with all that its
// event carried. The task ends when the record is settled, with the record as its
// result; its log is the debug log of that run. It returns record.ErrNotFound,
// ErrInProgress, task.ErrStopping, or the error of ctx, after which the task goes on.
func (e *Engine) Retry(ctx context.Context, id int64) (*task.Task, error) {
	r, err := e.Records.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if r.Status.IsOnTheWay() {
		return nil, fmt.Errorf("retry record %d: %w", id, ErrInProgress)
	}
	requeued := make(chan error, 1)
	t, err := e.Tasks.Start(ctx, task.Spec{Kind: RetryKind, About: id}, func(ctx context.Context, t *task.Task) error {
		defer close(requeued)
		defer e.Follow(id, t)()
		t.Progress(0, 1, retrying.With(id))
		err := e.takeAgain(ctx, id)
		requeued <- err
		if err != nil {
			return err
		}
		r, err := e.Settled(ctx, id)
		if err != nil {
			return err
		}
		t.SetResult(r)
		t.Progress(1, 1, r.Message)
		return nil
	})
	if err != nil {
		return nil, err
	}
	select {
	case err = <-requeued:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("retry record %d: %w", id, err)
	}
	return t, nil
}

// LastRetry is the last run of a record that Retry started, or ErrNotRetried.
func (e *Engine) LastRetry(ctx context.Context, id int64) (*task.Task, error) {
	s, err := e.Tasks.Newest(ctx, id, RetryKind)
	if errors.Is(err, task.ErrNotFound) {
		return nil, ErrNotRetried.With("/api/records/{id}/retry")
	}
	if err != nil {
		return nil, err
	}
	return e.Tasks.Get(ctx, s.ID)
}

// RetryFailed runs every failed record that passes the filter again, the oldest first,
// as a task that can be cancelled, with a Tally as its result; f.Status is not looked at. They are those that the scope of ctx reaches. It
// returns ErrRetrying or task.ErrStopping.
func (e *Engine) RetryFailed(ctx context.Context, f record.Filter) (*task.Task, error) {
	f.Status = record.Failed
	whose, alone := scope.From(ctx), RetryFailedKind
	if !whose.Whole() {
		alone += " of " + strconv.FormatInt(whose.Person(), 10)
	}
	t, err := e.Tasks.Start(ctx, task.Spec{Kind: RetryFailedKind, Alone: alone}, func(ctx context.Context, t *task.Task) error {
		ctx = scope.In(ctx, whose)
		ids, err := e.Records.IDs(ctx, f)
		if err != nil {
			return err
		}
		return e.retryAll(ctx, t, ids, func(tally Tally) any { return tally })
	})
	if errors.Is(err, task.ErrRunning) {
		return nil, ErrRetrying
	}
	return t, err
}

// RetryTold runs again, as a task, what players told with the API keys of a person who had no account.
func (e *Engine) RetryTold(ctx context.Context, person int64) error {
	ids, err := e.Records.ToldWithoutAccount(ctx, person)
	if err != nil || len(ids) == 0 {
		return err
	}
	_, err = e.Tasks.Start(ctx, task.Spec{Kind: RetryFailedKind, Alone: RetryFailedKind + " told by " + strconv.FormatInt(person, 10)}, func(ctx context.Context, t *task.Task) error {
		return e.retryAll(ctx, t, ids, func(tally Tally) any { return tally })
	})
	return err
}

// retryAll runs failed records again for a task, in their order, and keeps the result that their tally makes.
func (e *Engine) retryAll(ctx context.Context, t *task.Task, ids []int64, result func(Tally) any) error {
	var tally Tally
	t.Progress(0, len(ids), tally.Reason())
	for len(ids) > 0 {
		part := ids[:min(len(ids), RunMost)]
		ids = ids[len(part):]
		err := e.retryPart(ctx, part, &tally)
		done := tally.Retried + tally.Skipped
		t.SetResult(result(tally))
		t.Progress(done, done+len(ids), tally.Reason())
		if err != nil {
			return err
		}
	}
	return nil
}

// Tally is what a bulk retry brought.
type Tally struct {
	Retried int `json:"retried"`
	Marked  int `json:"marked"`
	Queued  int `json:"queued"`
	Failed  int `json:"failed"`
	// Other are ignored records and those that wait in review.
	Other int `json:"other"`
	// Skipped were retried, corrected or deleted by somebody else meanwhile.
	Skipped int `json:"skipped"`
}

// Reason is the tally in words; those that were skipped are left out.
func (t Tally) Reason() reason.Reason {
	return retried.With(t.Retried, t.Marked, t.Queued, t.Failed, t.Other)
}

// retryPart runs some records again, those of them that are still failed, and waits until all are settled.
func (e *Engine) retryPart(ctx context.Context, ids []int64, tally *Tally) error {
	var running []int64
	for _, id := range ids {
		r, err := e.Records.Get(ctx, id)
		if err == nil && r.Status == record.Failed {
			err = e.requeue(ctx, id)
		}
		switch {
		case errors.Is(err, ErrInProgress), errors.Is(err, record.ErrNotFound), err == nil && r.Status != record.Failed:
			tally.Skipped++
		case err != nil:
			return err
		default:
			running = append(running, id)
		}
	}
	return e.Await(ctx, running, tally, func(int) {})
}

// Await waits until records that are run again are settled, and counts how they came out; each is told how many are.
func (e *Engine) Await(ctx context.Context, ids []int64, tally *Tally, each func(settled int)) error {
	for n, id := range ids {
		each(n)
		r, err := e.Settled(ctx, id)
		if err != nil && !errors.Is(err, record.ErrNotFound) {
			return err
		}
		tally.add(r, err == nil)
	}
	each(len(ids))
	return nil
}

// add counts how a record came out; one that is not there any more was skipped.
func (t *Tally) add(r record.Record, isThere bool) {
	if !isThere {
		t.Skipped++
		return
	}
	t.Retried++
	switch r.Status {
	case record.Success:
		t.Marked++
	case record.Queued:
		t.Queued++
	case record.Failed:
		t.Failed++
	default:
		t.Other++
	}
}

// requeue gives a settled record to the workers. It returns ErrInProgress for one that
// is on its way.
func (e *Engine) requeue(ctx context.Context, id int64) error {
	err := e.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		requeued, err := record.RequeueTx(ctx, tx, id)
		if err == nil && !requeued {
			err = ErrInProgress
		}
		return err
	})
	if err != nil {
		return err
	}
	e.Records.Feed.Publish(id)
	e.Wake()
	return nil
}

// takeAgain is requeue that has this engine work on the record, so that who follows it has its log, unless another replica works on its show.
func (e *Engine) takeAgain(ctx context.Context, id int64) error {
	e.taking.RLock()
	defer e.taking.RUnlock()
	var w record.Work
	var claimed bool
	err := e.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		if w, claimed, err = record.ReclaimTx(ctx, tx, e.Replica.Incarnation(), id); err != nil || claimed {
			return err
		}
		requeued, err := record.RequeueTx(ctx, tx, id)
		if err == nil && !requeued {
			err = ErrInProgress
		}
		return err
	})
	if err != nil {
		return err
	}
	e.Records.Feed.Publish(id)
	if !claimed {
		e.Wake()
		return nil
	}
	if err := e.Fresh(ctx); err != nil {
		return errors.Join(err, e.Records.Release(context.WithoutCancel(ctx), w.Owner, id))
	}
	e.take(w)
	return nil
}

// Settled waits until a record is settled, and answers it. What is logged of that is logged by then, so that who follows
// the record until then has it all.
func (e *Engine) Settled(ctx context.Context, id int64) (record.Record, error) {
	changes, cancel := e.Records.Feed.Subscribe()
	defer cancel()
	for {
		r, err := e.Records.Get(ctx, id)
		if err != nil {
			return r, err
		}
		if !r.Status.IsOnTheWay() {
			return r, e.awaitLetGo(ctx, id)
		}
		if err := awaitChange(ctx, changes, id); err != nil {
			return record.Record{}, err
		}
	}
}

// awaitLetGo waits while a record is in hand: one that was stored as settled is told of before it is let go.
func (e *Engine) awaitLetGo(ctx context.Context, id int64) error {
	e.mu.Lock()
	h, is := e.inHand[id]
	e.mu.Unlock()
	if !is {
		return nil
	}
	select {
	case <-h.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// awaitChange waits until a record changed, or a while: a slow subscriber misses changes.
func awaitChange(ctx context.Context, changes <-chan int64, id int64) error {
	look := time.After(time.Second)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case changed := <-changes:
			if changed == id {
				return nil
			}
		case <-look:
			return nil
		}
	}
}

// Follow has the runs of a record logged to t until the function it gives is called.
func (e *Engine) Follow(id int64, t *task.Task) (end func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.retries[id] = t
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.retries[id] == t {
			delete(e.retries, id)
		}
	}
}

// followed is ctx, in which what happens to records is logged with their ids, and also to the
// tasks of those that are retried.
func (e *Engine) followed(ctx context.Context, ids ...int64) context.Context {
	if len(ids) == 1 {
		ctx = logs.With(ctx, "record_id", ids[0])
	} else {
		ctx = logs.With(ctx, "record_ids", ids)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, id := range ids {
		if t := e.retries[id]; t != nil {
			ctx = task.With(ctx, t)
		}
	}
	return ctx
}

// LogSteps logs steps of the trace of a record, a line each, for whoever follows it.
func (e *Engine) LogSteps(ctx context.Context, id int64, steps ...match.Step) {
	e.tell(e.followed(ctx, id), steps...)
}

// tell logs the steps of a trace, a line each, for whoever follows a retry.
func (e *Engine) tell(ctx context.Context, steps ...match.Step) {
	if !e.Log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	for _, step := range steps {
		e.Log.DebugContext(ctx, step.Title().Text, "reason", step.Summary(), "step", step.Name, "status", step.Status,
			"input", step.Input, "output", step.Output, "candidates", len(step.Candidates), "elapsed_ms", step.ElapsedMS)
	}
}
