package httpx_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"watchmark/internal/platform/httpx"
)

// upgrade serves a websocket with talk until talk returns.
func upgrade(talk func(ctx context.Context, conn *websocket.Conn)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		talk(r.Context(), conn)
		_ = conn.CloseNow()
	}
}

func TestSocketTalks(t *testing.T) {
	door := httptest.NewUnstartedServer(upgrade(func(ctx context.Context, conn *websocket.Conn) {
		_, message, err := conn.Read(ctx)
		if err == nil {
			_ = conn.Write(ctx, websocket.MessageText, append([]byte("you said "), message...))
		}
		_, _, _ = conn.Read(ctx)
	}))
	door.EnableHTTP2 = true // which has no way to begin a websocket
	door.StartTLS()
	t.Cleanup(door.Close)
	cfg := fast
	sum := sha256.Sum256(door.Certificate().Raw)
	cfg.Pin = hex.EncodeToString(sum[:])
	s, status, err := newClient(t, cfg).Socket(t.Context(), httpx.SocketRequest{URL: door.URL, Silence: time.Minute})
	if err != nil || status != http.StatusSwitchingProtocols {
		t.Fatal(status, err)
	}
	defer s.Close()
	if err := s.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Read(); err != nil || string(got) != "you said hello" {
		t.Errorf("%q %v", got, err)
	}
}

func TestSocketThatIsNotOpened(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		status int
		fails  bool
	}{
		{"a page", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, 200, false},
		{"refused", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, 403, false},
		{"sent on", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://elsewhere.example/", http.StatusFound)
		}, 302, false},
		{"another key", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Connection", "Upgrade")
			w.Header().Set("Upgrade", "websocket")
			w.Header().Set("Sec-WebSocket-Accept", "nonsense")
			w.WriteHeader(http.StatusSwitchingProtocols)
		}, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, status, err := newClient(t, fast).Socket(t.Context(), httpx.SocketRequest{URL: serve(t, c.answer).URL, Silence: time.Minute})
			if s != nil || status != c.status || (err != nil) != c.fails {
				t.Errorf("%v %d %v", s, status, err)
			}
		})
	}
}

func TestSocketIsTakenForLost(t *testing.T) {
	quiet := upgrade(func(ctx context.Context, _ *websocket.Conn) { <-ctx.Done() })
	for _, c := range []struct {
		name    string
		serve   http.HandlerFunc
		silence time.Duration
		want    httpx.Kind
		cause   error
	}{
		{"when it is silent", quiet, 50 * time.Millisecond, httpx.Timeout, nil},
		{"when a message is too long", upgrade(func(ctx context.Context, conn *websocket.Conn) {
			_ = conn.Write(ctx, websocket.MessageText, make([]byte, 9<<20))
		}), time.Minute, httpx.Other, httpx.ErrTooLarge},
		{"when it ends", upgrade(func(context.Context, *websocket.Conn) {}), time.Minute, httpx.Connection, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			stop := make(chan struct{})
			door := serve(t, func(w http.ResponseWriter, r *http.Request) {
				ctx, cancel := context.WithCancel(r.Context())
				defer cancel()
				go func() { <-stop; cancel() }()
				c.serve(w, r.WithContext(ctx))
			})
			t.Cleanup(func() { close(stop) })
			s, _, err := newClient(t, fast).Socket(t.Context(), httpx.SocketRequest{URL: door.URL, Silence: c.silence})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			_, err = s.Read()
			var failure *httpx.Error
			if !errors.As(err, &failure) || failure.Kind != c.want || c.cause != nil && !errors.Is(err, c.cause) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestPingsKeepASocketAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		url := serveInBubble(t, upgrade(func(ctx context.Context, conn *websocket.Conn) {
			ctx = conn.CloseRead(ctx) // which answers pings
			time.Sleep(time.Hour)
			_ = conn.Write(ctx, websocket.MessageText, []byte("still here"))
			<-ctx.Done()
		}))
		s, _, err := newClient(t, fast).Socket(t.Context(), httpx.SocketRequest{URL: url, Ping: 30 * time.Second, Silence: 90 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if got, err := s.Read(); err != nil || string(got) != "still here" {
			t.Errorf("%q %v", got, err)
		}
	})
}
