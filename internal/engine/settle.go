package engine

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"watchmark/internal/account"
	"watchmark/internal/candidate"
	"watchmark/internal/catalog"
	"watchmark/internal/db"
	"watchmark/internal/match"
	"watchmark/internal/record"
	"watchmark/internal/replay"
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
	// online is set when the match was made without the archive because the catalog
	// refused what the archive had led to.
	online bool
}

// When the disk fails, settle tries again storeTries times, storeAgain apart.
const (
	storeAgain = time.Second
	storeTries = 60
)

// settle stores outcomes, traces and queue tasks in one transaction, then lets the
// records go. While the disk has no room for them they stay in hand and it tries again
// for a while; what is not stored in the end is done again when its lease ends.
func (e *Engine) settle(work context.Context, batch []settled) {
	again, err := e.storeAll(work, batch)
	if err != nil {
		e.Log.ErrorContext(work, "cannot store how records came out; they are done again when their lease ends", "records", len(batch), "error", err)
		for _, s := range batch {
			e.letGo(s.work.ID)
		}
		return
	}
	for _, s := range batch {
		e.Log.InfoContext(e.followed(work, s.work.ID), "record settled", "source", s.work.Source, "status", s.outcome.Status,
			"error_kind", s.outcome.ErrorKind, "method", s.trace.Result.Method, "subject_id", s.trace.Result.SubjectID, "message", s.outcome.Message)
		if !s.work.Test {
			e.Runs.Add(1, string(s.work.Source), string(s.outcome.Status))
		}
		e.letGo(s.work.ID)
		e.Records.Feed.Publish(s.work.ID)
	}
	if slices.ContainsFunc(batch, func(s settled) bool { return s.outcome.Status == record.Queued }) {
		e.Queued()
	}
	e.Notices.Wake()
	if again {
		e.Wake()
	}
}

// storeAll stores a batch, at the latest when the disk can take it again. It reports
// whether some of it is to be worked on again.
func (e *Engine) storeAll(work context.Context, batch []settled) (again bool, err error) {
	maxRetries := e.Options().MaxRetries
	for try := 1; ; try++ {
		err := e.DB.Write(context.WithoutCancel(work), func(ctx context.Context, tx *sql.Tx) error {
			again = false
			for _, s := range batch {
				answered, err := e.store(ctx, tx, s, maxRetries)
				if err != nil {
					return err
				}
				again = again || answered
			}
			return nil
		})
		if !errors.Is(err, db.ErrStorage) || try == storeTries {
			return again, err
		}
		if try == 1 {
			e.Log.WarnContext(work, "cannot store how records came out, trying again", "records", len(batch), "error", err)
		}
		select {
		case <-work.Done():
			return false, err
		case <-time.After(storeAgain):
		}
	}
}

// store writes one outcome within tx, with the notice of it. It reports that the record is given back instead,
// when a person answered its question while it was worked on.
func (e *Engine) store(ctx context.Context, tx *sql.Tx, s settled, maxRetries int) (answered bool, err error) {
	o, r := s.outcome, s.trace.Result
	o.RecordID = s.work.ID
	o.AccountID, o.AccountName = s.account.ID, s.account.Username
	if s.account.ID == 0 {
		o.AccountID, o.AccountName = s.work.AccountID, s.work.AccountName
	}
	o.SubjectID, o.SubjectName, o.EpisodeID, o.EpisodeSort = r.SubjectID, r.SubjectName, r.EpisodeID, r.EpisodeSort
	o.Method, o.Confidence = r.Method, r.Confidence

	var before told
	if o.Status == record.Queued {
		task := replay.Task{
			RecordID: o.RecordID, AccountID: o.AccountID, SubjectID: o.SubjectID, Action: s.work.Action,
			LastError: o.Message,
		}
		if s.cause != nil {
			task.LastError = s.cause.Error()
			task.Asked = catalog.Asked(s.cause)
			var problem *catalog.Error
			if errors.As(s.cause, &problem) {
				task.RetryAfter = problem.RetryAfter
			}
		}
		if o.EpisodeID != 0 {
			task.Episodes = []catalog.EpisodeID{o.EpisodeID}
		}
		status, waited, err := replay.PutTx(ctx, tx, task, maxRetries)
		before.waited = waited
		switch {
		case errors.Is(err, replay.ErrNoAccount):
			o.Status, o.ErrorKind = record.Failed, record.NoAccount
			o.Message = "account not found: it was deleted while its mark waited"
		case err != nil:
			return false, err
		case status == replay.Abandoned:
			o.Status, o.ErrorKind = record.Failed, record.Abandoned
			o.Message = fmt.Sprintf("given up after %d tries: %s; revive it in the queue, or retry it here", maxRetries, o.Message)
		}
	} else if before.waited, err = replay.DoneTx(ctx, tx, o.RecordID); err != nil {
		return false, err
	}
	if o.Status == record.Review {
		asked, err := candidate.AskTx(ctx, tx, s.work, s.trace)
		if err != nil {
			return false, err
		}
		if asked.Told != "" {
			o.Message = asked.Told
		}
		before.asked = asked.Before
		if answered = asked.Again; answered {
			o.Status = record.Received
		}
	}
	if kind := s.kindOf(o, before); kind != "" {
		if err := e.Notices.AddTx(ctx, tx, news(kind, s.work.Event, o)); err != nil {
			return false, err
		}
	}
	if s.trace.Steps != nil {
		trace, err := json.Marshal(s.trace)
		if err != nil {
			return false, fmt.Errorf("encode the trace of record %d: %w", o.RecordID, err)
		}
		o.Trace = trace
	}
	return answered, record.SettleTx(ctx, tx, o)
}
