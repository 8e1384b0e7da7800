package channel_test

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/secret"
	"watchmark/internal/tell/notify/channel"
	"watchmark/internal/testkit/channeltest"
)

// TestMain has the certificate of the mail servers trusted, as an administrator would, and the service in a zone of its own.
func TestMain(m *testing.M) {
	time.Local = time.FixedZone("", 8*3600) // before anything reads it
	dir, err := os.MkdirTemp("", "channel")
	if err != nil {
		panic(err)
	}
	file := filepath.Join(dir, "trusted.pem")
	if err := errors.Join(os.WriteFile(file, channeltest.Certificate(), 0o600), os.Setenv("SSL_CERT_FILE", file), os.Setenv("SSL_CERT_DIR", dir)); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func tools(t *testing.T) *channel.Tools {
	t.Helper()
	return toolsWith(t, httpx.Config{UserAgent: "watchmark/test"}, time.Now)
}

func toolsWith(t *testing.T, cfg httpx.Config, now func() time.Time) *channel.Tools {
	t.Helper()
	made, err := channel.NewTools(cfg, now, &secret.Masker{}, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(made.Close)
	return made
}

// open is a sender with a config that was checked, stored and read back.
func open(t *testing.T, tools *channel.Tools, cfg channel.Config) channel.Sender {
	t.Helper()
	checked, wrong := cfg.Check()
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	stored, err := channel.Read(checked.Type(), checked.Plain())
	if err != nil {
		t.Fatal(err)
	}
	return stored.Open(tools)
}

func message() channel.Message {
	return channel.Message{
		ID: "n-17", Kind: "mark_failed", Title: "标记失败", Text: "葬送的芙莉莲 第 3 话\n服务器没有回答", Link: "https://watch.example.org/records/7",
		At: time.Date(2026, 11, 21, 20, 15, 0, 0, time.UTC), Count: 1,
		Facts: map[string]string{"title": "Frieren", "anime": "Frieren", "user": "mira", "season": "1", "episode": "3", "source": "plex", "error": "no answer", "type_name": "失败"},
	}
}

// failure is what err says, which must be a *Failure of this blame without any of the secrets.
func failure(t *testing.T, err error, blame channel.Blame, secrets ...string) channel.Failure {
	t.Helper()
	var f *channel.Failure
	if !errors.As(err, &f) {
		t.Fatalf("%v is no failure", err)
	}
	if f.Blame != blame {
		t.Errorf("blame %d, not %d: %v", f.Blame, blame, f)
	}
	for _, s := range secrets {
		if strings.Contains(f.Error(), s) {
			t.Errorf("%q is told: %v", s, f)
		}
	}
	return *f
}

// wrongFields are the fields with problems.
func wrongFields(cfg channel.Config) string {
	_, wrong := cfg.Check()
	var names []string
	for _, w := range wrong {
		names = append(names, w.Field)
	}
	return strings.Join(names, " ")
}
