package match_test

import (
	"log/slog"
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/catalogtest"
	"watchmark/internal/db"
	"watchmark/internal/httpx"
	"watchmark/internal/mapping"
	"watchmark/internal/secret"
)

// newCatalog is an empty catalog on the loopback and the real client of it, without a rate limit.
func newCatalog(t *testing.T) (*catalogtest.Server, *catalog.Client) {
	t.Helper()
	server, base := catalogtest.Start(t, catalogtest.Config{})
	http, err := httpx.New(httpx.Config{UserAgent: "watchmark-test", PerMinute: 60_000_000, Burst: 1_000_000}, &secret.Masker{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	client, err := catalog.New(catalog.Config{APIURL: base, UserAgent: "watchmark-test"}, http, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return server, client
}

// newRules is an empty store of mappings in a database of its own.
func newRules(t *testing.T) *mapping.Store {
	t.Helper()
	d, err := db.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return mapping.NewStore(d)
}
