package channel_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/secret"
	"watchmark/internal/tell/notify/channel"
	"watchmark/internal/testkit/channeltest"
)

func TestDingTalkMessages(t *testing.T) {
	r := channeltest.NewDingTalk(t)
	got := say(t, r, channel.DingTalk{Token: secret.Text(r.Address)}, message())
	want := "**标记失败**\n\n葬送的芙莉莲 第 3 话  \n服务器没有回答\n\n[Watchmark](https://watch.example.org/records/7)"
	if got.Format != "markdown" || got.Title != "标记失败" || got.Text != want {
		t.Errorf("%+v", got)
	}
	got = say(t, r, channel.DingTalk{URL: r.Address, AtMobiles: []string{"13800000000"}, AtUserIDs: []string{"u1", "@all"}}, message())
	if got.Text != want+" @13800000000 @u1" || !slices.Equal(got.Mentioned, []string{"13800000000", "u1", "@all"}) {
		t.Errorf("%+v", got)
	}
	got = say(t, r, channel.DingTalk{URL: r.Address, Format: channel.Text, AtMobiles: []string{"13800000000"}}, message())
	if got.Format != "text" || got.Text != "标记失败\n葬送的芙莉莲 第 3 话\n服务器没有回答\nWatchmark: https://watch.example.org/records/7 @13800000000" || len(got.Mentioned) != 1 {
		t.Errorf("%+v", got)
	}
	if got = say(t, r, channel.DingTalk{URL: r.Address}, channel.Message{ID: "x", Text: "no title"}); got.Title != "Watchmark" {
		t.Errorf("%+v", got)
	}
}

// The vector of upstreams/channels.md, section 2.
func TestDingTalkSignature(t *testing.T) {
	if got := channel.Sign("SECexample", "1700000000000"); got != "uroalHrWHORz59talE1o26b8HuX2kOp8WlAN91F9Pj0=" {
		t.Error(got)
	}
	h := channeltest.NewHook(t)
	h.Reply(channeltest.Reply{Body: `{"errcode":0}`})
	at := toolsWith(t, httpx.Config{}, func() time.Time { return time.UnixMilli(1700000000000) })
	if err := open(t, at, channel.DingTalk{URL: h.URL, Token: "token-token", Secret: "SECexample"}).Send(t.Context(), message()); err != nil {
		t.Fatal(err)
	}
	want := "access_token=token-token&sign=uroalHrWHORz59talE1o26b8HuX2kOp8WlAN91F9Pj0%3D&timestamp=1700000000000"
	if got := h.Requests()[0].URL.RawQuery; got != want {
		t.Error(got)
	}
	if h.Requests()[0].URL.Query()["timestamp"][0] == "" || h.Requests()[0].Header.Get("Content-Type") != "application/json; charset=utf-8" {
		t.Errorf("%v", h.Requests()[0].Header)
	}
}

func TestDingTalkSafetySettings(t *testing.T) {
	for name, c := range map[string]struct {
		set    func(*channeltest.Robot)
		secret secret.Text
		ahead  time.Duration
		advice string // none: it is taken
	}{
		"keyword Watchmark":  {set: func(r *channeltest.Robot) { r.Keyword = "Watchmark" }},
		"another keyword":    {set: func(r *channeltest.Robot) { r.Keyword = "告警" }, advice: "set the keyword of the robot to Watchmark"},
		"signed":             {set: func(r *channeltest.Robot) { r.Secret = "SECa" }, secret: "SECa"},
		"signed, some drift": {set: func(r *channeltest.Robot) { r.Secret = "SECa" }, secret: "SECa", ahead: 59 * time.Minute},
		"clock is wrong":     {set: func(r *channeltest.Robot) { r.Secret = "SECa" }, secret: "SECa", ahead: 61 * time.Minute, advice: "clock"},
		"another secret":     {set: func(r *channeltest.Robot) { r.Secret = "SECa" }, secret: "SECb", advice: "加签"},
		"address":            {set: func(r *channeltest.Robot) { r.ForeignOnly = true }, advice: "public address"},
	} {
		t.Run(name, func(t *testing.T) {
			r := channeltest.NewDingTalk(t)
			c.set(r)
			made := toolsWith(t, httpx.Config{}, func() time.Time { return time.Now().Add(c.ahead) })
			err := open(t, made, channel.DingTalk{URL: r.Address + "&timestamp=1500000000000&sign=stale%3D", Secret: c.secret}).Send(t.Context(), message())
			if c.advice == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if f := failure(t, err, channel.OfChannel, "203.0.113.7", "SECa"); !strings.Contains(f.Advice.Text, c.advice) {
				t.Error(f)
			}
		})
	}
}

func TestDingTalkCodes(t *testing.T) {
	blames := map[channel.Blame][]int{
		channel.Temporary: {-1, 130101, 410100},
		channel.OfChannel: {310000, 300001, 300005, 400101, 400013, 400102, 400106},
		channel.OfMessage: {400105, 40035, 43002, 43004, 430101, 430102, 430103, 430104, 460101, 77},
	}
	waits := map[int]time.Duration{130101: 10 * time.Minute, 410100: time.Minute}
	for blame, codes := range blames {
		for _, code := range codes {
			r := channeltest.NewDingTalk(t)
			r.Answer(code)
			f := failure(t, open(t, tools(t), channel.DingTalk{URL: r.Address}).Send(t.Context(), message()), blame)
			if f.RetryAfter != waits[code] || blame == channel.OfChannel && f.Advice.IsZero() {
				t.Errorf("%d: %v after %v", code, f, f.RetryAfter)
			}
		}
	}
}

func TestDingTalkBlocksForTenMinutes(t *testing.T) {
	r := channeltest.NewDingTalk(t)
	now := time.Now()
	r.Now = func() time.Time { return now }
	r.PerMinute = 2
	sender := open(t, tools(t), channel.DingTalk{URL: r.Address})
	for range 2 {
		if err := sender.Send(t.Context(), message()); err != nil {
			t.Fatal(err)
		}
	}
	for _, later := range []time.Duration{0, 9 * time.Minute} {
		now = now.Add(later)
		if f := failure(t, sender.Send(t.Context(), message()), channel.Temporary); f.RetryAfter != 10*time.Minute {
			t.Error(f.RetryAfter)
		}
	}
	now = now.Add(2 * time.Minute)
	if err := sender.Send(t.Context(), message()); err != nil {
		t.Error(err)
	}
}

func TestDingTalkCheck(t *testing.T) {
	const token = "abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789"
	const standard = "https://oapi.dingtalk.com/robot/send"
	cfg, wrong := channel.DingTalk{Token: secret.Text(standard + "?access_token=" + token + "&timestamp=1500000000000&sign=" + url.QueryEscape("a+b=")), Secret: " SECx "}.Check()
	d := cfg.(channel.DingTalk)
	if d.URL != standard || d.Token.Reveal() != token || d.Secret.Reveal() != "SECx" || d.Format != channel.Markdown || len(wrong) > 0 {
		t.Errorf("%+v %v", d, wrong)
	}
	for name, c := range map[string]struct {
		cfg  channel.DingTalk
		want string
	}{
		"no token":          {channel.DingTalk{}, "token"},
		"secret with space": {channel.DingTalk{Token: token, Secret: "SEC a"}, "secret"},
		"masked secret":     {channel.DingTalk{Token: token, Secret: "***"}, "secret"},
		"format":            {channel.DingTalk{Token: token, Format: "card"}, "format"},
		"number":            {channel.DingTalk{Token: token, AtMobiles: []string{"mira"}}, "at_mobiles"},
		"user":              {channel.DingTalk{Token: token, AtUserIDs: []string{"a[b]"}}, "at_user_ids"},
	} {
		if got := wrongFields(c.cfg); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
