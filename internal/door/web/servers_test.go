package web_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/task"
	"watchmark/internal/source/importer"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/source/watcher"
	"watchmark/internal/testkit/browsertest"
)

// serversStub are logins as a test says.
type serversStub struct{ logins []watcher.Login }

func (s *serversStub) Logins(context.Context) ([]watcher.Login, error) { return s.logins, nil }

func (s *serversStub) Login(_ context.Context, id int64) (watcher.Login, error) {
	for _, l := range s.logins {
		if l.ID == id {
			return l, nil
		}
	}
	return watcher.Login{}, account.ErrNotFound
}

// logins are logins in every state.
func logins() []watcher.Login {
	next := time.Now().Add(12 * time.Minute)
	second := 2
	shows, films := mediaserver.Library{ID: "f0", Name: "动画", Kind: "show"}, mediaserver.Library{ID: "f1", Name: "Home videos", Kind: "other"}
	return []watcher.Login{
		{
			ID: 1, Kind: mediaserver.Jellyfin, URL: "http://192.168.1.5:8096", ServerName: "attic", ServerID: "9b1d", Version: "10.11.6", UserName: "Mira", MediaUserName: "Mira",
			State: watcher.Connected, Enabled: true, Way: watcher.Live, Libraries: []watcher.Library{{Library: shows, Picked: true}, {Library: films}}, Accounts: []string{"mira"}, Webhook: true,
			ConnectedAt: time.Now().Add(-20 * 24 * time.Hour), LastEventAt: ago(25 * time.Minute), LastEvent: "灯塔守望者 S2 E7",
			CatchUp:     &watcher.CatchUp{At: time.Now().Add(-18 * time.Minute), Taken: 1, Known: 12, Skipped: 2, Requests: 3},
			NextCatchUp: &next, ComparedAt: ago(9 * time.Hour), Known: 1841, SkewSeconds: -1260,
			Held: []watcher.Held{
				{Title: "灯塔守望者", Season: &second, Episodes: []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, At: time.Now().Add(-time.Hour)},
				{Title: hostileTitle, Film: true, At: time.Now().Add(-time.Hour)},
			},
		},
		{
			ID: 2, Kind: mediaserver.Emby, URL: "https://emby.home.example", ServerName: "den", Version: "4.9.5", UserName: "alex <b>", MediaUserName: "alex <b>", State: watcher.Connected, Enabled: true,
			Way: watcher.Polling, Accounts: []string{}, ConnectedAt: time.Now().Add(-time.Minute), Known: 61, CatchUp: &watcher.CatchUp{At: time.Now(), Full: true, Known: 61, Requests: 1},
		},
		{
			ID: 3, Kind: mediaserver.Jellyfin, URL: "http://192.168.1.7:8096", ServerName: "cellar", Version: "12.1", UserName: "mira", MediaUserName: "mira", State: watcher.SignedOut, Enabled: true, Way: watcher.Waiting,
			Problem: mediaserver.ErrSignedOut.With(), Accounts: []string{"mira"}, ConnectedAt: time.Now().Add(-90 * 24 * time.Hour), LastEventAt: ago(50 * time.Hour), LastEvent: "迷宫饭 S1 E3", Known: 420,
			CatchUp: &watcher.CatchUp{At: time.Now().Add(-30 * time.Hour), Full: true, Known: 420, Requests: 2, Error: mediaserver.ErrSignedOut.With()},
		},
		{
			ID: 4, Kind: mediaserver.Ugreen, URL: "https://192.168.1.9:9443", ServerName: "nas", UserName: "mira", MediaUserName: "mira", State: watcher.Unreachable, Enabled: true, Way: watcher.Waiting,
			Problem: mediaserver.ErrUnreachable.With(), Accounts: []string{"mira"}, ConnectedAt: time.Now().Add(-9 * 24 * time.Hour), Known: 12,
		},
		{
			ID: 5, Kind: mediaserver.Plex, State: watcher.SignedOut, Enabled: true, Way: watcher.Waiting,
			SignIn: &watcher.SignIn{Code: "8lzjqnq8lye02n52jq3fqxf8e", URL: "https://app.plex.example/auth#?clientID=a&code=b", ExpiresAt: time.Now().Add(28 * time.Minute)},
		},
		{
			ID: 6, Kind: mediaserver.Plex, State: watcher.SignedOut, Enabled: true, Way: watcher.Waiting, Choices: &watcher.Choices{
				Servers: []watcher.Choice{{ID: "a1", Name: "attic"}, {ID: "b2", Name: "Kino", Owner: "jona"}},
				People:  []watcher.Choice{{ID: "p1", Name: "alex"}, {ID: "p2", Name: "mira", PIN: true}},
			},
		},
		{
			ID: 7, Kind: mediaserver.Jellyfin, URL: "http://192.168.1.8:8096", ServerName: "garage", State: watcher.SignedOut, Enabled: true, Way: watcher.Waiting,
			SignIn: &watcher.SignIn{Code: "482913", ExpiresAt: time.Now().Add(9 * time.Minute)},
		},
		{
			ID: 8, Kind: mediaserver.FnOS, URL: "http://192.168.1.10:8005", ServerName: "fn", UserName: "mira", MediaUserName: "mira", State: watcher.Refused, Enabled: true, Way: watcher.Waiting,
			Problem: mediaserver.ErrRefused.With(), Accounts: []string{"mira"}, Known: 3,
		},
		{
			ID: 9, Kind: mediaserver.ZSpace, URL: "http://192.168.1.11:8096", ServerName: "z", UserName: "mira", MediaUserName: "mira", State: watcher.Connected, Enabled: false, Way: watcher.Waiting,
			Accounts: []string{"mira"}, Known: 1,
		},
	}
}

// seeding has a row of every status.
func seeding(dry bool) watcher.Seeding {
	first, second := 1, 2
	return watcher.Seeding{LoginID: 1, AccountID: 1, DryRun: dry, Rows: []watcher.SeedRow{
		{Title: "灯塔守望者", Season: &second, Episodes: []float64{1, 2, 3, 4, 5, 7}, Status: watcher.SeedMark, SubjectID: 900002, SubjectName: "灯塔守望者 第二季"},
		{Title: hostileTitle, Film: true, Status: watcher.SeedMark, SubjectID: 900003, SubjectName: "北の光"},
		{Title: "彩虹放送局", Season: &first, Episodes: []float64{3}, Status: watcher.SeedUnmark, SubjectID: 900004, SubjectName: "彩虹放送局"},
		{Title: "A Home Video", Season: &first, Episodes: []float64{3}, Status: watcher.SeedNotFound, Reason: value("nothing_fits", value("title", "A Home Video"))},
		{Title: "迷宫饭", Season: &second, Episodes: []float64{1, 2}, Status: watcher.SeedFailed, Reason: mediaserver.ErrRefused.With()},
		{Title: "葬送的芙莉莲", Season: &first, Episodes: []float64{1, 2, 3}, Status: watcher.SeedPlayed, SubjectID: 400602, SubjectName: "葬送的芙莉莲"},
		{Title: "摇曳露营", Season: &first, Episodes: []float64{1}, Status: watcher.SeedUnlisted, SubjectID: 900009, SubjectName: "摇曳露营△"},
	}, Counts: map[watcher.SeedStatus]int{
		watcher.SeedMark: 7, watcher.SeedUnmark: 1, watcher.SeedNotFound: 1, watcher.SeedFailed: 2, watcher.SeedPlayed: 3, watcher.SeedUnlisted: 1,
	}, Unmark: true, Undo: !dry}
}

// endedOf runs a task about a login to its end.
func (g *rig) endedOf(t testing.TB, login int64, kind string, result any) int64 {
	t.Helper()
	return g.endedIn(t.Context(), t, login, kind, result)
}

// endedIn is endedOf for whom the scope of ctx is of.
func (g *rig) endedIn(ctx context.Context, t testing.TB, login int64, kind string, result any) int64 {
	t.Helper()
	one, err := g.tasks.Start(ctx, task.Spec{Kind: kind, About: login}, func(_ context.Context, one *task.Task) error {
		one.SetResult(result)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for one.Status().State == task.Running {
		_, more := one.After(0)
		if one.Status().State == task.Running {
			<-more
		}
	}
	return one.Status().ID
}

func TestPageOfTheServers(t *testing.T) {
	empty := newRig(t)
	body := empty.get(t, empty.client(t, true), "/sources/servers", "en").body
	mustContain(t, body, "No server is connected yet", `href="/sources/servers/new"`)
	body = empty.get(t, empty.client(t, true), "/sources", "zh-CN").body
	mustContain(t, body, "登录媒体服务器", `href="/sources/servers"`)

	g := newRig(t)
	mira := g.addAccount(t, account.Draft{Username: "mira", MediaUserNames: []string{"Mira"}, Enabled: true}).ID
	g.servers.logins = logins()
	in := g.client(t, true)
	body = g.get(t, in, "/sources/servers", "en").body
	mustContain(t, body, "attic", "10.11.6", "灯塔守望者 S2 E7", "1,841 watched episodes and films are known", "21 minutes behind", "Webhooks of this user arrive, too",
		"13 plays came all at once", "episode 1–12", "/records?source=watcher&amp;user=Mira", "alex &lt;b&gt;", fmt.Sprintf("/api/accounts/%d/media_user_names", mira),
		"the server has ended this sign-in", "experimental", "The sign-in waits for you", "A choice is missing", "The server refuses", "Switched off")
	if strings.Contains(body, "8lzjqnq8lye02n52jq3fqxf8e") {
		t.Error("the list shows the code of a sign-in")
	}
	for path, wanted := range map[string][]string{
		"/sources/servers/1":     {"Live", "Last catch-up", "(3 requests)", "2 cannot be marked", `name="libraries" data-list value="f0" checked`, "home videos, music or the like", "/api/servers/1/seed", "/api/servers/1/history"},
		"/sources/servers/2?new": {"Whose list is marked?", "61 episodes and films were watched before", "No account lists alex"},
		"/sources/servers/3":     {"Signed out", `value="mira"`, "/api/servers/3/sign-in", "Use Quick Connect"},
		"/sources/servers/5?new": {"Open Plex", "https://app.plex.example/auth#?clientID=a&amp;code=b", `data-again="2"`, "Cancel the sign-in"},
		"/sources/servers/6?new": {"of jona", `value="p2" data-pin`, "/api/servers/6/choose"},
		"/sources/servers/7":     {"482913", "Quick Connect"},
	} {
		mustContain(t, g.get(t, in, path, "en").body, wanted...)
	}
	if p := g.get(t, in, "/sources/servers/99", "en"); p.status != 404 {
		t.Errorf("a login that is not there: %d", p.status)
	}
	g.patch(t, "watcher", map[string]any{"enabled": false})
	mustContain(t, g.get(t, in, "/sources/servers", "en").body, "No server is asked, and nobody can sign in", `name="watcher.enabled" value="true"`)
	mustContain(t, g.get(t, in, "/sources", "en").body, "Switched off")
	g.patch(t, "watcher", map[string]any{"enabled": true})
	// The dashboard tells of what needs a person.
	mustContain(t, g.get(t, in, "/", "en").body, "A sign-in at a media server does not work", "13 plays wait for your word")
}

func TestServerShowsTheNewestResult(t *testing.T) {
	g := newRig(t)
	g.addAccount(t, account.Draft{Username: "mira", MediaUserNames: []string{"Mira"}, Enabled: true})
	g.servers.logins = logins()
	in := g.client(t, true)
	g.endedOf(t, 1, importer.PreviewTask, importer.Preview{Server: "attic", User: "Mira", Table: table(), Known: 4})
	mustContain(t, g.get(t, in, "/sources/servers/1", "en").body, "Preview of the import", "Import all of it", "4 were imported before")
	if body := g.get(t, in, "/sources/import", "en").body; strings.Contains(body, "Preview of the history") {
		t.Error("the preview of a login is on the page of imports, too")
	}
	g.endedOf(t, 1, watcher.SeedTask, seeding(true))
	body := g.get(t, in, "/sources/servers/1", "en").body
	mustContain(t, body, "Preview: the list of mira on this server", "Change 8 on the server", "Server refused", "episode 1–5, 7")
	if strings.Contains(body, "/undo") || strings.Contains(body, "Preview of the import") {
		t.Error("a preview can be undone, or an older one is shown")
	}
	body = g.get(t, in, "/sources/servers/1?status=unmark", "en").body
	if strings.Contains(body, "A Home Video") {
		t.Error("the filter of the table does not work")
	}
	id := g.endedOf(t, 1, watcher.SeedTask, seeding(false))
	mustContain(t, g.get(t, in, "/sources/servers/1", "en").body, "The list of mira on this server", fmt.Sprintf("/api/tasks/%d/undo", id))
	mustContain(t, g.get(t, in, "/settings/tasks", "en").body, "Writing a list to a media server", `href="/sources/servers/1">Server sign-ins`)
	if body := g.get(t, in, "/sources/servers/2", "en").body; strings.Contains(body, "The list of mira") {
		t.Error("the result is shown at another login")
	}
	undone := seeding(false)
	undone.Undoes, undone.Undo = id, false
	g.endedOf(t, 1, watcher.UndoTask, undone)
	body = g.get(t, in, "/sources/servers/1", "en").body
	mustContain(t, body, "Undone on this server")
	if strings.Contains(body, "/undo") {
		t.Error("an undoing can be undone")
	}
}

// TestBrowserFindsTheStepsToAServerAccessible shows what was found at an address, its certificate, and a sign-in that is refused.
func TestBrowserFindsTheStepsToAServerAccessible(t *testing.T) {
	axe, err := os.ReadFile("testdata/axe/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	g := newRig(t)
	g.answer = func(c apiCall) (int, string) {
		if c.Path == "/api/servers/probe" {
			return http.StatusOK, `{"kind":"jellyfin","url":"https://192.168.1.5:8920","server_id":"9b1d","server_name":"attic","version":"10.11.6","codes":true,"certificate_sha256":"` + strings.Repeat("0a", 32) + `"}`
		}
		return http.StatusUnprocessableEntity, `{"detail":"x","errors":[{"location":"body.password","message":"Jellyfin refuses the user name or the password"}]}`
	}
	tab := browsertest.Start(t)
	holds := func(state string) {
		t.Helper()
		browsertest.Run(t, tab, chromedp.Evaluate[chromedp.Void](string(axe)))
		for _, width := range []int64{1280, 390} {
			for _, theme := range []string{"light", "dark"} {
				browsertest.Run(t, tab, browsertest.Sized(width, 844), themed(theme), browsertest.Until(fmt.Sprintf(`document.documentElement.scrollWidth <= %d`, width)))
				for _, found := range audit(t, tab) {
					t.Errorf("%s (%d px, %s) breaks %s: %v", state, width, theme, found.Rule, found.Places)
				}
			}
		}
	}
	browsertest.Run(t, tab, g.signIn(), speak("en"), chromedp.Navigate(g.server.URL+"/sources/servers/new"), browsertest.Type("#server-url", "192.168.1.5"), browsertest.Click("#probe button"),
		browsertest.Until(`document.activeElement.id === "found-title" && document.querySelector(".wizard-steps [aria-current]").textContent === "Sign-in"`))
	holds("a certificate to confirm")
	browsertest.Run(t, tab, browsertest.Click("[data-trust]"), browsertest.Type("#server-user", "mira"), browsertest.Click("#password button"), browsertest.Until(browsertest.Says("#password .field-error", "refuses the user name")))
	holds("a refused sign-in")
	calls := g.asked()
	if got := calls[len(calls)-1].Body; got != `{"url":"https://192.168.1.5:8920","certificate_sha256":"`+strings.Repeat("0a", 32)+`","kind":"jellyfin","username":"mira","password":""}` {
		t.Errorf("it sends %s", got)
	}
}
