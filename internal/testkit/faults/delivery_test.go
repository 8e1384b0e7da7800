package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	webhookPath = "/webhook/custom/" + webhookKey
	// senders is how many webhooks are under way at once.
	senders = 8
)

// acceptance is the answer 202.
type acceptance struct {
	RecordIDs []int64 `json:"record_ids"`
}

// delivery sends events as a media server with patience does: what is not accepted is sent
// again until it is. An event whose answer got lost is told twice then, and that must do no harm.
type delivery struct {
	to      []*service // any of them
	books   *books
	most    time.Duration // for one answer; what is not answered by then is sent again
	refused atomic.Int64  // answers that said "not now": 503, and 500 when nothing could be stored

	ended sync.WaitGroup
	mu    sync.Mutex
	err   error // the first that sending again does not help
}

// deliver starts to send events by several connections at once, each to any of the services, evenly over a time; 0 is as
// fast as they are answered.
func deliver(to []*service, b *books, most, over time.Duration, events []event) *delivery {
	d := &delivery{to: to, books: b, most: most}
	queue := make(chan event, len(events))
	d.ended.Go(func() {
		defer close(queue)
		for _, e := range events {
			queue <- e
			<-time.After(over / time.Duration(len(events)))
		}
	})
	for range senders {
		d.ended.Go(func() {
			for e := range queue {
				if !d.failed() {
					d.send(e)
				}
			}
		})
	}
	return d
}

// wait returns when every event was accepted.
func (d *delivery) wait() {
	d.to[0].tb.Helper()
	d.ended.Wait()
	must(d.to[0].tb, d.err)
}

// send sends one event until it is accepted.
func (d *delivery) send(e event) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	d.books.told(e)
	body := e.body()
	for {
		once, end := context.WithTimeout(ctx, d.most)
		status, answer, err := d.to[rand.IntN(len(d.to))].request(once, http.MethodPost, webhookPath, body)
		end()
		switch {
		case err != nil: // killed, not up again yet, or stopped
		case status == http.StatusAccepted:
			d.accepted(e, answer)
			return
		case status == http.StatusServiceUnavailable, status == http.StatusInternalServerError:
			d.refused.Add(1)
		default:
			d.fail(fmt.Errorf("a webhook is answered %d: %s", status, answer))
			return
		}
		if !pause(ctx) {
			d.fail(fmt.Errorf("a webhook was not accepted within %v: the last answer is %d %s, the last error %w", patience, status, answer, err))
			return
		}
	}
}

func (d *delivery) accepted(e event, answer []byte) {
	var accepted acceptance
	if err := json.Unmarshal(answer, &accepted); err != nil || len(accepted.RecordIDs) != 1 {
		d.fail(fmt.Errorf("accepted, but not with one record: %s", answer))
		return
	}
	d.books.accept(accepted.RecordIDs[0], e)
}

// failed reports whether the rest need not be sent.
func (d *delivery) failed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err != nil
}

func (d *delivery) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err == nil {
		d.err = err
	}
}
