package catalog

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestDoubtsAreBounded(t *testing.T) {
	c := NewCached(nil)
	for id := range SubjectID(3 * maxDoubts) {
		c.doubt(id)
		if len(c.doubted) > maxDoubts {
			t.Fatalf("%d subjects are doubted", len(c.doubted))
		}
	}
}

func TestRestsThatAreOverAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMarker()
		failed := func() error { return &Error{Kind: ErrUnreachable, lost: true} }
		for id := range SubjectID(50) {
			if err := m.turn(t.Context(), &ListEntry{AccountKey: "mira", Subject: id}, failed); err == nil {
				t.Fatal("the write did not fail")
			}
		}
		if len(m.rests) != 50 {
			t.Errorf("%d entries rest", len(m.rests))
		}
		time.Sleep(RestAfterLost)
		if err := m.turn(t.Context(), &ListEntry{AccountKey: "alex", Subject: 1}, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
		if len(m.rests) != 0 {
			t.Errorf("%d rests that are over are remembered", len(m.rests))
		}
	})
}
