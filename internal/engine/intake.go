package engine

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"slices"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/match/seriesid"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/scope"
	"watchmark/internal/record"
	"watchmark/internal/record/webhooklog"
	"watchmark/internal/tell/notify"
	"watchmark/internal/watch"
)

const (
	// intakeMost is how many requests may wait for the intake; one more is ErrBusy.
	intakeMost = 1024
	// committers is how many commits are under way at once on a server: one is gathered while another one waits for the answer.
	// A database in a folder has one writer.
	committers = 2
	// commitMost is how many requests one commit takes, and gatherMost how long it waits for them while another one is under way.
	commitMost = 256
	gatherMost = 25 * time.Millisecond
	// burst is how many requests in one commit mean that senders wait for the disk. Work
	// that has time then gives way, for restAfter since the last such commit, but one record
	// waits no longer than wayMost.
	burst     = 4
	restAfter = 30 * time.Millisecond
	wayMost   = 250 * time.Millisecond
)

// Arrival is one request that came to a webhook. Events is empty when it was ignored
// or refused; Entry is its line in the webhook log, without RecordIDs.
type Arrival struct {
	Events []watch.Event
	Entry  webhooklog.Entry
}

type arrival struct {
	Arrival
	done chan accepted
}

// Accepted is what became of an arrival.
type Accepted struct {
	IDs []int64 // of its records
	// Ignored is why none of its events became a record; empty when one did, and when there were none.
	Ignored reason.Reason
	// Before is when the play was that Ignored says was told before; zero otherwise.
	Before time.Time
}

type accepted struct {
	Accepted
	err error
}

// Accept commits an arrival. Requests that come at the same time share one commit. After ErrBusy and ErrNotStored nothing was
// stored.
func (e *Engine) Accept(ctx context.Context, a Arrival) (Accepted, error) {
	waiting := &arrival{a, make(chan accepted, 1)}
	select {
	case e.intake <- waiting:
	default:
		return Accepted{}, ErrBusy
	}
	select {
	case result := <-waiting.done:
		return result.Accepted, result.err
	case <-ctx.Done():
		return Accepted{}, ctx.Err()
	}
}

// commitArrivals stores arrivals, as many as wait in one commit, until ctx ends;
// what waits then is still stored.
func (e *Engine) commitArrivals(ctx context.Context) {
	for {
		select {
		case first := <-e.intake:
			e.commit(e.gather(first))
		case <-ctx.Done():
			for {
				select {
				case first := <-e.intake:
					e.commit(e.gather(first))
				default:
					return
				}
			}
		}
	}
}

// gather takes what else waits. While another commit is under way it waits until as many have come as that one has, or until it is done:
// otherwise the first sender to come back would have a commit for itself, and all others the next one.
func (e *Engine) gather(first *arrival) []*arrival {
	batch := []*arrival{first}
	var enough int
	var done <-chan struct{}
	var late <-chan time.Time
	if other := e.underWay.Load(); other != nil {
		enough, done, late = other.arrivals, other.done, time.After(gatherMost)
	}
	for len(batch) < commitMost {
		select {
		case next := <-e.intake:
			batch = append(batch, next)
			continue
		default:
		}
		if len(batch) >= enough {
			break
		}
		select {
		case next := <-e.intake:
			batch = append(batch, next)
		case <-done:
			enough = 0
		case <-late:
			enough = 0
		}
	}
	return batch
}

// committing is a commit that is under way.
type committing struct {
	arrivals int
	done     chan struct{} // closed once its senders are answered
}

// giveWay lets a burst of arrivals be stored before accepted work goes on.
func (e *Engine) giveWay(ctx context.Context) {
	for until := time.Now().Add(wayMost); ctx.Err() == nil; {
		last := e.lastBurst.Load()
		if last == nil {
			return
		}
		rest := min(restAfter-time.Since(*last), time.Until(until))
		if rest <= 0 {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(rest):
		}
	}
}

// commit stores a batch in one transaction and answers its senders.
func (e *Engine) commit(batch []*arrival) {
	if len(batch) >= burst {
		now := time.Now()
		e.lastBurst.Store(&now)
	}
	this := &committing{len(batch), make(chan struct{})}
	e.underWay.Store(this)
	defer func() {
		e.underWay.CompareAndSwap(this, nil)
		close(this.done)
	}()
	results := make([]accepted, len(batch))
	unwatched := false
	// It is a shared write: all of it is added, and what it looks up of a play locks the login that may have it.
	err := e.DB.WriteFirst(context.Background(), func(ctx context.Context, tx *sql.Tx) (err error) {
		now := time.Now()
		var events []watch.Event
		fresh := make([]int, len(batch)) // how many events of each
		for i, a := range batch {
			results[i] = accepted{}
			some, ignored, isUnwatched, err := e.freshTx(ctx, tx, a.Events)
			if err != nil {
				return err
			}
			if some, results[i].Before, err = e.untoldTx(ctx, tx, some, events, now); err != nil {
				return err
			}
			if !results[i].Before.IsZero() {
				ignored = toldBefore.With()
			}
			unwatched = unwatched || isUnwatched
			fresh[i], results[i].Ignored, events = len(some), ignored, append(events, some...)
		}
		ids, err := e.insertTx(ctx, tx, events, false, now)
		if err != nil {
			return err
		}
		entries := make([]webhooklog.Entry, len(batch))
		for i, a := range batch {
			results[i].IDs, ids = ids[:fresh[i]:fresh[i]], ids[fresh[i]:]
			entry := a.Entry
			entry.At, entry.RecordIDs = now, results[i].IDs
			if fresh[i] > 0 {
				results[i].Ignored = reason.Reason{}
			} else if !results[i].Ignored.IsZero() {
				entry.Status, entry.Reason = http.StatusOK, results[i].Ignored
			}
			entries[i] = entry
		}
		return webhooklog.InsertTx(ctx, tx, entries...)
	})
	var stored []int64
	for i, a := range batch {
		if err != nil {
			a.done <- accepted{err: fmt.Errorf("%w: %w", ErrNotStored, err)}
			continue
		}
		a.done <- results[i]
		stored = append(stored, results[i].IDs...)
	}
	if err == nil {
		e.Records.Feed.Publish(record.Arrival)
	}
	e.arrive(stored)
	if err == nil && unwatched {
		e.Unwatched()
	}
}

// freshTx are those of the events of an arrival that become records; ignored is why another one does not, and unwatched is set when marks
// are to be taken back because of one.
func (e *Engine) freshTx(ctx context.Context, tx *sql.Tx, all []watch.Event) (fresh []watch.Event, ignored reason.Reason, unwatched bool, err error) {
	for _, event := range all {
		if event.Action == watch.Unwatched {
			var noted bool
			if ignored, noted, err = e.unwatchTx(ctx, tx, event); err != nil {
				return nil, ignored, false, err
			}
			unwatched = unwatched || noted
			continue
		}
		if err := seriesid.LearnTx(ctx, tx, event); err != nil {
			return nil, ignored, false, err
		}
		taken, err := e.Taken(ctx, tx, event)
		if err != nil {
			return nil, ignored, false, err
		}
		if taken {
			ignored = takenBefore.With()
			continue
		}
		fresh = append(fresh, event)
	}
	return fresh, ignored, unwatched, nil
}

// Retold is how far apart two stops of the same thing by an API key are that tell of one play: players send a stop again when its answer was
// lost, and some send two.
const Retold = 10 * time.Minute

// untoldTx are those of the events of an arrival that were not told before: what a person's API key brings is one play however often it is
// sent. among are the events of the same commit. before is when the play was that was told; zero for none.
func (e *Engine) untoldTx(ctx context.Context, tx *sql.Tx, all, among []watch.Event, now time.Time) (untold []watch.Event, before time.Time, err error) {
	for _, event := range all {
		if event.PersonID == nil {
			untold = append(untold, event)
			continue
		}
		at := playAt(event, now)
		if !e.DB.Alone() { // two replicas may have the same stop at the same moment
			if err := record.LockPlaysTx(ctx, tx); err != nil {
				return nil, before, err
			}
		}
		plays, err := record.PlaysTx(ctx, tx, event, at.Add(-Retold))
		if err != nil {
			return nil, before, err
		}
		for _, other := range among {
			if record.SamePlay(event, other) {
				plays = append(plays, record.Play{Event: other, At: now})
			}
		}
		told := slices.IndexFunc(plays, func(p record.Play) bool { return at.Sub(playAt(p.Event, p.At)).Abs() < Retold })
		if told < 0 {
			untold = append(untold, event)
			continue
		}
		before = playAt(plays[told].Event, plays[told].At)
	}
	return untold, before, nil
}

// playAt is when a play was that came at a time: when it says, unless that is still to come.
func playAt(event watch.Event, came time.Time) time.Time {
	if event.OccurredAt.IsZero() || event.OccurredAt.After(came) {
		return came
	}
	return event.OccurredAt
}

// Take stores events of a polled source in one transaction with what also writes, such as
// how far the source was read; ids are those of the records, in the order of events. When it
// returns an error nothing was stored.
func (e *Engine) Take(ctx context.Context, events []watch.Event, also func(ctx context.Context, tx *sql.Tx, ids []int64) error) ([]int64, error) {
	var ids []int64
	err := e.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		if ids, err = e.insertTx(ctx, tx, events, false, time.Now()); err != nil {
			return err
		}
		return also(ctx, tx, ids)
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotStored, err)
	}
	e.arrive(ids)
	return ids, nil
}

// insertTx stores events as received records within tx, each with the notice of its arrival,
// and answers the ids of the records in their order.
func (e *Engine) insertTx(ctx context.Context, tx *sql.Tx, events []watch.Event, test bool, now time.Time) ([]int64, error) {
	to, err := e.ownTx(ctx, tx, events)
	if err != nil {
		return nil, err
	}
	ids, err := record.InsertAll(ctx, tx, events, test, to[0], now)
	if err != nil {
		return nil, err
	}
	for _, further := range to[1:] { // as the route gives them to each account, whose records nobody waits for
		if _, err := record.InsertAll(ctx, tx, events, test, further, now); err != nil {
			return nil, err
		}
	}
	notices := make([]notify.Notice, len(events))
	for i, event := range events {
		e.expect(ids[i], event)
		notices[i] = arrived(event, ids[i])
	}
	return ids, e.Notices.AddTx(ctx, tx, notices...)
}

// ownTx are the accounts that events are given to from the start: what a person takes in is for accounts of theirs alone, whoever else has one
// that names the media-server user. 0 leaves it to the route. The events of a person are of one media-server user.
func (e *Engine) ownTx(ctx context.Context, tx *sql.Tx, events []watch.Event) (ids []int64, err error) {
	if len(events) == 0 || scope.From(ctx).Whole() {
		return []int64{0}, nil
	}
	user := events[0].UserName
	if slices.ContainsFunc(events, func(event watch.Event) bool { return event.UserName != user }) {
		return nil, fmt.Errorf("events of several users in the scope of a person")
	}
	own, err := account.ForUser(ctx, tx, user)
	for _, a := range own {
		if a.Enabled {
			ids = append(ids, a.ID)
		}
	}
	if err == nil && len(ids) == 0 {
		err = noAccount.With(user)
	}
	return ids, err
}

// arrive tells of records that were stored, and has them worked on.
func (e *Engine) arrive(ids []int64) {
	for _, id := range ids {
		e.Records.Feed.Publish(id)
	}
	e.Notices.Wake()
	e.Wake()
}
