package web_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/settings"
	"watchmark/internal/record"
	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/watch"
)

// settingsEnviron locks two settings.
var settingsEnviron = []string{"WATCHMARK_SERVER_LISTEN=0.0.0.0:8787", "WATCHMARK_CATALOG_ARCHIVE_DATA_DIR=/titles/archive"}

// proxyPassword must never be on a page.
const proxyPassword = "hunter2-of-the-proxy"

// fillSettings changes settings and makes API keys, as somebody would who has used the service for a while.
func (g *rig) fillSettings(t testing.TB) {
	t.Helper()
	err := g.settings.Patch(t.Context(), map[string]map[string]any{
		"server":          {"public_url": "https://watch.example.org", "trusted_proxies": []any{"172.16.0.0/12", "10.0.0.0/8"}, "base_path": "/watch"},
		"network":         {"proxy": "http://mira:" + proxyPassword + "@proxy.example:3128"},
		"auth":            {"webhook_key": webhookKey},
		"catalog_archive": {"enabled": true, "mirrors": []any{"https://mirror.example/"}},
		"sync":            {"workers": 2.0},
		"matching":        {"accept_score": 0.9},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"home automation", "nightly backup"} {
		if _, _, err := g.auth.CreateKey(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
}

// changesSettings has the rig's API change settings as that of the service does.
func (g *rig) changesSettings(t testing.TB) {
	g.answer = func(c apiCall) (int, string) {
		switch {
		case c.Path == "/api/settings" && c.Method == http.MethodPatch:
			var patch map[string]map[string]any
			if err := json.Unmarshal([]byte(c.Body), &patch); err != nil {
				t.Error(err)
			}
			err := g.settings.Patch(t.Context(), patch)
			var errs settings.Errors
			if errors.As(err, &errs) {
				return 422, fmt.Sprintf(`{"status":422,"errors":[{"location":"body.%s","message":%q}]}`, errs[0].Field, errs[0].What.Text)
			}
			if err != nil {
				t.Error(err)
			}
		case c.Path == "/api/settings/schedule":
			return 422, `{"status":422,"errors":[{"location":"query.cron","message":"no"}]}`
		}
		return http.StatusOK, `{}`
	}
}

func TestSettingsPageHasAControlForEveryKey(t *testing.T) {
	g := newRig(t)
	in := g.client(t, true)
	for lang, inLanguage := range map[string]func(en, zh string) string{
		"en": func(en, _ string) string { return en }, "zh-CN": func(_, zh string) string { return zh },
	} {
		body := g.get(t, in, "/settings", lang).body
		plain := unescape.Replace(regexp.MustCompile(`</?a\b[^>]*>`).ReplaceAllString(body, "")) // a help text may link to a document
		for _, section := range g.settings.Schema() {
			mustContain(t, plain, inLanguage(section.Label, section.LabelZH), inLanguage(section.Help, section.HelpZH))
			for _, key := range section.Keys {
				mustContain(t, plain, inLanguage(key.Label, key.LabelZH), inLanguage(key.Help, key.HelpZH))
				id := "setting-" + strings.ReplaceAll(key.Path, ".", "-")
				control := regexp.MustCompile(`<(input|select|textarea)[^>]* id="` + id + `" name="` + key.Path + `"[^>]*>`).FindString(plain)
				wanted := map[settings.Type]string{settings.Boolean: `type="checkbox"`, settings.Integer: `type="number"`, settings.Number: `step="any"`, settings.List: "<textarea"}[key.Type]
				switch {
				case key.Secret:
					wanted = `type="password"`
				case len(key.Choices) > 0:
					wanted = "<select"
				case key.Form == settings.Cron:
					wanted = "data-cron"
				}
				if control == "" || !strings.Contains(control, wanted) {
					t.Errorf("in %s the control of %s is %q, want %s", lang, key.Path, control, wanted)
				}
			}
		}
	}
}

var unescape = strings.NewReplacer("&#34;", `"`, "&#39;", "'", "&amp;", "&", "&#43;", "+", "&lt;", "<", "&gt;", ">")

func TestSettingsPage(t *testing.T) {
	g := newRig(t, withEnviron(settingsEnviron...))
	g.fillSettings(t)
	in := g.client(t, true)
	for _, c := range []struct {
		name, path string
		en, zh     []string
		never      string
	}{
		{"all of them", "/settings", []string{"Locked: set by the variable WATCHMARK_SERVER_LISTEN", "Default: 7 days", "1 to 365", "https://watch.example.org", "172.16.0.0/12\n10.0.0.0/8",
			"Back to default", "Remove", "3 changed", "1 locked", "Default: Info", "Saved. Takes effect after a restart of the service:", "<strong>Base path</strong>", "waits for a restart", "/sources/webhooks\"", "minute · hour", "Advanced (1)"},
			[]string{"已锁定：由环境变量 WATCHMARK_SERVER_LISTEN 设定", "默认：7 天", "恢复默认", "<strong>访问路径</strong>", "高级设置（1）"}, " open>"},
		{"one section", "/settings?section=matching", []string{`id="section-matching" open>`}, []string{`id="section-matching" open>`}, `id="section-server" open`},
		{"a search", "/settings?q=Trusted+proxies", []string{`id="section-server" open>`, `id="advanced-server" open>`, "1 setting<", `id="section-log" hidden>`}, []string{"1 项设置"}, `id="section-log">`},
		{"a search in the other language", "/settings?q=%E9%95%9C%E5%83%8F", []string{`id="section-catalog_archive" open>`}, []string{"镜像"}, "No such setting</h2> hidden"},
		{"a search by key", "/settings?q=CATALOG.burst", []string{`id="advanced-catalog" open>`}, nil, ""},
		{"nothing found", "/settings?q=%3Cscript%3Ealert", []string{`id="settings-none">`, "&lt;script&gt;alert"}, []string{"没有找到设置项"}, "<script>alert"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for lang, wanted := range map[string][]string{"en": c.en, "zh-CN": c.zh} {
				page := g.get(t, in, c.path, lang)
				if page.status != http.StatusOK {
					t.Fatalf("in %s it answers %d", lang, page.status)
				}
				mustContain(t, page.body, wanted...)
				for _, never := range []string{c.never, proxyPassword, webhookKey, "proxy.example", "%!"} {
					if never != "" && strings.Contains(page.body, never) {
						t.Errorf("in %s it holds %q", lang, never)
					}
				}
			}
		})
	}
}

func TestSettingsAreFoldedUntilAskedFor(t *testing.T) {
	g := newRig(t)
	in := g.client(t, true)
	opened := regexp.MustCompile(`<details[^>]* id="([a-z_-]+)" open`)
	for path, want := range map[string][]string{
		"/settings": nil, "/settings?section=nas": {"section-nas"}, "/settings?section=nowhere": nil, "/settings?q=" + url.QueryEscape("catalog.oauth secret"): {"section-catalog"},
		"/settings?q=overlap": {"section-tracker", "advanced-tracker"},
	} {
		var got []string
		for _, m := range opened.FindAllStringSubmatch(g.get(t, in, path, "en").body, -1) {
			got = append(got, m[1])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s opens %v, want %v", path, got, want)
		}
	}
}

func TestAccessPage(t *testing.T) {
	g := newRig(t)
	in := g.client(t, true)
	mustContain(t, g.get(t, in, "/settings/access", "en").body, "No API key yet", "You sign in as mira.", `data-url="/api/password"`, `aria-current="page">Access`)
	plain, key, err := g.auth.CreateKey(t.Context(), "<b>nightly</b>")
	if err != nil {
		t.Fatal(err)
	}
	page := g.get(t, in, "/settings/access", "zh-CN").body
	mustContain(t, page, "&lt;b&gt;nightly&lt;/b&gt;", "末四位", key.Hint, "从未使用", fmt.Sprintf(`data-url="/api/api-keys/%d"`, key.ID))
	if strings.Contains(page, plain) {
		t.Error("the page shows an API key")
	}
	g.open = true
	mustContain(t, g.get(t, in, "/settings/access", "en").body, "Sign-in is switched off", "/settings?section=auth")
}

func TestBrowserChangesSettings(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t, withEnviron(settingsEnviron...))
	g.fillSettings(t)
	g.changesSettings(t)
	browsertest.Run(t, tab, g.signIn(), chromedp.Navigate(g.server.URL+"/settings?section=matching"), browsertest.Until(browsertest.Listening),
		// A field that is not right is shown there, and nothing is stored.
		browsertest.Type("#setting-matching-review_score", "0.95"), browsertest.Click("#setting-matching-live_action_enabled"),
		browsertest.Until(browsertest.Says("#section-matching .save-bar", "Not saved: 2")),
		browsertest.Click("#section-matching .primary"),
		browsertest.Until(browsertest.Says("#section-matching .field-error", "0.95 is higher than matching.accept_score")),
		browsertest.Until(`document.activeElement.id === "setting-matching-review_score"`),
		// Another section is edited and left: it must survive the saving of this one.
		browsertest.Click("#section-server summary"), browsertest.Type("#setting-server-record_days", "90"), browsertest.Click("#setting-auth-enabled"),
		browsertest.Type("#setting-matching-review_score", "0.6"), browsertest.Click("#section-matching [data-back]"),
		browsertest.Click("#section-matching .primary"), browsertest.Until(browsertest.Says("#toasts", "Saved.")),
		browsertest.Until(`document.querySelector("#section-matching .save-bar [role=status]").textContent === "" && document.querySelector("#setting-matching-review_score").defaultValue === "0.6"`),
		browsertest.Until(`document.querySelector("#setting-matching-accept_score").value === "0.85" && document.querySelector("#section-matching").open`),
		browsertest.Until(browsertest.Says("#section-matching summary", "2 changed")),
		browsertest.Until(`document.querySelector("#setting-server-record_days").value === "90" && !document.querySelector("#setting-auth-enabled").checked`),
		browsertest.Until(browsertest.Says("#section-server summary", "not saved")),
	)
	wrote := g.asked()
	want := []apiCall{
		{"PATCH", "/api/settings", `{"matching":{"live_action_enabled":true,"review_score":0.95}}`},
		{"PATCH", "/api/settings", `{"matching":{"live_action_enabled":true,"accept_score":null,"review_score":0.6}}`},
	}
	if diff := cmp.Diff(want, wrote); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if m := g.settings.Current().Matching; m.AcceptScore != 0.85 || m.ReviewScore != 0.6 || !m.LiveActionEnabled {
		t.Errorf("matching is %+v", m)
	}
}

func TestBrowserKeepsWhatIsEditedFromLiveUpdates(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	browsertest.Run(t, tab, g.signIn(), chromedp.Navigate(g.server.URL+"/settings?section=log"), browsertest.Until(browsertest.Listening),
		chromedp.Evaluate[chromedp.Void](`{
			const level = document.querySelector("#setting-log-level");
			level.value = "debug";
			level.dispatchEvent(new Event("input", { bubbles: true }));
			window.nav = document.querySelector("#nav").innerHTML;
			window.leaving = () => { const e = new Event("beforeunload", { cancelable: true }); dispatchEvent(e); return e.defaultPrevented; };
		}`),
		browsertest.Until(`window.leaving()`),
	)
	g.records.Feed.Publish(g.addRecord(t, episode(watch.Plex, "mira", "迷宫饭", "", 1, 1, ""), time.Now(), record.Outcome{Status: record.Failed, ErrorKind: record.NotMatched}, account.Account{}))
	browsertest.Run(t, tab,
		browsertest.Until(`document.querySelector("#nav").innerHTML !== window.nav`),
		browsertest.Until(`document.querySelector("#setting-log-level").value === "debug"`),
		browsertest.Until(browsertest.Says("#section-log .save-bar", "Not saved: 1")),
		browsertest.Click("#section-log [type=reset]"),
		browsertest.Until(`document.querySelector("#setting-log-level").value === "info" && !window.leaving()`),
	)
}

func TestBrowserSetsAndRemovesSecrets(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.changesSettings(t)
	browsertest.Run(t, tab, g.signIn(), chromedp.Navigate(g.server.URL+"/settings?section=network"), browsertest.Until(browsertest.Listening),
		browsertest.Until(browsertest.Says("#section-network", "Not set")),
		browsertest.Type("#setting-network-proxy", "http://mira:"+proxyPassword+"@proxy.example:3128"), browsertest.Click("#section-network .primary"),
		browsertest.Until(browsertest.Says("#section-network", "Remove")), browsertest.Until(`document.querySelector("#setting-network-proxy").value === ""`),
		browsertest.Click("#section-network [data-back]"), browsertest.Until(`document.querySelector("#setting-network-proxy").placeholder === "Removed when you save"`),
		browsertest.Click("#section-network .primary"), browsertest.Until(browsertest.Says("#section-network", "Not set")),
	)
	if last := g.asked()[1]; last.Body != `{"network":{"proxy":null}}` {
		t.Errorf("removing calls %+v", last)
	}
	if g.settings.Current().Network.Proxy != "" {
		t.Error("the proxy is still set")
	}
}

func TestBrowserSearchesSettings(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.changesSettings(t)
	visible := `[...document.querySelectorAll(".setting")].filter((e) => e.checkVisibility()).map((e) => e.querySelector("[name]").name).join(" ")`
	browsertest.Run(t, tab, g.signIn(), chromedp.Navigate(g.server.URL+"/settings"), browsertest.Until(browsertest.Listening),
		browsertest.Until(visible+` === ""`),
		browsertest.Click("#section-log summary"), browsertest.Until(visible+` === "log.level log.format log.file"`),
		browsertest.Type("#q", "Trusted proxies"), browsertest.Until(visible+` === "server.trusted_proxies"`), browsertest.Until(`location.search === "?q=Trusted+proxies"`),
		browsertest.Until(browsertest.Says("#settings-find", "Found: 1")),
		browsertest.Type("#q", "zzz"), browsertest.Until(`!document.querySelector("#settings-none").hidden`),
		browsertest.Click("[data-show-all]"), browsertest.Until(visible+` === "log.level log.format log.file"`), browsertest.Until(`location.search === ""`),
		// What is not right is unfolded where it lies.
		browsertest.Click("#section-server summary"), browsertest.Click("#advanced-server summary"), browsertest.Type("#setting-server-max_body_mb", "99"),
		browsertest.Click("#advanced-server summary"), browsertest.Click("#section-server .primary"), browsertest.Until(`document.querySelector("#advanced-server").open`),
		// A schedule tells at once what it means.
		browsertest.Type("#setting-nas-cron", "every day"), browsertest.Until(`document.querySelector("#section-nas .runs").textContent === "This is not a valid schedule."`),
	)
	for _, call := range g.asked() {
		if call.Method != http.MethodGet {
			t.Errorf("searching calls %+v", call)
		}
	}
	g.answer = func(apiCall) (int, string) {
		return http.StatusOK, `{"next":["2026-03-04T00:00:00Z","2026-03-11T00:00:00Z"]}`
	}
	browsertest.Run(t, tab, browsertest.Type("#setting-nas-cron", "0 8 * * 3"), browsertest.Until(`document.querySelectorAll("#section-nas .runs time").length === 2`),
		browsertest.Until(`/Mar \d/.test(document.querySelector("#section-nas .runs time").textContent)`))
}

func TestBrowserMakesAndDeletesAnAPIKey(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.answer = func(c apiCall) (int, string) {
		switch c.Method {
		case http.MethodPost:
			plain, _, err := g.auth.CreateKey(t.Context(), "home automation")
			if err != nil {
				t.Error(err)
			}
			return http.StatusCreated, fmt.Sprintf(`{"key":%q}`, plain)
		case http.MethodDelete:
			if err := g.auth.DeleteKey(t.Context(), 1); err != nil {
				t.Error(err)
			}
			return http.StatusNoContent, ""
		}
		return http.StatusOK, `{}`
	}
	browsertest.Complaints(t, tab)
	browsertest.Run(t, tab, g.signIn(), chromedp.Navigate(g.server.URL+"/settings/access"), browsertest.Until(browsertest.Listening),
		browsertest.Until(browsertest.Says("main", "No API key yet")), browsertest.Until(`document.querySelector("#new-key").hidden`),
		browsertest.Type("#key-name", "home automation"), browsertest.Click(".key-form button"),
		browsertest.Until(browsertest.Says(".keys-list", "home automation")), browsertest.Until(browsertest.Says("#new-key code", "wm_")),
		browsertest.Until(`document.querySelector("#key-name").value === "" && document.activeElement.matches("#new-key code")`),
		browsertest.Click(".keys-list button"), browsertest.Until(browsertest.Says("#confirm", "Delete the API key home automation?")), browsertest.Click("#confirm [value=yes]"),
		browsertest.Until(browsertest.Says("main", "No API key yet")),

		browsertest.Click("#password-change summary"), browsertest.Type("#old", "the one before"), browsertest.Type("#new", "a longer new one"), browsertest.Click("#password-change button"),
		browsertest.Until(browsertest.Says("#toasts", "Password changed.")), browsertest.Until(`document.querySelector("#new").value === ""`),
	)
	want := []apiCall{{"POST", "/api/api-keys", `{"name":"home automation"}`}, {"DELETE", "/api/api-keys/1", ""}, {"POST", "/api/password", `{"old":"the one before","new":"a longer new one"}`}}
	if diff := cmp.Diff(want, g.asked()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}
