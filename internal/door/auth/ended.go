package auth

import (
	"context"
	"database/sql"
	"sync"
	"sync/atomic"
)

// endedTopic is what all replicas hear when somebody may have lost what let them in.
const endedTopic = "sign_ins"

// broadcast wakes everybody who waits for it. The zero value is ready for use.
type broadcast struct {
	mu   sync.Mutex
	next chan struct{}
}

// wait is closed by the next send.
func (b *broadcast) wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == nil {
		b.next = make(chan struct{})
	}
	return b.next
}

func (b *broadcast) send() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next != nil {
		close(b.next)
		b.next = nil
	}
}

// served is a request that Guard let in.
type served struct {
	ends atomic.Bool // it may have ended what let itself in, such as a change of the password, and still goes on to its answer
}

type servedKey struct{}

// Ended has every other request, at every replica, asked at once whether its caller is still known. It is for after what ends a session or a
// key, or changes a role: after the commit, where a caller of the Store has its own transaction.
func (s *Store) Ended(ctx context.Context) {
	if r, is := ctx.Value(servedKey{}).(*served); is {
		r.ends.Store(true)
	}
	s.AskAgain()
	if !s.db.Alone() {
		_ = s.db.Notify(context.WithoutCancel(ctx), endedTopic, "") // whom it does not reach asks by itself soon
	}
}

// AskAgain has every request at this replica asked at once whether its caller is still known.
func (s *Store) AskAgain() { s.ended.send() }

// end runs fn, which may end sessions or keys, in a transaction.
func (s *Store) end(ctx context.Context, fn func(ctx context.Context, tx *sql.Tx) error) error {
	err := s.db.Write(ctx, fn)
	if err == nil {
		s.Ended(ctx)
	}
	return err
}

// Run hears of what other replicas end, until ctx ends. Where there are none it has nothing to do.
func (s *Store) Run(ctx context.Context) {
	if s.db.Alone() {
		return
	}
	s.db.Listen(ctx, func(topic, _ string) {
		if topic == endedTopic || topic == "" {
			s.AskAgain()
		}
	})
}
