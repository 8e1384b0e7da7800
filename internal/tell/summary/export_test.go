package summary

import (
	"context"
	"time"
)

// RunDue runs a job by its schedule, as it was seen before.
func (s *Service) RunDue(ctx context.Context, slot time.Time, seen Job) (Result, error) {
	return s.run(ctx, seen.Name, slot, &seen)
}

// Round is one look at the clock, at a time of the test.
func (a *Airing) Round(ctx context.Context, now time.Time) error {
	due, err := a.due(ctx, now)
	if due {
		err = a.tellAll(ctx, now)
	}
	return err
}
