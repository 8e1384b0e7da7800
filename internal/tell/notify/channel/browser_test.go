package channel_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/secret"
	"watchmark/internal/tell/notify/channel"
	"watchmark/internal/tell/notify/webpush"
	"watchmark/internal/testkit/channeltest"
)

// pushTools are tools that sign with a key, and its public half.
func pushTools(t *testing.T) (*channel.Tools, string) {
	t.Helper()
	key, err := webpush.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	made := tools(t)
	made.SignPushes(key)
	return made, key.Public()
}

func subscribed(b *channeltest.PushBrowser) channel.Browser {
	return channel.BrowserOf(b.Endpoint, b.P256dh, b.Auth, "https://watch.example.org", bilingual.Chinese)
}

func TestABrowserReadsWhatIsPushed(t *testing.T) {
	push := channeltest.NewPush(t)
	push.WantsSender()
	made, key := pushTools(t)
	to := push.Subscribe(key)
	m := message()
	m.ID, m.Page, m.Language = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "/review", bilingual.Chinese
	m.Actions = []channel.Action{{Label: "就是它", Token: "t-1"}, {Label: "以后再说", Token: "t-2"}}
	if err := open(t, made, subscribed(to)).Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	got := to.Got()
	if len(got) != 1 || got[0].Err != nil {
		t.Fatalf("it got %+v", got)
	}
	want := `{"title":"标记失败","text":"葬送的芙莉莲 第 3 话\n服务器没有回答","tag":"ABCDEFGHIJKLMNOPQRSTUVWXYZ","page":"/review","lang":"zh-CN","at":1795292100000,` +
		`"failed":"未能发送。请打开 Watchmark，在页面上处理。","actions":[{"title":"就是它","token":"t-1"},{"title":"以后再说","token":"t-2"}]}`
	if string(got[0].Plain) != want {
		t.Errorf("it reads %s", got[0].Plain)
	}
	h := got[0].Header
	if h.Get("TTL") != "86400" || h.Get("Urgency") != "normal" || h.Get("Topic") != m.ID || got[0].Claims["sub"] != "https://watch.example.org" {
		t.Errorf("the headers are %v, the claims %v", h, got[0].Claims)
	}
}

func TestALongMessageFits(t *testing.T) {
	push := channeltest.NewPush(t)
	made, key := pushTools(t)
	for name, text := range map[string]string{"Chinese": strings.Repeat("长", 9000), "escaped": strings.Repeat("\\", 9000), "lines": strings.Repeat("a\n", 9000), "other": strings.Repeat("\u2028<", 4000)} {
		to := push.Subscribe(key)
		m := message()
		m.Title, m.Text, m.Page = strings.Repeat("\"", 3000), text, "/inbox"
		m.Actions = []channel.Action{{Label: "This one", Token: strings.Repeat("x", 26)}, {Label: "Not now", Token: strings.Repeat("y", 26)}}
		if err := open(t, made, subscribed(to)).Send(t.Context(), m); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := to.Got(); got[0].Err != nil || !json.Valid(got[0].Plain) {
			t.Errorf("%s: it reads %v %s", name, got[0].Err, got[0].Plain)
		}
	}
}

func TestWhatAPushServiceSays(t *testing.T) {
	made, key := pushTools(t)
	_, otherKey := pushTools(t)
	for name, c := range map[string]struct {
		reply channeltest.Reply
		key   string
		gone  bool
		// wrong is set for a subscription that the service does not know.
		wrong, sender, cut bool
		site               string
		blame              channel.Blame
		retry              time.Duration
	}{
		"the browser ended it":      {gone: true, blame: channel.Gone},
		"it does not know it":       {wrong: true, blame: channel.Gone},
		"subscribed to another key": {key: otherKey, blame: channel.OfChannel},
		"Apple, another key":        {reply: channeltest.Reply{Status: 400, Body: `{"reason":"VapidPkHashMismatch"}`}, blame: channel.OfChannel},
		"it wants to know who":      {sender: true, blame: channel.OfChannel},
		"too large":                 {reply: channeltest.Reply{Status: 413}, blame: channel.OfMessage},
		"a bad request":             {reply: channeltest.Reply{Status: 400}, blame: channel.OfMessage},
		"too many":                  {reply: channeltest.Reply{Status: 429, Header: http.Header{"Retry-After": {"120"}}}, blame: channel.Temporary, retry: 2 * time.Minute},
		"its answer is lost":        {cut: true, blame: channel.Temporary},
		"down":                      {reply: channeltest.Reply{Status: 503}, blame: channel.Temporary},
		"elsewhere":                 {reply: channeltest.Reply{Status: 307, Header: http.Header{"Location": {"https://evil.example/"}}}, blame: channel.OfChannel},
	} {
		t.Run(name, func(t *testing.T) {
			push := channeltest.NewPush(t)
			push.Reply(c.reply)
			if c.key == "" {
				c.key = key
			}
			to := push.Subscribe(c.key)
			if c.gone {
				to.Unsubscribe()
			}
			if c.cut {
				push.CutAnswers()
			}
			config := subscribed(to)
			if c.wrong {
				config.Endpoint += "x"
			}
			if c.sender {
				push.WantsSender()
				config.Site = "http://192.168.1.2:8787"
			}
			f := failure(t, open(t, made, config).Send(t.Context(), message()), c.blame, config.Endpoint.Reveal(), config.Auth.Reveal())
			if f.RetryAfter != c.retry {
				t.Errorf("it waits %s", f.RetryAfter)
			}
			if advised := strings.Contains(f.Advice.In(bilingual.English), "switch its notifications on again"); advised != (c.blame == channel.OfChannel) {
				t.Errorf("the advice is %s", f.Advice)
			}
		})
	}
	push := channeltest.NewPush(t)
	push.Reply(channeltest.Reply{Status: http.StatusOK})
	if err := open(t, made, subscribed(push.Subscribe(key))).Send(t.Context(), message()); err != nil {
		t.Errorf("200 is %v", err)
	}
}

func TestWhatNoBrowserTells(t *testing.T) {
	t.Parallel()
	push := channeltest.NewPush(t)
	good := subscribed(push.Subscribe("x"))
	for name, c := range map[string]struct {
		change func(*channel.Browser)
		wrong  string
	}{
		"as it is":     {func(*channel.Browser) {}, ""},
		"http":         {func(b *channel.Browser) { b.Endpoint = "http://push.example.org/x" }, "endpoint"},
		"no host":      {func(b *channel.Browser) { b.Endpoint = "https:///x" }, "endpoint"},
		"a password":   {func(b *channel.Browser) { b.Endpoint = "https://a:b@push.example.org/x" }, "endpoint"},
		"a file":       {func(b *channel.Browser) { b.Endpoint = "file:///etc/passwd" }, "endpoint"},
		"a wrong port": {func(b *channel.Browser) { b.Endpoint = "https://push.example.org:99999/x" }, "endpoint"},
		"metadata":     {func(b *channel.Browser) { b.Endpoint = "https://169.254.169.254/x" }, "endpoint"},
		"too long": {func(b *channel.Browser) {
			b.Endpoint = "https://push.example.org/" + secret.Text(strings.Repeat("x", 2100))
		}, "endpoint"},
		"no key":              {func(b *channel.Browser) { b.P256dh = "" }, "p256dh"},
		"no secret":           {func(b *channel.Browser) { b.Auth = "AAAA" }, "auth"},
		"another language":    {func(b *channel.Browser) { b.Language = "de" }, "language"},
		"masked":              {func(b *channel.Browser) { b.Endpoint = secret.Shown }, "endpoint"},
		"keys of another one": {func(b *channel.Browser) { b.Auth = secret.Shown }, "auth"},
	} {
		config := good
		c.change(&config)
		if wrong := wrongFields(config); wrong != c.wrong {
			t.Errorf("%s: wrong are %q", name, wrong)
		}
	}
	// A form that changes the language sends the rest masked; a new address is never joined with the keys of before.
	touched := channel.BrowserOf(secret.Shown, secret.Shown, secret.Shown, "", bilingual.English).Keep(good)
	if kept, is := touched.(channel.Browser); !is || kept.Endpoint != good.Endpoint || kept.Auth != good.Auth || kept.Site != good.Site || kept.Language != "en" {
		t.Errorf("kept is %+v", touched)
	}
	moved := channel.BrowserOf("https://evil.example/x", secret.Shown, secret.Shown, "", "").Keep(good)
	if wrong := wrongFields(moved); wrong == "" {
		t.Error("the keys went to another address")
	}
}
