package mediaservertest

import (
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Fault is a breakdown on command.
type Fault struct {
	// Path is a part of the paths with queries that it meets; empty is every one.
	Path string `json:"path"`
	// Skip is how many requests pass before, Times how many it meets; 0 is all until the next SetFault.
	Skip  int `json:"skip"`
	Times int `json:"times"`
	// Status is what it answers; 0 cuts the connection, unless Delay or Hold lets it pass. With After the request is done
	// first, and only its answer is lost.
	Status int    `json:"status"`
	Body   string `json:"body"`
	After  bool   `json:"after"`
	// RetryAfter goes into the header of that name, in seconds; 0 sends none.
	RetryAfter int `json:"retry_after"`
	// HTML answers a page, as a proxy does.
	HTML bool `json:"html"`
	// DelayMS has requests wait, and then pass.
	DelayMS int `json:"delay_ms"`
	// Hold makes the requests wait until it is closed, and then pass.
	Hold <-chan struct{} `json:"-"`
	// Off ends the fault before.
	Off bool `json:"off"`
}

// SetFault puts f in force in place of the one before; nil ends it.
func (s *Server) SetFault(f *Fault) {
	s.faults.set(f)
}

// Fail answers status to everything after some more requests; 0 ends it.
func (s *Server) Fail(status, after int) {
	s.SetFault(&Fault{Skip: after, Status: status, Off: status == 0})
}

// Hold lets requests for lists of items wait until release is called.
func (s *Server) Hold() (release func()) {
	held := make(chan struct{})
	path := "Items"
	if s.cfg.Kind == Plex {
		path = "/all"
	}
	s.SetFault(&Fault{Path: path, Hold: held})
	return sync.OnceFunc(func() {
		s.SetFault(nil)
		close(held)
	})
}

// Down has the server answer nothing, and cuts its live connections, until it is up again.
func (s *Server) Down(down bool) {
	s.SetFault(&Fault{Off: !down})
	if down {
		s.Cut()
	}
}

// Starting has the server answer 503, as one that starts or moves its data, until it is ready.
func (s *Server) Starting(starting bool) {
	body := "The server is starting."
	plex, ok := s.front.(*plexServer)
	if ok {
		body = `<?xml version="1.0" encoding="UTF-8"?><Response code="503" title="Maintenance" status="Plex Media Server is currently running startup maintenance tasks."/>`
	}
	s.SetFault(&Fault{Off: !starting, Status: http.StatusServiceUnavailable, RetryAfter: 5, Body: body})
	if starting && ok {
		plex.restarted()
	} else if starting {
		s.Cut()
	}
}

// faults is the fault in force.
type faults struct {
	mu      sync.Mutex
	current *Fault
}

func (f *faults) set(to *Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.current = nil
	if to != nil && !to.Off {
		own := *to
		f.current = &own
	}
}

// meets is the fault for a request, nil for none.
func (f *faults) meets(r *http.Request) *Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.current
	if now == nil || !strings.Contains(r.URL.RequestURI(), now.Path) {
		return nil
	}
	if now.Skip > 0 {
		now.Skip--
		return nil
	}
	if now.Times > 0 {
		if now.Times--; now.Times == 0 {
			f.current = nil
		}
	}
	met := *now
	return &met
}

func (f *faults) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	fault := f.meets(r)
	switch {
	case fault == nil:
		next.ServeHTTP(w, r)
		return
	case fault.Hold != nil || fault.DelayMS > 0:
		var late <-chan time.Time
		if fault.Hold == nil {
			timer := time.NewTimer(time.Duration(fault.DelayMS) * time.Millisecond)
			defer timer.Stop()
			late = timer.C
		}
		select {
		case <-fault.Hold:
		case <-late:
		case <-r.Context().Done():
			return
		}
		next.ServeHTTP(w, r)
		return
	case fault.After:
		next.ServeHTTP(discard{http.Header{}}, r)
	}
	if fault.Status == 0 {
		drop(w)
		return
	}
	if fault.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(fault.RetryAfter))
	}
	body := fault.Body
	if fault.HTML {
		w.Header().Set("Content-Type", "text/html")
		body = "<!DOCTYPE html><title>Gateway</title>"
	}
	w.WriteHeader(fault.Status)
	_, _ = w.Write([]byte(body)) // a client that went away needs none
}

// drop ends the connection without an answer.
func drop(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // HTTP/2 cannot be hijacked; this resets the stream
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // without it the close is orderly, which is a fault too
	}
	_ = conn.Close()
}

// discard takes an answer that nobody gets.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}
