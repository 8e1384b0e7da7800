package app_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"watchmark/internal/tell/notify/channel"
	"watchmark/internal/testkit/channeltest"
)

// What fails reaches every channel by the rule that is there at first, and says who, what and why.
func TestAFailureIsToldByEveryChannel(t *testing.T) {
	s := start(t)
	hook, wecom, dingtalk := channeltest.NewHook(t), channeltest.NewWeCom(t), channeltest.NewDingTalk(t)
	mail := channeltest.NewMail(t, channeltest.MailConfig{TLS: "starttls", User: "mira@example.org", Password: "app-password"})
	dingtalk.Secret = "SECabcdef123456"
	telegram, discord, slack, ntfy := channeltest.NewTelegram(t), channeltest.NewDiscord(t), channeltest.NewSlack(t), channeltest.NewNtfy(t)
	gotify, bark, serverChan, deer := channeltest.NewGotify(t), channeltest.NewBark(t), channeltest.NewServerChan(t), channeltest.NewPushDeer(t)
	apprise, home, matrix := channeltest.NewApprise(t), channeltest.NewHomeAssistant(t), channeltest.NewMatrix(t)
	services := map[string]*channeltest.Service{
		"telegrams": telegram, "discords": discord, "slacks": slack, "ntfys": ntfy, "gotifys": gotify, "barks": bark, "serverchans": serverChan,
		"pushdeers": deer, "apprises": apprise, "homeassistants": home, "matrixs": matrix,
	}
	configs := map[string]any{
		"telegrams":      map[string]any{"url": telegram.URL, "token": channeltest.TelegramToken, "chat": channeltest.TelegramChat},
		"discords":       map[string]any{"url": discord.URL + channeltest.DiscordPath},
		"slacks":         map[string]any{"url": slack.URL + channeltest.SlackPath},
		"ntfys":          map[string]any{"topic": ntfy.URL + "/" + channeltest.NtfyTopic},
		"gotifys":        map[string]any{"url": gotify.URL, "token": channeltest.GotifyToken},
		"barks":          map[string]any{"key": bark.URL + "/" + channeltest.BarkKey},
		"serverchans":    map[string]any{"url": serverChan.URL, "key": channeltest.ServerChan3},
		"pushdeers":      map[string]any{"url": deer.URL, "key": channeltest.PushDeerKey},
		"apprises":       map[string]any{"url": apprise.URL, "key": channeltest.AppriseKey},
		"homeassistants": map[string]any{"url": home.URL, "action": "notify." + channeltest.HAAction, "token": channeltest.HAToken},
		"matrixs":        map[string]any{"url": matrix.URL, "room": channeltest.MatrixAlias, "token": channeltest.MatrixToken},

		"webhooks":  map[string]any{"url": hook.URL},
		"wecoms":    map[string]any{"url": wecom.Address},
		"dingtalks": map[string]any{"url": dingtalk.Address, "secret": dingtalk.Secret},
		"emails": map[string]any{"host": mail.Host, "port": mail.Port, "tls": "starttls", "skip_verify": true, "user": "mira@example.org", "password": "app-password",
			"to": []string{"mira@example.org"}},
	}
	for _, kind := range channel.Types() {
		if kind == channel.TypeBrowser { // a browser adds itself: push_test.go
			continue
		}
		plural := string(kind) + "s"
		config := configs[plural]
		body, err := json.Marshal(map[string]any{"name": plural, "config": config})
		if err != nil {
			t.Fatal(err)
		}
		s.api(http.MethodPost, "/api/notification/"+plural, string(body), http.StatusCreated, nil)
	}
	s.settled(s.custom(`{"title":"灯塔守望者","season":1,"episode":3,"user_name":"guest"}`))
	s.settled(s.custom(`{"title":"灯塔守望者","season":1,"episode":3,"user_name":"Mira"}`)) // a mark is no news for the first rule

	messages := map[string]string{
		"webhook":  string(hook.Wait(t, 1)[0].Body),
		"wecom":    wecom.Wait(t, 1)[0].Text,
		"dingtalk": dingtalk.Wait(t, 1)[0].Text,
		"mail":     mail.Wait(t, 1)[0].Text,
	}
	for name, service := range services {
		said := service.Wait(t, 1)[0]
		messages[name] = said.Title + "\n" + said.Text
	}
	for name, text := range messages {
		for _, want := range []string{"灯塔守望者", "guest", "no account", "Watchmark"} {
			// Services have a name of their own for who sends.
			if !strings.Contains(text, want) && (want != "Watchmark" || services[name] == nil) {
				t.Errorf("%s lacks %q: %s", name, want, text)
			}
		}
		if strings.Contains(text, "marked as watched") {
			t.Errorf("%s tells of a mark: %s", name, text)
		}
	}
}
