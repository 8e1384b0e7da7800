package payload_test

import (
	"runtime"
	"strings"
	"testing"

	"watchmark/internal/source/payload"
)

// TestOfALongTextLittleStays cuts long texts, as a hostile server sends them, and keeps what is left.
func TestOfALongTextLittleStays(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var kept []string
	for range 100 {
		kept = append(kept, payload.Clean(strings.Repeat("长", 350_000), 500), payload.Clean(strings.Repeat(" ", 1_000_000)+"x", 500))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 10<<20 {
		t.Errorf("%d bytes stay in memory of %d short texts", grown, len(kept))
	}
	if len(kept[0]) > 500 || kept[1] != "x" {
		t.Errorf("they are %q and %q", kept[0], kept[1])
	}
}
