package web_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/hold"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/settings"
	"watchmark/internal/tell/llm"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/notify/channel"
	"watchmark/internal/tell/summary"
	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/testkit/dbtest"
)

// noModel is a language model that is not set up: the pages ask none.
type noModel struct{}

func (noModel) Enabled() bool { return false }

func (noModel) Chat(context.Context, string, []llm.Message) (llm.Answer, error) {
	return llm.Answer{}, llm.ErrOff
}

func (g *rig) newSummaries() *summary.Service {
	return summary.NewService(summary.Config{
		Schedule: g.jobs, Tasks: g.tasks, Holds: hold.New(g.db, dbtest.Self(1), slog.New(slog.DiscardHandler)), DB: g.db, Records: g.records, Model: noModel{}, Language: func() bilingual.Language { return bilingual.English }, Next: settings.NextRun,
		Notify: func(context.Context, *sql.Tx, ...notify.Notice) error { return nil }, Wake: func() {}, MayTry: g.notices.MayTry, Log: slog.New(slog.DiscardHandler),
	})
}

// refusedKey is what a run says when the key of the model is wrong, which comes from outside in part.
var refusedKey = (&llm.Error{Kind: llm.BadKey, Detail: reason.Text("Incorrect API key <b>")}).Reason()

// fillSummaries adds jobs with what they brought, a language model with its use, and what was told of today's episodes.
func (g *rig) fillSummaries(t testing.TB) {
	t.Helper()
	ctx, now := t.Context(), time.Now()
	err := g.settings.Patch(ctx, map[string]map[string]any{"llm": {"base_url": "http://192.168.1.5:11434/v1", "model": "qwen3:8b", "api_key": "sk-of-the-language-model"}})
	if err != nil {
		t.Fatal(err)
	}
	if channels, err := g.notices.Channels(ctx); err != nil || len(channels) == 0 {
		g.addChannel(t, "Mira's phone", channel.Webhook{URL: "https://ntfy.example/mira", Method: http.MethodPost})
		g.exec(t, `UPDATE notification_channels SET enabled = 0 WHERE id = ?`, g.addChannel(t, "Family group", channel.WeCom{Key: "693a91f6-7aoc-4bc4-97a0-0ec2sifa5aaa"}).ID)
	}
	for _, d := range []summary.Draft{
		{Name: "daily", Enabled: true, Cron: "0 21 * * *", DaysBack: 1, Channels: []int64{1, 9}, SkipEmpty: true},
		{Name: "family", Enabled: true, Cron: "30 20 * * 0", DaysBack: 7, Prompt: "Three sentences, as a radio host would."},
		{Name: "月报", Cron: "0 9 1-7 * 1", DaysBack: 31, User: "gone", MaxRecords: 200, Channels: []int64{2}},
	} {
		if _, err := g.summaries.Create(ctx, d); err != nil {
			t.Fatal(err)
		}
	}
	g.write(t, func(ctx context.Context, tx *sql.Tx) error {
		for _, r := range []struct {
			hours                     int
			starter, outcome          string
			records                   int
			text, model               string
			problem                   reason.Reason
			promptTokens, completions int
		}{
			{98, "cron", "failed", 0, "", "", value("summary_records_could_not_read_look"), 0, 0},
			{74, "cron", "empty", 0, "Nothing was watched.", "", reason.Reason{}, 0, 0},
			{50, "cron", "done", 3, "3 episodes of 2 shows.\n\nmira\n- 葬送的芙莉莲: episodes 25–26\n- 迷宫饭: episode 12\n\nThe language model could not write this summary: " + refusedKey.Text, "", refusedKey, 0, 0},
			{26, "cron", "done", 12, "A quiet evening. Mira went on with 葬送的芙莉莲 up to episode 26 and began 迷宫饭.\n\nAlex watched one film. " + hostileTitle, "qwen3:8b", reason.Reason{}, 1_830, 142},
			{2, "person", "done", 4, "Mira saw the end of 铃芽之旅, and nobody slept before midnight.", "qwen3:8b", reason.Reason{}, 912, 61},
		} {
			at := now.Add(-time.Duration(r.hours) * time.Hour)
			if _, err := tx.ExecContext(ctx, `INSERT INTO summary_results (job_id, at, started_by, outcome, span_from, span_to, records, body, model, prompt_tokens, completion_tokens, problem) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
				at.UnixMilli(), r.starter, r.outcome, at.Add(-24*time.Hour).UnixMilli(), at.UnixMilli(), r.records, r.text, r.model, r.promptTokens, r.completions, r.problem); err != nil {
				return err
			}
		}
		for i, day := range []int{0, 0, 1, 2, 2, 3, 5, 8, 8, 9, 13, 14, 20, 21, 27} {
			job, problem := []string{"daily", "family", "", "daily"}[i%4], reason.Reason{}
			if i%5 == 4 {
				problem = refusedKey
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO llm_usage (at, job, model, prompt_tokens, completion_tokens, latency_ms, error) VALUES (?, ?, 'qwen3:8b', ?, ?, ?, ?)`,
				now.AddDate(0, 0, -day).UnixMilli(), job, 900+100*i, 60+i, 2_300+400*i, problem); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO holds (name, owner) VALUES ('summary 2', 2)`)
		return err
	})
	next := now.Add(15 * time.Hour)
	g.airing = summary.AiringStatus{NextRun: &next, Told: []summary.AiringDay{
		{AccountID: 3, Account: "alex", Day: now.Format(time.DateOnly), At: now.Add(-9 * time.Hour)},
		{AccountID: 2, Account: "bench", Day: now.Format(time.DateOnly), At: now.Add(-9 * time.Hour), Problem: reason.Text("the list cannot be read: check the account; the next message comes tomorrow")},
		{AccountID: 1, Account: "mira", Day: now.Format(time.DateOnly), At: now.Add(-9 * time.Hour), Episodes: 3},
	}}
}

// summaryAnswers are what the API says to the buttons of these rooms.
func summaryAnswers(c apiCall) (int, string, bool) {
	const result = `{"id":0,"at":"2026-05-31T21:00:04Z","started_by":"person","outcome":"done","from":"2026-05-30T21:00:00Z","to":"2026-05-31T21:00:00Z","records":4,` +
		`"text":"Mira saw the end of 铃芽之旅.\n\n<b>And nobody slept.</b>","model":"qwen3:8b","prompt_tokens":912,"completion_tokens":61,"problem":""}`
	switch {
	case c.Path == "/api/llm/test":
		return 200, `{"ok":true,"model":"qwen3:8b","latency_ms":1840,"kind":"","status":0,"problem":"","advice":""}`, true
	case strings.HasPrefix(c.Path, "/api/summary/jobs/") && strings.HasSuffix(c.Path, "/test"):
		return 200, result, true
	case strings.HasPrefix(c.Path, "/api/summary/jobs/") && strings.HasSuffix(c.Path, "/trigger"):
		return 200, `{"status":"done","result":` + result + `}`, true
	}
	return 0, "", false
}

func TestSummariesPages(t *testing.T) {
	g, empty := newRig(t), newRig(t)
	g.fill(t)
	g.fillSummaries(t)
	empty.airing.Reason = summary.ArchiveOff
	for _, c := range []struct {
		name, path string
		rig        *rig
		en, zh     []string
		never      string
	}{
		{"jobs", "/messages/summaries", g, []string{"Every day at 21:00", "Sundays at 20:30", "<code>0 9 1-7 * 1</code>", "Not sent to anybody", "No notification rule covers this", `data-url="/api/notification/rules" data-body="{&#34;kinds&#34;:[&#34;summary_ready&#34;]`, `&#34;airing_today&#34;`,
			"Being written", "Switched off", "the last 7 days", `href="/messages/summaries/%e6%9c%88%e6%8a%a5"`, "Only in the inbox", "3 episodes", "nothing aired", "the list cannot be read", "Mira&#39;s phone", "A language model. If it fails", "Write a short, friendly summary", `<option value="Mira TV">`},
			[]string{"每天 21:00", "每周日 20:30", "不会发送给任何人", "正在生成", "最近 7 天", "3 集", "无法读取列表"}, "No summary yet"},
		{"no job", "/messages/summaries", empty, []string{"No summary yet", "&#34;cron&#34;:&#34;0 20 * * 0&#34;", "&#34;name&#34;:&#34;weekly&#34;", "Offline data are switched off", `href="/titles/archive"`, "There is no channel yet", "No language model is set up"},
			[]string{"还没有总结", "&#34;name&#34;:&#34;每周&#34;", "离线数据未启用", "没有配置大模型"}, "Sent every day"},
		{"a job", "/messages/summaries/daily", g, []string{"Saved, with a problem", "Nothing was watched", "written by qwen3:8b", "plain figures", "tokens: 1,830 in, 142 out", "by hand", "on schedule", "12 records", "- 迷宫饭: episode 12\n\nThe language",
			"&lt;script&gt;alert", "the service of the language model refuses the key", `name="channels" value="1" data-type="number" data-list checked`, `name="channels" value="2" data-type="number" data-list>`, `data-url="/api/summary/jobs/daily"`},
			[]string{"已生成，但有问题", "没有观看记录", "由 qwen3:8b 撰写", "12 条记录", "大模型服务拒绝了密钥", "请检查 llm.api_key"}, "<script>alert"},
		{"a job without results", "/messages/summaries/family", g, []string{"No text yet", "Three sentences, as a radio host would.", "Delete the summary family?"}, []string{"还没有内容"}, "written by qwen"},
		{"a job of somebody who is gone", "/messages/summaries/%E6%9C%88%E6%8A%A5", g, []string{`<option value="gone" selected>gone</option>`, `value="200"`, `data-body="{&#34;name&#34;:&#34;月报&#34;,&#34;enabled&#34;:true,`}, nil, "three sentences"},
		{"older results", "/messages/summaries/daily?before=2", g, []string{"the records could not be read", "Newest"}, []string{"最新"}, "Nothing was watched</span>"},
		{"the model", "/messages/llm", g, []string{"Uses qwen3:8b at 192.168.1.5:11434.", "What leaves your network", "15 requests", "Requests of the last 30 days: 15, of which 3 failed", "<svg", "1 failed", "2.3 s", "Last problem:", "refuses the key", "Incorrect API key &lt;b&gt;", "Enter a new value to replace it"},
			[]string{"使用 qwen3:8b", "媒体服务器用户名", "15 次请求", "大模型服务拒绝了密钥"}, "sk-of-the"},
		{"no model", "/messages/llm", empty, []string{"Not set up", "Summaries work without a language model", "What leaves your network", "Not used yet.", "http://192.168.1.5:11434/v1"}, []string{"未配置", "还没有使用过"}, "/api/llm/test"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := c.rig.client(t, true)
			for lang, wanted := range map[string][]string{"en": c.en, "zh-CN": c.zh} {
				page := c.rig.get(t, in, c.path, lang)
				if page.status != http.StatusOK {
					t.Fatalf("in %s it answers %d", lang, page.status)
				}
				mustContain(t, page.body, wanted...)
				if strings.Contains(page.body, c.never) {
					t.Errorf("in %s it holds %q", lang, c.never)
				}
			}
		})
	}
	if page := g.get(t, g.client(t, true), "/messages/summaries/nothing", "en"); page.status != http.StatusNotFound {
		t.Errorf("a job that is not there answers %d", page.status)
	}
	for reason, wanted := range map[summary.Reason]string{summary.SwitchedOff: "Choose a time", summary.ArchiveMissing: "not imported yet"} {
		empty.airing.Reason = reason
		mustContain(t, empty.get(t, empty.client(t, true), "/messages/summaries", "en").body, wanted)
	}
}

func TestSchedulesAreToldInWords(t *testing.T) {
	g := newRig(t)
	in := g.client(t, true)
	for i, c := range []struct{ cron, en, zh string }{
		{"0 21 * * *", "Every day at 21:00", "每天 21:00"},
		{" 5  7 * * * ", "Every day at 7:05", "每天 7:05"},
		{"0 8 * * 1-5", "Monday to Friday at 8:00", "周一至周五 8:00"},
		{"0 8 * * 7", "Sundays at 8:00", "每周日 8:00"},
		{"15 8 * * 6", "Saturdays at 8:15", "每周六 8:15"},
		{"0 9 1 * *", "On day 1 of the month at 9:00", "每月 1 日 9:00"},
		{"0 9 1 * 1", "<code>0 9 1 * 1</code>", "<code>0 9 1 * 1</code>"},
		{"*/5 * * * *", "<code>*/5 * * * *</code>", "<code>*/5 * * * *</code>"},
		{"0 9 * 1 *", "<code>0 9 * 1 *</code>", "<code>0 9 * 1 *</code>"},
	} {
		name := fmt.Sprintf("job-%d", i)
		if _, err := g.summaries.Create(t.Context(), summary.Draft{Name: name, Cron: c.cron, DaysBack: 1}); err != nil {
			t.Fatal(err)
		}
		mustContain(t, g.get(t, in, "/messages/summaries/"+name, "en").body, c.en)
		mustContain(t, g.get(t, in, "/messages/summaries/"+name, "zh-CN").body, c.zh)
	}
}

func TestSummaryResultsHavePages(t *testing.T) {
	g := newRig(t)
	if _, err := g.summaries.Create(t.Context(), summary.Draft{Name: "daily", Cron: "0 21 * * *", DaysBack: 1}); err != nil {
		t.Fatal(err)
	}
	g.write(t, func(ctx context.Context, tx *sql.Tx) error {
		for i := range 25 {
			if _, err := tx.ExecContext(ctx, `INSERT INTO summary_results (job_id, at, started_by, outcome, span_from, span_to, records, body, model, prompt_tokens, completion_tokens, problem) VALUES (1, 1, 'cron', 'done', 1, 2, 1, ?, '', 0, 0, '')`, fmt.Sprintf("text %d.", i+1)); err != nil {
				return err
			}
		}
		return nil
	})
	in := g.client(t, true)
	page := g.get(t, in, "/messages/summaries/daily", "en").body
	mustContain(t, page, "text 25.", "text 6.", `href="/messages/summaries/daily?before=6"`)
	if strings.Contains(page, "text 5.") || strings.Contains(page, "Newest") {
		t.Error("the first page is too long, or leads back to itself")
	}
	mustContain(t, g.get(t, in, "/messages/summaries/daily?before=6", "en").body, "text 5.", "text 1.", "Newest")
}

// TestBrowserChangesASummary is about the form, the switch, and what the buttons say that do not work out.
func TestBrowserChangesASummary(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.fill(t)
	g.fillSummaries(t)
	answers := []string{`{"status":"skipped"}`, `{"status":"failed","result":{"outcome":"failed","problem":"the records could not be read: see the log of Watchmark"}}`,
		`{"status":"done","result":{"outcome":"empty","from":"2026-05-30T21:00:00Z","to":"2026-05-31T21:00:00Z","problem":""}}`}
	g.answer = func(c apiCall) (int, string) {
		switch {
		case c.Path == "/api/settings/schedule":
			return 200, `{"next":["2026-06-01T07:00:00Z"]}`
		case strings.HasSuffix(c.Path, "/trigger"):
			answer := answers[0]
			answers = answers[1:]
			return 200, answer
		case c.Method == http.MethodPost && strings.Contains(c.Body, `"name":"two words"`):
			return 422, `{"status":422,"errors":[{"location":"body.name","message":"give 1 to 64 letters, digits, - or _"}]}`
		}
		return 200, "{}"
	}
	send := browsertest.Click("#job-1 form[data-url$='/trigger'] button")
	browsertest.Run(t, tab, browsertest.Sized(390, 844), g.signIn(), speak("zh-CN"), chromedp.Navigate(g.server.URL+"/messages/summaries"), browsertest.Until(browsertest.Listening),
		send, browsertest.Until(browsertest.Says("#told-1", "已在撰写中")),
		send, browsertest.Until(browsertest.Says("#told-1", "无法读取记录：请查看服务日志")),
		send, browsertest.Until(browsertest.Says("#told-1", "因此没有发送")), browsertest.Until(`document.activeElement.id === "told-1"`),
		speak("en"), chromedp.Navigate(g.server.URL+"/messages/summaries"), browsertest.Until(browsertest.Listening),
		browsertest.Click("#new-job > summary"), browsertest.Type("#job-name", "two words"),
		browsertest.Click("[data-cron-is='0 9 1 * *']"), browsertest.Until(`document.querySelector("#new-job .runs time")?.dateTime === "2026-06-01T07:00:00Z"`),
		browsertest.Click("#new-job [name=channels][value='1']"),
		browsertest.Click("#new-job button.primary"), browsertest.Until(browsertest.Says("#new-job .field-error", "give 1 to 64 letters")),
		browsertest.Type("#job-name", "monthly"), browsertest.Click("#new-job button.primary"), browsertest.Until(browsertest.Says("#toasts", "Saved.")),
		browsertest.Click("#job-1 form[data-api=PUT] button"), browsertest.Until(browsertest.Says("#toasts", "Switched off.")),
		browsertest.Until(`document.documentElement.scrollWidth <= 390`),
		chromedp.Navigate(g.server.URL+"/messages/summaries/daily"), browsertest.Until(browsertest.Listening),
		browsertest.Click(".head form button"), browsertest.Until(browsertest.Says("#confirm", "Delete the summary daily?")), browsertest.Click("#confirm [value=yes]"),
		browsertest.Until(`location.pathname === "/messages/summaries"`),
	)
	run := apiCall{"POST", "/api/summary/jobs/daily/trigger", ""}
	draft := func(name string) string {
		return `{"name":"` + name + `","user":"","cron":"0 9 1 * *","days_back":31,"channels":[1],"skip_empty":true,"enabled":true,"prompt":"","max_records":500}`
	}
	mustCall(t, g, run, run, run,
		apiCall{"POST", "/api/summary/jobs", draft("two words")}, apiCall{"POST", "/api/summary/jobs", draft("monthly")},
		apiCall{"PUT", "/api/summary/jobs/daily", `{"name":"daily","enabled":false,"cron":"0 21 * * *","days_back":1,"user":"","prompt":"","max_records":0,"channels":[1,9],"skip_empty":true}`},
		apiCall{"DELETE", "/api/summary/jobs/daily", ""})
}
