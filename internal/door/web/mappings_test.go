package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"watchmark/internal/match/mapping"
	"watchmark/internal/testkit/browsertest"
)

func TestMappingsPages(t *testing.T) {
	full, empty := newRig(t), newRig(t)
	full.fill(t)
	for _, c := range []struct {
		name, path string
		rig        *rig
		en, zh     []string
		never      string
	}{
		{"list", "/titles", full, []string{"Season 2", "specials", "episode 9 only", "episode 13 counts as episode 1", "Every season", "No season given, or season 1", "Films only", "by an import", "by an answer on Review",
			"the server counts on", "https://catalog.example/subject/900002", "灯塔守望者 第二季", "#900022", "<code>^", "&lt;script&gt;alert", `href="/api/mappings/export"`, "Blocked titles"}, []string{"第 2 季", "所有季", "第 13 集算作第 1 集", "来自导入"}, "No mappings yet"},
		{"search", "/titles?q=900022", full, []string{"Rainbow Broadcast Station"}, []string{"所有季"}, "the server counts on"},
		{"nothing found", "/titles?q=%3Cscript%3Ealert%281", full, []string{"&lt;script&gt;alert(1"}, []string{"&lt;script&gt;alert(1"}, "<script>alert"},
		{"nothing found at all", "/titles?q=zzz", full, []string{"No mapping matches", `value="zzz"`}, []string{"没有符合的映射"}, "No mappings yet"},
		{"no mappings", "/titles", empty, []string{"No mappings yet", "Go to Review"}, []string{"还没有映射"}, "Try a title"},
		{"one", "/titles/3", full, []string{`value="发条王国"`, `value="-12"`, `value="900015"`, `value="2"`, "now 发条王国 后半部分", `option value="show" selected`, `data-api="PUT"`}, []string{"编辑映射"}, ""},
		{"an expression", "/titles/4", full, []string{`name="is_regex" checked`, `placeholder="A title as your media server sends it"`}, []string{"正则表达式"}, ""},
		{"new", "/titles/new?title=%22x&season=3", full, []string{`value="&#34;x"`, `value="3"`, `data-api="POST"`}, []string{"添加映射"}, "leads to"},
		{"blocked", "/titles/blocked", full, []string{"Anywhere in the title", "The whole title", "by a rejection on Review", "by an import", "购物频道 特别节目"}, []string{"标题完全相同", "在“待确认”中拒绝"}, "No blocked titles"},
		{"blocked, searched", "/titles/blocked?q=pv", full, []string{"Regular expression"}, []string{"正则表达式"}, "by a rejection"},
		{"nothing blocked", "/titles/blocked", empty, []string{"No blocked titles", `id="block" open`}, []string{"没有屏蔽的标题"}, ""},
		{"import", "/titles/import", full, []string{"Or paste it here", `data-import="/api/mappings/import"`}, []string{"或粘贴到这里"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := c.rig.client(t, true)
			for lang, wanted := range map[string][]string{"en": c.en, "zh-CN": c.zh} {
				page := c.rig.get(t, in, c.path, lang)
				if page.status != http.StatusOK {
					t.Fatalf("in %s it answers %d", lang, page.status)
				}
				mustContain(t, page.body, wanted...)
				for _, never := range []string{c.never, "<script>alert", "style=\"", "%!"} {
					if never != "" && strings.Contains(page.body, never) {
						t.Errorf("in %s it holds %q", lang, never)
					}
				}
			}
		})
	}
	for _, path := range []string{"/titles/999", "/titles/x"} {
		if got := full.get(t, full.client(t, true), path, "en").status; got != http.StatusNotFound {
			t.Errorf("%s answers %d", path, got)
		}
	}
}

func TestThousandsOfMappingsArePaged(t *testing.T) {
	g := newRig(t)
	var set mapping.Set
	for i := range 5000 {
		set.Mappings = append(set.Mappings, mapping.Mapping{Title: fmt.Sprintf("title %04d", i), SubjectID: 1})
	}
	if _, err := g.mappings.Import(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	in := g.client(t, true)
	first := g.get(t, in, "/titles?q=title", "en").body
	mustContain(t, first, "5000", "title 4999", "/titles?before=4951&amp;q=title")
	if strings.Contains(first, "Newest") || len(first) > 150_000 {
		t.Errorf("the first page has %d bytes", len(first))
	}
	second := g.get(t, in, "/titles?before=4951&q=title", "en").body
	mustContain(t, second, "title 4949", "Newest")
	mustContain(t, g.get(t, in, "/titles?before=4951", "en").body, `<a class="button" href="/titles">`)
	if strings.Contains(second, "title 4950") {
		t.Error("a mapping stands on two pages")
	}
}

func TestBrowserAddsAndRemovesAMapping(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t, underPath("/wm"))
	g.answer = func(c apiCall) (int, string) {
		switch {
		case c.Path == "/api/subjects":
			return 200, `{"items":[{"id":265,"name":"灯台守のうた","name_cn":"灯塔守望者","date":"2024-01-10","platform":"TV","eps":12,"type":2}],"next_cursor":""}`
		case c.Path == "/api/mappings/test" && strings.Contains(c.Body, `"title":"("`):
			return 422, `{"status":422,"detail":"x","errors":[{"location":"body.draft.title","message":"not a regular expression: missing )"}]}`
		case c.Path == "/api/mappings/test" && strings.Contains(c.Body, `"subject_id":0`):
			return 200, `{"draft":"applies","passed_over":"","mapping":{"id":0,"title":"^灯塔","is_regex":true}}`
		case c.Path == "/api/mappings/test":
			return 200, `{"draft":"applies","passed_over":"","mapping":{"id":0,"title":"^灯塔","is_regex":true},"leads":{"status":"matched","subject_id":265,"subject_name":"灯塔守望者","episode_id":1,"episode_sort":1,"episode_name":"第七夜","reason":"x"}}`
		case c.Method == http.MethodPost:
			if _, err := g.mappings.Create(t.Context(), mapping.Mapping{Title: "^灯塔", Regex: true, SubjectID: 265, SubjectName: "灯塔守望者", Origin: mapping.ByPerson}); err != nil {
				t.Error(err)
			}
		case c.Method == http.MethodDelete:
			if err := g.mappings.Delete(t.Context(), 1); err != nil {
				t.Error(err)
			}
		}
		return 200, "{}"
	}
	browsertest.Run(t, tab, browsertest.Sized(390, 844), g.signIn(), chromedp.Navigate(g.server.URL+"/wm/titles/new"), browsertest.Until(browsertest.Listening),
		browsertest.Type("#trial-of", "灯塔物语"), browsertest.Type("#trial-season", "3"),
		browsertest.Type("#title", "("), browsertest.Click("[name=is_regex]"),
		browsertest.Until(browsertest.Says(".trial .tried", "not a regular expression: missing )")), browsertest.Until(`!document.querySelector("[aria-invalid]")`),
		browsertest.Type("#title", "^灯塔"), browsertest.Until(browsertest.Says(".trial .tried", "Choose an entry to see the episode.")),
		browsertest.Type("#subject", "灯塔"), chromedp.Focus("#subject"), chromedp.KeyEvent(kb.Enter), browsertest.Until(browsertest.Says("#subject-found", "灯台守のうた")), browsertest.Click("[data-pick]"),
		browsertest.Until(browsertest.Says(".trial .tried", "This mapping is used.")), browsertest.Until(browsertest.Says(".trial .tried", "Leads to 灯塔守望者 · episode 1 第七夜.")),
		browsertest.Type("#offset", "-12"), browsertest.Click("#mapping-form button.primary"),
		browsertest.Until(`location.pathname === "/wm/titles" && document.readyState === "complete"`), browsertest.Until(browsertest.Says(".rules", "^灯塔")),
		browsertest.Until(browsertest.Listening), browsertest.Click(".rules form button"), browsertest.Until(browsertest.Says("#confirm", "Delete the mapping of “^灯塔”?")), browsertest.Click("#confirm [value=yes]"),
		browsertest.Until(browsertest.Says("#toasts", "The mapping is deleted.")), browsertest.Until(browsertest.Says("main", "No mappings yet")),
	)
	var wrote []apiCall
	tried := ""
	for _, c := range g.asked() {
		switch {
		case c.Path == "/api/mappings/test":
			tried = c.Body
		case c.Method != http.MethodGet:
			wrote = append(wrote, c)
		}
	}
	want := []apiCall{
		{"POST", "/api/mappings", `{"title":"^灯塔","is_regex":true,"subject_id":265,"episode_offset":-12,"form":"","first_season":false,"note":""}`},
		{"DELETE", "/api/mappings/1", ""},
	}
	if diff := cmp.Diff(want, wrote); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(tried, `{"title":"灯塔物语","season":3,"episode":1,"is_film":false,"draft":{"title":"^灯塔","is_regex":true,"subject_id":265,`) {
		t.Errorf("the last trial is %s", tried)
	}
}

func TestBrowserChangesAMapping(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.fill(t)
	browsertest.Run(t, tab, g.signIn(), chromedp.Navigate(g.server.URL+"/titles/3"), browsertest.Until(browsertest.Listening),
		browsertest.Type("#season", ""), browsertest.Click("[name=first_season]"), browsertest.Click("#mapping-form button.primary"),
		browsertest.Until(`location.pathname === "/titles" && location.hash === "#mapping-3"`))
	want := `{"title":"发条王国","is_regex":false,"subject_id":900015,"episode_offset":-12,"form":"show","first_season":true,"note":"the server counts on"}`
	for _, c := range g.asked() {
		if c.Method == http.MethodPut {
			if diff := cmp.Diff(apiCall{"PUT", "/api/mappings/3", want}, c); diff != "" {
				t.Errorf("the call (-want +got):\n%s", diff)
			}
			return
		}
	}
	t.Errorf("nothing was changed: %+v", g.asked())
}

func TestBrowserTriesATitle(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.fill(t)
	answers := map[string]string{
		"预告":    `{"draft":"","passed_over":"","blocked":{"id":1,"keyword":"预告","kind":"contains"}}`,
		"别的":    `{"draft":"","passed_over":""}`,
		"海图":    `{"draft":"","passed_over":"it leads to a film","mapping":{"id":7,"title":"海图","is_regex":false},"leads":{"status":"not_found","subject_id":0,"subject_name":"","episode_sort":null,"episode_name":"","reason":"no entry matches"}}`,
		"fails": "",
	}
	g.answer = func(c apiCall) (int, string) {
		for title, answer := range answers {
			if strings.Contains(c.Body, title) && answer != "" {
				return 200, answer
			}
		}
		return 503, `{"status":503,"detail":"The catalog cannot be asked at the moment."}`
	}
	says := func(words string) browsertest.Step {
		return browsertest.Until(browsertest.Says(".trial .tried", words))
	}
	browsertest.Run(t, tab, g.signIn(), chromedp.Navigate(g.server.URL+"/titles"), browsertest.Until(browsertest.Listening),
		browsertest.Click("#trial summary"), browsertest.Type("#trial-of", "预告"), says("the blocked title “预告” fits"),
		browsertest.Type("#trial-of", "海图"), says("The mapping “海图” is used. Open"), says("It is not used here"), says("it leads to a film"), says("no entry matches"),
		browsertest.Type("#trial-of", "fails"), says("cannot be asked at the moment"),
		browsertest.Type("#trial-of", "别的"), browsertest.Type("#trial-season", "4"), says("No mapping fits: the title is searched for. Add one for it"),
		browsertest.Until(`!document.querySelector(".trial .tried a").search.includes("season=1")`),
		browsertest.Click(".trial .tried a"), browsertest.Until(`location.pathname === "/titles/new" && document.querySelector("#title")?.value === "别的" && document.querySelector("#season").value === "4"`),
	)
}

func TestBrowserBlocksAndUnblocks(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.answer = func(c apiCall) (int, string) {
		switch c.Method {
		case http.MethodPost:
			if strings.Contains(c.Body, `"("`) {
				return 422, `{"status":422,"errors":[{"location":"body.keyword","message":"not a regular expression"}]}`
			}
			if _, err := g.mappings.Block(t.Context(), mapping.Blocked{Keyword: "花絮", Kind: mapping.Contains, Source: mapping.ByPerson}); err != nil {
				t.Error(err)
			}
		case http.MethodPut:
			if _, err := g.mappings.UpdateBlocked(t.Context(), mapping.Blocked{ID: 1, Keyword: "花絮集", Kind: mapping.Exact}); err != nil {
				t.Error(err)
			}
		case http.MethodDelete:
			if err := g.mappings.Unblock(t.Context(), 1); err != nil {
				t.Error(err)
			}
		}
		return 200, "{}"
	}
	browsertest.Run(t, tab, g.signIn(), chromedp.Navigate(g.server.URL+"/titles/blocked"), browsertest.Until(browsertest.Listening),
		browsertest.Type("#keyword-0", "("), browsertest.Click("#block button.primary"), browsertest.Until(browsertest.Says("#block .field-error", "not a regular expression")),
		browsertest.Type("#keyword-0", "花絮"), browsertest.Click("#block button.primary"), browsertest.Until(browsertest.Says(".rules", "花絮")), browsertest.Until(`!document.querySelector("#block").open && document.querySelector("#keyword-0").value === ""`),
		browsertest.Click("#edit-1 summary"), browsertest.Type("#keyword-1", "花絮集"),
		chromedp.Evaluate[chromedp.Void](`{ document.querySelector("#kind-1").value = "exact" }`),
		browsertest.Click("#edit-1 form button"), browsertest.Until(browsertest.Says(".rules .what .sub", "The whole title")),
		browsertest.Click(".rules form[data-api=DELETE] button"), browsertest.Until(browsertest.Says("#confirm", "Unblock “花絮集”?")), browsertest.Click("#confirm [value=yes]"),
		browsertest.Until(browsertest.Says("main", "No blocked titles")),
	)
	want := []apiCall{
		{"POST", "/api/blocked-keywords", `{"keyword":"(","kind":"contains"}`}, {"POST", "/api/blocked-keywords", `{"keyword":"花絮","kind":"contains"}`},
		{"PUT", "/api/blocked-keywords/1", `{"keyword":"花絮集","kind":"exact"}`}, {"DELETE", "/api/blocked-keywords/1", ""},
	}
	if diff := cmp.Diff(want, g.asked()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestBrowserImportsWithAPreview(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.answer = func(c apiCall) (int, string) {
		switch {
		case strings.HasPrefix(c.Body, "["):
			return 400, `{"status":400,"detail":"This document is of another kind."}`
		case c.Path == "/api/mappings/import/preview":
			return 200, `{"added":2,"changed":1,"same":3,"refused":1,"lines":[
				{"list":"mappings","index":0,"fate":"added","title":"灯塔守望者","problem":"","mapping":{"title":"灯塔守望者","season":2,"subject_id":265,"subject_name":"灯台守"}},
				{"list":"mappings","index":1,"fate":"refused","title":"no subject","problem":"expected required property subject_id to be present"},
				{"list":"mappings","index":2,"fate":"changed","title":"发条王国","problem":"","mapping":{"title":"发条王国","subject_id":9,"episode_offset":-12},"was":{"id":4,"title":"发条王国","subject_id":8,"subject_name":"旧","episode_offset":0}},
				{"list":"blocked_keywords","index":0,"fate":"added","title":"<b>预告","problem":""}]}`
		case c.Path == "/api/mappings/import":
			return 200, `{"added":2,"changed":1,"same":0,"refused":0}`
		}
		return 200, "{}"
	}
	browsertest.Run(t, tab, browsertest.Sized(390, 844), g.signIn(), chromedp.Navigate(g.server.URL+"/titles/import"), browsertest.Until(browsertest.Listening),
		browsertest.Click("#rules-import button"), browsertest.Until(browsertest.Says(".form-error", "Choose a file, or paste its content.")),
		browsertest.Type("#text", "{"), browsertest.Click("#rules-import button"), browsertest.Until(browsertest.Says(".form-error", "This is not JSON.")),
		browsertest.Type("#text", "[]"), browsertest.Click("#rules-import button"), browsertest.Until(browsertest.Says(".form-error", "This document is of another kind.")),
		browsertest.Type("#text", `{"mappings":[{"title":"灯塔守望者"},{"title":"no subject"},{"title":"发条王国"}],"blocked_keywords":[{"keyword":"<b>预告"}]}`), browsertest.Click("#rules-import button"),
		browsertest.Until(browsertest.Says("#import-preview", "2 new, 1 changed, 3 unchanged, 1 refused.")),
		browsertest.Until(browsertest.Says("#import-preview", "expected required property subject_id")), browsertest.Until(browsertest.Says("#import-preview", "旧 #8")),
		browsertest.Until(browsertest.Says("#import-preview", "#9 (-12)")), browsertest.Until(browsertest.Says("#import-preview", "<b>预告")), browsertest.Until(`document.documentElement.scrollWidth <= 390`),
		browsertest.Until(browsertest.Says("[data-import-go]", "Import 3")), browsertest.Click("[data-import-go]"),
		browsertest.Until(browsertest.Says("#import-done", "Imported: 2 new, 1 changed.")), browsertest.Until(`document.querySelector("#import-preview").hidden && document.querySelector("#text").value === ""`),
	)
	var sent []string
	for _, c := range g.asked() {
		if c.Path == "/api/mappings/import" {
			sent = append(sent, c.Body)
		}
	}
	if diff := cmp.Diff([]string{`{"mappings":[{"title":"灯塔守望者"},{"title":"发条王国"}],"blocked_keywords":[{"keyword":"<b>预告"}]}`}, sent); diff != "" {
		t.Errorf("what is imported (-want +got):\n%s", diff)
	}
}
