package app_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/app"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/logtest"
	"watchmark/internal/testkit/memnet"
)

// bubble is a world with a clock and a network of its own, where services are reached by name. It begins on Saturday,
// 2000-01-01 at 00:00 UTC.
type bubble struct {
	t       *testing.T
	network *memnet.Network
	dir     string
	logs    *logtest.Buffer
}

// inBubble runs test in a bubble.
func inBubble(t *testing.T, test func(t *testing.T, b *bubble)) {
	t.Helper()
	if underRace {
		t.Skip("plays hours and days, which takes minutes beside the race detector")
	}
	if dbtest.OnServer() {
		t.Skip("a connection that listens to a server never rests, so the clock of a bubble stands still")
	}
	dir := dbtest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		b := &bubble{t: t, network: memnet.New(t), dir: dir, logs: &logtest.Buffer{}}
		test(t, b)
	})
}

// site serves another service at http://HOST, until the test ends.
func (b *bubble) site(host string, handler http.Handler) {
	site, ended := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}, make(chan struct{})
	door := b.network.Listen(host)
	go func() { _ = site.Serve(door); close(ended) }()
	b.t.Cleanup(func() { _ = site.Close(); <-ended })
}

// start runs the service on the folder of the bubble, at http://watchmark and without a login; the catalog is
// http://catalog. It runs until stop, or the end of the test.
func (b *bubble) start(environ ...string) (service *app.App, stop func()) {
	b.t.Helper()
	service, err := app.New(b.t.Context(), app.Options{DataDir: b.dir, Logs: b.logs, Environ: append([]string{
		"WATCHMARK_CATALOG_API_URL=http://catalog", "WATCHMARK_CATALOG_WEB_URL=http://catalog", "WATCHMARK_SERVER_LISTEN=127.0.0.1:1",
		"WATCHMARK_AUTH_ENABLED=false", "WATCHMARK_AUTH_WEBHOOK_AUTH_ENABLED=false", "WATCHMARK_IDMAP_ENABLED=false"}, environ...)})
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	door := b.network.Listen("watchmark")
	go func() { ended <- service.Serve(ctx, door) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			b.t.Error(err)
		}
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	b.t.Cleanup(stop)
	return service, stop
}
