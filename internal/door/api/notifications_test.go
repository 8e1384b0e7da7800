package api_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/notify/channel"
	"watchmark/internal/testkit/channeltest"
)

func TestChannelsOfEachTypeAreKept(t *testing.T) {
	tested := 0
	for _, c := range []struct {
		plural string
		config string
		secret string // which the config holds
		shown  string // of the config that is answered
		wrong  string // a config
		field  string // that is at fault in it
	}{
		{"webhooks", `{"url":"https://ntfy.example/topic-8hG2","headers":[{"name":"Authorization","value":"Bearer tk_31x7"}]}`, "tk_31x7", `"method":"POST"`,
			`{"url":"ftp://x"}`, "body.config.url"},
		{"emails", `{"host":"mail.example","user":"mira@mail.example","password":"app-pass-5566","to":["mira@mail.example"]}`, "app-pass-5566", `"host":"mail.example"`,
			`{"host":"mail.example","to":["nobody"]}`, "body.config.to"},
		{"wecoms", `{"key":"693a91f6-7xxx-4bc4-97a0-0ec2sifa5aaa"}`, "693a91f6", `"format":"`,
			`{"key":"no key"}`, "body.config.key"},
		{"dingtalks", `{"token":"aa11bb22cc33dd44ee55","secret":"SECabc123def456"}`, "SECabc123def456", `"at_all":false`,
			`{"token":""}`, "body.config.token"},
		{"telegrams", `{"token":"123456789:AAhidden-31x7-hidden-31x7","chat":"@watched_here"}`, "AAhidden-31x7", `"chat":"@watched_here"`,
			`{"token":"your-token","chat":"@watched_here"}`, "body.config.token"},
		{"discords", `{"url":"https://discord.com/api/webhooks/123456789012/hidden-31x7-hidden-31x7"}`, "hidden-31x7", `"thread":""`,
			`{"url":"https://discord.com/channels/1/2"}`, "body.config.url"},
		{"slacks", `{"url":"https://hooks.slack.com/services/T01/B01/hidden31x7hidden"}`, "hidden31x7", `"url":"***"`,
			`{"url":"https://hooks.slack.com/"}`, "body.config.url"},
		{"ntfys", `{"topic":"hidden-31x7-topic","token":"tk_hidden31x7hidden"}`, "hidden", `"url":"https://ntfy.sh"`,
			`{"topic":"a topic"}`, "body.config.topic"},
		{"gotifys", `{"url":"http://gotify.lan","token":"Ahidden-31x7"}`, "hidden-31x7", `"priority":"normal"`,
			`{"token":"Ahidden-31x7"}`, "body.config.url"},
		{"barks", `{"key":"https://bark.example.org/hidden31x7hidden/test"}`, "hidden31x7", `"url":"https://bark.example.org"`,
			`{"key":""}`, "body.config.key"},
		{"serverchans", `{"key":"sctp12thidden31x7hidden"}`, "hidden31x7", `"key":"***"`,
			`{"key":"SCU12"}`, "body.config.key"},
		{"pushdeers", `{"key":"PDUhidden31x7hidden"}`, "hidden31x7", `"url":"https://api2.pushdeer.com"`,
			`{"key":"hidden31x7hidden"}`, "body.config.key"},
		{"apprises", `{"url":"http://apprise.lan:8000","urls":"tgram://hidden31x7hidden/1"}`, "hidden31x7", `"urls":"***"`,
			`{"url":"http://apprise.lan:8000"}`, "body.config.key"},
		{"homeassistants", `{"url":"http://ha.lan:8123","action":"notify.mobile_app_x","token":"hidden-31x7-hidden-31x7"}`, "hidden-31x7", `"webhook":""`,
			`{"url":"http://ha.lan:8123","action":"notify.mobile_app_x"}`, "body.config.token"},
		{"matrixs", `{"room":"#home:example.org","token":"syt_hidden31x7hidden"}`, "hidden31x7", `"url":"https://matrix-client.matrix.org"`,
			`{"room":"home","token":"syt_hidden31x7hidden"}`, "body.config.room"},
		{"browsers", `{"endpoint":"https://push.example.org/hidden31x7","p256dh":"BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4","auth":"BTBZMqHH6r4Tts7J_aSIgg"}`, "hidden31x7", `"language":""`,
			`{"endpoint":"http://push.example.org/x","p256dh":"BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4","auth":"BTBZMqHH6r4Tts7J_aSIgg"}`, "body.config.endpoint"},
	} {
		tested++
		t.Run(c.plural, func(t *testing.T) {
			r := newRig(t)
			path := "/api/notification/" + c.plural
			r.do("GET", path, nil).want(200, `"items":[]`)
			r.do("POST", path, `{"name":"Family","config":`+c.wrong+`}`).problem(422, c.field)
			r.do("POST", path, `{"name":" ","config":`+c.config+`}`).problem(422, "body.name")
			made := r.do("POST", path, `{"name":"Family","config":`+c.config+`}`).want(201, `"enabled":true`, `"paused":""`, `"last_sent_at":null`, c.shown)
			one := fmt.Sprintf("%s/%d", path, int(made.get("id").(float64)))
			answers := []string{made.body, r.do("GET", path, nil).want(200, `"name":"Family"`).body, r.do("GET", one, nil).want(200).body}
			// What a form sends back untouched keeps its secrets.
			again := string(must(json.Marshal(r.do("GET", one, nil).want(200).get("config")))(t))
			answers = append(answers, r.do("PUT", one, `{"name":"Home","enabled":false,"config":`+again+`}`).want(200, `"name":"Home"`, `"enabled":false`).body)
			for _, answer := range answers {
				if strings.Contains(answer, c.secret) {
					t.Errorf("the secret is answered: %s", answer)
				}
			}
			kept, err := r.notices.Channel(t.Context(), int64(made.get("id").(float64)))
			if err != nil || !strings.Contains(kept.Config.Reveal(), c.secret) {
				t.Errorf("the secret was not kept (%v)", err)
			}
			for _, t := range channel.Types() {
				if other := string(t) + "s"; other != c.plural {
					r.do("GET", strings.Replace(one, c.plural, other, 1), nil).problem(404)
					r.do("DELETE", strings.Replace(one, c.plural, other, 1), nil).problem(404)
				}
			}
			r.do("DELETE", one, nil).want(204)
			r.do("GET", one, nil).problem(404)
			r.do("POST", one+"/test", nil).problem(404)
			if strings.Contains(r.log.String(), c.secret) {
				t.Error("the secret is in the log")
			}
		})
	}
	if tested != len(channel.Types()) {
		t.Errorf("%d of %d types are tested", tested, len(channel.Types()))
	}
}

func TestATestTellsHowItWentWithEachChannel(t *testing.T) {
	r := newRig(t)
	r.do("POST", "/api/notification/test", nil).problem(409, "channels_none_on")
	hook, group := channeltest.NewHook(t), channeltest.NewWeCom(t)
	works := r.do("POST", "/api/notification/webhooks", map[string]any{"name": "works", "config": map[string]any{"url": hook.URL + "/in"}}).want(201)
	r.do("POST", "/api/notification/wecoms", map[string]any{"name": "refused", "config": map[string]any{"url": strings.Split(group.Address, "?")[0], "key": "11111111-wrong-key"}}).want(201)
	off := r.do("POST", "/api/notification/webhooks", map[string]any{"name": "off", "enabled": false, "config": map[string]any{"url": hook.URL + "/off"}}).want(201)
	all := r.do("POST", "/api/notification/test", nil).want(200, `"name":"works","ok":true`, `"name":"refused","ok":false`)
	if strings.Contains(all.body, `"name":"off"`) {
		t.Errorf("a channel that is off was tested: %s", all.body)
	}
	r.do("POST", fmt.Sprintf("/api/notification/webhooks/%v/test", works.get("id")), nil).want(200, `"ok":true`, `"problem":""`)
	r.do("POST", fmt.Sprintf("/api/notification/webhooks/%v/test", off.get("id")), nil).want(200, `"ok":true`)
	if got := len(hook.Requests()); got != 3 {
		t.Errorf("%d requests came, not 3", got)
	}
	r.do("GET", "/api/notification/wecoms", nil).want(200, `"paused":"`)
}

func TestRulesAreKept(t *testing.T) {
	r := newRig(t)
	r.do("GET", "/api/notification/rules", nil).want(200, `"mark_failed"`, `"channels":[]`, `"enabled":true`)
	made := r.do("POST", "/api/notification/rules", map[string]any{"name": "Marks", "kinds": []string{"marked"}, "users": []string{"mira"}, "quiet_from": "22:30", "quiet_to": "07:00"}).want(201, `"cooldown":600`, `"enabled":true`)
	one := fmt.Sprintf("/api/notification/rules/%v", made.get("id"))
	for name, c := range map[string]struct {
		body  map[string]any
		field string
	}{
		"no name":            {map[string]any{"name": ""}, "body.name"},
		"an unknown kind":    {map[string]any{"name": "x", "kinds": []string{"nothing"}}, "body.kinds"},
		"an unknown channel": {map[string]any{"name": "x", "channels": []int{99}}, "body.channels"},
		"half a night":       {map[string]any{"name": "x", "quiet_from": "22:30"}, "body.quiet_to"},
	} {
		t.Run(name, func(t *testing.T) { r.do("POST", "/api/notification/rules", c.body).problem(422, c.field) })
	}
	r.do("PUT", one, map[string]any{"name": "All", "enabled": false, "cooldown": 0}).want(200, `"kinds":[]`, `"cooldown":0`, `"enabled":false`)
	r.do("DELETE", one, nil).want(204)
	r.do("GET", one, nil).problem(404)
	types := r.do("GET", "/api/notification/types", nil).want(200, `"common_placeholders"`, `"name_zh":"标记失败"`)
	for _, k := range notify.Kinds() {
		if !strings.Contains(types.body, `"kind":"`+string(k.Kind)+`"`) {
			t.Errorf("kind %s is not listed", k.Kind)
		}
	}
}

func TestTheInboxKeepsEverything(t *testing.T) {
	r := newRig(t)
	hook := channeltest.NewHook(t)
	hook.Reply(channeltest.Reply{Status: 400})
	c := r.do("POST", "/api/notification/webhooks", map[string]any{"name": "phone", "config": map[string]any{"url": hook.URL}}).want(201)
	r.notices.Add(t.Context(),
		notify.Notice{Kind: notify.Marked, User: "mira", Account: "mira", Facts: map[string]string{"title": "灯塔守望者", "season": "1", "episode": "3"}},
		notify.Notice{Kind: notify.MarkFailed, User: "mira", Account: "mira", Reason: reason.Text("Bangumi refuses the mark"), Facts: map[string]string{"title": "夜航"}, Channels: []int64{int64(c.get("id").(float64))}})
	r.do("GET", "/api/notification/inbox", nil).want(200, "灯塔守望者 S1E3 marked · mira", `"severity":"error"`)
	r.do("GET", "/api/notification/inbox?attention=true", nil).want(200, "夜航")
	r.do("GET", "/api/notification/inbox?kind=marked", nil).want(200, "灯塔")
	r.do("GET", "/api/notification/inbox?q=夜航", nil).want(200, "夜航")
	r.do("GET", "/api/notification/inbox/unread", nil).want(200, `{"all":1,"attention":1}`)
	r.do("POST", "/api/notification/inbox/read", map[string]any{"ids": []int{2}}).want(204)
	r.do("GET", "/api/notification/inbox/unread", nil).want(200, `"all":0`)
	hook.Wait(t, 1)
	r.soon("/api/notification/inbox/2", `"state":"failed"`, `"channel":"phone"`)
	hook.Reply(channeltest.Reply{Status: 204})
	r.do("POST", "/api/notification/deliveries/1/resend", nil).want(204)
	r.soon("/api/notification/inbox/2", `"state":"sent"`)
	r.do("POST", "/api/notification/deliveries/1/resend", nil).problem(409)
	r.do("DELETE", "/api/notification/inbox/2", nil).want(204)
	r.do("GET", "/api/notification/inbox/2", nil).problem(404)
}

// soon asks again until the answer holds each text.
func (r *rig) soon(path string, texts ...string) {
	r.t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for {
		got := r.do("GET", path, nil)
		missing := slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(got.body, text) })
		if !missing {
			return
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("%s: %s", path, got.body)
		}
		time.Sleep(20 * time.Millisecond) // between two looks
	}
}
