package match_test

import (
	"log/slog"
	"os"
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/archive"
	"watchmark/internal/match"
	"watchmark/internal/match/idmap"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/changes"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/settings"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/dbtest"
)

// newCatalog is an empty catalog on the loopback and the real client of it, without a rate limit.
func newCatalog(t *testing.T) (*catalogtest.Server, *catalog.Client) {
	t.Helper()
	server, base := catalogtest.Start(t, catalogtest.Config{})
	return server, newClient(t, base)
}

// newClient is a client of the catalog at base that nothing has failed for yet.
func newClient(t testing.TB, base string) *catalog.Client {
	t.Helper()
	http, err := httpx.New(httpx.Config{UserAgent: "watchmark-test", PerMinute: 60_000_000, Burst: 1_000_000}, &secret.Masker{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	client, err := catalog.New(catalog.Config{APIURL: base, UserAgent: "watchmark-test"}, http, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// newRules is an empty store of mappings in a database of its own.
func newRules(t testing.TB) *mapping.Store {
	t.Helper()
	d := dbtest.Open(t)
	return mapping.NewStore(d, changes.New(d))
}

// noArchive is a service whose offline archive is switched off.
func noArchive() (match.Catalog, reason.Reason) {
	return nil, reason.Text("the offline archive is off")
}

// importDump is an archive of the dump at path.
func importDump(t testing.TB, path string) *archive.Archive {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }() // opened for reading: nothing can be lost
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	a := archive.New(t.TempDir(), slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := a.Import(t.Context(), archive.Dump{Data: file, Size: info.Size()}, func(archive.Progress) {}); err != nil {
		t.Fatal(err)
	}
	return a
}

// noTable is a service whose id table is switched off.
func noTable() (*idmap.Table, reason.Reason) {
	return nil, reason.Text("matching.dataset_enabled is off")
}

// asItComes are the thresholds that the settings have by default.
var asItComes = func() match.Thresholds {
	standard := map[string]float64{}
	for _, section := range settings.Describe() {
		for _, key := range section.Keys {
			if number, is := key.Default.(float64); is {
				standard[key.Path] = number
			}
		}
	}
	return match.Thresholds{Accept: standard["matching.accept_score"], Review: standard["matching.review_score"], Margin: standard["matching.margin"]}
}()

// standard is the matcher as it comes.
func standard() match.Options { return match.Options{Thresholds: asItComes} }
