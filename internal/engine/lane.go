package engine

import (
	"context"
	"slices"
	"sync"

	"watchmark/internal/record"
)

// lane is what goes before what: each has workers of its own, so that nothing waits for what is in the background.
type lane int

// The lanes.
const (
	first lane = iota
	background
	lanes
)

const (
	// firstOf is how many records of one user go first at a time: whoever has more has not just watched them.
	firstOf = 16
	// backgroundMost is how many records of the background are held at once.
	backgroundMost = 256
)

func laneOf(isBackground bool) lane {
	if isBackground {
		return background
	}
	return first
}

// held is a record in hand.
type held struct {
	done chan struct{} // closed when the record is settled or let go
	lane lane
	user string
}

// line has the records that wait for a worker of a lane, in turns of those who watched them. The zero line is not ready to use.
type line struct {
	ready chan struct{} // has one for each that waits

	mu    sync.Mutex
	turns []string // of users for whom something waits, who is next first
	of    map[string][]record.Work
}

func newLine() *line {
	return &line{ready: make(chan struct{}, inHandMost), of: map[string][]record.Work{}}
}

// put has w wait, behind what else waits for its user.
func (l *line) put(w record.Work) {
	l.mu.Lock()
	if len(l.of[w.UserName]) == 0 {
		l.turns = append(l.turns, w.UserName)
	}
	l.of[w.UserName] = append(l.of[w.UserName], w)
	l.mu.Unlock()
	l.ready <- struct{}{}
}

// take takes out the next one, after ready gave one; there is none any more when that was removed.
func (l *line) take() (w record.Work, is bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.turns) == 0 {
		return w, false
	}
	user := l.turns[0]
	l.turns = l.turns[1:]
	w = l.of[user][0]
	if rest := l.of[user][1:]; len(rest) > 0 {
		l.of[user] = rest
		l.turns = append(l.turns, user)
	} else {
		delete(l.of, user)
	}
	return w, true
}

// remove takes out a record of a user, if it waits.
func (l *line) remove(user string, id int64) (w record.Work, is bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.IndexFunc(l.of[user], func(w record.Work) bool { return w.ID == id })
	if at < 0 {
		return w, false
	}
	w = l.of[user][at]
	if l.of[user] = slices.Delete(l.of[user], at, at+1); len(l.of[user]) == 0 {
		delete(l.of, user)
		l.turns = slices.DeleteFunc(l.turns, func(one string) bool { return one == user })
	}
	return w, true
}

// workOn runs the pipeline over what waits in a lane until ctx ends.
func (e *Engine) workOn(ctx context.Context, l *line) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.ready:
			w, is := l.take()
			if !is {
				continue
			}
			e.giveWay(ctx)
			for e.process(ctx, w) { // before others of its show
				e.pause(ctx)
			}
			e.next(w)
		}
	}
}

// room is how much may be claimed now.
func (e *Engine) room() record.Room {
	e.mu.Lock()
	defer e.mu.Unlock()
	room := record.Room{Background: min(claimMost, backgroundMost-e.behind)}
	if len(e.inHand)-e.behind <= inHandMost-backgroundMost-claimMost {
		room.Of = func(user string) int {
			e.mu.Lock()
			defer e.mu.Unlock()
			return firstOf - e.firsts[user]
		}
	}
	return room
}
