package diagnose_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"testing"
	"time"

	"watchmark/internal/platform/secret"
	"watchmark/internal/upkeep/diagnose"
)

func TestADatabaseIsAskedByItsOwnConnections(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	type query = func(context.Context) (string, time.Duration, error)
	for name, c := range map[string]struct {
		query   query
		ok      bool
		problem diagnose.Problem
	}{
		"well":          {func(context.Context) (string, time.Duration, error) { return "PostgreSQL 15", time.Second, nil }, true, ""},
		"another clock": {func(context.Context) (string, time.Duration, error) { return "PostgreSQL 15", -time.Hour, nil }, true, diagnose.ClockOff},
		"refused": {func(context.Context) (string, time.Duration, error) {
			return "", 0, errors.New("password authentication of open-sesame failed")
		}, false, diagnose.DatabaseFailed},
	} {
		t.Run(name, func(t *testing.T) {
			masker := &secret.Masker{}
			masker.Add("open-sesame")
			doctor := diagnose.New(diagnose.Config{
				Targets: func() []diagnose.Target {
					return []diagnose.Target{{Kind: diagnose.Database, URL: "postgres://" + listener.Addr().String(), InUse: true, Query: c.query}}
				},
				ProxyFor: func(*url.URL) (*url.URL, error) { return nil, http.ErrNotSupported }, // nobody asks for it
				Timeout:  func() time.Duration { return 5 * time.Second }, Masker: masker,
			})
			found, err := doctor.Diagnose(t.Context(), "")
			if err != nil || len(found) != 1 || found[0].OK != c.ok || found[0].Routes[0].Problem != c.problem {
				t.Fatalf("found %+v (%v)", found, err)
			}
			last := found[0].Routes[0].Stages[len(found[0].Routes[0].Stages)-1]
			if last.Name != diagnose.Query {
				t.Errorf("it ends with stage %s", last.Name)
			}
			if !c.ok && last.Detail.Text != masker.Mask("password authentication of open-sesame failed") {
				t.Errorf("it tells %q", last.Detail.Text)
			}
		})
	}
}
