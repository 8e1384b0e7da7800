package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"watchmark/internal/platform/reason"
	"watchmark/internal/record"
	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/watch"
)

func TestDocumentsAreServed(t *testing.T) {
	g := newRig(t, underPath("/wm"))
	for name, c := range map[string]struct {
		signedIn   bool
		path, lang string
		status     int
		has, not   []string
	}{
		"contents":             {false, "/docs", "en", 200, []string{`<h1 id="documents">`, `href="/wm/docs/first-steps"`, `href="/wm/login"`}, []string{"/api/logout"}},
		"signed in":            {true, "/docs", "en", 200, []string{`<h1 id="documents">`, `id="nav"`}, []string{`href="/wm/login"`}},
		"a slash at the end":   {false, "/docs/", "en", 200, []string{`<h1 id="documents">`}, nil},
		"a document":           {false, "/docs/sources/plex", "en", 200, []string{`<html lang="en"`, `<h1 id="plex">`, `aria-current="page"`, `rel="prev"`, `rel="next"`}, nil},
		"in Chinese":           {false, "/docs/install/docker", "zh-CN", 200, []string{`<html lang="zh-CN"`, "全部文档", "复制"}, []string{"All documents"}},
		"both anchors":         {false, "/docs/settings", "zh-CN", 200, []string{`id="server"`, "监听地址"}, nil},
		"the API is elsewhere": {false, "/docs/api", "en", http.StatusSeeOther, nil, nil},
		"no document":          {false, "/docs/nothing", "en", 404, []string{"Page not found"}, nil},
		"no way out":           {false, "/docs/..%2f..%2fetc%2fpasswd", "en", 404, nil, nil},
		"builders' documents":  {false, "/docs/architecture", "en", 404, nil, nil},
		"found":                {false, "/docs?q=PLEX+webhook", "en", 200, []string{"<mark>Plex</mark>", "<mark>webhook</mark>", `href="/wm/docs/sources/plex`}, nil},
		"found in Chinese":     {false, "/docs?q=%E5%AF%86%E9%92%A5", "zh-CN", 200, []string{"<mark>密钥</mark>"}, nil},
		"nothing found":        {false, "/docs?q=qqqq", "en", 200, []string{"Nothing found for “qqqq”", "Try fewer or shorter words"}, nil},
		"hostile":              {false, "/docs?q=%3Cscript%3Ealert(1)%3C/script%3E", "en", 200, []string{"Nothing found for “&lt;script&gt;"}, []string{"<script>alert"}},
		"a picture":            {false, "/docs/pictures/dashboard.png", "en", 200, nil, nil},
		"no picture":           {false, "/docs/pictures/..%2faccess.md", "en", 404, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			page := g.get(t, g.client(t, c.signedIn), c.path, c.lang)
			if page.status != c.status {
				t.Fatalf("it is answered %d", page.status)
			}
			mustContain(t, page.body, c.has...)
			for _, text := range c.not {
				if strings.Contains(page.body, text) {
					t.Errorf("the page has %q", text)
				}
			}
		})
	}
	for _, path := range []string{"/docs/access", "/docs?q=proxy", "/docs/pictures/dashboard.png"} {
		client := g.client(t, false)
		first := g.get(t, client, path, "en")
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.server.URL+"/wm"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept-Language", "en")
		request.Header.Set("If-None-Match", first.header.Get("ETag"))
		if again := do(t, client, request); again.status != http.StatusNotModified || again.body != "" {
			t.Errorf("%s is sent again: %d", path, again.status)
		}
		if kept := first.header.Get("Cache-Control"); !strings.HasSuffix(kept, "no-cache") {
			t.Errorf("%s: %s", path, kept)
		}
	}
	if to := g.get(t, g.client(t, false), "/docs/api", "en").header.Get("Location"); to != "/wm/api/docs" {
		t.Errorf("the API reference leads to %s", to)
	}
}

// TestBrowserFindsADocument reads the documents in Chinese: searches two characters, opens what was found and stands at the
// heading; then it switches the language.
func TestBrowserFindsADocument(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t, underPath("/wm"))
	const atHeading = `(() => {
		const heading = document.getElementById(decodeURIComponent(location.hash.slice(1)));
		if (!heading) return false;
		const { top, bottom } = heading.getBoundingClientRect();
		return top >= 0 && bottom <= innerHeight;
	})()`
	browsertest.Run(t, tab, speak("zh-CN"), browsertest.Sized(1280, 844), chromedp.Navigate(g.server.URL+"/wm/docs"), browsertest.Until(browsertest.Says("h1", "文档")),
		chromedp.Evaluate[chromedp.Void](`window.notReloaded = true`),
		browsertest.Type("#q", "密钥"), browsertest.Until(browsertest.Says(".docs-found", "密钥")), browsertest.Until(`window.notReloaded && new URLSearchParams(location.search).get("q") === "密钥"`),
		browsertest.Click(".docs-found a[href*='#']"), browsertest.Until(`location.pathname.startsWith("/wm/docs/") && document.readyState === "complete"`),
		browsertest.Until(atHeading),
		// An address with the English anchor, as pages and messages have it.
		chromedp.Navigate(g.server.URL+"/wm/docs/access#behind-a-reverse-proxy"), browsertest.Until(`document.readyState === "complete"`), browsertest.Until(atHeading),
		browsertest.Click(".docs-top [name=lang]"), browsertest.Until(browsertest.Says(".prose", "Behind a reverse proxy")), browsertest.Until(`location.pathname === "/wm/docs/access"`),
		// From a document the search opens by its button.
		browsertest.Type("#q", "webhook"), browsertest.Click("#docs-find .button"), browsertest.Until(browsertest.Says(".docs-found", "Webhooks")),
		browsertest.Click(".docs-found a"), browsertest.Until(`document.readyState === "complete" && document.querySelector(".docs-list [aria-current=page]") !== null`),
	)
}

// TestBrowserLinksDocuments shows problems that name documents: those that exist are links, in what a page holds and in what a
// script shows.
func TestBrowserLinksDocuments(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t, underPath("/wm"))
	const detail = "see /docs/sources/trakt, /docs/access#your-own-certificate, not /docs/nothing or https://a.example/docs/access <b>"
	g.answer = func(apiCall) (int, string) {
		return http.StatusConflict, `{"status":409,"detail":"` + detail + `"}`
	}
	const links = `[...document.querySelector(%q).querySelectorAll("a")].map((a) => a.getAttribute("href")).join(" ")`
	browsertest.Run(t, tab, chromedp.Navigate(g.server.URL+"/wm/login"), browsertest.Type("#name", "mira"), browsertest.Type("#password", "right and long"),
		browsertest.Click("form[data-api] button"), browsertest.Until(browsertest.Says(".form-error", detail)),
		browsertest.Until(fmt.Sprintf(links, ".form-error")+` === "/wm/docs/sources/trakt /wm/docs/access#your-own-certificate"`),
		g.signIn(), chromedp.Navigate(g.server.URL+"/wm/settings?q=issuer"), browsertest.Until(`document.readyState === "complete"`),
		browsertest.Until(fmt.Sprintf(links, "#setting-auth-oidc_issuer-help")+` === "/wm/docs/access#a-sign-in-provider"`))
	id := g.insert(t, episode(watch.Plex, "mira", "迷宫饭", "", 1, 12, ""), time.Now())
	g.settle(t, record.Outcome{RecordID: id, Status: record.Failed, ErrorKind: record.Refused, Message: reason.Text(detail)})
	browsertest.Run(t, tab, chromedp.Navigate(fmt.Sprintf("%s/wm/records/%d", g.server.URL, id)), browsertest.Until(browsertest.Says(".verdict", detail)),
		browsertest.Until(fmt.Sprintf(links, ".verdict .said")+` === "/wm/docs/sources/trakt /wm/docs/access#your-own-certificate"`))
}
