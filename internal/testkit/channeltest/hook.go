package channeltest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
)

// Request is one that a Hook has got.
type Request struct {
	Method string
	URL    *url.URL
	Header http.Header
	Body   []byte
}

// Reply is how a Hook answers.
type Reply struct {
	Status int // 0 = 200
	Header http.Header
	Body   string
	// Hang answers nothing until the test ends.
	Hang bool
}

// Hook is a receiver of webhooks. Its methods may be used by several goroutines.
type Hook struct {
	URL string

	done chan struct{}

	mu       sync.Mutex
	changed  *sync.Cond
	reply    Reply
	requests []Request
}

// NewHook runs until the test ends.
func NewHook(t TB) *Hook {
	t.Helper()
	h := &Hook{done: make(chan struct{})}
	h.changed = sync.NewCond(&h.mu)
	web := httptest.NewServer(h)
	t.Cleanup(func() { close(h.done); web.Close() })
	h.URL = web.URL
	return h
}

// Reply is given from now on.
func (h *Hook) Reply(r Reply) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reply = r
}

// Requests are all that came.
func (h *Hook) Requests() []Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Request(nil), h.requests...)
}

// Wait is Requests once there are n.
func (h *Hook) Wait(t TB, n int) []Request {
	t.Helper()
	if !await(h.changed, func() bool { return len(h.requests) >= n }) {
		t.Fatalf("%d requests came, not %d", len(h.Requests()), n)
	}
	return h.Requests()
}

// ServeHTTP keeps the request.
func (h *Hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return
	}
	h.mu.Lock()
	h.requests = append(h.requests, Request{r.Method, r.URL, r.Header.Clone(), body})
	reply := h.reply
	h.mu.Unlock()
	h.changed.Broadcast()
	if reply.Hang {
		<-h.done
		return
	}
	for name, values := range reply.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(max(reply.Status, http.StatusOK))
	_, _ = io.WriteString(w, reply.Body) // the sender sees when it is gone
}
