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
	synctest.Test(t, func(t *testing.T) {
		var g gate
		if err := g.enter(t.Context(), LookUp); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for n, class := range classes {
			all.Go(func() {
				if err := g.enter(t.Context(), class); err != nil {
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
		if g.busy || g.ahead(LookUp) != 0 {
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
		if err := g.enter(t.Context(), Mark); err != nil {
			t.Fatal(err)
		}
		gone, leave := context.WithCancel(t.Context())
		left, next := make(chan error, 1), make(chan error, 1)
		go func() { left <- g.enter(gone, Mark) }()
		synctest.Wait()
		go func() { next <- g.enter(t.Context(), LookUp) }()
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
