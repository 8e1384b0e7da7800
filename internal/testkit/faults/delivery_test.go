package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
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
	service *service
	books   *books
	refused atomic.Int64 // answers that said "not now": 503, and 500 when nothing could be stored

	ended sync.WaitGroup
	mu    sync.Mutex
	err   error // the first that sending again does not help
}

// deliver starts to send events by several connections at once.
func deliver(s *service, b *books, events []event) *delivery {
	d := &delivery{service: s, books: b}
	queue := make(chan event, len(events))
	for _, e := range events {
		queue <- e
	}
	close(queue)
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
	d.service.tb.Helper()
	d.ended.Wait()
	must(d.service.tb, d.err)
}

// send sends one event until it is accepted.
func (d *delivery) send(e event) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	d.books.told(e)
	body := e.body()
	for {
		status, answer, err := d.service.request(ctx, http.MethodPost, webhookPath, body)
		switch {
		case err != nil: // killed, or not up again yet
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
