package auth_test

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"watchmark/internal/door/auth"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/testkit/dbtest"
)

const (
	owner    = 1 // the id of mira
	admin    = "mira"
	password = "correct horse battery"
)

var here = netip.MustParseAddr("192.0.2.7")

func defaultPolicy() auth.Policy {
	return auth.Policy{SessionLife: 30 * 24 * time.Hour, LockoutAttempts: 5, LockoutTime: 15 * time.Minute}
}

// plain seals by writing the place before it, in hex, so that a secret moved elsewhere does not open.
type plain struct{}

func (plain) Seal(text, place string) string { return place + ":" + hex.EncodeToString([]byte(text)) }

func (plain) Open(sealed, place string) (string, error) {
	text, ok := strings.CutPrefix(sealed, place+":")
	plain, err := hex.DecodeString(text)
	if !ok || err != nil {
		return "", errors.New("sealed for another place")
	}
	return string(plain), nil
}

// fresh is a store without an administrator.
func fresh(t *testing.T) *auth.Store {
	t.Helper()
	return auth.NewStore(dbtest.Open(t), plain{}, defaultPolicy)
}

// withAdmin is a store in which mira is the administrator.
func withAdmin(t *testing.T, dir string, policy func() auth.Policy) (*auth.Store, *db.DB) {
	t.Helper()
	d := dbtest.OpenIn(t, dir)
	store := auth.NewStore(d, plain{}, policy)
	setup(t, store)
	return store, d
}

func setup(t *testing.T, store *auth.Store) {
	t.Helper()
	token, err := store.SetupToken(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Setup(t.Context(), token, admin, password, here); err != nil {
		t.Fatal(err)
	}
}

func login(t *testing.T, store *auth.Store) (token string, expires time.Time) {
	t.Helper()
	opened, err := store.Login(t.Context(), admin, password, "", auth.Visitor{Addr: here, UserAgent: "browser"})
	if err != nil {
		t.Fatal(err)
	}
	return opened.Token, opened.Expires
}

// tryLogin is the error of an attempt with the password.
func tryLogin(ctx context.Context, store *auth.Store, name, password string, from netip.Addr) error {
	_, err := store.Login(ctx, name, password, "", auth.Visitor{Addr: from})
	return err
}

// pass lets time pass, also by the clock of a server.
func pass(t *testing.T, d *db.DB, span time.Duration) {
	t.Helper()
	time.Sleep(span)
	if !dbtest.OnServer() {
		return
	}
	err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, failures := tx.ExecContext(ctx, `UPDATE door_failures SET last = last - CAST(? AS BIGINT)`, span.Milliseconds())
		_, tickets := tx.ExecContext(ctx, `UPDATE tickets SET until = until - CAST(? AS BIGINT)`, span.Milliseconds())
		return errors.Join(failures, tickets)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t *testing.T, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Fatalf("got error %v, want %v", got, want)
	}
}

func wantField(t *testing.T, err error, field, says string) {
	t.Helper()
	var bad *reason.FieldError
	if !errors.As(err, &bad) || bad.Field != field || !strings.Contains(bad.What.Text, says) {
		t.Fatalf("got error %v, want one for %s that says %q", err, field, says)
	}
}

// wantNotStored fails when the data folder or its database keeps the secret.
func wantNotStored(t *testing.T, dir, secret string) {
	t.Helper()
	kept := dbtest.Kept(t, dir)
	if len(kept) == 0 {
		t.Fatal("nothing was looked at")
	}
	for place, content := range kept {
		if strings.Contains(content, secret) {
			t.Errorf("%s contains a secret in clear", place)
		}
	}
}
