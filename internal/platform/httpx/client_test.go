package httpx_test

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
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

// fast is a configuration without a rate limit that a test would notice.
var fast = httpx.Config{PerMinute: 60000, Burst: 1000, Timeout: time.Minute}

// repeating is fast with retries.
var repeating = httpx.Config{PerMinute: 60000, Burst: 1000, Timeout: time.Minute, Retries: 2}

func newClient(t *testing.T, cfg httpx.Config) *httpx.Client {
	t.Helper()
	c, err := httpx.New(cfg, &secret.Masker{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// serveInBubble is serve for a test with a fake clock.
func serveInBubble(t *testing.T, h http.HandlerFunc) (url string) {
	t.Helper()
	door, ended := memnet.New(t).Listen("service.example"), make(chan struct{})
	server := &http.Server{Handler: h}
	go func() { _ = server.Serve(door); close(ended) }()
	t.Cleanup(func() { _ = server.Close(); <-ended })
	return "http://service.example"
}

func TestReadsAreRetriedWritesAreNot(t *testing.T) {
	for _, c := range []struct {
		name, method string
		header       string
		status       int
		want         int64
	}{
		{"a read after 503", "GET", "", 503, 3},
		{"a read after 502", "", "", 502, 3},
		{"a read after a cut connection", "GET", "", 0, 3},
		{"a read told to wait", "GET", "30", 503, 1},
		{"a read after 429", "GET", "", 429, 1},
		{"a read after 500", "GET", "", 500, 1},
		{"a write after 503", "PUT", "", 503, 1},
		{"a write after a cut connection", "POST", "", 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls atomic.Int64
				url := serveInBubble(t, func(w http.ResponseWriter, _ *http.Request) {
					calls.Add(1)
					if c.status == 0 {
						panic(http.ErrAbortHandler)
					}
					if c.header != "" {
						w.Header().Set("Retry-After", c.header)
					}
					w.WriteHeader(c.status)
				})
				resp, err := newClient(t, repeating).Do(t.Context(), httpx.Request{Method: c.method, URL: url, Body: []byte("x")})
				if calls.Load() != c.want {
					t.Errorf("%d calls, want %d", calls.Load(), c.want)
				}
				if c.status == 0 {
					if httpx.Classify(err) != httpx.Connection || !errors.Is(err, io.EOF) {
						t.Errorf("error %v", err)
					}
					return
				}
				if err != nil || resp.Status != c.status {
					t.Fatalf("%v, %v", resp, err)
				}
				if c.header != "" && resp.RetryAfter() != 30*time.Second {
					t.Errorf("RetryAfter %v", resp.RetryAfter())
				}
			})
		})
	}
}

func TestRetryAfterForms(t *testing.T) {
	for value, check := range map[string]func(time.Duration) bool{
		"":                     func(d time.Duration) bool { return d == 0 },
		"12":                   func(d time.Duration) bool { return d == 12*time.Second },
		"-3":                   func(d time.Duration) bool { return d == 0 },
		"soon":                 func(d time.Duration) bool { return d == 0 },
		"99999999999999999999": func(d time.Duration) bool { return d == 0 },
		"999999999":            func(d time.Duration) bool { return d == 7*24*time.Hour },
		time.Now().Add(time.Hour).UTC().Format(http.TimeFormat):  func(d time.Duration) bool { return d > 50*time.Minute && d <= time.Hour },
		time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat): func(d time.Duration) bool { return d == 0 },
	} {
		r := httpx.Response{Header: http.Header{"Retry-After": {value}}}
		if !check(r.RetryAfter()) {
			t.Errorf("%q: %v", value, r.RetryAfter())
		}
	}
}

func TestRedirects(t *testing.T) {
	var got http.Header
	other := serve(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Clone() })
	first := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, other.URL, http.StatusFound)
		case "/here":
			http.Redirect(w, r, "/end", http.StatusFound)
		case "/end":
			got = r.Header.Clone()
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		}
	})
	header := http.Header{"Authorization": {"Bearer abc"}, "X-Api-Token": {"abc"}, "Accept": {"a/b"}}
	c := newClient(t, fast)
	do := func(req httpx.Request) (*httpx.Response, error) { return c.Do(t.Context(), req) }

	if resp, err := do(httpx.Request{URL: first.URL + "/away?token=x", Header: header}); err != nil || resp.Status != 200 {
		t.Fatal(resp, err)
	}
	if got.Get("Authorization") != "" || got.Get("X-Api-Token") != "" || got.Get("Referer") != "" || got.Get("Accept") != "a/b" {
		t.Errorf("another host got %v", got)
	}
	if _, err := do(httpx.Request{URL: first.URL + "/here", Header: header}); err != nil || got.Get("Authorization") != "Bearer abc" {
		t.Errorf("the same host got %v, %v", got, err)
	}
	if resp, err := do(httpx.Request{URL: first.URL + "/here", StayOnAddress: true}); err != nil || resp.Status != 302 {
		t.Error(resp, err)
	}
	if resp, err := do(httpx.Request{Method: "POST", URL: first.URL + "/here"}); err != nil || resp.Status != 302 {
		t.Error(resp, err)
	}
	if _, err := do(httpx.Request{URL: first.URL + "/loop"}); err == nil {
		t.Error("a loop of redirects ended well")
	}
}

func TestAnswerIsBounded(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1001)) })
	cfg := fast
	cfg.MaxBody = 1000
	if _, err := newClient(t, cfg).Do(t.Context(), httpx.Request{URL: s.URL}); !errors.Is(err, httpx.ErrTooLarge) {
		t.Error(err)
	}
	cfg.MaxBody = 1001
	if resp, err := newClient(t, cfg).Do(t.Context(), httpx.Request{URL: s.URL}); err != nil || len(resp.Body) != 1001 {
		t.Error(err)
	}
}

func TestFailuresAreTold(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	release := make(chan struct{})
	slow := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	t.Cleanup(func() { close(release) })
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	short := fast
	short.Timeout = 50 * time.Millisecond
	proxied := fast
	proxied.Proxy = "http://bench:pw123456@" + closed.Addr().String()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		cfg  httpx.Config
		url  string
		want httpx.Kind
	}{
		{"unknown name", t.Context(), fast, "http://nowhere.invalid/a?token=abc", httpx.DNS},
		{"refused", t.Context(), fast, "http://" + closed.Addr().String() + "/a?token=abc", httpx.Connection},
		{"certificate", t.Context(), fast, secure.URL, httpx.TLS},
		{"plain instead of TLS", t.Context(), fast, strings.Replace(slow.URL, "http", "https", 1), httpx.TLS},
		{"slow", t.Context(), short, slow.URL, httpx.Timeout},
		{"given up", gone, fast, slow.URL, httpx.Cancelled},
		{"dead proxy", t.Context(), proxied, "https://service.example/", httpx.Proxy},
		{"no address", t.Context(), fast, "ftp://h/?token=abc", httpx.Other},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := newClient(t, c.cfg).Do(c.ctx, httpx.Request{URL: c.url})
			var failure *httpx.Error
			if !errors.As(err, &failure) || failure.Kind != c.want {
				t.Fatalf("%v (%+v), want %s", err, failure, c.want)
			}
			if strings.Contains(err.Error(), "abc") || strings.Contains(err.Error(), "pw123456") {
				t.Errorf("a secret in %v", err)
			}
		})
	}
}

func TestProxyIsUsedAndChecked(t *testing.T) {
	var asked atomic.Pointer[string]
	proxy := serve(t, func(_ http.ResponseWriter, r *http.Request) { u := r.URL.String(); asked.Store(&u) })
	c := newClient(t, fast)
	cfg := fast
	cfg.Proxy = proxy.URL
	if err := c.Apply(cfg); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do(t.Context(), httpx.Request{URL: "http://service.example/x"}); err != nil || *asked.Load() != "http://service.example/x" {
		t.Error(err)
	}
	for _, bad := range []string{"proxy.example:3128", "ftp://mira:pass@x", "http://mira:pass@%zz"} {
		cfg.Proxy = bad
		if err := c.Apply(cfg); err == nil || strings.Contains(err.Error(), "pass") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if _, err := c.Do(t.Context(), httpx.Request{URL: "http://service.example/y"}); err != nil {
		t.Errorf("the old settings are gone: %v", err)
	}
	asked.Store(nil)
	home := serve(t, func(http.ResponseWriter, *http.Request) {})
	cfg.Proxy, cfg.Direct = proxy.URL, true
	if err := c.Apply(cfg); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do(t.Context(), httpx.Request{URL: home.URL}); err != nil || asked.Load() != nil {
		t.Errorf("the direct way: %v, the proxy was asked for %v", err, asked.Load())
	}
}

func TestOwnAuthorities(t *testing.T) {
	answers := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }
	service, proxy := httptest.NewUnstartedServer(http.HandlerFunc(answers)), httptest.NewUnstartedServer(http.HandlerFunc(answers))
	for _, s := range []*httptest.Server{service, proxy} {
		s.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that end
		s.StartTLS()
		t.Cleanup(s.Close)
	}
	trusting := func(s *httptest.Server) *x509.CertPool {
		pool := x509.NewCertPool()
		pool.AddCert(s.Certificate())
		return pool
	}
	for name, c := range map[string]struct {
		url, proxy string
		roots      *x509.CertPool
		kind       httpx.Kind // empty for a request that succeeds
	}{
		"a service of an unknown authority": {url: service.URL, kind: httpx.TLS},
		"of our own":                        {url: service.URL, roots: trusting(service)},
		"a proxy of an unknown authority":   {url: "http://service.example/", proxy: proxy.URL, kind: httpx.ProxyTLS},
		"a proxy of our own":                {url: "http://service.example/", proxy: proxy.URL, roots: trusting(proxy)},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := fast
			cfg.Proxy, cfg.Roots = c.proxy, c.roots
			_, err := newClient(t, cfg).Do(t.Context(), httpx.Request{URL: c.url})
			if c.kind == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var failure *httpx.Error
			if !errors.As(err, &failure) || failure.Kind != c.kind || !strings.Contains(failure.Error(), "network.ca_certificates") {
				t.Errorf("it fails with %v", err)
			}
		})
	}
}

// What may be connected to is judged after names were resolved, and no proxy stands between.
func TestConnectionsAreAllowedByAddress(t *testing.T) {
	var calls atomic.Int64
	s := serve(t, func(http.ResponseWriter, *http.Request) { calls.Add(1) })
	proxy := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the proxy was asked") })
	refused := errors.New("not there")
	cfg := fast
	cfg.Proxy = proxy.URL
	cfg.Allow = func(addr netip.Addr) error {
		if addr.Unmap().IsLoopback() {
			return refused
		}
		return nil
	}
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(s.URL, "http://"))
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]"} {
		if _, err := newClient(t, cfg).Do(t.Context(), httpx.Request{URL: "http://" + host + ":" + port}); !errors.Is(err, refused) {
			t.Errorf("%s: %v", host, err)
		}
	}
	if calls.Load() != 0 {
		t.Error("the server was asked")
	}
	cfg.Allow = func(netip.Addr) error { return nil }
	if _, err := newClient(t, cfg).Do(t.Context(), httpx.Request{URL: s.URL}); err != nil || calls.Load() != 1 {
		t.Error(err)
	}
}

func TestRatePerHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, httpx.Config{PerMinute: 60, Burst: 2, Timeout: time.Second})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		// The limiter is asked before the connection: a failed request shows the wait.
		start := time.Now()
		for range 2 {
			_, _ = c.Do(t.Context(), httpx.Request{URL: "http://127.0.0.1:1/"})
		}
		if time.Since(start) != 0 {
			t.Error("the burst waited")
		}
		if _, err := c.Do(ctx, httpx.Request{URL: "http://127.0.0.1:1/"}); httpx.Classify(err) != httpx.Cancelled {
			t.Error(err)
		}
		short, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer stop()
		if _, err := c.Do(short, httpx.Request{URL: "http://127.0.0.1:1/"}); httpx.Classify(err) != httpx.Timeout {
			t.Error(err)
		}
		_, _ = c.Do(t.Context(), httpx.Request{URL: "http://127.0.0.1:1/"})
		if waited := time.Since(start); waited != time.Second {
			t.Errorf("the third waited %v", waited)
		}
		_, _ = c.Do(t.Context(), httpx.Request{URL: "http://127.0.0.1:2/"})
		if waited := time.Since(start); waited != time.Second {
			t.Errorf("another host waited %v", waited)
		}
		if err := c.Apply(httpx.Config{PerMinute: 6, Burst: 1}); err != nil {
			t.Fatal(err)
		}
		_, _ = c.Do(t.Context(), httpx.Request{URL: "http://127.0.0.1:1/"})
		if waited := time.Since(start); waited != 11*time.Second {
			t.Errorf("with the new rate %v", waited)
		}
	})
}

func TestDebugLogIsMasked(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Set-Cookie", "session=cookie-value")
		_, _ = w.Write([]byte(`{"access_token":"answer-secret","echo":"` + r.Header.Get("Authorization")[7:] + `","n":7}`))
	})
	var out logtest.Buffer
	level := new(slog.LevelVar)
	level.Set(slog.LevelDebug)
	c, err := httpx.New(fast, &secret.Masker{}, slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	req := httpx.Request{Method: "POST", URL: s.URL + "/p?code=query-secret&page=3", Header: http.Header{
		"Authorization": {"Bearer header-secret"}, "Content-Type": {"application/x-www-form-urlencoded"}},
		Body: []byte("client_secret=form-secret&grant_type=refresh")}
	if _, err := c.Do(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	log := out.String()
	for _, leak := range []string{"header-secret", "answer-secret", "query-secret", "form-secret", "cookie-value"} {
		if strings.Contains(log, leak) {
			t.Errorf("%s is in the log:\n%s", leak, log)
		}
	}
	for _, kept := range []string{"page=3", "grant_type=refresh", "status=200", `\"n\":7`, "method=POST"} {
		if !strings.Contains(log, kept) {
			t.Errorf("%s is not in the log:\n%s", kept, log)
		}
	}
	level.Set(slog.LevelInfo)
	before := len(log)
	if _, err := c.Do(t.Context(), req); err != nil || len(out.String()) != before {
		t.Errorf("logged above debug, or %v", err)
	}
}

// Before is asked before a write is sent, and again when the connection takes its body: what it refuses then has not arrived whole.
func TestBeforeIsAskedAgainForTheBody(t *testing.T) {
	var bodies atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err == nil && string(body) == "whole" {
			bodies.Add(1)
		}
	}))
	defer server.Close()
	c, err := httpx.New(httpx.Config{}, &secret.Masker{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	refused := errors.New("not any more")
	for refusedAt, want := range map[int32]int32{1: 0, 2: 0, 3: 1} {
		bodies.Store(0)
		var asked atomic.Int32
		_, err := c.Do(t.Context(), httpx.Request{Method: http.MethodPut, URL: server.URL, Body: []byte("whole"), Before: func() error {
			if asked.Add(1) == refusedAt {
				return refused
			}
			return nil
		}})
		if bodies.Load() != want || errors.Is(err, refused) != (want == 0) {
			t.Errorf("refused at question %d: %d whole bodies arrived, %v", refusedAt, bodies.Load(), err)
		}
	}
}
