package engine

import (
	"context"
	"maps"
	"slices"

	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// showKey is what records are matched in order by: the episodes of one show that one
// person watched are marked in the order they came in.
type showKey struct {
	user, title string
	season      int
}

func showOf(event watch.Event) showKey {
	key := showKey{user: event.UserName, title: event.Title, season: -1}
	if event.Season != nil {
		key.season = *event.Season
	}
	return key
}

// hasRoom reports whether a whole claim can be taken in hand.
func (e *Engine) hasRoom() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.inHand) <= inHandMost-claimMost
}

// take holds a record and gives it to a worker, after those of its show that are in
// hand; the channel closes when it is let go. One that is in hand still was given back, and
// claimed, before its worker let it go: letGo begins it anew.
func (e *Engine) take(w record.Work) <-chan struct{} {
	e.mu.Lock()
	if done, held := e.inHand[w.ID]; held {
		e.again[w.ID] = w
		e.mu.Unlock()
		return done
	}
	done := make(chan struct{})
	e.inHand[w.ID] = done
	e.working.Add(1)
	show := showOf(w.Event)
	waiting, busy := e.shows[show]
	if busy {
		e.shows[show] = append(waiting, w)
	} else {
		e.shows[show] = nil
	}
	e.mu.Unlock()
	if !busy {
		e.jobs <- &w
	}
	return done
}

// next hands on the show of a record that a worker is done with.
func (e *Engine) next(w record.Work) {
	show := showOf(w.Event)
	e.mu.Lock()
	waiting := e.shows[show]
	if len(waiting) == 0 {
		delete(e.shows, show)
		e.mu.Unlock()
		return
	}
	e.shows[show] = waiting[1:]
	e.mu.Unlock()
	e.jobs <- &waiting[0]
}

// letGo ends the hold on a record.
func (e *Engine) letGo(id int64) {
	e.mu.Lock()
	done, held := e.inHand[id]
	delete(e.inHand, id)
	again, claimed := e.again[id]
	delete(e.again, id)
	room := len(e.inHand) == inHandMost-claimMost // from now on
	e.mu.Unlock()
	if !held {
		return
	}
	if claimed && e.isClaimed(id) {
		e.take(again)
	}
	close(done)
	e.working.Done()
	if room {
		e.Wake()
	}
}

// isClaimed reports whether a record waits for whoever claimed it. One whose lease ran out
// while it was worked on is settled by now.
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

// release gives a record back untouched.
func (e *Engine) release(id int64) {
	defer e.letGo(id)
	if err := e.Records.Release(context.Background(), id); err != nil {
		e.Log.Error("cannot release record; its lease will run out", "record_id", id, "error", err)
	}
}

// releaseJobs gives back the records that no worker took up, until none is in hand.
func (e *Engine) releaseJobs(finished <-chan struct{}) {
	for {
		select {
		case w := <-e.jobs:
			e.release(w.ID)
			e.next(*w)
		case <-finished:
			return
		}
	}
}
