package watcher

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/task"
	"watchmark/internal/source/mediaserver"
)

const (
	// overlap is how much of what was read before is read again: dates are those of the beginning (upstreams/watchers.md section 2.5).
	overlap = 48 * time.Hour
	// compareEvery is how often everything is compared.
	compareEvery = 24 * time.Hour
)

// depth is how much a catch-up reads.
type depth int

const (
	recent   depth = iota // what is new by its date
	counted               // that, and everything when the server counts otherwise than expected
	complete              // everything
)

// catchUp asks for what was played since, or for everything. The caller has the turn of the login. t may be nil.
func (s *Service) catchUp(ctx context.Context, k known, client mediaserver.Client, of shows, how depth, t *task.Task) (CatchUp, error) {
	r := &reading{look: s.newLook(k, client, of, seenCatchUp), k: k, t: t}
	r.At = r.now.UTC()
	before := client.Requests()
	err := r.run(ctx, how)
	r.Requests = client.Requests() - before
	if err != nil && ctx.Err() == nil {
		r.Error = reason.Of(err)
	}
	r.finish(ctx, err)
	return r.CatchUp, err
}

// reading is a catch-up under way.
type reading struct {
	*look
	k     known
	t     *task.Task
	began time.Time // by the server's clock
	read  int
	count int  // what the server counts; -1 when that is not known
	whole bool // everything was read
}

func (r *reading) run(ctx context.Context, how depth) error {
	// What a reading left that was cut off did not come at once with what this one finds.
	left, _, err := r.s.settle(ctx, r.k.ID)
	if err != nil {
		return err
	}
	r.Taken += left
	r.ask(ctx)
	r.count, r.began = -1, r.clock
	// A clock that was ahead has left times that are still to come.
	if r.k.cursor.Sub(r.clock) > ahead {
		r.k.cursor = time.Time{}
	}
	if r.compared.Sub(r.clock) > ahead {
		r.compared, how = time.Time{}, complete
	}
	if r.k.ComparedAt == nil || r.clock.Sub(*r.k.ComparedAt).Abs() >= compareEvery || r.k.comparedVersion != r.k.Version {
		how = complete
	}
	seen := r.libraries(true)
	if how == complete {
		if err := r.ofCount(ctx); err != nil {
			return err
		}
	}
	if err := r.meet(ctx); err != nil {
		return err
	}
	// At Plex, what was deleted since is in the history of what is new alone.
	if (how != complete || r.k.Kind == mediaserver.Plex) && len(seen) > 0 && r.k.ComparedAt != nil {
		from := r.k.cursor
		if from.IsZero() { // nothing had a date
			from = *r.k.ComparedAt
		}
		if err := r.played(ctx, seen, from.Add(-overlap)); err != nil {
			return err
		}
	}
	if how == counted {
		if err := r.ofCount(ctx); err != nil {
			return err
		}
		if r.k.counted >= 0 && r.count >= 0 && r.count != r.k.counted+r.added {
			how = complete
		}
	}
	if how == complete {
		r.how, r.whole = seenCompared, true
		if err := r.played(ctx, seen, time.Time{}); err != nil {
			return err
		}
	}
	r.Full = r.whole
	taken, waiting, err := r.s.settle(ctx, r.k.ID)
	r.Taken, r.Held = r.Taken+taken, waiting
	r.progress(0)
	return err
}

// ofCount asks how many items the person has played, where the server tells it.
func (r *reading) ofCount(ctx context.Context) error {
	n, err := r.client.Count(ctx)
	if errors.Is(err, mediaserver.ErrCannot) {
		return nil
	}
	r.count = n
	return err
}

// played reads what was played of libraries since a time, or ever.
func (r *reading) played(ctx context.Context, of []mediaserver.Library, since time.Time) error {
	if len(of) == 0 {
		return nil
	}
	return r.client.Played(ctx, of, since, func(items []mediaserver.Item, left int) error { return r.page(ctx, items, left) })
}

// libraries are those that are picked and were seen, or were not seen yet.
func (r *reading) libraries(seen bool) []mediaserver.Library {
	var some []mediaserver.Library
	for _, l := range r.k.libraries {
		if l.Picked && !l.Gone && l.Seen == seen {
			some = append(some, l.Library)
		}
	}
	return some
}

// meet stores what was played in libraries that are seen for the first time.
func (r *reading) meet(ctx context.Context) error {
	fresh := r.libraries(false)
	if len(fresh) == 0 {
		return nil
	}
	r.since = r.began
	if r.k.ComparedAt == nil { // the sign-in was the beginning, however long the server could not be read
		r.since = r.k.ConnectedAt.Add(r.client.Skew())
	}
	err := r.played(ctx, fresh, time.Time{})
	r.since = time.Time{}
	if err != nil {
		return err
	}
	r.k.libraries = slices.Clone(r.k.libraries)
	for i, l := range r.k.libraries {
		r.k.libraries[i].Seen = l.Seen || l.Picked && !l.Gone
	}
	return r.s.store.write(ctx, r.k.ID, `UPDATE media_logins SET libraries = ? WHERE id = ? AND version = ?`, toJSON(r.k.libraries), r.k.ID, r.k.version)
}

// page takes in one page.
func (r *reading) page(ctx context.Context, items []mediaserver.Item, left int) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	left += len(items)
	for len(items) > 0 {
		some := items[:min(pageMost, len(items))]
		items = items[len(some):]
		if err := r.take(ctx, some); err != nil {
			return err
		}
		r.read += len(some)
		left -= len(some)
		r.progress(left)
	}
	return nil
}

// progress tells how far a task that waits for the catch-up is.
func (r *reading) progress(left int) {
	if r.t != nil {
		r.t.Progress(r.read, r.read+left, readingPlays.With(r.k.Name(), r.read, r.Taken))
	}
}

// pageMost bounds what one transaction takes.
const pageMost = 500

// finish stores how a catch-up ended, and how far it came when it came to its end.
func (r *reading) finish(ctx context.Context, err error) {
	ctx = context.WithoutCancel(ctx)
	stored := r.s.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, failed := tx.ExecContext(ctx, `UPDATE media_logins SET catch_up = ?, skew_seconds = ?, quirks = ? WHERE id = ? AND version = ?`,
			toJSON(r.CatchUp), int64(r.client.Skew().Seconds()), toJSON(r.client.Quirks()), r.k.ID, r.k.version)
		if failed != nil || err != nil {
			return failed
		}
		if r.newest.After(r.k.cursor) {
			_, failed = tx.ExecContext(ctx, `UPDATE media_logins SET cursor_at = ? WHERE id = ? AND version = ?`, millis(r.newest), r.k.ID, r.k.version)
		}
		if failed == nil && r.count >= 0 && (r.whole || r.k.counted < 0) {
			_, failed = tx.ExecContext(ctx, `UPDATE media_logins SET counted = ? WHERE id = ? AND version = ?`, r.count, r.k.ID, r.k.version)
		}
		if failed == nil && r.whole {
			_, failed = tx.ExecContext(ctx, `UPDATE media_logins SET compared_at = ?, compared_version = server_version WHERE id = ? AND version = ?`, millis(r.began), r.k.ID, r.k.version)
		}
		return failed
	})
	if stored != nil {
		r.s.Log.ErrorContext(ctx, "cannot store how a catch-up ended", "error", r.k.fault(fmt.Errorf("store: %w", stored)))
	}
}
