package httpx_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/secret"
	"watchmark/internal/testkit/logtest"
	"watchmark/internal/testkit/memnet"
)

// stream is the head of the answer, and the body read to its end or failure.
func stream(t *testing.T, c *httpx.Client, req httpx.Request) (s *httpx.Stream, body string, err error) {
	t.Helper()
	s, err = c.Stream(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(s.Body)
	if closing := s.Body.Close(); closing != nil {
		t.Error(closing)
	}
	return s, string(text), err
}

func TestStreamIsWhatTheServiceSent(t *testing.T) {
	var got http.Header
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		w.Header().Set("Content-Range", "bytes 2-4/5")
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write(make([]byte, 3<<20))
	})
	cfg := fast
	cfg.MaxBody = 10
	header := http.Header{"Range": {"bytes=2-"}, "Accept-Encoding": {"gzip"}}
	answer, body, err := stream(t, newClient(t, cfg), httpx.Request{URL: s.URL, Header: header})
	if err != nil || answer.Status != 206 || answer.Header.Get("Content-Range") != "bytes 2-4/5" || len(body) != 3<<20 {
		t.Errorf("%+v, %d bytes, %v", answer, len(body), err)
	}
	if got.Get("Accept-Encoding") != "identity" || got.Get("Range") != "bytes=2-" || got.Get("User-Agent") != "watchmark" {
		t.Errorf("sent %v", got)
	}
	if header.Get("Accept-Encoding") != "gzip" {
		t.Error("the caller's header was changed")
	}
}

func TestStreamIsSentOnce(t *testing.T) {
	var calls atomic.Int64
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	answer, _, err := stream(t, newClient(t, repeating), httpx.Request{URL: s.URL})
	if err != nil || answer.Status != 503 || calls.Load() != 1 {
		t.Errorf("%+v, %v, %d calls", answer, err, calls.Load())
	}
}

func TestStalledStreamEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		url := serveInBubble(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/body" {
				_, _ = io.WriteString(w, "begin")
				_ = http.NewResponseController(w).Flush()
			}
			<-release
		})
		defer close(release)
		cfg := fast
		cfg.Timeout = 100 * time.Millisecond
		c := newClient(t, cfg)
		_, body, err := stream(t, c, httpx.Request{URL: url + "/body"})
		var failure *httpx.Error
		if body != "begin" || !errors.As(err, &failure) || failure.Kind != httpx.Timeout || !strings.Contains(err.Error(), "no data for 100ms") {
			t.Errorf("%q, %v", body, err)
		}
		if _, err := c.Stream(t.Context(), httpx.Request{URL: url + "/head"}); !errors.As(err, &failure) || failure.Kind != httpx.Timeout {
			t.Error(err)
		}
	})
}

// The fake clock shows that neither a long transfer nor a slow reader is a stall.
func TestTimeoutOfAStreamIsForEachWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		url := serveInBubble(t, func(w http.ResponseWriter, _ *http.Request) {
			for i := range 10 {
				_, _ = io.WriteString(w, strconv.Itoa(i))
				_ = http.NewResponseController(w).Flush()
				time.Sleep(800 * time.Millisecond)
			}
		})
		cfg := fast
		cfg.Timeout = time.Second
		c := newClient(t, cfg)
		start := time.Now()
		s, err := c.Stream(t.Context(), httpx.Request{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		var text []byte
		for err == nil {
			if len(text) == 5 {
				time.Sleep(time.Minute)
			}
			one := make([]byte, 1)
			var n int
			n, err = s.Body.Read(one)
			text = append(text, one[:n]...)
		}
		if string(text) != "0123456789" || !errors.Is(err, io.EOF) || time.Since(start) < time.Minute {
			t.Errorf("%q, %v, after %v", text, err, time.Since(start))
		}
		if err := s.Body.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestCutStreamIsTold(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/length" {
			w.Header().Set("Content-Length", "100")
		}
		_, _ = io.WriteString(w, "begin")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	for _, path := range []string{"/length", "/chunked"} {
		_, body, err := stream(t, newClient(t, fast), httpx.Request{URL: s.URL + path + "?token=abc"})
		var failure *httpx.Error
		if body != "begin" || !errors.As(err, &failure) || failure.Kind != httpx.Connection || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %q, %v", path, body, err)
		}
		if strings.Contains(err.Error(), "abc") {
			t.Errorf("a secret in %v", err)
		}
	}
}

func TestStreamEndsWithItsContext(t *testing.T) {
	release := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "begin")
		_ = http.NewResponseController(w).Flush()
		<-release
	})
	t.Cleanup(func() { close(release) })
	ctx, cancel := context.WithCancelCause(t.Context())
	answer, err := newClient(t, fast).Stream(ctx, httpx.Request{URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if _, err := io.ReadFull(answer.Body, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	cancel(errors.New("the service stops"))
	for range 2 {
		if _, err := answer.Body.Read(make([]byte, 1)); httpx.Classify(err) != httpx.Cancelled || !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

func TestStreamToAnotherHostHasNoCredentials(t *testing.T) {
	var got http.Header
	other := serve(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Clone() })
	first := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL+"/file", http.StatusFound) })
	header := http.Header{"Authorization": {"Bearer abc"}, "Range": {"bytes=5-"}, "If-Range": {`"v1"`}}
	c := newClient(t, fast)
	if s, _, err := stream(t, c, httpx.Request{URL: first.URL, Header: header}); err != nil || s.Status != 200 {
		t.Fatal(s, err)
	}
	if got.Get("Authorization") != "" || got.Get("Referer") != "" || got.Get("Range") != "bytes=5-" || got.Get("If-Range") != `"v1"` || got.Get("Accept-Encoding") != "identity" {
		t.Errorf("another host got %v", got)
	}
	if s, _, err := stream(t, c, httpx.Request{URL: first.URL, StayOnAddress: true}); err != nil || s.Status != 302 {
		t.Error(s, err)
	}
}

func TestStreamGoesThroughTheProxy(t *testing.T) {
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.String()) })
	cfg := fast
	cfg.Proxy = proxy.URL
	if _, body, err := stream(t, newClient(t, cfg), httpx.Request{URL: "http://files.example/x"}); err != nil || body != "http://files.example/x" {
		t.Errorf("%q, %v", body, err)
	}
	if _, err := newClient(t, cfg).Stream(t.Context(), httpx.Request{URL: "ftp://files.example/x"}); httpx.Classify(err) != httpx.Other {
		t.Error(err)
	}
}

func TestStreamWaitsForTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memnet.New(t)
		c := newClient(t, httpx.Config{PerMinute: 60, Burst: 1, Timeout: time.Second})
		refused := errors.New("not now")
		start := time.Now()
		for range 2 {
			_, err := c.Stream(t.Context(), httpx.Request{URL: "http://files.example/", Before: func() error { return refused }})
			if !errors.Is(err, refused) {
				t.Error(err)
			}
		}
		if waited := time.Since(start); waited != time.Second {
			t.Errorf("waited %v", waited)
		}
	})
}

func TestStreamIsLoggedMaskedAndWithoutBody(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Set-Cookie", "session=cookie-value")
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "body-text")
	})
	var out logtest.Buffer
	c, err := httpx.New(fast, &secret.Masker{}, slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	header := http.Header{"Authorization": {"Bearer header-secret"}}
	if _, _, err := stream(t, c, httpx.Request{URL: s.URL + "/p?code=query-secret&page=3", Header: header}); err == nil {
		t.Error("a cut body ended well")
	}
	log := out.String()
	for _, leak := range []string{"header-secret", "query-secret", "cookie-value", "body-text"} {
		if strings.Contains(log, leak) {
			t.Errorf("%s is in the log:\n%s", leak, log)
		}
	}
	for _, kept := range []string{"request sent", "answer received", "request failed", "page=3", "status=200", "method=GET"} {
		if !strings.Contains(log, kept) {
			t.Errorf("%s is not in the log:\n%s", kept, log)
		}
	}
}
