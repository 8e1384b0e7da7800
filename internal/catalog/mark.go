package catalog

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"watchmark/internal/platform/reason"
)

// MarkRequest asks for episodes to be marked watched.
type MarkRequest struct {
	ListEntry
	// Episodes of the subject, of any type. None is right only for a subject
	// without episode rows, which is then set done itself.
	Episodes []EpisodeID
	// Complete says whether the subject is set done when every main episode is watched, and its
	// Subject.Eps: so many main episodes must be listed, for the rows of a running series appear as
	// it airs; 0 is not known. It is asked when the marks may complete the subject; nil is no.
	Complete func(context.Context) (complete bool, eps int, err error)
}

// MarkResult says what was found and what was written.
type MarkResult struct {
	// Episodes are the episodes asked for, each once, in the order asked for.
	Episodes []MarkedEpisode
	// Username is the owner's name, read again when the one in the request was not found. Keep it.
	Username string
	// Was is the state of the entry before; 0 = not collected.
	Was CollectionType
	// Created: the entry was made, as doing. Moved: it went from wish or on hold
	// to doing. Completed: it went to done.
	Created, Moved, Completed bool
	// Ended: the last main episode was marked now, whatever became of the entry; it is set with Completed, too.
	Ended bool
	// Rated: the entry had a rating before.
	Rated bool
	// Resumed: the entry that was Created is one that this service had left.
	Resumed bool
	// Wrote is set beside an error after which some of it may have been written.
	Wrote bool
	// NotMoved is the refusal to make the entry of a locked subject doing; the episodes are marked all the same,
	// for which its state does not matter.
	NotMoved error
	// NotCompleted is the catalog's refusal to set the subject done; the episodes
	// are marked all the same. nil when it was not asked or agreed.
	NotCompleted error
}

// MarkedEpisode is one episode of a MarkResult.
type MarkedEpisode struct {
	ID EpisodeID
	// Already: it was watched before, and neither this nor an earlier try wrote that.
	Already bool
	// Earlier is when the earlier try was about to write it that did; zero for what was not written before.
	Earlier time.Time
}

// AlreadyWatched reports whether nothing was written at all, nor by an earlier try.
func (r MarkResult) AlreadyWatched() bool {
	return !r.Created && !r.Moved && !r.Completed &&
		!slices.ContainsFunc(r.Episodes, func(e MarkedEpisode) bool { return !e.Already })
}

// Mark marks episodes watched and keeps the subject's entry in step: a missing
// one is created as doing, wish and on hold become doing, dropped stays. An entry
// that is done is a rewatch: nothing is written and every episode counts as
// watched already. What an earlier try wrote, as far as Intents knows of it and the list
// does not tell otherwise, is in the result as if it were written now. Errors, besides those of the calls and of Intents: ErrNotFound when an
// episode is not of the subject, ErrRefused when Episodes is empty and the
// subject has episodes; both before anything is written. After ErrUnreachable
// some of it may have been written: asking again finishes it.
func (m *Marker) Mark(ctx context.Context, req MarkRequest) (result MarkResult, err error) {
	ctx = forMark(ctx)
	err = m.turn(ctx, &req.ListEntry, func() (err error) {
		result, err = req.mark(ctx)
		result.Ended = result.Ended || result.Completed
		return err
	})
	if err != nil {
		return MarkResult{Wrote: req.wrote}, err
	}
	return result, nil
}

func (req *MarkRequest) mark(ctx context.Context) (MarkResult, error) {
	entry, resumes, err := req.resume(ctx)
	if err != nil {
		return MarkResult{}, err
	}
	req.Episodes = unique(req.Episodes)
	result := MarkResult{Was: entry.Type, Username: req.Username, Rated: entry.rated}
	if entry.Type == Done {
		return req.markedBefore(ctx, result)
	}
	if len(req.Episodes) == 0 {
		return req.finishWithoutEpisodes(ctx, result, resumes)
	}
	before, err := req.marks(ctx, entry)
	if err != nil {
		return MarkResult{}, err
	}
	states := before.states()
	var missing []EpisodeID
	for _, id := range req.Episodes {
		state, known := states[id]
		if !known {
			return MarkResult{}, &Error{Op: req.op(), Kind: ErrNotFound, Description: foreignEpisode.With(id)}
		}
		result.Episodes = append(result.Episodes, MarkedEpisode{ID: id, Already: state == EpisodeWatched})
		if state != EpisodeWatched {
			missing = append(missing, id)
		}
	}
	if len(missing) < len(req.Episodes) {
		if err := req.countEarlier(ctx, entry.Type, before.marks, &result); err != nil {
			return MarkResult{}, err
		}
	}
	completes := before.completedBy(missing)
	planned := result
	planned.Created = result.Created || resumes || entry.Type == 0
	planned.Moved = entry.Type == OnHold && len(missing) > 0 || entry.Type == Wish && len(missing) > 0 && !completes
	planned.Completed = completes && (entry.Type == Doing || entry.Type == Wish || planned.Created || planned.Moved)
	if len(missing) > 0 || planned.changes(result) {
		if err := req.intend(ctx, planned); err != nil {
			return MarkResult{}, err
		}
	}
	// What becomes done at once is not told to be watched as well, and neither is what was watched before.
	switch {
	case resumes:
		if err := req.takeUp(ctx, &result); err != nil {
			return MarkResult{}, err
		}
	case entry.Type == 0:
		if err := req.create(ctx, completes || len(missing) == 0); err != nil {
			return MarkResult{}, err
		}
		result.Created = true
	case planned.Moved:
		if err := req.begin(ctx); isLocked(err) {
			result.NotMoved = err
		} else if err != nil {
			return MarkResult{}, err
		}
		result.Moved = result.NotMoved == nil
	}
	if err := req.write(ctx, states, missing, &result); err != nil {
		return MarkResult{}, err
	}
	if completes && (entry.Type == Doing || entry.Type == Wish || result.Created || result.Moved) {
		if err := req.finish(ctx, &result); err != nil {
			return MarkResult{}, err
		}
	}
	result.Ended = result.NotCompleted == nil && result.NotMoved == nil && before.ends(entry.eps, missing)
	return result, nil
}

// changes reports whether what is planned changes the entry beyond what was written before.
func (r MarkResult) changes(before MarkResult) bool {
	return r.Created != before.Created || r.Moved != before.Moved || r.Completed != before.Completed
}

// MarkDoing puts a subject whose playback started on the list as doing: a missing
// entry is created, wish becomes doing, every other state stays. Result.Episodes is empty.
func (m *Marker) MarkDoing(ctx context.Context, e ListEntry) (result MarkResult, err error) {
	ctx = forMark(ctx)
	err = m.turn(ctx, &e, func() (err error) {
		result, err = e.markDoing(ctx)
		return err
	})
	if err != nil {
		return MarkResult{Wrote: e.wrote}, err
	}
	return result, nil
}

func (e *ListEntry) markDoing(ctx context.Context) (MarkResult, error) {
	entry, resumes, err := e.resume(ctx)
	if err != nil {
		return MarkResult{}, err
	}
	result := MarkResult{Was: entry.Type, Username: e.Username}
	planned := result
	planned.Created, planned.Moved = entry.Type == 0 || resumes, entry.Type == Wish
	if !planned.changes(result) {
		return result, e.countEarlier(ctx, entry.Type, nil, &result)
	}
	if err := e.intend(ctx, planned); err != nil {
		return MarkResult{}, err
	}
	switch {
	case resumes:
		err = e.takeUp(ctx, &planned)
	case entry.Type == 0:
		err = e.create(ctx, true) // told when it is watched
	default:
		err = e.begin(ctx)
	}
	return planned, err
}

// Watched is what a list says of one subject.
type Watched struct {
	// Entry is the state of the entry; 0 = not collected.
	Entry CollectionType
	// Changed is when the entry was last written; zero when that is not known.
	Changed time.Time
	// Episodes are those that are marked watched, and when they were; nil when the entry is done or missing.
	Episodes map[EpisodeID]time.Time
}

// Has reports whether a mark of the episode would write nothing, and since when the list has it as far as it tells; 0 is
// the subject itself.
func (w Watched) Has(episode EpisodeID) (has bool, since time.Time) {
	if w.Entry == Done {
		return true, w.Changed
	}
	since, has = w.Episodes[episode]
	return has, since
}

// Watched reads what is marked on a subject and writes nothing. Errors are those of the calls.
func (e *ListEntry) Watched(ctx context.Context) (Watched, error) {
	entry, err := e.entry(ctx)
	if err != nil || entry.Type == 0 || entry.Type == Done {
		return Watched{Entry: entry.Type, Changed: entry.changed}, err
	}
	marks, err := e.Session.episodeMarks(ctx, e.Subject)
	if err != nil {
		return Watched{}, err
	}
	w := Watched{Entry: entry.Type, Changed: entry.changed, Episodes: map[EpisodeID]time.Time{}}
	for _, mark := range marks {
		if mark.State == EpisodeWatched {
			w.Episodes[mark.Episode.ID] = mark.At
		}
	}
	return w, nil
}

func (e *ListEntry) op() reason.Reason { return opMark.With(e.Subject) }

// create puts the subject on the list as doing; quietly, nobody else is told.
func (e *ListEntry) create(ctx context.Context, quietly bool) error {
	state := Doing
	if quietly {
		state = 0
	}
	return e.settle(ctx, Doing, e.Session.collect(ctx, e.Subject, state, e.Private))
}

// takeUp makes an entry doing again that this service had left.
func (e *ListEntry) takeUp(ctx context.Context, result *MarkResult) error {
	result.Created, result.Resumed = true, true
	return e.settle(ctx, Doing, e.Session.changeEntry(ctx, e.Subject, Doing, e.Private))
}

// begin makes an entry doing that is there.
func (e *ListEntry) begin(ctx context.Context) error {
	return e.settle(ctx, Doing, e.Session.moveEntry(ctx, e.Subject, Doing))
}

// settle is nil when a write of the entry, which ended with err, did land.
func (e *ListEntry) settle(ctx context.Context, state CollectionType, err error) error {
	e.wrote = e.wrote || err == nil || mayHaveLanded(err)
	if !mayHaveLanded(err) {
		return err
	}
	if now, readErr := e.entry(Probing(ctx)); readErr == nil && now.Type == state {
		return nil
	}
	return lost(err)
}

// write sets episodes watched. What holds another mark is cleared first: a server
// bug answers 204 to a change from one mark to another and loses it.
func (e *ListEntry) write(ctx context.Context, states map[EpisodeID]EpisodeState, episodes []EpisodeID, result *MarkResult) error {
	if len(episodes) == 0 {
		return nil
	}
	var other []EpisodeID
	for _, id := range episodes {
		if states[id] != Unmarked {
			other = append(other, id)
		}
	}
	if len(other) > 0 {
		if err := e.set(ctx, other, Unmarked, result); err != nil {
			return err
		}
	}
	if err := e.set(ctx, episodes, EpisodeWatched, result); err != nil {
		return err
	}
	if len(other) == 0 {
		return nil
	}
	shown, err := e.all(ctx, other, EpisodeWatched)
	if err == nil && !shown {
		err = &Error{Op: e.op(), Kind: ErrUnreachable, Description: notShown.With()}
	}
	return err
}

// set writes one state to episodes, in one request, and finds out what became of
// it when the answer does not tell.
func (e *ListEntry) set(ctx context.Context, episodes []EpisodeID, state EpisodeState, result *MarkResult) error {
	err := e.send(ctx, episodes, state)
	var failure *Error
	if errors.As(err, &failure) && failure.Status == http.StatusBadRequest {
		// Perhaps the entry was removed since it was read. The list tells; the words of the error may change.
		if now, readErr := e.entry(ctx); readErr != nil || now.Type != 0 {
			return err
		}
		if err := e.create(ctx, false); err != nil {
			return err
		}
		result.Created = true
		err = e.send(ctx, episodes, state)
	}
	return e.settleMarks(ctx, episodes, state, err)
}

// settleMarks is nil when a write of marks, which ended with err, did land.
func (e *ListEntry) settleMarks(ctx context.Context, episodes []EpisodeID, state EpisodeState, err error) error {
	e.wrote = e.wrote || err == nil || mayHaveLanded(err)
	if mayHaveLanded(err) {
		if landed, readErr := e.all(Probing(ctx), episodes, state); readErr == nil && landed {
			return nil
		}
		return lost(err)
	}
	return err
}

// send is one PUT for one episode and one PATCH for several, which makes one timeline event.
func (e *ListEntry) send(ctx context.Context, episodes []EpisodeID, state EpisodeState) error {
	if len(episodes) == 1 {
		return e.Session.setEpisode(ctx, episodes[0], state)
	}
	return e.Session.setEpisodes(ctx, e.Subject, episodes, state)
}

// all reads whether every one of episodes is in state.
func (e *ListEntry) all(ctx context.Context, episodes []EpisodeID, state EpisodeState) (bool, error) {
	marks, err := e.marksOf(ctx, episodes)
	if err != nil {
		return false, err
	}
	states := progress{marks: marks}.states()
	return !slices.ContainsFunc(episodes, func(id EpisodeID) bool {
		shown, known := states[id]
		return !known || shown != state
	}), nil
}

// finish sets the entry done. A refusal is kept in the result: what was watched is marked.
func (e *ListEntry) finish(ctx context.Context, result *MarkResult) error {
	err := e.settle(ctx, Done, e.Session.moveEntry(ctx, e.Subject, Done))
	switch {
	case err == nil:
		result.Completed = true
	case errors.Is(err, ErrUnreachable):
		return err
	default:
		result.NotCompleted = err
	}
	return nil
}

// finishWithoutEpisodes sets a subject without episode rows done; dropped stays, unless this service had left it.
func (req *MarkRequest) finishWithoutEpisodes(ctx context.Context, result MarkResult, resumes bool) (MarkResult, error) {
	marks, err := req.Session.episodeMarks(ctx, req.Subject)
	if err != nil {
		return MarkResult{}, err
	}
	if len(marks) > 0 {
		return MarkResult{}, &Error{Op: req.op(), Kind: ErrRefused, Description: sayWhich.With()}
	}
	if result.Was == Dropped {
		return result, nil
	}
	result.Created, result.Completed = result.Was == 0 || resumes, true
	if err := req.intend(ctx, result); err != nil {
		return MarkResult{}, err
	}
	if resumes {
		if err := req.takeUp(ctx, &result); err != nil {
			return MarkResult{}, err
		}
	}
	if result.Was == 0 {
		err = req.Session.collect(ctx, req.Subject, Done, req.Private)
	} else {
		err = req.Session.moveEntry(ctx, req.Subject, Done)
	}
	if err := req.settle(ctx, Done, err); err != nil {
		return MarkResult{}, err
	}
	return result, nil
}

func unique(ids []EpisodeID) []EpisodeID {
	var all []EpisodeID
	for _, id := range ids {
		if !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	return all
}
