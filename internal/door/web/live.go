package web

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"time"

	"watchmark/internal/door/access"
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
// when webhooks received requests; "anything" when more changed than can be told. A person is told of their own records alone, and not
// that anything else happened. It ends when the reader leaves or the service stops.
func (s *site) live(w http.ResponseWriter, r *http.Request) {
	who, signedIn := s.Viewer(r)
	if !signedIn {
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
	news := heard{changed: map[int64]bool{}, told: time.Now()}
	if s.rightTo("GET "+livePath, who) != access.All {
		news.own = s.records
	}
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
			news.hear(r.Context(), id)
		case <-due:
			due = nil
			news.keepOwn(r.Context())
			switch {
			case news.anything && !stream.Send("anything", "", ""),
				!news.anything && news.arrived && !stream.Send("requests", "", ""),
				!news.anything && len(news.changed) > 0 && !stream.Send("records", "", ids(news.changed)):
				return
			}
			clear(news.changed)
			news.arrived, news.anything = false, false
		case <-beat.C:
			if !stream.Beat() {
				return
			}
		}
	}
}

// heard is what a reader is not told of yet.
type heard struct {
	changed           map[int64]bool
	arrived, anything bool
	// missed is set when changes were missed that may have been the reader's.
	missed bool
	// own finds what is the reader's; nil for whom everything is.
	own  ownRecords
	told time.Time // when missed changes were looked for last
}

// ownRecords tells of the records in the scope of a context; *record.Store does.
type ownRecords interface {
	Statuses(ctx context.Context, ids []int64) (map[int64]record.Status, error)
	ChangedSince(ctx context.Context, since time.Time) (bool, error)
}

// hear takes in one message of the feed.
func (h *heard) hear(ctx context.Context, id int64) {
	if len(h.changed) == mostIDs && !h.changed[id] {
		h.keepOwn(ctx)
	}
	switch {
	case id == record.Arrival:
		h.arrived = h.own == nil
	case id == record.Anything && h.own != nil:
		h.missed = true
	case id == record.Anything || len(h.changed) == mostIDs && !h.changed[id]:
		h.anything = true
	default:
		h.changed[id] = true
	}
}

// clockSlack is how much the clocks of replicas may differ.
const clockSlack = time.Minute

// keepOwn leaves what is the reader's. What cannot be asked is not told: the page is as it was until the next change.
func (h *heard) keepOwn(ctx context.Context) {
	if h.own == nil {
		return
	}
	if h.missed {
		now := time.Now()
		if changed, err := h.own.ChangedSince(ctx, h.told.Add(-clockSlack)); err == nil {
			h.anything, h.missed, h.told = h.anything || changed, false, now
		}
	}
	if len(h.changed) == 0 {
		return
	}
	own, err := h.own.Statuses(ctx, slices.Collect(maps.Keys(h.changed)))
	if err != nil {
		own = nil
	}
	maps.DeleteFunc(h.changed, func(id int64, _ bool) bool {
		_, is := own[id]
		return !is
	})
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
