package task

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// OutliveMost is how long Outlive waits for work whose caller is asked to end. It is shorter than what a
// stopping service gives to work in hand.
const OutliveMost = 4 * time.Second

// Outlive runs work that must not be cut, such as a request after which the old token is dead: its context ends
// after most, not with ctx. When ctx ends meanwhile Outlive waits for OutliveMost at the longest and then returns
// the error of ctx, while the work goes on by itself. Its panic becomes an error.
func Outlive(ctx context.Context, most time.Duration, work func(ctx context.Context) error) error {
	ended := make(chan error, 1)
	go func() {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
		defer cancel()
		var err error
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
			ended <- err
		}()
		err = work(bounded)
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	patience := time.NewTimer(OutliveMost)
	defer patience.Stop()
	select {
	case err := <-ended:
		return err
	case <-patience.C:
		return ctx.Err()
	}
}
