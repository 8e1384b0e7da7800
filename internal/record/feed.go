package record

import "sync"

// Arrival is what a Feed tells, in place of an id, when requests came in, also those that became no record.
const Arrival int64 = 0

// Feed tells live pages which records changed, and that requests came in. A subscriber that does not keep up
// misses ids, never blocks a publisher.
type Feed struct {
	mu          sync.Mutex
	subscribers map[chan int64]struct{}
}

func newFeed() *Feed { return &Feed{subscribers: map[chan int64]struct{}{}} }

// feedBuffer is how many ids a slow subscriber may lag behind before it misses some.
const feedBuffer = 64

// Subscribe gives a channel of changed record ids; cancel ends it and closes the channel.
func (f *Feed) Subscribe() (ids <-chan int64, cancel func()) {
	ch := make(chan int64, feedBuffer)
	f.mu.Lock()
	f.subscribers[ch] = struct{}{}
	f.mu.Unlock()
	return ch, sync.OnceFunc(func() {
		f.mu.Lock()
		delete(f.subscribers, ch)
		close(ch)
		f.mu.Unlock()
	})
}

// Publish tells every subscriber that record id changed, or of an Arrival.
func (f *Feed) Publish(id int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for ch := range f.subscribers {
		select {
		case ch <- id:
		default:
		}
	}
}
