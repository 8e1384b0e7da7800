package secret_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"watchmark/internal/platform/secret"
)

func openBox(t *testing.T, dir, env string) *secret.Box {
	t.Helper()
	box, err := secret.OpenBox(dir, env, false)
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func TestBoxOpensWhatItSealed(t *testing.T) {
	dir := t.TempDir()
	sealed := openBox(t, dir, "").Seal("a token", "accounts/1/access_token")
	if strings.Contains(sealed, "token") {
		t.Errorf("sealed text shows the value: %s", sealed)
	}
	again := openBox(t, dir, "")
	if got, err := again.Open(sealed, "accounts/1/access_token"); err != nil || got != "a token" {
		t.Errorf("after a restart: %q, %v", got, err)
	}
	if _, err := again.Open(sealed, "accounts/2/access_token"); !errors.Is(err, secret.ErrDamaged) {
		t.Errorf("moved to another row: %v", err)
	}
	info, err := os.Stat(filepath.Join(dir, "secret.key"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key file: %v, %v", info.Mode(), err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
}

func TestBoxRefuses(t *testing.T) {
	box := openBox(t, t.TempDir(), "")
	sealed := box.Seal("a token", "p")
	parts := strings.Split(sealed, ":")
	other := openBox(t, t.TempDir(), "").Seal("a token", "p")
	flipped := []byte(sealed)
	flipped[len(flipped)-5] ^= 1
	for name, c := range map[string]struct {
		sealed string
		want   error
	}{
		"another key":       {other, secret.ErrWrongKey},
		"a forged key id":   {"wm1:" + parts[1] + ":" + strings.Split(other, ":")[2], secret.ErrDamaged},
		"a flipped bit":     {string(flipped), secret.ErrDamaged},
		"a cut value":       {sealed[:20], secret.ErrDamaged},
		"plain text":        {"a token", secret.ErrDamaged},
		"nothing":           {"", secret.ErrDamaged},
		"an unknown scheme": {"wm9" + sealed[3:], secret.ErrDamaged},
	} {
		if got, err := box.Open(c.sealed, "p"); !errors.Is(err, c.want) || got != "" {
			t.Errorf("%s: %q, %v, want %v", name, got, err, c.want)
		}
	}
}

func TestKeyFromEnvironment(t *testing.T) {
	key := []byte("0123456789abcdef0123456789abcdef")
	dir := t.TempDir()
	sealed := openBox(t, dir, hex.EncodeToString(key)).Seal("x", "p")
	for _, env := range []string{base64.StdEncoding.EncodeToString(key), base64.RawURLEncoding.EncodeToString(key) + "\n"} {
		if got, err := openBox(t, dir, env).Open(sealed, "p"); err != nil || got != "x" {
			t.Errorf("%q: %q, %v", env, got, err)
		}
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("a key file was made: %v", files)
	}
	if _, err := secret.OpenBox(dir, "short", false); !errors.Is(err, secret.ErrBadKey) || strings.Contains(err.Error(), "short") {
		t.Errorf("bad key: %v", err)
	}
}

func TestKeyFileIsMadeOnce(t *testing.T) {
	dir := t.TempDir()
	sealed := make([]string, 8)
	var wg sync.WaitGroup
	for i := range sealed {
		wg.Go(func() {
			box, err := secret.OpenBox(dir, "", false)
			if err != nil {
				t.Error(err)
				return
			}
			sealed[i] = box.Seal("x", "p")
		})
	}
	wg.Wait()
	box := openBox(t, dir, "")
	for _, s := range sealed {
		if _, err := box.Open(s, "p"); err != nil {
			t.Error(err)
		}
	}
}

func TestKeyIsNotMadeAnewForWhatIsSealed(t *testing.T) {
	dir := t.TempDir()
	if _, err := secret.OpenBox(dir, "", true); !errors.Is(err, secret.ErrNoKey) {
		t.Error(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
	openBox(t, dir, "")
	if _, err := secret.OpenBox(dir, "", true); err != nil {
		t.Error(err)
	}
}

func TestDamagedKeyFileIsNamed(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "secret.key"), []byte("zz"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := secret.OpenBox(dir, "", false)
	if !errors.Is(err, secret.ErrBadKey) || !strings.Contains(err.Error(), "secret.key") {
		t.Error(err)
	}
}

func TestTextDoesNotShowItself(t *testing.T) {
	text := secret.Text("hunter2hunter2")
	all := fmt.Sprintf("%v %+v %#v %s %q %x %d %v %+v %#v", text, text, text, text, text, text, text,
		[]secret.Text{text}, struct{ T secret.Text }{text}, map[string]secret.Text{"a": text})
	asJSON, err := json.Marshal(map[string]any{"a": []secret.Text{text}})
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{all, string(asJSON), fmt.Sprint(text.LogValue())} {
		if strings.Contains(shown, "hunter2") || strings.Contains(shown, "68756e746572") || !strings.Contains(shown, "***") {
			t.Error(shown)
		}
	}
	if text.Reveal() != "hunter2hunter2" || secret.Text("").String() != "" {
		t.Error("Reveal or empty")
	}
	var decoded struct{ T secret.Text }
	if err := json.Unmarshal([]byte(`{"T":"abc"}`), &decoded); err != nil || decoded.T.Reveal() != "abc" {
		t.Error(decoded.T.Reveal(), err)
	}
}
