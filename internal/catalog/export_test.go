package catalog

import "time"

// SetClock gives tests the time of a Cached. Call it before the first look-up.
func (c *Cached) SetClock(now func() time.Time) { c.now = now }
