package db

import (
	"context"
	"fmt"
	"sync"
)

// longestNotice is how many bytes a topic and its payload may have: a server takes just below 8,000.
const longestNotice = 7900

// listeners are those that Listen calls.
type listeners struct {
	mu  sync.Mutex
	all map[*func(topic, payload string)]bool
}

func (l *listeners) tell(topic, payload string) {
	l.mu.Lock()
	var all []*func(topic, payload string)
	for one := range l.all {
		all = append(all, one)
	}
	l.mu.Unlock()
	for _, one := range all {
		(*one)(topic, payload)
	}
}

// Listen calls heard with what Notify tells, in this process and in all others on the database, until ctx ends. An empty topic
// says that something may have been missed, and comes every five seconds where nothing can be heard: the caller looks for itself then.
// heard must return soon: others are told after it.
func (d *DB) Listen(ctx context.Context, heard func(topic, payload string)) {
	d.heard.mu.Lock()
	if d.heard.all == nil {
		d.heard.all = map[*func(topic, payload string)]bool{}
	}
	d.heard.all[&heard] = true
	d.heard.mu.Unlock()
	d.hear(&d.heard)
	<-ctx.Done()
	d.heard.mu.Lock()
	delete(d.heard.all, &heard)
	d.heard.mu.Unlock()
}

// Notify tells all that listen, this process too. A topic has no spaces, and with its payload at most 7,900 bytes. Call it after
// the write that it tells of, never within, and with no lock held that a listener takes: in a folder the listeners are called at once.
func (d *DB) Notify(ctx context.Context, topic, payload string) error {
	if len(topic)+len(payload) > longestNotice {
		return fmt.Errorf("tell of %s: %d bytes are too long", topic, len(payload))
	}
	return d.notify(ctx, topic, payload, &d.heard)
}
