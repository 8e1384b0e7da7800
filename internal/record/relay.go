package record

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"watchmark/internal/platform/db"
)

const (
	// relayed is the topic by which replicas tell each other what they published: who does, and the ids.
	relayed = "records"
	// relayPace is how long ids are gathered before they are sent, relayMost how many are told one by one.
	relayPace = 250 * time.Millisecond
	relayMost = 200
)

// Relay hands what is published here to the feeds of other replicas, and what they publish to the subscribers here, until ctx
// ends. Where there are none it has nothing to do. It never tells within a transaction: all that commit would wait for it.
func (f *Feed) Relay(ctx context.Context, d *db.DB) {
	if d.Alone() {
		return
	}
	f.mu.Lock()
	f.relaying = true
	f.mu.Unlock()
	me := rand.Text()[:8]
	var listening sync.WaitGroup
	defer listening.Wait()
	listening.Go(func() {
		d.Listen(ctx, func(topic, payload string) {
			switch sender, ids, _ := strings.Cut(payload, " "); {
			case topic == "":
				f.hear([]int64{Anything})
			case topic == relayed && sender != me:
				f.hear(parseIDs(ids))
			}
		})
	})
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.told:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(relayPace):
		}
		if d.Notify(ctx, relayed, me+" "+formatIDs(f.take())) != nil {
			f.mu.Lock()
			f.pend(Anything)
			f.mu.Unlock()
		}
	}
}

// hear tells the subscribers here what another replica published.
func (f *Feed) hear(ids []int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range ids {
		f.tell(id)
	}
}

// pend has other replicas told. The caller holds mu.
func (f *Feed) pend(id int64) {
	if id == Anything || len(f.pending) >= relayMost && !f.pending[id] {
		clear(f.pending)
		id = Anything
	}
	if !f.pending[Anything] {
		f.pending[id] = true
	}
	select {
	case f.told <- struct{}{}:
	default: // it looks anyway
	}
}

// take is what is pending.
func (f *Feed) take() []int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	ids := slices.Sorted(maps.Keys(f.pending))
	clear(f.pending)
	return ids
}

func formatIDs(ids []int64) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = strconv.FormatInt(id, 10)
	}
	return strings.Join(texts, ",")
}

// parseIDs are the ids that another replica, which may run another version, tells; Anything for what cannot be read.
func parseIDs(text string) []int64 {
	var ids []int64
	for part := range strings.SplitSeq(text, ",") {
		id, err := strconv.ParseInt(part, 10, 64)
		if err != nil || len(ids) == relayMost {
			return []int64{Anything}
		}
		ids = append(ids, id)
	}
	return ids
}
