package web

import (
	"encoding/json"
	"net/http"
	"time"

	"watchmark/internal/platform/sse"
	"watchmark/internal/record"
)

// livePath is where pages hear of changes.
const livePath = "/live"

const (
	// gatherTime is how long changes are collected before they are sent, so that a burst is one message.
	gatherTime = 250 * time.Millisecond
	// mostIDs bounds one message. When more changed, pages look for themselves.
	mostIDs = 200
)

// live answers server-sent events: "records" with the ids of records that changed, as a JSON array, and "requests"
// when webhooks received requests; "anything" when more changed than can be told. It ends when the reader leaves or the service stops.
func (s *site) live(w http.ResponseWriter, r *http.Request) {
	if _, signedIn := s.Viewer(r); !signedIn {
		http.Error(w, "Sign in first.", http.StatusUnauthorized)
		return
	}
	changes, cancel := s.Changes.Subscribe()
	defer cancel()
	stream, there := sse.Start(w)
	if !there {
		return
	}
	beat := time.NewTicker(sse.Heartbeat)
	defer beat.Stop()
	changed, arrived, anything := map[int64]bool{}, false, false
	var due <-chan time.Time
	for {
		select {
		case <-r.Context().Done():
			return
		case <-s.Stopping:
			return
		case id, open := <-changes:
			if !open {
				return
			}
			if due == nil {
				due = time.After(gatherTime)
			}
			switch {
			case id == record.Arrival:
				arrived = true
			case id == record.Anything || len(changed) == mostIDs && !changed[id]:
				anything = true
			default:
				changed[id] = true
			}
		case <-due:
			due = nil
			switch {
			case anything && !stream.Send("anything", "", ""),
				!anything && arrived && !stream.Send("requests", "", ""),
				!anything && len(changed) > 0 && !stream.Send("records", "", ids(changed)):
				return
			}
			clear(changed)
			arrived, anything = false, false
		case <-beat.C:
			if !stream.Beat() {
				return
			}
		}
	}
}

// ids is the ids of changed as a JSON array.
func ids(changed map[int64]bool) string {
	numbers := make([]int64, 0, len(changed))
	for id := range changed {
		numbers = append(numbers, id)
	}
	text, _ := json.Marshal(numbers) // numbers always encode
	return string(text)
}
