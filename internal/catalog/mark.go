package catalog

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
)

// MarkRequest asks for episodes to be marked watched.
type MarkRequest struct {
	ListEntry
	// Episodes of the subject, of any type. None is right only for a subject
	// without episode rows, which is then set done itself.
	Episodes []EpisodeID
	// Complete sets the subject done when every main episode is watched.
	Complete bool
	// Eps is Subject.Eps. Complete waits until that many main episodes are
	// listed: the rows of a running series appear as it airs. 0 does not wait.
	Eps int
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
	// NotCompleted is the catalog's refusal to set the subject done; the episodes
	// are marked all the same. nil when it was not asked or agreed.
	NotCompleted error
}

// MarkedEpisode is one episode of a MarkResult.
type MarkedEpisode struct {
	ID EpisodeID
	// Already: it was watched before, and nothing was written for it.
	Already bool
}

// AlreadyWatched reports whether nothing was written at all.
func (r MarkResult) AlreadyWatched() bool {
	return !r.Created && !r.Moved && !r.Completed &&
		!slices.ContainsFunc(r.Episodes, func(e MarkedEpisode) bool { return !e.Already })
}

// Marker writes marks. It reads before it writes, so that a repeated request
// writes nothing and adds nothing to a public timeline; it reads again after a
// write whose answer was lost (upstreams/catalog.md sections 9 and 12). All
// writers of one process share one Marker: it lets no two writes on one account
// and subject overlap, since the server would lose one of them.
type Marker struct {
	mu    sync.Mutex
	locks map[entryKey]*entryLock
}

type entryKey struct {
	account string
	subject SubjectID
}

// entryLock is held by whoever has put something into held; users counts those
// who hold it or wait for it.
type entryLock struct {
	held  chan struct{}
	users int
}

// NewMarker is a Marker with nothing under way.
func NewMarker() *Marker { return &Marker{locks: map[entryKey]*entryLock{}} }

// lock waits for the entry's turn and gives the function that ends it. The error
// is that of ctx.
func (m *Marker) lock(ctx context.Context, e *ListEntry) (unlock func(), err error) {
	key := entryKey{e.AccountKey, e.Subject}
	m.mu.Lock()
	lock := m.locks[key]
	if lock == nil {
		lock = &entryLock{held: make(chan struct{}, 1)}
		m.locks[key] = lock
	}
	lock.users++
	m.mu.Unlock()
	leave := func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if lock.users--; lock.users == 0 {
			delete(m.locks, key)
		}
	}
	select {
	case lock.held <- struct{}{}:
		return func() { <-lock.held; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, &Error{Op: fmt.Sprintf("wait for another write on subject %d", e.Subject), Kind: ErrUnreachable, Err: ctx.Err()}
	}
}

// Mark marks episodes watched and keeps the subject's entry in step: a missing
// one is created as doing, wish and on hold become doing, dropped stays. An entry
// that is done is a rewatch: nothing is written and every episode counts as
// watched already. Errors, besides those of the calls: ErrNotFound when an
// episode is not of the subject, ErrRefused when Episodes is empty and the
// subject has episodes; both before anything is written. After ErrUnreachable
// some of it may have been written: asking again finishes it.
func (m *Marker) Mark(ctx context.Context, req MarkRequest) (MarkResult, error) {
	unlock, err := m.lock(ctx, &req.ListEntry)
	if err != nil {
		return MarkResult{}, err
	}
	defer unlock()
	was, err := req.entry(ctx)
	if err != nil {
		return MarkResult{}, err
	}
	result := MarkResult{Was: was, Username: req.Username}
	if was == Done {
		for _, id := range unique(req.Episodes) {
			result.Episodes = append(result.Episodes, MarkedEpisode{ID: id, Already: true})
		}
		return result, nil
	}
	marks, err := req.Session.episodeMarks(ctx, req.Subject)
	if err != nil {
		return MarkResult{}, err
	}
	if len(req.Episodes) == 0 {
		return req.finishWithoutEpisodes(ctx, marks, result)
	}
	states := make(map[EpisodeID]EpisodeState, len(marks))
	for _, mark := range marks {
		states[mark.Episode.ID] = mark.State
	}
	var missing []EpisodeID
	for _, id := range unique(req.Episodes) {
		state, known := states[id]
		if !known {
			return MarkResult{}, &Error{Op: req.op(), Kind: ErrNotFound, Description: fmt.Sprintf("episode %d is not an episode of this subject", id)}
		}
		result.Episodes = append(result.Episodes, MarkedEpisode{ID: id, Already: state == EpisodeWatched})
		if state != EpisodeWatched {
			missing = append(missing, id)
		}
	}
	if was == 0 || len(missing) > 0 {
		if err := req.start(ctx, &result); err != nil {
			return MarkResult{}, err
		}
	}
	if err := req.write(ctx, states, missing, &result); err != nil {
		return MarkResult{}, err
	}
	for _, id := range missing {
		states[id] = EpisodeWatched
	}
	if req.Complete && (was == Doing || result.Created || result.Moved) && req.complete(marks, states) {
		if err := req.finish(ctx, &result); err != nil {
			return MarkResult{}, err
		}
	}
	return result, nil
}

// MarkDoing puts a subject whose playback started on the list as doing: a missing
// entry is created, wish becomes doing, every other state stays. Result.Episodes is empty.
func (m *Marker) MarkDoing(ctx context.Context, e ListEntry) (MarkResult, error) {
	unlock, err := m.lock(ctx, &e)
	if err != nil {
		return MarkResult{}, err
	}
	defer unlock()
	was, err := e.entry(ctx)
	if err != nil {
		return MarkResult{}, err
	}
	result := MarkResult{Was: was, Username: e.Username}
	if was == 0 || was == Wish {
		if err := e.start(ctx, &result); err != nil {
			return MarkResult{}, err
		}
	}
	return result, nil
}

// Watched is what a list says of one subject.
type Watched struct {
	// Entry is the state of the entry; 0 = not collected.
	Entry CollectionType
	// Episodes are those that are marked watched; nil when the entry is done or missing.
	Episodes map[EpisodeID]bool
}

// Has reports whether a mark of the episode would write nothing; 0 is the subject itself.
func (w Watched) Has(episode EpisodeID) bool { return w.Entry == Done || w.Episodes[episode] }

// Watched reads what is marked on a subject and writes nothing. Errors are those of the calls.
func (e *ListEntry) Watched(ctx context.Context) (Watched, error) {
	state, err := e.entry(ctx)
	if err != nil || state == 0 || state == Done {
		return Watched{Entry: state}, err
	}
	marks, err := e.Session.episodeMarks(ctx, e.Subject)
	if err != nil {
		return Watched{}, err
	}
	w := Watched{Entry: state, Episodes: map[EpisodeID]bool{}}
	for _, mark := range marks {
		if mark.State == EpisodeWatched {
			w.Episodes[mark.Episode.ID] = true
		}
	}
	return w, nil
}

func (e *ListEntry) op() string { return fmt.Sprintf("mark subject %d", e.Subject) }

// start makes the entry doing where it is missing, wish or on hold.
func (e *ListEntry) start(ctx context.Context, result *MarkResult) error {
	switch result.Was {
	case 0:
		result.Created = true
		return e.create(ctx, Doing)
	case Wish, OnHold:
		result.Moved = true
		return e.settle(ctx, Doing, e.Session.moveEntry(ctx, e.Subject, Doing))
	}
	return nil
}

func (e *ListEntry) create(ctx context.Context, state CollectionType) error {
	return e.settle(ctx, state, e.Session.collect(ctx, e.Subject, state, e.Private))
}

// settle is nil when a write of the entry, which ended with err, did land.
func (e *ListEntry) settle(ctx context.Context, state CollectionType, err error) error {
	if !mayHaveLanded(err) {
		return err
	}
	if now, readErr := e.entry(Probing(ctx)); readErr == nil && now == state {
		return nil
	}
	return err
}

// mayHaveLanded: work goes on at the server when the client is gone, and a 500
// may come after the data was stored. 429 means that nothing was done.
func mayHaveLanded(err error) bool {
	var failure *Error
	return errors.As(err, &failure) && errors.Is(err, ErrUnreachable) && Asked(err) && failure.Status != http.StatusTooManyRequests
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
		err = &Error{Op: e.op(), Kind: ErrUnreachable, Description: "the catalog accepted the mark but does not show it"}
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
		if now, readErr := e.entry(ctx); readErr != nil || now != 0 {
			return err
		}
		if err := e.create(ctx, Doing); err != nil {
			return err
		}
		result.Created = true
		err = e.send(ctx, episodes, state)
	}
	return e.settleMarks(ctx, episodes, state, err)
}

// settleMarks is nil when a write of marks, which ended with err, did land.
func (e *ListEntry) settleMarks(ctx context.Context, episodes []EpisodeID, state EpisodeState, err error) error {
	if mayHaveLanded(err) {
		if landed, readErr := e.all(Probing(ctx), episodes, state); readErr == nil && landed {
			return nil
		}
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
	marks, err := e.Session.episodeMarks(ctx, e.Subject)
	if err != nil {
		return false, err
	}
	found := 0
	for _, mark := range marks {
		if mark.State == state && slices.Contains(episodes, mark.Episode.ID) {
			found++
		}
	}
	return found == len(episodes), nil
}

// complete reports whether every main episode is listed and watched.
func (req *MarkRequest) complete(marks []episodeMark, states map[EpisodeID]EpisodeState) bool {
	main := 0
	for _, mark := range marks {
		if mark.Episode.Type != Main {
			continue
		}
		if main++; states[mark.Episode.ID] != EpisodeWatched {
			return false
		}
	}
	return main > 0 && main >= req.Eps
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

// finishWithoutEpisodes sets a subject without episode rows done; dropped stays.
func (req *MarkRequest) finishWithoutEpisodes(ctx context.Context, marks []episodeMark, result MarkResult) (MarkResult, error) {
	if len(marks) > 0 {
		return MarkResult{}, &Error{Op: req.op(), Kind: ErrRefused, Description: "the subject has episodes: say which were watched"}
	}
	switch result.Was {
	case Dropped:
		return result, nil
	case 0:
		if err := req.create(ctx, Done); err != nil {
			return MarkResult{}, err
		}
		result.Created = true
	default:
		if err := req.settle(ctx, Done, req.Session.moveEntry(ctx, req.Subject, Done)); err != nil {
			return MarkResult{}, err
		}
	}
	result.Completed = true
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
