package auth_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/door/auth"
)

// try signs in as somebody from a place.
func try(t *testing.T, store *auth.Store, name, password string, v auth.Visitor) error {
	t.Helper()
	_, err := store.Login(t.Context(), name, password, "", v)
	return err
}

// TestStrangersCannotShutTheOwnerOut, whatever they lock: the name, the owner's address, or the door for all.
func TestStrangersCannotShutTheOwnerOut(t *testing.T) {
	for name, shut := range map[string]func(t *testing.T, store *auth.Store){
		"the name": func(t *testing.T, store *auth.Store) {
			for i := range 5 {
				wantErr(t, tryLogin(t.Context(), store, admin, "wrong password", addr(i)), auth.ErrBadCredentials)
			}
		},
		"the address, as behind a proxy that hides it": func(t *testing.T, store *auth.Store) {
			for i := range 5 {
				wantErr(t, tryLogin(t.Context(), store, fmt.Sprintf("guess%d", i), "wrong password", here), auth.ErrBadCredentials)
			}
		},
		"everybody": func(t *testing.T, store *auth.Store) {
			for i := range 200 {
				_ = store.Knock(t.Context(), auth.Visitor{Addr: addr(i)})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, d := withAdmin(t, t.TempDir(), defaultPolicy)
				opened, err := store.Login(t.Context(), admin, password, "", auth.Visitor{Addr: here})
				wantErr(t, err, nil)
				known := auth.Visitor{Addr: here, Device: opened.Device}
				time.Sleep(time.Minute)
				shut(t, store)
				var locked *auth.LockedError
				if err := try(t, store, admin, password, auth.Visitor{Addr: here}); !errors.As(err, &locked) {
					t.Fatalf("the door is not shut: %v", err)
				}
				again, err := store.Login(t.Context(), admin, password, "", known)
				wantErr(t, err, nil)
				if again.Device != opened.Device {
					t.Error("the browser gets another name")
				}
				if _, err := store.StartTwoFactor(t.Context(), admin, password, known); err != nil {
					t.Errorf("who is signed in is asked for the password in vain: %v", err)
				}
				wantErr(t, store.Knock(t.Context(), known), nil)
				wantErr(t, store.Withdraw(t.Context(), known), nil)

				// It is a door, and not an open one.
				for range 5 {
					wantErr(t, try(t, store, admin, "wrong password", known), auth.ErrBadCredentials)
				}
				wantLocked(t, try(t, store, admin, password, known), 15*time.Minute)
				pass(t, d, 15*time.Minute)
				wantErr(t, try(t, store, admin, password, known), nil)
			})
		})
	}
}

// TestABrowserIsKnownByWhatWeGaveIt and for the name it signed in with.
func TestABrowserIsKnownByWhatWeGaveIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, _ := withAdmin(t, t.TempDir(), defaultPolicy)
		mine, err := store.Login(t.Context(), admin, password, "", auth.Visitor{Addr: here})
		wantErr(t, err, nil)
		for i := range 5 {
			wantErr(t, tryLogin(t.Context(), store, "alex", "wrong password", addr(i)), auth.ErrBadCredentials)
		}
		wantLocked(t, try(t, store, "alex", password, auth.Visitor{Addr: here, Device: mine.Device}), 15*time.Minute)
		for i := range 5 {
			wantErr(t, tryLogin(t.Context(), store, admin, "wrong password", addr(10+i)), auth.ErrBadCredentials)
		}
		for name, value := range map[string]string{
			"nothing": "", "made up": "browser", "cut": mine.Device[:len(mine.Device)-1],
			"changed": mine.Device[:len(mine.Device)-4] + "AAAA", "endless": strings.Repeat(mine.Device, 1000),
		} {
			var locked *auth.LockedError
			if err := try(t, store, admin, password, auth.Visitor{Addr: here, Device: value}); !errors.As(err, &locked) {
				t.Errorf("%s: %v", name, err)
			}
		}
		wantErr(t, try(t, store, admin, password, auth.Visitor{Addr: here, Device: mine.Device}), nil)
	})
}

// TestASessionFromBeforeMakesTheBrowserKnown once it is prolonged.
func TestASessionFromBeforeMakesTheBrowserKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, _ := withAdmin(t, t.TempDir(), defaultPolicy)
		g := newGuard(store)
		token, _ := login(t, store)
		ask := func(cookies string) http.Header {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			r.Header.Set("Cookie", cookies)
			w := httptest.NewRecorder()
			g.handler.ServeHTTP(w, r)
			return w.Header()
		}
		session := auth.CookieName + "=" + token
		if set := ask(session).Values("Set-Cookie"); len(set) != 0 {
			t.Errorf("a session that is fresh gets %v", set)
		}
		time.Sleep(2 * time.Minute)
		var device string
		for _, set := range ask(session).Values("Set-Cookie") {
			if strings.HasPrefix(set, auth.DeviceCookie+"=") {
				device, _, _ = strings.Cut(set, ";")
				if !strings.Contains(set, "HttpOnly") || !strings.Contains(set, "SameSite=Lax") {
					t.Errorf("the cookie is %s", set)
				}
			}
		}
		if device == "" {
			t.Fatal("the browser is not known")
		}
		time.Sleep(2 * time.Minute)
		for _, set := range ask(session + "; " + device).Values("Set-Cookie") {
			if strings.HasPrefix(set, auth.DeviceCookie+"=") {
				t.Errorf("a browser that is known gets %s", set)
			}
		}
	})
}
