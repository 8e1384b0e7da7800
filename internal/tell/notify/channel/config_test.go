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
	configs := []channel.Config{
		channel.Webhook{
			URL: "https://hooks.example.org/bot1234:hidden-a/send?key=hidden-b2", Method: "PUT",
			Headers: []channel.Header{{Name: "Authorization", Value: "Bearer hidden-c3"}, {Name: "X-Own", Value: "hidden-d4"}}, Template: `{"device_key":"hidden-e5","text":"{text}"}`,
		},
		channel.Email{Host: "smtp.example.org", Port: 2525, TLS: channel.STARTTLS, SkipVerify: true, User: "mira@example.org", Password: "hidden-f6<&", From: "Watch <mira@example.org>", To: []string{"a@example.org", "b@example.org"}},
		channel.WeCom{URL: "https://wecom.example.org/cgi-bin/webhook/send", Key: "hidden-g7-00000", Format: channel.Text, MentionUsers: []string{"@all"}, MentionMobiles: []string{"13800000000"}},
		channel.DingTalk{URL: "https://ding.example.org/robot/send", Token: "hidden-h8-00000", Secret: "SEChidden-i9", Format: channel.Markdown, AtMobiles: []string{"13800000000"}, AtUserIDs: []string{"u1"}, AtAll: true},
		channel.Telegram{URL: "https://telegram.example.org", Token: "12345:hidden-j0-0000000000", Chat: "-1001", Topic: "7"},
		channel.Discord{URL: "https://discord.com/api/webhooks/123456789/hidden-k1-0000000000000", Thread: "5"},
		channel.Slack{URL: "https://hooks.slack.com/services/T0/B0/hiddenl20000000"},
		channel.Ntfy{URL: "https://ntfy.example.org", Topic: "hidden-m3-0000", Token: "tk_hiddenm40000", Priority: channel.High},
		channel.Gotify{URL: "https://gotify.example.org", Token: "hidden-n5-0000", Priority: channel.Low},
		channel.Bark{URL: "https://bark.example.org", Key: "hidden-o6-0000", Priority: channel.Normal},
		channel.ServerChan{URL: "https://chan.example.org", Key: "SCThiddenp7000000"},
		channel.PushDeer{URL: "https://deer.example.org", Key: "PDUhiddenq8000000,PDUhiddenq9000000"},
		channel.Apprise{URL: "https://apprise.example.org", Tag: "home", URLs: "tgram://hidden-r0/1,json://hidden-s1/2"},
		channel.HomeAssistant{URL: "https://ha.example.org", Action: "notify.mobile_app_x", Token: "hidden-t2-000000000000"},
		channel.Matrix{URL: "https://matrix.example.org", Room: "!r:example.org", Token: "hidden-u3-0000"},
		channel.Browser{Endpoint: "https://push.example.org/hidden-j1", P256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", Auth: "hiddenAAAAAAAAAAAAAAAA", Site: "https://watch.example.org", Language: "zh-CN"},
	}
	order := channel.Types()
	slices.SortFunc(configs, func(a, b channel.Config) int { return slices.Index(order, a.Type()) - slices.Index(order, b.Type()) })
	return configs
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
	for _, old := range filled() {
		elsewhere := map[string]any{}
		if err := json.Unmarshal([]byte(asShown(t, old).Plain()), &elsewhere); err != nil {
			t.Fatal(err)
		}
		switch old.Type() {
		case channel.TypeEmail:
			elsewhere["host"] = "smtp.evil.example"
		case channel.TypeBrowser:
			elsewhere["endpoint"] = "https://evil.example/x"
		default:
			elsewhere["url"] = "https://evil.example/x"
		}
		encoded, err := json.Marshal(elsewhere)
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := channel.Read(old.Type(), string(encoded))
		if err != nil {
			t.Fatal(err)
		}
		kept := cfg.Keep(old)
		plain := strings.NewReplacer("hidden-e5", "", "SEChidden-i9", "").Replace(kept.Plain()) // the template was sent; a signing secret never leaves
		if _, wrong := kept.Check(); strings.Contains(plain, "hidden") || len(wrong) == 0 {
			t.Errorf("%s: %v, %s", cfg.Type(), wrong, plain)
		}
	}
}
