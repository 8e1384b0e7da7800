package auth

import (
	"net/netip"
	"sync"
	"time"
)

// Whoever is not signed in may ask so many things at once by address, and then so many a second: a page with its
// files takes some ten, and nobody can keep the processor busy with pages that are drawn for strangers.
const (
	strangerBurst = 150
	strangerPace  = 10
)

// startBurst sign-ins by a provider may be begun at once, and then one each startWait.
const (
	startBurst = 10
	startWait  = 5 * time.Second
)

// Allowances bound what the callers of an address may ask: so much at once, and then so much a second.
type Allowances struct {
	burst, pace float64

	mu   sync.Mutex
	seen map[string]allowance
}

// NewAllowances allow an address burst requests at once, and then perSecond.
func NewAllowances(burst, perSecond float64) *Allowances {
	return &Allowances{burst: burst, pace: perSecond, seen: map[string]allowance{}}
}

// allowance is what an address may still ask at a time.
type allowance struct {
	left float64
	at   time.Time
}

// Allow reports whether addr may ask one thing more.
func (s *Allowances) Allow(addr netip.Addr, now time.Time) bool {
	return s.allow(addressKey(addr), now)
}

func (s *Allowances) allow(key string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, known := s.seen[key]
	if !known {
		s.forget(now)
		a = allowance{left: s.burst}
	} else {
		a.left = min(s.burst, a.left+now.Sub(a.at).Seconds()*s.pace)
	}
	a.at = now
	asked := a.left >= 1
	if asked {
		a.left--
	}
	s.seen[key] = a
	return asked
}

// forget makes room for one address more: those go that have all of their allowance back, else any.
func (s *Allowances) forget(now time.Time) {
	if len(s.seen) < maxTracked {
		return
	}
	var anyone string
	for key, a := range s.seen {
		anyone = key
		if now.Sub(a.at).Seconds()*s.pace >= s.burst-a.left {
			delete(s.seen, key)
		}
	}
	if len(s.seen) >= maxTracked {
		delete(s.seen, anyone)
	}
}
