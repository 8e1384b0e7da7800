package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/engine/queue"
	"watchmark/internal/platform/reason"
	"watchmark/internal/record"
	"watchmark/internal/record/webhooklog"
	"watchmark/internal/source"
	"watchmark/internal/watch"
)

// stats are the counts the dashboard shows.
type stats struct {
	record.Stats
	Queue   map[queue.Status]int `json:"queue" doc:"Marks that wait (or waited) for Bangumi, by state."`
	Sources []sourceSeen         `json:"sources" doc:"Every push source and what last came from it."`
}

// sourceSeen is what last came from a source.
type sourceSeen struct {
	Source   watch.Source `json:"source"`
	LastSeen *time.Time   `json:"last_seen" doc:"When its last request arrived; null for never, or longer ago than the webhook log keeps."`
	Status   int          `json:"last_status" doc:"The HTTP status that was answered; 0 for never."`
	Reason   string       `json:"last_reason" doc:"What became of the request."`
	// Value is Reason with its code.
	Value reason.Reason `json:"last_reason_value,omitzero"`
}

// Stats are the counts that the dashboard shows.
type Stats struct {
	Records  *record.Store
	Queue    *queue.Queue
	Webhooks *webhooklog.Log
}

func (st Stats) register(s *server) {
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/stats", OperationID: "get-stats", Tags: []string{"Records"},
		Summary:     "Count records",
		Description: "Records by state since midnight, over the last seven days and in all; what waits for Bangumi; what last came from each source. For a person it counts their own, without sources.",
	}, func(ctx context.Context, _ *none) (*JSON[stats], error) { return answer(st.count(ctx)) })
}

func (st Stats) count(ctx context.Context) (stats, error) {
	records, err := st.Records.Stats(ctx, time.Now())
	if err != nil {
		return stats{}, err
	}
	queue, err := st.Queue.Counts(ctx)
	if err != nil {
		return stats{}, err
	}
	if _, is := personOf(ctx); is { // the sources are everybody's
		return stats{Stats: records, Queue: queue, Sources: []sourceSeen{}}, nil
	}
	last, err := st.Webhooks.LastSeen(ctx)
	if err != nil {
		return stats{}, err
	}
	all := stats{Stats: records, Queue: queue, Sources: make([]sourceSeen, len(source.Push))}
	for i, src := range source.Push {
		seen := sourceSeen{Source: src}
		if entry, known := last[src]; known {
			seen.LastSeen, seen.Status, seen.Reason, seen.Value = &entry.At, entry.Status, entry.Reason.Text, entry.Reason
		}
		all.Sources[i] = seen
	}
	return all, nil
}
