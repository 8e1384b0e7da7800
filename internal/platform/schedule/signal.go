// Package schedule wakes a loop that works by the clock before its time has come.
package schedule

import (
	"context"
	"time"
)

// Signal wakes one loop that waits for a time; anybody may raise it.
type Signal struct{ raised chan struct{} }

// NewSignal returns a signal that is not raised.
func NewSignal() Signal { return Signal{make(chan struct{}, 1)} }

// Raise ends the current Wait, or the next one at once. It does not block; raising a signal that is raised changes
// nothing.
func (s Signal) Raise() {
	select {
	case s.raised <- struct{}{}:
	default:
	}
}

// Raised is for a select that waits for the signal beside others: receiving from it takes the signal back.
func (s Signal) Raised() <-chan struct{} { return s.raised }

// Wait returns when the signal is raised, most has passed, or ctx ends. It reports whether the signal was raised.
func (s Signal) Wait(ctx context.Context, most time.Duration) (raised bool) {
	select {
	case <-ctx.Done():
	case <-time.After(most):
	case <-s.raised:
		return true
	}
	return false
}
