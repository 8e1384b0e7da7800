package app_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/testkit/oidctest"
	"watchmark/internal/testkit/totptest"
)

// signedInAs signs the tab in with the password.
func signedInAs(base, name, password string) []browsertest.Step {
	return []browsertest.Step{
		chromedp.Navigate(base + "/login"), browsertest.Until(`document.readyState === "complete"`),
		browsertest.Type("#name", name), browsertest.Type("#password", password), browsertest.Click("#login .primary"),
	}
}

// read is the text of an element.
func read(t *testing.T, tab context.Context, selector string) string {
	t.Helper()
	text, err := chromedp.Run(tab, chromedp.Evaluate[string](fmt.Sprintf(`document.querySelector(%q).textContent`, selector)))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestBrowserSignsInByAProvider: the provider is tried out, its account allowed with one click, and then signs in.
func TestBrowserSignsInByAProvider(t *testing.T) {
	tab := browsertest.Start(t)
	provider := oidctest.Start(t, oidctest.Config{ClientID: "watchmark", ClientSecret: "secret of the client", Account: oidctest.Account{Subject: "sub-of-mira", Email: "mira@example.org", EmailVerified: false}})
	s := startEmpty(t, "WATCHMARK_AUTH_OIDC_NAME=Home <ID>", "WATCHMARK_AUTH_OIDC_ISSUER="+provider.URL(), "WATCHMARK_AUTH_OIDC_CLIENT_ID=watchmark", "WATCHMARK_AUTH_OIDC_CLIENT_SECRET=secret of the client")
	if err := s.app.SetUp(t.Context(), "mira", password); err != nil {
		t.Fatal(err)
	}
	browsertest.Complaints(t, tab)
	browsertest.Run(t, tab, browsertest.Sized(1280, 900), chromedp.Navigate(s.url+"/login?next=/records"), browsertest.Until(browsertest.Says(".other-way", "Sign in with Home <ID>")),
		browsertest.Click(".other-way .button"), browsertest.Until(browsertest.Says(".note", "This account of Home <ID> may not sign in yet.")))
	if address := s.do(s.request(http.MethodGet, "/api/records", "", "")); address.status != http.StatusUnauthorized {
		t.Errorf("a stranger is answered %d", address.status)
	}
	browsertest.Run(t, tab, append(signedInAs(s.url, "mira", password), browsertest.Until(browsertest.Listening),
		chromedp.Navigate(s.url+"/settings/access"), browsertest.Until(browsertest.Listening),
		browsertest.Until(browsertest.Says("#provider", "mira@example.org")), browsertest.Until(browsertest.Says("#provider", "address not verified")),
		browsertest.Until(browsertest.Says("#provider [data-copy] code", s.url+"/api/login/oidc/callback")),
		browsertest.Click("#provider form[data-api=PATCH] button"), browsertest.Until(browsertest.Says("#confirm", "sub-of-mira")), browsertest.Click("dialog button[value=yes]"),
		browsertest.Until(browsertest.Says("#toasts", "The account may sign in now.")), browsertest.Until(`!document.querySelector("#provider .info")`),
		chromedp.Evaluate[chromedp.Void](`window.before = true`), browsertest.Click("#provider form[data-then=authorize] button"),
		browsertest.Until(`!window.before && location.pathname === "/settings/access"`), browsertest.Until(browsertest.Listening), browsertest.Until(browsertest.Says("#provider", "may sign in")),
		browsertest.Click("details.menu summary"), browsertest.Click("form[data-url$='/api/logout'] button"), browsertest.Until(`location.pathname === "/login"`),
		chromedp.Navigate(s.url+"/records?status=error"), browsertest.Until(`location.pathname === "/login"`), browsertest.Until(`document.readyState === "complete"`),
		browsertest.Click(".other-way .button"), browsertest.Until(`location.pathname === "/records" && location.search === "?status=error"`), browsertest.Until(browsertest.Listening))...)
	if got := s.app.Settings.Current().Auth.OIDCAllowed; len(got) != 1 || got[0] != "sub-of-mira" {
		t.Errorf("allowed is %v", got)
	}
	// Who is not allowed any more is out at once.
	if err := s.app.Settings.Patch(t.Context(), map[string]map[string]any{"auth": {"oidc_allowed": []any{}}}); err != nil {
		t.Fatal(err)
	}
	browsertest.Run(t, tab, chromedp.Navigate(s.url+"/records"), browsertest.Until(`location.pathname === "/login"`))
}

// TestBrowserSetsUpCodesAndSignsInWithThem: set up on the page, then asked for at sign-in, then replaced by a recovery code.
func TestBrowserSetsUpCodesAndSignsInWithThem(t *testing.T) {
	tab := browsertest.Start(t)
	s := startEmpty(t)
	if err := s.app.SetUp(t.Context(), "mira", password); err != nil {
		t.Fatal(err)
	}
	browsertest.Run(t, tab, browsertest.Sized(1280, 900))
	browsertest.Run(t, tab, append(signedInAs(s.url, "mira", password), browsertest.Until(browsertest.Listening), chromedp.Navigate(s.url+"/settings/access"), browsertest.Until(browsertest.Listening),
		browsertest.Click("#two-factor-start summary"), browsertest.Type("#start-password", "not the password"), browsertest.Click("#two-factor-start .primary"),
		browsertest.Until(browsertest.Says("#two-factor-start", "the password is wrong")),
		browsertest.Type("#start-password", password), browsertest.Click("#two-factor-start .primary"), browsertest.Until(`!!document.querySelector("svg.qr")`))...)
	secret := read(t, tab, "#two-factor [data-copy] > code")
	browsertest.Run(t, tab, browsertest.Type("#first-code", "000000"), browsertest.Click(".enrol .primary"), browsertest.Until(browsertest.Says(".enrol", "the code is wrong")),
		browsertest.Type("#first-code", totptest.Code(secret, time.Now())), browsertest.Click(".enrol .primary"),
		browsertest.Until(browsertest.Says("#recovery-codes", "Keep these recovery codes")), browsertest.Until(browsertest.Says("#two-factor", "10 recovery codes left")),
		browsertest.Until(`document.querySelectorAll("#recovery-codes code span").length === 10`), browsertest.Until(`!document.querySelector("svg.qr")`))
	picture(t, tab, "recovery-codes.png")
	recovery := strings.Fields(read(t, tab, "#recovery-codes code"))
	if len(recovery) != 10 || !regexp.MustCompile(`^([a-z2-7]{4}-){3}[a-z2-7]{4}$`).MatchString(recovery[0]) {
		t.Fatalf("the recovery codes are %q", recovery)
	}
	out := []browsertest.Step{browsertest.Click("details.menu summary"), browsertest.Click("form[data-url$='/api/logout'] button"), browsertest.Until(`location.pathname === "/login"`)}
	browsertest.Run(t, tab, append(out, chromedp.Navigate(s.url+"/settings/access"))...)
	browsertest.Run(t, tab, browsertest.Until(`document.readyState === "complete"`), browsertest.Type("#name", "mira"), browsertest.Type("#password", password), browsertest.Click("#login .primary"),
		browsertest.Until(`document.activeElement?.id === "code"`), browsertest.Until(`!!document.querySelector("#name").closest("[hidden]")`),
		browsertest.Type("#code", "000000"), browsertest.Click("#login .primary"), browsertest.Until(browsertest.Says("#login .form-error", "The code is wrong or was used already")),
		browsertest.Until(`document.querySelector("#code").value === ""`),
		browsertest.Type("#code", totptest.Code(secret, time.Now().Add(30*time.Second))), browsertest.Click("#login .primary"),
		browsertest.Until(`location.pathname === "/settings/access"`), browsertest.Until(browsertest.Listening))
	browsertest.Run(t, tab, out...)
	browsertest.Run(t, tab, append(signedInAs(s.url, "mira", password),
		browsertest.Until(`document.activeElement?.id === "code"`), browsertest.Click("[data-use-recovery]"), browsertest.Until(browsertest.Says("#login label[for=code]", "Recovery code")),
		browsertest.Type("#code", recovery[0]), browsertest.Click("#login .primary"), browsertest.Until(browsertest.Listening),
		chromedp.Navigate(s.url+"/settings/access"), browsertest.Until(browsertest.Says("#two-factor", "9 recovery codes left")), browsertest.Until(browsertest.Listening),
		browsertest.Click("#two-factor-off summary"), browsertest.Type("#off-password", password), browsertest.Click("#two-factor-off .danger"),
		browsertest.Until(browsertest.Says("#toasts", "Two-step verification is switched off.")), browsertest.Until(`!!document.querySelector("#two-factor-start")`))...)
}

// TestBrowserUsesEverythingBelowAPath: behind a reverse proxy that serves one path of a host, no page asks for anything outside of it.
func TestBrowserUsesEverythingBelowAPath(t *testing.T) {
	tab := browsertest.Start(t)
	const base = "/apps/watchmark"
	var mu sync.Mutex
	var outside []string
	var behind *httputil.ReverseProxy
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != base && !strings.HasPrefix(r.URL.Path, base+"/") {
			mu.Lock()
			outside = append(outside, r.Method+" "+r.URL.Path+" from "+r.Referer())
			mu.Unlock()
			http.NotFound(w, r)
			return
		}
		behind.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	provider := oidctest.Start(t, oidctest.Config{ClientID: "watchmark", RedirectURI: front.URL + base + "/api/login/oidc/callback", Account: oidctest.Account{Subject: "sub-of-mira"}})
	s := start(t, "WATCHMARK_SERVER_BASE_PATH="+base, "WATCHMARK_SERVER_PUBLIC_URL="+front.URL+base, "WATCHMARK_SERVER_TRUSTED_PROXIES=127.0.0.1",
		"WATCHMARK_AUTH_OIDC_ISSUER="+provider.URL(), "WATCHMARK_AUTH_OIDC_CLIENT_ID=watchmark", "WATCHMARK_AUTH_OIDC_ALLOWED=sub-of-mira",
		"WATCHMARK_CATALOG_OAUTH_CLIENT_ID=bgm1", "WATCHMARK_CATALOG_OAUTH_CLIENT_SECRET=secret of the app")
	target, err := url.Parse(strings.TrimSuffix(s.url, base))
	if err != nil {
		t.Fatal(err)
	}
	behind = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.SetXForwarded()
	}}
	link := regexp.MustCompile(`\S+/setup\?token=\S+`).FindString(s.logs.String())
	if !strings.HasPrefix(link, front.URL+base+"/setup?") {
		t.Errorf("the setup link is %s", link)
	}
	browsertest.Complaints(t, tab)
	browsertest.Run(t, tab, browsertest.Sized(1280, 900), chromedp.Navigate(link), browsertest.Until(`document.readyState === "complete"`),
		browsertest.Type("#name", "mira"), browsertest.Type("#password", password), browsertest.Click(".gate-card .primary"),
		browsertest.Until(`location.pathname === "`+base+`/"`), browsertest.Until(browsertest.Listening), chromedp.Evaluate[chromedp.Void](`window.notReloaded = true`))
	id := s.custom(`{"title":"灯塔守望者","season":1,"episode":5,"user_name":"Mira"}`)
	card := fmt.Sprintf(".shelf a[href='%s/records/%d']", base, id)
	browsertest.Run(t, tab, browsertest.Until(browsertest.Says(card, "Marked")), browsertest.Until(`window.notReloaded`), // by the live stream
		browsertest.Click(card), browsertest.Until(browsertest.Says("#record .verdict", "Marked")))
	// Every door of the navigation with its tabs, and every page that these lead to on this host.
	seen, waiting := map[string]bool{}, []string{front.URL + base + "/", front.URL + base + "/messages/channels/new?type=webhook"}
	for len(waiting) > 0 {
		door := waiting[0]
		if waiting = waiting[1:]; seen[door] {
			continue
		}
		seen[door] = true
		browsertest.Run(t, tab, chromedp.Navigate(door), browsertest.Until(`document.readyState === "complete"`))
		doors, err := chromedp.Run(tab, chromedp.Evaluate[[]string](`[...document.querySelectorAll("#nav a, .menu-body a, .tabs a, #sources a")].map((a) => a.href)`))
		if err != nil {
			t.Fatal(err)
		}
		waiting = append(waiting, doors...)
		strays, err := chromedp.Run(tab, chromedp.Evaluate[[]string](fmt.Sprintf(`[...document.querySelectorAll("[href], [src], [action], [data-url], [data-next], [data-live]")].flatMap((e) => [e.getAttribute("href"), e.getAttribute("src"), e.getAttribute("action"), e.dataset.url, e.dataset.next, e.dataset.live])
			.filter((a) => a?.startsWith("/") && !(a + "/").startsWith(%q))`, base+"/")))
		if err != nil {
			t.Fatal(err)
		}
		if len(strays) > 0 {
			t.Errorf("%s leads outside: %q", door, strays)
		}
	}
	if len(seen) < 20 {
		t.Errorf("only %d pages were looked at", len(seen))
	}
	browsertest.Run(t, tab, chromedp.Navigate(front.URL+base+"/records?status=error"), browsertest.Until(browsertest.Listening), browsertest.Click("details.menu summary"),
		browsertest.Click("form[data-url$='/api/logout'] button"), browsertest.Until(`location.pathname === "`+base+`/login"`),
		chromedp.Navigate(front.URL+base+"/records/queue"), browsertest.Until(`location.pathname === "`+base+`/login"`), browsertest.Until(`document.readyState === "complete"`),
		browsertest.Click(".other-way .button"), browsertest.Until(`location.pathname === "`+base+`/records/queue"`), browsertest.Until(browsertest.Listening))
	if len(outside) > 0 {
		t.Errorf("asked for outside of the path: %q", outside)
	}

	var started struct {
		AuthorizeURL string `json:"authorize_url"`
	}
	s.api(http.MethodPost, "/api/accounts/oauth/start", "", http.StatusOK, &started)
	u, err := url.Parse(started.AuthorizeURL)
	if err != nil {
		t.Fatal(err)
	}
	if got := u.Query().Get("redirect_uri"); got != front.URL+base+"/api/accounts/oauth/callback" {
		t.Errorf("the redirect URI for the catalog is %s", got)
	}
	var document struct{ Servers []struct{ URL string } }
	s.api(http.MethodGet, "/api/openapi.json", "", http.StatusOK, &document)
	if len(document.Servers) != 1 || !strings.HasSuffix(document.Servers[0].URL, base) {
		t.Errorf("the servers of the API are %v", document.Servers)
	}
	request := s.request(http.MethodPost, "/api/login", "application/json", `{"name":"mira","password":"`+password+`"}`)
	request.Header.Set("X-Forwarded-Proto", "https")
	for _, cookie := range (&http.Response{Header: s.do(request).header}).Cookies() {
		if cookie.Path != base+"/" || !cookie.Secure {
			t.Errorf("the cookie is %v", cookie)
		}
	}
}
