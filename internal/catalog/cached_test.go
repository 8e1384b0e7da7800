package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"watchmark/internal/catalog"
)

// counted is a catalog in memory whose every answer is counted; block, when not
// nil, is waited for.
type counted struct {
	calls  atomic.Int64
	status atomic.Int64
	body   atomic.Value
	block  chan struct{}
}

func (c *counted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.calls.Add(1)
	if c.block != nil {
		select {
		case <-c.block:
		case <-r.Context().Done():
		}
	}
	say(int(c.status.Load()), asJSON, c.body.Load().(string))(w, r)
}

func newCounted(t *testing.T) (*counted, *catalog.Cached) {
	c := &counted{}
	c.status.Store(200)
	c.body.Store(`{"data":[{"id":5,"name":"x"}],"total":1}`)
	return c, catalog.NewCached(answering(t, c.ServeHTTP))
}

func TestBurstAsksOnce(t *testing.T) {
	server, cached := newCounted(t)
	server.block = make(chan struct{})
	var wg sync.WaitGroup
	for range 25 {
		wg.Go(func() {
			hits, err := cached.Search(t.Context(), catalog.SearchQuery{Keyword: "one show"})
			if err != nil || len(hits) != 1 {
				t.Error(hits, err)
			}
		})
	}
	close(server.block)
	wg.Wait()
	if n := server.calls.Load(); n != 1 {
		t.Errorf("%d requests", n)
	}
	if _, err := cached.Search(t.Context(), catalog.SearchQuery{Keyword: "another"}); err != nil || server.calls.Load() != 2 {
		t.Error("another keyword was not asked")
	}
	cached.Forget()
	if _, err := cached.Search(t.Context(), catalog.SearchQuery{Keyword: "another"}); err != nil || server.calls.Load() != 3 {
		t.Error("Forget kept something")
	}
}

func TestErrorsAreNotKept(t *testing.T) {
	server, cached := newCounted(t)
	server.status.Store(503)
	if _, err := cached.Episodes(t.Context(), 5); !errors.Is(err, catalog.ErrUnreachable) {
		t.Error(err)
	}
	server.status.Store(200)
	if rows, err := cached.Episodes(t.Context(), 5); err != nil || len(rows) != 1 {
		t.Error(rows, err)
	}
}

func TestCallerMayChangeTheList(t *testing.T) {
	_, cached := newCounted(t)
	rows, err := cached.Episodes(t.Context(), 5)
	if err != nil {
		t.Fatal(err)
	}
	rows[0].ID = 99
	if rows, _ = cached.Episodes(t.Context(), 5); rows[0].ID != 5 {
		t.Error("the memory was changed")
	}
}

// The first caller gives up while others wait: they get an answer all the same.
func TestFirstCallerGivesUp(t *testing.T) {
	server, cached := newCounted(t)
	server.block = make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	var first, second sync.WaitGroup
	first.Go(func() {
		if _, err := cached.Episodes(ctx, 5); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	for server.calls.Load() == 0 {
		time.Sleep(time.Millisecond) // waits for the condition
	}
	second.Go(func() {
		if rows, err := cached.Episodes(t.Context(), 5); err != nil || len(rows) != 1 {
			t.Error(rows, err)
		}
	})
	cancel()
	first.Wait() // an answer must not come before it gives up
	close(server.block)
	second.Wait()
}

func TestMemoryIsBounded(t *testing.T) {
	many, bounded := newCounted(t)
	var rows []byte
	for i := range 5000 {
		rows = fmt.Appendf(rows, `{"id":%d},`, i+1)
	}
	many.body.Store(`{"data":[` + string(rows[:len(rows)-1]) + `],"total":5000}`)
	for id := range catalog.SubjectID(5) { // 25 000 rows: the first list has to go
		if got, err := bounded.Episodes(t.Context(), id+1); err != nil || len(got) != 5000 {
			t.Fatal(len(got), err)
		}
	}
	if _, err := bounded.Episodes(t.Context(), 5); err != nil || many.calls.Load() != 5 {
		t.Errorf("the last list was dropped: %d requests", many.calls.Load())
	}
	if _, err := bounded.Episodes(t.Context(), 1); err != nil || many.calls.Load() != 6 {
		t.Errorf("the first list was kept: %d requests", many.calls.Load())
	}
}

func TestMemoryEnds(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		life time.Duration
	}{
		"hits":    {`{"data":[{"id":5}],"total":1}`, 10 * time.Minute},
		"no hits": {`{"data":[],"total":0}`, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *site) {
				s.does(say(200, asJSON, c.body))
				cached := catalog.NewCached(s.Client)
				for _, step := range []struct {
					after time.Duration
					want  int
				}{{0, 1}, {c.life - time.Second, 1}, {time.Second, 2}} {
					time.Sleep(step.after)
					if _, err := cached.Search(t.Context(), catalog.SearchQuery{Keyword: "x"}); err != nil {
						t.Fatal(err)
					}
					if got := s.count(); got != step.want {
						t.Errorf("after %v: %d requests, want %d", step.after, got, step.want)
					}
				}
			})
		})
	}
}
