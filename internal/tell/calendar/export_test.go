package calendar

import (
	"context"
	"time"
)

// Folded and Escaped are what the lines of a file are made by.
var (
	Folded  = folded
	Escaped = escaped
)

// Round is one look at the clock, at a time of the test, and what the job would do then.
func (s *Service) Round(ctx context.Context, now time.Time) (due bool, err error) {
	waiting, err := s.waiting(ctx, now, 0)
	if err != nil {
		return false, err
	}
	return len(waiting) > 0, s.readAll(ctx, now, readEvery)
}
