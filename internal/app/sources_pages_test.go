package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

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
