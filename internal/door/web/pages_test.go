package web_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/catalog/archive"
	"watchmark/internal/match/idmap"
	"watchmark/internal/platform/reason"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

func TestPages(t *testing.T) {
	g := newRig(t)
	s := g.fill(t)
	g.queue(t, s.queued)
	in := g.client(t, true)
	cases := []struct {
		name, path string
		en, zh     []string
	}{
		{"dashboard", "/", []string{"Needs your attention", "Account bench", "3 records failed", "1 mark waits", "3 titles wait for your decision", "葬送的芙莉莲", "Works", "4 marked", `src="/cover/400602"`, "1 mark waits in the queue", "Does not answer", "of 13 marked automatically", "S1 E28"}, []string{"需要你处理", "账号 bench", "近 7 天有 3 条记录失败", "自动标记（共 13 条）", "最近还有 3 集"}},
		{"records", "/records", []string{"S1 E28", "1 user has no account", "Ignore this user", "Film"}, []string{"1 个用户没有账号", "剧场版"}},
		{"record that was marked", fmt.Sprintf("/records/%d", s.success), []string{"How this was matched", "Search on Bangumi", "Chosen", "98 %", "https://catalog.example/subject/400602", "&#34;confidence&#34;: 0.98"}, []string{"匹配过程", "Bangumi", "选中"}},
		{"record that failed", fmt.Sprintf("/records/%d", s.noAccount), []string{"exactly as written here", "Ignore this user", `href="/people/assign?account=`}, []string{"请把这个用户名原样添加", "忽略此用户"}},
		{"record that fits nothing", fmt.Sprintf("/records/%d", s.hostile), []string{`class="button small" data-opens="correct"`, "Correct the match here"}, []string{"请在这里更正匹配"}},
		{"record that waits", fmt.Sprintf("/records/%d", s.queued), []string{"sent again by itself"}, []string{"会自动重试"}},
		{"record that asks", fmt.Sprintf("/records/%d", s.review), []string{"Choose the entry", fmt.Sprintf("#question-%d", s.question)}, []string{"选定条目"}},
		{"review", "/review", []string{"Season 2", "E1, E2, E3, E4", "4 records", "Film", "Best candidate", "61 %", "More candidates", "12 episodes", "#900020",
			"https://catalog.example/subject/900002", "Confirmed:", "Rejected: exactly this title is blocked", "Decided lately", "3 titles wait"}, []string{"第 2 季", "已确认：", "最近的决定"}},
		{"review from a question on", "/review?before=2", []string{"彩虹放送局", "Newest"}, []string{"选择其他条目"}},
		{"accounts", "/people", []string{"Token works", "Token has expired", "no name yet: nothing is marked", "@mira", ">no account<"}, []string{"令牌有效", "令牌已过期", "尚无账号"}},
		{"connect plex", "/sources/webhooks", []string{"/webhook/plex/" + webhookKey, "<strong>Add Webhook</strong>", "media.pause is not a finished playback.", "Wrong key"}, []string{"操作步骤", "密钥错误"}},
		{"connect jellyfin", "/sources/webhooks?source=jellyfin", []string{"/webhook/jellyfin/" + webhookKey, "{{{SeriesName}}}"}, []string{"发送全部属性最稳妥"}},
		{"connect custom", "/sources/webhooks?source=custom", []string{"/webhook/custom/" + webhookKey, "灯塔守望者", "Not understood"}, []string{"无法识别"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for lang, wanted := range map[string][]string{"en": c.en, "zh-CN": c.zh} {
				page := g.get(t, in, c.path, lang)
				if page.status != http.StatusOK {
					t.Fatalf("%s in %s answers %d", c.path, lang, page.status)
				}
				mustContain(t, page.body, append(wanted, `<html lang="`+lang+`"`)...)
				for _, never := range []string{"secret-token", "<script>alert", "style=\"", "onclick", "%!"} {
					if strings.Contains(page.body, never) {
						t.Errorf("%s in %s holds %q", c.path, lang, never)
					}
				}
			}
		})
	}
}

func TestArchivePage(t *testing.T) {
	g := newRig(t)
	in := g.client(t, true)
	next := time.Now().Add(61 * time.Minute)
	held := archive.Info{Version: "2026-11-17.210306Z", ImportedAt: time.Now().Add(-time.Hour), Counts: archive.Counts{Subjects: 56500, Episodes: 812000, Titles: 210000}}
	for _, c := range []struct {
		name   string
		status archive.Status
		path   string
		en, zh []string
		never  string
	}{
		{"off", archive.Status{}, "/titles/archive", []string{"Switched off", `value="true"`, "Import a file"}, []string{"未启用"}, "Search a title"},
		{"the first import", archive.Status{Enabled: true, ImportInProgress: true, TaskID: 7}, "/titles/archive", []string{"The first import is running", `data-follow="7"`, "Switch off"}, []string{"正在首次导入"}, "Search a title"},
		{"it failed", archive.Status{Enabled: true, LastOutcome: archive.Failed, LastError: reason.Text("look for the newest dump: <b>502</b>"), LastRun: time.Now(), NextRun: &next}, "/titles/archive",
			[]string{"Nothing imported yet", "&lt;b&gt;502", "in 1 hour"}, []string{"尚未导入"}, "Search a title"},
		{"in use", archive.Status{Enabled: true, IndexReady: true, Info: held, Size: 151_000_000, LastOutcome: archive.UpToDate, LastRun: time.Now(), NextRun: &next}, "/titles/archive",
			[]string{"In use", "2026-11-17.210306Z", "56,500 entries", "151 MB", "already up to date", "Search a title"}, []string{"使用中", "56,500 个条目"}, "data-follow"},
		{"in use, not renewed", archive.Status{Enabled: true, IndexReady: true, Info: held, LastOutcome: archive.Skipped, LastError: reason.Text("not enough space"), LastRun: time.Now()}, "/titles/archive",
			[]string{"In use, but the update failed", "not enough space"}, []string{"使用中，但更新失败"}, ""},
		{"a title", archive.Status{Enabled: true, IndexReady: true, Info: held}, "/titles/archive?q=" + url.QueryEscape("灯塔守望者"), []string{"灯台守のうた", "https://catalog.example/subject/900001", "the same title", "Chinese title"}, []string{"标题相同"}, "No such title"},
		{"no such title", archive.Status{Enabled: true, IndexReady: true, Info: held}, "/titles/archive?q=%3Cscript%3Ealert", []string{"No such title", "&lt;script&gt;alert"}, []string{"没有这个标题"}, "<script>alert"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g.archive = c.status
			warned := strings.Contains(g.get(t, in, "/", "en").body, "The offline data was not updated")
			if want := !c.status.LastError.IsZero(); warned != want {
				t.Errorf("the dashboard warns: %v", warned)
			}
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
}

func TestAboutPage(t *testing.T) {
	g := newRig(t)
	in := g.client(t, true)
	next := time.Now().Add(61 * time.Minute)
	snapshot := idmap.InUse{Version: "0.3.208", Entries: 8404, Made: idmap.FromSnapshot}
	fetched := idmap.InUse{Version: "0.3.215", Entries: 8500, Made: idmap.FromDownload, FetchedAt: time.Now().Add(-2 * time.Hour)}
	everywhere := []string{"0.1.0", runtime.Version(), "https://github.com/bangumi-data/bangumi-data", "CC BY 4.0", "https://github.com/BYVoid/OpenCC", "Apache-2.0", "https://lucide.dev", "https://bgm.tv", "modernc.org/sqlite", "v1.60.1"}
	for _, c := range []struct {
		name   string
		status idmap.Status
		en, zh []string
		never  string
	}{
		{"the snapshot", idmap.Status{Enabled: true, InUse: snapshot, NextRun: &next}, []string{"0.3.208", "8,404 entries", "came with this program", "in 1 hour", "Update now"}, []string{"8,404 个条目", "程序自带", "立即更新"}, "data-follow"},
		{"fetched", idmap.Status{Enabled: true, InUse: fetched, LastOutcome: idmap.UpToDate, LastRun: time.Now()}, []string{"0.3.215", "2 hours ago", "already up to date", "not scheduled"}, []string{"已是最新", "未安排"}, "came with"},
		{"not renewed", idmap.Status{Enabled: true, InUse: fetched, LastOutcome: idmap.Failed, LastError: reason.Text("<b>502</b>"), LastRun: time.Now(), NextRun: &next}, []string{"In use, update failed", "&lt;b&gt;502"}, []string{"更新失败"}, "<b>502"},
		{"refused", idmap.Status{Enabled: true, InUse: fetched, LastOutcome: idmap.Refused, LastError: reason.Text("because"), LastRun: time.Now(), NextRun: &next, Moved: []idmap.Moved{
			{Kind: idmap.MovedSeason, Count: 1_234, Of: 5_464, AtMost: 27, Examples: []idmap.Move{{ID: "tmdb:tv/95479", Season: 1, Episode: 1, From: 294993, To: 369304}}},
			{Kind: idmap.MovedFilm, Count: 1, Of: 1_918, AtMost: 10, Examples: []idmap.Move{{ID: "tmdb:movie/8", From: 11, To: 12}}},
			{Kind: idmap.MovedID, Of: 9, AtMost: 10, Examples: []idmap.Move{}}}},
			[]string{"In use, new version not accepted", "because", "First episodes of a season: 1,234 of 5,464 (up to 27", "tmdb:tv/95479</span>, season 1, episode 1:", "#294993", "#369304", "Films: 1 of 1,918", "tmdb:movie/8</span>:"},
			[]string{"使用中，新版本未采用", "第 1 季第 1 集", "未采用"}, "AniList: 0"},
		{"a refresh runs", idmap.Status{Enabled: true, InUse: snapshot, Refreshing: true, TaskID: 7}, []string{`data-follow="7"`}, []string{`data-follow="7"`}, ""},
		{"off", idmap.Status{}, []string{"Switched off", "/settings?section=matching#section-matching"}, []string{"未启用"}, "api/dataset/refresh"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g.dataset = c.status
			for lang, wanted := range map[string][]string{"en": c.en, "zh-CN": c.zh} {
				page := g.get(t, in, "/settings/about", lang)
				if page.status != http.StatusOK {
					t.Fatalf("in %s it answers %d", lang, page.status)
				}
				mustContain(t, page.body, append(wanted, everywhere...)...)
				if c.never != "" && strings.Contains(page.body, c.never) {
					t.Errorf("in %s it holds %q", lang, c.never)
				}
			}
		})
	}
}

func TestFilterAndPaging(t *testing.T) {
	g := newRig(t)
	in := g.client(t, true)
	for i := range 60 {
		g.insert(t, episode(watch.Plex, "mira", fmt.Sprintf("show %02d", i), "", 1, 1, ""), time.Now())
	}
	g.addRecord(t, episode(watch.Emby, "alex", "other show", "", 1, 1, ""), time.Now(), record.Outcome{Status: record.Failed, ErrorKind: record.NotMatched}, account.Account{})

	first := g.get(t, in, "/records?user=mira", "en").body
	mustContain(t, first, "show 59", "show 10")
	if strings.Contains(first, "show 09") || strings.Contains(first, "other show") {
		t.Error("the first page shows more than 50 records, or another user's")
	}
	older := regexp.MustCompile(`href="(/records\?before=[^"]+)"`).FindStringSubmatch(first)
	if older == nil {
		t.Fatal("there is no way to older records")
	}
	second := g.get(t, in, strings.ReplaceAll(older[1], "&amp;", "&"), "en").body
	mustContain(t, second, "show 09", "show 00", "Newest")
	if strings.Contains(second, "show 10") {
		t.Error("the second page repeats a record")
	}
	mustContain(t, g.get(t, in, "/records?status=error&source=emby&q=other", "en").body, "other show", "Clear the filter")
	mustContain(t, g.get(t, in, "/records?q=nowhere", "en").body, "No record matches this filter")
	// What cannot be meant is left out.
	mustContain(t, g.get(t, in, "/records?status=%3Cb%3E&source=zz&before=x", "en").body, "other show")
}

func TestEmptyStatesTeach(t *testing.T) {
	g := newRig(t)
	in := g.client(t, true)
	mustContain(t, g.get(t, in, "/", "en").body, "Three steps to the first mark", `href="/people"`, `href="/sources"`)
	mustContain(t, g.get(t, in, "/records", "en").body, "No records yet")
	mustContain(t, g.get(t, in, "/people", "en").body, "No account yet")
	mustContain(t, g.get(t, in, "/review", "en").body, "Nothing waits for you")
	mustContain(t, g.get(t, in, "/records/queue", "en").body, "Nothing waits", "marks wait here until you send them")
	g.scheduler.Enabled = true
	mustContain(t, g.get(t, in, "/records/queue", "en").body, "While Bangumi cannot be reached, marks wait here. They are sent automatically")
	mustContain(t, g.get(t, in, "/sources/webhooks?source=emby", "en").body, "Nothing has arrived yet")
}

func TestSignedOut(t *testing.T) {
	g := newRig(t, underPath("/wm"))
	out := g.client(t, false)
	for path, next := range map[string]string{
		"/": "/wm/login", "/records?status=error": "/wm/login?next=%2Frecords%3Fstatus%3Derror", "/nowhere": "/wm/login?next=%2Fnowhere",
	} {
		page := g.get(t, out, path, "en")
		if page.status != http.StatusSeeOther || page.header.Get("Location") != next {
			t.Errorf("%s answers %d to %q, want %q", path, page.status, page.header.Get("Location"), next)
		}
	}
	if page := g.get(t, out, "/live", "en"); page.status != http.StatusUnauthorized {
		t.Errorf("/live answers %d", page.status)
	}
	mustContain(t, g.get(t, out, "/login?next=/records", "en").body, `data-next="/wm/records"`)
	for _, evil := range []string{"//evil.example", "https://evil.example", `/\evil.example`} {
		mustContain(t, g.get(t, out, "/login?next="+url.QueryEscape(evil), "en").body, `data-next="/wm/"`)
	}
	if page := g.get(t, g.client(t, true), "/login?next=/records", "en"); page.header.Get("Location") != "/wm/records" {
		t.Errorf("who is signed in is led to %q", page.header.Get("Location"))
	}
}

func TestSetup(t *testing.T) {
	g := newRig(t, beforeSetup)
	out := g.client(t, false)
	mustContain(t, g.get(t, out, "/login", "en").body, "Nobody owns this service yet")
	mustContain(t, g.get(t, out, "/setup?token=abc", "en").body, `name="token" value="abc"`, "/api/setup")
	mustContain(t, g.get(t, out, "/setup", "en").body, "Open the whole setup link")
	g.needs = false
	mustContain(t, g.get(t, out, "/setup?token=abc", "en").body, "The service has an owner already.")
}

func TestWhatNeedsNoSignIn(t *testing.T) {
	g := newRig(t)
	out := g.client(t, false)
	for path, open := range map[string]bool{"/login": true, "/setup": true, "/": false, "/records": false, "/live": false, "/cover/1": false, "/loginx": false} {
		if status := g.get(t, out, path, "en").status; open != (status == http.StatusOK) {
			t.Errorf("%s answers %d", path, status)
		}
	}
}

func TestNotFoundAndFailure(t *testing.T) {
	g := newRig(t)
	in := g.client(t, true)
	for _, path := range []string{"/nowhere", "/records/999", "/records/x"} {
		page := g.get(t, in, path, "zh-CN")
		if page.status != http.StatusNotFound {
			t.Errorf("%s answers %d", path, page.status)
		}
		mustContain(t, page.body, "没有这个页面")
	}
	g.fill(t)
	if err := g.db.Close(); err != nil {
		t.Fatal(err)
	}
	page := g.get(t, in, "/records", "en")
	if page.status != http.StatusInternalServerError {
		t.Errorf("without a database a page answers %d", page.status)
	}
	mustContain(t, page.body, "This page could not be shown")
	if strings.Contains(page.body, "sql") {
		t.Error("the page tells how it failed inside")
	}
}

func TestOAuthAnswers(t *testing.T) {
	g := newRig(t)
	g.fill(t)
	in := g.client(t, true)
	mustContain(t, g.get(t, in, "/people?connected=1", "en").body, "Account mira is connected.")
	mustContain(t, g.get(t, in, "/people?oauth_error=denied", "en").body, "You did not allow access")
	mustContain(t, g.get(t, in, "/people?oauth_error=other_user", "en").body, "as a different user")
	page := g.get(t, in, "/people?oauth_error=call+0900+now", "en").body
	mustContain(t, page, "The account was not connected")
	if strings.Contains(page, "call 0900 now") {
		t.Error("the page repeats what the address says")
	}
}

var (
	local  = regexp.MustCompile(`(?:href|src|action|data-url|data-subjects|data-stream|data-also|data-server|data-preview|data-run|data-accounts|data-records|data-tries|data-log|data-confirms|data-next|data-live|data-login|data-channel)="(/[^"]*)"`)
	static = regexp.MustCompile(`"(/static/[^"]+)"`)
)

func TestBasePathIsEverywhere(t *testing.T) {
	g := newRig(t, underPath("/wm"))
	s := g.fill(t)
	g.fillSources(t)
	notice := g.fillNotices(t)
	in := g.client(t, true)
	for _, path := range []string{fmt.Sprintf("/inbox/%d", notice), "/inbox", "/sources", "/messages", "/messages/channels/1", "/messages/rules/1", "/settings/tools/notifications", "/", "/records", fmt.Sprintf("/records/%d", s.noAccount), "/review", "/records/queue", "/settings/tasks", "/people", "/sources/webhooks", "/settings", "/settings/access", "/settings/backups", "/sources/nas", "/sources/device", "/sources/tracker", "/sources/import", "/messages/summaries", "/messages/llm", "/settings/tools?title=x", "/settings/tools/webhooks", "/settings/tools/network", "/settings/tools/log", "/nowhere"} {
		found := local.FindAllStringSubmatch(g.get(t, in, path, "en").body, -1)
		if len(found) < 5 {
			t.Errorf("%s has %d local addresses", path, len(found))
		}
		for _, m := range found {
			if !strings.HasPrefix(m[1], "/wm/") {
				t.Errorf("%s leads to %s", path, m[1])
			}
		}
	}
}

func TestAssets(t *testing.T) {
	g := newRig(t)
	g.fill(t)
	page := g.get(t, g.client(t, true), "/", "en")
	total := len(page.body)
	seen := []string{}
	var follow func(path string)
	follow = func(path string) {
		if slices.Contains(seen, path) {
			return
		}
		seen = append(seen, path)
		asset := g.get(t, g.client(t, false), path, "en")
		if asset.status != http.StatusOK {
			t.Fatalf("%s answers %d", path, asset.status)
		}
		if cache := asset.header.Get("Cache-Control"); !strings.Contains(cache, "immutable") {
			t.Errorf("%s may be kept: %q", path, cache)
		}
		packed := g.packed(t, path)
		total += len(packed)
		if plain := unpack(t, packed); plain != asset.body {
			t.Errorf("%s is another file when packed", path)
		}
		for _, m := range regexp.MustCompile(`"\./([a-z]+-[0-9a-f]+\.js)"`).FindAllStringSubmatch(asset.body, -1) {
			follow("/static/" + m[1])
		}
	}
	for _, m := range static.FindAllStringSubmatch(page.body, -1) {
		follow(m[1])
	}
	if total > 150_000 {
		t.Errorf("the first page weighs %d bytes", total)
	}
	t.Logf("the first page is %d bytes in %d files on its way", total, len(seen)+1)
	for _, path := range []string{"/static/app.css", "/static/..%2fweb.go", "/static/"} {
		if asset := g.get(t, g.client(t, true), path, "en"); asset.status != http.StatusNotFound {
			t.Errorf("%s answers %d", path, asset.status)
		}
	}
	if cache := page.header.Get("Cache-Control"); cache != "no-store" {
		t.Errorf("pages may be kept: %q", cache)
	}
}

// packed is what is sent of a static file to who takes gzip.
func (g *rig) packed(t testing.TB, path string) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.server.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept-Encoding", "gzip")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("%s: %v, %v", path, answer.Header, err)
	}
	return body
}

func unpack(t testing.TB, packed []byte) string {
	t.Helper()
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestPreferences(t *testing.T) {
	g := newRig(t)
	in := g.client(t, true)
	choose := func(form url.Values) string {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.server.URL+"/preferences", strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		answer := do(t, in, request)
		if answer.status != http.StatusSeeOther {
			t.Errorf("a choice answers %d", answer.status)
		}
		return answer.header.Get("Location")
	}
	if back := choose(url.Values{"lang": {"zh-CN"}, "back": {"/records?status=error"}}); back != "/records?status=error" {
		t.Errorf("a choice leads back to %q", back)
	}
	choose(url.Values{"theme": {"dark"}})
	mustContain(t, g.get(t, in, "/records", "en").body, `<html lang="zh-CN" data-theme="dark">`)
	choose(url.Values{"lang": {"xx"}, "theme": {"pink"}})
	mustContain(t, g.get(t, in, "/records", "en").body, `<html lang="zh-CN" data-theme="dark">`)
	if back := choose(url.Values{"lang": {"en"}, "back": {"//evil.example"}}); back != "/" {
		t.Errorf("a choice leads to %q", back)
	}
	mustContain(t, g.get(t, g.client(t, true), "/", "fr, zh-TW;q=0.8").body, `<html lang="zh-CN"`)
	mustContain(t, g.get(t, g.client(t, true), "/", "fr").body, `<html lang="en"`)
}

// TestPagesAreReadOnly sends other methods to pages, and to what is none.
func TestPagesAreReadOnly(t *testing.T) {
	g := newRig(t)
	g.fill(t)
	in := g.client(t, true)
	for path, want := range map[string]int{"/settings/tools": 405, "/settings/tools/network": 405, "/": 405, "/records/1": 405, "/login": 405, "/nowhere": 404} {
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch} {
			request, err := http.NewRequestWithContext(t.Context(), method, g.server.URL+g.base+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := do(t, in, request)
			if got.status != want || (got.header.Get("Allow") == "GET, HEAD") != (want == 405) {
				t.Errorf("%s %s: %d, Allow %q", method, path, got.status, got.header.Get("Allow"))
			}
		}
	}
}

// TestOldAddressesLeadToTheNewOnes asks for each address that a page had before, with a query, below a base path.
func TestOldAddressesLeadToTheNewOnes(t *testing.T) {
	g := newRig(t, underPath("/wm"))
	s := g.fill(t)
	g.fillNotices(t)
	g.fillSummaries(t)
	in := g.client(t, true)
	for old, want := range map[string]string{
		"/queue": "/records/queue", "/queue?status=abandoned&after=3": "/records/queue?status=abandoned&after=3", "/mappings": "/titles", "/mappings/new?title=%E6%B5%B7": "/titles/new?title=%E6%B5%B7",
		"/mappings/3": "/titles/3", "/mappings/import": "/titles/import", "/mappings/blocked?q=x": "/titles/blocked?q=x", "/archive?q=%2F": "/titles/archive?q=%2F", "/connect?source=emby": "/sources/webhooks?source=emby",
		"/nas?users": "/sources/nas?users", "/device": "/sources/device", "/tracker?tracker_error=denied": "/sources/tracker?tracker_error=denied", "/import": "/sources/import",
		"/accounts?connected=1": "/people?connected=1", "/notifications": "/messages", "/notifications/channels/1": "/messages/channels/1", "/notifications/channels/new?type=email": "/messages/channels/new?type=email",
		"/notifications/rules/new": "/messages/rules/new", "/notifications/rules/2": "/messages/rules/2", "/summaries": "/messages/summaries", "/summaries/daily": "/messages/summaries/daily", "/llm": "/messages/llm",
		"/tasks": "/settings/tasks", "/debug?title=x": "/settings/tools?title=x", "/debug/webhooks": "/settings/tools/webhooks", "/debug/network": "/settings/tools/network",
		"/debug/notifications": "/settings/tools/notifications", "/debug/log?level=warn": "/settings/tools/log?level=warn", "/about": "/settings/about",
	} {
		got := g.get(t, in, old, "en")
		if to := got.header.Get("Location"); got.status != http.StatusPermanentRedirect || to != "/wm"+want {
			t.Errorf("%s answers %d and leads to %q, want %q", old, got.status, to, want)
		}
		if there := g.get(t, in, want, "en"); there.status != http.StatusOK {
			t.Errorf("%s leads to %s, which answers %d", old, want, there.status)
		}
	}
	for _, path := range []string{"/", "/records", fmt.Sprintf("/records/%d", s.success), "/review", "/inbox", "/settings", "/settings/access", "/settings/backups"} {
		if got := g.get(t, in, path, "en"); got.status != http.StatusOK {
			t.Errorf("%s, which stays, answers %d", path, got.status)
		}
	}
	// The redirect leads to this service, whatever is written behind the old address.
	for _, odd := range []string{"/mappings//evil.example", "/mappings/%2F%2Fevil.example", "/debug/..%2f..%2fx"} {
		if to := g.get(t, in, odd, "en").header.Get("Location"); strings.Contains(to, "//") {
			t.Errorf("%s leads to %q", odd, to)
		}
	}
}
