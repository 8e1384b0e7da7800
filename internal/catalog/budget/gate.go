package budget

import (
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

// lookUpAfter is after how many marks in a row a look-up goes first that waits as well: a mark needs its match too.
const lookUpAfter = 8

// gate lets one at a time through, marks before look-ups and each in the order they came.
type gate struct {
	mu      sync.Mutex
	busy    bool
	waiting [2][]chan struct{} // by class
	marks   int                // that went first in a row while a look-up waited
}

// ahead is how many would go before one of a class that came now.
func (g *gate) ahead(class Class) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := len(g.waiting[Mark])
	if class == LookUp {
		n += len(g.waiting[LookUp])
	}
	if g.busy {
		n++
	}
	return n
}

// enter waits for its turn; leave ends it. The error is that of ctx.
func (g *gate) enter(ctx context.Context, class Class) error {
	g.mu.Lock()
	if !g.busy {
		g.busy = true
		g.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	g.waiting[class] = append(g.waiting[class], turn)
	g.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	at := slices.Index(g.waiting[class], turn)
	if at >= 0 {
		g.waiting[class] = slices.Delete(g.waiting[class], at, at+1)
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
	class := Mark
	switch marks, lookUps := len(g.waiting[Mark]), len(g.waiting[LookUp]); {
	case marks == 0 && lookUps == 0:
		g.busy, g.marks = false, 0
		return
	case marks == 0, lookUps > 0 && g.marks >= lookUpAfter:
		class = LookUp
	}
	if class == LookUp || len(g.waiting[LookUp]) == 0 {
		g.marks = 0
	} else {
		g.marks++
	}
	close(g.waiting[class][0])
	g.waiting[class] = g.waiting[class][1:]
}
