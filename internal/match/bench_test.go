package match_test

import (
	"slices"
	"testing"
	"time"

	"watchmark/internal/match"
	"watchmark/internal/match/idmap"
	"watchmark/internal/platform/reason"
	"watchmark/internal/testkit/catalogtest"
)

// BenchmarkMatch is one match after the other of the labelled cases against the archive,
// while the catalog is down; p50 and p99 are those of the single matches.
func BenchmarkMatch(b *testing.B) {
	benchmarkMatch(b, loadCases(b, casesFile), noTable)
}

// BenchmarkMatchTVDB is the same for cases in TheTVDB's numbering, with ID table and list of seasons; see TestMeasureTVDB.
func BenchmarkMatchTVDB(b *testing.B) {
	cases, table := tvdbCases(b)
	benchmarkMatch(b, cases, func() (*idmap.Table, reason.Reason) { return table, reason.Reason{} })
}

func benchmarkMatch(b *testing.B, cases []labelled, table func() (*idmap.Table, reason.Reason)) {
	server, base := catalogtest.Start(b, catalogtest.Config{})
	if err := server.SetFault(catalogtest.Fault{Mode: catalogtest.Refuse}); err != nil {
		b.Fatal(err)
	}
	offline := importDump(b, dumpFile)
	m := match.New(match.Config{
		Catalog: newClient(b, base), Archive: func() (match.Catalog, reason.Reason) { return offline, reason.Reason{} }, Dataset: table, Rules: newRules(b), Options: standard,
	})
	took := make([]time.Duration, 0, len(cases))
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		start := time.Now()
		m.Match(b.Context(), cases[n%len(cases)].event())
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50_µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99_µs")
}
