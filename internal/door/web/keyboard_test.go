package web_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"watchmark/internal/testkit/browsertest"
)

// TestBrowserOpensEveryDoorByKeys goes through every door with Tab and Enter alone, wide and on a phone, where some are in a menu.
func TestBrowserOpensEveryDoorByKeys(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.fill(t)
	// tabTo presses Tab until what a condition tells has the focus, at most as often as there are things that can have it.
	tabTo := func(condition string) {
		t.Helper()
		for range 300 {
			browsertest.Run(t, tab, chromedp.KeyEvent(kb.Tab))
			there, err := chromedp.Run(tab, chromedp.Evaluate[bool](fmt.Sprintf(`((focus) => %s)(document.activeElement)`, condition)))
			if err != nil {
				t.Fatal(err)
			}
			if there {
				return
			}
		}
		t.Fatalf("Tab never leads to where %s", condition)
	}
	for _, width := range []int64{1280, 390} {
		browsertest.Run(t, tab, g.signIn(), browsertest.Sized(width, 844), chromedp.Navigate(g.server.URL+"/settings/about"), browsertest.Until(browsertest.Listening))
		tabTo(`focus.matches(".skip") && focus.getBoundingClientRect().top >= 0`)
		browsertest.Run(t, tab, chromedp.KeyEvent(kb.Enter), browsertest.Until(`document.activeElement.id === "main"`))
		doors, err := chromedp.Run(tab, chromedp.Evaluate[[]string](`[...document.querySelectorAll("#nav a")].map((door) => door.getAttribute("href"))`))
		if err != nil || len(doors) == 0 {
			t.Fatalf("doors %v: %v", doors, err)
		}
		for _, door := range doors {
			browsertest.Run(t, tab, chromedp.Navigate(g.server.URL+"/settings/about"), browsertest.Until(browsertest.Listening))
			behind, err := chromedp.Run(tab, chromedp.Evaluate[bool](fmt.Sprintf(`document.querySelector('#nav a[href="%s"]').checkVisibility() === false`, door)))
			if err != nil {
				t.Fatal(err)
			}
			if behind {
				tabTo(`focus.matches(".menu summary")`)
				browsertest.Run(t, tab, chromedp.KeyEvent(kb.Enter), browsertest.Until(`document.querySelector(".menu").open`))
			}
			tabTo(fmt.Sprintf(`focus.getAttribute("href") === %q`, door))
			browsertest.Run(t, tab, chromedp.KeyEvent(kb.Enter), browsertest.Until(fmt.Sprintf(`location.pathname === %q && document.readyState === "complete"`, door)))
		}
	}
}

// TestBrowserShowsTheOpenRoomAmongTheOthers opens the last room in windows of some heights: the list of rooms has
// room in all but low ones, and there the open one is scrolled into sight.
func TestBrowserShowsTheOpenRoomAmongTheOthers(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	browsertest.Run(t, tab, g.signIn())
	const (
		whole = `document.querySelector("#nav").scrollHeight === document.querySelector("#nav").clientHeight`
		// A scroll position is a whole pixel, a room is not.
		seen = `document.querySelector("#nav [aria-current]").getBoundingClientRect().bottom <= document.querySelector("#nav").getBoundingClientRect().bottom + 1`
	)
	for height, want := range map[int64]string{400: seen, 600: whole, 844: whole, 1080: whole} {
		t.Run(fmt.Sprint(height), func(t *testing.T) {
			browsertest.Run(t, tab, browsertest.Sized(1280, height), chromedp.Navigate(g.server.URL+"/settings/tools"), browsertest.Until(browsertest.Listening))
			if holds, err := chromedp.Run(tab, chromedp.Evaluate[bool](want)); err != nil || !holds {
				t.Errorf("does not hold: %s (%v)", want, err)
			}
		})
	}
}
