package budget

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// queue enters a gate that somebody holds, one after the other, and answers in which order they went through.
func queue(t *testing.T, classes ...Class) (order []int) {
	t.Helper()
	var draws []Draw
	for _, class := range classes {
		draws = append(draws, Draw{Class: class})
	}
	return queueOf(t, draws...)
}

// queueOf is queue of those for whom something waits.
func queueOf(t *testing.T, draws ...Draw) (order []int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var g gate
		if err := g.enter(t.Context(), 0, LookUp); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for n, d := range draws {
			all.Go(func() {
				if err := g.enter(t.Context(), d.Whose, d.Class); err != nil {
					t.Error(err)
					return
				}
				order = append(order, n)
				g.leave()
			})
			synctest.Wait()
		}
		g.leave()
		all.Wait()
		if g.busy || g.ahead() != 0 {
			t.Error("the gate stays busy")
		}
	})
	return order
}

func TestMarksGoBeforeLookUps(t *testing.T) {
	if got, want := queue(t, LookUp, LookUp, Mark, LookUp, Mark), []int{2, 4, 0, 1, 3}; !slices.Equal(got, want) {
		t.Errorf("went as %v, want %v", got, want)
	}
}

func TestEachForWhomSomethingWaitsGetsATurn(t *testing.T) {
	of := func(account int64, class Class) Draw { return Draw{Turn: Turn{Whose: account}, Class: class} }
	got := queueOf(t, of(1, Mark), of(1, Mark), of(1, Mark), of(2, LookUp), of(2, Mark), of(3, LookUp))
	if want := []int{0, 4, 5, 1, 3, 2}; !slices.Equal(got, want) {
		t.Errorf("went as %v, want %v", got, want)
	}
}

func TestLookUpsAreNotStarvedByMarks(t *testing.T) {
	classes := slices.Repeat([]Class{Mark}, 2*lookUpAfter+1)
	got := queue(t, append([]Class{LookUp, LookUp}, classes...)...)
	if first, second := slices.Index(got, 0), slices.Index(got, 1); first != lookUpAfter || second != 2*lookUpAfter+1 {
		t.Errorf("the look-ups went as %d and %d: %v", first, second, got)
	}
}

func TestWhoGivesUpHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gate
		if err := g.enter(t.Context(), 0, Mark); err != nil {
			t.Fatal(err)
		}
		gone, leave := context.WithCancel(t.Context())
		left, next := make(chan error, 1), make(chan error, 1)
		go func() { left <- g.enter(gone, 0, Mark) }()
		synctest.Wait()
		go func() { next <- g.enter(t.Context(), 0, LookUp) }()
		synctest.Wait()
		leave()
		g.leave() // the turn may come to who gives up at the same time
		if err := <-left; err == nil {
			g.leave()
		} else if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if err := <-next; err != nil {
			t.Error(err)
		}
		g.leave()
		if g.busy {
			t.Error("the gate stays busy")
		}
	})
}
