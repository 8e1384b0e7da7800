package app_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/testkit/mediaservertest"
	"watchmark/internal/testkit/nastest"
	"watchmark/internal/testkit/trackertest"
	"watchmark/internal/watch"
)

// TestTheRoomsOfTheSourcesShowTheService looks at the pages of sources that are really there.
func TestTheRoomsOfTheSourcesShowTheService(t *testing.T) {
	const mail = "mira@home.example"
	l := nastest.Create(t, t.TempDir())
	l.User("guid-of-mira", "Mira")
	remote, url := trackertest.Start(t, trackertest.Config{
		Clients: []trackertest.Client{{ID: "web-client", RedirectURI: "https://app.trakt.tv/callback"}},
		Users:   []trackertest.User{{Email: mail, Name: "Mira", UUID: "uuid-of-mira"}},
	})
	history := mediaservertest.Start(t, library(string(watch.Jellyfin), "u1", "u2"))
	s := start(t, "WATCHMARK_AUTH_ENABLED=false", "WATCHMARK_NAS_DATABASE_PATH="+l.Path, "WATCHMARK_TRACKER_AUTH_URL="+url, "WATCHMARK_TRACKER_API_URL="+url, "WATCHMARK_TRACKER_CLIENT_ID=web-client")
	shows := func(path string, wanted ...string) {
		t.Helper()
		page := s.do(s.request(http.MethodGet, path, "", ""))
		for _, w := range wanted {
			if page.status != http.StatusOK || !strings.Contains(page.body, w) {
				t.Errorf("%s answers %d and lacks %q", path, page.status, w)
			}
		}
	}
	shows("/sources/nas", "Connect the NAS", "Mira", "WATCHMARK_NAS_DATABASE_PATH")
	shows("/sources/device", "No box found yet")
	shows("/sources/tracker", "Nobody is connected yet", "Send the code")
	shows("/sources/import", "Type of server")

	s.api(http.MethodPatch, "/api/settings", `{"nas":{"enabled":true},"tracker":{"enabled":true},"device":{"enabled":true,"addresses":["192.168.255.254"]}}`, http.StatusOK, nil)
	s.nas(func(n nasStatus) bool { return n.LastScan != nil && n.LastError == "" })
	s.api(http.MethodPost, "/api/tracker/email-login/start", `{"email":"`+mail+`"}`, http.StatusOK, nil)
	s.api(http.MethodPost, "/api/tracker/email-login/complete", `{"email":"`+mail+`","otp":"`+remote.LastCode(mail)+`"}`, http.StatusOK, nil)
	preview := s.imports("preview", importBody(string(watch.Jellyfin), history.URL, "Mira"))
	shows("/sources/nas", "Read regularly", "Scan now", "/records?source=nas")
	shows("/sources/device", "192.168.255.254")
	shows("/sources/tracker", "by e-mail", "Not read yet.")
	shows("/sources/import", "Preview: Mira on", "灯塔守望者 第二季", `status=mark" data-swap><span class="state good">`, fmt.Sprint(preview.Result.Table.Counts["mark"]))
	shows("/sources", "Read regularly")
	if back := s.do(s.request(http.MethodGet, "/api/tracker/oauth/callback?error=access_denied", "", "")); !strings.HasSuffix(back.header.Get("Location"), "/sources/tracker?tracker_error=denied") {
		t.Errorf("the way back from the tracker leads to %q", back.header.Get("Location"))
	}
}

// TestBrowserImportsForAUserWithoutAnAccount walks from a user that no account lists to the preview.
func TestBrowserImportsForAUserWithoutAnAccount(t *testing.T) {
	tab := browsertest.Start(t)
	cfg := library(string(watch.Jellyfin), "u1", "u2")
	cfg.Users[0].Name = "bench"
	remote := mediaservertest.Start(t, cfg)
	s := start(t, "WATCHMARK_AUTH_ENABLED=false")
	s.api(http.MethodPatch, "/api/accounts/2", `{"enabled":false}`, http.StatusOK, nil)
	browsertest.Complaints(t, tab)
	browsertest.Run(t, tab, browsertest.Sized(390, 844), chromedp.Navigate(s.url+"/sources/import"), browsertest.Until(browsertest.Listening),
		browsertest.Click("#import .choose:has([value=jellyfin])"), browsertest.Type("#import-url", remote.URL), browsertest.Type("#import-token", importToken), browsertest.Click("[data-ask]"),
		browsertest.Until(browsertest.Says("#import-user-help", "No account has the user name bench")),
		browsertest.Until(`document.querySelector("[data-preview-go]").disabled && document.querySelectorAll("[data-adds] button").length === 1`),
		browsertest.Until(`document.documentElement.scrollWidth <= 390`),
		browsertest.Click("[data-adds] button"), browsertest.Until(browsertest.Says("#import-user-help", "What bench watched is marked on the lists of: mira.")),
		browsertest.Until(`document.querySelector("[data-adds]").hidden && document.activeElement.id === "import-user"`),
		browsertest.Click("#import-who .checks label"), browsertest.Click("[data-preview-go]"), browsertest.Until(browsertest.Says("#forecast", "Preview: bench on")))
	if a := must(s.app.Accounts.Get(t.Context(), 1))(t); !slices.Equal(a.MediaUserNames, []string{"Mira", "bench", "mira TV"}) && !slices.Equal(a.MediaUserNames, []string{"Mira", "mira TV", "bench"}) {
		t.Errorf("the account names %q", a.MediaUserNames)
	}
	// The disabled account of the other user is no account to mark on, and without any there is one to make.
	s.api(http.MethodPatch, "/api/accounts/1", `{"enabled":false}`, http.StatusOK, nil)
	browsertest.Run(t, tab, chromedp.Navigate(s.url+"/sources/import"), browsertest.Until(browsertest.Listening),
		browsertest.Click("#import .choose:has([value=jellyfin])"), browsertest.Type("#import-url", remote.URL), browsertest.Type("#import-token", importToken), browsertest.Click("[data-ask]"),
		browsertest.Until(browsertest.Says("#import-user-help", "there is no enabled account to add it to")), browsertest.Until(`document.querySelector("[data-adds]").hidden`))
}

// TestBrowserSeesEveryRequestAsItComes keeps Connect open while all kinds of requests come in.
func TestBrowserSeesEveryRequestAsItComes(t *testing.T) {
	tab := browsertest.Start(t)
	s := start(t, "WATCHMARK_AUTH_ENABLED=false")
	browsertest.Complaints(t, tab)
	browsertest.Run(t, tab, browsertest.Sized(390, 844), chromedp.Navigate(s.url+"/sources/webhooks?source=custom"), browsertest.Until(browsertest.Listening),
		browsertest.Until(browsertest.Says("#heard", "Nothing has arrived yet")), chromedp.Evaluate[chromedp.Void](`window.notReloaded = true`))
	event := func(title string, episode int, user string) string {
		return fmt.Sprintf(`{"title":%q,"season":1,"episode":%d,"user_name":%q}`, title, episode, user)
	}
	sends := func(path, body string) { s.do(s.request(http.MethodPost, "/webhook/"+path, "application/json", body)) }
	for _, c := range []struct {
		name string
		send func()
		says []string // of the newest line
	}{
		{"a wrong key", func() { sends("custom/wrong-key-0123", event("x", 1, "Mira")) }, []string{"Wrong key", "The webhook key is missing or wrong", "HTTP 401"}},
		{"a broken body", func() { sends("custom/"+s.hook, `{"title":`) }, []string{"Not understood", "HTTP 400"}},
		{"a body that lacks something", func() { sends("custom/"+s.hook, `{"title":"深海电车","user_name":"Mira"}`) }, []string{"HTTP 400", "episode"}},
		{"another source", func() { sends("kodi/"+s.hook, event("x", 1, "Mira")) }, []string{"Not understood", "There is no such source", "HTTP 404"}},
		{"a mark", func() { sends("custom/"+s.hook, event("灯塔守望者", 5, "Mira")) }, []string{"Marked", "灯塔守望者", "S1 E5", "Mira"}},
		{"a question", func() { sends("custom/"+s.hook, event("Moonshade Teahouse", 1, "Mira")) }, []string{"To review", "Moonshade Teahouse", "S1 E1"}},
		{"nobody's", func() { sends("custom/"+s.hook, event("灯塔守望者", 6, "bench")) }, []string{"Failed", "S1 E6", "bench", "No account for this user"}},
	} {
		c.send()
		for _, says := range c.says {
			browsertest.Run(t, tab, browsertest.Until(browsertest.Says("#heard li", says)))
		}
	}
	browsertest.Run(t, tab, browsertest.Until(`window.notReloaded && document.documentElement.scrollWidth <= 390`),
		browsertest.Until(`document.querySelectorAll("#heard li").length === 7`), chromedp.Navigate(s.url+"/sources/webhooks"), browsertest.Until(browsertest.Listening),
		browsertest.Until(browsertest.Says("#heard li", "There is no such source")))
	const paused = `{"event":"media.pause","user":true,"owner":true,"Account":{"id":1,"title":"Mira"},"Metadata":{"librarySectionType":"show","type":"episode","grandparentTitle":"灯塔守望者","parentIndex":2,"index":7}}`
	sends("plex/"+s.hook, paused)
	for _, says := range []string{"Ignored", "灯塔守望者", "S2 E7", "Mira", "HTTP 200"} {
		browsertest.Run(t, tab, browsertest.Until(browsertest.Says("#heard li", says)))
	}
	browsertest.Run(t, tab, chromedp.Navigate(s.url+"/settings/tools/webhooks"), browsertest.Until(browsertest.Listening), chromedp.Evaluate[chromedp.Void](`window.notReloaded = true`))
	sends("custom/"+s.hook, `{"title":`)
	browsertest.Run(t, tab, browsertest.Until(`window.notReloaded && document.querySelectorAll("#requests > ul > li").length === 9`))
}
