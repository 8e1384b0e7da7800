package catalog

import (
	"context"
	"errors"
	"slices"
	"time"
)

// RewatchRequest asks for an entry to follow its owner, who watches the subject once more.
type RewatchRequest struct {
	ListEntry
	Rewatch
}

// Rewatch is what was watched of a subject that had been watched before.
type Rewatch struct {
	// Episodes of the subject.
	Episodes []EpisodeID
	// Begun: this service has set the entry back to doing because of an earlier episode.
	Begun bool
	// Begin is told before an entry that is done is set back to doing; its error ends the request. nil leaves such an entry alone.
	Begin func(ctx context.Context) error
}

// RewatchResult says what was written.
type RewatchResult struct {
	// Username is the owner's name, read again when the one in the request was not found. Keep it.
	Username string
	// Began: the entry went from done to doing. Ended: it went back to done.
	Began, Ended bool
	// Over: what was Begun is over. The entry is done again, or its owner gave it another state.
	Over bool
}

// Rewatch sets an entry that is done back to doing with an episode that was watched once more, unless that is its last main one, and an
// entry that it had set so to done with the last one. No other entry changes, and no mark. Errors are those of the calls; after
// ErrUnreachable asking again finishes it. A refusal leaves the entry as it is.
func (m *Marker) Rewatch(ctx context.Context, req RewatchRequest) (result RewatchResult, err error) {
	ctx = forMark(ctx)
	err = m.turn(ctx, &req.ListEntry, func() (err error) {
		result, err = req.rewatch(ctx)
		return err
	})
	if err != nil {
		return RewatchResult{}, err
	}
	return result, nil
}

func (req *RewatchRequest) rewatch(ctx context.Context) (RewatchResult, error) {
	entry, err := req.entry(ctx)
	if err != nil {
		return RewatchResult{}, err
	}
	result := RewatchResult{Username: req.Username}
	follows := entry.Type == Doing && req.Begun
	if entry.Type != Done && !follows {
		result.Over = req.Begun
		return result, nil
	}
	marks, err := req.Session.episodeMarks(ctx, req.Subject)
	if err != nil {
		return RewatchResult{}, err
	}
	isLast := slices.Contains(req.Episodes, lastMain(marks))
	switch {
	case follows && isLast:
		result.Ended, result.Over = true, true
		err = req.settle(ctx, Done, req.Session.moveEntry(ctx, req.Subject, Done))
	case follows:
	case isLast:
		result.Over = req.Begun
	case req.Begin != nil:
		if err := req.Begin(ctx); err != nil {
			return RewatchResult{}, err
		}
		result.Began = true
		err = req.begin(ctx)
	}
	if err != nil && !errors.Is(err, ErrUnreachable) {
		return RewatchResult{Username: req.Username, Over: result.Began || result.Over}, nil
	}
	return result, err
}

// MarkedAt reads since when an episode is marked, and writes nothing. Where the list does not tell, it is when the entry was last
// written, which is no earlier; zero when that is not known either. Errors are those of the calls.
func (e *ListEntry) MarkedAt(ctx context.Context, episode EpisodeID) (time.Time, error) {
	if episode != 0 {
		mark, err := e.Session.episodeMark(ctx, episode)
		if err != nil || mark.State == EpisodeWatched && !mark.At.IsZero() {
			return mark.At, err
		}
	}
	entry, err := e.entry(ctx)
	return entry.changed, err
}

// lastMain is the main episode that comes last; 0 when there is none.
func lastMain(marks []episodeMark) (last EpisodeID) {
	var sort float64
	for _, mark := range marks {
		if mark.Episode.Type == Main && (last == 0 || mark.Episode.Sort > sort) {
			last, sort = mark.Episode.ID, mark.Episode.Sort
		}
	}
	return last
}
