package replay

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"watchmark/internal/catalog"
)

// batch is how many tasks one round releases; what is left is due in the next round.
const batch = 100

// Config is what a Loop needs.
type Config struct {
	Queue *Queue
	// Enabled and Interval are asked before every round, so that settings apply at once.
	Enabled  func() bool
	Interval func() time.Duration
	// Ping asks the catalog for a sign of life, cheaply and without an account.
	Ping func(ctx context.Context) error
	// Released is told which records go through the engine again.
	Released func(ids []int64)
	Log      *slog.Logger
}

// Loop replays waiting tasks in rounds.
type Loop struct{ Config }

// NewLoop is a loop; Run starts it.
func NewLoop(c Config) *Loop { return &Loop{c} }

// Run plays rounds until ctx ends. A round without a due task makes no request.
func (l *Loop) Run(ctx context.Context) {
	for {
		if l.Enabled() {
			if err := l.round(ctx); err != nil && ctx.Err() == nil {
				l.Log.ErrorContext(ctx, "replay round failed", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(l.Interval()):
		}
	}
}

// round releases due tasks when the catalog answers, and lets them rest a while when it does not.
func (l *Loop) round(ctx context.Context) error {
	due, err := l.Queue.hasDue(ctx)
	if err != nil || !due {
		return err
	}
	if err := l.Ping(ctx); errors.Is(err, catalog.ErrUnreachable) {
		l.Log.InfoContext(ctx, "catalog still unreachable, replay waits", "error", err)
		rest := l.Interval()
		var problem *catalog.Error
		if errors.As(err, &problem) {
			rest = max(rest, problem.RetryAfter)
		}
		return l.Queue.postpone(ctx, time.Now().Add(rest))
	}
	released, err := l.Queue.release(ctx, batch)
	if err != nil {
		return err
	}
	if len(released) > 0 {
		l.Log.InfoContext(ctx, "replaying queued records", "count", len(released))
		l.Released(released)
	}
	return nil
}
