package engine

import (
	"context"
	"database/sql"
	"encoding/json"
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
	"watchmark/internal/record"
	"watchmark/internal/tell/notify"
)

// settled is a record on its way out: what was found, and how it comes out.
type settled struct {
	work    record.Work
	account account.Account // zero when there is none
	trace   match.Trace
	outcome record.Outcome
	// cause is why a queued record waits; nil when the catalog was not asked for it.
	cause error
	// found is set when the list held the mark already, so that nothing was written.
	found bool
	// entry is given back with the record, to rest for a while; nil for none.
	entry *entries.Entry
	rest  time.Duration
	// resumed is set when an entry that had been left was taken up again for it.
	resumed bool
	// ended is set when the last episode of the entry was marked for it, and the entry has no rating.
	ended bool
	// online is set when the match was made without the archive because the catalog
	// refused what the archive had led to.
	online bool
	// private is set when a new entry of the list is to be visible to its owner only, whatever the account says of others.
	private bool
	// rewatchOver is set when an entry that was set back to doing because of a re-watch is not so any more.
	rewatchOver bool
}

// When the disk fails, settle tries again storeTries times, storeAgain apart.
const (
	storeAgain = time.Second
	storeTries = 60
)

// settle stores outcomes, traces and queue tasks in one transaction, then lets the
// records go. While the disk has no room for them they stay in hand and it tries again
// for a while; what is not stored in the end is done again in a while.
func (e *Engine) settle(work context.Context, batch []settled) {
	batch, outcomes, err := e.storeAll(work, batch)
	if err != nil {
		e.unsure.Store(true)
		if e.noteEviction(err); !errors.Is(err, db.ErrEvicted) {
			e.Log.ErrorContext(work, "cannot store how records came out; they are done again in a while", "records", len(batch), "error", err)
		}
		for _, s := range batch {
			e.letGo(s.work.ID)
		}
		return
	}
	// What is stored stays as it is, whatever goes wrong with telling of it.
	defer func() {
		if p := recover(); p != nil {
			e.Log.ErrorContext(work, "panic while telling how records came out", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			for _, s := range batch {
				e.letGo(s.work.ID)
			}
		}
	}()
	for i, s := range batch {
		e.tellOutcome(e.followed(work, s.work.ID), s, outcomes[i])
		e.letGo(s.work.ID)
		e.Records.Feed.Publish(s.work.ID)
	}
	are := func(status record.Status) bool {
		return slices.ContainsFunc(outcomes, func(o record.Outcome) bool { return o.Status == status })
	}
	if are(record.Queued) {
		e.Queued()
	}
	e.Notices.Wake()
	if are(record.Received) {
		e.Wake()
	}
}

// tellOutcome logs and counts how a record came out.
func (e *Engine) tellOutcome(ctx context.Context, s settled, o record.Outcome) {
	if o.Status == record.Received {
		e.Log.InfoContext(ctx, "record is given back: its question was answered while it was worked on")
		return
	}
	e.Log.InfoContext(ctx, "record settled", "source", s.work.Source, "status", o.Status,
		"error_kind", o.ErrorKind, "method", o.Method, "subject_id", o.SubjectID, "message", o.Message)
	if !s.work.Test {
		e.Runs.Add(1, string(s.work.Source), string(o.Status))
	}
}

// storeAll stores a batch, at the latest when the disk can take it again, and answers what of it was, with how these
// records came out, in their order. Others are not this replica's any more and were let go; but after a commit whose answer was lost,
// they were stored with that.
//
// It is a shared write unless it asks which entry is meant or tells of a problem: while the owner lives, nobody else changes what it has in
// hand, and all else is added. Questions and matters are looked for before they are added; a question for a rating is one row of an entry,
// which one replica at a time writes.
func (e *Engine) storeAll(work context.Context, batch []settled) (stored []settled, outcomes []record.Outcome, err error) {
	maxRetries := e.Options().MaxRetries
	write := e.DB.WriteShared
	ids := make([]int64, len(batch))
	for i, s := range batch {
		ids[i] = s.work.ID
		if s.tellsOfProblem() {
			write = e.DB.Write
		}
	}
	outcomes = make([]record.Outcome, len(batch))
	for try := 1; ; try++ {
		var inHand map[int64]bool
		err := write(context.WithoutCancel(work), func(ctx context.Context, tx *sql.Tx) (err error) {
			if inHand, err = record.InHandTx(ctx, tx, batch[0].work.Owner, ids...); err != nil {
				return err
			}
			var notices []notify.Notice
			for i, s := range batch {
				if !inHand[s.work.ID] {
					continue
				}
				var some []notify.Notice
				if outcomes[i], some, err = e.store(ctx, tx, s, maxRetries); err != nil {
					return err
				}
				notices = append(notices, some...)
			}
			if err := e.Notices.AddTx(ctx, tx, notices...); err != nil {
				return err
			}
			if entry := batch[0].entry; entry != nil {
				return entry.GiveTx(ctx, tx, batch[0].rest)
			}
			return nil
		})
		if err == nil && try == 1 {
			stored, outcomes = e.inHandOf(work, batch, outcomes, inHand)
			return stored, outcomes, nil
		}
		if !errors.Is(err, db.ErrStorage) || try == storeTries {
			return batch, outcomes, err
		}
		if try == 1 {
			e.Log.WarnContext(work, "cannot store how records came out, trying again", "records", len(batch), "error", err)
		}
		select {
		case <-work.Done():
			return batch, nil, err
		case <-time.After(storeAgain):
		}
	}
}

// tellsOfProblem reports whether how a record comes out may ask which entry is meant or tell of a problem. What waits for the first time does
// neither: it cannot be given up yet.
func (s settled) tellsOfProblem() bool {
	switch s.outcome.Status {
	case record.Success, record.Ignored:
		return false
	case record.Queued:
		return s.work.Attempts > 1
	}
	return true
}

// inHandOf leaves out of a batch what is not this replica's any more, and lets it go.
func (e *Engine) inHandOf(work context.Context, batch []settled, outcomes []record.Outcome, inHand map[int64]bool) (left []settled, came []record.Outcome) {
	for i, s := range batch {
		if inHand[s.work.ID] {
			left, came = append(left, s), append(came, outcomes[i])
			continue
		}
		e.Log.WarnContext(e.followed(work, s.work.ID), "record is not this replica's any more: how it came out is not stored")
		e.letGo(s.work.ID)
	}
	return left, came
}

// store writes how a record comes out within tx, and answers that and the notices of it. One
// whose question a person answered while it was worked on is given back: it is received again.
func (e *Engine) store(ctx context.Context, tx *sql.Tx, s settled, maxRetries int) (o record.Outcome, notices []notify.Notice, err error) {
	o = s.outcome
	o.RecordID, o.Owner = s.work.ID, s.work.Owner
	o.AccountID, o.AccountName = s.account.ID, s.account.Username
	if s.account.ID == 0 {
		o.AccountID, o.AccountName = s.work.AccountID, s.work.AccountName
	}
	r := s.trace.Result
	o.SubjectID, o.SubjectName, o.EpisodeID, o.EpisodeSort = r.SubjectID, r.SubjectName, r.EpisodeID, r.EpisodeSort
	o.Method, o.Confidence = r.Method, r.Confidence

	var before earlierNews
	if o.Status == record.Queued {
		before.waited, err = s.queueTx(ctx, tx, &o, maxRetries)
	} else if s.work.Attempts > 1 { // what was never claimed before never waited
		before.waited, err = queue.DoneTx(ctx, tx, o.RecordID)
	}
	if err != nil {
		return o, nil, err
	}
	if o.Status == record.Review {
		asked, err := e.Ask(ctx, tx, s.work, s.account.PersonID, s.trace)
		if err != nil {
			return o, nil, err
		}
		if !asked.Message.IsZero() {
			o.Message = asked.Message
		}
		if asked.Again {
			o.Status = record.Received
		}
		before.asked = asked.Before
	}
	if before.asked { // an answer that was taken back had closed the notice, or somebody put the question off
		if err := e.Notices.ReopenTx(ctx, tx, news(notify.ReviewWaiting, s.work.Event, o)); err != nil {
			return o, nil, err
		}
	}
	kind := s.kindOf(o, before)
	notices = settledBy(s.work.Event, o, kind)
	if kind != "" {
		notices = append(notices, news(kind, s.work.Event, o))
	}
	if s.ended && isLive(s.work) {
		asked, err := e.Word(ctx, tx, s.work, s.account, o.SubjectID, o.SubjectName)
		if err != nil {
			return o, nil, err
		}
		notices = append(notices, asked...)
	}
	if s.resumed {
		if err := record.ResumedTx(ctx, tx, o.AccountID, o.SubjectID); err != nil {
			return o, nil, err
		}
	}
	if s.rewatchOver {
		if err := record.EndRewatchTx(ctx, tx, o.AccountID, o.SubjectID); err != nil {
			return o, nil, err
		}
	}
	if s.trace.Steps != nil {
		if o.Trace, err = json.Marshal(s.trace); err != nil {
			return o, nil, fmt.Errorf("encode the trace of record %d: %w", o.RecordID, err)
		}
		if led := s.trace.Rule; led != nil && led.PassedOver.IsZero() {
			o.Rule = &record.Rule{ID: led.MappingID, SubjectID: led.SubjectID, EpisodeOffset: led.EpisodeOffset}
		}
	}
	return o, notices, record.SettleTx(ctx, tx, o)
}

// queueTx has the record of an outcome wait for the catalog, within tx. The outcome becomes a
// failure when the task is given up. waited says that it waited before.
func (s settled) queueTx(ctx context.Context, tx *sql.Tx, o *record.Outcome, maxRetries int) (waited bool, err error) {
	task := queue.Task{
		RecordID: o.RecordID, AccountID: o.AccountID, SubjectID: o.SubjectID, Action: s.work.Action,
		LastError: o.Message,
	}
	why := o.Message
	if o.Message.Code == waits.Code() {
		why, _ = o.Message.Args["reason"].(reason.Reason)
	}
	if s.cause != nil {
		task.LastError = reason.Of(s.cause)
		task.Asked = catalog.Asked(s.cause)
		var problem *catalog.Error
		if errors.As(s.cause, &problem) {
			task.RetryAfter = problem.RetryAfter
		}
	}
	if o.EpisodeID != 0 {
		task.Episodes = []catalog.EpisodeID{o.EpisodeID}
	}
	put, err := queue.PutTx(ctx, tx, task, maxRetries)
	if put.Status == queue.Abandoned {
		o.Status, o.ErrorKind = record.Failed, record.Abandoned
		o.Message = givenUp.With(put.Retries, why)
	}
	return put.Waited, err
}
