package catalog

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/turn"
)

// RestAfterLost is how long a list entry rests after a write whose answer was lost and that is not seen on the
// list: the server goes on without its client, for over 5 s when it fails (upstreams/catalog.md section 12), and
// the same write twice is told twice in public.
const RestAfterLost = 6 * time.Second

// Marker writes marks. It reads before it writes, so that a repeated request
// writes nothing and adds nothing to a public timeline; it reads again after a
// write whose answer was lost (upstreams/catalog.md sections 9 and 12), and leaves the entry alone for
// RestAfterLost when that does not show it. All writers of one process share one Marker: it lets no two writes on
// one account and subject overlap, since the server would lose one of them.
type Marker struct {
	turns turn.Keys[entryKey]

	mu    sync.Mutex
	rests map[entryKey]time.Time // until when an entry rests
}

type entryKey struct {
	account string
	subject SubjectID
}

// NewMarker is a Marker with nothing under way.
func NewMarker() *Marker {
	return &Marker{rests: map[entryKey]time.Time{}}
}

// turn runs do when it is the entry's turn and its rest is over. The error is do's, or that of ctx.
func (m *Marker) turn(ctx context.Context, e *ListEntry, do func() error) error {
	key := entryKey{e.AccountKey, e.Subject}
	end, err := m.turns.Take(ctx, key)
	if err == nil {
		defer end()
		err = m.rest(ctx, key)
	}
	if err != nil {
		return &Error{Op: opWait.With(e.Subject), Kind: ErrUnreachable, Err: err}
	}
	err = do()
	if rest := Rest(err); rest > 0 {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.rests[key] = time.Now().Add(rest)
	}
	return err
}

// rest waits until the entry has rested, and forgets the rests that are over.
func (m *Marker) rest(ctx context.Context, key entryKey) error {
	m.mu.Lock()
	now := time.Now()
	for other, until := range m.rests {
		if !until.After(now) {
			delete(m.rests, other)
		}
	}
	left := m.rests[key].Sub(now)
	m.mu.Unlock()
	if left <= 0 {
		return nil
	}
	select {
	case <-time.After(left):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// lost is err for a write that may have landed and is not seen on the list yet.
func lost(err error) error {
	var failure *Error
	if !errors.As(err, &failure) {
		return err
	}
	unsure := *failure
	unsure.lost, unsure.RetryAfter = true, max(failure.RetryAfter, RestAfterLost)
	return &unsure
}

// Rest is how long the entry of a write that ended with err is left alone: RestAfterLost, or 0.
func Rest(err error) time.Duration {
	var failure *Error
	if errors.As(err, &failure) && failure.lost {
		return RestAfterLost
	}
	return 0
}

// mayHaveLanded: work goes on at the server when the client is gone, and a 500
// may come after the data was stored. 429 means that nothing was done, and what found no
// connection was not sent.
func mayHaveLanded(err error) bool {
	var failure *Error
	return errors.As(err, &failure) && errors.Is(err, ErrUnreachable) && Asked(err) && failure.Status != http.StatusTooManyRequests && wasSent(err)
}

func wasSent(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return false
	}
	switch httpx.Classify(err) {
	case httpx.DNS, httpx.TLS, httpx.Proxy:
		return false
	}
	return true
}
