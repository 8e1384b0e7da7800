package auth_test

import (
	"context"
	"database/sql"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/door/auth"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/totptest"
)

// with signs in with a code.
func with(t *testing.T, store *auth.Store, code string) error {
	t.Helper()
	_, err := store.Login(t.Context(), admin, password, code, auth.Visitor{Addr: here})
	return err
}

// secondFactor turns it on and returns the secret and the recovery codes. A step passes.
func secondFactor(t *testing.T, store *auth.Store) (secret string, recovery []string) {
	t.Helper()
	made, err := store.StartTwoFactor(t.Context(), admin, password, auth.Visitor{Addr: here})
	if err != nil {
		t.Fatal(err)
	}
	if recovery, err = store.ConfirmTwoFactor(t.Context(), owner, totptest.Code(made.Secret, time.Now()), ""); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Minute)
	return made.Secret, recovery
}

// The examples of RFC 6238, appendix B, cut to six digits.
func TestCodesAreThoseOfTheStandard(t *testing.T) {
	for at, want := range map[int64]string{59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037", 20000000000: "353130"} {
		if got := auth.TOTP([]byte("12345678901234567890"), at/30); got != want {
			t.Errorf("at %d the code is %s, not %s", at, got, want)
		}
	}
}

func TestSecondFactorIsAskedForOnceItIsConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		store, d := withAdmin(t, dir, defaultPolicy)
		before, _ := login(t, store)
		wantErr(t, second(store.StartTwoFactor(t.Context(), admin, "not the password", auth.Visitor{Addr: here})), auth.ErrBadCredentials)
		wantErr(t, second(store.ConfirmTwoFactor(t.Context(), owner, "123456", "")), auth.ErrNoEnrolment)
		made, err := store.StartTwoFactor(t.Context(), admin, password, auth.Visitor{Addr: here})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(made.URI, "otpauth://totp/Watchmark:mira?") || !strings.Contains(made.URI, "secret="+made.Secret) {
			t.Errorf("the address is %s", made.URI)
		}
		wantErr(t, with(t, store, ""), nil) // it is not on yet
		wantErr(t, second(store.ConfirmTwoFactor(t.Context(), owner, "000000", "")), auth.ErrBadCode)
		keep, _ := login(t, store)
		recovery, err := store.ConfirmTwoFactor(t.Context(), owner, totptest.Code(made.Secret, time.Now()), keep)
		if err != nil || len(recovery) != 10 {
			t.Fatalf("the recovery codes are %v: %v", recovery, err)
		}
		guard := newGuard(store)
		if guard.call(t, keep) != auth.BySession || guard.call(t, before) != "" || countSessions(t, d) != 1 {
			t.Error("not only the session that confirmed is left")
		}
		wantErr(t, second(store.ConfirmTwoFactor(t.Context(), owner, totptest.Code(made.Secret, time.Now()), keep)), auth.ErrNoEnrolment)
		wantErr(t, second(store.StartTwoFactor(t.Context(), admin, password, auth.Visitor{Addr: here})), auth.ErrTwoFactorOn)

		wantErr(t, with(t, store, ""), auth.ErrCodeNeeded)
		wantErr(t, with(t, store, totptest.Code(made.Secret, time.Now())), auth.ErrBadCode) // it confirmed already
		time.Sleep(30 * time.Second)
		now := totptest.Code(made.Secret, time.Now())
		wantErr(t, with(t, store, now[:3]+" "+now[3:]), nil)
		wantErr(t, with(t, store, now), auth.ErrBadCode) // a code is good once
		if state, err := store.TwoFactor(t.Context(), owner); err != nil || !state.On || state.RecoveryCodes != 10 {
			t.Errorf("it stands %+v: %v", state, err)
		}
		for _, secret := range recovery {
			wantNotStored(t, dir, strings.ToUpper(strings.ReplaceAll(secret, "-", "")))
		}
	})
}

func second[A any](_ A, err error) error { return err }

func TestCodeCountsWhileTheClocksAreNear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, _ := withAdmin(t, t.TempDir(), defaultPolicy)
		secret, _ := secondFactor(t, store)
		for _, c := range []struct {
			ahead time.Duration
			want  error
		}{{-time.Minute, auth.ErrBadCode}, {-30 * time.Second, nil}, {0, nil}, {30 * time.Second, nil}, {time.Minute, auth.ErrBadCode}} {
			time.Sleep(2 * time.Minute)
			if err := with(t, store, totptest.Code(secret, time.Now().Add(c.ahead))); !errors.Is(err, c.want) {
				t.Errorf("with a phone %v ahead it ends with %v", c.ahead, err)
			}
		}
		time.Sleep(2 * time.Minute)
		wantErr(t, with(t, store, totptest.Code(secret, time.Now().Add(30*time.Second))), nil)
		wantErr(t, with(t, store, totptest.Code(secret, time.Now())), auth.ErrBadCode) // of a step before one that was used
	})
}

func TestRecoveryCodeIsGoodOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, _ := withAdmin(t, t.TempDir(), defaultPolicy)
		_, recovery := secondFactor(t, store)
		wantErr(t, with(t, store, " "+strings.ToUpper(recovery[0])), nil)
		wantErr(t, with(t, store, recovery[0]), auth.ErrBadCode)
		wantErr(t, with(t, store, recovery[1]), nil)
		if state, err := store.TwoFactor(t.Context(), owner); err != nil || state.RecoveryCodes != 8 {
			t.Errorf("it stands %+v: %v", state, err)
		}
		wantErr(t, second(store.RenewRecoveryCodes(t.Context(), admin, "not the password", auth.Visitor{Addr: here})), auth.ErrBadCredentials)
		fresh, err := store.RenewRecoveryCodes(t.Context(), admin, password, auth.Visitor{Addr: here})
		if err != nil || len(fresh) != 10 {
			t.Fatalf("new codes: %v: %v", fresh, err)
		}
		wantErr(t, with(t, store, recovery[2]), auth.ErrBadCode)
		wantErr(t, with(t, store, fresh[2]), nil)
	})
}

// Requests with one code that were all found right before any of them used it up: one of them comes in.
func TestOneOfManyAtOnceUsesTheCode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, d := withAdmin(t, t.TempDir(), defaultPolicy)
		secret, recovery := secondFactor(t, store)
		for _, given := range []string{totptest.Code(secret, time.Now()), recovery[0]} {
			hold, ended := make(chan struct{}), make(chan error, 4)
			go func() {
				_ = d.Write(t.Context(), func(context.Context, *sql.Tx) error { <-hold; return nil })
			}()
			synctest.Wait()
			for range cap(ended) {
				go func() { ended <- with(t, store, given) }()
			}
			synctest.Wait() // all wait to write
			close(hold)
			in := 0
			for range cap(ended) {
				if err := <-ended; err == nil {
					in++
				} else {
					wantErr(t, err, auth.ErrBadCode)
				}
			}
			if in != 1 {
				t.Errorf("%d came in with one code", in)
			}
			time.Sleep(time.Hour)
		}
	})
}

// A sign-in that needed no code when it began, and ends after the second factor was turned on, would
// outlive the sessions that this ends.
func TestSignInUnderWayNeedsTheCodeToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, d := withAdmin(t, t.TempDir(), defaultPolicy)
		made, err := store.StartTwoFactor(t.Context(), admin, password, auth.Visitor{Addr: here})
		if err != nil {
			t.Fatal(err)
		}
		hold, confirmed, ended := make(chan struct{}), make(chan error, 1), make(chan error, 1)
		go func() {
			_ = d.Write(t.Context(), func(context.Context, *sql.Tx) error { <-hold; return nil })
		}()
		synctest.Wait()
		go func() {
			confirmed <- second(store.ConfirmTwoFactor(t.Context(), owner, totptest.Code(made.Secret, time.Now()), ""))
		}()
		synctest.Wait() // it waits to write
		go func() { ended <- with(t, store, "") }()
		synctest.Wait() // so does this one, behind it
		close(hold)
		wantErr(t, <-confirmed, nil)
		wantErr(t, <-ended, auth.ErrCodeNeeded)
		if n := countSessions(t, d); n != 0 {
			t.Errorf("%d sessions are open", n)
		}
	})
}

func TestGuessedCodesLockTheDoor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, d := withAdmin(t, t.TempDir(), defaultPolicy)
		secret, _ := secondFactor(t, store)
		for range 4 {
			wantErr(t, with(t, store, "000000"), auth.ErrBadCode)
			wantErr(t, with(t, store, ""), auth.ErrCodeNeeded) // the password alone neither counts nor forgives
		}
		wantErr(t, with(t, store, "000000"), auth.ErrBadCode)
		wantLocked(t, with(t, store, totptest.Code(secret, time.Now())), 15*time.Minute)
		_, err := store.Login(t.Context(), admin, password, totptest.Code(secret, time.Now()), auth.Visitor{Addr: netip.MustParseAddr("203.0.113.9")})
		wantLocked(t, err, 15*time.Minute) // the name is locked, too
		pass(t, d, 15*time.Minute)
		wantErr(t, with(t, store, totptest.Code(secret, time.Now())), nil)
	})
}

func TestSecondFactorIsTurnedOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, _ := withAdmin(t, t.TempDir(), defaultPolicy)
		wantErr(t, store.TurnOffTwoFactor(t.Context(), admin, password, auth.Visitor{Addr: here}), auth.ErrTwoFactorOff)
		secondFactor(t, store)
		wantErr(t, store.TurnOffTwoFactor(t.Context(), admin, "not the password", auth.Visitor{Addr: here}), auth.ErrBadCredentials)
		wantErr(t, with(t, store, ""), auth.ErrCodeNeeded)
		wantErr(t, store.TurnOffTwoFactor(t.Context(), admin, password, auth.Visitor{Addr: here}), nil)
		wantErr(t, with(t, store, ""), nil)
		secondFactor(t, store)
		wantErr(t, store.ResetTwoFactor(t.Context(), "alex"), auth.ErrUnknownAdmin)
		wantErr(t, store.ResetTwoFactor(t.Context(), admin), nil)
		wantErr(t, with(t, store, ""), nil)
	})
}

func TestEnrolmentEndsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, d := withAdmin(t, t.TempDir(), defaultPolicy)
		made, err := store.StartTwoFactor(t.Context(), admin, password, auth.Visitor{Addr: here})
		if err != nil {
			t.Fatal(err)
		}
		if shown, ok, err := store.Enrolment(t.Context(), owner); !ok || shown != made {
			t.Errorf("%+v is shown (%v)", shown, err)
		}
		pass(t, d, 16*time.Minute)
		if _, ok, err := store.Enrolment(t.Context(), owner); ok || err != nil {
			t.Error("it is shown for ever")
		}
		wantErr(t, second(store.ConfirmTwoFactor(t.Context(), owner, totptest.Code(made.Secret, time.Now()), "")), auth.ErrNoEnrolment)
		if _, err := store.StartTwoFactor(t.Context(), admin, password, auth.Visitor{Addr: here}); err != nil {
			t.Fatal(err)
		}
		wantErr(t, store.CancelEnrolment(t.Context(), owner), nil)
		if _, ok, err := store.Enrolment(t.Context(), owner); ok || err != nil {
			t.Error("given up, it is shown")
		}
	})
}

// The key of the folder is lost: the app's codes cannot be checked, recovery codes can.
func TestRecoveryCodeWorksWithoutTheSeal(t *testing.T) {
	dir := t.TempDir()
	store, d := withAdmin(t, dir, defaultPolicy)
	made, err := store.StartTwoFactor(t.Context(), admin, password, auth.Visitor{Addr: here})
	if err != nil {
		t.Fatal(err)
	}
	recovery, err := store.ConfirmTwoFactor(t.Context(), owner, totptest.Code(made.Secret, time.Now()), "")
	if err != nil {
		t.Fatal(err)
	}
	other := auth.NewStore(d, lost{}, defaultPolicy)
	_, err = other.Login(t.Context(), admin, password, totptest.Code(made.Secret, time.Now()), auth.Visitor{Addr: here})
	if err == nil || errors.Is(err, auth.ErrBadCode) || !strings.Contains(err.Error(), "watchmark two-factor off") {
		t.Errorf("with a code it ends with %v", err)
	}
	_, err = other.Login(t.Context(), admin, password, recovery[3], auth.Visitor{Addr: here})
	wantErr(t, err, nil)
}

type lost struct{ plain }

func (lost) Open(string, string) (string, error) { return "", errors.New("sealed with another key") }

func TestProviderOpensSessionsWhileItIsAllowed(t *testing.T) {
	policy := defaultPolicy()
	policy.Entries = []string{"https://auth.example client mira"}
	store := auth.NewStore(dbtest.OpenIn(t, t.TempDir()), plain{}, func() auth.Policy { return policy })
	_, err := store.Enter(t.Context(), policy.Entries[0], auth.Visitor{Addr: here})
	wantErr(t, err, auth.ErrNoAdmin)
	setup(t, store)
	old, _ := login(t, store)
	opened, err := store.Enter(t.Context(), policy.Entries[0], auth.Visitor{Addr: here, Session: old})
	if err != nil || opened.Token == old {
		t.Fatalf("%+v: %v", opened, err)
	}
	guard := newGuard(store)
	if guard.call(t, old) != "" {
		t.Error("the session from before is good after signing in")
	}
	if guard.call(t, opened.Token) != auth.BySession {
		t.Error("the session by the provider is not good")
	}
	policy.Entries = []string{"https://auth.example client alex"}
	if guard.call(t, opened.Token) != "" {
		t.Error("who is not allowed any more stays signed in")
	}
}

func TestSignInsByTheProviderAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, d := withAdmin(t, t.TempDir(), defaultPolicy)
		for range 10 {
			wantErr(t, store.Knock(t.Context(), auth.Visitor{Addr: here}), nil)
			wantErr(t, store.Withdraw(t.Context(), auth.Visitor{Addr: here}), nil)
			pass(t, d, time.Second)
		}
		for range 5 {
			wantErr(t, store.Knock(t.Context(), auth.Visitor{Addr: here}), nil)
			pass(t, d, time.Second)
		}
		wantLocked(t, store.Knock(t.Context(), auth.Visitor{Addr: here}), 15*time.Minute-time.Second)
		wantErr(t, store.Knock(t.Context(), auth.Visitor{Addr: netip.MustParseAddr("203.0.113.9")}), nil)
	})
}
