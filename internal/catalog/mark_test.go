package catalog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/logtest"
)

// entryOf is mira's entry of a subject of the house.
func entryOf(c *catalog.Client, subject catalog.SubjectID) catalog.ListEntry {
	return catalog.ListEntry{AccountKey: "1", Session: c.As(token), Username: "mira", Subject: subject}
}

// wrote is every write that was applied, such as "POST 100 3" and "PUT 1001 2".
func wrote(s *catalogtest.Server) []string {
	list := []string{}
	for _, w := range s.Writes() {
		what := fmt.Sprint(w.SubjectID)
		if w.Episodes != nil {
			what = strings.Trim(strings.ReplaceAll(fmt.Sprint(w.Episodes), " ", ","), "[]")
		}
		list = append(list, fmt.Sprintf("%s %s %d", w.Method, what, w.Type))
	}
	return list
}

// completing has a subject of eps episodes set done with its last one.
func completing(eps int) func(context.Context) (bool, int, error) {
	return func(context.Context) (bool, int, error) { return true, eps, nil }
}

func already(r catalog.MarkResult) string {
	var b strings.Builder
	for _, e := range r.Episodes {
		if e.Already {
			fmt.Fprintf(&b, "%d already ", e.ID)
		} else {
			fmt.Fprintf(&b, "%d marked ", e.ID)
		}
	}
	return strings.TrimSpace(b.String())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestMarkSequence(t *testing.T) {
	type ids = []catalog.EpisodeID
	type state = map[catalog.EpisodeID]catalog.EpisodeState
	for _, c := range []struct {
		name     string
		subject  catalog.SubjectID // 0 = 100
		entry    catalog.CollectionType
		marks    state
		episodes ids
		complete bool
		eps      int
		private  bool
		want     []string
		result   string
		then     catalog.CollectionType
	}{
		{name: "not collected", episodes: ids{1001}, want: []string{"POST 100 3", "PUT 1001 2"}, result: "1001 marked", then: catalog.Doing},
		{name: "not collected, private", episodes: ids{1001}, private: true, want: []string{"POST 100 3", "PUT 1001 2"}, result: "1001 marked", then: catalog.Doing},
		{name: "doing", entry: catalog.Doing, episodes: ids{1002}, want: []string{"PUT 1002 2"}, result: "1002 marked", then: catalog.Doing},
		{name: "doing, private asked", entry: catalog.Doing, episodes: ids{1002}, private: true, want: []string{"PUT 1002 2"}, result: "1002 marked", then: catalog.Doing},
		{name: "several", entry: catalog.Doing, episodes: ids{1002, 1001, 1002}, want: []string{"PATCH 1002,1001 2"}, result: "1002 marked 1001 marked", then: catalog.Doing},
		{name: "a special", entry: catalog.Doing, episodes: ids{1004}, want: []string{"PUT 1004 2"}, result: "1004 marked", then: catalog.Doing},
		{name: "wish", entry: catalog.Wish, episodes: ids{1001}, want: []string{"PATCH 100 3", "PUT 1001 2"}, result: "1001 marked", then: catalog.Doing},
		{name: "on hold", entry: catalog.OnHold, episodes: ids{1001}, want: []string{"PATCH 100 3", "PUT 1001 2"}, result: "1001 marked", then: catalog.Doing},
		{name: "dropped", entry: catalog.Dropped, episodes: ids{1001}, want: []string{"PUT 1001 2"}, result: "1001 marked", then: catalog.Dropped},
		{name: "done is a rewatch", entry: catalog.Done, episodes: ids{1001}, complete: true, want: []string{}, result: "1001 already", then: catalog.Done},
		{name: "repeated", entry: catalog.Doing, marks: state{1001: 2}, episodes: ids{1001}, want: []string{}, result: "1001 already", then: catalog.Doing},
		{name: "repeated on hold", entry: catalog.OnHold, marks: state{1001: 2}, episodes: ids{1001}, want: []string{}, result: "1001 already", then: catalog.OnHold},
		{name: "one of two repeated", entry: catalog.Doing, marks: state{1001: 2}, episodes: ids{1001, 1002}, want: []string{"PUT 1002 2"}, result: "1001 already 1002 marked", then: catalog.Doing},
		{name: "from wish by clearing", entry: catalog.Doing, marks: state{1001: 1}, episodes: ids{1001}, want: []string{"PUT 1001 0", "PUT 1001 2"}, result: "1001 marked", then: catalog.Doing},
		{name: "from dropped by clearing, with another", entry: catalog.Doing, marks: state{1001: 3, 1002: 1}, episodes: ids{1001, 1002, 1003}, want: []string{"PATCH 1001,1002 0", "PATCH 1001,1002,1003 2"}, result: "1001 marked 1002 marked 1003 marked", then: catalog.Doing},
		{name: "last one completes", entry: catalog.Doing, marks: state{1001: 2, 1002: 2}, episodes: ids{1003}, complete: true, eps: 3, want: []string{"PUT 1003 2", "PATCH 100 2"}, result: "1003 marked", then: catalog.Done},
		{name: "last one, completion off", entry: catalog.Doing, marks: state{1001: 2, 1002: 2}, episodes: ids{1003}, want: []string{"PUT 1003 2"}, result: "1003 marked", then: catalog.Doing},
		{name: "last one listed of a running series", entry: catalog.Doing, marks: state{1001: 2, 1002: 2}, episodes: ids{1003}, complete: true, eps: 12, want: []string{"PUT 1003 2"}, result: "1003 marked", then: catalog.Doing},
		{name: "one missing", entry: catalog.Doing, marks: state{1001: 2, 1004: 2}, episodes: ids{1003}, complete: true, want: []string{"PUT 1003 2"}, result: "1003 marked", then: catalog.Doing},
		{name: "dropped is never completed", entry: catalog.Dropped, marks: state{1001: 2, 1002: 2}, episodes: ids{1003}, complete: true, want: []string{"PUT 1003 2"}, result: "1003 marked", then: catalog.Dropped},
		{name: "completion that was lost", entry: catalog.Doing, marks: state{1001: 2, 1002: 2, 1003: 2}, episodes: ids{1003}, complete: true, want: []string{"PATCH 100 2"}, result: "1003 already", then: catalog.Done},
		{name: "film", subject: 102, episodes: ids{1021}, complete: true, eps: 1, want: []string{"POST 102 0", "PUT 1021 2", "PATCH 102 2"}, result: "1021 marked", then: catalog.Done},
		{name: "film, wish", subject: 102, entry: catalog.Wish, episodes: ids{1021}, complete: true, eps: 1, want: []string{"PUT 1021 2", "PATCH 102 2"}, result: "1021 marked", then: catalog.Done},
		{name: "film, wish, completion that was lost", subject: 102, entry: catalog.Wish, marks: state{1021: 2}, episodes: ids{1021}, complete: true, eps: 1, want: []string{"PATCH 102 2"}, result: "1021 already", then: catalog.Done},
		{name: "film, completion off", subject: 102, episodes: ids{1021}, want: []string{"POST 102 3", "PUT 1021 2"}, result: "1021 marked", then: catalog.Doing},
		{name: "not collected, watched before", marks: state{1001: 2}, episodes: ids{1001}, want: []string{"POST 100 0"}, result: "1001 already", then: catalog.Doing},
		{name: "all at once", episodes: ids{1001, 1002, 1003}, complete: true, eps: 3, want: []string{"POST 100 0", "PATCH 1001,1002,1003 2", "PATCH 100 2"}, result: "1001 marked 1002 marked 1003 marked", then: catalog.Done},
		{name: "no episode rows", subject: 104, want: []string{"POST 104 2"}, then: catalog.Done},
		{name: "no episode rows, wish", subject: 104, entry: catalog.Wish, want: []string{"PATCH 104 2"}, then: catalog.Done},
		{name: "no episode rows, dropped", subject: 104, entry: catalog.Dropped, want: []string{}, then: catalog.Dropped},
		{name: "no episode rows, done", subject: 104, entry: catalog.Done, want: []string{}, then: catalog.Done},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, client := house(t, catalogtest.Config{})
			if c.subject == 0 {
				c.subject = 100
			}
			if c.entry != 0 {
				must(t, s.Collect("mira", c.subject, c.entry, false))
			}
			for id, mark := range c.marks {
				must(t, s.SetMark("mira", id, mark))
			}
			entry := entryOf(client, c.subject)
			entry.Private = c.private
			req := catalog.MarkRequest{ListEntry: entry, Episodes: c.episodes}
			if c.complete {
				req.Complete = completing(c.eps)
			}
			marker := catalog.NewMarker()
			got, err := marker.Mark(t.Context(), req)
			must(t, err)
			if diff := cmp.Diff(c.want, wrote(s)); diff != "" {
				t.Error(diff)
			}
			now := s.Collections()
			if already(got) != c.result || len(now) != 1 || now[0].Type != c.then || now[0].Private != (c.private && c.entry == 0) {
				t.Errorf("result %+v, entries %+v", got, now)
			}
			if got.Was != c.entry || got.Created != (c.entry == 0) || got.Completed != (c.then == catalog.Done && c.entry != catalog.Done) ||
				got.Moved != (c.then == catalog.Doing && c.entry != catalog.Doing && c.entry != 0) || got.AlreadyWatched() != (len(c.want) == 0) {
				t.Errorf("result %+v", got)
			}
			for _, mark := range s.Marks() {
				if mark.Type != catalog.EpisodeWatched {
					t.Errorf("mark %+v", mark)
				}
			}
			if n := s.Requests()["GET /v0/me"]; n != 0 {
				t.Errorf("the owner of the token was read %d times", n)
			}
			timeline := s.Timeline()
			again, err := marker.Mark(t.Context(), req)
			must(t, err)
			if len(wrote(s)) != len(c.want) || !again.AlreadyWatched() || s.Timeline() != timeline {
				t.Errorf("the repetition wrote %v: %+v", wrote(s)[len(c.want):], again)
			}
		})
	}
}

func TestMarkRefusesBeforeItWrites(t *testing.T) {
	s, c := house(t, catalogtest.Config{})
	for name, x := range map[string]struct {
		subject  catalog.SubjectID
		episodes []catalog.EpisodeID
		want     error
	}{
		"an episode of another subject": {100, []catalog.EpisodeID{1001, 1021}, catalog.ErrNotFound},
		"no episode of a series":        {100, nil, catalog.ErrRefused},
		"an unknown subject":            {999, []catalog.EpisodeID{1}, catalog.ErrNotFound},
	} {
		if _, err := catalog.NewMarker().Mark(t.Context(), catalog.MarkRequest{ListEntry: entryOf(c, x.subject), Episodes: x.episodes}); !errors.Is(err, x.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	bad := entryOf(c, 100)
	bad.Session = c.As("expired")
	if _, err := catalog.NewMarker().Mark(t.Context(), catalog.MarkRequest{ListEntry: bad, Episodes: []catalog.EpisodeID{1001}}); !errors.Is(err, catalog.ErrUnauthorized) {
		t.Error(err)
	}
	s.SetUser(catalogtest.User{ID: 8, Username: "alex", Token: "alex-token", NoWriteScope: true})
	alex := catalog.ListEntry{Session: c.As("alex-token"), Username: "alex", Subject: 100}
	if _, err := catalog.NewMarker().Mark(t.Context(), catalog.MarkRequest{ListEntry: alex, Episodes: []catalog.EpisodeID{1001}}); !errors.Is(err, catalog.ErrForbidden) {
		t.Error(err)
	}
	if got := wrote(s); len(got) != 0 {
		t.Error(got)
	}
}

// A user name that changed gives 404: it must not be taken for "not collected",
// which would overwrite the entry.
func TestMarkWithAnOldUserName(t *testing.T) {
	s, c := house(t, catalogtest.Config{})
	must(t, s.Collect("mira", 100, catalog.Done, false))
	entry := entryOf(c, 100)
	entry.Username = "7"
	got, err := catalog.NewMarker().Mark(t.Context(), catalog.MarkRequest{ListEntry: entry, Episodes: []catalog.EpisodeID{1001}})
	if err != nil || got.Was != catalog.Done || got.Username != "mira" || len(wrote(s)) != 0 {
		t.Errorf("%+v, %v, %v", got, err, wrote(s))
	}
}

func TestMarkDoing(t *testing.T) {
	for entry, want := range map[catalog.CollectionType][]string{
		0: {"POST 102 0"}, catalog.Wish: {"PATCH 102 3"}, catalog.Doing: {}, catalog.Done: {}, catalog.OnHold: {}, catalog.Dropped: {},
	} {
		s, c := house(t, catalogtest.Config{})
		if entry != 0 {
			must(t, s.Collect("mira", 102, entry, false))
		}
		got, err := catalog.NewMarker().MarkDoing(t.Context(), entryOf(c, 102))
		if err != nil || !cmp.Equal(wrote(s), want) || got.Created != (entry == 0) || got.Moved != (entry == catalog.Wish) {
			t.Errorf("%d: %+v, %v, %v", entry, got, err, wrote(s))
		}
	}
}

// between stands before the catalog and may spoil a request.
func between(t *testing.T, timeout time.Duration, spoil func(w http.ResponseWriter, r *http.Request, next http.Handler)) (*catalogtest.Server, *catalog.Client) {
	s, _ := house(t, catalogtest.Config{})
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { spoil(w, r, s) }))
	t.Cleanup(front.Close)
	return s, connect(t, front.URL, timeout)
}

// stored lets next do its work and gives the answer to nobody.
func stored(r *http.Request, next http.Handler) {
	next.ServeHTTP(httptest.NewRecorder(), r.WithContext(context.WithoutCancel(r.Context())))
}

func TestLostAnswersAreReadBack(t *testing.T) {
	for name, lose := range map[string]func(w http.ResponseWriter, r *http.Request, next http.Handler){
		"timeout": func(_ http.ResponseWriter, r *http.Request, next http.Handler) { stored(r, next); <-r.Context().Done() },
		"cut": func(_ http.ResponseWriter, r *http.Request, next http.Handler) {
			stored(r, next)
			panic(http.ErrAbortHandler)
		},
		"500 after it": func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			stored(r, next)
			say(500, asJSON, `{}`)(w, r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, c := between(t, 400*time.Millisecond, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if r.Method == http.MethodGet {
					next.ServeHTTP(w, r)
					return
				}
				lose(w, r, next)
			})
			got, err := catalog.NewMarker().Mark(t.Context(), catalog.MarkRequest{ListEntry: entryOf(c, 102), Episodes: []catalog.EpisodeID{1021}, Complete: completing(1)})
			if err != nil || !got.Created || !got.Completed || already(got) != "1021 marked" {
				t.Errorf("%+v, %v", got, err)
			}
			if diff := cmp.Diff([]string{"POST 102 0", "PUT 1021 2", "PATCH 102 2"}, wrote(s)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLostWritesAreErrorsAndMayBeRepeated(t *testing.T) {
	for _, fault := range []catalogtest.Fault{
		{Mode: catalogtest.Refuse}, {Mode: catalogtest.Hang}, {Mode: catalogtest.Status, Status: 500}, {Mode: catalogtest.HTML},
		{Mode: catalogtest.Status, Status: 429, RetryAfter: time.Minute},
	} {
		for _, paths := range []catalogtest.FaultPaths{catalogtest.All, catalogtest.Writes, catalogtest.Reads} {
			t.Run(fmt.Sprint(fault.Mode, fault.Status, paths), func(t *testing.T) {
				inBubble(t, func(t *testing.T, at *site) {
					s := furnished(catalogtest.Config{})
					at.does(s.ServeHTTP)
					fault.Paths = paths
					must(t, s.SetFault(fault))
					marker := catalog.NewMarker()
					req := catalog.MarkRequest{ListEntry: entryOf(at.Client, 100), Episodes: []catalog.EpisodeID{1001, 1002}}
					_, err := marker.Mark(t.Context(), req)
					var failure *catalog.Error
					if !errors.Is(err, catalog.ErrUnreachable) || !errors.As(err, &failure) || failure.RetryAfter < fault.RetryAfter {
						t.Fatalf("%v", err)
					}
					must(t, s.SetFault(catalogtest.Fault{Mode: catalogtest.None}))
					got, err := marker.Mark(catalog.Probing(t.Context()), req)
					if err != nil || len(s.Marks()) != 2 || got.AlreadyWatched() {
						t.Errorf("%+v, %v, %v", got, err, s.Marks())
					}
				})
			})
		}
	}
}

// A write whose answer does not come is stored long after its client has gone (upstreams/catalog.md section 12).
func TestALostWriteIsNotSentAgainBeforeItRested(t *testing.T) {
	doing := func(s *catalogtest.Server) { must(t, s.Collect("mira", 100, catalog.Doing, false)) }
	for name, c := range map[string]struct {
		arrange func(*catalogtest.Server)
		lost    string // the method whose first answer does not come
		landed  bool   // it is stored all the same, late
		want    []string
	}{
		"put on the list, landed":     {nil, http.MethodPost, true, []string{"POST 100 3", "PUT 1001 2"}},
		"put on the list, not landed": {nil, http.MethodPost, false, []string{"POST 100 3", "PUT 1001 2"}},
		"marked, landed":              {doing, http.MethodPut, true, []string{"PUT 1001 2"}},
		"marked, not landed":          {doing, http.MethodPut, false, []string{"PUT 1001 2"}},
		"moved, landed":               {func(s *catalogtest.Server) { must(t, s.Collect("mira", 100, catalog.Wish, false)) }, http.MethodPatch, true, []string{"PATCH 100 3", "PUT 1001 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, at *site) {
				s := furnished(catalogtest.Config{AtomicMarks: true})
				if c.arrange != nil {
					c.arrange(s)
				}
				var late sync.WaitGroup
				var once sync.Once
				var writes []time.Time
				at.does(func(w http.ResponseWriter, r *http.Request) {
					lose := false
					if r.Method != http.MethodGet {
						writes = append(writes, time.Now())
						once.Do(func() { lose = r.Method == c.lost })
					}
					if !lose {
						s.ServeHTTP(w, r)
						return
					}
					body, _ := io.ReadAll(r.Body)
					if c.landed {
						late.Go(func() {
							time.Sleep(10 * time.Second) // the client goes after 5
							again := r.Clone(context.Background())
							again.Body = io.NopCloser(bytes.NewReader(body))
							s.ServeHTTP(httptest.NewRecorder(), again)
						})
					}
					<-r.Context().Done()
				})
				marker := catalog.NewMarker()
				req := catalog.MarkRequest{ListEntry: entryOf(at.Client, 100), Episodes: []catalog.EpisodeID{1001}}
				_, err := marker.Mark(t.Context(), req)
				var failure *catalog.Error
				if !errors.As(err, &failure) || !errors.Is(err, catalog.ErrUnreachable) || failure.RetryAfter < 5*time.Second {
					t.Fatalf("the answer that does not come: %v", err)
				}
				given := time.Now()
				if _, err := marker.Mark(catalog.Probing(t.Context()), req); err != nil { // somebody does not wait for RetryAfter
					t.Fatal(err)
				}
				if len(writes) > 1 && writes[1].Sub(given) < 5*time.Second {
					t.Errorf("written again after %v", writes[1].Sub(given))
				}
				late.Wait()
				if diff := cmp.Diff(c.want, wrote(s)); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// The catalog goes down between the read and the write, which is not sent then.
func TestWhatWasNotSentIsNotReadBack(t *testing.T) {
	var c *catalog.Client
	var reads atomic.Int64
	s, c := between(t, 5*time.Second, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		switch {
		case r.URL.Path == "/v0/subjects/102":
			panic(http.ErrAbortHandler)
		case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/episodes/1001"):
			if reads.Add(1) == 1 {
				_, _ = c.Subject(r.Context(), 102) // which tells that it is down
			}
		}
		next.ServeHTTP(w, r)
	})
	must(t, s.Collect("mira", 100, catalog.Doing, false))
	_, err := catalog.NewMarker().Mark(t.Context(), catalog.MarkRequest{ListEntry: entryOf(c, 100), Episodes: []catalog.EpisodeID{1001}})
	if !errors.Is(err, catalog.ErrUnreachable) || catalog.Asked(err) || reads.Load() != 1 || len(s.Writes()) != 0 {
		t.Errorf("%v, the marks were read %d times", err, reads.Load())
	}
}

// The entry is removed between the read and the write.
func TestEntryRemovedMeanwhile(t *testing.T) {
	var hidden atomic.Bool
	s, c := between(t, 5*time.Second, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.HasSuffix(r.URL.Path, "/mira/collections/100") && hidden.CompareAndSwap(false, true) {
			say(200, asJSON, `{"subject_id":100,"type":3}`)(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
	got, err := catalog.NewMarker().Mark(t.Context(), catalog.MarkRequest{ListEntry: entryOf(c, 100), Episodes: []catalog.EpisodeID{1001}})
	if err != nil || !got.Created || !cmp.Equal(wrote(s), []string{"POST 100 3", "PUT 1001 2"}) {
		t.Errorf("%+v, %v, %v", got, err, wrote(s))
	}
}

// A server that loses every change from one mark to another, clearing included, is not believed.
func TestMarkThatDoesNotStick(t *testing.T) {
	s, c := between(t, 5*time.Second, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodPut {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
	must(t, s.Collect("mira", 100, catalog.Doing, false))
	must(t, s.SetMark("mira", 1001, catalog.EpisodeDropped))
	_, err := catalog.NewMarker().Mark(t.Context(), catalog.MarkRequest{ListEntry: entryOf(c, 100), Episodes: []catalog.EpisodeID{1001}})
	if !errors.Is(err, catalog.ErrUnreachable) {
		t.Error(err)
	}
}

func TestRefusedCompletionKeepsTheMarks(t *testing.T) {
	s, c := between(t, 5*time.Second, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodPatch {
			say(404, asJSON, `{"description":"subject locked or merged"}`)(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
	got, err := catalog.NewMarker().Mark(t.Context(), catalog.MarkRequest{ListEntry: entryOf(c, 102), Episodes: []catalog.EpisodeID{1021}, Complete: completing(1)})
	if err != nil || got.Completed || !errors.Is(got.NotCompleted, catalog.ErrNotFound) || len(s.Marks()) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// The catalog loses marks that are written at once; one Marker never writes them at once.
func TestParallelMarksAreNotLost(t *testing.T) {
	s, c := house(t, catalogtest.Config{})
	marker := catalog.NewMarker()
	var wg sync.WaitGroup
	for i := range 30 {
		wg.Go(func() {
			_, err := marker.Mark(t.Context(), catalog.MarkRequest{ListEntry: entryOf(c, 105), Episodes: []catalog.EpisodeID{catalog.EpisodeID(20000 + i)}})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(s.Marks()); n != 30 {
		t.Errorf("%d of 30 marks", n)
	}
	if got := wrote(s); len(got) != 31 {
		t.Errorf("%d writes: %v", len(got), got)
	}
}

func TestWaitingForTheTurnEndsWithTheContext(t *testing.T) {
	release := make(chan struct{})
	var inside atomic.Bool
	s, c := between(t, 5*time.Second, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodPost && inside.CompareAndSwap(false, true) {
			<-release
		}
		next.ServeHTTP(w, r)
	})
	marker := catalog.NewMarker()
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := marker.MarkDoing(t.Context(), entryOf(c, 100)); err != nil {
			t.Error(err)
		}
	})
	for !inside.Load() {
		time.Sleep(time.Millisecond) // waits for the condition
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := marker.MarkDoing(ctx, entryOf(c, 100)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := marker.MarkDoing(t.Context(), entryOf(c, 102)); err != nil {
		t.Errorf("another subject had to wait: %v", err)
	}
	close(release)
	wg.Wait()
	if n := len(s.Collections()); n != 2 {
		t.Error(n)
	}
}

func TestDebugLogHoldsNoToken(t *testing.T) {
	s, address := catalogtest.Start(t, catalogtest.Config{Users: []catalogtest.User{{ID: 7, Username: "mira", Token: token}}})
	s.AddSubject(catalogtest.Subject{ID: 100, Type: catalog.Anime, Name: "旅路"})
	s.AddEpisodes(100, catalogtest.Episode{ID: 1001, Sort: 1})
	app := catalog.App{ClientID: "app1", ClientSecret: "the-client-secret", RedirectURL: "https://home.example/cb"}
	s.SetApp(catalogtest.App{ClientID: "app1", ClientSecret: "the-client-secret", RedirectURI: app.RedirectURL, Username: "mira"})
	var out logtest.Buffer
	c := connectLogging(t, address, 5*time.Second, slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))
	entry := catalog.ListEntry{AccountKey: "1", Session: c.As(token), Username: "mira", Subject: 100}
	_, err := catalog.NewMarker().Mark(t.Context(), catalog.MarkRequest{ListEntry: entry, Episodes: []catalog.EpisodeID{1001}})
	must(t, err)
	_, err = c.As(token).Me(t.Context())
	must(t, err)
	code := authorize(t, c, app)
	first, err := c.Exchange(t.Context(), app, code)
	must(t, err)
	second, err := c.Refresh(t.Context(), app, first.Refresh)
	must(t, err)
	log := out.String() + fmt.Sprintf("%v %+v %#v %v", entry, entry, entry, first)
	for _, leak := range []string{
		token, "the-client-secret", code.Reveal(), first.Access.Reveal(), first.Refresh.Reveal(), second.Access.Reveal(), second.Refresh.Reveal(),
	} {
		if strings.Contains(log, leak) {
			t.Errorf("%s is in the log", leak)
		}
	}
	for _, kept := range []string{"PUT", "/v0/users/-/collections/-/episodes/1001", "status=204", "client_id=app1"} {
		if !strings.Contains(log, kept) {
			t.Errorf("%s is not in the log", kept)
		}
	}
}

// An entry that this service had left is taken up again, and seen by others as before.
func TestAnEntryThatWasLeftIsTakenUpAgain(t *testing.T) {
	for name, left := range map[string]bool{"by this service": true, "by the person": false} {
		s, c := house(t, catalogtest.Config{})
		must(t, s.Collect("mira", 100, catalog.Dropped, true))
		entry := entryOf(c, 100)
		entry.Left = func(context.Context) (bool, error) { return left, nil }
		got, err := catalog.NewMarker().Mark(t.Context(), catalog.MarkRequest{ListEntry: entry, Episodes: []catalog.EpisodeID{1001}})
		must(t, err)
		now := s.Collections()[0]
		if got.Resumed != left || got.Created != left || (now.Type == catalog.Doing) != left || now.Private == left || len(s.Marks()) != 1 {
			t.Errorf("dropped %s: %+v, the entry %+v", name, got, now)
		}
	}
}
