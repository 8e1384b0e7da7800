package channel_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"watchmark/internal/platform/secret"
	"watchmark/internal/tell/notify/channel"
	"watchmark/internal/testkit/channeltest"
)

// serviceCase is what the tests of all services know of one.
type serviceCase struct {
	start func(channeltest.TB) *channeltest.Service
	// config sends to s as it should.
	config func(s *channeltest.Service) channel.Config
	// long is how many characters of a long text people see at least.
	long int
	// wait is how long the service wants to be left alone when there are too many messages; again is when it takes a repeat for the
	// message that it knows.
	wait  time.Duration
	again bool
	wrong map[string]wrongService
}

// wrongService is a config that the service refuses.
type wrongService struct {
	config func(s *channeltest.Service) channel.Config
	blame  channel.Blame
	// says is a part of the problem, advises one of the advice.
	says, advises string
}

func serviceCases() map[channel.Type]serviceCase {
	type svc = *channeltest.Service
	telegram := func(change func(*channel.Telegram)) func(svc) channel.Config {
		return func(s svc) channel.Config {
			c := channel.Telegram{URL: s.URL, Token: channeltest.TelegramToken, Chat: channeltest.TelegramChat}
			change(&c)
			return c
		}
	}
	chat := func(chat string) func(svc) channel.Config {
		return telegram(func(c *channel.Telegram) { c.Chat = chat })
	}
	discord := func(path, thread string) func(svc) channel.Config {
		return func(s svc) channel.Config { return channel.Discord{URL: secret.Text(s.URL + path), Thread: thread} }
	}
	slack := func(path string) func(svc) channel.Config {
		return func(s svc) channel.Config { return channel.Slack{URL: secret.Text(s.URL + path)} }
	}
	ntfy := func(topic, token secret.Text) func(svc) channel.Config {
		return func(s svc) channel.Config { return channel.Ntfy{URL: s.URL, Topic: topic, Token: token} }
	}
	bark := func(key secret.Text) func(svc) channel.Config {
		return func(s svc) channel.Config { return channel.Bark{URL: s.URL, Key: key} }
	}
	serverChan := func(key secret.Text) func(svc) channel.Config {
		return func(s svc) channel.Config { return channel.ServerChan{URL: s.URL, Key: key} }
	}
	deer := func(key secret.Text) func(svc) channel.Config {
		return func(s svc) channel.Config { return channel.PushDeer{URL: s.URL, Key: key} }
	}
	apprise := func(c channel.Apprise) func(svc) channel.Config {
		return func(s svc) channel.Config { c := c; c.URL = s.URL + c.URL; return c }
	}
	home := func(c channel.HomeAssistant) func(svc) channel.Config {
		return func(s svc) channel.Config { c := c; c.URL = s.URL + c.URL; return c }
	}
	matrix := func(c channel.Matrix) func(svc) channel.Config {
		return func(s svc) channel.Config { c := c; c.URL = s.URL + c.URL; return c }
	}
	const ofChannel, ofMessage, temporary = channel.OfChannel, channel.OfMessage, channel.Temporary
	return map[channel.Type]serviceCase{
		channel.TypeTelegram: {channeltest.NewTelegram, chat(channeltest.TelegramChat), 3500, 35 * time.Second, false, map[string]wrongService{
			"token revoked":   {telegram(func(c *channel.Telegram) { c.Token = "123456789:AAwrong_wrong_wrong_wrong_wrong_w-9" }), ofChannel, "Unauthorized", "@BotFather"},
			"token cut":       {telegram(func(c *channel.Telegram) { c.Token = "123456789:AAfake_fake_fake_fake_fake" }), ofChannel, "Not Found", "@BotFather"},
			"no chat":         {chat("42"), ofChannel, "chat not found", "send the bot a message"},
			"blocked":         {chat("1000001"), ofChannel, "blocked by the user", "start the bot again"},
			"group moved":     {chat("-1000002"), ofChannel, "supergroup", "-1009999999999"},
			"may not write":   {chat("-1000003"), ofChannel, "not enough rights", "let the bot write"},
			"no topic":        {telegram(func(c *channel.Telegram) { c.Topic = "8" }), ofChannel, "thread not found", "topic"},
			"address of none": {telegram(func(c *channel.Telegram) { c.URL += "/elsewhere" }), ofChannel, "404", ""},
		}},
		channel.TypeDiscord: {channeltest.NewDiscord, discord(channeltest.DiscordPath, ""), 1200, 65 * time.Second, false, map[string]wrongService{
			"webhook deleted": {discord("/api/webhooks/999999999999999999/"+channeltest.DiscordToken, ""), ofChannel, "Unknown Webhook", "was deleted"},
			"token wrong":     {discord(channeltest.DiscordPath+"x", ""), ofChannel, "Invalid Webhook Token", "copy its address"},
			"no thread":       {discord(channeltest.DiscordPath, "66666"), ofChannel, "Unknown Channel", "thread"},
			"a forum":         {discord(channeltest.DiscordPath, "44444"), ofChannel, "forum", "id of a post"},
		}},
		channel.TypeSlack: {channeltest.NewSlack, slack(channeltest.SlackPath), 3200, 30 * time.Second, false, map[string]wrongService{
			"removed":   {slack("/services/T0FAKE/B0FAKE/gone000000000"), ofChannel, "no_service", "make a webhook"},
			"archived":  {slack("/services/T0FAKE/B0FAKE/archived0000"), ofChannel, "channel_is_archived", "make a webhook"},
			"forbidden": {slack("/services/T0FAKE/B0FAKE/forbidden000"), ofChannel, "action_prohibited", "another channel"},
		}},
		channel.TypeNtfy: {channeltest.NewNtfy, ntfy(channeltest.NtfyTopic, ""), 900, 0, false, map[string]wrongService{
			"token wrong":   {ntfy("protected", "tk_wrongwrongwrong"), ofChannel, "unauthorized", "access token"},
			"protected":     {ntfy("protected", ""), ofChannel, "forbidden", "may write to it"},
			"topic refused": {ntfy("docs", ""), ofChannel, "not allowed", "another topic"},
			"no ntfy":       {func(s svc) channel.Config { return channel.Ntfy{URL: s.URL + "/sub", Topic: "x"} }, ofChannel, "not found", "address of the server"},
		}},
		channel.TypeGotify: {channeltest.NewGotify, func(s svc) channel.Config { return channel.Gotify{URL: s.URL, Token: channeltest.GotifyToken} }, 5000, 0, false, map[string]wrongService{
			"token of a client": {func(s svc) channel.Config { return channel.Gotify{URL: s.URL, Token: "CclientToken-1"} }, ofChannel, "valid access token", "that of a client does not work"},
			"no gotify":         {func(s svc) channel.Config { return channel.Gotify{URL: s.URL + "/sub", Token: channeltest.GotifyToken} }, ofChannel, "not found", "address of the server"},
		}},
		channel.TypeBark: {channeltest.NewBark, bark(channeltest.BarkKey), 800, 0, false, map[string]wrongService{
			"key unknown": {bark("otherKey7319otherKey"), ofChannel, "device token", "copy the test address"},
			"app removed": {bark("removedKey7319"), ofChannel, "BadDeviceToken", "open the app"},
			"no bark":     {func(s svc) channel.Config { return channel.Bark{URL: s.URL + "/sub", Key: channeltest.BarkKey} }, ofChannel, "Cannot POST", "address of the server"},
		}},
		channel.TypeServerChan: {channeltest.NewServerChan, serverChan(channeltest.TurboKey), 4000, time.Minute, false, map[string]wrongService{
			"key wrong": {serverChan("SCT0000TwrongWrongwrong"), ofChannel, "用户不存在", "SendKey"},
			"³ wrong":   {serverChan("sctp1twrongWrongwrong"), ofChannel, "用户不存在", "SendKey"},
		}},
		channel.TypePushDeer: {channeltest.NewPushDeer, deer(channeltest.PushDeerKey), 4000, 42 * time.Second, false, map[string]wrongService{
			"no device":   {deer("PDU0000TnodeviceNodevice"), ofChannel, "no device", "register a device"},
			"app removed": {deer("PDU0000TremovedRemoved00"), ofChannel, "no device", "register a device"},
			"stopped":     {deer("PDU0000TstoppedStopped00"), ofChannel, "停用", "copy the key"},
			"key unknown": {deer("PDU0000TwrongWrongWrong0"), temporary, "500", "copy the key"},
			"no pushdeer": {func(s svc) channel.Config { return channel.PushDeer{URL: s.URL + "/sub", Key: channeltest.PushDeerKey} }, ofChannel, "404", "address of the server"},
		}},
		channel.TypeApprise: {channeltest.NewApprise, apprise(channel.Apprise{Key: channeltest.AppriseKey}), 5000, 0, false, map[string]wrongService{
			"nothing stored": {apprise(channel.Apprise{Key: "empty"}), ofChannel, "204", "nothing is stored"},
			"one failed":     {apprise(channel.Apprise{Key: channeltest.AppriseKey, Tag: "broken"}), ofMessage, "could not be sent", "log of Apprise"},
			"URL failed":     {apprise(channel.Apprise{URLs: "tgram://broken/1"}), ofMessage, "could not be sent", "log of Apprise"},
			"no apprise":     {apprise(channel.Apprise{URL: "/sub", Key: channeltest.AppriseKey}), ofChannel, "404", "address of the server"},
		}},
		channel.TypeHomeAssistant: {channeltest.NewHomeAssistant, home(channel.HomeAssistant{Action: "notify." + channeltest.HAAction, Token: channeltest.HAToken}), 5000, 0, false, map[string]wrongService{
			"token wrong": {home(channel.HomeAssistant{Action: channeltest.HAAction, Token: "wrong-wrong-wrong-wrong"}), ofChannel, "401", "new long-lived access token"},
			"no action":   {home(channel.HomeAssistant{Action: "mobile_app_gone", Token: channeltest.HAToken}), ofChannel, "400", "name of the action"},
			"no HA":       {home(channel.HomeAssistant{URL: "/sub", Action: channeltest.HAAction, Token: channeltest.HAToken}), ofChannel, "404", "address of the server"},
		}},
		channel.TypeMatrix: {channeltest.NewMatrix, matrix(channel.Matrix{Room: channeltest.MatrixRoom, Token: channeltest.MatrixToken}), 5000, 2500 * time.Millisecond, true, map[string]wrongService{
			"token wrong":   {matrix(channel.Matrix{Room: channeltest.MatrixRoom, Token: "syt_wrongwrong"}), ofChannel, "M_UNKNOWN_TOKEN", "sign in"},
			"not in room":   {matrix(channel.Matrix{Room: "!other:example.org", Token: channeltest.MatrixToken}), ofChannel, "M_FORBIDDEN", "join the room"},
			"no alias":      {matrix(channel.Matrix{Room: "#gone:example.org", Token: channeltest.MatrixToken}), ofChannel, "M_NOT_FOUND", "alias"},
			"no homeserver": {matrix(channel.Matrix{URL: "/sub", Room: channeltest.MatrixRoom, Token: channeltest.MatrixToken}), ofChannel, "M_UNRECOGNIZED", "answers apps"},
		}},
	}
}

// markedUp is a title with all that means something to one of the services.
const markedUp = "<b>Re:Zero</b> & *bold* _it_ ~s~ `code` [x](https://evil.example) @everyone <!channel> <@1> {{ states('lock') }} {% x {{{# \\* \"q\" 'a' ||sp|| #h :tada: 👨‍👩‍👧 🇯🇵 \u202eשלום"

// plainly is text in the ordinary characters that full-width ones stand for.
func plainly(text string) string {
	return strings.NewReplacer("＜", "<", "＞", ">", "［", "[", "］", "]", "＠", "@", "＊", "*", "｀", "`", "～", "~", "＼", `\`, "｜", "|", "＿", "_", "＆", "&", "＃", "#", "－", "-", "＋", "+", "＝", "=", "．", ".", "｛", "{").Replace(text)
}

func eachService(t *testing.T, test func(t *testing.T, c serviceCase, s *channeltest.Service)) {
	t.Helper()
	for name, c := range serviceCases() {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			test(t, c, c.start(t))
		})
	}
}

func TestServicesAreAllTested(t *testing.T) {
	known := serviceCases()
	for _, a := range channel.Adapters {
		switch a.Type {
		case channel.TypeWebhook, channel.TypeEmail, channel.TypeWeCom, channel.TypeDingTalk, channel.TypeBrowser: // these have tests of their own
		default:
			if known[a.Type].start == nil {
				t.Errorf("%s is not tested", a.Type)
			}
		}
	}
}

func TestServicesShowWhatIsSent(t *testing.T) {
	eachService(t, func(t *testing.T, c serviceCase, s *channeltest.Service) {
		sender := open(t, tools(t), c.config(s))
		m := message()
		if err := sender.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		if got := s.Wait(t, 1)[0]; got.Title != m.Title || strings.TrimSpace(strings.ReplaceAll(got.Text, "Watchmark", "")) != m.Text || got.Link != m.Link {
			t.Errorf("people see %q, %q, %q", got.Title, got.Text, got.Link)
		}
		m.ID, m.Link, m.Text = "n-18", "javascript:alert(1)", "- one\n# two\n> three\n1. four\n=====\n    five"
		if err := sender.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		got := s.Wait(t, 2)[1]
		if text := plainly(got.Text); got.Link != "" || !strings.Contains(text, "- one\n# two\n> three\n1. four\n") || strings.Contains(string(got.Body), "javascript") {
			t.Errorf("people see %q, %q", text, got.Link)
		}
	})
}

func TestServicesTakeHostileTitles(t *testing.T) {
	eachService(t, func(t *testing.T, c serviceCase, s *channeltest.Service) {
		m := message()
		m.Title, m.Text = markedUp+"\nsecond line", markedUp+"\n"+markedUp+"\x00\x1b[31m"
		if err := open(t, tools(t), c.config(s)).Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		got := s.Wait(t, 1)[0]
		want := strings.ReplaceAll(markedUp, "\u202e", "")
		title := plainly(got.Title)
		if short, isShort := strings.CutSuffix(title, "…"); !isShort && title != want+" second line" || isShort && !strings.HasPrefix(want, short) {
			t.Errorf("the title reads %q", title)
		}
		if text := plainly(got.Text); !strings.Contains(text, want+"\n"+want) || strings.ContainsAny(text, "\x00\x1b\u202e") {
			t.Errorf("the text reads %q", text)
		}
	})
}

func TestServicesTakeLongMessages(t *testing.T) {
	for kind, one := range map[string]string{"Chinese": "长", "emoji": "👨‍👩‍👧", "markup": "*<&_`\"\\", "quotes": `"`, "lines": "x\n"} {
		t.Run(kind, func(t *testing.T) {
			eachService(t, func(t *testing.T, c serviceCase, s *channeltest.Service) {
				m := message()
				m.Title, m.Text = strings.Repeat(one, 3000), "begin "+strings.Repeat(one, 30_000)
				m.Link = "https://watch.example.org/records/" + strings.Repeat("7", 400)
				if err := open(t, tools(t), c.config(s)).Send(t.Context(), m); err != nil {
					t.Fatal(err)
				}
				got := s.Wait(t, 1)[0]
				if !strings.Contains(got.Text, "…") || !strings.Contains(got.Text, "begin ") || !utf8.ValidString(got.Text) || got.Link != m.Link {
					t.Errorf("people see %.200q… to %q", got.Text, got.Link)
				}
				if n := utf8.RuneCountInString(got.Text); kind == "Chinese" && n < c.long {
					t.Errorf("of the text %d characters are left", n)
				}
			})
		})
	}
}

func TestServicesThatAreBusyAreAskedAgain(t *testing.T) {
	eachService(t, func(t *testing.T, c serviceCase, s *channeltest.Service) {
		s.Busy(1)
		sender := open(t, tools(t), c.config(s))
		if f := failure(t, sender.Send(t.Context(), message()), channel.Temporary); f.RetryAfter < c.wait {
			t.Errorf("it is left alone for %v: %v", f.RetryAfter, f.Error())
		}
		if err := sender.Send(t.Context(), message()); err != nil || len(s.Wait(t, 1)) != 1 {
			t.Errorf("%v, %d messages", err, len(s.Shown()))
		}
	})
}

func TestServicesRefuse(t *testing.T) {
	eachService(t, func(t *testing.T, c serviceCase, s *channeltest.Service) {
		for name, w := range c.wrong {
			f := failure(t, open(t, tools(t), w.config(s)).Send(t.Context(), message()), w.blame)
			if !strings.Contains(f.Problem.Text, w.says) || !strings.Contains(f.Advice.Text, w.advises) {
				t.Errorf("%s: %q, %q", name, f.Problem.Text, f.Advice.Text)
			}
		}
		if n := len(s.Shown()); n > 0 {
			t.Errorf("%d messages were shown", n)
		}
	})
}

// What may have been taken is told as such, and not sent again; a service that knows a repeat gets it.
func TestLostAnswersOfServices(t *testing.T) {
	eachService(t, func(t *testing.T, c serviceCase, s *channeltest.Service) {
		s.CutAnswers(true)
		sender := open(t, tools(t), c.config(s))
		blame := channel.Unsure
		if c.again {
			blame = channel.Temporary
		}
		failure(t, sender.Send(t.Context(), message()), blame)
		s.CutAnswers(false)
		if !c.again {
			return
		}
		if err := sender.Send(t.Context(), message()); err != nil || len(s.Shown()) != 1 {
			t.Errorf("%v, %d messages", err, len(s.Shown()))
		}
	})
}

// An answer is believed only in the form that the service documents.
func TestServicesAreBelievedInTheirOwnForm(t *testing.T) {
	for name, reply := range map[string]channeltest.Reply{
		"a page":    {Body: "<!DOCTYPE html><html><body>Sign in to the network</body></html>"},
		"redirect":  {Status: 302, Header: http.Header{"Location": {"https://elsewhere.example/"}}},
		"an object": {Body: `{"status":"fine"}`},
	} {
		t.Run(name, func(t *testing.T) {
			eachService(t, func(t *testing.T, c serviceCase, s *channeltest.Service) {
				if name == "an object" && c.config(s).Type() == channel.TypeApprise {
					t.Skip("Apprise answers an object without an error")
				}
				s.Answer(reply)
				failure(t, open(t, tools(t), c.config(s)).Send(t.Context(), message()), channel.OfChannel)
			})
		})
	}
	eachService(t, func(t *testing.T, c serviceCase, s *channeltest.Service) {
		s.Answer(channeltest.Reply{Status: http.StatusBadGateway, Body: "<html>bad gateway</html>"})
		if f := failure(t, open(t, tools(t), c.config(s)).Send(t.Context(), message()), channel.Temporary); strings.Contains(f.Error(), "<") {
			t.Error(f.Error())
		}
	})
}

func TestServicesTellNoSecrets(t *testing.T) {
	eachService(t, func(t *testing.T, c serviceCase, s *channeltest.Service) {
		cfg, _ := c.config(s).Check()
		masked := tools(t)
		var all []string
		for _, one := range cfg.Secrets() {
			if len(one) >= 6 {
				masked.Learn(one)
				all = append(all, one)
			}
		}
		body, err := json.Marshal(map[string]any{"error": "no " + cfg.Plain(), "message": cfg.Plain(), "description": cfg.Plain(), "code": 7, "errcode": "M_X"})
		if err != nil {
			t.Fatal(err)
		}
		s.Answer(channeltest.Reply{Status: 400, Body: string(body)})
		got := open(t, masked, cfg).Send(t.Context(), message())
		for _, one := range all {
			if strings.Contains(got.Error(), one) {
				t.Errorf("%q is told: %v", one, got)
			}
		}
	})
}

// The end of what is told of an answer cuts no secret that it holds: what is left of one would be told.
func TestServicesTellNoPartOfASecret(t *testing.T) {
	eachService(t, func(t *testing.T, c serviceCase, s *channeltest.Service) {
		cfg, _ := c.config(s).Check()
		masked := tools(t)
		for _, one := range cfg.Secrets() {
			if len(one) < 12 || strings.Contains(one, "://") {
				continue
			}
			masked.Learn(one)
			for before := 250; before < 300; before += 7 {
				said := strings.Repeat("x", before) + " " + one
				body, err := json.Marshal(map[string]any{"error": said, "message": said, "description": said, "errorDescription": said, "code": 7, "errcode": "M_X"})
				if err != nil {
					t.Fatal(err)
				}
				s.Answer(channeltest.Reply{Status: 400, Body: string(body)})
				if got := open(t, masked, cfg).Send(t.Context(), message()); strings.Contains(got.Error(), one[:6]) {
					t.Errorf("a part of %q is told: %v", one, got)
				}
			}
		}
	})
}

// What people paste is taken as they find it.
func TestWhatPeoplePasteIsUnderstood(t *testing.T) {
	for name, c := range map[string]struct{ in, want channel.Config }{
		"telegram by its address": {channel.Telegram{Token: "https://api.telegram.org/bot" + channeltest.TelegramToken + "/getUpdates", Chat: " @watch_channel "},
			channel.Telegram{URL: "https://api.telegram.org", Token: channeltest.TelegramToken, Chat: "@watch_channel"}},
		"discord with a query": {channel.Discord{URL: " https://discord.com" + channeltest.DiscordPath + "/?wait=true "}, channel.Discord{URL: "https://discord.com" + channeltest.DiscordPath}},
		"ntfy by its address":  {channel.Ntfy{Topic: "https://ntfy.example.org/mira-7319"}, channel.Ntfy{URL: "https://ntfy.example.org", Topic: "mira-7319", Priority: channel.Normal}},
		"bark by its address":  {channel.Bark{Key: "https://api.day.app/fakeKey7319/这里改成你自己的推送内容"}, channel.Bark{URL: "https://api.day.app", Key: "fakeKey7319", Priority: channel.Normal}},
		"gotify with its path": {channel.Gotify{URL: "https://push.example.org/gotify/message/", Token: "AfakeFake.0123"}, channel.Gotify{URL: "https://push.example.org/gotify", Token: "AfakeFake.0123", Priority: channel.Normal}},
		"serverchan":           {channel.ServerChan{Key: "https://sctapi.ftqq.com/" + channeltest.TurboKey + ".send"}, channel.ServerChan{Key: channeltest.TurboKey}},
		"serverchan 3":         {channel.ServerChan{Key: "https://7319.push.ft07.com/send/" + channeltest.ServerChan3 + ".send?title=x"}, channel.ServerChan{Key: channeltest.ServerChan3}},
		"apprise":              {channel.Apprise{URL: "http://apprise.lan:8000/cfg/home"}, channel.Apprise{URL: "http://apprise.lan:8000", Key: "home"}},
		"home assistant":       {channel.HomeAssistant{URL: "http://homeassistant.local:8123/api/webhook/-abc"}, channel.HomeAssistant{URL: "http://homeassistant.local:8123", Webhook: "-abc"}},
		"an action":            {channel.HomeAssistant{URL: "http://homeassistant.local:8123/", Action: "mobile_app_x", Token: channeltest.HAToken}, channel.HomeAssistant{URL: "http://homeassistant.local:8123", Action: "notify.mobile_app_x", Token: channeltest.HAToken}},
	} {
		got, wrong := c.in.Check()
		if len(wrong) > 0 || got.Plain() != c.want.Plain() {
			t.Errorf("%s: %v, %s", name, wrong, got.Plain())
		}
	}
}

func TestServicesRefuseWrongSettings(t *testing.T) {
	for name, c := range map[string]struct {
		in     channel.Config
		fields string
	}{
		"telegram empty":        {channel.Telegram{}, "token chat"},
		"telegram placeholder":  {channel.Telegram{Token: "your-token", Chat: "your-chat", Topic: "x"}, "token chat topic"},
		"discord of slack":      {channel.Discord{URL: "https://hooks.slack.com/services/T0/B0/x", Thread: "x"}, "url thread"},
		"discord empty":         {channel.Discord{}, "url"},
		"slack of discord":      {channel.Slack{URL: "https://discord.com" + channeltest.DiscordPath}, "url"},
		"ntfy empty":            {channel.Ntfy{}, "topic"},
		"ntfy with a path":      {channel.Ntfy{Topic: "a/b", Token: "secret", Priority: "max"}, "topic token priority"},
		"gotify empty":          {channel.Gotify{}, "url token"},
		"gotify without TLS":    {channel.Gotify{URL: "http://push.example.org", Token: "AfakeFake.0123"}, "url"},
		"gotify with password":  {channel.Gotify{URL: "https://mira:pass@push.example.org", Token: "AfakeFake.0123"}, "url"},
		"gotify at metadata":    {channel.Gotify{URL: "http://169.254.169.254", Token: "AfakeFake.0123"}, "url"},
		"bark placeholder":      {channel.Bark{Key: "https://api.day.app/push"}, "key"},
		"bark at a wrong port":  {channel.Bark{URL: "https://bark.example.org:99999", Key: "fakeKey7319"}, "url"},
		"serverchan of another": {channel.ServerChan{Key: "PDU7319Tfake"}, "key"},
		"pushdeer of another":   {channel.PushDeer{Key: channeltest.TurboKey}, "key"},
		"apprise empty":         {channel.Apprise{}, "url key"},
		"apprise with both":     {channel.Apprise{URL: "http://apprise.lan", Key: "x", URLs: "tgram://a/b"}, "key"},
		"apprise without a URL": {channel.Apprise{URL: "http://apprise.lan", URLs: "nothing", Tag: "a b"}, "urls tag"},
		"home assistant empty":  {channel.HomeAssistant{URL: "http://ha.lan"}, "action"},
		"home assistant both":   {channel.HomeAssistant{URL: "http://ha.lan", Action: "notify.x", Webhook: "y"}, "action"},
		"home assistant token":  {channel.HomeAssistant{URL: "http://ha.lan", Action: "light.turn_on"}, "action token"},
		"matrix empty":          {channel.Matrix{}, "room token"},
		"matrix of a person":    {channel.Matrix{Room: "@mira:example.org", Token: "x"}, "room token"},
	} {
		if got := wrongFields(c.in); got != c.fields {
			t.Errorf("%s: wrong are %q", name, got)
		}
	}
}

// A key of Server酱³ goes to the server of its owner.
func TestServerChanKnowsItsServers(t *testing.T) {
	for key, want := range map[secret.Text]string{channeltest.TurboKey: "sctapi.ftqq.com", channeltest.ServerChan3: "7319.push.ft07.com"} {
		if got := (channel.ServerChan{Key: key}).Where(); !strings.HasPrefix(got, want+" ") {
			t.Errorf("%s goes to %s", key.Reveal(), got)
		}
	}
	s := channeltest.NewServerChan(t)
	if err := open(t, tools(t), channel.ServerChan{URL: s.URL, Key: channeltest.ServerChan3}).Send(t.Context(), message()); err != nil {
		t.Error(err)
	}
}

// A title that Server酱 would cut stands in the text as a whole.
func TestServerChanTellsLongTitles(t *testing.T) {
	s := channeltest.NewServerChan(t)
	m := message()
	m.Title = strings.Repeat("长标题", 20)
	if err := open(t, tools(t), channel.ServerChan{URL: s.URL, Key: channeltest.TurboKey}).Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if got := s.Wait(t, 1)[0]; utf8.RuneCountInString(got.Title) > 32 || !strings.HasPrefix(got.Text, "**"+m.Title+"**\n") {
		t.Errorf("people see %q, %q", got.Title, got.Text)
	}
}

// Home Assistant takes a message for any webhook; only the right one runs an automation.
func TestHomeAssistantWebhook(t *testing.T) {
	s := channeltest.NewHomeAssistant(t)
	for id, shown := range map[secret.Text]int{"gone-7319": 0, channeltest.HAWebhook: 1} {
		before := len(s.Shown())
		if err := open(t, tools(t), channel.HomeAssistant{URL: s.URL, Webhook: id}).Send(t.Context(), message()); err != nil || len(s.Shown()) != before+shown {
			t.Errorf("%s: %v, %d messages", id.Reveal(), err, len(s.Shown()))
		}
	}
}

// A room is found by its alias, and a message by its transaction.
func TestMatrixRoomsHaveAliases(t *testing.T) {
	s := channeltest.NewMatrix(t)
	sender := open(t, tools(t), channel.Matrix{URL: s.URL, Room: channeltest.MatrixAlias, Token: channeltest.MatrixToken})
	for range 2 {
		if err := sender.Send(t.Context(), message()); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.Shown(); len(got) != 1 {
		t.Errorf("%d messages", len(got))
	}
}

// A name in a title calls nobody: homeservers look for names in the text of what does not say whom it mentions.
func TestMatrixMentionsNobody(t *testing.T) {
	s := channeltest.NewMatrix(t)
	m := message()
	m.Title = "@room mira @mira:example.org"
	if err := open(t, tools(t), channel.Matrix{URL: s.URL, Room: channeltest.MatrixRoom, Token: channeltest.MatrixToken}).Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	var event map[string]json.RawMessage
	if err := json.Unmarshal(s.Wait(t, 1)[0].Body, &event); err != nil || string(event["m.mentions"]) != "{}" {
		t.Errorf("%v: it mentions %s", err, event["m.mentions"])
	}
}

func FuzzServicesEscape(f *testing.F) {
	f.Add(markedUp, 40)
	f.Add("a\\*<b>\n> q\n1. x", 3)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = min(max(limit, 0), 5000)
		if !utf8.ValidString(text) || len(text) > 10_000 {
			t.Skip()
		}
		for name, escape := range channel.Escapes {
			size := func(s string) int { return len(escape(s)) }
			short := channel.CutTo(text, limit, size)
			if size(short) > limit || !utf8.ValidString(short) {
				t.Errorf("%s: %q has %d, not %d", name, short, size(short), limit)
			}
			if start, isShort := strings.CutSuffix(short, "…"); short != "" && short != text && (!isShort || !strings.HasPrefix(text, start)) {
				t.Errorf("%s: %q is no beginning of %q", name, short, text)
			}
			switch escaped := escape(text); name {
			case "html":
				if strings.ContainsAny(escaped, `<>"`) {
					t.Errorf("%q", escaped)
				}
			case "discord":
				for i := range len(escaped) {
					if strings.IndexByte("*_~`|<>[]#@", escaped[i]) >= 0 && (i == 0 || escaped[i-1] != '\\') {
						t.Errorf("%q", escaped)
					}
				}
			case "slack":
				if strings.ContainsAny(escaped, "<>*~`") {
					t.Errorf("%q", escaped)
				}
			case "templates":
				if strings.Contains(escaped, "{{") || strings.Contains(escaped, "{%") || strings.Contains(escaped, "{#") {
					t.Errorf("%q", escaped)
				}
			}
		}
	})
}
