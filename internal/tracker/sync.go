package tracker

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"watchmark/internal/task"
	"watchmark/internal/watch"
)

// Outcome is how reading a history ended.
type Outcome string

// The outcomes.
const (
	Taken    Outcome = "taken"
	UpToDate Outcome = "up_to_date" // nothing was watched since
	Failed   Outcome = "failed"
	Stopped  Outcome = "cancelled"
)

// RunResult is what reading the history of one user brought.
type RunResult struct {
	UserID     int64   `json:"user_id"`
	Name       string  `json:"name"`
	Outcome    Outcome `json:"outcome" enum:"taken,up_to_date,failed,cancelled"`
	Taken      int     `json:"taken" doc:"Plays that became records."`
	Known      int     `json:"known" doc:"Plays that are records already."`
	Skipped    int     `json:"skipped" doc:"Plays older than the connection, or of another genre."`
	Unreadable int     `json:"unreadable" doc:"Plays that lack what a record needs."`
	Error      string  `json:"error,omitempty"`
}

// run is one reading of the history of one user.
type run struct {
	k    *Keeper
	t    *task.Task
	u    User
	o    Options
	full bool
	at   progress // as it will be at the end
	was  progress // as it was at the start
	RunResult
	done int
}

// readHistory takes in what a user watched. The stamps are read before the plays, so that what
// comes meanwhile moves them again.
func (k *Keeper) readHistory(ctx context.Context, t *task.Task, u User, full bool) (RunResult, error) {
	r := &run{k: k, t: t, u: u, o: k.Options(), full: full, RunResult: RunResult{UserID: u.ID, Name: u.Name}}
	err := r.read(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		r.Outcome = Stopped
	case err != nil:
		r.Outcome, r.Error = Failed, err.Error()
	}
	if stored := k.store.setOutcome(context.WithoutCancel(ctx), r.UserID, r.Outcome, r.Error); stored != nil {
		err = errors.Join(err, fmt.Errorf("store how reading the history ended: %w", stored))
	}
	return r.RunResult, err
}

func (r *run) read(ctx context.Context) error {
	var err error
	if r.u, err = r.k.named(ctx, r.u); err != nil {
		return err
	}
	r.UserID, r.Name = r.u.ID, r.u.Name
	if r.was, err = r.k.store.progressOf(ctx, r.u.ID); err != nil {
		return err
	}
	if r.at.episodes, r.at.movies, err = r.k.activities(ctx, r.u.ID); err != nil {
		return err
	}
	r.at.baseline = true
	if r.was.baseline && !r.full && r.at.episodes == r.was.episodes && r.at.movies == r.was.movies {
		r.Outcome = UpToDate
		return nil
	}
	r.Outcome = Taken
	r.at.readUntil = time.Now()
	if !r.was.baseline || r.full {
		return r.window(ctx, time.Time{})
	}
	if err := r.window(ctx, r.was.readUntil.Add(-r.o.Overlap)); err != nil || r.Taken+r.Skipped+r.Unreadable > 0 {
		return err
	}
	// Something changed and it is not in the window: a play with an old date, or one that was
	// removed. Only all of the history tells.
	return r.window(ctx, time.Time{})
}

// window takes in what was watched from start on; zero is everything.
func (r *run) window(ctx context.Context, start time.Time) error {
	r.done = 0
	return r.k.pages(ctx, r.u.ID, start, func(p page) error {
		err := r.page(ctx, p)
		if errors.Is(err, errTakenMeanwhile) { // now it is among those that were seen
			err = r.page(ctx, p)
		}
		r.done += len(p.items)
		r.t.Progress(r.done, max(p.total, r.done), fmt.Sprintf("%s: %d plays taken in", r.u.Name, r.Taken))
		return err
	})
}

// page stores one page whole: its records, that its plays were seen, and with the last page
// how far the history was read.
func (r *run) page(ctx context.Context, p page) error {
	batch, err := r.sort(ctx, p.items)
	if err != nil {
		return err
	}
	_, err = r.k.Intake.Take(ctx, batch.events, func(ctx context.Context, tx *sql.Tx, records []int64) error {
		for i, id := range batch.taken {
			if err := noteTx(ctx, tx, r.u.ID, id, records[i]); err != nil {
				return err
			}
		}
		for _, id := range batch.noted {
			if err := noteTx(ctx, tx, r.u.ID, id, 0); err != nil {
				return err
			}
		}
		if p.last {
			return setProgressTx(ctx, tx, r.u.ID, r.at)
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.Taken += len(batch.events)
	r.Known += batch.known
	r.Skipped += batch.skipped
	r.Unreadable += batch.unreadable
	return nil
}

// batch is what becomes of a page. taken are the plays of events, in the same order; noted are
// those that are only remembered.
type batch struct {
	events                     []watch.Event
	taken, noted               []int64
	known, skipped, unreadable int
}

// sort decides about each play of a page, the oldest first. One that cannot be read is noted
// and holds nothing up.
func (r *run) sort(ctx context.Context, items []json.RawMessage) (batch, error) {
	var b batch
	plays := make([]play, 0, len(items))
	numbers := make([]int64, 0, len(items))
	broken := map[int64]bool{}
	for _, raw := range slices.Backward(items) {
		p, err := readPlay(raw)
		if p.ID == 0 || slices.Contains(numbers, p.ID) {
			continue
		}
		broken[p.ID] = err != nil
		plays, numbers = append(plays, p), append(numbers, p.ID)
	}
	seen, err := r.k.store.seen(ctx, r.u.ID, numbers)
	if err != nil {
		return b, err
	}
	for _, p := range plays {
		record, before := seen[p.ID]
		if record != 0 || before && !r.full {
			b.known++
			continue
		}
		if broken[p.ID] {
			b.unreadable++
			b.noted = append(b.noted, p.ID)
			continue
		}
		event, take, err := r.decide(ctx, p)
		switch {
		case errors.Is(err, errUnreadable):
			b.unreadable++
			b.noted = append(b.noted, p.ID)
		case err != nil:
			return b, err
		case !take:
			b.skipped++
			b.noted = append(b.noted, p.ID)
		default:
			b.events, b.taken = append(b.events, event), append(b.taken, p.ID)
		}
	}
	return b, nil
}

// decide is the event of a play that nobody saw yet, and whether it is to be taken in: not what
// was watched before the connection, unless all is asked for, and not what is of another genre.
func (r *run) decide(ctx context.Context, p play) (event watch.Event, take bool, err error) {
	if !r.full && !r.was.baseline && p.at().Before(r.u.ConnectedAt) {
		return event, false, nil
	}
	if !p.wanted(r.o.Genres) {
		asked := watch.Event{Media: watch.Movie}
		if p.Episode != nil {
			asked = watch.Event{Media: watch.Episode, Season: p.Episode.Season, Episode: p.Episode.Number}
		}
		names := slices.DeleteFunc([]string{p.work().Title, p.work().Original}, func(s string) bool { return s == "" })
		if mapped, err := r.k.Mapped(ctx, names, asked); err != nil || !mapped {
			return event, false, err
		}
	}
	t, err := r.k.titlesOf(ctx, r.u.ID, p)
	if err != nil {
		return event, false, err
	}
	event, err = p.event(r.u, t)
	return event, err == nil, err
}
