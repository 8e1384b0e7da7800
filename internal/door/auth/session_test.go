package auth_test

import (
	"context"
	"database/sql"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/door/auth"
	"watchmark/internal/platform/db"
)

// storeHash puts the hash in the administrator's row.
func storeHash(t *testing.T, d *db.DB, hash string) {
	t.Helper()
	err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE people SET password_hash = ?`, hash)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// seenAt is when the only session was last written.
func seenAt(t *testing.T, d *db.DB) time.Time {
	t.Helper()
	var ms int64
	if err := d.Read().QueryRow(`SELECT seen_at FROM sessions`).Scan(&ms); err != nil {
		t.Fatal(err)
	}
	return time.UnixMilli(ms)
}

func countSessions(t *testing.T, d *db.DB) int {
	t.Helper()
	var n int
	if err := d.Read().QueryRow(`SELECT COUNT(*) FROM sessions`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestLoginOpensANewSessionEachTime(t *testing.T) {
	dir := t.TempDir()
	store, _ := withAdmin(t, dir, defaultPolicy)
	guard := newGuard(store)
	first, _ := login(t, store)
	second, _ := login(t, store)
	if first == second || len(first) != 43 {
		t.Fatalf("tokens %q and %q", first, second)
	}
	wantNotStored(t, dir, first)
	for _, token := range []string{first, second} {
		if got := guard.call(t, token); got != auth.BySession {
			t.Errorf("identity %q, want a session", got)
		}
	}
	if err := store.Logout(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if err := store.Logout(t.Context(), first); err != nil {
		t.Fatalf("logging out twice: %v", err)
	}
	if got := guard.call(t, first); got != "" {
		t.Errorf("logged out, but identity %q", got)
	}
	if got := guard.call(t, second); got != auth.BySession {
		t.Errorf("logging out ended another session too (identity %q)", got)
	}
	for name, wrong := range map[string]string{"wrong password": "correct horse batterx", "empty password": "", "prefix": password[:12]} {
		t.Run(name, func(t *testing.T) {
			wantErr(t, tryLogin(t.Context(), store, admin, wrong, here), auth.ErrBadCredentials)
		})
	}
}

func TestSessionSlides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, d := withAdmin(t, t.TempDir(), defaultPolicy)
		guard := newGuard(store)
		token, expires := login(t, store)
		if want := time.Now().Add(30 * 24 * time.Hour); !expires.Equal(want) {
			t.Fatalf("session ends %v, want %v", expires, want)
		}
		opened := seenAt(t, d)

		time.Sleep(59 * time.Second)
		if w := guard.serve(t, token); w.Header().Get("Set-Cookie") != "" || !seenAt(t, d).Equal(opened) {
			t.Error("a session was written again within a minute")
		}
		time.Sleep(time.Second)
		w := guard.serve(t, token)
		if !seenAt(t, d).Equal(opened.Add(time.Minute)) {
			t.Errorf("seen_at is %v after a use at %v", seenAt(t, d), time.Now())
		}
		cookie := onlyCookie(t, w)
		if want := time.Now().Add(30 * 24 * time.Hour).UTC().Truncate(time.Second); cookie.Value != token || !cookie.Expires.Equal(want) {
			t.Errorf("cookie %v, want the token until %v", cookie, want)
		}

		for range 3 { // used now and then, it lives on beyond its first end
			time.Sleep(29 * 24 * time.Hour)
			if got := guard.call(t, token); got != auth.BySession {
				t.Fatalf("a session in use ended (identity %q)", got)
			}
		}
		time.Sleep(30 * 24 * time.Hour)
		if got := guard.call(t, token); got != "" {
			t.Errorf("an unused session lives on (identity %q)", got)
		}
	})
}

func TestShortenedLifeEndsOldSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := defaultPolicy()
		store, _ := withAdmin(t, t.TempDir(), func() auth.Policy { return policy })
		token, _ := login(t, store)
		time.Sleep(25 * time.Hour)
		policy.SessionLife = 24 * time.Hour
		if got := newGuard(store).call(t, token); got != "" {
			t.Errorf("identity %q after the shortened life", got)
		}
	})
}

func TestLoginRemovesEndedSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, d := withAdmin(t, t.TempDir(), defaultPolicy)
		login(t, store)
		time.Sleep(24 * time.Hour)
		login(t, store)
		time.Sleep(29 * 24 * time.Hour)
		login(t, store)
		if n := countSessions(t, d); n != 2 {
			t.Errorf("%d sessions stored, want 2", n)
		}
	})
}

func onlyCookie(t *testing.T, w *httptest.ResponseRecorder) *http.Cookie {
	t.Helper()
	var sessions []*http.Cookie
	for _, c := range w.Result().Cookies() {
		if c.Name == auth.CookieName {
			sessions = append(sessions, c)
		}
	}
	if len(sessions) != 1 {
		t.Fatalf("%d cookies of sessions set, want 1", len(sessions))
	}
	return sessions[0]
}
