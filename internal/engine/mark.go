package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/catalog/entries"
	"watchmark/internal/engine/queue"
	"watchmark/internal/match"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/replica"
	"watchmark/internal/record"
)

// markKey is what marks are gathered by: everything one account does to one subject
// is written in order, and what comes together is written together.
type markKey struct {
	account int64
	subject catalog.SubjectID
	start   bool
}

// enqueueMark adds a matched record to the batch of its account and subject. The
// first one of a batch starts a goroutine that Run waits for.
func (e *Engine) enqueueMark(ctx context.Context, s settled) {
	key := markKey{s.account.ID, s.trace.Result.SubjectID, isStart(s.work.Event)}
	e.mu.Lock()
	defer e.mu.Unlock()
	waiting, running := e.marking[key]
	e.marking[key] = append(waiting, s)
	if running {
		return
	}
	var through chan struct{} // nil: nothing else of the show is on its way
	if on := e.shows[showOf(s.work.Event)]; on != nil && (on.coming > 0 || len(on.waiting) > 0) {
		through = on.through
	}
	e.background.Go(func() { e.markBatches(ctx, key, through) })
}

// markBatches marks batch after batch until none comes any more. The first goes out at once, or, where
// more of its show is on its way, when that has come through. What comes while it is written, and for a while after,
// gathers into the next: several that come so soon are a burst. It waits no longer than Options.Coalesce at a time.
func (e *Engine) markBatches(ctx context.Context, key markKey, through <-chan struct{}) {
	if through != nil {
		e.gatherMarks(ctx, through)
	}
	for e.isMarking(key) {
		entry, err := e.Entries.Take(ctx, key.account, key.subject) // not while holding up others: it may take long
		of := e.laneOfMarks(key)
		e.marks[of] <- struct{}{}
		e.giveWay(ctx)
		e.mu.Lock()
		batch := e.marking[key]
		e.marking[key] = nil
		e.mu.Unlock()
		if err == nil {
			batch, err = e.markBatch(ctx, key, entry, batch)
			entry.Done()
		}
		<-e.marks[of]
		if err != nil && !e.waits(ctx, key, batch, err) {
			e.release(works(batch)...)
		}
		e.gatherMarks(ctx, nil)
	}
}

// waits has a batch marked again in a while, before what has come since: the database was away, or did not hear this replica, or some of it was
// given back while it was in hand. Otherwise the batch is to be given back.
func (e *Engine) waits(ctx context.Context, key markKey, batch []settled, err error) bool {
	e.noteEviction(err)
	if ctx.Err() == nil {
		e.noteStorage(ctx, err)
		e.pause(ctx)
	}
	switch {
	case ctx.Err() != nil:
		return false
	case errors.Is(err, record.ErrMoved):
		batch = e.leaveMoved(ctx, batch)
	case !errors.Is(err, db.ErrStorage) && !errors.Is(err, replica.ErrNotLive):
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.marking[key] = append(batch, e.marking[key]...)
	return true
}

// leaveMoved lets go of what of a batch is not this replica's any more, nor to be claimed, and answers the others.
func (e *Engine) leaveMoved(ctx context.Context, batch []settled) []settled {
	own, err := e.Records.Workable(ctx, batch[0].work.Owner, idsOf(works(batch))...)
	if err != nil {
		e.noteStorage(ctx, err)
		return batch // to be asked about again
	}
	moved := slices.DeleteFunc(slices.Clone(batch), func(s settled) bool { return slices.Contains(own, s.work.ID) })
	e.release(works(moved)...)
	return slices.DeleteFunc(batch, func(s settled) bool { return !slices.Contains(own, s.work.ID) })
}

func works(batch []settled) []record.Work {
	all := make([]record.Work, len(batch))
	for i, s := range batch {
		all[i] = s.work
	}
	return all
}

func idsOf(works []record.Work) []int64 {
	ids := make([]int64, len(works))
	for i, w := range works {
		ids[i] = w.ID
	}
	return ids
}

// laneOfMarks is the lane of what waits for the goroutine of a key: one that goes first takes the others with it.
func (e *Engine) laneOfMarks(key markKey) lane {
	e.mu.Lock()
	defer e.mu.Unlock()
	return laneOfAll(e.marking[key])
}

func laneOfAll(batch []settled) lane {
	return laneOf(!slices.ContainsFunc(batch, func(s settled) bool { return !s.work.Background }))
}

// isMarking reports whether marks wait for the goroutine of their key, which ends when none do.
func (e *Engine) isMarking(key markKey) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.marking[key]) == 0 {
		delete(e.marking, key)
		return false
	}
	return true
}

// gatherMarks waits for Options.Coalesce, or until is closed.
func (e *Engine) gatherMarks(ctx context.Context, until <-chan struct{}) {
	select {
	case <-until:
	case <-time.After(e.Options().Coalesce):
	case <-ctx.Done():
	}
}

// markBatch writes one batch with as few requests as the catalog allows, and settles its
// records. A panic costs these an error and nothing else. The entry is given back with them, or when it is compared what is in hand. An
// error is none of the catalog's: the records that it leaves are as they were.
func (e *Engine) markBatch(work context.Context, key markKey, entry *entries.Entry, batch []settled) (left []settled, err error) {
	defer func() {
		if p := recover(); p != nil {
			e.Log.ErrorContext(work, "panic while marking", "subject_id", key.subject, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			for i := range batch {
				batch[i].outcome = failure(record.Internal, internalError.With())
			}
			batch[0].entry, batch[0].rest = entry, catalog.RestAfterLost
			e.settle(work, batch)
			left, err = nil, nil
		}
	}()
	start := time.Now()
	ids := idsOf(works(batch))
	ctx := entry.With(catalog.InTurn(e.followed(work, ids...), key.account, laneOfAll(batch) == background))
	a := batch[len(batch)-1].account
	a.Private = a.Private || batch[len(batch)-1].private
	kept := &intents{records: e.Records, key: key, batch: batch, ids: ids}
	var result catalog.MarkResult
	if key.start {
		result, err = e.Lists.MarkDoing(ctx, a, key.subject, kept)
	} else {
		result, err = e.Lists.Mark(ctx, a, key.subject, episodesOf(batch), kept)
	}
	if err != nil && !result.Wrote {
		kept.drop(context.WithoutCancel(ctx), e.Log)
	}
	if errors.Is(err, record.ErrMoved) { // some are not this replica's any more, and nothing was written
		defer e.Wake()
		return batch, err
	}
	if err != nil && isOwn(ctx, err) {
		return batch, err
	}
	marks := written(result, key.start, batch)
	if err == nil {
		for i := range batch {
			s := &batch[i]
			s.outcome = record.Outcome{Status: record.Success, Mark: marks[i], Answered: marks[i] == nil || s.work.Attempts > 1}
			s.resumed = result.Resumed
			s.found = s.outcome.Mark == nil
			s.ended = result.Ended && !result.Rated && marks[i] != nil
			s.outcome.Message = markMessage(result, s.outcome.Mark, key.start).With()
		}
		err = e.followRewatch(ctx, a, key.subject, batch)
	}
	if err != nil && isOwn(ctx, err) {
		return batch, err
	}
	step := match.Step{
		Name: match.StepMark, Status: match.Hit,
		Input: map[string]any{"account": a.Username, "subject_id": key.subject, "episode_ids": episodesOf(batch)},
	}.Ended(start)
	var failed record.Outcome
	if err != nil {
		step.Status, failed = match.Failed, markFailure(a, err)
		if failed.ErrorKind == record.Internal {
			e.Log.ErrorContext(ctx, "cannot mark", "account", a.Username, "subject_id", key.subject, "error", err)
		}
	}
	for i := range batch {
		s := &batch[i]
		if err != nil {
			s.outcome, s.cause = failed, err
		}
		step.Output = map[string]any{"result": s.outcome.Message}
		if err == nil {
			step.Output["list_entry_created"], step.Output["moved_to_watching"], step.Output["subject_completed"] = result.Created, result.Moved, result.Completed
		}
		e.tell(e.followed(work, s.work.ID), step)
		s.trace.Steps = append(s.trace.Steps, step)
		s.trace.ElapsedMS += step.ElapsedMS
	}
	if errors.Is(err, catalog.ErrNotFound) || errors.Is(err, catalog.ErrRefused) {
		_ = entry.Give(work, 0) // what leads elsewhere may come back to it; one that was not given back is this replica's still
		if batch = e.matchOnline(work, batch); len(batch) > 0 {
			e.settle(work, batch)
		}
		return nil, nil
	}
	batch[0].entry, batch[0].rest = entry, catalog.Rest(err)
	e.settle(work, batch)
	return nil, nil
}

// isOwn reports whether an error is the service's own and none of the catalog's.
func isOwn(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, db.ErrStorage) || errors.Is(err, db.ErrEvicted) || errors.Is(err, replica.ErrNotLive) || errors.Is(err, record.ErrMoved)
}

// matchOnline takes out of a refused batch what the archive had led to and matches it with
// the catalog alone: the archive is up to a week old, and the subject may have been
// merged or the episode moved since. When that leads elsewhere for some, the others are
// marked once more without them. What is answered stays refused.
func (e *Engine) matchOnline(work context.Context, batch []settled) (refused []settled) {
	var moved, same []settled
	for _, s := range batch {
		if s.online || !s.trace.UsedArchive() {
			same = append(same, s)
			continue
		}
		switch isMoved, found := e.matchesElsewhere(work, &s); {
		case isMoved:
			moved = append(moved, s)
		case found:
			same = append(same, s)
		}
	}
	if len(moved) == 0 {
		return same
	}
	for _, s := range append(moved, same...) {
		if s.online {
			refused = append(refused, s)
			continue
		}
		s.online, s.outcome, s.cause = true, record.Outcome{}, nil
		e.concludeOnline(work, s)
	}
	return refused
}

// matchesElsewhere matches a refused record with the catalog alone, and reports whether that leads elsewhere: then
// s has the new trace. found is false for a record that is done with: it is given back, or a panic was its end.
func (e *Engine) matchesElsewhere(work context.Context, s *settled) (moved, found bool) {
	ctx := catalog.InTurn(e.followed(work, s.work.ID), s.account.ID, s.work.Background)
	defer e.settlePanic(ctx, work, s.work)
	trace := e.Matcher.MatchOnline(e.in(ctx, s.account), s.work.Event)
	if ctx.Err() != nil {
		e.release(s.work)
		return false, false
	}
	e.tell(ctx, trace.Steps...)
	old, now := s.trace.Result, trace.Result
	isSame := now.Status == match.Matched && now.SubjectID == old.SubjectID && now.EpisodeID == old.EpisodeID
	if isSame || now.Status == match.NotFound && catalog.Hides(s.cause) { // look-ups do not find what is hidden
		return false, true
	}
	trace.Steps = append(s.trace.Steps, trace.Steps...)
	trace.ElapsedMS += s.trace.ElapsedMS
	s.trace = trace
	return true, true
}

// concludeOnline is conclude for one of a batch: a panic costs this record an error and the others nothing.
func (e *Engine) concludeOnline(work context.Context, s settled) {
	ctx := e.followed(work, s.work.ID)
	defer e.settlePanic(ctx, work, s.work)
	for e.conclude(ctx, work, s) {
		e.pause(ctx)
	}
}

// episodesOf is every episode of the batch once, in ascending order; films without an episode have none.
func episodesOf(batch []settled) []catalog.EpisodeID {
	ids := []catalog.EpisodeID{}
	for _, s := range batch {
		if id := s.trace.Result.EpisodeID; id != 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// markMessage says what became of one record, which wrote w.
func markMessage(r catalog.MarkResult, w *record.Written, start bool) *reason.Kind {
	switch {
	case start && r.AlreadyWatched():
		return alreadyListed
	case start:
		return markedDoing
	case r.Was == catalog.Done && w == nil:
		return entryWatched
	case w == nil:
		return alreadyWatched
	case w.EntryAlone && r.Completed:
		return entryCompleted
	case w.EntryAlone:
		return entryListed
	case r.Completed:
		return markedLast
	case r.NotMoved != nil:
		return markedLocked
	case r.NotCompleted != nil:
		return markedOpen
	}
	return marked
}

// markFailure tells a refusal from an outage: an outage queues, a refusal tells the person what to do.
func markFailure(a account.Account, err error) record.Outcome {
	var problem *catalog.Error
	errors.As(err, &problem)
	var words reason.Reason
	if problem != nil && !problem.Description.IsZero() {
		words = catalogWords.With(problem.Description)
	}
	switch {
	case errors.Is(err, account.ErrNotFound):
		return record.Outcome{Status: record.Queued, ErrorKind: record.NoAccount, Message: queue.AccountGone.With()}
	case errors.Is(err, account.ErrNoToken):
		return failure(record.Unauthorized, tokenMissing.With(a.Username))
	case errors.Is(err, account.ErrOtherUser), errors.Is(err, account.ErrTaken):
		return failure(record.Unauthorized, tokenOfAnother.With(a.Username))
	case errors.Is(err, catalog.ErrUnauthorized):
		return failure(record.Unauthorized, tokenRefused.With(a.Username, words))
	case catalog.LacksScope(err):
		return failure(record.Forbidden, scopeMissing.With(a.Username, words))
	case errors.Is(err, catalog.ErrForbidden):
		return failure(record.Forbidden, accountForbidden.With(a.Username, words))
	case catalog.Hides(err):
		return failure(record.Refused, entryHidden.With(a.Username))
	case errors.Is(err, catalog.ErrNotFound), errors.Is(err, catalog.ErrRefused):
		return failure(record.Refused, markRefused.With(words))
	case errors.Is(err, catalog.ErrUnreachable):
		return record.Outcome{Status: record.Queued, ErrorKind: record.Unreachable, Message: waits.With(catalog.Outage(err))}
	}
	return failure(record.Internal, internalError.With())
}
