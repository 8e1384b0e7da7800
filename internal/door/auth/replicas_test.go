package auth_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"watchmark/internal/door/auth"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/totptest"
)

// replicas are stores of several processes on a database, of which mira is the administrator.
func replicas(t *testing.T) (here, there *auth.Store) {
	t.Helper()
	dir := dbtest.Folder(t)
	here, there = auth.NewStore(dbtest.OpenIn(t, dir), plain{}, defaultPolicy), auth.NewStore(dbtest.OpenIn(t, dir), plain{}, defaultPolicy)
	token, err := here.SetupToken(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// The link of one replica is opened at another one.
	if err := there.Setup(t.Context(), token, admin, password, addr(200)); err != nil {
		t.Fatal(err)
	}
	return here, there
}

func TestFailuresAtAllReplicasCountTogether(t *testing.T) {
	one, other := replicas(t)
	for n, s := range []*auth.Store{one, other, one, other, one} {
		if err := tryLogin(t.Context(), s, admin, "wrong password", here); !errors.Is(err, auth.ErrBadCredentials) {
			t.Fatalf("guess %d: %v", n+1, err)
		}
	}
	for _, s := range []*auth.Store{one, other} {
		var locked *auth.LockedError
		if err := tryLogin(t.Context(), s, admin, password, here); !errors.As(err, &locked) {
			t.Errorf("after five guesses: %v", err)
		}
		who, until, err := s.Locked(t.Context())
		if err != nil || who != "address "+here.String() || time.Until(until) < 14*time.Minute {
			t.Errorf("kept out is %q until %s (%v)", who, until, err)
		}
	}
}

func TestGuessesAtTheSameMomentCountTogether(t *testing.T) {
	one, other := replicas(t)
	var all sync.WaitGroup
	errs := make([]error, 16)
	for i := range errs {
		s := []*auth.Store{one, other}[i%2]
		all.Go(func() { errs[i] = tryLogin(t.Context(), s, admin, "wrong password", here) })
	}
	all.Wait()
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

func TestASecondFactorIsSetUpAndUsedOnceAcrossReplicas(t *testing.T) {
	one, other := replicas(t)
	v := auth.Visitor{Addr: here}
	made, err := one.StartTwoFactor(t.Context(), admin, password, v)
	if err != nil {
		t.Fatal(err)
	}
	if shown, underWay, err := other.Enrolment(t.Context(), owner); err != nil || !underWay || shown != made {
		t.Errorf("the other shows %+v, %t (%v)", shown, underWay, err)
	}
	// The step before, so that the code of now is a fresh one.
	if _, err := other.ConfirmTwoFactor(t.Context(), owner, totptest.Code(made.Secret, time.Now().Add(-30*time.Second)), ""); err != nil {
		t.Fatal(err)
	}
	if _, underWay, err := one.Enrolment(t.Context(), owner); err != nil || underWay {
		t.Errorf("it is still being set up (%v)", err)
	}
	code := totptest.Code(made.Secret, time.Now())
	var both sync.WaitGroup
	errs := make([]error, 2)
	for i, s := range []*auth.Store{one, other} {
		both.Go(func() { _, errs[i] = s.Login(t.Context(), admin, password, code, auth.Visitor{Addr: addr(i)}) })
	}
	both.Wait()
	if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs...), auth.ErrBadCode) {
		t.Errorf("one code opens: %v, %v", errs[0], errs[1])
	}
}

func TestASessionOfOneReplicaEndsAtAnother(t *testing.T) {
	one, other := replicas(t)
	token, _ := login(t, one)
	if got := newGuard(other).call(t, token); got != auth.BySession {
		t.Fatalf("at the other replica the identity is %q", got)
	}
	if err := other.Logout(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	if got := newGuard(one).call(t, token); got != "" {
		t.Errorf("after the sign-out the identity is %q", got)
	}
}

// reversed seals by turning a text around.
type reversed struct{}

func (reversed) Seal(text, _ string) string {
	runes := []rune(text)
	slices.Reverse(runes)
	return string(runes)
}

func (r reversed) Open(sealed, place string) (string, error) { return r.Seal(sealed, place), nil }

func TestNamesOfFailuresAreNotStoredInClear(t *testing.T) {
	dir := dbtest.Folder(t)
	d := dbtest.OpenIn(t, dir)
	store := auth.NewStore(d, reversed{}, defaultPolicy)
	_ = tryLogin(t.Context(), store, "typed-into-the-wrong-field", "x", here)
	var rows string
	if err := d.Read().QueryRowContext(t.Context(), `SELECT MIN(key || who) || MAX(key || who) FROM door_failures`).Scan(&rows); err != nil || rows == "" {
		t.Fatal(rows, err)
	}
	for _, text := range []string{"typed-into", here.String()} {
		if strings.Contains(rows, text) {
			t.Errorf("the rows hold %q", text)
		}
	}
}
