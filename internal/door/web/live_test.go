package web_test

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"watchmark/internal/record"
	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/watch"
)

// listen opens the live connection and reads its first line.
func (g *rig) listen(t *testing.T) *bufio.Reader {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.server.URL+"/live", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := g.client(t, true).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	if kind := answer.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Fatalf("the live connection is %q", kind)
	}
	lines := bufio.NewReader(answer.Body)
	if line := nextLine(t, lines); !strings.HasPrefix(line, "retry:") {
		t.Fatalf("the live connection begins with %q", line)
	}
	return lines
}

// nextLine is the next line that is not empty.
func nextLine(t *testing.T, lines *bufio.Reader) string {
	t.Helper()
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
}

func TestLiveGathersChanges(t *testing.T) {
	g := newRig(t)
	lines := g.listen(t)
	for range 20 {
		g.records.Feed.Publish(7)
	}
	if line := nextLine(t, lines); line != "event: records" {
		t.Errorf("a change is told as %q", line)
	}
	if line := nextLine(t, lines); line != "data: [7]" {
		t.Errorf("twenty changes of one record are told as %q", line)
	}
	g.records.Feed.Publish(8)
	nextLine(t, lines)
	if line := nextLine(t, lines); line != "data: [8]" {
		t.Errorf("the next change is told as %q", line)
	}
	g.records.Feed.Publish(record.Arrival)
	if line := nextLine(t, lines); line != "event: requests" {
		t.Errorf("a request is told as %q", line)
	}
	nextLine(t, lines)
	g.records.Feed.Publish(9)
	g.records.Feed.Publish(record.Anything)
	if line := nextLine(t, lines); line != "event: anything" {
		t.Errorf("that something was missed is told as %q", line)
	}
}

// TestBrowserListensAgain: behind a proxy that answers itself while the service is away, a page hears of changes once it is back.
func TestBrowserListensAgain(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	target, err := url.Parse(g.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	var away atomic.Bool
	var once sync.Once
	refused := make(chan struct{})
	behind := httputil.NewSingleHostReverseProxy(target)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !away.Load() {
			behind.ServeHTTP(w, r)
			return
		}
		w.WriteHeader(http.StatusBadGateway)
		if r.URL.Path == "/live" {
			once.Do(func() { close(refused) })
		}
	}))
	t.Cleanup(func() {
		front.CloseClientConnections() // the page listens on
		front.Close()
	})
	browsertest.Run(t, tab, g.signIn(), chromedp.Navigate(front.URL+"/records"), browsertest.Until(browsertest.Listening))
	away.Store(true)
	front.CloseClientConnections()
	<-refused
	g.insert(t, episode(watch.Plex, "mira", "迷宫饭", "", 1, 12, ""), time.Now())
	away.Store(false)
	browsertest.Run(t, tab, browsertest.Until(browsertest.Listening), browsertest.Until(browsertest.Says("#records", "迷宫饭")))
}

func TestLiveEndsWithTheService(t *testing.T) {
	g := newRig(t)
	lines := g.listen(t)
	g.stop()
	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, lines)
		ended <- err
	}()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("the live connection broke: %v", err)
		}
	case <-time.After(2 * time.Minute):
		t.Error("the live connection goes on after the service stopped")
	}
}
