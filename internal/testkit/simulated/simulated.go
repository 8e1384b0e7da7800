// Package simulated lets servers that stand in for those of others listen: for tests, for
// `watchmark demo` and for `watchmark simulate`.
package simulated

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Listen serves handler on addr, such as 127.0.0.1:0 for a free port, until stop is called. That cuts
// every connection and returns when all requests in hand have ended. ctx bounds the opening alone. url
// has no slash at the end.
func Listen(ctx context.Context, handler http.Handler, addr string) (url string, stop func(), err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return "", nil, fmt.Errorf("listen for a simulated server: %w", err)
	}
	var open sync.WaitGroup // the server, and its connections with the requests in hand
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				open.Add(1)
			case http.StateClosed, http.StateHijacked:
				open.Done()
			}
		},
	}
	open.Go(func() { _ = server.Serve(listener) }) // ends with Close
	return "http://" + listener.Addr().String(), func() {
		_ = server.Close() // there is nothing to save
		open.Wait()
	}, nil
}

// TB is the part of testing.TB that Start needs; naming it here keeps package testing
// out of the binary.
type TB interface {
	Helper()
	Context() context.Context
	Cleanup(func())
	Fatal(args ...any)
}

// Start serves handler for one test on a free port of the loopback.
func Start(tb TB, handler http.Handler) (url string) {
	tb.Helper()
	url, stop, err := Listen(tb.Context(), handler, "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(stop)
	return url
}
