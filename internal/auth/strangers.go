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
	strangerPace  = 10 // a second
)

// strangers bounds what callers may ask who are nobody known. The zero value is ready.
type strangers struct {
	mu   sync.Mutex
	seen map[string]allowance
}

// allowance is what an address may still ask at a time; it grows by strangerPace.
type allowance struct {
	left float64
	at   time.Time
}

// allow reports whether addr may ask one thing more.
func (s *strangers) allow(addr netip.Addr, now time.Time) bool {
	key := addressKey(addr)
	s.mu.Lock()
	defer s.mu.Unlock()
	a, known := s.seen[key]
	if !known {
		s.forget(now)
		a = allowance{left: strangerBurst}
	} else {
		a.left = min(strangerBurst, a.left+now.Sub(a.at).Seconds()*strangerPace)
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
func (s *strangers) forget(now time.Time) {
	if s.seen == nil {
		s.seen = map[string]allowance{}
	}
	if len(s.seen) < maxTracked {
		return
	}
	var anyone string
	for key, a := range s.seen {
		anyone = key
		if now.Sub(a.at).Seconds()*strangerPace >= strangerBurst-a.left {
			delete(s.seen, key)
		}
	}
	if len(s.seen) >= maxTracked {
		delete(s.seen, anyone)
	}
}
