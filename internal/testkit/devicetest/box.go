// Package devicetest is a TV box for tests: the HTTP API of FongMi TV on loopback, with
// what players of several generations answer and what goes wrong (upstreams/device.md,
// section 12).
package devicetest

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// TB is what a test has.
type TB interface {
	Helper()
	Cleanup(fn func())
	Fatalf(format string, args ...any)
}

// Media is what /media answers; the zero value stands for {}.
type Media map[string]any

// Unknown is the running time that players tell of live streams, in ms.
const Unknown = -9223372036854775807

// Fault is what goes wrong with every answer.
type Fault string

// The faults; None is a box that works.
const (
	None     Fault = ""
	Broken   Fault = "broken"   // status 500, plain text
	Slow     Fault = "slow"     // the body never ends, a byte at a time
	Huge     Fault = "huge"     // 10 MiB of JSON, which is a device and a playback
	Redirect Fault = "redirect" // to Box.Target
	Page     Fault = "page"     // HTML with status 200
	List     Fault = "list"     // JSON, but no object
	Cut      Fault = "cut"      // the connection closes
	Old      Fault = "old"      // /device works, and there is no /media
)

// Box is a box with one player. Its methods may be used by several goroutines.
type Box struct {
	// Host and Port are where it listens.
	Host string
	Port uint16

	mu      sync.Mutex
	device  Media
	media   Media
	fault   Fault
	target  string
	asked   map[string]int
	strange []string
	server  *http.Server
	closing chan struct{}
}

// Start is a box at address, host:port on loopback, until the test ends; port 0 takes a
// free one.
func Start(t TB, address, uuid, name string) *Box {
	t.Helper()
	listener, err := net.Listen("tcp", address) //nolint:noctx // it is for tests
	if err != nil {
		t.Fatalf("start a box: %v", err)
	}
	at := listener.Addr().(*net.TCPAddr)
	b := &Box{Host: at.IP.String(), Port: uint16(at.Port), asked: map[string]int{}, closing: make(chan struct{})}
	b.device = Media{"uuid": uuid, "name": name, "ip": "http://169.254.169.254:80", "type": 0}
	b.server = &http.Server{Handler: b, ReadHeaderTimeout: time.Minute}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = b.server.Serve(listener) // it ends when the test does
	}()
	t.Cleanup(sync.OnceFunc(func() {
		b.SwitchOff()
		<-ended
	}))
	return b
}

// Address is host:port.
func (b *Box) Address() string { return net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port))) }

// SwitchOff closes its port for good.
func (b *Box) SwitchOff() {
	b.mu.Lock()
	select {
	case <-b.closing:
	default:
		close(b.closing)
	}
	b.mu.Unlock()
	_ = b.server.Close() // what is under way is cut
}

// Play has /media answer m; nil is no player.
func (b *Box) Play(m Media) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.media = m
}

// Name has /device answer fields.
func (b *Box) Name(fields Media) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.device = fields
}

// Fail has every answer go wrong; target is the address for Redirect.
func (b *Box) Fail(f Fault, target string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fault, b.target = f, target
}

// Asked is how often a path was asked for.
func (b *Box) Asked(path string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.asked[path]
}

// Strange are the requests that a player must never get: all but GET /device and GET
// /media, without query or body, and those that keep their connection.
func (b *Box) Strange() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.strange
}

// Episode is a playback at a position, in seconds.
func Episode(title, label string, position, duration float64) Media {
	return Media{"title": title, "artist": label, "url": "http://127.0.0.1:9978/proxy?do=m3u8", "state": 3, "speed": 1.0,
		"position": int64(position * 1000), "duration": int64(duration * 1000), "artwork": ""}
}

// With is a copy of m with a field changed; a nil value takes it out.
func (m Media) With(field string, value any) Media {
	changed := Media{}
	for name, old := range m {
		changed[name] = old
	}
	if changed[field] = value; value == nil {
		delete(changed, field)
	}
	return changed
}

// ServeHTTP answers as the player.
func (b *Box) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	b.asked[r.URL.Path]++
	if r.Method != http.MethodGet || r.URL.Path != "/device" && r.URL.Path != "/media" || r.URL.RawQuery != "" || r.ContentLength > 0 || !r.Close {
		b.strange = append(b.strange, r.Method+" "+r.URL.String())
	}
	fault, target, body := b.fault, b.target, Media{}
	if r.URL.Path == "/device" {
		body = b.device
	} else if b.media != nil {
		body = b.media
	}
	text, err := json.Marshal(body)
	b.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain")
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case fault == Broken:
		http.Error(w, "SERVER INTERNAL ERROR: Exception", http.StatusInternalServerError)
	case fault == Slow:
		b.drip(w, r)
	case fault == Huge:
		_, _ = fmt.Fprintf(w, `{"uuid":"x","name":"x","title":"%s"}`, strings.Repeat("a", 10<<20)) // the other side hangs up
	case fault == Old && r.URL.Path == "/media":
		http.NotFound(w, r)
	case fault == Redirect:
		http.Redirect(w, r, target, http.StatusFound)
	case fault == Page:
		_, _ = w.Write([]byte("<html></html>"))
	case fault == List:
		_, _ = w.Write([]byte(`[{"uuid":"x"}]`))
	case fault == Cut:
		panic(http.ErrAbortHandler)
	default:
		_, _ = w.Write(text)
	}
}

// drip sends a byte now and then until somebody hangs up.
func (b *Box) drip(w http.ResponseWriter, r *http.Request) {
	for {
		_, _ = w.Write([]byte(" "))
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-b.closing:
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}
