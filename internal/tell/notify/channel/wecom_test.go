package channel_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"watchmark/internal/platform/secret"
	"watchmark/internal/tell/notify/channel"
	"watchmark/internal/testkit/channeltest"
)

// say sends m by cfg and gives what the group sees.
func say(t *testing.T, r *channeltest.Robot, cfg channel.Config, m channel.Message) channeltest.Said {
	t.Helper()
	if err := open(t, tools(t), cfg).Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	all := r.Messages()
	return all[len(all)-1]
}

func TestWeComMessages(t *testing.T) {
	r := channeltest.NewWeCom(t)
	got := say(t, r, channel.WeCom{Key: secret.Text(r.Address)}, message())
	want := "**标记失败**\n葬送的芙莉莲 第 3 话\n服务器没有回答\n[Watchmark](https://watch.example.org/records/7)"
	if got.Format != "markdown" || got.Text != want {
		t.Errorf("%+v", got)
	}
	got = say(t, r, channel.WeCom{URL: r.Address, MentionUsers: []string{"mira, kai"}}, message())
	if got.Text != want+" <@mira> <@kai>" {
		t.Errorf("%+v", got)
	}
	m := message()
	m.Link = ""
	got = say(t, r, channel.WeCom{URL: r.Address, Format: "Text", MentionUsers: []string{"mira", "@all"}, MentionMobiles: []string{"13800000000"}}, m)
	if got.Format != "text" || got.Text != "标记失败\n葬送的芙莉莲 第 3 话\n服务器没有回答\nWatchmark" || !slices.Equal(got.Mentioned, []string{"mira", "@all", "13800000000"}) {
		t.Errorf("%+v", got)
	}
}

// hostile is a message whose every part wants to be more than text.
func hostile() channel.Message {
	m := message()
	m.Title = "x\n# <@userid> @all [click](https://evil.example) \u202e\x00"
	m.Text = "# <@userid> @all [click](https://evil.example) <font color=\"warning\">a</font>\r\n---\n<@ userid>"
	m.Link = "https://watch.example.org/a)b<@all>"
	return m
}

func TestWhatComesFromOutsideMentionsAndLinksNothing(t *testing.T) {
	wecom, dingtalk := channeltest.NewWeCom(t), channeltest.NewDingTalk(t)
	for name, said := range map[string]channeltest.Said{
		"wecom":    say(t, wecom, channel.WeCom{URL: wecom.Address}, hostile()),
		"dingtalk": say(t, dingtalk, channel.DingTalk{URL: dingtalk.Address}, hostile()),
	} {
		own := "[Watchmark](https://watch.example.org/a%29b%3C@all%3E)"
		text, found := strings.CutSuffix(said.Text, own)
		if !found || strings.ContainsAny(text, "<>[]@\x00\u202e\r") || strings.Contains(text, "\n#") || strings.Contains(text, "---") {
			t.Errorf("%s: %q", name, said.Text)
		}
	}
	text := say(t, wecom, channel.WeCom{URL: wecom.Address, Format: channel.Text}, hostile()).Text
	if strings.Contains(strings.TrimSuffix(text, "@all%3E"), "<@") || strings.Contains(text, "< @") || strings.Contains(text, "<@ ") {
		t.Errorf("%q", text)
	}
}

func TestMessagesOfRobotsAreCut(t *testing.T) {
	m := message()
	m.Title, m.Text = strings.Repeat("题", 1000), strings.Repeat("\"字<\n", 20_000)
	for name, c := range map[string]struct {
		start  func(channeltest.TB) *channeltest.Robot
		config func(string) channel.Config
		least  int
	}{
		"wecom text":        {channeltest.NewWeCom, func(a string) channel.Config { return channel.WeCom{URL: a, Format: channel.Text} }, 2000},
		"wecom markdown":    {channeltest.NewWeCom, func(a string) channel.Config { return channel.WeCom{URL: a, MentionUsers: []string{"mira"}} }, 4050},
		"dingtalk text":     {channeltest.NewDingTalk, func(a string) channel.Config { return channel.DingTalk{URL: a, Format: channel.Text} }, 12_000},
		"dingtalk markdown": {channeltest.NewDingTalk, func(a string) channel.Config { return channel.DingTalk{URL: a} }, 12_000},
	} {
		r := c.start(t) // refuses what is too long
		got := say(t, r, c.config(r.Address), m).Text
		if len(got) < c.least || !utf8.ValidString(got) || !strings.Contains(got, "…") || !strings.Contains(got, "Watchmark") || !strings.Contains(got, "records/7") {
			t.Errorf("%s: %d bytes, ends in %q", name, len(got), got[max(len(got)-100, 0):])
		}
	}
}

func TestWeComCodes(t *testing.T) {
	for code, c := range map[int]struct {
		blame channel.Blame
		wait  time.Duration
	}{
		-1: {channel.Temporary, 0}, 45033: {channel.Temporary, 0}, 45009: {channel.Temporary, time.Minute}, 93000: {channel.OfChannel, 0},
		40058: {channel.OfMessage, 0}, 40008: {channel.OfMessage, 0}, 40033: {channel.OfMessage, 0}, 40035: {channel.OfMessage, 0}, 44004: {channel.OfMessage, 0}, 45002: {channel.OfMessage, 0},
		99999: {channel.OfMessage, 0},
	} {
		r := channeltest.NewWeCom(t)
		r.Answer(code)
		f := failure(t, open(t, tools(t), channel.WeCom{URL: r.Address}).Send(t.Context(), message()), c.blame, "203.0.113.7", "693a91f6")
		if f.RetryAfter != c.wait || !strings.Contains(f.Problem.Text, "WeCom") {
			t.Errorf("%d: %v after %v", code, f, f.RetryAfter)
		}
	}
}

func TestWeComTakesTwentyAMinute(t *testing.T) {
	r := channeltest.NewWeCom(t)
	now := time.Now()
	r.Now = func() time.Time { return now }
	sender := open(t, tools(t), channel.WeCom{URL: r.Address})
	for range 20 {
		if err := sender.Send(t.Context(), message()); err != nil {
			t.Fatal(err)
		}
	}
	failure(t, sender.Send(t.Context(), message()), channel.Temporary)
	now = now.Add(time.Minute)
	if err := sender.Send(t.Context(), message()); err != nil {
		t.Error(err)
	}
}

func TestWeComWithAWrongKey(t *testing.T) {
	r := channeltest.NewWeCom(t)
	failure(t, open(t, tools(t), channel.WeCom{URL: r.Address[:len(r.Address)-1] + "b"}).Send(t.Context(), message()), channel.OfChannel)
}

func TestRobotsAreBelievedOnlyWithAnErrcode(t *testing.T) {
	quick := tools(t)
	for fault, c := range map[channeltest.Fault]struct {
		blame channel.Blame
		text  string
		wait  time.Duration
	}{
		channeltest.Page: {channel.Temporary, "limits this network", time.Minute}, channeltest.Punish: {channel.Temporary, "limits this network", time.Minute},
		channeltest.Empty: {channel.Temporary, "limits this network", time.Minute}, channeltest.Broken: {channel.Temporary, "502", time.Minute},
		channeltest.Cut: {channel.Unsure, "its answer was lost", 0}, channeltest.Redirect: {channel.OfChannel, "https://elsewhere.example", 0},
	} {
		wecom, dingtalk := channeltest.NewWeCom(t), channeltest.NewDingTalk(t)
		wecom.Misbehave(fault)
		dingtalk.Misbehave(fault)
		for _, cfg := range []channel.Config{channel.WeCom{URL: wecom.Address}, channel.DingTalk{URL: dingtalk.Address}} {
			f := failure(t, open(t, quick, cfg).Send(t.Context(), message()), c.blame, "693a91f6")
			if !strings.Contains(f.Problem.Text, c.text) || f.RetryAfter != c.wait {
				t.Errorf("%s, %s: %v after %v", cfg.Type(), fault, f, f.RetryAfter)
			}
		}
	}
	h := channeltest.NewHook(t)
	for body, taken := range map[string]bool{
		`{"errcode":0,"errmsg":"ok"}`: true, `{"errcode":"0"}`: true, `{"errcode":0,"errmsg":"Warning: wrong json format"}`: true,
		`{"errcode":null}`: false, `{"errcode":0.5}`: false, `{"errcode":"x"}`: false, `[]`: false, ``: false, `{"errcode":0`: false,
	} {
		h.Reply(channeltest.Reply{Body: body})
		if err := open(t, quick, channel.WeCom{URL: h.URL, Key: "693a91f6"}).Send(t.Context(), message()); (err == nil) != taken {
			t.Errorf("%s: %v", body, err)
		}
	}
	h.Reply(channeltest.Reply{Status: 404, Body: "not found"})
	failure(t, open(t, quick, channel.WeCom{URL: h.URL, Key: "693a91f6"}).Send(t.Context(), message()), channel.OfChannel)
	h.Reply(channeltest.Reply{Status: 500, Body: `{"errcode":0}`})
	failure(t, open(t, quick, channel.WeCom{URL: h.URL, Key: "693a91f6"}).Send(t.Context(), message()), channel.Temporary)
}

func TestWeComCheck(t *testing.T) {
	const key = "693a91f6-7aoc-4bc4-97a0-0ec2sifa5aaa"
	const standard = "https://qyapi.weixin.qq.com/cgi-bin/webhook/send"
	for name, c := range map[string]struct{ url, key, wantURL, wantKey, wrong string }{
		"key alone":             {"", " " + key + " ", standard, key, ""},
		"address as key":        {"", standard + "?key=" + key, standard, key, ""},
		"address":               {standard + "?key=" + key + "&debug=1", "", standard, key, ""},
		"both":                  {standard + "?key=" + key, key, standard, key, ""},
		"address over a shown":  {standard + "?key=" + key, "***", standard, key, ""},
		"own deployment":        {"https://wecom.example.org:8443/cgi-bin/webhook/send", key, "https://wecom.example.org:8443/cgi-bin/webhook/send", key, ""},
		"host alone":            {"https://wecom.example.org", key, "https://wecom.example.org/cgi-bin/webhook/send", key, ""},
		"in the home":           {"http://192.168.1.5/x", key, "http://192.168.1.5/x", key, ""},
		"another key":           {standard + "?key=" + key, "other-key", standard, "other-key", "key"},
		"no key":                {"", "", standard, "", "key"},
		"address without a key": {standard, "", standard, "", "key"},
		"unencrypted":           {"http://qyapi.weixin.qq.com/cgi-bin/webhook/send", key, "http://qyapi.weixin.qq.com/cgi-bin/webhook/send", key, "url"},
		"no address":            {"qyapi.weixin.qq.com", key, "", key, "url"},
		"key with rubbish":      {"", "a b/c?d=eeeeee", standard, "a b/c?d=eeeeee", "key"},
	} {
		cfg, wrong := channel.WeCom{URL: c.url, Key: secret.Text(c.key)}.Check()
		w := cfg.(channel.WeCom)
		fields := wrongFields(channel.WeCom{URL: c.url, Key: secret.Text(c.key)})
		if w.URL != c.wantURL || w.Key.Reveal() != c.wantKey || fields != c.wrong {
			t.Errorf("%s: %s %s %v", name, w.URL, w.Key.Reveal(), wrong)
		}
	}
	for name, c := range map[string]struct {
		cfg  channel.WeCom
		want string
	}{
		"format":               {channel.WeCom{Key: key, Format: "html"}, "format"},
		"everybody in text":    {channel.WeCom{Key: key, Format: "text", MentionUsers: []string{"@all"}, MentionMobiles: []string{"138,@all"}}, "mention_mobiles"},
		"numbers in markdown":  {channel.WeCom{Key: key, MentionMobiles: []string{"13800000000"}}, "mention_mobiles"},
		"everybody, markdown":  {channel.WeCom{Key: key, MentionUsers: []string{"@all"}}, "mention_users"},
		"user id with markup":  {channel.WeCom{Key: key, MentionUsers: []string{"a><b"}}, "mention_users"},
		"far too many mention": {channel.WeCom{Key: key, MentionUsers: []string{manyUsers()}}, "mention_users"},
	} {
		if got := wrongFields(c.cfg); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if where := (channel.WeCom{URL: standard, Key: key}).Where(); where != "qyapi.weixin.qq.com …5aaa" {
		t.Error(where)
	}
}

func manyUsers() string {
	var all []string
	for i := range 60 {
		all = append(all, "u"+string(rune('0'+i/10))+string(rune('0'+i%10)))
	}
	return strings.Join(all, ";")
}
