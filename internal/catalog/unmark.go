package catalog

import (
	"context"
	"errors"
	"fmt"
	"net/http"
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
	// Leave is for an entry that this service has put on the list: one that is doing, or done with Reopen, is
	// dropped and hidden from others. The catalog has no way to remove it; its makers say to drop it instead.
	Leave bool
	// Finish sets an entry that is doing to done, when no Episodes are given: this service had set it back.
	Finish bool
}

// Writing is when a mark was written.
type Writing struct {
	// Intended is when it was about to be, by the catalog's clock, while it is not known whether it was; else zero.
	Intended time.Time
}

// isThatOf reports whether the list shows the mark that was written then, as far as it tells.
func (w Writing) isThatOf(mark episodeMark) bool {
	return w.Intended.IsZero() || shows(mark, w.Intended)
}

// UnmarkResult says what was found and what was written.
type UnmarkResult struct {
	// Cleared are the episodes whose mark was removed; others had none any more, or another one.
	Cleared []EpisodeID
	// Username is the owner's name, read again when the one in the request was not found. Keep it.
	Username string
	// Was is the state of the entry before; 0 = not collected.
	Was CollectionType
	// Reopened: the entry went from done to doing. Left: it was dropped and hidden. Finished: it went from doing to done.
	Reopened, Left, Finished bool
}

// Unmark removes the watched mark of the episodes given, and of no others. It reads
// before it writes, so that a repeated request writes nothing. An episode that has
// another mark by now, or is gone from the catalog, is left alone. The entry stays on
// the list: the catalog has no way to take it off, and its state is the person's but for
// Reopen and Leave. Rating, tags and comment are never touched. After ErrUnreachable some of it
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
	entry, err := req.entry(ctx)
	if err != nil {
		return UnmarkResult{}, err
	}
	was := entry.Type
	result := UnmarkResult{Was: was, Username: req.Username}
	if was == 0 {
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
		others[mark.Episode.ID] = known && !written.isThatOf(mark)
	}
	for _, id := range unique(req.Episodes) {
		if states[id] == EpisodeWatched && !others[id] {
			result.Cleared = append(result.Cleared, id)
			states[id] = Unmarked
		}
	}
	if len(result.Cleared) > 0 {
		if err := req.clear(ctx, result.Cleared); err != nil {
			return UnmarkResult{}, err
		}
	}
	if req.Leave && (was == Doing || was == Done && req.Reopen) {
		result.Left = true
		return result, req.settle(ctx, Dropped, req.Session.changeEntry(ctx, req.Subject, Dropped, true))
	}
	if req.Finish && was == Doing && len(req.Episodes) == 0 {
		result.Finished = true
		return result, req.settle(ctx, Done, req.Session.moveEntry(ctx, req.Subject, Done))
	}
	if req.Reopen && was == Done && (len(req.Episodes) == 0 || misses(marks, states)) {
		if err := req.begin(ctx); err != nil {
			return UnmarkResult{}, err
		}
		result.Reopened = true
	}
	return result, nil
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
