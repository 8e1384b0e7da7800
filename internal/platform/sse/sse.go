// Package sse writes server-sent events (WHATWG HTML, chapter 9.2) to one reader.
package sse

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	// Heartbeat is how often a quiet stream shall send Beat: it keeps proxies from ending
	// the connection, and finds readers that are gone.
	Heartbeat = 20 * time.Second
)

// Writer sends messages. Every method reports false when the reader is gone.
type Writer struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// Start sends the headers of a stream, and tells the reader to come back after two
// seconds when the connection breaks.
func Start(w http.ResponseWriter) (*Writer, bool) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would hold messages back
	s := &Writer{w: w, control: http.NewResponseController(w)}
	return s, s.write("retry: 2000\n\n")
}

// Send sends data, one line of JSON, as an event. An id that is not empty is what the
// reader repeats as Last-Event-ID when it comes back.
func (s *Writer) Send(event, id, data string) bool {
	var b strings.Builder
	if id != "" {
		fmt.Fprintf(&b, "id: %s\n", id)
	}
	fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", event, data)
	return s.write(b.String())
}

// Beat sends a comment.
func (s *Writer) Beat() bool { return s.write(": still here\n\n") }

func (s *Writer) write(message string) bool {
	if _, err := s.w.Write([]byte(message)); err != nil {
		return false
	}
	return s.control.Flush() == nil
}
