package turn

import (
	"context"
	"errors"
	"sync"
	"testing"
)

func TestOneAtATimeAndNothingStays(t *testing.T) {
	var k Keys[int64]
	var wait sync.WaitGroup
	counts := [3]int{}
	for n := range 60 {
		wait.Go(func() {
			end, err := k.Take(t.Context(), int64(n%3))
			if err != nil {
				t.Error(err)
				return
			}
			defer end()
			counts[n%3]++
		})
	}
	wait.Wait()
	if counts != [3]int{20, 20, 20} || len(k.locks) != 0 {
		t.Errorf("counted %v, and %d locks stay", counts, len(k.locks))
	}
	end, err := k.Take(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := k.Take(gone, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("who has left gets %v", err)
	}
	end()
	if len(k.locks) != 0 {
		t.Errorf("%d locks stay", len(k.locks))
	}
}
