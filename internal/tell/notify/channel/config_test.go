package channel_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/platform/secret"
	"watchmark/internal/tell/notify/channel"
)

// filled has every field of every config, with secrets that are easy to find, in the order of the adapters.
func filled() []channel.Config {
	return []channel.Config{
		channel.Webhook{
			URL: "https://hooks.example.org/bot1234:hidden-a/send?key=hidden-b2", Method: "PUT",
			Headers: []channel.Header{{Name: "Authorization", Value: "Bearer hidden-c3"}, {Name: "X-Own", Value: "hidden-d4"}}, Template: `{"device_key":"hidden-e5","text":"{text}"}`,
		},
		channel.Email{Host: "smtp.example.org", Port: 2525, TLS: channel.STARTTLS, SkipVerify: true, User: "mira@example.org", Password: "hidden-f6<&", From: "Watch <mira@example.org>", To: []string{"a@example.org", "b@example.org"}},
		channel.WeCom{URL: "https://wecom.example.org/cgi-bin/webhook/send", Key: "hidden-g7-00000", Format: channel.Text, MentionUsers: []string{"@all"}, MentionMobiles: []string{"13800000000"}},
		channel.DingTalk{URL: "https://ding.example.org/robot/send", Token: "hidden-h8-00000", Secret: "SEChidden-i9", Format: channel.Markdown, AtMobiles: []string{"13800000000"}, AtUserIDs: []string{"u1"}, AtAll: true},
	}
}

func TestConfigsSurviveBeingStored(t *testing.T) {
	for i, cfg := range filled() {
		if channel.Adapters[i].Type != cfg.Type() {
			t.Fatalf("filled lacks %s", channel.Adapters[i].Type)
		}
		back, err := channel.Read(cfg.Type(), cfg.Plain())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(cfg, back, cmp.Comparer(func(a, b secret.Text) bool { return a.Reveal() == b.Reveal() })); diff != "" {
			t.Errorf("%s: %s", cfg.Type(), diff)
		}
		if _, wrong := channel.Config.Check(cfg); len(wrong) > 0 {
			t.Errorf("%s: %v", cfg.Type(), wrong)
		}
	}
	if _, err := channel.Read(channel.TypeWeCom, `{"key":"hidden`); err == nil || strings.Contains(err.Error(), "hidden") {
		t.Error(err)
	}
	if len(filled()) != len(channel.Adapters) {
		t.Error("filled lacks the newest type of channel")
	}
	if _, err := channel.Read("pigeon", "{}"); err == nil {
		t.Error("there are pigeons")
	}
}

func TestConfigsDoNotShowTheirSecrets(t *testing.T) {
	for _, cfg := range filled() {
		encoded, err := json.Marshal(cfg)
		if err != nil {
			t.Fatal(err)
		}
		template := ""
		if w, ok := cfg.(channel.Webhook); ok {
			template = w.Template // is shown, for it is edited; the log masks the keys in it
			encoded = []byte(strings.ReplaceAll(string(encoded), "hidden-e5", ""))
			cfg = channel.Webhook{URL: w.URL, Headers: w.Headers}
		}
		for what, text := range map[string]string{"JSON": string(encoded), "print": fmt.Sprintf("%+v %#v", cfg, cfg), "Where": cfg.Where()} {
			if strings.Contains(text, "hidden") {
				t.Errorf("%s of %s%s: %s", what, cfg.Type(), template, text)
			}
		}
	}
}

func TestMaskerLearnsEverySecret(t *testing.T) {
	for _, cfg := range filled() {
		masker := &secret.Masker{}
		for _, s := range cfg.Secrets() {
			masker.Add(s)
		}
		for _, s := range []string{"POST /notify application/json Watchmark sendMessage hooks.example.org", "smtp.example.org"} {
			if got := masker.Mask(s); got != s {
				t.Errorf("%s hides harmless words: %s", cfg.Type(), got)
			}
		}
		if got := masker.Mask(cfg.Plain()); strings.Contains(got, "hidden") {
			t.Errorf("%s: %s", cfg.Type(), got)
		}
	}
}

// asShown is what a form sends back that was not touched.
func asShown(t *testing.T, cfg channel.Config) channel.Config {
	t.Helper()
	encoded, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	back, err := channel.Read(cfg.Type(), string(encoded))
	if err != nil {
		t.Fatal(err)
	}
	return back
}

func TestUntouchedSecretsAreKept(t *testing.T) {
	for _, cfg := range filled() {
		shown := asShown(t, cfg)
		if strings.Contains(shown.Plain(), "hidden-a") {
			t.Fatal("it is not masked")
		}
		if got := shown.Keep(cfg).Plain(); got != cfg.Plain() {
			t.Errorf("%s: %s", cfg.Type(), got)
		}
		for _, old := range []channel.Config{nil, other(cfg)} {
			if _, wrong := shown.Keep(old).Check(); len(wrong) == 0 {
				t.Errorf("%s: a masked secret is taken for one", cfg.Type())
			}
		}
	}
}

func other(cfg channel.Config) channel.Config {
	all := filled()
	at := slices.IndexFunc(all, func(c channel.Config) bool { return c.Type() == cfg.Type() })
	return all[(at+1)%len(all)]
}

func TestSecretsAreNotKeptForAnotherHost(t *testing.T) {
	all := filled()
	w := asShown(t, all[0]).(channel.Webhook)
	w.URL = "https://evil.example/"
	e := asShown(t, all[1]).(channel.Email)
	e.Host = "smtp.evil.example"
	c := asShown(t, all[2]).(channel.WeCom)
	c.URL = "https://evil.example/x"
	d := asShown(t, all[3]).(channel.DingTalk)
	d.URL = "https://evil.example/x"
	for i, cfg := range []channel.Config{w, e, c, d} {
		kept := cfg.Keep(all[i])
		plain := strings.NewReplacer("hidden-e5", "", "SEChidden-i9", "").Replace(kept.Plain()) // the template was sent; a signing secret never leaves
		if _, wrong := kept.Check(); strings.Contains(plain, "hidden") || len(wrong) == 0 {
			t.Errorf("%s: %v, %s", cfg.Type(), wrong, plain)
		}
	}
}
