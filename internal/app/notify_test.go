package app_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"watchmark/internal/testkit/channeltest"
)

// What fails reaches every channel by the rule that is there at first, and says who, what and why.
func TestAFailureIsToldByEveryChannel(t *testing.T) {
	s := start(t)
	hook, wecom, dingtalk := channeltest.NewHook(t), channeltest.NewWeCom(t), channeltest.NewDingTalk(t)
	mail := channeltest.NewMail(t, channeltest.MailConfig{TLS: "starttls", User: "mira@example.org", Password: "app-password"})
	dingtalk.Secret = "SECabcdef123456"
	for plural, config := range map[string]any{
		"webhooks":  map[string]any{"url": hook.URL},
		"wecoms":    map[string]any{"url": wecom.Address},
		"dingtalks": map[string]any{"url": dingtalk.Address, "secret": dingtalk.Secret},
		"emails": map[string]any{"host": mail.Host, "port": mail.Port, "tls": "starttls", "skip_verify": true, "user": "mira@example.org", "password": "app-password",
			"to": []string{"mira@example.org"}},
	} {
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
	for name, text := range messages {
		for _, want := range []string{"灯塔守望者", "guest", "no account", "Watchmark"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q: %s", name, want, text)
			}
		}
		if strings.Contains(text, "marked as watched") {
			t.Errorf("%s tells of a mark: %s", name, text)
		}
	}
}
