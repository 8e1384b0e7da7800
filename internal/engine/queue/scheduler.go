package queue

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/schedule"
)

const (
	// soon is how long a round waits after something was queued or the catalog came back,
	// so that a burst is one round.
	soon = 300 * time.Millisecond
	// roomMost is how many records of tasks may be before the engine when more are released.
	roomMost = 1024
	// pace is the least time between two rounds while many tasks are due, calm otherwise: a
	// round looks at all that waits.
	pace = 50 * time.Millisecond
	calm = time.Second
)

// Outcome is how a round came out.
type Outcome string

// How rounds come out.
const (
	Empty       Outcome = "empty"       // nothing waits
	Unreachable Outcome = "unreachable" // the catalog does not answer
	Busy        Outcome = "busy"        // the engine has enough before it
	NoneDue     Outcome = "none_due"    // what waits is not due yet
	Sent        Outcome = "sent"
	NoAccount   Outcome = "no_account" // no account can be used
	Failed      Outcome = "failed"     // by the database; the log says how
)

// Outcomes lists every outcome.
var Outcomes = []Outcome{Empty, Unreachable, Busy, NoneDue, Sent, NoAccount, Failed}

// Round is how a round went.
type Round struct {
	// At is when it ended.
	At      time.Time
	Outcome Outcome
	// Count is how many tasks were sent.
	Count int
}

// Standing is how a scheduler stands.
type Standing struct {
	// Enabled is the setting; Running is set while rounds are played.
	Enabled, Running bool
	// NextRun is when the next round by cron is due; zero while it is switched off.
	NextRun time.Time
	// Last is the last round since the start; zero before the first.
	Last Round
}

// Config is what a Scheduler needs; every field must be set.
type Config struct {
	Queue *Queue
	// Enabled is asked before every round.
	Enabled func() bool
	// Next is when the cron expression of the settings is due next after t.
	Next func(t time.Time) time.Time
	// Reachability is what is known of the catalog without asking it.
	Reachability func() catalog.Reachability
	// Probe asks the catalog for a sign of life in the name of an account: nil, ErrNoProbe,
	// or an error of package catalog.
	Probe func(ctx context.Context) error
	// Released is told which records go through the engine again.
	Released func(ids []int64)
	// Held is told which records say anew that they wait for their account.
	Held func(ids []int64)
	Log  *slog.Logger
}

// Scheduler sends waiting tasks through the engine again: in rounds by cron, soon after
// Kick, and when a task or a trial of an unreachable catalog is due.
type Scheduler struct {
	Config
	wake    schedule.Signal
	running atomic.Bool
	last    atomic.Pointer[Round]
	// wasEmpty is set after a round that found nothing, idle after one that found nothing that could be sent, and
	// more after one that left due tasks; only Run uses them.
	wasEmpty, idle, more bool
}

// New is a scheduler; Run starts it.
func New(c Config) *Scheduler { return &Scheduler{Config: c, wake: schedule.NewSignal()} }

// Kick asks for a round soon: something was queued, the catalog came back, or the
// settings changed. It does not wait.
func (s *Scheduler) Kick() { s.wake.Raise() }

// Standing is how the scheduler stands now.
func (s *Scheduler) Standing() Standing {
	standing := Standing{Enabled: s.Enabled()}
	if standing.Enabled {
		standing.Running, standing.NextRun = s.running.Load(), s.Next(time.Now())
	}
	if last := s.last.Load(); last != nil {
		standing.Last = *last
	}
	return standing
}

// Run plays rounds until ctx ends. A round with an empty queue makes no request.
func (s *Scheduler) Run(ctx context.Context) {
	s.running.Store(true)
	defer s.running.Store(false)
	for ctx.Err() == nil {
		if s.Enabled() {
			outcome, count, err := s.round(ctx)
			if ctx.Err() == nil {
				s.last.Store(&Round{time.Now(), outcome, count})
			}
			if err != nil && ctx.Err() == nil {
				s.Log.ErrorContext(ctx, "replay round failed", "error", err)
			}
		}
		if s.wake.Wait(ctx, s.rest(ctx)) {
			select {
			case <-ctx.Done():
			case <-time.After(soon):
			}
		}
	}
}

// rest is how long it is until the next round.
func (s *Scheduler) rest(ctx context.Context) time.Duration {
	if s.more && s.Enabled() {
		return pace
	}
	now := time.Now()
	next := s.Next(now)
	if turn, waits := s.firstTurn(ctx); waits && turn.Before(next) {
		next = turn
	}
	return max(calm, next.Sub(now))
}

// firstTurn is when there is something to do before the next round by cron.
func (s *Scheduler) firstTurn(ctx context.Context) (time.Time, bool) {
	switch known := s.Reachability(); {
	case !s.Enabled():
		return time.Time{}, false
	case !known.Reachable:
		return known.NextTrial, !s.idle
	}
	turn, waits, err := s.Queue.firstTurn(ctx)
	return turn, waits && err == nil // the next round finds out what is wrong with the database
}

// round releases due tasks when the catalog answers, and tells how many.
func (s *Scheduler) round(ctx context.Context) (outcome Outcome, count int, err error) {
	again := s.more
	s.more, s.idle = false, true
	if again { // what waits was looked at by the round before; that takes time, and is for nothing without room
		if room, err := s.room(ctx); err != nil {
			return Failed, 0, err
		} else if room == 0 {
			return Busy, 0, nil
		}
	}
	waits, err := s.Queue.waits(ctx)
	if err != nil {
		return Failed, 0, err
	}
	if !waits {
		level := slog.LevelDebug
		if !s.wasEmpty {
			level = slog.LevelInfo
		}
		s.wasEmpty = true
		s.Log.Log(ctx, level, "replay round skipped: the queue is empty, which is normal")
		return Empty, 0, nil
	}
	s.wasEmpty = false
	held, err := s.Queue.hold(ctx)
	if err != nil {
		return Failed, 0, err
	}
	s.Held(held)
	if err := s.usable(ctx); errors.Is(err, ErrNoProbe) {
		s.Log.WarnContext(ctx, "replay round stopped: "+err.Error())
		return NoAccount, 0, nil
	} else if err != nil {
		return Failed, 0, err
	}
	if waits, err = s.Queue.anyFree(ctx); err != nil {
		return Failed, 0, err
	}
	if !waits {
		return NoneDue, 0, nil
	}
	s.idle = false
	if known := s.Reachability(); !known.Reachable {
		if time.Now().Before(known.NextTrial) {
			s.Log.DebugContext(ctx, "replay round skipped: API still unreachable, waiting for the next round", "next_trial", known.NextTrial)
			return Unreachable, 0, nil
		}
		if err := s.probe(ctx); errors.Is(err, catalog.ErrUnreachable) {
			return Unreachable, 0, nil
		}
	}
	room, err := s.room(ctx)
	if err != nil {
		return Failed, 0, err
	}
	if room == 0 {
		return Busy, 0, nil
	}
	released, err := s.Queue.releaseDue(ctx, room)
	s.more = len(released) == room
	s.release(ctx, released)
	switch {
	case err != nil:
		return Failed, 0, err
	case len(released) == 0:
		return NoneDue, 0, nil
	}
	return Sent, len(released), nil
}

// room is how many more records of tasks the engine may get. When it has enough before it, the next round comes soon.
func (s *Scheduler) room(ctx context.Context) (int, error) {
	busy, err := s.Queue.released(ctx)
	if err == nil && busy >= roomMost {
		s.more, s.idle = true, false
	}
	return max(0, roomMost-busy), err
}

// probe asks for a sign of life and says in the log how that went.
func (s *Scheduler) probe(ctx context.Context) error {
	err := s.Probe(ctx)
	if !errors.Is(err, catalog.ErrUnreachable) || ctx.Err() != nil {
		return err
	}
	var problem *catalog.Error
	if errors.As(err, &problem) && problem.Status == 0 {
		s.Log.WarnContext(ctx, "probe failed: the request itself failed", "error", err)
	}
	s.Log.InfoContext(ctx, "API still unreachable: replay round skipped, waiting for the next round", "error", err, "next_trial", s.Reachability().NextTrial)
	return err
}

func (s *Scheduler) release(ctx context.Context, ids []int64) {
	if len(ids) == 0 {
		return
	}
	s.Log.InfoContext(ctx, "replaying queued records", "count", len(ids))
	s.Released(ids)
}

// usable returns ErrNoProbe when there is no account that marks can be sent for.
func (s *Scheduler) usable(ctx context.Context) error {
	usable, err := s.Queue.anyUsable(ctx)
	if err == nil && !usable {
		err = ErrNoProbe
	}
	return err
}

// Replay sends up to limit waiting tasks through the engine now, due or not. Without an
// account that can be used it returns ErrNoProbe. When the catalog is known to be unreachable
// it is probed first; the error is then that of the probe, and nothing is sent.
func (s *Scheduler) Replay(ctx context.Context, limit int) ([]int64, error) {
	if err := s.ensure(ctx); err != nil {
		return nil, err
	}
	released, err := s.Queue.releaseOldest(ctx, limit)
	s.release(ctx, released)
	return released, err
}

// ReplayOne is Replay for the task of one record, abandoned ones included. It also
// returns ErrNotFound, ErrSynced, ErrHeld and ErrInWork.
func (s *Scheduler) ReplayOne(ctx context.Context, recordID int64) error {
	if _, err := standing(ctx, s.Queue.db.Read(), recordID); err != nil {
		return err
	}
	if err := s.ensure(ctx); err != nil {
		return err
	}
	if err := s.Queue.releaseOne(ctx, recordID); err != nil {
		return err
	}
	s.release(ctx, []int64{recordID})
	return nil
}

// ensure returns why nothing can be sent.
func (s *Scheduler) ensure(ctx context.Context) error {
	if err := s.usable(ctx); err != nil || s.Reachability().Reachable {
		return err
	}
	if err := s.probe(ctx); errors.Is(err, catalog.ErrUnreachable) {
		return err
	}
	return nil
}

// Revive makes an abandoned task pending again, with all its tries before it. It
// returns ErrNotFound, ErrSynced, ErrPending, or ErrInWork while its record is retried.
func (s *Scheduler) Revive(ctx context.Context, recordID int64) error {
	if err := s.Queue.revive(ctx, recordID); err != nil {
		return err
	}
	s.Kick()
	return nil
}
