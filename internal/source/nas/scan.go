package nas

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/watch"
)

const (
	// overlap is how far behind the watermark a scan begins: rows may appear a little late.
	overlap = 5 * time.Minute
	// rescanEvery is how often a scan begins where the source was switched on: the clock of the
	// NAS may have been set back, and a file may have been recognised since.
	rescanEvery = 24 * time.Hour
	// longestReading bounds one reading of the library.
	longestReading = 5 * time.Minute
)

// Reason is why rows were passed over, and how many.
type Reason struct {
	Reason  reason.Reason `json:"reason_value" doc:"Why rows were passed over."`
	Count   int           `json:"count" doc:"How many."`
	Example string        `json:"example" doc:"The title or file of one of them; may be empty."`
}

// MarshalJSON has the text of the reason beside it, as reason.
func (r Reason) MarshalJSON() ([]byte, error) {
	type plain Reason
	return reason.MarshalBeside((*plain)(&r))
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Reason) UnmarshalJSON(data []byte) error {
	type plain Reason
	return reason.UnmarshalBeside(data, (*plain)(r))
}

// Counts is what a scan met.
type Counts struct {
	Read    int      `json:"read" doc:"Rows of the library that were looked at."`
	Known   int      `json:"known" doc:"Finished rows that were taken by an earlier scan."`
	Skipped int      `json:"skipped" doc:"Rows that were passed over."`
	Reasons []Reason `json:"reasons" doc:"Why, most frequent first."`
	Taken   int      `json:"taken" doc:"Rows that became records."`
	More    bool     `json:"more" doc:"Whether there is more to take than nas.limit: the next scan goes on."`
}

// Scan is how a scan ended, kept over a restart.
type Scan struct {
	At       time.Time `json:"at"`
	Path     string    `json:"path"` // what was read
	Handling Handling  `json:"handling"`
	Counts
	// Error is empty when the scan went well; Kind then too.
	Error reason.Reason `json:"error"`
	Kind  Kind          `json:"kind"`

	Values  []string        `json:"values"`  // of the column watched
	Missing []reason.Reason `json:"missing"` // columns
}

// Manual is what a person asks for beside the schedule.
type Manual struct {
	User  string // a guid; empty is who nas.user says
	Range Range  // empty goes on from the watermark; else everything of that range, old or not
}

// found is what one reading of the library gives.
type found struct {
	counts   Counts
	events   []watch.Event
	rows     []position // of events
	reopened []position
	// last is the row read last; done is set when it was the last of the window.
	last    position
	done    bool
	values  []string
	missing []reason.Reason
}

// judge reads a window of the library. It may run again from the beginning, see place.use.
func (k *Reader) judge(ctx context.Context, options Options, lib *library, w window) (found, error) {
	f := found{missing: lib.schema.missing(), counts: Counts{Reasons: []Reason{}}}
	var users map[string]User
	var known bool
	err := lib.inTx(ctx, func(v view) (err error) {
		if f.values, err = v.watchedValues(ctx); err == nil {
			users, known, err = v.users(ctx)
		}
		return err
	})
	if err != nil {
		return f, err
	}
	if _, is := users[w.user]; w.user != "" && known && !is {
		return f, problem(NoUser, nil, noSuchUser.With(w.user))
	}
	f.last = position{at: -1}
	for !f.done && len(f.events) < options.Limit {
		err := lib.inTx(ctx, func(v view) error {
			page, err := v.plays(ctx, w, f.last)
			if err != nil {
				return err
			}
			for _, p := range page {
				if len(f.events) == options.Limit {
					return nil
				}
				user, is := users[p.user]
				if !is && !known {
					user, is = User{GUID: p.user, UserName: p.user, Active: true}, true
				}
				if err := k.row(ctx, v, p, user, is, options.MinPercent, &f); err != nil {
					return err
				}
				f.last = p.position
			}
			f.done = len(page) < pageRows
			return nil
		})
		if err != nil {
			return f, err
		}
	}
	f.counts.More, f.counts.Taken = !f.done, len(f.events)
	slices.SortStableFunc(f.counts.Reasons, func(a, b Reason) int { return b.Count - a.Count })
	return f, nil
}

// row judges one row and adds what it is to f.
func (k *Reader) row(ctx context.Context, v view, p play, user User, exists bool, minPercent int, f *found) error {
	f.counts.Read++
	switch {
	case !exists:
		f.skip(unknownUser.With(), "")
		return nil
	case !user.Active:
		f.skip(userOff.With(), user.UserName)
		return nil
	}
	done, why, err := v.finished(ctx, p, minPercent)
	if err != nil {
		return err
	}
	before, err := k.store.standing(ctx, p.position)
	if err != nil {
		return problem(NotTaken, err, ownDatabase.With())
	}
	// A row that is written between two pages comes again with its new time.
	if slices.ContainsFunc(f.rows, func(q position) bool { return q.item == p.item && q.user == p.user }) {
		before = taken
	}
	switch {
	case !done:
		if before == taken {
			f.reopened = append(f.reopened, p.position)
		}
		return f.skipItem(ctx, v, p, why)
	case before == taken:
		f.counts.Known++
		return nil
	}
	event, why, err := v.event(ctx, p, user)
	if err != nil {
		return err
	}
	if !why.IsZero() {
		return f.skipItem(ctx, v, p, why)
	}
	f.events = append(f.events, event)
	f.rows = append(f.rows, p.position)
	return nil
}

// skipItem counts a row that was passed over, with its title for the first of its kind.
func (f *found) skipItem(ctx context.Context, v view, p play, why reason.Reason) error {
	var titles []string
	if !slices.ContainsFunc(f.counts.Reasons, func(r Reason) bool { return r.Reason.Text == why.Text }) {
		chain, err := v.chain(ctx, p.item)
		if err != nil {
			return err
		}
		for _, it := range slices.Backward(chain) {
			if it.title != "" {
				titles = append(titles, it.title)
			}
		}
	}
	f.skip(why, strings.Join(titles, " / "))
	return nil
}

func (f *found) skip(why reason.Reason, example string) {
	f.counts.Skipped++
	at := slices.IndexFunc(f.counts.Reasons, func(r Reason) bool { return r.Reason.Text == why.Text })
	if at < 0 {
		f.counts.Reasons = append(f.counts.Reasons, Reason{Reason: why, Example: example})
		at = len(f.counts.Reasons) - 1
	}
	f.counts.Reasons[at].Count++
}

// scan reads a window of the library and takes what is new. It returns the state after
// that. The caller holds k.scanning.
func (k *Reader) scan(ctx context.Context, options Options, st state, w window) (state, []int64, error) {
	now := time.Now()
	var f found
	handling, err := k.read(ctx, options.Path, func(ctx context.Context, lib *library) (err error) {
		f, err = k.judge(ctx, options, lib, w)
		return err
	})
	if err != nil {
		return state{}, nil, err
	}
	st.last = Scan{At: now.UTC(), Path: options.Path, Handling: handling, Counts: f.counts, Values: f.values, Missing: f.missing}
	if w.moves {
		// A row from the future, by a clock that was wrong, must not hide what comes.
		st.watermark = min(max(st.watermark, f.last.at), now.UnixMilli())
		if f.done {
			st.caughtUp = now.UnixMilli()
		}
		if f.done && w.whole {
			st.rescanned = now.UnixMilli()
		}
	}
	ids, err := k.Take(ctx, f.events, func(ctx context.Context, tx *sql.Tx, _ []int64) error {
		if err := takeTx(ctx, tx, f.rows); err != nil {
			return err
		}
		if err := reopenTx(ctx, tx, f.reopened); err != nil {
			return err
		}
		return saveTx(ctx, tx, st)
	})
	if err != nil {
		return state{}, nil, problem(NotTaken, err, notStored.With(err))
	}
	return st, ids, nil
}

// plan is the window of the next scan by schedule.
func plan(options Options, st state, now time.Time) window {
	from := max(st.since, min(st.watermark, now.UnixMilli())-overlap.Milliseconds())
	// A time ahead of now was stored by a clock that was wrong.
	age := now.UnixMilli() - st.rescanned
	whole := age < 0 || age >= rescanEvery.Milliseconds()
	if whole {
		from = st.since
	}
	if start := options.Range.start(now); !start.IsZero() {
		from = max(from, start.UnixMilli())
	}
	w := window{from: from, whole: whole, moves: true}
	if options.User != AllUsers {
		w.user = options.User
	}
	return w
}

// kindOf is the kind of an error of a scan.
func kindOf(err error) Kind {
	var p *Problem
	if errors.As(err, &p) {
		return p.Kind
	}
	return Failed
}
