package secret

import (
	"crypto/rand"
	"sync"
	"time"
)

// Tickets keeps values under random names until somebody comes back with one: a sign-in that
// a browser was sent away for. Each is good once, and for a time; beyond a number of them the
// waiting ones make room. It may be used by several goroutines.
type Tickets[T any] struct {
	life time.Duration
	most int

	mu      sync.Mutex
	waiting map[string]ticket[T]
}

type ticket[T any] struct {
	value T
	until time.Time
}

// NewTickets are tickets good for life, most of them at once.
func NewTickets[T any](life time.Duration, most int) *Tickets[T] {
	return &Tickets[T]{life: life, most: most, waiting: map[string]ticket[T]{}}
}

// Give keeps a value and answers its name, which cannot be guessed.
func (t *Tickets[T]) Give(value T) (name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for other, old := range t.waiting {
		if time.Now().After(old.until) || len(t.waiting) >= t.most {
			delete(t.waiting, other)
		}
	}
	name = rand.Text()
	t.waiting[name] = ticket[T]{value, time.Now().Add(t.life)}
	return name
}

// Take is the value of a name; false when there is none, when it is too old, or when mine
// refuses it. What mine refuses stays for whom it is.
func (t *Tickets[T]) Take(name string, mine func(T) bool) (T, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var none T
	kept, found := t.waiting[name]
	if !found || !mine(kept.value) {
		return none, false
	}
	delete(t.waiting, name)
	if !time.Now().Before(kept.until) {
		return none, false
	}
	return kept.value, true
}
