package httpx_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/secret"
)

func TestEveryAttemptIsTold(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/down" {
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	gone := httptest.NewServer(nil)
	gone.Close()
	defer server.Close()
	var statuses []int
	cfg := httpx.Config{PerMinute: 6000, Burst: 100, Retries: 1, Direct: true}
	cfg.Ended = func(host string, status int, took time.Duration) {
		if !strings.HasPrefix(host, "127.0.0.1:") || took <= 0 {
			t.Errorf("told of %s after %v", host, took)
		}
		statuses = append(statuses, status)
	}
	c, err := httpx.New(cfg, &secret.Masker{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{server.URL, server.URL + "/down", gone.URL} {
		_, _ = c.Do(t.Context(), httpx.Request{URL: address}) // how it ends is told
	}
	if s, err := c.Stream(t.Context(), httpx.Request{URL: server.URL}); err == nil {
		_ = s.Body.Close()
	}
	if _, err := c.Stream(t.Context(), httpx.Request{URL: gone.URL}); err == nil {
		t.Error("a server that is gone answers")
	}
	if diff := cmp.Diff([]int{200, 502, 502, 0, 0, 200, 0}, statuses); diff != "" {
		t.Error(diff)
	}
}
