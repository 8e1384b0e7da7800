package catalog

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// UnmarkRequest asks for marks to be taken back.
type UnmarkRequest struct {
	ListEntry
	TakeBack
}

// TakeBack is what of an entry is to be taken back.
type TakeBack struct {
	// Episodes of the subject that were marked watched. None is right for a subject
	// without episode rows, which was set done itself.
	Episodes []EpisodeID
	// Written is when the marks of episodes were written, of those that stay when the list shows that it was somebody else.
	Written map[EpisodeID]Writing
	// Reopen sets an entry that is done back to doing, when a main episode is not
	// watched any more or Episodes is empty. Set it only where this service set it done.
	Reopen bool
	// Leave is for an entry that this service has put on the list: one that is doing, or done with Reopen, and that has no rating, comment
	// or tag, is dropped and hidden from others. The catalog has no way to remove it; its makers say to drop it instead.
	Leave bool
	// Finish sets an entry that is doing to done, when no Episodes are given: this service had set it back.
	Finish bool
	// IfEmpty has an entry left only when no episode of it is marked any more.
	IfEmpty bool
	// Was is the state, wish or on hold, in which this service found an entry that it made doing: one that is doing, or done with Reopen,
	// and of which no episode is marked any more goes back to it, and others are not told. 0 for none.
	Was CollectionType
	// Dry has nothing written: the result is what would be.
	Dry bool
}

// Writing is when a mark was written.
type Writing struct {
	// Intended is when it was about to be, by the catalog's clock, while it is not known whether it was; else zero.
	Intended time.Time
	// Until is when it was written at the latest, by the clock of this machine; zero is not known.
	Until time.Time
}

// Or is the Writing of a mark that was written at one of two times.
func (w Writing) Or(other Writing) Writing {
	switch {
	case w == Writing{}, other == Writing{}:
		return Writing{}
	case !w.Intended.IsZero() && other.Intended.IsZero():
		return other
	case w.Until.Before(other.Until):
		return other
	}
	return w
}

// isThatOf reports whether the list shows the mark that was written then, as far as it tells. ahead is how far its clock is ahead of ours.
func (w Writing) isThatOf(mark episodeMark, ahead time.Duration) bool {
	if !w.Intended.IsZero() {
		return shows(mark, w.Intended)
	}
	return mark.At.IsZero() || w.Until.IsZero() || !mark.At.After(w.Until.Add(ahead+clockError))
}

// UnmarkResult says what was found and what was written.
type UnmarkResult struct {
	// Cleared are the episodes whose mark was removed; others had none any more, or another one.
	Cleared []EpisodeID
	// Kept are those whose mark is somebody else's: it is another one, or shows that it was made at another time than Written.
	Kept []EpisodeID
	// Username is the owner's name, read again when the one in the request was not found. Keep it.
	Username string
	// Was is the state of the entry before; 0 = not collected.
	Was CollectionType
	// Reopened: the entry went from done to doing. Left: it was dropped and hidden. Finished: it went from doing to done.
	Reopened, Left, Finished bool
	// Back is the state to which the entry went; 0 when it did not.
	Back CollectionType
	// Touched: the entry stays as it is although this service made it so, because somebody changed it since.
	Touched bool
}

// Unmark removes the watched mark of the episodes given, and of no others. It reads
// before it writes, so that a repeated request writes nothing. An episode that has
// another mark by now, or is gone from the catalog, is left alone. The entry stays on
// the list: the catalog has no way to take it off, and its state is the person's but for
// Reopen, Leave and Was. Rating, tags and comment are never touched. After ErrUnreachable some of it
// may have been written: asking again finishes it.
func (m *Marker) Unmark(ctx context.Context, req UnmarkRequest) (result UnmarkResult, err error) {
	ctx = forMark(ctx)
	err = m.turn(ctx, &req.ListEntry, func() (err error) {
		result, err = req.unmark(ctx)
		return err
	})
	if err != nil {
		return UnmarkResult{}, err
	}
	return result, nil
}

func (req *UnmarkRequest) unmark(ctx context.Context) (UnmarkResult, error) {
	entry, err := req.whole(ctx)
	if err != nil {
		return UnmarkResult{}, err
	}
	result := UnmarkResult{Was: entry.Type, Username: req.Username}
	if entry.Type == 0 {
		return result, nil
	}
	marks, err := req.Session.episodeMarks(ctx, req.Subject)
	if err != nil {
		return UnmarkResult{}, err
	}
	states := progress{marks: marks}.states()
	others := map[EpisodeID]bool{} // marks of somebody else
	for _, mark := range marks {
		written, known := req.Written[mark.Episode.ID]
		others[mark.Episode.ID] = known && !written.isThatOf(mark, req.Session.c.isAhead())
	}
	for _, id := range unique(req.Episodes) {
		switch {
		case states[id] == EpisodeWatched && !others[id]:
			result.Cleared = append(result.Cleared, id)
			states[id] = Unmarked
		case states[id] != Unmarked:
			result.Kept = append(result.Kept, id)
		}
	}
	if len(result.Cleared) > 0 && !req.Dry {
		if err := req.clear(ctx, result.Cleared); err != nil {
			return UnmarkResult{}, err
		}
	}
	return result, req.takeBackEntry(ctx, entry, marks, states, &result)
}

// takeBackEntry takes back what was done to the entry, of whose episodes these are left.
func (req *UnmarkRequest) takeBackEntry(ctx context.Context, entry Entry, marks []episodeMark, left map[EpisodeID]EpisodeState, result *UnmarkResult) error {
	ours := entry.Type == Doing || entry.Type == Done && req.Reopen
	empty := !slices.ContainsFunc(marks, func(m episodeMark) bool { return left[m.Episode.ID] != Unmarked })
	switch {
	case req.Leave && ours && (entry.Rate != 0 || entry.Comment != "" || len(entry.Tags) > 0): // it had none of these
		result.Touched = true
		return nil
	case req.Leave && ours && (empty || !req.IfEmpty):
		result.Left = true
		if req.Dry {
			return nil
		}
		return req.settle(ctx, Dropped, req.Session.changeEntry(ctx, req.Subject, Dropped, true))
	case req.Was != 0 && ours && empty:
		result.Back = req.Was
		if req.Dry {
			return nil
		}
		put := PutRequest{ListEntry: req.ListEntry, Wanted: Wanted{Type: req.Was, Lower: true}, Begin: func(context.Context, Change) error { return nil }}
		_, err := put.put(ctx)
		return err
	}
	if req.Finish && entry.Type == Doing && len(req.Episodes) == 0 {
		result.Finished = true
		if req.Dry {
			return nil
		}
		return req.settle(ctx, Done, req.Session.moveEntry(ctx, req.Subject, Done))
	}
	result.Touched = (req.Leave || req.Was != 0) && (empty || len(result.Kept) > 0) && entry.Type != Dropped && entry.Type != req.Was
	if req.Reopen && entry.Type == Done && (len(req.Episodes) == 0 || misses(marks, left)) {
		result.Reopened = true
		if req.Dry {
			return nil
		}
		return req.begin(ctx)
	}
	return nil
}

// clear removes the marks of episodes. An entry that was taken off the list since it was
// read has none.
func (e *ListEntry) clear(ctx context.Context, episodes []EpisodeID) error {
	err := e.send(ctx, episodes, Unmarked)
	var failure *Error
	if errors.As(err, &failure) && failure.Status == http.StatusBadRequest {
		if now, readErr := e.entry(ctx); readErr == nil && now.Type == 0 {
			return nil
		}
	}
	if err = e.settleMarks(ctx, episodes, Unmarked, err); err != nil {
		return fmt.Errorf("take back marks of subject %d: %w", e.Subject, err)
	}
	return nil
}

// misses reports whether a main episode is not watched.
func misses(marks []episodeMark, states map[EpisodeID]EpisodeState) bool {
	for _, mark := range marks {
		if mark.Episode.Type == Main && states[mark.Episode.ID] != EpisodeWatched {
			return true
		}
	}
	return false
}
