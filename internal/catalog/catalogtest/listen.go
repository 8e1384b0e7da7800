package catalogtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Running is a catalog that listens.
type Running struct {
	// URL is the base address without a slash at the end, for the API and the website alike.
	URL string

	server *http.Server
	served chan error
	open   sync.WaitGroup // connections, and with them the requests in hand
}

// Listen serves s on addr, such as 127.0.0.1:0 for a free port, until Close; ctx bounds
// the opening alone.
func (s *Server) Listen(ctx context.Context, addr string) (*Running, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen for the simulated catalog: %w", err)
	}
	running := &Running{URL: "http://" + listener.Addr().String(), served: make(chan error, 1)}
	running.server = &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				running.open.Add(1)
			case http.StateClosed, http.StateHijacked:
				running.open.Done()
			}
		},
	}
	go func() { running.served <- running.server.Serve(listener) }()
	return running, nil
}

// Close cuts every connection and returns when all requests in hand have ended.
// It may be called once.
func (r *Running) Close() error {
	err := r.server.Close()
	if serveErr := <-r.served; !errors.Is(serveErr, http.ErrServerClosed) {
		err = errors.Join(err, serveErr)
	}
	r.open.Wait()
	if err != nil {
		return fmt.Errorf("close the simulated catalog: %w", err)
	}
	return nil
}

// TB is the part of testing.TB that Start needs; naming it here keeps package
// testing out of the binary.
type TB interface {
	Helper()
	Context() context.Context
	Cleanup(func())
	Fatal(args ...any)
}

// Start makes a catalog for one test, served on a free port of the loopback
// until the test ends.
func Start(tb TB, cfg Config) (s *Server, baseURL string) {
	tb.Helper()
	s = New(cfg)
	running, err := s.Listen(tb.Context(), "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := running.Close(); err != nil {
			tb.Fatal(err)
		}
	})
	return s, running.URL
}
