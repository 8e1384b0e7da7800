package app_test

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/testkit/mediaservertest"
)

const mediaPassword = "the-password-of-bench"

// mediaServer is a simulated media server with the sample, whose users are bench and alex.
func mediaServer(t *testing.T, kind mediaservertest.Kind) *mediaservertest.Server {
	t.Helper()
	return mediaservertest.Start(t, mediaservertest.Sample(kind, mediaservertest.User{Name: "bench", Password: mediaPassword}, mediaservertest.User{Name: "alex", Password: "of-alex"}))
}

// watches plays an episode of the sample to its end on a media server.
func watches(t *testing.T, server *mediaservertest.Server, episode int) {
	t.Helper()
	item, err := server.Find("灯塔守望者", 2, episode)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Watch("bench", item.ID); err != nil {
		t.Fatal(err)
	}
}

// secretsStayIn checks that nothing of a sign-in is in an answer of the API, a page or the log.
func (s *service) secretsStayIn(secrets ...string) {
	s.t.Helper()
	for _, text := range []string{s.get("/api/servers").body, s.get("/sources/servers").body, s.get("/sources/servers/1").body, s.logs.String()} {
		for _, secret := range append(secrets, mediaPassword) {
			if strings.Contains(text, secret) {
				s.t.Errorf("%q is told: %.200s", secret, text)
			}
		}
	}
}

// TestBrowserConnectsMediaServers walks from an address to the first mark, for each kind that has a password.
func TestBrowserConnectsMediaServers(t *testing.T) {
	tab := browsertest.Start(t)
	for _, c := range []struct {
		kind, name string
		live       bool
	}{
		{"jellyfin", "Jellyfin", true}, {"emby", "Emby", true}, {"ugreen", "UGREEN NAS", false}, {"zspace", "ZSpace NAS", false}, {"fnos", "fnOS NAS", false},
	} {
		t.Run(c.kind, func(t *testing.T) {
			server := mediaServer(t, mediaservertest.Kind(c.kind))
			watches(t, server, 3) // before it is connected
			s := start(t, "WATCHMARK_AUTH_ENABLED=false")
			browsertest.Complaints(t, tab)
			browsertest.Run(t, tab, browsertest.Sized(390, 844), chromedp.Navigate(s.url+"/sources"), browsertest.Click(`#card-watcher a`), browsertest.Until(browsertest.Says("h1", "Server sign-ins")),
				browsertest.Click(`.empty .primary`), browsertest.Until(`document.getElementById("wizard") !== null`),
				browsertest.Type("#server-url", server.URL), browsertest.Click("#probe button"), browsertest.Until(`!document.getElementById("found").hidden && document.activeElement.id === "found-title"`))
			if c.kind == "ugreen" {
				browsertest.Run(t, tab, browsertest.Until(browsertest.Says("#found [data-certificate]", "fingerprint")), browsertest.Until(`document.querySelector("#found [data-pin]").textContent.length === 95`))
				browsertest.Run(t, tab, browsertest.Click("[data-trust]"), browsertest.Until(`document.activeElement.id === "server-user"`))
			}
			browsertest.Run(t, tab, browsertest.Until(fmt.Sprintf(`document.getElementById("server-kind").value === %q`, c.kind)),
				browsertest.Until(fmt.Sprintf(`document.getElementById("by-code").hidden === %v`, c.kind != "jellyfin")), browsertest.Until(`document.documentElement.scrollWidth <= 390`),
				browsertest.Type("#server-user", "bench"), browsertest.Type("#server-password", mediaPassword))
			browsertest.Run(t, tab, browsertest.Click("#password button"),
				browsertest.Until(browsertest.Says("#connected", "1 episode or film was watched before")), browsertest.Until(browsertest.Says("#connected", "No account lists bench")))
			browsertest.Run(t, tab, browsertest.Click("#connected .offer button"), browsertest.Until(browsertest.Says("#connected", "What bench watches is marked on the list of: mira")),
				browsertest.Until(browsertest.Says("#server", cmp.Or(map[bool]string{true: "Live"}[c.live], "Asked regularly"))))
			watches(t, server, 7)
			browsertest.Run(t, tab, chromedp.Navigate(s.url+"/sources/servers/1"), browsertest.Until(browsertest.Listening))
			if !c.live {
				browsertest.Run(t, tab, browsertest.Click("#server-sync button"), browsertest.Until(browsertest.Says("#run", "1 new")))
			}
			browsertest.Run(t, tab, browsertest.Until(browsertest.Says("#server dl", "灯塔守望者 S2 E7")))
			if r := s.settled(1); r.Status != "success" || r.UserName != "bench" {
				t.Errorf("the play became %+v", r)
			}
			if page := s.get("/records/1").body; c.live && !strings.Contains(page, `Server sign-in · <bdi class="keep">Simulated `+c.kind) {
				t.Error("the page of the record does not say which server it was")
			}
			s.secretsStayIn()
			// Disconnecting leads back to an empty page.
			browsertest.Run(t, tab, browsertest.Click("form[data-api=DELETE] button"), browsertest.Until(`document.getElementById("confirm").open`), browsertest.Click("#confirm [value=yes]"),
				browsertest.Until(browsertest.Says("main", "No server is connected yet")))
			s.api(http.MethodGet, "/api/servers/1", "", http.StatusNotFound, nil)
		})
	}
}

// TestBrowserSignsInByCode confirms a code of Quick Connect elsewhere, and sees the page go on by itself.
func TestBrowserSignsInByCode(t *testing.T) {
	tab := browsertest.Start(t)
	server := mediaServer(t, mediaservertest.Jellyfin)
	s := start(t, "WATCHMARK_AUTH_ENABLED=false")
	browsertest.Complaints(t, tab)
	browsertest.Run(t, tab, browsertest.Sized(1280, 844), chromedp.Navigate(s.url+"/sources/servers/new"), browsertest.Type("#server-url", server.URL), browsertest.Click("#probe button"),
		browsertest.Until(`!document.getElementById("found").hidden`), browsertest.Click("#by-code button"), browsertest.Until(`/^\d{6}$/.test(document.querySelector("#confirm-sign-in code")?.textContent)`))
	code, err := chromedp.Run(tab, chromedp.Evaluate[string](`document.querySelector("#confirm-sign-in code").textContent`))
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Confirm(code, "alex"); err != nil {
		t.Fatal(err)
	}
	browsertest.Run(t, tab, browsertest.Until(browsertest.Says("#connected", "What alex watches is marked on the list of: alex")), browsertest.Until(browsertest.Says("#server", "Live")),
		browsertest.Until(`document.querySelector(".wizard-steps [aria-current]").textContent === "Account"`))
	// The same person again is the same card: the page of the second sign-in leads to it.
	browsertest.Run(t, tab, chromedp.Navigate(s.url+"/sources/servers/new"), browsertest.Type("#server-url", server.URL), browsertest.Click("#probe button"),
		browsertest.Until(`!document.getElementById("found").hidden`), browsertest.Click("#by-code button"), browsertest.Until(`/^\d{6}$/.test(document.querySelector("#confirm-sign-in code")?.textContent)`))
	if code, err = chromedp.Run(tab, chromedp.Evaluate[string](`document.querySelector("#confirm-sign-in code").textContent`)); err != nil {
		t.Fatal(err)
	}
	if err := server.Confirm(code, "alex"); err != nil {
		t.Fatal(err)
	}
	browsertest.Run(t, tab, browsertest.Until(`location.pathname === "/sources/servers" && document.querySelectorAll("#logins > ul > li").length === 1`))
}

// TestBrowserSignsInAtPlex goes to the page of Plex and back, and chooses a member of the Home who has a PIN.
func TestBrowserSignsInAtPlex(t *testing.T) {
	tab := browsertest.Start(t)
	server := mediaservertest.Start(t, mediaservertest.Sample(mediaservertest.Plex, mediaservertest.User{Name: "alex", Password: "of-alex", Admin: true, Home: true},
		mediaservertest.User{Name: "bench", Home: true, Managed: true, PIN: "4711"}))
	s := start(t, "WATCHMARK_AUTH_ENABLED=false", "WATCHMARK_WATCHER_PLEX_URL="+server.URL, "WATCHMARK_WATCHER_PLEX_CLIENTS_URL="+server.URL, "WATCHMARK_WATCHER_PLEX_AUTH_URL="+server.URL+"/auth")
	browsertest.Run(t, tab, browsertest.Sized(390, 844), chromedp.Navigate(s.url+"/sources/servers/new"), browsertest.Type("#server-url", server.URL), browsertest.Click("#probe button"),
		browsertest.Until(`!document.getElementById("found").hidden && document.getElementById("password").hidden`), browsertest.Until(browsertest.Says("#by-code button", "Sign in with Plex")),
		browsertest.Click("#plex button"), browsertest.Until(`document.querySelector("#confirm-sign-in a.primary") !== null`))
	page, err := chromedp.Run(tab, chromedp.Evaluate[string](`document.querySelector("#confirm-sign-in a.primary").href`))
	if err != nil {
		t.Fatal(err)
	}
	here, err := chromedp.Run(tab, chromedp.Evaluate[string](`location.href`))
	if err != nil {
		t.Fatal(err)
	}
	browsertest.Run(t, tab, chromedp.Navigate(page), browsertest.Until(`!document.getElementById("form").hidden`), browsertest.Type("#name", "alex"), browsertest.Type("#password", "of-alex"), browsertest.Click("#allow"),
		browsertest.Until(browsertest.Says("#answer", "You are signed in")))
	browsertest.Complaints(t, tab)
	browsertest.Run(t, tab, chromedp.Navigate(here), browsertest.Until(`document.querySelectorAll("#choose [name=person]").length === 2`), browsertest.Click("#choose .choose:has([data-pin])"), browsertest.Until(`document.getElementById("home-pin").offsetParent !== null`))
	browsertest.Run(t, tab, browsertest.Type("#home-pin", "4711"), browsertest.Click("#choose .actions button"), browsertest.Until(browsertest.Says("#connected", "No account lists bench")),
		browsertest.Click("#connected .offer button"), browsertest.Until(browsertest.Says("#connected", "What bench watches is marked on the list of: mira")), browsertest.Until(browsertest.Says("#server", "Live")))
	watches(t, server, 7)
	browsertest.Run(t, tab, chromedp.Navigate(s.url+"/sources/servers"), browsertest.Until(browsertest.Says("#logins", "灯塔守望者 S2 E7")))
	if r := s.settled(1); r.Status != "success" || r.UserName != "bench" {
		t.Errorf("the play became %+v", r)
	}
	s.secretsStayIn("4711", "of-alex")
}

// TestBrowserIsToldWhatIsWrongWithAServer enters what does not work, and chooses what is not recognised.
func TestBrowserIsToldWhatIsWrongWithAServer(t *testing.T) {
	tab := browsertest.Start(t)
	server := mediaServer(t, mediaservertest.Emby)
	s := start(t, "WATCHMARK_AUTH_ENABLED=false")
	browsertest.Run(t, tab, browsertest.Sized(390, 844), chromedp.Navigate(s.url+"/sources/servers/new"), browsertest.Type("#server-url", "http://127.0.0.1:9"), browsertest.Click("#probe button"),
		browsertest.Until(browsertest.Says("#probe .field-error", "no answer from this address")), browsertest.Until(`document.activeElement.id === "server-url"`), browsertest.Until(`!document.getElementById("unfound").hidden`),
		browsertest.Click("[data-by-hand]"), browsertest.Until(`!document.getElementById("found").hidden && document.getElementById("unfound").hidden`),
		browsertest.Type("#server-url", server.URL), browsertest.Until(`document.getElementById("found").hidden`), browsertest.Click("#probe button"), browsertest.Until(`!document.getElementById("found").hidden`),
		browsertest.Type("#server-user", "bench"), browsertest.Type("#server-password", "wrong"), browsertest.Click("#password button"),
		browsertest.Until(browsertest.Says("#password .field-error", "Emby refuses the user name or the password")), browsertest.Until(`document.activeElement.id === "server-password"`))
	var all struct{ Items []any }
	if s.api(http.MethodGet, "/api/servers", "", http.StatusOK, &all); len(all.Items) > 0 {
		t.Errorf("a wrong password is stored: %v", all.Items)
	}
	browsertest.Run(t, tab, browsertest.Type("#server-password", mediaPassword), browsertest.Click("#password button"), browsertest.Until(browsertest.Says("#server", "Live")))
	// Signing in again is for the same person.
	browsertest.Run(t, tab, browsertest.Click("#again summary"), browsertest.Type("#again-user", "alex"), browsertest.Type("#again-password", "of-alex"), browsertest.Click("#again form button"),
		browsertest.Until(browsertest.Says("#again .field-error", "is another user")),
		browsertest.Type("#again-user", "bench"), browsertest.Type("#again-password", mediaPassword), browsertest.Click("#again form button"), browsertest.Until(browsertest.Says("#toasts", "Signed in.")))
}

// TestBrowserMovesHistoryBothWays imports what was watched on a server before, and marks on it what is on a list, until that is undone.
func TestBrowserMovesHistoryBothWays(t *testing.T) {
	tab := browsertest.Start(t)
	server := mediaServer(t, mediaservertest.Jellyfin)
	watches(t, server, 3)
	s := start(t, "WATCHMARK_AUTH_ENABLED=false")
	s.api(http.MethodPost, "/api/accounts/1/media_user_names", `{"name":"bench"}`, http.StatusOK, nil)
	s.api(http.MethodPost, "/api/servers", `{"kind":"jellyfin","url":"`+server.URL+`","username":"bench","password":"`+mediaPassword+`"}`, http.StatusCreated, nil)
	s.settled(s.custom(`{"title":"灯塔守望者","season":2,"episode":5,"user_name":"bench"}`)) // on the list, and not on the server
	played := func() (episodes []int) {
		for _, one := range server.Played() {
			episodes = append(episodes, one.Episode)
		}
		slices.Sort(episodes)
		return episodes
	}
	yes := []browsertest.Step{browsertest.Until(`document.getElementById("confirm").open`), browsertest.Click("#confirm [value=yes]")}
	browsertest.Complaints(t, tab)
	browsertest.Run(t, tab, browsertest.Sized(390, 844), chromedp.Navigate(s.url+"/sources/servers/1"), browsertest.Until(browsertest.Says("#server", "Live")),
		browsertest.Click("#history summary"), browsertest.Click("#history .primary"), browsertest.Until(browsertest.Says("#forecast", "Preview of the import")), browsertest.Until(browsertest.Says("#forecast", "episode 3")),
		browsertest.Until(`document.documentElement.scrollWidth <= 390`), browsertest.Click("#forecast .after button"))
	browsertest.Run(t, tab, append(yes, browsertest.Until(browsertest.Says("#run", "1 imported")))...)
	if r := s.settled(2); r.Status != "success" || r.UserName != "bench" {
		t.Errorf("the import made %+v", r)
	}
	browsertest.Run(t, tab, browsertest.Click("#seed summary"), browsertest.Click("#seed .primary"), browsertest.Until(browsertest.Says("#forecast", "Preview: the list of mira on this server")),
		browsertest.Until(browsertest.Says("#forecast", "Marked as played")))
	if now := played(); !slices.Equal(now, []int{3}) {
		t.Errorf("the preview has written: %v are played", now)
	}
	browsertest.Run(t, tab, browsertest.Until(browsertest.Says("#forecast .after", "Change 1 on the server")), browsertest.Click("#forecast .after .primary"))
	browsertest.Run(t, tab, append(yes, browsertest.Until(browsertest.Says("#forecast", "The list of mira on this server")))...)
	if now := played(); !slices.Equal(now, []int{3, 5}) {
		t.Errorf("%v are played", now)
	}
	browsertest.Run(t, tab, browsertest.Click("#forecast .after button"))
	browsertest.Run(t, tab, append(yes, browsertest.Until(browsertest.Says("#forecast", "Undone on this server")))...)
	if now := played(); !slices.Equal(now, []int{3}) {
		t.Errorf("after undoing %v are played", now)
	}
	if page := s.get("/settings/tasks"); !strings.Contains(page.body, "Undoing what was written to a media server") {
		t.Error("the page of tasks does not know them")
	}
}
