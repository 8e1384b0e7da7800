package catalogtest

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// FaultMode is a way to break down.
type FaultMode string

// The modes; the strings are those of POST /_sim/fault.
const (
	None   FaultMode = "none"   // works
	Refuse FaultMode = "refuse" // resets the connection at once; nothing is done
	Hang   FaultMode = "hang"   // does nothing until the client goes or the fault is lifted, then answers
	Cut    FaultMode = "cut"    // does what was asked, then cuts the connection before the answer
	Slow   FaultMode = "slow"   // does what was asked, then lets the answer drip
	Status FaultMode = "status" // answers Fault.Status with a JSON error; nothing is done
	HTML   FaultMode = "html"   // answers 200 with a challenge page; nothing is done
	Late   FaultMode = "late"   // does what was asked after Fault.Delay, whether or not the client still waits, then answers
	Say    FaultMode = "say"    // answers Fault.Status with Fault.Body as it is; nothing is done
)

// FaultPaths says which requests a fault meets.
type FaultPaths string

// The groups; the strings are those of POST /_sim/fault. OAuth belongs to All alone.
const (
	All    FaultPaths = "all"
	Writes FaultPaths = "writes" // collection and episode writes
	Reads  FaultPaths = "reads"  // every other API call, search included
	Images FaultPaths = "images" // covers
)

// Fault is a breakdown on command.
type Fault struct {
	Mode FaultMode
	// Status is what the modes Status and Say answer, 400 to 599 or, for Say, 200 to 599; 0 is 503.
	Status int
	// Body and ContentType are what mode Say answers; without a type it is that of JSON.
	Body, ContentType string
	// RetryAfter goes into mode Status's answer in whole seconds; 0 sends no header, as the real 429.
	RetryAfter time.Duration
	// For ends the fault by itself; 0 lasts until the next SetFault or Reset.
	For time.Duration
	// Paths is All when empty.
	Paths FaultPaths
	// Pattern narrows Paths to one method and path pattern, as Requests names it; empty is all of them.
	Pattern string
	// Times is how many requests the fault meets, the first ones; 0 is any number.
	Times int
	// Delay is how long the modes Slow and Late take; 0 is 2 s.
	Delay time.Duration
}

// SetFault puts f in force in place of the one before, whose hanging requests
// are answered. An unknown mode or group, a status that is no error and a
// negative time are errors, and nothing changes.
func (s *Server) SetFault(f Fault) error {
	switch f.Mode {
	case None, Refuse, Hang, Cut, Slow, Status, HTML, Late, Say:
	default:
		return fmt.Errorf("mode: %q is not none, refuse, hang, cut, slow, status, html, late or say", f.Mode)
	}
	switch f.Paths {
	case "":
		f.Paths = All
	case All, Writes, Reads, Images:
	default:
		return fmt.Errorf("paths: %q is not writes, reads, images or all", f.Paths)
	}
	if f.Status == 0 {
		f.Status = http.StatusServiceUnavailable
	}
	least := 400
	if f.Mode == Say {
		least = 200
	}
	if f.Status < least || f.Status > 599 {
		return fmt.Errorf("status: %d is not between %d and 599", f.Status, least)
	}
	if f.RetryAfter < 0 || f.For < 0 || f.Delay < 0 || f.Times < 0 {
		return fmt.Errorf("a time of the fault is negative")
	}
	if f.Delay == 0 {
		f.Delay = 2 * time.Second
	}
	s.faults.set(f)
	return nil
}

// faults is the fault in force.
type faults struct {
	mu      sync.Mutex
	current *faultInForce // nil is none
}

type faultInForce struct {
	Fault
	lifted chan struct{} // closed when the fault ends
	timer  *time.Timer   // nil without an end
	met    int           // requests
}

func (f *faults) set(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lift()
	if fault.Mode == None {
		return
	}
	force := &faultInForce{Fault: fault, lifted: make(chan struct{})}
	f.current = force
	if fault.For > 0 {
		force.timer = time.AfterFunc(fault.For, func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			if f.current == force {
				f.lift()
			}
		})
	}
}

func (f *faults) clear() { f.set(Fault{Mode: None}) }

// lift ends the fault in force. The caller holds mu.
func (f *faults) lift() {
	if f.current == nil {
		return
	}
	if f.current.timer != nil {
		f.current.timer.Stop()
	}
	close(f.current.lifted)
	f.current = nil
}

// meets is the fault that meets a request of this pattern; nil is none.
func (f *faults) meets(pattern string) *faultInForce {
	f.mu.Lock()
	defer f.mu.Unlock()
	force := f.current
	if force == nil || force.Paths != All && force.Paths != pathsOf(pattern) || force.Pattern != "" && force.Pattern != pattern {
		return nil
	}
	if force.met++; force.Times > 0 && force.met > force.Times {
		return nil
	}
	return force
}

// serve lets next answer, or the fault that meets this pattern.
func (f *faults) serve(w http.ResponseWriter, r *http.Request, pattern string, next http.Handler) {
	force := f.meets(pattern)
	if force == nil {
		next.ServeHTTP(w, r)
		return
	}
	switch force.Mode {
	case Refuse:
		drop(w)
	case Hang:
		select {
		case <-force.lifted:
			next.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	case Cut:
		hold(next, r)
		drop(w)
	case Slow:
		force.drip(w, r, hold(next, r))
	case Status:
		if force.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(force.RetryAfter.Round(time.Second)/time.Second)))
		}
		fail(w, r, force.Status, "the simulator was told to answer this")
	case HTML:
		answerText(w, http.StatusOK, "text/html; charset=UTF-8", challengePage)
	case Late:
		timer := time.NewTimer(force.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-force.lifted:
		}
		next.ServeHTTP(w, r)
	case Say:
		answerText(w, force.Status, cmp.Or(force.ContentType, "application/json"), force.Body)
	}
}

const challengePage = `<!DOCTYPE html><html lang="en"><head><title>Just a moment...</title></head>` +
	`<body><p>Checking your browser before accessing the site.</p></body></html>`

// pathsOf is the group of a path pattern.
func pathsOf(pattern string) FaultPaths {
	method, path, _ := strings.Cut(pattern, " ")
	switch {
	case strings.HasPrefix(path, "/oauth/"):
		return All
	case strings.HasPrefix(path, "/pic/"), strings.HasPrefix(path, "/r/"):
		return Images
	case method != http.MethodGet && strings.HasPrefix(path, "/v0/users/"):
		return Writes
	}
	return Reads
}

// drop ends the connection without an answer, by a reset where that is possible.
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

// drip waits half the delay, then sends the held answer in pieces over the rest.
func (force *faultInForce) drip(w http.ResponseWriter, r *http.Request, held *heldAnswer) {
	const pieces = 5
	if !force.wait(r, force.Delay/2) {
		return
	}
	for name, values := range held.header {
		w.Header()[name] = values
	}
	w.WriteHeader(held.status)
	body := held.body.Bytes()
	for i := range pieces {
		if i > 0 && !force.wait(r, force.Delay/2/(pieces-1)) {
			return
		}
		if _, err := w.Write(body[len(body)*i/pieces : len(body)*(i+1)/pieces]); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush() // a writer that cannot flush is only less slow
	}
}

// wait reports false when the client has gone; a lifted fault ends the waiting.
func (force *faultInForce) wait(r *http.Request, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-force.lifted:
		return true
	case <-r.Context().Done():
		return false
	}
}
