package tracker_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/source/tracker"
	"watchmark/internal/testkit/trackertest"
)

const titleCalls = "GET /shows/{id}/translations/{lang}"

func TestTitlesAreAskedOnceAMonth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, end := rigIn(t)
		defer end()
		r.signIn(mira)
		r.show(mira, 1, 300, time.Now())
		// The tracker does not know this one's titles, which is remembered too.
		r.remote.AddPlays(mira, trackertest.Play{ID: 7, Kind: "show", Raw: []byte(`{"id":7,"type":"episode","episode":{"season":1,"number":1},"show":{"title":"Gone","ids":{"trakt":404}}}`)})
		if got, _ := r.sync(true); got.Taken != 301 {
			t.Errorf("got %+v", got)
		}
		for _, step := range []struct {
			after time.Duration
			want  int
		}{{29 * 24 * time.Hour, 2}, {2 * 24 * time.Hour, 3}} {
			time.Sleep(step.after)
			r.remote.AddPlays(mira, trackertest.Play{ID: time.Now().Unix(), WatchedAt: time.Now(), Kind: "show", Title: 1, Season: 1, Episode: 1})
			r.sync(false)
			if n := r.remote.Requests()[titleCalls]; n != step.want {
				t.Errorf("%d requests for titles, not %d", n, step.want)
			}
		}
		// That of the gone one is too old; the other was fetched anew.
		for _, want := range []int64{1, 0} {
			if n, err := r.service.Prune(t.Context(), 10); n != want || err != nil {
				t.Errorf("%d titles are removed, not %d (%v)", n, want, err)
			}
		}
	})
}

func TestATitleThatIsRefusedIsGoneWithout(t *testing.T) {
	r := newRig(t)
	r.show(mira, 1, 5, time.Now().Add(-time.Hour))
	r.signIn(mira)
	r.remote.SetFault(&trackertest.Fault{Path: "/shows/", Status: 422})
	if got, _ := r.sync(true); got.Taken != 5 || got.Outcome != tracker.Taken || r.events()[0].Title != "Show 1" {
		t.Errorf("got %+v", got)
	}
}

func TestPlaysWhoseTitleFailsWaitAndHoldNoOtherUp(t *testing.T) {
	r := newRig(t)
	r.show(mira, 1, 900, time.Now().Add(-time.Hour)) // an hour apart, on four pages
	r.show(mira, 2, 5, time.Now().Add(-500*time.Hour))
	r.signIn(mira)
	r.remote.SetFault(&trackertest.Fault{Path: "/shows/2/", Status: 500})
	got, _ := r.sync(true)
	if got.Taken != 900 || got.Outcome != tracker.Failed || !strings.Contains(got.Error.Text, "wait for their titles") || r.remote.Requests()[titleCalls] != 2 {
		t.Errorf("got %+v", got)
	}
	pages := r.remote.Requests()[historyCalls]
	if got, _ := r.sync(false); got.Taken != 0 || got.Outcome != tracker.Failed || r.remote.Requests()[historyCalls] != pages+3 {
		t.Errorf("as before: %+v", got)
	}
	r.remote.SetFault(nil)
	r.show(mira, 3, 1, time.Now())
	if got, _ := r.sync(false); got.Taken != 6 || got.Outcome != tracker.Taken {
		t.Errorf("afterwards: %+v", got)
	}
	for _, e := range r.events() {
		if !strings.HasPrefix(e.Title, "节目") {
			t.Errorf("taken in as %q", e.Title)
		}
	}
	if got, _ := r.sync(false); got.Outcome != tracker.UpToDate {
		t.Errorf("and then: %+v", got)
	}
}
