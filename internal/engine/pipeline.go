package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/match"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/replica"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// process brings a claimed record to its end, or to the batch that marks it. A
// panic costs this record an error and nothing else. It is to be done again in a while when the database was away.
func (e *Engine) process(work context.Context, w record.Work) (again bool) {
	ctx := e.followed(work, w.ID)
	defer e.settlePanic(ctx, work, w)
	a, step, out, err := e.assign(ctx, w)
	if err != nil {
		return e.fail(ctx, w, err)
	}
	if out != nil { // what is not to be marked needs no account
		if trace, stops := e.Matcher.Blocked(ctx, w.Event); stops {
			e.tell(ctx, trace.Steps...)
			trace.Steps = append(e.corrections(ctx, w), trace.Steps...)
			return e.conclude(ctx, work, settled{work: w, trace: trace})
		}
		// What waited in the queue waits on, for its account.
		held, err := e.Queue.Hold(ctx, w.Owner, w.ID)
		if err != nil {
			return e.fail(ctx, w, err)
		}
		if held {
			e.tell(ctx, step)
			e.letGo(w.ID)
			e.Records.Feed.Publish(w.ID)
			return false
		}
	}
	e.tell(ctx, step)
	steps := append(e.corrections(ctx, w), step)
	if out != nil {
		e.settle(work, []settled{{work: w, outcome: *out, trace: match.Trace{Result: match.Result{Status: match.NoAccount, Reason: out.Message}, Steps: steps}}})
		return false
	}
	start := time.Now()
	ctx = catalog.InTurn(ctx, a.ID, w.Background)
	trace := e.Matcher.Match(e.in(ctx, a), w.Event)
	e.Matching.Observe(time.Since(start).Seconds())
	if ctx.Err() != nil {
		e.release(w)
		return false
	}
	if errors.Is(trace.Err, db.ErrStorage) || errors.Is(trace.Err, db.ErrEvicted) || errors.Is(trace.Err, replica.ErrNotLive) {
		return e.fail(ctx, w, trace.Err) // and not in the queue, from where it would come back out of order
	}
	e.tell(ctx, trace.Steps...)
	trace.Steps = append(steps, trace.Steps...)
	return e.conclude(ctx, work, settled{work: w, account: a, trace: trace})
}

// settlePanic is deferred by what works on one record: a panic becomes its outcome.
func (e *Engine) settlePanic(ctx, work context.Context, w record.Work) {
	if p := recover(); p != nil {
		e.Log.ErrorContext(ctx, "panic while working on a record", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		e.settle(work, []settled{{work: w, outcome: failure(record.Internal, internalError.With())}})
	}
}

// conclude brings a matched record to the batch that marks it, and every other one to its end. It answers as process.
func (e *Engine) conclude(ctx, work context.Context, s settled) (again bool) {
	if errors.Is(s.trace.Err, match.ErrViewerRefused) {
		s.outcome, s.cause = markFailure(s.account, s.trace.Err), s.trace.Err
		e.settle(work, []settled{s})
		return false
	}
	switch result := s.trace.Result; result.Status {
	case match.Matched:
		if over, again := e.ruleOnAdult(ctx, work, &s); over {
			return again
		}
		if s.account.DryRun {
			e.settle(work, []settled{e.asDryRun(ctx, s)})
			return false
		}
		behind, err := e.Queue.Behind(ctx, s.work.ID, s.account.ID, result.SubjectID, s.work.Attempts <= 1)
		if err != nil {
			return e.fail(ctx, s.work, err)
		}
		if !behind {
			e.enqueueMark(work, s)
			return false
		}
		s.outcome = record.Outcome{Status: record.Queued, ErrorKind: record.Unreachable, Message: waits.With(earlierWait.With())}
	case match.Review:
		s.outcome = record.Outcome{Status: record.Review, Message: result.Reason}
	case match.Blocked:
		s.outcome = record.Outcome{Status: record.Ignored, Message: result.Reason}
	case match.EpisodeNotFound:
		s.outcome = failure(record.EpisodeNotFound, result.Reason)
	case match.Unreachable:
		s.outcome = record.Outcome{Status: record.Queued, ErrorKind: record.Unreachable, Message: waits.With(result.Reason)}
		s.cause = s.trace.Err
	default:
		s.outcome = failure(record.NotMatched, result.Reason)
	}
	e.settle(work, []settled{s})
	return false
}

// assign finds the account of a record. A record that was not routed yet is given to
// the first account, and each further account gets a record of its own. The outcome
// is set when there is no account.
func (e *Engine) assign(ctx context.Context, w record.Work) (account.Account, match.Step, *record.Outcome, error) {
	r, err := e.route(ctx, w.Event, w.Test && e.Options().AnyAccountForTests)
	if err != nil {
		return account.Account{}, match.Step{}, nil, err
	}
	if len(r.accounts) == 0 {
		if r.disabled && w.AccountID != 0 { // what is told of a record names its own account alone
			r.message = accountDisabled.With(w.AccountName, w.UserName)
			r.step.Output["reason"] = r.message
		}
		out := failure(r.kind, r.message)
		if r.kind == record.UserIgnored {
			out.Status = record.Ignored
		}
		return account.Account{}, r.step, &out, nil
	}
	if w.AccountID != 0 {
		if a, found := r.own(w.AccountID); found {
			r.step.Output["accounts"] = []string{a.Username}
			return a, r.step, nil, nil
		}
		r.step.Output["accounts"] = []string{}
		out := failure(record.NoAccount, accountChanged.With(w.AccountName, w.UserName))
		return account.Account{}, r.step, &out, nil
	}
	if len(r.accounts) > 1 {
		ids := make([]int64, len(r.accounts))
		for i, a := range r.accounts {
			ids[i] = a.ID
		}
		if err := e.Records.Assign(ctx, w, ids); err != nil {
			return account.Account{}, match.Step{}, nil, err
		}
		e.Wake()
	}
	r.step.Output["accounts"] = []string{r.accounts[0].Username}
	return r.accounts[0], r.step, nil, nil
}

// fail ends a record that the service's own part failed for. One that the disk or the server of the database failed
// for is to be done again, and so is one that was given back and waits for a claim. One that the engine's stop failed for, or that is
// another's by now, is given back.
func (e *Engine) fail(ctx context.Context, w record.Work, err error) (again bool) {
	switch {
	case ctx.Err() != nil, errors.Is(err, db.ErrEvicted), errors.Is(err, replica.ErrNotLive):
		e.noteEviction(err)
		e.release(w)
	case errors.Is(err, record.ErrMoved):
		e.Wake()
		return len(e.leaveMoved(ctx, []settled{{work: w}})) > 0 // before others of its show
	case errors.Is(err, db.ErrStorage):
		e.noteStorage(ctx, err)
		return true
	default:
		e.Log.ErrorContext(ctx, "cannot work on record", "error", err)
		e.settle(ctx, []settled{{work: w, outcome: failure(record.Internal, internalError.With())}})
	}
	return false
}

// noteStorage logs that the database cannot be used, once a while for all records.
func (e *Engine) noteStorage(ctx context.Context, err error) {
	now := time.Now()
	if last := e.away.Swap(&now); last == nil || now.Sub(*last) > lastPause {
		e.Log.ErrorContext(ctx, "cannot work on records, trying again", "error", err)
	}
}

// pause waits before what failed is done again.
func (e *Engine) pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(storeAgain):
	}
}

func failure(kind record.ErrorKind, message reason.Reason) record.Outcome {
	return record.Outcome{Status: record.Failed, ErrorKind: kind, Message: message}
}

// isStart reports whether the event is the start of a film, which marks no episode.
func isStart(event watch.Event) bool { return event.Action == watch.Started }

// correctionsMost is how many corrections the trace of a record tells of, the newest.
const correctionsMost = 3

// corrections are the steps that corrections added to the trace of a record that runs
// again, so that the new trace tells of them too. A trace that cannot be read has none.
func (e *Engine) corrections(ctx context.Context, w record.Work) []match.Step {
	if w.Attempts <= 1 && !w.Test {
		return nil
	}
	text, err := e.Records.Trace(ctx, w.ID)
	if err != nil {
		return nil
	}
	var trace match.Trace
	if err := json.Unmarshal(text, &trace); err != nil {
		return nil
	}
	steps := slices.DeleteFunc(trace.Steps, func(s match.Step) bool { return s.Name != match.StepCorrect })
	return steps[max(0, len(steps)-correctionsMost):]
}
