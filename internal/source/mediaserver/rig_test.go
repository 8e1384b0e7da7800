package mediaserver_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/secret"
	"watchmark/internal/source/mediaserver"
)

const (
	userID   = "5d2f0a00000000000000000000000001"
	token    = "0123456789abcdef0123456789abcdef"
	serverID = "9b1d0000000000000000000000000001"
)

func newDialer(t testing.TB) *mediaserver.Dialer {
	t.Helper()
	return &mediaserver.Dialer{
		HTTP:   func() httpx.Config { return httpx.Config{Timeout: 10 * time.Second} },
		Masker: &secret.Masker{}, Installation: "test", Version: "1.4.0", Log: slog.New(slog.DiscardHandler),
	}
}

// door is a server whose answers a test gives for paths, by method where one is named ("POST /path"). What has no answer is 404.
type door struct {
	*httptest.Server
	mu       sync.Mutex
	answers  map[string]http.HandlerFunc
	requests []string // method and address
	headers  []http.Header
}

func newDoor(t testing.TB, answers map[string]http.HandlerFunc) *door {
	t.Helper()
	d := &door{answers: answers}
	d.Server = httptest.NewServer(d)
	t.Cleanup(d.Close)
	return d
}

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	d.requests = append(d.requests, r.Method+" "+r.URL.String())
	d.headers = append(d.headers, r.Header.Clone())
	answer := d.answers[r.Method+" "+r.URL.EscapedPath()]
	if answer == nil {
		answer = d.answers[r.URL.EscapedPath()]
	}
	d.mu.Unlock()
	if answer == nil {
		http.NotFound(w, r)
		return
	}
	answer(w, r)
}

// asked are the requests so far whose address has text in it.
func (d *door) asked(text string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []string
	for _, r := range d.requests {
		if strings.Contains(r, text) {
			all = append(all, r)
		}
	}
	return all
}

// last are the headers of the last request.
func (d *door) last() http.Header {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.headers[len(d.headers)-1]
}

// says answers JSON.
func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(text))
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// object is a JSON object.
type object = map[string]any

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

const (
	jellyfinPublic = `{"Id":"` + serverID + `","ServerName":"attic","Version":"10.10.7","ProductName":"Jellyfin Server"}`
	embyPublic     = `{"Id":"` + serverID + `","ServerName":"attic","Version":"4.9.1.0","RemoteAddresses":[]}`
	signedIn       = `{"User":{"Name":"mira","Id":"` + userID + `"},"AccessToken":"` + token + `","ServerId":"` + serverID + `"}`
)

// open is a Client of kind at d.
func (d *door) open(t testing.TB, kind mediaserver.Kind) mediaserver.Client {
	t.Helper()
	c, err := newDialer(t).Open(mediaserver.Server{Kind: kind, URL: d.URL, ID: serverID, Token: token, UserID: userID, Device: "wm-1"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
