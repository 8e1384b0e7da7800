// Package simulated lets servers that stand in for those of others listen: for tests, and
// for `watchmark simulate`.
package simulated

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Listen serves handler on addr, such as 127.0.0.1:0 for a free port, until stop is called, which
// cuts what is under way; ctx bounds the opening alone. url has no slash at the end.
func Listen(ctx context.Context, handler http.Handler, addr string) (url string, stop func(), err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return "", nil, fmt.Errorf("listen for a simulated server: %w", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan struct{})
	go func() {
		_ = server.Serve(listener) // ends with Close
		close(ended)
	}()
	return "http://" + listener.Addr().String(), func() {
		_ = server.Close() // there is nothing to save
		<-ended
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
