package auth

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"watchmark/internal/platform/listen"
	"watchmark/internal/platform/reason"
)

// LockedError is returned when there were too many attempts to sign in or set up:
// by this address, with this name, in this browser, or by everybody together.
type LockedError struct {
	// RetryAfter is when to come back, in whole seconds, at least one.
	RetryAfter time.Duration
}

// Error tells how long to wait.
func (e *LockedError) Error() string { return e.Reason().Text }

// Reason tells how long to wait.
func (e *LockedError) Reason() reason.Reason {
	if e.RetryAfter > 2*time.Minute {
		return lockedForMinutes.With(int((e.RetryAfter + time.Minute - 1) / time.Minute))
	}
	return lockedForSeconds.With(int(e.RetryAfter / time.Second))
}

// All doors together take a burst of attempts, then one each half second: people
// never notice it, and a crowd of guessing addresses cannot keep the processor busy.
const (
	burst     = 20
	knockPace = 500 * time.Millisecond
)

// maxTracked bounds how many addresses and names are remembered; the one quiet for longest goes first.
const maxTracked = 4096

// door counts failed attempts by address, by name, and by browser where that is known.
type door struct {
	everybody *rate.Limiter

	mu       sync.Mutex
	failures map[string]failure
}

type failure struct {
	count int
	last  time.Time
}

func newDoor() *door {
	return &door{everybody: rate.NewLimiter(rate.Every(knockPace), burst), failures: map[string]failure{}}
}

// addressKey is what is counted of an address: an IPv6 caller owns a whole /64.
func addressKey(addr netip.Addr) string {
	if network := listen.Subscriber(addr); network.IsValid() && !network.IsSingleIP() {
		return "address " + network.String()
	}
	return "address " + addr.Unmap().String()
}

// nameKey is what is counted of a name; unknown names count too, or a lock would tell which exist.
func nameKey(name string) string { return "name " + name[:min(len(name), 4*maxName)] }

// knock lets an attempt in, counted as failed until forgive is called: of many attempts
// at the same moment, no more than allowed get through. Otherwise it returns a *LockedError;
// a refused attempt does not prolong the lock. own is for keys that strangers cannot have: it does not wait for everybody.
func (d *door) knock(p Policy, own bool, keys ...string) error {
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	var wait time.Duration
	for _, key := range keys {
		if f := d.failures[key]; f.count >= max(1, p.LockoutAttempts) {
			wait = max(wait, f.last.Add(p.LockoutTime).Sub(now))
		}
	}
	if wait > 0 {
		return &LockedError{RetryAfter: (wait + time.Second - 1).Truncate(time.Second)}
	}
	if !own && !d.everybody.AllowN(now, 1) {
		return &LockedError{RetryAfter: time.Second}
	}
	for _, key := range keys {
		f := d.failures[key]
		if now.Sub(f.last) >= p.LockoutTime {
			f.count = 0
		}
		d.failures[key] = failure{count: f.count + 1, last: now}
	}
	d.makeRoom(now, p.LockoutTime)
	return nil
}

// locked is whom the door keeps out longest of those it keeps out, as addressKey, nameKey
// and KnownBrowser name them, and until when; empty when nobody.
func (d *door) locked(p Policy) (key string, until time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for k, f := range d.failures {
		end := f.last.Add(p.LockoutTime)
		if f.count < max(1, p.LockoutAttempts) || !end.After(time.Now()) || end.Before(until) {
			continue
		}
		if end.After(until) || k < key { // an attempt counts for address and name alike
			key, until = k, end
		}
	}
	return key, until
}

// withdraw takes one attempt of each key back.
func (d *door) withdraw(keys ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, key := range keys {
		f := d.failures[key]
		if f.count--; f.count <= 0 {
			delete(d.failures, key)
			continue
		}
		d.failures[key] = f
	}
}

// forgive forgets the failures of the keys.
func (d *door) forgive(keys ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, key := range keys {
		delete(d.failures, key)
	}
}

func (d *door) makeRoom(now time.Time, lockout time.Duration) {
	if len(d.failures) <= maxTracked {
		return
	}
	for key, f := range d.failures {
		if now.Sub(f.last) >= lockout {
			delete(d.failures, key)
		}
	}
	for len(d.failures) > maxTracked {
		var oldest string
		for key, f := range d.failures {
			if oldest == "" || f.last.Before(d.failures[oldest].last) {
				oldest = key
			}
		}
		delete(d.failures, oldest)
	}
}
