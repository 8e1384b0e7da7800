package web_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"watchmark/internal/engine"
	"watchmark/internal/match"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/task"
	"watchmark/internal/record/webhooklog"
	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/upkeep/diagnose"
	"watchmark/internal/watch"
)

// testMatch finds one title, and tells of the event in the trace.
func (g *rig) testMatch(_ context.Context, e watch.Event) (match.Trace, error) {
	if e.Title == "葬送的芙莉莲" {
		return successTrace(), nil
	}
	input := map[string]any{"title": e.Title, "original_title": e.OriginalTitle, "user_name": e.UserName, "air_date": e.AirDate.String(), "media": string(e.Media)}
	if e.Season != nil {
		input["season"] = *e.Season
	}
	if e.Episode != nil {
		input["episode"] = *e.Episode
	}
	return match.Trace{Result: match.Result{Status: match.NotFound, Reason: reason.Text("nothing fits")}, Steps: []match.Step{{Name: "api", Status: "miss", Input: input}}}, nil
}

// networkSample is a network as it may be behind a filter, with a proxy.
func networkSample(now time.Time) []diagnose.Result {
	at := now.Add(-3 * time.Minute)
	chain := []diagnose.Certificate{
		{Subject: "CN=filter.lan", Issuer: "CN=Home Filter CA,O=Router", Names: []string{"filter.lan", "*.filter.lan"}, NotBefore: now.AddDate(-1, 0, 0), NotAfter: now.AddDate(1, 0, 0), Fingerprint: strings.Repeat("3f9a", 16)},
		{Subject: "CN=Home Filter CA,O=Router", Issuer: "CN=Home Filter CA,O=Router", Names: []string{}, NotBefore: now.AddDate(-5, 0, 0), NotAfter: now.AddDate(5, 0, 0), Fingerprint: strings.Repeat("77c1", 16)},
	}
	difference := -183.0
	stage := func(name diagnose.StageName, ms float64, detail string) diagnose.Stage {
		return diagnose.Stage{Name: name, OK: true, ElapsedMS: ms, Detail: reason.Text(detail)}
	}
	good := diagnose.Route{Via: diagnose.ByProxy, Used: true, OK: true, ElapsedMS: 143, TLSVersion: "TLS 1.3", Status: 200, Stages: []diagnose.Stage{
		stage(diagnose.DNS, .4, "192.168.1.2"), stage(diagnose.TCP, 1.2, "192.168.1.2:1080"), stage(diagnose.Proxy, 38, ""), {Name: diagnose.TLS, ElapsedMS: 61, Detail: value("diagnosis_issued_by", "TLS 1.3", "CN=R11")}, stage(diagnose.HTTP, 42, "200 OK")}}
	cut := diagnose.Route{Via: diagnose.Direct, Failed: diagnose.TLS, Problem: diagnose.TLSCut, ElapsedMS: 80, Stages: []diagnose.Stage{
		stage(diagnose.DNS, 12, "203.0.113.7"), stage(diagnose.TCP, 31, "203.0.113.7:443"), {Name: diagnose.TLS, ElapsedMS: 36, Problem: diagnose.TLSCut, Detail: reason.Text("read tcp: connection reset by peer")}}}
	strange := diagnose.Route{Via: diagnose.Direct, Used: true, Failed: diagnose.TLS, Problem: diagnose.WrongName, ElapsedMS: 95, Chain: chain, TLSVersion: "TLS 1.2", Stages: []diagnose.Stage{
		stage(diagnose.DNS, 9, "10.10.34.35"), stage(diagnose.TCP, 4, "10.10.34.35:443"),
		{Name: diagnose.TLS, ElapsedMS: 71, Problem: diagnose.WrongName, Detail: reason.Text("x509: certificate is valid for filter.lan, not bgm.tv <b>")}}}
	off := good
	off.Via, off.Problem, off.ClockDifference = diagnose.Direct, diagnose.ClockOff, &difference
	unknown := diagnose.Route{Via: diagnose.Direct, Used: true, Failed: diagnose.DNS, Problem: diagnose.NameUnknown, ElapsedMS: 22, Stages: []diagnose.Stage{
		{Name: diagnose.DNS, ElapsedMS: 22, Problem: diagnose.NameUnknown, Detail: reason.Text("lookup apiz.trakt.tv: no such host")}}}
	return []diagnose.Result{
		{Kind: diagnose.CatalogAPI, Host: "api.bgm.tv", InUse: true, CheckedAt: &at, OK: true, Routes: []diagnose.Route{good, cut}},
		{Kind: diagnose.CatalogWeb, Host: "bgm.tv", InUse: true, CheckedAt: &at, Routes: []diagnose.Route{strange}},
		{Kind: diagnose.Archive, Host: "raw.githubusercontent.com", InUse: true, CheckedAt: &at, OK: true, Routes: []diagnose.Route{off}},
		{Kind: diagnose.TrackerAPI, Host: "apiz.trakt.tv", CheckedAt: &at, Routes: []diagnose.Route{unknown}},
		{Kind: diagnose.Dataset, Host: "unpkg.com", InUse: true, Routes: []diagnose.Route{}},
		{Kind: diagnose.AnimeLists, Host: "raw.githubusercontent.com", InUse: true, CheckedAt: &at, OK: true, Routes: []diagnose.Route{good}},
		{Kind: diagnose.Shinkro, Host: "raw.githubusercontent.com", CheckedAt: &at, OK: true, Routes: []diagnose.Route{good}},
	}
}

// logLines writes a few lines into the log.
func (g *rig) logLines() {
	log := slog.New(g.logs.Handler(slog.LevelDebug))
	log.Info("watchmark is running", "version", "0.1.0", "url", "http://127.0.0.1:8787")
	log.Debug("request sent", "method", "GET", "url", "https://api.bgm.tv/v0/me", "headers", map[string][]string{"Authorization": {"***"}})
	log.Warn("catalog unreachable", "problem", "no connection to api.bgm.tv: check that the service runs")
	log.Error("cannot answer a request", "request", "GET /api/records", "error", `<script>alert(1)</script>`)
}

func TestToolsPages(t *testing.T) {
	g := newRig(t)
	g.fill(t)
	in := g.client(t, true)
	title := "/settings/tools?title=" + url.QueryEscape("葬送的芙莉莲") + "&episode=26&user_name="
	for _, c := range []struct {
		name, path string
		en, zh     []string
		never      string
	}{
		{"nothing tried", "/settings/tools", []string{"No result yet", `<option value="Mira TV">`, `name="title"`}, []string{"还没有结果"}, "Run it for real"},
		{"a match", title + "mira", []string{"This would be marked", "葬送的芙莉莲", "Search on Bangumi", "98 %", "Marks on the list of mira", "<strong>really marked</strong>", `name="episode" value="26"`}, []string{"会标记为", "真的标记"}, "No result yet"},
		{"for somebody on dry run", title + "bench", []string{"bench is in dry run"}, []string{"bench 处于试运行"}, "Marks on the list"},
		{"for nobody", title + "stranger", []string{"No enabled account has this user name"}, []string{"没有已启用的账号"}, "Marks on the list"},
		{"no match", "/settings/tools?title=" + url.QueryEscape(hostileTitle) + "&ori_title=o&season=0&episode=2.5&release_date=2024-05&media_type=ova&user_name=+alex+", []string{"No entry found", "nothing fits", "<dd><bdi>2.5</bdi></dd>", "<dd><bdi>2024-05</bdi></dd>", "<dd><bdi> alex </bdi></dd>", "<dd><bdi>ova</bdi></dd>", "&lt;script&gt;"}, []string{"没有找到条目"}, "<script>alert"},
		{"a film has no numbers", "/settings/tools?title=x&media_type=movie&season=7&episode=8", []string{"<dd><bdi>movie</bdi></dd>"}, nil, "<dd><bdi>7</bdi></dd>"},
		{"a film by another word", "/settings/tools?title=x&media_type=+Film", []string{"<dd><bdi>movie</bdi></dd>", `value="movie" selected`}, nil, "<dd><bdi>episode</bdi></dd>"},
		{"an episode by another word", "/settings/tools?title=x&media_type=TV", []string{"<dd><bdi>episode</bdi></dd>", `value="episode" selected`}, nil, "<dd><bdi>movie</bdi></dd>"},
		{"a kind that is none", "/settings/tools?title=x&media_type=podcast", []string{"This type is unknown", `aria-invalid="true"`}, []string{"类型无法识别"}, "Run it for real"},
		{"wrong fields", "/settings/tools?title=+&season=x&episode=-1&release_date=soon", []string{"Enter a title.", "A whole number from 0", "A number from 0 to 99999", "A date such as", `aria-invalid="true"`}, []string{"请输入标题"}, "Run it for real"},
		{"webhooks", "/settings/tools/webhooks", []string{"Accepted", "Wrong key", "192.168.1.20", "&#34;grandparentTitle&#34;: &#34;葬送的芙莉莲&#34;", "media.pause is not a finished playback."}, []string{"已接收", "密钥错误"}, "None"},
		{"webhooks that were refused", "/settings/tools/webhooks?outcome=refused", []string{"Wrong key", "Not understood"}, nil, "media.pause"},
		{"webhooks with a text", "/settings/tools/webhooks?q=scrobble", []string{"media.scrobble"}, nil, "media.pause"},
		{"webhooks of a source", "/settings/tools/webhooks?source=emby", []string{"灵能百分百"}, nil, "迷宫饭"},
		{"no such webhook", "/settings/tools/webhooks?q=nowhere", []string{"No request matches"}, []string{"没有符合筛选的请求"}, "media.pause"},
		{"the network", "/settings/tools/network", []string{"Bangumi API", "api.bgm.tv", "Anime-Lists", "shinkro-mapping", "Through the proxy", "fails at: TLS", "The certificate is for another host", "CN=Home Filter CA,O=Router", "This machine is 183 s behind", "Not checked", "not in use", "&lt;b&gt;", "3f9a3f9a"}, []string{"经代理", "失败的步骤：TLS", "证书属于另一个域名"}, `data-again="1"`},
		{"the log", "/settings/tools/log", []string{"watchmark is running", "catalog unreachable", "version: 0.1.0", "&lt;script&gt;alert", `data-after="4"`}, []string{"下载诊断信息"}, "<script>alert"},
		{"warnings", "/settings/tools/log?level=warn&q=CATALOG", []string{"catalog unreachable", `data-level="warn"`}, nil, "request sent"},
		{"no line", "/settings/tools/log?q=nowhere", []string{"No line matches this filter yet"}, []string{"暂无符合筛选的日志"}, "request sent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for lang, wanted := range map[string][]string{"en": c.en, "zh-CN": c.zh} {
				page := g.get(t, in, c.path, lang)
				if page.status != http.StatusOK {
					t.Fatalf("in %s it answers %d", lang, page.status)
				}
				mustContain(t, page.body, wanted...)
				if c.never != "" && strings.Contains(page.body, c.never) {
					t.Errorf("in %s it holds %q", lang, c.never)
				}
			}
		})
	}
	g.network[4].Running = true
	mustContain(t, g.get(t, in, "/settings/tools/network", "en").body, "6 of 7 checked", `data-again="1"`, "Checking")
	for _, path := range []string{"/settings/tools", "/settings/tools/webhooks", "/settings/tools/network", "/settings/tools/log"} {
		if page := g.get(t, g.client(t, false), path, "en"); page.status != http.StatusSeeOther {
			t.Errorf("%s answers strangers %d", path, page.status)
		}
	}
}

func TestToolsEmptyStates(t *testing.T) {
	g := newRig(t)
	in := g.client(t, true)
	mustContain(t, g.get(t, in, "/settings/tools/webhooks", "en").body, "Nothing has arrived yet", `href="/sources/webhooks"`)
	mustContain(t, g.get(t, in, "/settings/tools/log", "en").body, "No line matches this filter yet")
	mustContain(t, g.get(t, in, "/settings/tools/network", "en").body, "Check now")
}

func TestWebhookLogPages(t *testing.T) {
	g := newRig(t)
	in := g.client(t, true)
	g.write(t, func(ctx context.Context, tx *sql.Tx) error {
		for i := range 30 {
			if err := webhooklog.InsertTx(ctx, tx, webhooklog.Entry{At: time.Now(), Source: watch.Plex, Status: 200, Reason: reason.Text(fmt.Sprintf("request %02d", i))}); err != nil {
				return err
			}
		}
		return nil
	})
	first := g.get(t, in, "/settings/tools/webhooks?source=plex", "en").body
	mustContain(t, first, "request 29", "request 05", "/settings/tools/webhooks?before=6&amp;source=plex")
	second := g.get(t, in, "/settings/tools/webhooks?source=plex&before=6", "en").body
	mustContain(t, second, "request 04", "request 00", "Newest")
	if strings.Contains(first, "request 04") || strings.Contains(second, "request 05") {
		t.Error("a page repeats what the other has")
	}
}

func TestBrowserTriesATitleAndRunsIt(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t, underPath("/wm"))
	s := g.fill(t)
	g.answer = func(apiCall) (int, string) { return 202, fmt.Sprintf(`{"record_ids":[%d]}`, s.success) }
	browsertest.Run(t, tab, g.signIn(), chromedp.Navigate(g.server.URL+"/wm/settings/tools"), browsertest.Until(browsertest.Listening),
		browsertest.Type("#title", "葬送的芙莉莲"), browsertest.Type("#episode", "26"), browsertest.Type("#user_name", "mira"),
		browsertest.Click("#probe button"),
		browsertest.Until(browsertest.Says(".probe-result .verdict", "This would be marked")), browsertest.Until(browsertest.Says(".probe-result .story", "Search on Bangumi")), browsertest.Until(browsertest.Listening),
		browsertest.Click(".probe-result form button"), browsertest.Until(browsertest.Says("#confirm", "Really mark this")), browsertest.Click("#confirm [value=no]"),
		browsertest.Until(`!document.getElementById("confirm").open`))
	if n := len(g.asked()); n != 0 {
		t.Errorf("saying no makes %d calls", n)
	}
	browsertest.Run(t, tab, browsertest.Click(".probe-result form button"), browsertest.Click("#confirm [value=yes]"),
		browsertest.Until(fmt.Sprintf(`location.pathname === "/wm/records/%d"`, s.success)))
	want := []apiCall{{"POST", "/api/test-sync", `{"title":"葬送的芙莉莲","media_type":"episode","season":"1","episode":"26","user_name":"mira"}`}}
	if diff := cmp.Diff(want, g.asked()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestBrowserDiagnosesTheNetwork(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.network = networkSample(time.Now())
	release := make(chan bool)
	g.answer = func(c apiCall) (int, string) {
		switch c.Path {
		case "/api/network/diagnose":
			<-release
			return 200, `{"ok":false,"items":[]}`
		case "/api/proxy/test":
			return 200, `{"ok":false,"proxy":"http://127.0.0.1:3128","routes":[{"via":"proxy","ok":false,"failed":"tcp","problem":"proxy_unreachable"},{"via":"direct","ok":true,"elapsed_ms":81.6}]}`
		case "/api/proxy/test-host":
			if strings.Contains(c.Body, "a b") {
				return 422, `{"status":422,"errors":[{"location":"body.host","message":"no host"}]}`
			}
			return 200, `{"reachable":true,"routes":[{"via":"direct","reachable":true,"elapsed_ms":12.2}]}`
		}
		return 200, "{}"
	}
	g.setRunning(true)
	browsertest.Run(t, tab, g.signIn(), chromedp.Navigate(g.server.URL+"/settings/tools/network"), browsertest.Until(browsertest.Listening),
		browsertest.Until(browsertest.Says("#network .progress", "6 of 7 checked")))
	g.setRunning(false)
	browsertest.Run(t, tab, browsertest.Until(`!document.querySelector("#network .progress")`))
	browsertest.Run(t, tab, browsertest.Click("[data-follows] button"))
	g.setRunning(true)
	browsertest.Run(t, tab, browsertest.Until(browsertest.Says("#network .progress", "6 of 7")))
	g.setRunning(false)
	close(release)
	browsertest.Run(t, tab, browsertest.Until(browsertest.Says("#toasts .bad", "A service in use cannot be reached")), browsertest.Until(`!document.querySelector("#network .progress")`),
		browsertest.Type("#proxy", "http://name:pw@127.0.0.1:3128"), browsertest.Click("[data-tries$='/test'] button"),
		browsertest.Until(browsertest.Says(".tried .bad", "Through the proxy http://127.0.0.1:3128: fails at Connection. The proxy itself cannot be reached.")),
		browsertest.Until(browsertest.Says(".tried .good", "Directly: works, 82 ms")),
		browsertest.Type("#host", "a b"), browsertest.Click("[data-tries$='/test-host'] button"), browsertest.Until(browsertest.Says(".field-error", "no host")),
		browsertest.Type("#host", "example.org"), browsertest.Click("[data-tries$='/test-host'] button"),
		browsertest.Until(browsertest.Says("[data-tries$='/test-host'] .tried .good", "Directly: works, 12 ms")))
	if last := g.asked()[len(g.asked())-1]; last.Body != `{"host":"example.org","port":443}` {
		t.Errorf("a host is tried by %+v", last)
	}
}

// setRunning says whether the ID table is being looked at. Pages are made meanwhile.
func (g *rig) setRunning(running bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.network[4].Running = running
}

func TestBrowserFollowsTheLog(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.logLines()
	lines := make(chan string)
	var asked atomic.Bool
	g.logStream = func(w http.ResponseWriter, r *http.Request) {
		if !asked.Swap(true) {
			w.WriteHeader(http.StatusBadGateway) // a proxy answers while the service starts
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "event: log\nid: 5\ndata: {\"id\":5,\"time\":\"2026-11-21T10:11:12.345Z\",\"level\":\"INFO\",\"message\":\"asked with %s\",\"facts\":{\"n\":1}}\n\n", r.URL.RawQuery)
		for {
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-g.shutdown:
				return
			case line := <-lines:
				_, _ = fmt.Fprintf(w, "event: log\nid: 6\ndata: %s\n\n", line)
			}
		}
	}
	browsertest.Run(t, tab, g.signIn(), chromedp.Navigate(g.server.URL+"/settings/tools/log?level=info&q=a"), browsertest.Until(browsertest.Listening),
		browsertest.Until(browsertest.Says("#service-log", "asked with level=info&q=a&after=4")), browsertest.Until(browsertest.Says("#service-log li:last-child", "10:11:12.345")))
	lines <- `{"id":6,"time":"2026-11-21T10:11:13Z","level":"ERROR","message":"<b>broken</b>","facts":{}}`
	browsertest.Run(t, tab, browsertest.Until(browsertest.Says("#service-log li.bad:last-child", "<b>broken</b>")),
		browsertest.Click("#log-pause"), browsertest.Until(`document.getElementById("log-pause").ariaPressed === "true"`), browsertest.Until(browsertest.Says("#log-pause", "Continue")),
		browsertest.Click("#log-pause"), browsertest.Until(browsertest.Says("#service-log li:last-child", "after=6")))
}

// TestBrowserRetellsTheLog follows the log, and that of a task, in Chinese: what the pages say in Chinese, the lines say in Chinese.
func TestBrowserRetellsTheLog(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	lines := make(chan string)
	g.logStream = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-g.shutdown:
				return
			case line := <-lines:
				_, _ = fmt.Fprintf(w, "event: log\nid: 1\ndata: %s\n\n", line)
			}
		}
	}
	last := func(part string) string {
		return `(document.querySelector(".log li:last-child ` + part + `")?.textContent + " " + document.querySelector(".log li:last-child ` + part + `")?.lang)`
	}
	browsertest.Run(t, tab, g.signIn(), speak("zh-CN"), chromedp.Navigate(g.server.URL+"/settings/tools/log"), browsertest.Until(browsertest.Listening))
	lines <- `{"id":1,"time":"2026-11-21T10:11:13Z","level":"WARN","message":"marked as watched","facts":{"error":"there is no such task, or it ended long ago"}}`
	browsertest.Run(t, tab, browsertest.Until(last("strong bdi")+` === "已标记为看过 zh-CN"`), browsertest.Until(last("bdi.muted")+` === "没有这个后台任务，或它早已结束 zh-CN"`))
	// Many at once, one of which nobody translated, and one too long to ask for.
	for i := range 40 {
		lines <- fmt.Sprintf(`{"id":%d,"time":"2026-11-21T10:11:14Z","level":"INFO","message":"marked as watched","facts":{"reason":"%s"}}`, i+2, strings.Repeat("影", 300))
	}
	lines <- fmt.Sprintf(`{"id":50,"time":"2026-11-21T10:11:14Z","level":"INFO","message":"who knows","facts":{"reason":"%s"}}`, strings.Repeat("x", 70_000))
	lines <- `{"id":51,"time":"2026-11-21T10:11:15Z","level":"INFO","message":"there is no such task, or it ended long ago","facts":{}}`
	browsertest.Run(t, tab, browsertest.Until(last("strong bdi")+` === "没有这个后台任务，或它早已结束 zh-CN"`),
		browsertest.Until(`[...document.querySelectorAll(".log strong")].filter((e) => e.textContent === "已标记为看过").length === 41`),
		browsertest.Until(`[...document.querySelectorAll(".log strong bdi")].some((e) => e.textContent === "who knows" && e.lang === "en")`))

	log := slog.New(task.Handler(slog.DiscardHandler))
	run, err := g.tasks.Start(t.Context(), task.Spec{Kind: engine.RetryKind, About: 1}, func(ctx context.Context, _ *task.Task) error {
		log.InfoContext(ctx, "marked as watched", "problem", "Bangumi cannot be reached")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	browsertest.Run(t, tab, chromedp.Navigate(g.server.URL+fmt.Sprintf("/settings/tasks/%d", run.Status().ID)),
		browsertest.Until(last("strong bdi")+` === "已标记为看过 zh-CN"`), browsertest.Until(last("bdi.muted")+` === "无法连接 Bangumi zh-CN"`))
}
