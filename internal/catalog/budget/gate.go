package budget

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// Class is how much a request hurries.
type Class int

// The classes of requests.
const (
	// Mark is a request that somebody's mark waits for.
	Mark Class = iota
	// LookUp is every other one: what is matched, shown or searched.
	LookUp
)

// lookUpAfter is after how many marks of one in a row a look-up of theirs goes first that waits as well: a mark needs its match too.
const lookUpAfter = 8

// gate lets one at a time through: those for whom something waits take turns, and of what waits for one, marks go before look-ups and
// each in the order they came.
type gate struct {
	mu      sync.Mutex
	busy    bool
	turns   []int64         // for whom something waits, in the order they came
	lines   map[int64]*line // of those
	served  map[int64]int   // passed when they had their last turn, while the gate is busy
	waiting [2]int          // in all, by class
	passed  int             // have gone through
}

// line is what waits for one.
type line struct {
	waiting [2][]chan struct{} // by class
	marks   int                // that went first in a row while a look-up waited
}

// ahead is how many would go before one that came now, at most.
func (g *gate) ahead() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.waiting[Mark] + g.waiting[LookUp]
	if g.busy {
		n++
	}
	return n
}

// through is how many have gone through so far.
func (g *gate) through() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.passed
}

// enter waits for its turn, among what is for the same; leave ends it. The error is that of ctx.
func (g *gate) enter(ctx context.Context, whose int64, class Class) error {
	g.mu.Lock()
	if !g.busy {
		g.busy = true
		g.mu.Unlock()
		return nil
	}
	l := g.lines[whose]
	if l == nil {
		l = &line{}
		if g.lines == nil {
			g.lines = map[int64]*line{}
		}
		g.lines[whose] = l
		g.turns = append(g.turns, whose)
	}
	turn := make(chan struct{})
	l.waiting[class] = append(l.waiting[class], turn)
	g.waiting[class]++
	g.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	at := slices.Index(l.waiting[class], turn)
	if at >= 0 {
		l.waiting[class] = slices.Delete(l.waiting[class], at, at+1)
		g.waiting[class]--
		if l.empty() {
			delete(g.lines, whose)
			g.turns = slices.DeleteFunc(g.turns, func(one int64) bool { return one == whose })
		}
	}
	g.mu.Unlock()
	if at < 0 { // the turn came at the same time
		g.leave()
	}
	return ctx.Err()
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.passed++
	if len(g.turns) == 0 {
		g.busy, g.served = false, nil
		return
	}
	// Who asks for one request after the other is not there when the turn is given on, and is not to come behind who asks for many.
	whose := slices.MinFunc(g.turns, func(a, b int64) int { return cmp.Compare(g.served[a], g.served[b]) })
	if g.served == nil {
		g.served = map[int64]int{}
	}
	g.served[whose] = g.passed
	l := g.lines[whose]
	turn, class := l.next()
	g.waiting[class]--
	if l.empty() {
		delete(g.lines, whose)
		g.turns = slices.DeleteFunc(g.turns, func(one int64) bool { return one == whose })
	}
	close(turn)
}

func (l *line) empty() bool { return len(l.waiting[Mark]) == 0 && len(l.waiting[LookUp]) == 0 }

// next takes out what goes first; something waits.
func (l *line) next() (turn chan struct{}, class Class) {
	class = Mark
	if len(l.waiting[Mark]) == 0 || len(l.waiting[LookUp]) > 0 && l.marks >= lookUpAfter {
		class = LookUp
	}
	if class == LookUp || len(l.waiting[LookUp]) == 0 {
		l.marks = 0
	} else {
		l.marks++
	}
	turn = l.waiting[class][0]
	l.waiting[class] = l.waiting[class][1:]
	return turn, class
}
