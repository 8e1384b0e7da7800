package account_test

import (
	"errors"
	"net/url"
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/secret"
	"watchmark/internal/testkit/postgrestest"
	"watchmark/internal/testkit/proxytest"
)

// TestWhatTheDatabaseFailsForIsNotHidden: while the token of an account cannot be read, nobody can say what it may not see.
func TestWhatTheDatabaseFailsForIsNotHidden(t *testing.T) {
	r := newRig(t)
	address, err := url.Parse(postgrestest.Schema(t, postgrestest.Shared(t).URL()))
	must(t, err)
	line := proxytest.Start(t, address.Host)
	address.Host = line.Address()
	d, err := db.OpenServer(t.Context(), address.String())
	must(t, err)
	t.Cleanup(func() { _ = d.Close() })
	box, err := secret.OpenBox(t.TempDir(), "", false)
	must(t, err)
	store := account.NewStore(d, box)
	a := create(t, store, "mira", "mira")
	client := account.NewClient(account.ClientConfig{Store: store, Catalog: r.client, Subjects: catalog.NewCached(r.client), Masker: &secret.Masker{}})
	if _, err := client.View(a).Subject(t.Context(), 900001); !errors.Is(err, catalog.ErrUnauthorized) {
		t.Fatalf("the token of the test is answered %v", err)
	}
	line.Cut()
	_, err = client.View(a).Subject(t.Context(), 900016)
	if !errors.Is(err, catalog.ErrUnreachable) || errors.Is(err, catalog.ErrUnauthorized) {
		t.Errorf("what the database failed for is told as %v", err)
	}
}
