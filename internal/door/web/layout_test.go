package web_test

import (
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"

	"watchmark/internal/platform/reason"
	"watchmark/internal/source/nas"
	"watchmark/internal/testkit/browsertest"
)

// TestBrowserShowsListsFirstOnAPhone looks whether a list begins on the first screen of a phone, below what filters it.
func TestBrowserShowsListsFirstOnAPhone(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.fill(t)
	browsertest.Run(t, tab, g.signIn(), browsertest.Sized(390, 844))
	for _, room := range []struct {
		path, first string
		most        float64 // of the screen, above the list
	}{
		{"/titles", ".rules > li", .6},
		{"/titles/blocked", ".rules > li", .6},
		{"/records", ".records tbody tr", .25},
		{"/inbox", ".notices > li, #inbox", .5},
	} {
		browsertest.Run(t, tab, chromedp.Navigate(g.server.URL+room.path), browsertest.Until(browsertest.Listening))
		top, err := chromedp.Run(tab, chromedp.Evaluate[float64](fmt.Sprintf(`document.querySelector(%q).getBoundingClientRect().top / innerHeight`, room.first)))
		if err != nil || top > room.most {
			t.Errorf("the list of %s begins at %.0f %% of the screen, at most %.0f wanted (%v)", room.path, 100*top, 100*room.most, err)
		}
	}
	// What is folded away is a press away, and stands open where it restricts the list.
	const chosen = `document.querySelector("#status").checkVisibility()`
	browsertest.Run(t, tab, chromedp.Navigate(g.server.URL+"/records"), browsertest.Until(browsertest.Listening), browsertest.Until(`!`+chosen),
		browsertest.Click("[data-unfolds]"), browsertest.Until(chosen+` && document.querySelector("[data-unfolds]").getAttribute("aria-expanded") === "true"`),
		chromedp.Navigate(g.server.URL+"/records?status=error"), browsertest.Until(browsertest.Listening), browsertest.Until(chosen))
	// Without a script nothing is folded.
	if body := g.get(t, g.client(t, true), "/records", "en").body; strings.Contains(body, `id="status" hidden`) {
		t.Error("the filters are folded without a script")
	}
}

// TestBrowserAsksBeforeWhatWasEnteredIsLost types into a field of every form and leaves.
func TestBrowserAsksBeforeWhatWasEnteredIsLost(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.fill(t)
	g.fillSources(t)
	g.fillNotices(t)
	g.fillSummaries(t)
	const leaving = `(() => { const leaves = new Event("beforeunload", { cancelable: true }); dispatchEvent(leaves); return leaves.defaultPrevented; })()`
	browsertest.Run(t, tab, g.signIn())
	for path, field := range map[string]string{
		"/people":                             "#username-new",
		"/titles/new":                         "#title",
		"/titles/3":                           "#note",
		"/titles/blocked":                     "#keyword-1",
		"/titles/import":                      "#rules-import textarea",
		"/sources/nas":                        "#nas-path",
		"/sources/import":                     "#import [name=url]",
		"/messages/llm":                       "#llm-form input:not([type=hidden], [type=checkbox])",
		"/messages/summaries":                 "#job-name",
		"/settings?section=log":               "#section-server input[type=number]",
		"/settings/access":                    "#password-change input[type=password]",
		"/messages/channels/new?type=webhook": "input[name=name]",
		"/messages/rules/new":                 "input[name=name]",
		"/records/1":                          "#correct-subject",
	} {
		t.Run(path, func(t *testing.T) {
			asks := func() bool {
				t.Helper()
				asks, err := chromedp.Run(tab, chromedp.Evaluate[bool](leaving))
				if err != nil {
					t.Fatal(err)
				}
				return asks
			}
			browsertest.Run(t, tab, chromedp.Navigate(g.server.URL+path), browsertest.Until(browsertest.Listening))
			if asks() {
				t.Error("it asks before anything was entered")
			}
			browsertest.Run(t, tab, browsertest.Type(field, "77"))
			if !asks() {
				t.Error("what was entered is lost")
			}
		})
	}
	// What was looked for, and what the service took, is not lost.
	browsertest.Run(t, tab, chromedp.Navigate(g.server.URL+"/records"), browsertest.Until(browsertest.Listening), browsertest.Type("#q", "x"), browsertest.Until(`!`+leaving),
		chromedp.Navigate(g.server.URL+"/people"), browsertest.Until(browsertest.Listening),
		browsertest.Type("#username-new", "alex"), browsertest.Type("#token-new", "x"), browsertest.Until(leaving),
		browsertest.Click("#by-token form .primary"), browsertest.Until(`!`+leaving),
		chromedp.Navigate(g.server.URL+"/titles/3"), browsertest.Until(browsertest.Listening), browsertest.Type("#note", "77"),
		chromedp.Evaluate[chromedp.Void](`addEventListener("beforeunload", (event) => sessionStorage.setItem("asked", String(event.defaultPrevented)))`),
		browsertest.Click("#mapping-form .primary"), browsertest.Until(`location.pathname === "/titles" && sessionStorage.getItem("asked") === "false"`))
}

// TestAccountsBeginWithTheTokenWhereNothingElseIsSetUp reads the page without and with an application at the catalog.
func TestAccountsBeginWithTheTokenWhereNothingElseIsSetUp(t *testing.T) {
	for name, ready := range map[string]bool{"not set up": false, "set up": true} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t)
			if !ready {
				g.set(t, "catalog", "oauth_client_id", "")
			}
			body := g.get(t, g.client(t, true), "/people", "en").body
			form, other := strings.Index(body, `id="username-new"`), strings.Index(body, `/docs/accounts#add-an-account`)
			open := strings.Contains(body, `id="by-token" open`)
			if open == ready || form < 0 || (other < 0) != ready || !ready && other < form {
				t.Errorf("the form stands at %d, open %v, what is to be set at %d", form, open, other)
			}
		})
	}
}

// TestNASSaysNothingIsWrongBeforeItIsSetUp reads the page of a library that is not there.
func TestNASSaysNothingIsWrongBeforeItIsSetUp(t *testing.T) {
	missing := &nas.Problem{Kind: nas.Missing, Detail: reason.Of(&fs.PathError{Op: "open", Path: "/usr/local/apps/trimmedia.db", Err: syscall.ENOENT})}
	for name, enabled := range map[string]bool{"before it is set up": false, "afterwards": true} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t)
			g.nas = nasStub{status: nas.Status{Enabled: enabled}, err: missing}
			body := g.get(t, g.client(t, true), "/sources/nas", "en").body
			if says := strings.Contains(body, "no such file"); says != enabled {
				t.Errorf("the page says what is wrong: %v", says)
			}
			if later := strings.Contains(body, "The users appear once Watchmark can read the library"); later == enabled {
				t.Errorf("the page says that users are listed later: %v", later)
			}
		})
	}
}
