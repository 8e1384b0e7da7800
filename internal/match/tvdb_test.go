package match_test

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"watchmark/internal/match"
	"watchmark/internal/match/idmap"
	"watchmark/internal/platform/reason"
	"watchmark/internal/testkit/catalogtest"
)

// tvdbCases are labelled cases in TheTVDB's numbering, and the ID table with the list that resolves it. WATCHMARK_MATCHBENCH is the
// folder with both (cases-tvdb-dev.jsonl and anime-list.xml.gz), which are not part of the project: the list has no licence.
func tvdbCases(t testing.TB) ([]labelled, *idmap.Table) {
	t.Helper()
	folder := os.Getenv("WATCHMARK_MATCHBENCH")
	if folder == "" {
		t.Skip("WATCHMARK_MATCHBENCH does not name a folder with cases-tvdb-dev.jsonl and anime-list.xml.gz")
	}
	table, err := idmap.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	table.Lists = append(table.Lists, listOf(t, filepath.Join(folder, "anime-list.xml.gz")))
	return loadCases(t, filepath.Join(folder, "cases-tvdb-dev.jsonl")), table
}

// TestMeasureTVDB asks for the labelled cases in TheTVDB's numbering, and for those of TestMeasure, with the list of seasons.
func TestMeasureTVDB(t *testing.T) {
	cases, table := tvdbCases(t)
	server, base := catalogtest.Start(t, catalogtest.Config{})
	if err := server.LoadDump(dumpFile); err != nil {
		t.Fatal(err)
	}
	offline := importDump(t, dumpFile)
	m := match.New(match.Config{
		Catalog: newClient(t, base), Archive: func() (match.Catalog, reason.Reason) { return offline, reason.Reason{} },
		Dataset: func() (*idmap.Table, reason.Reason) { return table, reason.Reason{} },
		Rules:   newRules(t), Options: func() match.Options { return match.Options{Thresholds: asItComes} },
	})
	t.Run("numbering of TheTVDB", func(t *testing.T) { measure(t, m, cases, floor{0.999, 0.985, 0}) })
	t.Run("numbering of the catalog", func(t *testing.T) { measure(t, m, loadCases(t, casesFile), floor{0.999, 0.985, 0.007}) })
}

// listOf reads a list of Anime-Lists that is packed by gzip.
func listOf(t testing.TB, path string) *idmap.Seasons {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var document io.Reader
	if document, err = gzip.NewReader(file); err != nil {
		t.Fatal(err)
	}
	list, err := idmap.ReadAnimeLists(document)
	if err != nil {
		t.Fatal(err)
	}
	return list
}
