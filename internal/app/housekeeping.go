package app

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"watchmark/internal/platform/schedule"
	"watchmark/internal/tell/llm"
	"watchmark/internal/upkeep/oldtexts"
)

// startGrace is how long the start may take with what it does beside the first requests.
const startGrace = 2 * time.Second

const (
	// keepSynced is how long a done task stays in the queue, for people to see.
	keepSynced = 7 * 24 * time.Hour
	// keepUnasked is how long a question stays that no record waits for: its records may be on
	// their way to asking it again.
	keepUnasked = time.Hour
	// keepPlays is how long it is remembered what a TV box has played.
	keepPlays = 90 * 24 * time.Hour
)

// housekeepingJob removes what is kept for a while only, counts the days that are over, and turns texts of older versions into
// reasons: when the start is over, and then once an hour.
func (a *App) housekeepingJob() schedule.Job {
	return schedule.Job{
		Name: "housekeeping", Quiet: true, AtStart: new(startGrace),
		Plan: func() schedule.Plan { return schedule.Every(time.Hour) },
		Run: func(ctx context.Context, _ *schedule.Run) error {
			return errors.Join(a.prune(ctx), a.Records.CountDays(ctx, time.Now()), oldtexts.Upgrade(ctx, a.db))
		},
	}
}

// giveMemoryBack gives back memory that was needed for a while only: when the start is over, and then once an hour, until ctx ends.
func (a *App) giveMemoryBack(ctx context.Context) {
	for wait := startGrace; ; wait = time.Hour {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		debug.FreeOSMemory()
		releaseProgram()
	}
}

// prune removes what is too old, as much of it as can be.
func (a *App) prune(ctx context.Context) error {
	s := a.Settings.Current().Server
	before := func(keep time.Duration) time.Time { return time.Now().Add(-keep) }
	stale := []func(limit int) (int64, error){
		func(limit int) (int64, error) { return a.webhooks.Prune(ctx, before(s.WebhookLog), limit) },
		func(limit int) (int64, error) { return a.queue.Prune(ctx, before(keepSynced), limit) },
		func(limit int) (int64, error) { return a.Questions.Prune(ctx, before(keepUnasked), limit) },
		func(limit int) (int64, error) { return a.Notices.Prune(ctx, limit) },
		func(limit int) (int64, error) { return a.llm.Usage.Prune(ctx, before(llm.KeepUsage), limit) },
		func(limit int) (int64, error) { return a.tracker.Prune(ctx, limit) },
		func(limit int) (int64, error) { return a.watcher.Prune(ctx, limit) },
		func(limit int) (int64, error) { return a.snapshots.Prune(ctx, limit) },
		func(limit int) (int64, error) { return a.plays.Prune(ctx, before(keepPlays), limit) },
		func(limit int) (int64, error) { return a.Series.Prune(ctx, limit) },
		func(limit int) (int64, error) { return a.budget.Prune(ctx, limit) },
	}
	if s.KeepRecords != 0 {
		stale = append(stale, func(limit int) (int64, error) { return a.Records.DeleteBefore(ctx, before(s.KeepRecords), limit) })
	}
	var problems []error
	for _, remove := range stale {
		problems = append(problems, inBatches(ctx, remove))
	}
	return errors.Join(problems...)
}

// inBatches removes rows a few at a time, so that what is accepted meanwhile does not
// wait for long. remove answers how many rows went.
func inBatches(ctx context.Context, remove func(limit int) (int64, error)) error {
	const batch = 500
	for ctx.Err() == nil {
		n, err := remove(batch)
		if err != nil || n < batch {
			return err
		}
	}
	return nil
}
