package app_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"watchmark/internal/browsertest"
	"watchmark/internal/importer/servertest"
	"watchmark/internal/source/nas/nastest"
	"watchmark/internal/tracker/trackertest"
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
	history := servertest.Start(t, library(string(watch.Jellyfin), "u1", "u2"))
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
	shows("/nas", "Connect the NAS", "Mira", "WATCHMARK_NAS_DATABASE_PATH")
	shows("/device", "No box is known yet")
	shows("/tracker", "Nobody is connected yet", "Send the code")
	shows("/import", "Ask the server")

	s.api(http.MethodPatch, "/api/settings", `{"nas":{"enabled":true},"tracker":{"enabled":true},"device":{"enabled":true,"addresses":["192.168.255.254"]}}`, http.StatusOK, nil)
	s.nas(func(n nasStatus) bool { return n.LastScan != nil && n.LastError == "" })
	s.api(http.MethodPost, "/api/tracker/email-login/start", `{"email":"`+mail+`"}`, http.StatusOK, nil)
	s.api(http.MethodPost, "/api/tracker/email-login/complete", `{"email":"`+mail+`","otp":"`+remote.LastCode(mail)+`"}`, http.StatusOK, nil)
	preview := s.imports("preview", importBody(string(watch.Jellyfin), history.URL, "Mira"))
	shows("/nas", "Read regularly", "Scan now", "/records?source=nas")
	shows("/device", "192.168.255.254")
	shows("/tracker", "by e-mail", "Not read yet.")
	shows("/import", "Preview: Mira on", "灯塔守望者 第二季", `status=mark" data-swap><span class="state good">`, fmt.Sprint(preview.Result.Table.Counts["mark"]))
	shows("/connect", "Read regularly")
	if back := s.do(s.request(http.MethodGet, "/api/tracker/oauth/callback?error=access_denied", "", "")); !strings.HasSuffix(back.header.Get("Location"), "/tracker?tracker_error=denied") {
		t.Errorf("the way back from the tracker leads to %q", back.header.Get("Location"))
	}
}

// TestBrowserImportsForAUserWithoutAnAccount walks from a user that no account lists to the preview.
func TestBrowserImportsForAUserWithoutAnAccount(t *testing.T) {
	tab := browsertest.Start(t)
	cfg := library(string(watch.Jellyfin), "u1", "u2")
	cfg.Users[0].Name = "bench"
	remote := servertest.Start(t, cfg)
	s := start(t, "WATCHMARK_AUTH_ENABLED=false")
	s.api(http.MethodPatch, "/api/accounts/2", `{"enabled":false}`, http.StatusOK, nil)
	browsertest.Complaints(t, tab)
	browsertest.Run(t, tab, browsertest.Sized(390, 844), chromedp.Navigate(s.url+"/import"), browsertest.Until(browsertest.Listening),
		browsertest.Click("#import .choose:has([value=jellyfin])"), browsertest.Type("#import-url", remote.URL), browsertest.Type("#import-token", importToken), browsertest.Click("[data-ask]"),
		browsertest.Until(browsertest.Says("#import-user-help", "No account lists the name bench")),
		browsertest.Until(`document.querySelector("[data-preview-go]").disabled && document.querySelectorAll("[data-adds] button").length === 1`),
		browsertest.Until(`document.documentElement.scrollWidth <= 390`),
		browsertest.Click("[data-adds] button"), browsertest.Until(browsertest.Says("#import-user-help", "What bench watched is marked on: mira.")),
		browsertest.Until(`document.querySelector("[data-adds]").hidden && document.activeElement.id === "import-user"`),
		browsertest.Click("#import-who .checks label"), browsertest.Click("[data-preview-go]"), browsertest.Until(browsertest.Says("#forecast", "Preview: bench on")))
	if a := must(s.app.Accounts.Get(t.Context(), 1))(t); !slices.Equal(a.MediaUserNames, []string{"Mira", "bench", "mira TV"}) && !slices.Equal(a.MediaUserNames, []string{"Mira", "mira TV", "bench"}) {
		t.Errorf("the account names %q", a.MediaUserNames)
	}
	// The disabled account of the other user is no account to mark on, and without any there is one to make.
	s.api(http.MethodPatch, "/api/accounts/1", `{"enabled":false}`, http.StatusOK, nil)
	browsertest.Run(t, tab, chromedp.Navigate(s.url+"/import"), browsertest.Until(browsertest.Listening),
		browsertest.Click("#import .choose:has([value=jellyfin])"), browsertest.Type("#import-url", remote.URL), browsertest.Type("#import-token", importToken), browsertest.Click("[data-ask]"),
		browsertest.Until(browsertest.Says("#import-user-help", "there is no enabled account to add it to")), browsertest.Until(`document.querySelector("[data-adds]").hidden`))
}
