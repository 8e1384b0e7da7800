package record

import (
	"context"
	"time"
)

// Conditions on records that wait and are in work.
const (
	Waits           = waits
	Fresh           = fresh
	InWorkElsewhere = inWorkElsewhere
)

// Where is the condition that Watched reads a span by.
func (s Span) Where() (string, []any) { return s.where(context.Background()) }

// SetSearchTime sets after which time a search leaves older records to the next page, until the test ends.
func SetSearchTime(t interface{ Cleanup(func()) }, d time.Duration) {
	before := searchTime
	searchTime = d
	t.Cleanup(func() { searchTime = before })
}
