package fetch_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"watchmark/internal/catalog/archive/fetch"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/secret"
)

const (
	size    = 1 << 20
	half    = size / 2
	version = "2026-01-06.210306Z"
	name    = "dump-" + version + ".zip"
)

// content is what a dump is made of here: size bytes that repeat nowhere.
func content(seed byte) []byte {
	b := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(b)
	return b
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// site is a server on loopback that notes what it is asked.
type site struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string // address, Range and If-Range of each request
}

func serve(t *testing.T, answer http.HandlerFunc) *site {
	t.Helper()
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, strings.TrimSpace(r.URL.Path+" "+r.Header.Get("Range")+" "+r.Header.Get("If-Range")))
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// requests are what the site was asked since the last call.
func (s *site) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.asked
	s.asked = nil
	return all
}

// file serves b with byte ranges; etag may be empty.
func file(b []byte, etag string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if etag != "" {
			w.Header().Set("ETag", etag)
		}
		w.Header().Set("Content-Type", "application/zip")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
	}
}

// inTurn answers one request after the other; the last answer stays.
func inTurn(answers ...http.HandlerFunc) http.HandlerFunc {
	var mu sync.Mutex
	next := 0
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		answer := answers[next]
		next = min(next+1, len(answers)-1)
		mu.Unlock()
		answer(w, r)
	}
}

// upTo lets n bytes of an answer through, then does what comes after.
func upTo(n int, answer http.HandlerFunc, then http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		answer(&cutter{w, n, func() {
			_ = http.NewResponseController(w).Flush()
			then(w, r)
		}}, r)
	}
}

// cut breaks the connection.
func cut(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// stall sends nothing more until the client is gone.
func stall(_ http.ResponseWriter, r *http.Request) {
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}

type cutter struct {
	http.ResponseWriter
	left int
	then func()
}

func (c *cutter) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b[:min(len(b), c.left)])
	c.left -= n
	if err == nil && c.left == 0 {
		c.then()
	}
	return n, err
}

// status answers with a status alone.
func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func config(t *testing.T) fetch.Config {
	t.Helper()
	return configWith(t, httpx.Config{PerMinute: 60000, Burst: 1000, Timeout: 20 * time.Second})
}

func configWith(t *testing.T, out httpx.Config) fetch.Config {
	t.Helper()
	c, err := httpx.New(out, &secret.Masker{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return fetch.Config{HTTP: c, Dir: filepath.Join(t.TempDir(), "archive"), MaxSize: 2 * size, Log: slog.New(slog.DiscardHandler)}
}

func release(address string, b []byte) fetch.Release {
	return fetch.Release{Version: version, URL: address, Digest: digest(b), Size: int64(len(b))}
}

// silent is nobody who watches a download.
func silent(int64, int64) {}

// got downloads r and fails the test unless that gives want.
func got(t *testing.T, cfg fetch.Config, r fetch.Release, want []byte) {
	t.Helper()
	path, err := fetch.Download(t.Context(), cfg, r, silent)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(b, want) {
		t.Fatalf("%d bytes that are not the dump, or %v", len(b), err)
	}
}

// begin downloads r until at least n bytes are there and then gives up.
func begin(t *testing.T, cfg fetch.Config, r fetch.Release, n int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := fetch.Download(ctx, cfg, r, func(done, _ int64) {
		if done >= n {
			cancel()
		}
	})
	if err == nil || ctx.Err() == nil || !strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Fatalf("given up with %v", err)
	}
	if info, err := os.Stat(part(cfg)); err != nil || info.Size() < n {
		t.Fatalf("the part is %v, %v", info, err)
	}
}

func part(cfg fetch.Config) string { return filepath.Join(cfg.Dir, "download-"+version+".part") }

func same(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// has fails the test unless err says all of words.
func has(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q is not in: %v", word, err)
		}
	}
}
