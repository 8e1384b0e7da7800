package catalog_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/catalogtest"
)

// kept are intents that outlive a try.
type kept struct {
	earlier catalog.Earlier
	asked   int
	planned catalog.MarkResult
	err     error
	at      time.Time // what is kept as the time, when set
}

func (k *kept) Earlier(context.Context) (catalog.Earlier, error) {
	k.asked++
	return k.earlier, nil
}

func (k *kept) Intend(_ context.Context, planned catalog.MarkResult, at time.Time) error {
	if k.err != nil {
		return k.err
	}
	if !k.at.IsZero() {
		at = k.at
	}
	k.planned = planned
	k.earlier.Episodes = map[catalog.EpisodeID]time.Time{}
	for _, e := range planned.Episodes {
		switch {
		case !e.Earlier.IsZero():
			k.earlier.Episodes[e.ID] = e.Earlier
		case !e.Already:
			k.earlier.Episodes[e.ID] = at
		}
	}
	if planned.Created || planned.Moved {
		k.earlier.Changed, k.earlier.Was = true, planned.Was
	}
	k.earlier.Completed = planned.Completed
	return nil
}

// What a try wrote that ended before its answer came is in the result of the next one.
func TestWhatAnEarlierTryWroteIsOurs(t *testing.T) {
	collected := func(state catalog.CollectionType) func(*testing.T, *catalogtest.Server) {
		return func(t *testing.T, s *catalogtest.Server) { must(t, s.Collect("mira", 100, state, false)) }
	}
	watched := func(t *testing.T, s *catalogtest.Server) {
		collected(catalog.Doing)(t, s)
		must(t, s.SetMark("mira", 1001, catalog.EpisodeWatched))
	}
	for name, c := range map[string]struct {
		arrange  func(*testing.T, *catalogtest.Server)
		episodes []catalog.EpisodeID
		landed   int // writes that land; the next one and all after do not
		between  func(*testing.T, *catalogtest.Server)
		at       time.Time
		want     catalog.MarkResult // of the second try
		late     string             // how its episodes are, as already has them
	}{
		"created":            {nil, []catalog.EpisodeID{1001}, 1, nil, time.Time{}, catalog.MarkResult{Was: catalog.Doing}, "1001 marked"},
		"created and marked": {nil, []catalog.EpisodeID{1001}, 2, nil, time.Time{}, catalog.MarkResult{Created: true, Resumed: true}, "1001 marked"},
		"marked":             {collected(catalog.Doing), []catalog.EpisodeID{1001}, 1, nil, time.Time{}, catalog.MarkResult{Was: catalog.Doing}, "1001 marked"},
		"moved and marked":   {collected(catalog.Wish), []catalog.EpisodeID{1001}, 2, nil, time.Time{}, catalog.MarkResult{Was: catalog.Wish, Moved: true}, "1001 marked"},
		"two marked":         {collected(catalog.Doing), []catalog.EpisodeID{1001, 1002}, 1, nil, time.Time{}, catalog.MarkResult{Was: catalog.Doing}, "1001 marked 1002 marked"},
		"one was watched":    {watched, []catalog.EpisodeID{1001, 1002}, 1, nil, time.Time{}, catalog.MarkResult{Was: catalog.Doing}, "1001 already 1002 marked"},
		"all were watched":   {watched, []catalog.EpisodeID{1001}, 0, nil, time.Time{}, catalog.MarkResult{Was: catalog.Doing}, "1001 already"},
		"all, marked":        {collected(catalog.Doing), []catalog.EpisodeID{1001, 1002, 1003}, 1, nil, time.Time{}, catalog.MarkResult{Was: catalog.Doing, Completed: true}, "1001 marked 1002 marked 1003 marked"},
		"all, and completed": {collected(catalog.Doing), []catalog.EpisodeID{1001, 1002, 1003}, 2, nil, time.Time{}, catalog.MarkResult{Was: catalog.Doing, Completed: true}, "1001 marked 1002 marked 1003 marked"},
		"all of a wish":      {collected(catalog.Wish), []catalog.EpisodeID{1001, 1002, 1003}, 2, nil, time.Time{}, catalog.MarkResult{Was: catalog.Doing, Completed: true}, "1001 marked 1002 marked 1003 marked"},
		"the person's, long before by the list": {collected(catalog.Doing), []catalog.EpisodeID{1001}, 0, func(t *testing.T, s *catalogtest.Server) {
			must(t, s.SetMark("mira", 1001, catalog.EpisodeWatched))
		}, time.Now().Add(time.Minute), catalog.MarkResult{Was: catalog.Doing}, "1001 already"},
		"the person's, days later": {collected(catalog.Doing), []catalog.EpisodeID{1001}, 0, func(t *testing.T, s *catalogtest.Server) {
			must(t, s.SetMark("mira", 1001, catalog.EpisodeWatched))
		}, time.Now().Add(-48 * time.Hour), catalog.MarkResult{Was: catalog.Doing}, "1001 already"},
		"the person made it done, and ours was marked": {collected(catalog.Doing), []catalog.EpisodeID{1001}, 1, collected(catalog.Done), time.Time{}, catalog.MarkResult{Was: catalog.Done}, "1001 marked"},
	} {
		t.Run(name, func(t *testing.T) {
			var left atomic.Int32
			var mended atomic.Bool
			s, client := between(t, 5*time.Second, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if mended.Load() || r.Method == http.MethodGet && left.Load() >= 0 {
					next.ServeHTTP(w, r)
					return
				}
				switch n := left.Add(-1); {
				case n > 0:
					next.ServeHTTP(w, r)
				case n == 0 && r.Method != http.MethodGet:
					stored(r, next) // the last that lands has no answer
					left.Store(-1)
					panic(http.ErrAbortHandler)
				default:
					panic(http.ErrAbortHandler)
				}
			})
			if c.arrange != nil {
				c.arrange(t, s)
			}
			left.Store(int32(c.landed))
			k := &kept{at: c.at}
			req := catalog.MarkRequest{ListEntry: entryOf(client, 100), Episodes: c.episodes, Complete: completing(3)}
			req.Intents = k
			if name != "all were watched" {
				if got, err := catalog.NewMarker().Mark(t.Context(), req); !errors.Is(err, catalog.ErrUnreachable) || !got.Wrote {
					t.Fatalf("the first try: %+v, %v", got, err)
				}
			}
			mended.Store(true)
			if c.between != nil {
				c.between(t, s)
			}
			got, err := catalog.NewMarker().Mark(catalog.Probing(t.Context()), req)
			c.want.Username, c.want.Episodes, c.want.Ended = "mira", got.Episodes, c.want.Completed
			if diff := cmp.Diff(c.want, got); err != nil || diff != "" || already(got) != c.late {
				t.Errorf("the second try: %v, %s, %s", err, already(got), diff)
			}
		})
	}
}

// A second try that ended, too, before its answer came does not make what the first one wrote look as if the person had done it before.
func TestWhatTwoTriesBeforeWroteIsOurs(t *testing.T) {
	var landing atomic.Bool
	s, client := between(t, 5*time.Second, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method != http.MethodGet && !landing.Load() {
			panic(http.ErrAbortHandler)
		}
		next.ServeHTTP(w, r)
	})
	must(t, s.Collect("mira", 100, catalog.Doing, false))
	must(t, s.SetMark("mira", 1001, catalog.EpisodeWatched))
	k := &kept{earlier: catalog.Earlier{Episodes: map[catalog.EpisodeID]time.Time{1001: time.Now().Truncate(time.Second)}}, at: time.Now().Add(time.Minute)}
	req := catalog.MarkRequest{ListEntry: entryOf(client, 100), Episodes: []catalog.EpisodeID{1001, 1002}}
	req.Intents = k
	if _, err := catalog.NewMarker().Mark(t.Context(), req); !errors.Is(err, catalog.ErrUnreachable) {
		t.Fatal(err)
	}
	landing.Store(true)
	if got, err := catalog.NewMarker().Mark(catalog.Probing(t.Context()), req); err != nil || already(got) != "1001 marked 1002 marked" {
		t.Errorf("%s, %v", already(got), err)
	}
}

// The first watch asks nothing of the past, and an intent that cannot be kept has nothing written.
func TestIntentsComeBeforeTheFirstWrite(t *testing.T) {
	s, client := house(t, catalogtest.Config{})
	k := &kept{err: errors.New("no room")}
	req := catalog.MarkRequest{ListEntry: entryOf(client, 100), Episodes: []catalog.EpisodeID{1001}}
	req.Intents = k
	if got, err := catalog.NewMarker().Mark(t.Context(), req); !errors.Is(err, k.err) || got.Wrote || len(wrote(s)) != 0 {
		t.Errorf("%+v, %v, %v", got, err, wrote(s))
	}
	doing := entryOf(client, 102)
	doing.Intents = k
	if got, err := catalog.NewMarker().MarkDoing(t.Context(), doing); !errors.Is(err, k.err) || got.Wrote || len(wrote(s)) != 0 {
		t.Errorf("%+v, %v, %v", got, err, wrote(s))
	}
	k.err = nil
	got, err := catalog.NewMarker().Mark(t.Context(), req)
	if diff := cmp.Diff(got, k.planned); err != nil || diff != "" || k.asked != 0 {
		t.Errorf("%v, the past is asked for %d times: %s", err, k.asked, diff)
	}
}
