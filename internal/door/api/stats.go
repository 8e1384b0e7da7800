package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/engine/queue"
	"watchmark/internal/record"
	"watchmark/internal/source"
	"watchmark/internal/watch"
)

// stats are the counts the dashboard shows.
type stats struct {
	record.Stats
	Queue   map[queue.Status]int `json:"queue" doc:"Marks that wait (or waited) for the catalog, by state."`
	Sources []sourceSeen         `json:"sources" doc:"Every push source and what last came from it."`
}

// sourceSeen is what last came from a source.
type sourceSeen struct {
	Source   watch.Source `json:"source"`
	LastSeen *time.Time   `json:"last_seen" doc:"When its last request arrived; null for never, or longer ago than the webhook log keeps."`
	Status   int          `json:"last_status" doc:"The HTTP status that was answered; 0 for never."`
	Reason   string       `json:"last_reason" doc:"What became of the request."`
}

func (s *server) registerStats() {
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/stats", OperationID: "get-stats", Tags: []string{"Records"},
		Summary:     "Count records",
		Description: "Records by state since midnight, over the last seven days and in all; what waits for the catalog; what last came from each source.",
	}, s.stats)
}

func (s *server) stats(ctx context.Context, _ *none) (*JSON[stats], error) {
	records, err := s.Records.Stats(ctx, time.Now())
	if err != nil {
		return nil, err
	}
	queue, err := s.Queue.Counts(ctx)
	if err != nil {
		return nil, err
	}
	last, err := s.Webhooks.LastSeen(ctx)
	if err != nil {
		return nil, err
	}
	all := stats{Stats: records, Queue: queue, Sources: make([]sourceSeen, len(source.Push))}
	for i, src := range source.Push {
		seen := sourceSeen{Source: src}
		if entry, known := last[src]; known {
			seen.LastSeen, seen.Status, seen.Reason = &entry.At, entry.Status, entry.Reason
		}
		all.Sources[i] = seen
	}
	return answer(all, nil)
}
