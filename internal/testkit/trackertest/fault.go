package trackertest

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// Fault is a breakdown on command.
type Fault struct {
	// Path is the beginning of the paths it meets; empty is every path.
	Path string `json:"path"`
	// Skip is how many requests pass before, Times how many it meets; 0 is all until the next SetFault.
	Skip  int `json:"skip"`
	Times int `json:"times"`
	// Status is what it answers; 0 cuts the connection. With After the request is done first,
	// and only its answer is lost.
	Status int  `json:"status"`
	After  bool `json:"after"`
	// RetryAfter goes into the header of that name, in seconds; 0 sends none.
	RetryAfter int `json:"retry_after"`
	// HTML answers a page, as the firewall before the tracker does.
	HTML bool `json:"html"`
	// Body is what it answers besides the status; empty is an error of its own.
	Body string `json:"body"`
	// Header is sent besides.
	Header map[string]string `json:"header"`
	// Hold makes the requests wait until it is closed, and then pass.
	Hold <-chan struct{} `json:"-"`
}

// SetFault puts f in force in place of the one before; nil ends it.
func (s *Server) SetFault(f *Fault) {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.current = f
	if f != nil {
		own := *f
		s.faults.current = &own
	}
}

func (s *Server) takeFault(w http.ResponseWriter, r *http.Request) {
	var f Fault
	if err := json.NewDecoder(r.Body).Decode(&f); err != nil {
		http.Error(w, "not a fault: "+err.Error(), http.StatusBadRequest)
		return
	}
	if f.Status != 0 || f.HTML || f.After || f.Path != "" {
		s.SetFault(&f)
	} else {
		s.SetFault(nil)
	}
	w.WriteHeader(http.StatusNoContent)
}

// faults is the fault in force.
type faults struct {
	mu      sync.Mutex
	current *Fault
}

// meets is the fault for a request, nil for none.
func (f *faults) meets(path string) *Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.current
	if now == nil || strings.HasPrefix(path, "/_sim/") || !strings.HasPrefix(path, now.Path) {
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
	fault := f.meets(r.URL.Path)
	switch {
	case fault == nil:
		next.ServeHTTP(w, r)
		return
	case fault.Hold != nil:
		select {
		case <-fault.Hold:
			next.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
		return
	case fault.After:
		next.ServeHTTP(discard{http.Header{}}, r)
	}
	if fault.Status == 0 {
		panic(http.ErrAbortHandler)
	}
	for name, value := range fault.Header {
		w.Header().Set(name, value)
	}
	if fault.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(fault.RetryAfter))
	}
	if fault.HTML {
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		w.WriteHeader(fault.Status)
		_, _ = w.Write([]byte("<!DOCTYPE html><title>Attention Required</title>error code: 1010")) // a client that went away needs none
		return
	}
	if fault.Body != "" {
		w.WriteHeader(fault.Status)
		_, _ = w.Write([]byte(fault.Body)) // a client that went away needs none
		return
	}
	fail(w, fault.Status, "simulated", "the simulator was told to answer this")
}

// discard takes an answer that nobody gets.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}
