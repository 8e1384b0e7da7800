package tracker

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/task"
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
	UserID     int64         `json:"user_id"`
	Name       string        `json:"name"`
	Outcome    Outcome       `json:"outcome" enum:"taken,up_to_date,failed,cancelled"`
	Taken      int           `json:"taken" doc:"Plays that became records."`
	Known      int           `json:"known" doc:"Plays that were seen before."`
	Skipped    int           `json:"skipped" doc:"Plays older than the connection, or of another genre."`
	Unreadable int           `json:"unreadable" doc:"Plays that lack what a record needs."`
	Error      reason.Reason `json:"error_value,omitzero" doc:"What is wrong and what to do; empty when nothing is."`
}

// MarshalJSON has the text of the error beside it, as error.
func (r RunResult) MarshalJSON() ([]byte, error) {
	type plain RunResult
	return reason.MarshalBeside((*plain)(&r))
}

// run is one reading of the history of one user.
type run struct {
	k    *Service
	t    *task.Task
	u    User
	o    Options
	full bool
	at   progress // as it will be at the end
	was  progress // as it was at the start
	RunResult
	done int // plays that were read
	new  int // those among them that nobody had seen
	// asked are the titles that were looked up, by their path at the tracker.
	asked map[string]asked
	// untitled is why plays were left for a later run; nil when none was.
	untitled error
}

// readHistory takes in what a user watched. The stamps are read before the plays, so that what
// comes meanwhile moves them again.
func (k *Service) readHistory(ctx context.Context, t *task.Task, u User, full bool) (RunResult, error) {
	r := &run{k: k, t: t, u: u, o: k.Options(), full: full, asked: map[string]asked{}, RunResult: RunResult{UserID: u.ID, Name: u.Name}}
	err := r.read(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		r.Outcome = Stopped
	case err != nil:
		r.Outcome, r.Error = Failed, reason.Of(err)
	}
	if stored := k.store.setOutcome(context.WithoutCancel(ctx), r.RunResult); stored != nil {
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
	told := r.at.episodes != "" || r.at.movies != ""
	if told && r.was.baseline && !r.full && r.at.episodes == r.was.episodes && r.at.movies == r.was.movies {
		r.Outcome = UpToDate
		r.t.Progress(0, 0, nothingNew.With(r.u.Name))
		return nil
	}
	r.Outcome = Taken
	r.at.readUntil = time.Now()
	err = r.k.pages(ctx, r.u.ID, func(p page) (bool, error) {
		if r.done == 0 {
			r.at.total = p.total // of what comes while it is read, the next reading has to see
		}
		enough, err := r.page(ctx, p)
		if errors.Is(err, errTakenMeanwhile) { // now it is among those that were seen
			enough, err = r.page(ctx, p)
		}
		r.done += len(p.items)
		total := max(p.total, r.done)
		if enough {
			total = r.done
		}
		r.t.Progress(r.done, total, takenIn.With(r.u.Name, r.Taken))
		return enough, err
	})
	return errors.Join(err, r.untitled)
}

// page stores one page whole: its records, that its plays were seen, and with the last page
// how far the history was read. enough is whether no older page is needed.
func (r *run) page(ctx context.Context, p page) (enough bool, err error) {
	batch, err := r.sort(ctx, p.items)
	if err != nil {
		return false, err
	}
	enough = r.enough(p, batch)
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
		if enough || p.last {
			return setProgressTx(ctx, tx, r.u.ID, r.at)
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	r.new += batch.fresh()
	r.Taken += len(batch.events)
	r.Known += batch.known
	r.Skipped += batch.skipped
	r.Unreadable += batch.unreadable
	return enough, nil
}

// enough reports whether the pages up to p hold all that is new: they go back into what was read
// before, by the overlap, and hold as many new plays as the tracker counts more than then. One with an
// old date is counted, too. Where none is new, one was removed, and another one with an
// old date may have taken its place in the count.
func (r *run) enough(p page, b batch) bool {
	found := r.new + b.fresh()
	covered := !b.oldest.IsZero() && b.oldest.Before(r.was.readUntil.Add(-r.o.Overlap))
	return r.was.baseline && !r.full && covered && found > 0 && found >= p.total-r.was.total
}

// batch is what becomes of a page. taken are the plays of events, in the same order; noted are
// those that are only remembered, left those that a later run takes in.
type batch struct {
	events                     []watch.Event
	taken, noted               []int64
	known, skipped, unreadable int
	left                       int
	oldest                     time.Time // of the page; zero when no date is known
}

// fresh is how many plays nobody had seen.
func (b batch) fresh() int { return len(b.taken) + len(b.noted) + b.left }

// sort decides about each play of a page, the oldest first. One that cannot be read is noted
// and holds nothing up.
func (r *run) sort(ctx context.Context, items []json.RawMessage) (batch, error) {
	var b batch
	plays := make([]play, 0, len(items))
	numbers := make([]int64, 0, len(items))
	broken := map[int64]bool{}
	for _, raw := range slices.Backward(items) {
		p, err := readPlay(raw)
		if p.ID == 0 { // it cannot be noted
			b.unreadable++
			continue
		}
		if _, twice := broken[p.ID]; twice {
			continue
		}
		if b.oldest.IsZero() {
			b.oldest = p.at()
		}
		broken[p.ID] = err != nil
		plays, numbers = append(plays, p), append(numbers, p.ID)
	}
	seen, err := r.k.store.seen(ctx, r.u.ID, numbers)
	if err != nil {
		return b, err
	}
	imported, err := r.k.Imported(ctx, numbers)
	if err != nil {
		return b, err
	}
	for _, p := range plays {
		record, before := seen[p.ID]
		if record != 0 || imported[p.ID] || before && !r.full {
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
		case maybeOfOne(err):
			b.left++
			r.leave(p, err)
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

// leave has a later run take a play in: the history counts as read no further than to it, and
// no stamp says that nothing is new.
func (r *run) leave(p play, err error) {
	r.untitled = titlesMissing.With(err)
	r.at.episodes, r.at.movies = "", ""
	if at := p.at(); at.Before(r.at.readUntil) {
		r.at.readUntil = at
	}
}

// decide is the event of a play that nobody saw yet, and whether it is to be taken in: not what
// was watched before the connection, unless all is asked for, and not what is of another genre.
func (r *run) decide(ctx context.Context, p play) (event watch.Event, take bool, err error) {
	if !r.full && !r.was.baseline && p.at().Before(r.u.ConnectedAt) {
		return event, false, nil
	}
	if !p.wanted(r.o.Genres) {
		about := watch.Event{Media: watch.Movie, UserName: r.u.Name}
		if p.Type == "episode" {
			about = watch.Event{Media: watch.Episode, UserName: r.u.Name, Season: p.Episode.Season, Episode: p.Episode.Number}
		}
		names := slices.DeleteFunc([]string{p.work().Title, p.work().Original}, func(s string) bool { return s == "" })
		if mapped, err := r.k.Mapped(ctx, names, about); err != nil || !mapped {
			return event, false, err
		}
	}
	t, err := r.titlesOf(ctx, p)
	if err != nil {
		return event, false, err
	}
	event, err = p.event(r.u, t)
	return event, err == nil, err
}
