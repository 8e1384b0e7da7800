package catalog_test

import (
	"errors"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/replica"
	"watchmark/internal/testkit/catalogtest"
)

// A replica that others may take for dead reads lists still, and writes nothing to them. That says nothing about the catalog.
func TestGuardedWritesAreNotSent(t *testing.T) {
	s, c := house(t, catalogtest.Config{})
	var most []time.Duration
	live := 3 // of so many questions
	ctx := catalog.Guarded(t.Context(), func(d time.Duration) error {
		if most = append(most, d); len(most) > live {
			return replica.ErrNotLive
		}
		return nil
	})
	for _, x := range []struct{ live, writes int }{{0, 0}, {1, 0}, {2, 1}, {4, 2}} { // two questions a write, of two writes
		most, live = nil, x.live
		s.Reset()
		_, err := catalog.NewMarker().Mark(ctx, catalog.MarkRequest{ListEntry: entryOf(c, 100), Episodes: []catalog.EpisodeID{1001}})
		if writes := len(s.Writes()); writes != x.writes || errors.Is(err, replica.ErrNotLive) != (x.writes < 2) {
			t.Errorf("after %d questions: %d writes, %v", x.live, writes, err)
		}
		for _, d := range most {
			if d != 15*time.Second {
				t.Errorf("a write may take %v", d)
			}
		}
	}
	if !c.Reachability().Reachable {
		t.Error("the catalog counts as unreachable")
	}
}
