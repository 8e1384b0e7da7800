package metrics_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/platform/metrics"
)

func TestTextThatPrometheusReads(t *testing.T) {
	var events metrics.Counter
	var wait sync.WaitGroup
	for range 10 {
		wait.Go(func() { events.Add(1, "plex", "success") })
	}
	wait.Wait()
	events.Add(0.5, "emby", "a \"b\"\\c\nd")
	var took metrics.Histogram
	for _, seconds := range []float64{0.0005, 0.001, 0.3, 90} {
		took.Observe(seconds)
	}
	var text strings.Builder
	err := metrics.Write(&text, []metrics.Family{
		{Name: "events_total", Help: "Events.\nAll of them.", Kind: metrics.IsCounter, Labels: []string{"source", "outcome"}, Samples: events.Samples()},
		{Name: "up", Help: "Whether it is.", Kind: metrics.IsGauge, Samples: []metrics.Sample{{Value: 1}}},
		{Name: "none_total", Help: "Nothing yet.", Kind: metrics.IsCounter, Labels: []string{"a"}},
		{Name: "took_seconds", Help: "Time.", Histogram: &took},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `# HELP events_total Events.\nAll of them.
# TYPE events_total counter
events_total{source="emby",outcome="a \"b\"\\c\nd"} 0.5
events_total{source="plex",outcome="success"} 10
# HELP up Whether it is.
# TYPE up gauge
up 1
# HELP none_total Nothing yet.
# TYPE none_total counter
# HELP took_seconds Time.
# TYPE took_seconds histogram
took_seconds_bucket{le="0.001"} 2
took_seconds_bucket{le="0.0025"} 2
took_seconds_bucket{le="0.005"} 2
took_seconds_bucket{le="0.01"} 2
took_seconds_bucket{le="0.025"} 2
took_seconds_bucket{le="0.05"} 2
took_seconds_bucket{le="0.1"} 2
took_seconds_bucket{le="0.25"} 2
took_seconds_bucket{le="0.5"} 3
took_seconds_bucket{le="1"} 3
took_seconds_bucket{le="2.5"} 3
took_seconds_bucket{le="5"} 3
took_seconds_bucket{le="10"} 3
took_seconds_bucket{le="30"} 3
took_seconds_bucket{le="60"} 3
took_seconds_bucket{le="+Inf"} 4
took_seconds_sum 90.3015
took_seconds_count 4
`
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Error(diff)
	}
}
