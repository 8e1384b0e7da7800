package auth_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/argon2"

	"watchmark/internal/door/auth"
	"watchmark/internal/testkit/dbtest"
)

func TestSetupCreatesTheAdministratorOnce(t *testing.T) {
	store := fresh(t)
	token, err := store.SetupToken(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(token) != 43 {
		t.Errorf("setup token has %d characters, want 43", len(token))
	}
	wantErr(t, store.Setup(t.Context(), token+"x", admin, password, here), auth.ErrBadSetupToken)
	wantErr(t, store.Setup(t.Context(), "", admin, password, here), auth.ErrBadSetupToken)
	if needed, err := store.NeedsSetup(t.Context()); err != nil || !needed {
		t.Fatalf("NeedsSetup = %v, %v before setup", needed, err)
	}
	if err := store.Setup(t.Context(), token, admin, password, here); err != nil {
		t.Fatal(err)
	}
	if needed, err := store.NeedsSetup(t.Context()); err != nil || needed {
		t.Fatalf("NeedsSetup = %v, %v after setup", needed, err)
	}
	wantErr(t, store.Setup(t.Context(), token, "alex", password, here), auth.ErrSetupDone)
	_, err = store.SetupToken(t.Context())
	wantErr(t, err, auth.ErrSetupDone)
	wantErr(t, tryLogin(t.Context(), store, admin, password, here), nil)
	wantErr(t, tryLogin(t.Context(), store, "alex", password, here), auth.ErrBadCredentials)
}

func TestARestartVoidsTheSetupLinkFromBefore(t *testing.T) {
	d := dbtest.Open(t)
	if !d.Alone() {
		t.Skip("other replicas may have printed the link")
	}
	before, after := auth.NewStore(d, plain{}, defaultPolicy), auth.NewStore(d, plain{}, defaultPolicy)
	old, err := before.SetupToken(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if again, err := before.SetupToken(t.Context()); err != nil || again != old {
		t.Errorf("asked again, the token is another one (%v)", err)
	}
	if _, err := after.SetupToken(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantErr(t, after.Setup(t.Context(), old, admin, password, here), auth.ErrBadSetupToken)
}

func TestRacingSetupsCreateOneAdministrator(t *testing.T) {
	store := fresh(t)
	token, err := store.SetupToken(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	errs := make([]error, 4)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = store.Setup(t.Context(), token, fmt.Sprintf("admin%d", i), password, here) })
	}
	wg.Wait()
	created := 0
	for i, err := range errs {
		switch {
		case err == nil:
			created++
			wantErr(t, tryLogin(t.Context(), store, fmt.Sprintf("admin%d", i), password, here), nil)
		case !errors.Is(err, auth.ErrSetupDone):
			t.Errorf("setup %d: %v", i, err)
		}
	}
	if created != 1 {
		t.Errorf("%d setups succeeded, want 1", created)
	}
}

func TestSetupChecksNameAndPassword(t *testing.T) {
	tests := map[string]struct {
		name, password, field, says string
	}{
		"empty name":            {"", password, "name", "enter a name"},
		"spaces around":         {" mira", password, "name", "spaces"},
		"line break in name":    {"mi\nra", password, "name", "cannot be shown"},
		"long name":             {strings.Repeat("あ", 101), password, "name", "100"},
		"name not UTF-8":        {"mi\xffra", password, "name", "UTF-8"},
		"short password":        {admin, "九つの文字です。", "password", "at least 10"},
		"long password":         {admin, strings.Repeat("x", 201), "password", "at most 200"},
		"password not UTF-8":    {admin, "0123456789\xff", "password", "UTF-8"},
		"many bytes, few runes": {admin, "あああああああああ", "password", "has 9 characters"},
	}
	store := fresh(t)
	token, err := store.SetupToken(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			wantField(t, store.Setup(t.Context(), token, test.name, test.password, here), test.field, test.says)
		})
	}
	if needed, err := store.NeedsSetup(t.Context()); err != nil || !needed {
		t.Fatalf("NeedsSetup = %v, %v after refused setups", needed, err)
	}
	if err := store.Setup(t.Context(), token, "管理者 mira", strings.Repeat("あ", 200), here); err != nil {
		t.Fatalf("longest password: %v", err)
	}
}

func TestSetPassword(t *testing.T) {
	dir := t.TempDir()
	store, _ := withAdmin(t, dir, defaultPolicy)
	token, _ := login(t, store)
	// The command line is another process with a store of its own.
	command := auth.NewStore(dbtest.OpenIn(t, dir), plain{}, defaultPolicy)

	wantField(t, command.SetPassword(t.Context(), admin, "short"), "password", "at least 10")
	err := command.SetPassword(t.Context(), "alex", "another good one")
	wantErr(t, err, auth.ErrUnknownAdmin)
	if !strings.Contains(err.Error(), admin) {
		t.Errorf("error %q does not tell the right name", err)
	}
	if got := newGuard(store).call(t, token); got != auth.BySession {
		t.Fatalf("refused changes ended the session (identity %q)", got)
	}

	if err := command.SetPassword(t.Context(), admin, "another good one"); err != nil {
		t.Fatal(err)
	}
	if got := newGuard(store).call(t, token); got != "" {
		t.Errorf("session still open after the password changed (identity %q)", got)
	}
	wantErr(t, tryLogin(t.Context(), store, admin, password, here), auth.ErrBadCredentials)
	wantErr(t, tryLogin(t.Context(), store, admin, "another good one", here), nil)
	wantNotStored(t, dir, "another good one")
	wantNotStored(t, dir, token)
}

func TestSetPasswordWithoutAdministrator(t *testing.T) {
	err := fresh(t).SetPassword(t.Context(), admin, password)
	wantErr(t, err, auth.ErrUnknownAdmin)
	if !strings.Contains(err.Error(), "setup link") {
		t.Errorf("error %q does not tell what to do", err)
	}
}

func TestPasswordHashCarriesItsParameters(t *testing.T) {
	store, d := withAdmin(t, t.TempDir(), defaultPolicy)
	var hash string
	if err := d.Read().QueryRow(`SELECT password_hash FROM people`).Scan(&hash); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(auth.ServiceHash, "$argon2id$v=19$m=19456,t=2,p=1$") || !strings.HasPrefix(hash, "$argon2id$v=19$m=64,t=2,p=1$") {
		t.Errorf("the service makes %q, stored is %q", auth.ServiceHash, hash)
	}
	salt := []byte("sixteen byte slt")
	older := "$argon2id$v=19$m=8192,t=3,p=2$" + base64.RawStdEncoding.EncodeToString(salt) + "$" +
		base64.RawStdEncoding.EncodeToString(argon2.IDKey([]byte("older password"), salt, 3, 8192, 2, 24))
	storeHash(t, d, older)
	wantErr(t, tryLogin(t.Context(), store, admin, "older password", here), nil)
	wantErr(t, tryLogin(t.Context(), store, admin, password, here), auth.ErrBadCredentials)
	for name, bad := range map[string]string{
		"no hash":          "secret in clear",
		"other algorithm":  strings.Replace(hash, "argon2id", "argon2i", 1),
		"no passes":        strings.Replace(hash, "t=2", "t=0", 1),
		"all the memory":   strings.Replace(hash, "m=64", "m=4000000", 1),
		"truncated":        hash[:len(hash)-30],
		"salt not base64":  strings.Replace(hash, "p=1$", "p=1$!", 1),
		"negative threads": strings.Replace(hash, "p=1", "p=-1", 1),
	} {
		t.Run(name, func(t *testing.T) {
			storeHash(t, d, bad)
			err := tryLogin(t.Context(), auth.NewStore(d, plain{}, defaultPolicy), admin, password, here)
			if err == nil || errors.Is(err, auth.ErrBadCredentials) || strings.Contains(err.Error(), bad) {
				t.Errorf("got error %v, want one about the stored hash that does not show it", err)
			}
		})
	}
}
