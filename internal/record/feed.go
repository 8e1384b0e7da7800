package record

import "sync"

// What a Feed tells in place of an id.
const (
	// Arrival says that requests came in, also those that became no record.
	Arrival int64 = 0
	// Anything says that changes were missed: subscribers look for themselves.
	Anything int64 = -1
)

// Feed tells live pages which records changed, and that requests came in, at whatever replica (relay.go). A subscriber that does
// not keep up misses ids, never blocks a publisher.
type Feed struct {
	mu          sync.Mutex
	subscribers map[chan int64]struct{}

	relaying bool
	pending  map[int64]bool // what other replicas are to be told; Anything where that is too much
	told     chan struct{}  // has room for one: something is pending
}

func newFeed() *Feed {
	return &Feed{subscribers: map[chan int64]struct{}{}, pending: map[int64]bool{}, told: make(chan struct{}, 1)}
}

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

// Publish tells every subscriber, at every replica, that record id changed, or of an Arrival.
func (f *Feed) Publish(id int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tell(id)
	if f.relaying {
		f.pend(id)
	}
}

// tell tells the subscribers of this replica. The caller holds mu.
func (f *Feed) tell(id int64) {
	for ch := range f.subscribers {
		select {
		case ch <- id:
		default:
		}
	}
}
