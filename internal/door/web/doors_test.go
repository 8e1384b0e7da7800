package web_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"watchmark/internal/source/nas"
	"watchmark/internal/tell/notify"
	"watchmark/internal/testkit/browsertest"
)

// TestBrowserOpensDoorsOnAPhone opens what is in the bar and what is behind “More”, the tabs of a door, and a page below a tab.
func TestBrowserOpensDoorsOnAPhone(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.fill(t)
	const shown = `[...document.querySelectorAll("%s a")].filter((door) => door.checkVisibility()).map((door) => door.getAttribute("href"))`
	hrefs := func(within string) []string {
		t.Helper()
		found, err := chromedp.Run(tab, chromedp.Evaluate[[]string](fmt.Sprintf(shown, within)))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	at := func(path string) browsertest.Step {
		return browsertest.Until(fmt.Sprintf(`location.pathname + location.search === %q && document.readyState === "complete"`, path))
	}
	browsertest.Run(t, tab, g.signIn(), browsertest.Sized(390, 844), chromedp.Navigate(g.server.URL+"/"), browsertest.Until(browsertest.Listening))
	if bar, want := hrefs("#nav"), []string{"/", "/records", "/review", "/inbox", "/sources"}; !slices.Equal(bar, want) {
		t.Errorf("the bar leads to %v, want %v", bar, want)
	}
	browsertest.Run(t, tab, browsertest.Click(".menu summary"))
	if more, want := hrefs(".menu-doors"), []string{"/calendar", "/titles", "/people", "/messages", "/settings"}; !slices.Equal(more, want) {
		t.Errorf("More leads to %v, want %v", more, want)
	}
	browsertest.Run(t, tab, browsertest.Click(`.menu-doors a[href="/settings"]`), at("/settings"), browsertest.Until(browsertest.Listening),
		browsertest.Click(".menu summary"), browsertest.Until(`document.querySelector('.menu-doors [aria-current="page"]').getAttribute("href") === "/settings"`),
		browsertest.Click(".menu summary"))
	if tabs, want := hrefs(".tabs"), []string{"/settings", "/settings/access", "/settings/backups", "/settings/tasks", "/settings/tools", "/settings/about"}; !slices.Equal(tabs, want) {
		t.Errorf("the tabs lead to %v, want %v", tabs, want)
	}
	const (
		current = `document.querySelector('.tabs [aria-current="page"]').getAttribute("href") === %q`
		inSight = `(({ left, right }) => left >= 0 && right <= innerWidth)(document.querySelector('.tabs [aria-current="page"]').getBoundingClientRect())`
	)
	browsertest.Run(t, tab, browsertest.Click(`.tabs a[href="/settings/about"]`), at("/settings/about"), browsertest.Until(browsertest.Listening),
		browsertest.Until(fmt.Sprintf(current, "/settings/about")), browsertest.Until(inSight),
		// A tool has the tabs of its door, and below them those of the tools.
		browsertest.Click(`.tabs a[href="/settings/tools"]`), at("/settings/tools"), browsertest.Until(browsertest.Listening),
		browsertest.Click(`.tabs + .tabs a[href="/settings/tools/log"]`), at("/settings/tools/log"), browsertest.Until(browsertest.Listening),
		browsertest.Until(fmt.Sprintf(current, "/settings/tools")), browsertest.Until(`document.querySelectorAll('.tabs [aria-current="page"]')[1].getAttribute("href") === "/settings/tools/log"`),
		// A page below another has the way back instead, and an old address leads to it.
		chromedp.Navigate(g.server.URL+"/mappings/new?title=x"), at("/titles/new?title=x"), browsertest.Until(browsertest.Listening),
		browsertest.Until(`!document.querySelector(".tabs") && document.querySelector('#nav [aria-current="true"], .menu-doors [aria-current="true"]').getAttribute("href") === "/titles"`),
		browsertest.Click(".crumb a"), at("/titles"))
}

// TestNoticesLeadToPages opens the page of each kind of notice.
func TestNoticesLeadToPages(t *testing.T) {
	g := newRig(t)
	g.fill(t)
	in := g.client(t, true)
	for _, kind := range notify.Kinds() {
		about := map[string]string{"subject_id": "900001"}
		g.notices.Add(t.Context(), notify.Notice{Kind: kind.Kind, About: string(kind.Kind), AccountID: 1, Facts: about})
		path := notify.Entry{Kind: kind.Kind, AccountID: 1, Facts: about}.Page()
		if path == "" {
			continue
		}
		if page := g.get(t, in, path, "en"); page.status != http.StatusOK {
			t.Errorf("%s leads to %s, which answers %d", kind.Kind, path, page.status)
		}
	}
	mustContain(t, g.get(t, in, "/inbox?view=all", "en").body, `href="/sources">Sources`, `href="/people">Accounts`, `href="/titles/archive">Offline data`)
}

// TestBrowserShowsTheStateOfSources looks at the cards before anything is set up, and at a source that broke.
func TestBrowserShowsTheStateOfSources(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	browsertest.Run(t, tab, g.signIn(), speak("en"), browsertest.Sized(1280, 844), chromedp.Navigate(g.server.URL+"/sources"), browsertest.Until(browsertest.Listening),
		browsertest.Until(browsertest.Says("#card-nas", "Connect a NAS")), browsertest.Until(browsertest.Says("#card-nas", "For those who watch with its own media app")),
		browsertest.Until(`!document.querySelector("#sources .note, #sources .bad")`),
		browsertest.Click("#card-nas .button"), browsertest.Until(`location.pathname === "/sources/nas" && document.readyState === "complete"`),
		browsertest.Until(`!document.querySelector("#main .bad")`), browsertest.Click(".crumb a"), browsertest.Until(`location.pathname === "/sources"`), browsertest.Until(browsertest.Listening))
	g.nas.status = nas.Status{Enabled: true, LastError: value("nas_no_file", "/nas/trimmedia.db"), LastErrorKind: nas.Missing}
	g.records.Feed.Publish(1)
	browsertest.Run(t, tab, browsertest.Until(browsertest.Says("#card-nas .state", "The library cannot be read")),
		browsertest.Until(browsertest.Says("#card-nas .note", "set nas.database_path to the database of the NAS")),
		// The card leads to the page of the source; what went wrong can be copied.
		browsertest.Click("#card-nas h2 a"), browsertest.Until(`location.pathname === "/sources/nas"`))
}
