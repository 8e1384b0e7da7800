package engine

import (
	"context"
	"database/sql"
	"time"

	"watchmark/internal/match"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// Preview matches an event and tells how it would come out. It writes nothing. The
// error is one of the service's own database.
func (e *Engine) Preview(ctx context.Context, event watch.Event) (match.Trace, error) {
	start := time.Now()
	route, err := e.route(ctx, event, e.Options().AnyAccountForTests)
	if err != nil {
		return match.Trace{}, err
	}
	if len(route.accounts) == 0 {
		if trace, stops := e.Matcher.Blocked(ctx, event); stops {
			return finish(trace, start), nil
		}
		return finish(match.Trace{Result: match.Result{Status: match.NoAccount, Reason: route.message}, Steps: []match.Step{route.step}}, start), nil
	}
	trace := e.Matcher.Match(e.in(ctx, route.accounts[0]), event)
	trace.Steps = append([]match.Step{route.step}, trace.Steps...)
	return finish(trace, start), nil
}

func finish(t match.Trace, start time.Time) match.Trace {
	t.ElapsedMS = float64(time.Since(start).Microseconds()) / 1000
	return t
}

// Test runs an event whole, as a webhook's would, and answers the settled record.
// When ctx ends first, the run goes on without the caller.
func (e *Engine) Test(ctx context.Context, event watch.Event) (record.Record, error) {
	e.taking.RLock()
	w, err := e.Records.InsertClaimed(ctx, event, true, e.Replica.Incarnation())
	if err != nil {
		e.taking.RUnlock()
		return record.Record{}, err
	}
	through := e.take(w)
	e.taking.RUnlock()
	select {
	case <-through:
	case <-ctx.Done():
		return record.Record{}, ctx.Err()
	}
	return e.Records.Get(ctx, w.ID)
}

// AcceptTest stores an event as a test and answers the id of its record at once.
func (e *Engine) AcceptTest(ctx context.Context, event watch.Event) (int64, error) {
	var ids []int64
	err := e.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		ids, err = e.insertTx(ctx, tx, []watch.Event{event}, true, time.Now())
		return err
	})
	if err != nil {
		return 0, err
	}
	e.arrive(ids)
	return ids[0], nil
}
