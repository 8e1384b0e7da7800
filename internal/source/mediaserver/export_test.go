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

// SetSilence has connections be taken for lost sooner.
func SetSilence(t *testing.T, d time.Duration) {
	before := silence
	silence = d
	t.Cleanup(func() { silence = before })
}

// SetMostRows has lists be taken for endless sooner.
func SetMostRows(t *testing.T, n int) {
	before := mostRows
	mostRows = n
	t.Cleanup(func() { mostRows = before })
}
