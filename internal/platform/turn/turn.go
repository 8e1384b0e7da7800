// Package turn lets one at a time work on what a key names.
package turn

import (
	"context"
	"sync"
)

// Keys are locks by key; only those that somebody holds or waits for take memory. The zero Keys is ready to use.
type Keys[K comparable] struct {
	mu    sync.Mutex
	locks map[K]*lock
}

// lock is held by whoever has put something into held; users counts those who hold it or wait for it.
type lock struct {
	held  chan struct{}
	users int
}

// Take waits for the turn of key and gives the function that ends it. The error is that of ctx.
func (k *Keys[K]) Take(ctx context.Context, key K) (end func(), err error) {
	k.mu.Lock()
	l := k.locks[key]
	if l == nil {
		l = &lock{held: make(chan struct{}, 1)}
		if k.locks == nil {
			k.locks = map[K]*lock{}
		}
		k.locks[key] = l
	}
	l.users++
	k.mu.Unlock()
	leave := func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(k.locks, key)
		}
	}
	select {
	case l.held <- struct{}{}:
		return func() { <-l.held; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
