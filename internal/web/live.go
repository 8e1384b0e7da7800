package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

const (
	// gather is how long changes gather before a page hears of them: a burst is one message.
	gather = 250 * time.Millisecond
	// heartbeat keeps proxies from ending a quiet connection, and finds readers that are gone.
	heartbeat = 20 * time.Second
	// sendTime is how long a reader may take to receive one message.
	sendTime = 10 * time.Second
	// toldMost bounds one message; a page reloads its list whatever the number.
	toldMost = 200
)

// live answers server-sent events named "records": the ids of records that changed,
// as a JSON array. It ends when the reader leaves or the service stops.
func (s *site) live(w http.ResponseWriter, r *http.Request) {
	if _, signedIn := s.Viewer(r); !signedIn {
		http.Error(w, "Sign in first.", http.StatusUnauthorized)
		return
	}
	control := http.NewResponseController(w)
	send := func(message string) bool {
		// A wrapped writer may know no deadlines; the write itself then tells.
		_ = control.SetWriteDeadline(time.Now().Add(sendTime))
		if _, err := fmt.Fprint(w, message); err != nil {
			return false
		}
		return control.Flush() == nil
	}
	changes, cancel := s.Feed.Subscribe()
	defer cancel()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would hold messages back
	if !send("retry: 2000\n\n") {
		return
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	changed := map[int64]bool{}
	var due <-chan time.Time
	for {
		select {
		case <-r.Context().Done():
			return
		case <-s.Shutdown:
			return
		case id, open := <-changes:
			if !open {
				return
			}
			if due == nil {
				due = time.After(gather)
			}
			if len(changed) < toldMost {
				changed[id] = true
			}
		case <-due:
			due = nil
			if !send(message(changed)) {
				return
			}
			clear(changed)
		case <-beat.C:
			if !send(": still here\n\n") {
				return
			}
		}
	}
}

func message(changed map[int64]bool) string {
	ids := make([]int64, 0, len(changed))
	for id := range changed {
		ids = append(ids, id)
	}
	text, _ := json.Marshal(ids) // numbers always encode
	return "event: records\ndata: " + string(text) + "\n\n"
}
