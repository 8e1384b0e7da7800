package db_test

import (
	"context"
	"net/url"
	"testing"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/testkit/postgrestest"
	"watchmark/internal/testkit/proxytest"
)

// place is where a test has its database.
type place struct {
	folder  string
	address string // of a schema in PostgreSQL; empty for the folder
}

// onBoth runs a test on both engines, each time at a new place.
func onBoth(t *testing.T, test func(t *testing.T, p place)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, place{folder: t.TempDir()}) })
	t.Run("postgres", func(t *testing.T) { test(t, onServer(t)) })
}

func onServer(t testing.TB) place {
	return place{address: postgrestest.Schema(t, postgrestest.Shared(t).URL())}
}

// throughLine is the place at the other end of a line.
func throughLine(t testing.TB, p place, roundTrip time.Duration) (place, *proxytest.Proxy) {
	t.Helper()
	u, err := url.Parse(p.address)
	if err != nil {
		t.Fatal(err)
	}
	line := proxytest.Start(t, u.Host)
	line.Delay(roundTrip)
	u.Host = line.Address()
	return place{address: u.String()}, line
}

func (p place) tryOpen(ctx context.Context) (*db.DB, error) {
	if p.address != "" {
		return db.OpenServer(ctx, p.address)
	}
	return db.Open(ctx, p.folder)
}

// open opens the database, also a second time.
func (p place) open(t testing.TB) *db.DB {
	t.Helper()
	d, err := p.tryOpen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}
