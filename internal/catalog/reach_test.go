package catalog_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/secret"
	"watchmark/internal/testkit/memnet"
)

// site is a catalog in a bubble that answers what the test says.
type site struct {
	*catalog.Client
	mu      sync.Mutex
	asked   int
	answer  http.HandlerFunc // nil cuts the connection
	returns int
}

// inBubble runs test with a fake clock against a catalog that works at first.
func inBubble(t *testing.T, test func(t *testing.T, s *site)) {
	synctest.Test(t, func(t *testing.T) {
		network := memnet.New(t)
		s := &site{answer: well}
		server := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
		door := network.Listen("catalog")
		ended := make(chan struct{})
		go func() { _ = server.Serve(door); close(ended) }()
		out, err := httpx.New(httpx.Config{PerMinute: 60000, Burst: 10000, Timeout: 5 * time.Second}, &secret.Masker{}, slog.New(slog.DiscardHandler))
		must(t, err)
		s.Client, err = catalog.New(catalog.Config{APIURL: "http://catalog", WebURL: "http://catalog", UserAgent: "test"}, out, slog.New(slog.DiscardHandler))
		must(t, err)
		s.OnReturn(func() { s.returns++ })
		defer func() { out.Close(); _ = server.Close(); <-ended }()
		test(t, s)
	})
}

func well(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"id":8,"data":[],"total":0}`))
}

func status(code int, retryAfter string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		w.WriteHeader(code)
	}
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked++
	answer := s.answer
	s.mu.Unlock()
	if answer == nil {
		panic(http.ErrAbortHandler)
	}
	answer(w, r)
}

func (s *site) does(answer http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// count is how many requests came.
func (s *site) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// ask makes a request and reports whether it was sent.
func (s *site) ask(ctx context.Context) (sent bool, err error) {
	before := s.count()
	_, err = s.Subject(ctx, 8)
	return s.count() > before, err
}

func TestWhatOpensTheBreaker(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		asked  int // requests until it is open
	}{
		"no answer":               {nil, 1},
		"no answer in time":       {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 1},
		"too many requests":       {status(429, ""), 1},
		"come back later":         {status(503, "30"), 1},
		"one server error":        {status(500, ""), 3},
		"a page instead of JSON":  {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, 3},
		"not found":               {say(404, asJSON, `{"title":"Not Found"}`), 0},
		"a 404 of somebody else":  {status(404, ""), 3},
		"what is no subject":      {say(200, asJSON, `{}`), 3},
		"a token that is refused": {status(401, ""), 0},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *site) {
				s.does(c.answer)
				for n := 1; n <= 5; n++ {
					_, err := s.ask(t.Context())
					if open := !s.Reachability().Reachable; open != (c.asked > 0 && n >= c.asked) {
						t.Fatalf("after %d requests open is %v (%v)", n, open, err)
					}
				}
				if s.asked != c.asked && c.asked > 0 {
					t.Errorf("%d requests were sent, want %d", s.asked, c.asked)
				}
			})
		})
	}
}

func TestOpenBreakerSendsNothingUntilItsTrial(t *testing.T) {
	inBubble(t, func(t *testing.T, s *site) {
		s.does(nil)
		_, _ = s.ask(t.Context())
		known := s.Reachability()
		if known.Reachable || known.Since.IsZero() || known.Problem.IsZero() {
			t.Fatalf("known is %+v", known)
		}
		sent, err := s.ask(t.Context())
		if sent || !errors.Is(err, catalog.ErrUnreachable) || catalog.Asked(err) || !strings.Contains(err.Error(), "read entry 8") {
			t.Fatalf("sent is %v, the error %v", sent, err)
		}
		// The waits double up to a minute, with a quarter of jitter.
		for trial, seconds := range []int{1, 2, 4, 8, 16, 32, 60, 60, 60} {
			wait := time.Duration(seconds) * time.Second
			before := time.Now()
			time.Sleep(time.Until(s.Reachability().NextTrial))
			if waited := time.Since(before); waited < wait || waited > wait*5/4 {
				t.Errorf("trial %d comes after %v, want %v and up to a quarter more", trial, waited, wait)
			}
			if sent, err := s.ask(t.Context()); !sent || !catalog.Asked(err) {
				t.Fatalf("the trial is sent: %v (%v)", sent, err)
			}
			if sent, _ := s.ask(t.Context()); sent {
				t.Fatal("a second request was sent beside the trial")
			}
		}
		s.does(well)
		time.Sleep(time.Until(s.Reachability().NextTrial))
		if sent, err := s.ask(t.Context()); !sent || err != nil {
			t.Fatalf("sent %v, %v", sent, err)
		}
		if got := s.Reachability(); !reflect.DeepEqual(got, catalog.Reachability{Reachable: true, Answered: time.Now()}) || s.returns != 1 {
			t.Errorf("after the return it is %+v, told %d times", got, s.returns)
		}
	})
}

func TestRetryAfterKeepsTheBreakerOpen(t *testing.T) {
	for header, want := range map[string]time.Duration{"600": 10 * time.Minute, "999999": time.Hour} {
		inBubble(t, func(t *testing.T, s *site) {
			s.does(status(429, header))
			_, _ = s.ask(t.Context())
			if wait := time.Until(s.Reachability().NextTrial); wait != want {
				t.Errorf("Retry-After %s: the next trial is in %v, want %v", header, wait, want)
			}
		})
	}
}

func TestProbePassesTheOpenBreakerAndClosesIt(t *testing.T) {
	inBubble(t, func(t *testing.T, s *site) {
		s.does(status(429, "600"))
		_, _ = s.ask(t.Context())
		if err := ping(t.Context(), s.Client); !errors.Is(err, catalog.ErrUnreachable) || !catalog.Asked(err) {
			t.Errorf("a probe of a catalog that is down: %v", err)
		}
		s.does(well)
		if err := ping(t.Context(), s.Client); err != nil {
			t.Fatal(err)
		}
		if sent, err := s.ask(t.Context()); !sent || err != nil || s.returns != 1 {
			t.Errorf("after the probe: sent %v, %v, told %d times", sent, err, s.returns)
		}
	})
}

func TestATrialThatIsGivenUpLetsTheNextOneThrough(t *testing.T) {
	inBubble(t, func(t *testing.T, s *site) {
		s.does(nil)
		_, _ = s.ask(t.Context())
		time.Sleep(time.Until(s.Reachability().NextTrial))
		s.does(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		gone, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if sent, _ := s.ask(gone); !sent {
			t.Fatal("the trial was not sent")
		}
		s.does(well)
		if sent, err := s.ask(t.Context()); !sent || err != nil {
			t.Errorf("sent %v, %v", sent, err)
		}
	})
}

func TestWhatWasSentBeforeTheOutageDoesNotEndIt(t *testing.T) {
	inBubble(t, func(t *testing.T, s *site) {
		answer := make(chan struct{})
		s.does(func(w http.ResponseWriter, r *http.Request) { <-answer; well(w, r) })
		var early sync.WaitGroup
		early.Go(func() { _, _ = s.ask(t.Context()) })
		synctest.Wait()
		s.does(status(429, "600"))
		_, _ = s.ask(t.Context())
		close(answer)
		early.Wait()
		if s.Reachability().Reachable {
			t.Error("the answer to an earlier request ended the pause that the catalog asked for")
		}
	})
}

func TestAnotherAddressIsNotBlamed(t *testing.T) {
	inBubble(t, func(t *testing.T, s *site) {
		s.does(nil)
		_, _ = s.ask(t.Context())
		must(t, s.Apply(catalog.Config{APIURL: "http://catalog:80", UserAgent: "test"}))
		if !s.Reachability().Reachable {
			t.Error("a new address starts as unreachable")
		}
	})
}
