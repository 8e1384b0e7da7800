package auth_test

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/door/auth"
	"watchmark/internal/testkit/dbtest"
)

// wantLocked fails unless err refuses for exactly the time.
func wantLocked(t *testing.T, err error, retryAfter time.Duration) {
	t.Helper()
	var locked *auth.LockedError
	if !errors.As(err, &locked) || locked.RetryAfter != retryAfter {
		t.Fatalf("got error %v, want locked for %v", err, retryAfter)
	}
}

func addr(i int) netip.Addr { return netip.AddrFrom4([4]byte{198, 51, 100, byte(i)}) }

func TestLockoutByAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, d := withAdmin(t, t.TempDir(), defaultPolicy)
		for i := range 5 {
			wantErr(t, tryLogin(t.Context(), store, fmt.Sprintf("guess%d", i), "wrong password", here), auth.ErrBadCredentials)
		}
		err := tryLogin(t.Context(), store, admin, password, here)
		wantLocked(t, err, 15*time.Minute)
		if want := "too many wrong attempts: try again in 15 minutes"; err.Error() != want {
			t.Errorf("says %q, want %q", err, want)
		}
		wantErr(t, tryLogin(t.Context(), store, admin, password, addr(1)), nil)
		pass(t, d, 14*time.Minute+100*time.Millisecond)
		wantLocked(t, tryLogin(t.Context(), store, admin, password, here), time.Minute)
		pass(t, d, time.Minute)
		wantErr(t, tryLogin(t.Context(), store, admin, "wrong password", here), auth.ErrBadCredentials)
		wantErr(t, tryLogin(t.Context(), store, admin, password, here), nil)
	})
}

func TestLockoutByName(t *testing.T) {
	for _, name := range []string{admin, "nobody"} { // whether it exists must not show
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, _ := withAdmin(t, t.TempDir(), defaultPolicy)
				for i := range 5 {
					wantErr(t, tryLogin(t.Context(), store, name, "wrong password", addr(i)), auth.ErrBadCredentials)
				}
				wantLocked(t, tryLogin(t.Context(), store, name, password, addr(9)), 15*time.Minute)
			})
		})
	}
}

func TestSuccessForgivesFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, _ := withAdmin(t, t.TempDir(), defaultPolicy)
		for range 3 {
			for range 4 {
				wantErr(t, tryLogin(t.Context(), store, admin, "wrong password", here), auth.ErrBadCredentials)
			}
			login(t, store)
		}
	})
}

func TestOldFailuresAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, d := withAdmin(t, t.TempDir(), defaultPolicy)
		for range 3 {
			for range 4 {
				wantErr(t, tryLogin(t.Context(), store, admin, "wrong password", here), auth.ErrBadCredentials)
			}
			pass(t, d, 15*time.Minute)
		}
	})
}

func TestLockoutCountsAnIPv6Network(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, _ := withAdmin(t, t.TempDir(), defaultPolicy)
		for i := range 5 {
			from := netip.MustParseAddr(fmt.Sprintf("2001:db8:0:1::%d", i+1))
			wantErr(t, tryLogin(t.Context(), store, fmt.Sprintf("guess%d", i), "wrong password", from), auth.ErrBadCredentials)
		}
		wantLocked(t, tryLogin(t.Context(), store, admin, password, netip.MustParseAddr("2001:db8:0:1:ffff::1")), 15*time.Minute)
		wantErr(t, tryLogin(t.Context(), store, admin, password, netip.MustParseAddr("2001:db8:0:2::1")), nil)
	})
}

func TestGuessesAtTheSameMomentCountOneByOne(t *testing.T) {
	store, _ := withAdmin(t, t.TempDir(), defaultPolicy)
	errs := make([]error, 15)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = tryLogin(t.Context(), store, admin, "wrong password", here) })
	}
	wg.Wait()
	tried := 0
	for _, err := range errs {
		if errors.Is(err, auth.ErrBadCredentials) {
			tried++
		}
	}
	if tried != 5 {
		t.Errorf("%d passwords were tried, want 5", tried)
	}
}

func TestAttemptsOfEverybodyAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, _ := withAdmin(t, t.TempDir(), defaultPolicy)
		time.Sleep(time.Minute)
		for i := range 20 {
			wantErr(t, tryLogin(t.Context(), store, fmt.Sprintf("guess%d", i), "wrong password", addr(i)), auth.ErrBadCredentials)
		}
		wantLocked(t, tryLogin(t.Context(), store, admin, password, here), time.Second)
		time.Sleep(time.Second)
		wantErr(t, tryLogin(t.Context(), store, admin, password, here), nil)
	})
}

func TestSetupAttemptsCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := fresh(t)
		token, err := store.SetupToken(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			wantErr(t, store.Setup(t.Context(), "guess", admin, password, here), auth.ErrBadSetupToken)
		}
		for range 10 { // the right token with a bad password is no guess
			wantField(t, store.Setup(t.Context(), token, admin, "short", here), "password", "at least 10")
		}
		for range 5 {
			wantErr(t, store.Setup(t.Context(), "guess", admin, password, here), auth.ErrBadSetupToken)
		}
		wantLocked(t, store.Setup(t.Context(), token, admin, password, here), 15*time.Minute)
		wantErr(t, store.Setup(t.Context(), token, admin, password, addr(1)), nil)
	})
}

func TestMemoryOfFailuresIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	synctest.Test(t, func(t *testing.T) {
		policy := defaultPolicy()
		policy.LockoutTime = 24 * time.Hour
		store := auth.NewStore(dbtest.OpenIn(t, t.TempDir()), plain{}, func() auth.Policy { return policy })
		for range 5 {
			wantErr(t, store.Setup(t.Context(), "guess", admin, password, here), auth.ErrBadSetupToken)
		}
		for i := range 4096 {
			if i == 4095 {
				var locked *auth.LockedError
				if err := store.Setup(t.Context(), "guess", admin, password, here); !errors.As(err, &locked) {
					t.Fatalf("with room for it, the locked address is forgotten: %v", err)
				}
			}
			time.Sleep(time.Second)
			from := netip.AddrFrom4([4]byte{203, 0, byte(i >> 8), byte(i)})
			wantErr(t, store.Setup(t.Context(), "guess", admin, password, from), auth.ErrBadSetupToken)
		}
		wantErr(t, store.Setup(t.Context(), "guess", admin, password, here), auth.ErrBadSetupToken)
	})
}

func TestANewPasswordEndsTheLock(t *testing.T) {
	store, _ := withAdmin(t, t.TempDir(), defaultPolicy)
	for range 5 {
		wantErr(t, tryLogin(t.Context(), store, admin, "wrong password", here), auth.ErrBadCredentials)
	}
	wantErr(t, store.SetPassword(t.Context(), admin, "another good one"), nil)
	wantErr(t, tryLogin(t.Context(), store, admin, "another good one", here), nil)
}
