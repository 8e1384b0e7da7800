package mediaserver

import (
	"testing"
	"time"
)

// SetLongest has lists be given up sooner.
func SetLongest(t *testing.T, d time.Duration) {
	before := longest
	longest = d
	t.Cleanup(func() { longest = before })
}
