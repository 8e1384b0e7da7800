package httpx

import (
	"fmt"
	"log/slog"
	"testing"

	"watchmark/internal/platform/secret"
)

func TestBucketsOfHostsDoNotGrowForEver(t *testing.T) {
	c, err := New(Config{PerMinute: 1, Burst: 2}, &secret.Masker{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	busy := c.limiter("busy.example", c.now.Load())
	busy.Allow()
	for n := range 10 * limitersMost {
		c.limiter(fmt.Sprintf("host%d.example", n), c.now.Load())
	}
	if len(c.limiters) > limitersMost || c.limiter("busy.example", c.now.Load()) != busy {
		t.Errorf("%d buckets", len(c.limiters))
	}
}
