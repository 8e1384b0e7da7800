package auth_test

import (
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/door/auth"
	"watchmark/internal/testkit/dbtest"
)

func TestAPIKeys(t *testing.T) {
	dir := t.TempDir()
	store := auth.NewStore(dbtest.OpenIn(t, dir), plain{}, defaultPolicy)
	guard := newGuard(store)
	if keys, err := store.ListKeys(t.Context()); err != nil || keys == nil || len(keys) != 0 {
		t.Fatalf("ListKeys = %#v, %v; want an empty list", keys, err)
	}
	// The command line makes a key while the service runs.
	command := auth.NewStore(dbtest.OpenIn(t, dir), plain{}, defaultPolicy)
	plain, key, err := command.CreateKey(t.Context(), "script")
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^wm_[0-9a-f]{64}$`).MatchString(plain) || key.Hint != plain[len(plain)-4:] {
		t.Errorf("made key %q with hint %q", plain, key.Hint)
	}
	if got := guard.bearer(t, plain); got != (auth.Identity{Kind: auth.ByAPIKey, Name: "script", Role: auth.RoleOwner}) {
		t.Errorf("identity %+v", got)
	}
	wantNotStored(t, dir, plain)
	wantNotStored(t, dir, plain[3:])

	_, _, err = store.CreateKey(t.Context(), "script")
	wantErr(t, err, auth.ErrKeyTaken)
	_, _, err = store.CreateKey(t.Context(), "")
	wantField(t, err, "name", "enter a name")
	other, _, err := store.CreateKey(t.Context(), "backup")
	if err != nil {
		t.Fatal(err)
	}
	keys, err := store.ListKeys(t.Context())
	if err != nil || len(keys) != 2 || keys[0].Name != "backup" || keys[1].ID != key.ID || !keys[1].CreatedAt.Equal(key.CreatedAt) {
		t.Fatalf("ListKeys = %+v, %v", keys, err)
	}
	if keys[0].UsedAt != nil || keys[1].UsedAt == nil {
		t.Errorf("used: %v and %v, want only the second", keys[0].UsedAt, keys[1].UsedAt)
	}

	if err := command.DeleteKey(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	wantErr(t, command.DeleteKey(t.Context(), key.ID), auth.ErrKeyNotFound)
	if got := guard.bearer(t, plain); got.Kind != "" {
		t.Errorf("a deleted key is %+v", got)
	}
	if got := guard.bearer(t, other); got.Name != "backup" {
		t.Errorf("the other key is %+v", got)
	}
}

func TestKeyUseIsWrittenOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := fresh(t)
		guard := newGuard(store)
		plain, _, err := store.CreateKey(t.Context(), "script")
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		for _, step := range []struct{ wait, written time.Duration }{
			{0, 0}, {59 * time.Second, 0}, {time.Second, time.Minute}, {30 * time.Second, time.Minute},
		} {
			time.Sleep(step.wait)
			guard.bearer(t, plain)
			keys, err := store.ListKeys(t.Context())
			if err != nil || len(keys) != 1 || keys[0].UsedAt == nil {
				t.Fatalf("ListKeys = %+v, %v", keys, err)
			}
			if got := keys[0].UsedAt.Sub(start); got != step.written {
				t.Errorf("after %v used_at is at %v, want %v", time.Since(start), got, step.written)
			}
		}
	})
}
