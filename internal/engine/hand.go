package engine

import (
	"context"
	"errors"
	"maps"
	"slices"

	"watchmark/internal/platform/db"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// showKey is what records are matched in order by: the episodes of one show that one
// person watched are marked in the order they came in.
type showKey struct {
	user, title string
	season      int
}

// show is what is on its way of one show and person, from when it is stored until it is matched.
type show struct {
	// coming is how many of it are stored and not claimed yet.
	coming int
	// busy is set while a worker is at one, or is to be, which is next; waiting are those behind it.
	busy    bool
	next    int64
	waiting []record.Work
	// through is closed when all of that is matched.
	through chan struct{}
}

// expected is a record that was stored by this engine and waits to be claimed.
type expected struct {
	show showKey
	// claim is the last claim that had begun by then: one that begins later finds the record.
	claim int
}

// showOn is what is on its way of a show. The caller holds mu, and calls leave when less is.
func (e *Engine) showOn(key showKey) *show {
	s := e.shows[key]
	if s == nil {
		s = &show{through: make(chan struct{})}
		e.shows[key] = s
	}
	return s
}

// leave forgets a show of which nothing is on its way any more. The caller holds mu.
func (e *Engine) leave(key showKey) {
	if s := e.shows[key]; s.coming == 0 && !s.busy {
		close(s.through)
		delete(e.shows, key)
	}
}

// expect notes that a record was stored and will be claimed. It is called before the commit,
// so that no claim comes before it.
func (e *Engine) expect(id int64, event watch.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unexpect(id) // the id of a transaction that failed is given again
	key := showOf(event)
	e.coming[id] = expected{key, e.claims}
	e.showOn(key).coming++
}

// unexpect ends the wait for the claim of a record. The caller holds mu.
func (e *Engine) unexpect(id int64) {
	if a, known := e.coming[id]; known {
		delete(e.coming, id)
		e.shows[a.show].coming--
		e.leave(a.show)
	}
}

// beginClaim counts a claim. What was expected before it and is not found by it, when it takes all
// there is, will not come: it was not stored after all, is held, or was deleted.
func (e *Engine) beginClaim() (tookAll func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.claims++
	claim := e.claims
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		for id, a := range e.coming {
			if a.claim < claim {
				e.unexpect(id)
			}
		}
	}
}

func showOf(event watch.Event) showKey {
	key := showKey{user: event.UserName, title: event.Title, season: -1}
	if event.Season != nil {
		key.season = *event.Season
	}
	return key
}

// take holds a record and gives it to a worker, after those of its show that are in
// hand; the channel closes when it is let go. One that is in hand still was given back, and
// claimed, before its worker let it go: letGo begins it anew.
func (e *Engine) take(w record.Work) <-chan struct{} {
	e.mu.Lock()
	if h, is := e.inHand[w.ID]; is {
		e.again[w.ID] = w
		e.mu.Unlock()
		return h.done
	}
	h := held{make(chan struct{}), laneOf(w.Background), w.UserName}
	e.inHand[w.ID] = h
	e.count(h, 1)
	e.working.Add(1)
	s := e.showOn(showOf(w.Event))
	busy := s.busy
	before := s.next
	if busy {
		s.waiting = append(s.waiting, w)
		for i := range s.waiting {
			s.waiting[i].Background = s.waiting[i].Background && w.Background
		}
	} else {
		s.next = w.ID
	}
	s.busy = true
	e.unexpect(w.ID)
	e.mu.Unlock()
	if !busy {
		e.lines[h.lane].put(w)
	} else if h.lane == first { // what it waits for goes with it
		if ahead, is := e.lines[background].remove(w.UserName, before); is {
			ahead.Background = false
			e.lines[first].put(ahead)
		}
	}
	return h.done
}

// count counts n more records in hand. The caller holds mu.
func (e *Engine) count(h held, n int) {
	if h.lane == background {
		e.behind += n
		return
	}
	if e.firsts[h.user] += n; e.firsts[h.user] == 0 {
		delete(e.firsts, h.user)
	}
}

// next hands on the show of a record that a worker is done with.
func (e *Engine) next(w record.Work) {
	key := showOf(w.Event)
	e.mu.Lock()
	s := e.shows[key]
	if len(s.waiting) == 0 {
		s.busy = false
		e.leave(key)
		e.mu.Unlock()
		return
	}
	following := s.waiting[0]
	s.waiting, s.next = s.waiting[1:], following.ID
	e.mu.Unlock()
	e.lines[laneOf(following.Background)].put(following)
}

// letGo ends the hold on a record.
func (e *Engine) letGo(id int64) {
	e.mu.Lock()
	h, is := e.inHand[id]
	again, claimed := e.again[id]
	room := false // from now on
	if is {
		delete(e.inHand, id)
		delete(e.again, id)
		e.count(h, -1)
		room = h.lane == background && e.behind == backgroundMost-claimMost || h.lane == first && len(e.inHand)-e.behind == inHandMost-backgroundMost-claimMost
	}
	e.mu.Unlock()
	if !is {
		return
	}
	if claimed && e.isClaimed(id) {
		e.take(again)
	}
	close(h.done)
	e.working.Done()
	if room {
		e.Wake()
	}
}

// isClaimed reports whether a record waits for whoever claimed it.
func (e *Engine) isClaimed(id int64) bool {
	r, err := e.Records.Get(context.Background(), id)
	return err != nil || r.Status == record.Processing
}

// held lists the records in hand.
func (e *Engine) held() []int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Collect(maps.Keys(e.inHand))
}

// release gives records back untouched.
func (e *Engine) release(works ...record.Work) {
	if len(works) == 0 {
		return
	}
	for _, w := range works {
		defer e.letGo(w.ID)
	}
	ids := idsOf(works)
	err := e.Records.Release(context.Background(), works[0].Owner, ids...)
	if err != nil {
		e.unsure.Store(true)
	}
	if e.noteEviction(err); err != nil && !errors.Is(err, db.ErrEvicted) {
		e.Log.Error("cannot release records; they are in a while", "record_ids", ids, "error", err)
	}
}

// releaseJobs gives back the records that no worker took up, until none is in hand.
func (e *Engine) releaseJobs(finished <-chan struct{}) {
	for {
		var l *line
		select {
		case <-e.lines[first].ready:
			l = e.lines[first]
		case <-e.lines[background].ready:
			l = e.lines[background]
		case <-finished:
			return
		}
		if w, is := l.take(); is {
			e.release(w)
			e.next(w)
		}
	}
}
