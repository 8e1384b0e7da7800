package web_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/notify/channel"
	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/testkit/channeltest"
)

// robotKey must never be on a page.
const robotKey = "key-of-the-robot-0123456789"

// addChannel adds a channel that is switched on.
func (g *rig) addChannel(t testing.TB, name string, config channel.Config) notify.Channel {
	t.Helper()
	c, err := g.notices.CreateChannel(t.Context(), notify.Channel{Type: config.Type(), Name: name, Enabled: true, Config: secret.Text(config.Plain())})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (g *rig) exec(t testing.TB, statement string, args ...any) {
	t.Helper()
	g.write(t, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, statement, args...)
		return err
	})
}

// fillNotices adds channels in every state, a second rule, and notices whose deliveries are in every state. The newest notice is
// the one that failed at a channel.
func (g *rig) fillNotices(t testing.TB) (newest int64) {
	t.Helper()
	ctx, now := t.Context(), time.Now()
	add := func(n notify.Notice) {
		n.At = now
		g.notices.Add(ctx, n)
		now = now.Add(7 * time.Minute)
	}
	now = now.Add(-7 * time.Hour)
	for i := range 3 {
		add(notify.Notice{Kind: notify.Marked, User: "mira", Account: "mira", About: fmt.Sprint(i), Facts: map[string]string{"title": "葬送的芙莉莲", "season": "1", "episode": fmt.Sprint(24 + i), "subject_name": "葬送的芙莉莲", "source": "plex"}})
	}
	add(notify.Notice{Kind: notify.DatabaseMigrated, Facts: map[string]string{"current_version": "10", "previous_version": "9"}})
	add(notify.Notice{Kind: notify.ReviewWaiting, User: "Mira TV", Account: "mira", RecordID: 4, Facts: map[string]string{"title": "灯塔守望者", "season": "2", "episode": "7", "top_candidate_name": "灯塔守望者 第二季", "source": "jellyfin"}})
	add(notify.Notice{Kind: notify.CatalogUnreachable, Reason: value("http_connection", "api.bgm.tv"), Facts: map[string]string{}})
	add(notify.Notice{Kind: notify.CatalogBack, Facts: map[string]string{"duration": "25m0s", "pending_count": "3"}})
	phone := g.addChannel(t, "Phone of Mira", channel.Webhook{URL: "https://ntfy.example/" + robotKey, Method: http.MethodPost, Template: `{"topic": "watchmark", "title": "{title}"}`,
		Headers: []channel.Header{{Name: "Authorization", Value: "Bearer " + robotKey}}})
	mail := g.addChannel(t, "Mail to Alex", channel.Email{Host: "smtp.example.org", Port: 465, TLS: channel.Implicit, User: "alex@example.org", Password: robotKey, From: "alex@example.org", To: []string{"alex@example.org", "mira@example.org"}})
	group := g.addChannel(t, hostileTitle, channel.WeCom{URL: "https://qyapi.weixin.qq.com/cgi-bin/webhook/send", Key: robotKey, Format: "text", MentionUsers: []string{"mira"}})
	ding := g.addChannel(t, "家庭群", channel.DingTalk{URL: "https://oapi.dingtalk.com/robot/send", Token: robotKey, Secret: "SEC" + robotKey, Format: "markdown", AtAll: true})
	if _, err := g.notices.CreateRule(ctx, notify.Rule{Name: "Marks of Mira", Enabled: true, Kinds: []notify.Kind{notify.Marked, notify.SummaryReady}, Users: []string{"mira", "Mira TV"}, Channels: []int64{phone.ID},
		Title: "{anime} {episode}", QuietFrom: "22:30", QuietTo: "07:00", Cooldown: 90}); err != nil {
		t.Fatal(err)
	}
	add(notify.Notice{Kind: notify.NoAccount, User: " Gäste ", RecordID: 7, Reason: value("no_account", " Gäste "), Facts: map[string]string{"title": "灵能百分百", "season": "3", "episode": "1", "source": "emby"}})
	add(notify.Notice{Kind: notify.MarkFailed, User: "mira", Account: "mira", RecordID: 2, Reason: reason.Text("the catalog refused it: <b>403</b>"), Facts: map[string]string{"title": hostileTitle, "season": "1", "episode": "1", "source": "custom"}})
	newestRow := g.db.Read().QueryRowContext(ctx, `SELECT MAX(id) FROM notices`)
	if err := newestRow.Scan(&newest); err != nil {
		t.Fatal(err)
	}
	at := time.Now().UnixMilli()
	for c, state := range map[int64]string{phone.ID: "sent", mail.ID: "failed", group.ID: "unsure", ding.ID: "dropped"} {
		problem := map[string]reason.Reason{"failed": value("channel_problem", value("channel_mail_server_answered", 550, "5.1.1"), value("channel_check_recipients")),
			"unsure": value("notify_service_ended_while_being_sent"), "dropped": reason.Text("the channel was switched off")}[state]
		g.exec(t, `UPDATE deliveries SET state = ?, tries = 2, problem = ?, updated_at = ? WHERE notice_id = ? AND channel_id = ?`, state, problem, at, newest, c)
	}
	g.exec(t, `UPDATE deliveries SET state = 'sent' WHERE notice_id < ? AND channel_id <> ?`, newest, group.ID)
	g.exec(t, `UPDATE notification_channels SET last_sent_at = ? WHERE id = ?`, at-180_000, phone.ID)
	g.exec(t, `UPDATE notification_channels SET paused = ?, last_sent_at = ? WHERE id = ?`,
		value("channel_problem", value("channel_mail_server_answered", 535, "5.7.8"), value("channel_check_user_password_most_providers")), at-5_000_000, mail.ID)
	g.exec(t, `UPDATE notification_channels SET last_error = ?, last_error_at = ?, retry_at = ? WHERE id = ?`,
		value("channel_code", "WeCom", value("channel_takes_no_more_20_messages"), 45009), at-30_000, at+90_000, group.ID)
	g.exec(t, `UPDATE notification_channels SET enabled = 0 WHERE id = ?`, ding.ID)
	return newest
}

func TestNotificationPages(t *testing.T) {
	g := newRig(t)
	g.fill(t)
	newest := g.fillNotices(t)
	in := g.client(t, true)
	for _, c := range []struct {
		name, path string
		en, zh     []string
		never      string
	}{
		{"the inbox", "/inbox", []string{"S1E1 not marked", `href="/records/2">Record 2`, ">New<", "Needs attention", "Mark all as read", fmt.Sprintf(`&#34;up_to&#34;:%d`, newest), "Bangumi can be reached again", `href="/review"`, "Best guess"},
			[]string{"标记失败", "没有对应账号", "Bangumi 已恢复连接", "全部标为已读", ">记录 2<"}, "葬送的芙莉莲 S1E24"},
		{"what needs attention", "/inbox?view=attention", []string{"not marked", "Mark these as read", `&#34;ids&#34;:[`}, []string{"需要处理"}, "reached again"},
		{"with routine", "/inbox?view=all", []string{"葬送的芙莉莲 S1E24 marked"}, []string{"《葬送的芙莉莲》 S1E24 已标记"}, "No notices"},
		{"one kind", "/inbox?kind=catalog_back", []string{"reached again", "Clear the filter", `value="catalog_back" selected`}, nil, "S1E1 not marked"},
		{"a text", "/inbox?q=%E7%81%AF%E5%A1%94", []string{"灯塔守望者 S2E7"}, []string{"待确认"}, "S1E1 not marked"},
		{"nothing found", "/inbox?q=nowhere&kind=x&view=y", []string{"No notice matches this filter"}, []string{"没有符合筛选的通知"}, "S1E1 not marked"},
		{"a notice", fmt.Sprintf("/inbox/%d", newest), []string{"&lt;b&gt;403", "Phone of Mira", "Failed", "550 5.1.1", "May have arrived", "Not sent", "2 tries", "Send again", "data-reads", "/records/2"}, []string{"不确定是否送达", "重新发送", "标记失败"}, "No rule sends this"},
		{"a notice that stayed inside", "/inbox/4", []string{"No rule sends this notice", "A copy from before the upgrade"}, []string{"没有规则推送这条"}, "Send again"},
		{"notifications", "/messages", []string{"Phone of Mira", "ntfy.example", "smtp.example.org:465", "Works", "Paused", "answered 535", "45009", "1 notice waits", "Switched off", "Test all", "Add a channel",
			"What needs you", "Marks of Mira", "Marked, Summary ready", "Quiet hours 22:30 to 07:00", "no repeat for 1.5 min", "Your own text", "and 15 more", "Everybody", "All channels"},
			[]string{"需要你处理的事", "已暂停", "22:30 至 07:00 免打扰", "全部测试", "1 条等待发送"}, "Nothing is sent out"},
		{"a webhook", "/messages/channels/1", []string{`value="***"`, "Authorization: ***", "&#34;topic&#34;", "{anime}", "Save and test", `data-api="PUT"`}, []string{"保存并测试"}, "Add and test"},
		{"a new Telegram chat", "/messages/channels/new?type=telegram", []string{"Add a Telegram chat", "@BotFather", `name="config.chat"`, "More: topic, own server"}, []string{"聊天编号", "更多：话题、自建服务器"}, "your-"},
		{"a new ntfy topic", "/messages/channels/new?type=ntfy", []string{"Choose one that nobody guesses", `<option value="normal">`, `name="config.topic"`}, []string{"猜不到"}, "your-"},
		{"mail", "/messages/channels/2", []string{"alex@example.org, mira@example.org", `name="config.password" type="password"`, `value="***"`, "smtp.qq.com", "answered 535"}, []string{"授权码"}, "Never used"},
		{"a WeCom group", "/messages/channels/3", []string{`name="config.key"`, `value="***"`, "添加群机器人", `<option value="text" selected>`}, []string{"企业微信"}, "<script>alert"},
		{"a DingTalk group", "/messages/channels/4", []string{`name="config.secret"`, "自定义关键词", `name="config.at_all" checked`}, []string{"加签密钥"}, ""},
		{"a new channel", "/messages/channels/new?type=webhook", []string{"Add a webhook", "Add and test", `data-api="POST"`, `name="enabled" checked`}, []string{"添加并测试"}, "***<"},
		{"a rule", "/messages/rules/2", []string{"Marks of Mira", `value="marked" data-list checked`, `value="mark_failed" data-list data-first>`, `value="22:30"`, `value="1.5"`, "{anime} {episode}", `data-name="Mira TV"`, `data-name="bench"`, "Mira TV\nmira\n", `value="1" data-type="number" data-list checked`},
			[]string{"需要处理的", "免打扰开始"}, ""},
		{"a new rule", "/messages/rules/new", []string{`value="mark_failed" data-list data-first checked`, `value="10"`, `data-api="POST"`}, []string{"新规则"}, `value="marked" data-list checked`},
		{"the test of all", "/settings/tools/notifications", []string{"Phone of Mira", "Paused", "Test all", "/api/notification/emails/2/test"}, []string{"全部测试"}, ""},
		{"the dashboard", "/", []string{"Channel Mail to Alex is paused", "answered 535", "unread notice needs attention"}, []string{"渠道 Mail to Alex 已暂停", "条未读通知需要处理"}, "Channel 家庭群"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for lang, wanted := range map[string][]string{"en": c.en, "zh-CN": c.zh} {
				page := g.get(t, in, c.path, lang)
				if page.status != http.StatusOK {
					t.Fatalf("in %s it answers %d", lang, page.status)
				}
				for _, w := range wanted {
					if !strings.Contains(page.body, w) && !strings.Contains(strings.ReplaceAll(page.body, "&#43;", "+"), w) {
						t.Errorf("in %s it lacks %q", lang, w)
					}
				}
				for _, never := range []string{c.never, robotKey, robotKey[4:], "<script>alert", "<b>403", "%!"} {
					if never != "" && strings.Contains(page.body, never) {
						t.Errorf("in %s it holds %q", lang, never)
					}
				}
			}
		})
	}
	for _, path := range []string{"/inbox/999", "/inbox/x", "/messages/channels/9", "/messages/channels/new?type=fax", "/messages/rules/9"} {
		if page := g.get(t, in, path, "en"); page.status != http.StatusNotFound {
			t.Errorf("%s answers %d", path, page.status)
		}
	}
}

func TestNotificationRoomsTeachWhenEmpty(t *testing.T) {
	g := newRig(t)
	in := g.client(t, true)
	mustContain(t, g.get(t, in, "/inbox", "en").body, "No notices yet", `href="/messages"`)
	mustContain(t, g.get(t, in, "/inbox?view=unread", "en").body, "Nothing to do")
	mustContain(t, g.get(t, in, "/messages", "en").body, "No channel yet", "The first rule exists already", "What needs you", "No channel is switched on", "type=dingtalk")
	mustContain(t, g.get(t, in, "/settings/tools/notifications", "en").body, "No channel yet")
	if err := g.notices.DeleteRule(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	mustContain(t, g.get(t, in, "/messages", "en").body, "No rules")
}

func TestInboxIsRead(t *testing.T) {
	g := newRig(t)
	in := g.client(t, true)
	for i := range 60 {
		g.notices.Add(t.Context(), notify.Notice{Kind: notify.JobFailed, About: fmt.Sprint(i), Facts: map[string]string{"job_name": fmt.Sprintf("job %02d", i)}})
	}
	first := g.get(t, in, "/inbox?view=unread", "en").body
	mustContain(t, first, "job 59", "job 10", `<span class="count">60</span>`)
	older := regexp.MustCompile(`href="(/inbox\?before=[^"]+)"`).FindStringSubmatch(first)
	if older == nil || strings.Contains(first, "job 09") {
		t.Fatal("the first page is not the newest 50 with a way to older ones")
	}
	second := g.get(t, in, strings.ReplaceAll(older[1], "&amp;", "&"), "en").body
	mustContain(t, second, "job 09", "job 00", "Newest", "Mark these as read")
	if strings.Contains(second, "job 10") {
		t.Error("the second page repeats a notice")
	}
	if err := g.notices.MarkAllRead(t.Context(), 60); err != nil {
		t.Fatal(err)
	}
	if read := g.get(t, in, "/inbox", "en").body; strings.Contains(read, "api/notification/inbox/read") || strings.Contains(read, `class="badge notice"`) || strings.Contains(read, ">New<") {
		t.Error("what was read still looks unread")
	}
}

// noticesAPI answers for the notifier as the API does, as far as the pages' tests go through it.
func (g *rig) noticesAPI(t testing.TB) func(apiCall) (int, string) {
	test := func(ids ...int64) []map[string]any {
		results, err := g.notices.Test(t.Context(), ids...)
		if err != nil {
			t.Error(err)
		}
		var told []map[string]any
		for _, r := range results {
			told = append(told, map[string]any{"channel_id": r.ChannelID, "ok": r.OK, "latency_ms": r.Latency.Milliseconds(), "problem": r.Problem, "advice": r.Advice})
		}
		return told
	}
	return func(c apiCall) (int, string) {
		var id int64
		switch {
		case c.Path == "/api/notification/test":
			return http.StatusOK, string(encode(t, map[string]any{"results": test()}))
		case strings.HasSuffix(c.Path, "/test"):
			_, _ = fmt.Sscanf(c.Path[strings.Index(c.Path, "s/")+2:], "%d", &id)
			return http.StatusOK, string(encode(t, test(id)[0]))
		}
		return http.StatusOK, "{}"
	}
}

func TestBrowserTestsChannels(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	hook, robot := channeltest.NewHook(t), channeltest.NewWeCom(t)
	good := g.addChannel(t, "phone", channel.Webhook{URL: secret.Text(hook.URL), Method: http.MethodPost})
	g.addChannel(t, "group", channel.WeCom{URL: strings.Split(robot.Address, "?")[0], Key: "a-key-that-is-wrong", Format: "text"})
	g.answer = g.noticesAPI(t)
	browsertest.Run(t, tab, g.signIn(), chromedp.Navigate(g.server.URL+"/messages"), browsertest.Until(browsertest.Listening),
		browsertest.Click("form[data-tests=tested-1] button"), browsertest.Until(browsertest.Says("#tested-1", "The receiver accepted it after")),
		browsertest.Until(browsertest.Says("#standing-1", "Works")),
		browsertest.Click("form[data-tests=tested-2] button"), browsertest.Until(browsertest.Says("#tested-2", "does not know this robot (code 93000)")),
		browsertest.Until(browsertest.Says("#standing-2", "Paused")),
		browsertest.Until(browsertest.Says("#tested-1", "The receiver accepted it after")),
		chromedp.Navigate(g.server.URL+"/settings/tools/notifications"), browsertest.Until(browsertest.Listening),
		browsertest.Click("form[data-url$='/notification/test'] button"),
		browsertest.Until(browsertest.Says("#tested-1", "The receiver accepted it after")), browsertest.Until(browsertest.Says("#tested-2", "93000")),
		browsertest.Until(browsertest.Says("#toasts", "1 of 2")),
		chromedp.Navigate(g.server.URL+"/messages"), browsertest.Until(browsertest.Listening),
		browsertest.Click("#channel-1 form[data-api=PUT] button"), browsertest.Click("#confirm [value=yes]"), browsertest.Until(browsertest.Says("#toasts", "Saved.")),
		// A test that gets no answer does not look as if it went on.
		chromedp.Evaluate[chromedp.Void](`window.fetch = () => Promise.reject(new TypeError("no network"))`),
		browsertest.Click("form[data-tests=tested-1] button"), browsertest.Until(browsertest.Says("#toasts", "The service does not answer.")), browsertest.Until(`document.getElementById("tested-1").textContent === ""`),
	)
	hook.Wait(t, 2)
	calls := g.wrote()
	if last := calls[len(calls)-1]; last.Path != fmt.Sprintf("/api/notification/webhooks/%d", good.ID) || !strings.Contains(last.Body, `"enabled":false`) || !strings.Contains(last.Body, `"url":"***"`) {
		t.Errorf("switching off calls %+v", last)
	}
}

func TestBrowserFormsOfNotifications(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.addAccount(t, account.Draft{Username: "mira", Method: account.ByToken, Tokens: token("x"), MediaUserNames: []string{"Mira TV"}, Enabled: true})
	g.addChannel(t, "phone", channel.Webhook{URL: "https://hook.example/", Method: http.MethodPost})
	refused := true
	g.answer = func(c apiCall) (int, string) {
		switch {
		case strings.HasSuffix(c.Path, "/test"):
			return http.StatusOK, `{"channel_id":7,"ok":true,"latency_ms":31,"problem":"","advice":""}`
		case c.Path == "/api/notification/webhooks" && refused:
			refused = false
			return http.StatusUnprocessableEntity, `{"status":422,"errors":[{"location":"body.config.headers[0].value","message":"holds a line break"}]}`
		}
		return http.StatusOK, `{"id":7}`
	}
	browsertest.Run(t, tab, browsertest.Sized(390, 844), g.signIn(), chromedp.Navigate(g.server.URL+"/messages/channels/new?type=webhook"), browsertest.Until(browsertest.Listening),
		browsertest.Type("#name", "My phone"), browsertest.Type("#url", "https://hook.example/x"), browsertest.Click("#more summary"),
		browsertest.Type("#template", `{"a": ""}`), chromedp.Evaluate[chromedp.Void](`document.getElementById("template").setSelectionRange(7, 7)`),
		browsertest.Click("#placeholders summary"), browsertest.Click(`[data-puts-in="{title}"]`), browsertest.Until(`document.getElementById("template").value === '{"a": "{title}"}'`),
		browsertest.Type("#headers", "X-Key: a:b"),
		browsertest.Click("#channel-form button.primary"), browsertest.Until(browsertest.Says(".field-error", "holds a line break")), browsertest.Until(`document.activeElement.id === "headers"`),
		browsertest.Click("#channel-form button.primary"), browsertest.Until(browsertest.Says("#channel-tried", "The test arrived")),
		browsertest.Until(`location.pathname === "/messages/channels/7"`),
		chromedp.Evaluate[chromedp.Void](`document.getElementById("channel-tried").replaceChildren()`),
		browsertest.Click("#channel-form button.primary"), browsertest.Until(browsertest.Says("#channel-tried", "The test arrived")), browsertest.Until(`document.documentElement.scrollWidth <= 390`),
		chromedp.Navigate(g.server.URL+"/messages/channels/new?type=email"), browsertest.Until(browsertest.Listening),
		browsertest.Type("#name", "mail"), browsertest.Type("#to", "a@example.org; b@example.org"), browsertest.Click("[data-preset=gmail]"), browsertest.Until(browsertest.Says("[data-hint=gmail]", "app password")),
		browsertest.Click("[data-preset=qq]"), browsertest.Until(`document.getElementById("host").value === "smtp.qq.com" && document.querySelector("[data-hint=gmail]").hidden`),
		browsertest.Type("#user", "a@example.org"), browsertest.Type("#password", "pw"),
		browsertest.Click("#channel-form button.primary"), browsertest.Until(browsertest.Says("#channel-tried", "The test arrived")),
	)
	body := `{"name":"My phone","config":{"url":"https://hook.example/x","template":"{\"a\": \"{title}\"}","headers":[{"name":"X-Key","value":"a:b"}],"method":"POST"},"enabled":true}`
	mustCall(t, g,
		apiCall{"POST", "/api/notification/webhooks", body},
		apiCall{"POST", "/api/notification/webhooks", body},
		apiCall{"POST", "/api/notification/webhooks/7/test", ""},
		apiCall{"PUT", "/api/notification/webhooks/7", body},
		apiCall{"POST", "/api/notification/webhooks/7/test", ""},
		apiCall{"POST", "/api/notification/emails", `{"name":"mail","config":{"to":["a@example.org; b@example.org"],"host":"smtp.qq.com","user":"a@example.org","password":"pw","port":465,"tls":"implicit","from":"","skip_verify":false},"enabled":true}`},
		apiCall{"POST", "/api/notification/emails/7/test", ""},
	)
	g.calls = nil
	browsertest.Run(t, tab, browsertest.Send(emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}), chromedp.Navigate(g.server.URL+"/messages/rules/new"), browsertest.Until(browsertest.Listening),
		browsertest.Type("#name", "Only this"), browsertest.Click("[data-ticks=none]"), browsertest.Until(browsertest.Says(".none-ticked", "sends every notice")),
		browsertest.Click("[name=kinds][value=marked]"), browsertest.Until(`!document.querySelector(".none-ticked").checkVisibility()`),
		browsertest.Click("[name=channels]"), browsertest.Click(`[data-name="Mira TV"]`), browsertest.Type("#cooldown", "1.1"),
		chromedp.Evaluate[chromedp.Void](`document.getElementById("quiet_from").value = "22:30"; document.getElementById("quiet_to").value = "07:00"`),
		browsertest.Click("#own summary"), browsertest.Type("#title", "x "), chromedp.Evaluate[chromedp.Void](`document.getElementById("title").focus()`), browsertest.Click("#placeholders summary"), browsertest.Click(`[data-puts-in="{anime}"]`),
		browsertest.Click("#rule-form button.primary"), browsertest.Until(`location.pathname === "/messages"`),
	)
	mustCall(t, g, apiCall{"POST", "/api/notification/rules", `{"name":"Only this","kinds":["marked"],"channels":[1],"users":["Mira TV"],"own_only":false,"quiet_from":"22:30","quiet_to":"07:00","cooldown":66,"title":"x {anime}","text":"","enabled":true}`})
}

func TestBrowserReadsTheInbox(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	newest := g.fillNotices(t)
	g.answer = func(c apiCall) (int, string) {
		var asked struct {
			IDs  []int64 `json:"ids"`
			UpTo int64   `json:"up_to"`
		}
		var err error
		var id int64
		switch {
		case c.Path == "/api/notification/inbox/read":
			if err = json.Unmarshal([]byte(c.Body), &asked); err == nil && len(asked.IDs) > 0 {
				err = g.notices.MarkRead(t.Context(), asked.IDs...)
			}
			if err == nil && asked.UpTo > 0 {
				err = g.notices.MarkAllRead(t.Context(), asked.UpTo)
			}
		case strings.HasSuffix(c.Path, "/resend"):
			_, _ = fmt.Sscanf(c.Path, "/api/notification/deliveries/%d/resend", &id)
			err = g.notices.Resend(t.Context(), id)
		case c.Method == http.MethodDelete:
			_, _ = fmt.Sscanf(c.Path, "/api/notification/inbox/%d", &id)
			err = g.notices.Delete(t.Context(), id)
		}
		if err != nil {
			t.Error(err)
		}
		return http.StatusOK, "{}"
	}
	row := fmt.Sprintf("#notice-%d", newest)
	browsertest.Run(t, tab, g.signIn(), chromedp.Navigate(g.server.URL+"/inbox"), browsertest.Until(browsertest.Listening),
		browsertest.Until(browsertest.Says("#nav .badge.notice", "1")), browsertest.Until(browsertest.Says(row, "New")),
		browsertest.Click(row+" a.name"), browsertest.Until(fmt.Sprintf(`location.pathname === "/inbox/%d"`, newest)), browsertest.Until(browsertest.Listening),
		// Opening it reads it. The four seconds between two looks go by faster here.
		chromedp.Evaluate[chromedp.Void](`{ const wait = setTimeout; window.setTimeout = (done, ms) => wait(done, ms === 4000 ? 50 : ms); }`),
		browsertest.Until(`!document.querySelector("[data-reads]")`),
		browsertest.Click("form[data-url$='/resend'] button"), browsertest.Until(browsertest.Says("#toasts", "It is being sent again.")), browsertest.Until(browsertest.Says("#deliveries", "Waiting to be sent")))
	// What is on its way now is looked at again until it arrived.
	g.exec(t, `UPDATE deliveries SET state = 'sent' WHERE state = 'waiting' AND notice_id = ?`, newest)
	browsertest.Run(t, tab, browsertest.Until(`document.querySelectorAll("#deliveries .state.good").length === 2`),
		chromedp.Navigate(g.server.URL+"/inbox"), browsertest.Until(browsertest.Listening), browsertest.Until(fmt.Sprintf(`!document.querySelector("%s .tag.new")`, row)),
		browsertest.Click(row+" form[data-api=DELETE] button"), browsertest.Until(browsertest.Says("#confirm", "Delete this notice")), browsertest.Click("#confirm [value=yes]"),
		browsertest.Until(fmt.Sprintf(`!document.querySelector("%s")`, row)),
		browsertest.Click("#inbox-head form button"), browsertest.Until(`!document.querySelector(".tag.new") && !document.querySelector("#nav .badge.notice")`),
	)
	// A new one shows on the bell as records change.
	browsertest.Run(t, tab, browsertest.Sized(390, 844), chromedp.Navigate(g.server.URL+"/people"), browsertest.Until(browsertest.Listening))
	g.notices.Add(t.Context(), notify.Notice{Kind: notify.TokenDead, Account: "mira", Facts: map[string]string{"service": "Bangumi"}})
	g.records.Feed.Publish(1)
	browsertest.Run(t, tab, browsertest.Until(browsertest.Says(`#nav a[href="/inbox"]`, "1")), browsertest.Click(`#nav a[href="/inbox"]`), browsertest.Until(browsertest.Says("#inbox", "Sign-in refused")))
}
