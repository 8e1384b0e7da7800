// Package bell wakes a loop that works by the clock before its time has come.
package bell

import (
	"context"
	"time"
)

// Bell is waited at by one loop and rung by anybody.
type Bell struct{ rung chan struct{} }

// New is a bell that was not rung.
func New() Bell { return Bell{make(chan struct{}, 1)} }

// Ring ends the wait that goes on, or else the next one at once. It does not wait, and
// ringing twice before the loop hears it is ringing once.
func (b Bell) Ring() {
	select {
	case b.rung <- struct{}{}:
	default:
	}
}

// Wait waits until the bell is rung, most has passed, or ctx ends, and reports whether it was rung.
func (b Bell) Wait(ctx context.Context, most time.Duration) (rung bool) {
	select {
	case <-ctx.Done():
	case <-time.After(most):
	case <-b.rung:
		return true
	}
	return false
}
