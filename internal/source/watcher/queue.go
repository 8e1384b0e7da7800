package watcher

import (
	"sync"

	"watchmark/internal/platform/schedule"
)

// queue holds the ids that were pushed, each once.
type queue struct {
	mu    sync.Mutex
	ids   []string
	known map[string]bool
	more  schedule.Signal
}

// queueMost bounds the queue: what comes beyond that is found by a catch-up.
const queueMost = 20_000

func newQueue() *queue { return &queue{known: map[string]bool{}, more: schedule.NewSignal()} }

// add notes ids.
func (q *queue) add(ids []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, id := range ids {
		if id != "" && !q.known[id] && len(q.ids) < queueMost {
			q.known[id] = true
			q.ids = append(q.ids, id)
		}
	}
	if len(q.ids) > 0 {
		q.more.Raise()
	}
}

// take empties the queue.
func (q *queue) take() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	ids := q.ids
	q.ids, q.known = nil, map[string]bool{}
	return ids
}
