package app_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"

	"watchmark/internal/testkit/browsertest"
)

// plays sends so many plays of a user, and waits for them.
func (s *service) plays(user string, from, to int) {
	s.t.Helper()
	for n := from; n <= to; n++ {
		s.settled(s.custom(fmt.Sprintf(`{"title":"灯塔守望者","season":1,"episode":%d,"user_name":%q}`, n, user)))
	}
}

// notices are those of the inbox that want attention, by the page's count.
func (s *service) unread() (n struct{ Attention int }) {
	s.t.Helper()
	s.api(http.MethodGet, "/api/notification/inbox/unread", "", http.StatusOK, &n)
	return n
}

// TestBrowserSortsOutUsersWithoutAnAccount: they stand together, are ignored and heard again, and are added to an account,
// after which what failed is marked, and what the inbox said of them is closed.
func TestBrowserSortsOutUsersWithoutAnAccount(t *testing.T) {
	tab := browsertest.Start(t)
	s := start(t, "WATCHMARK_AUTH_ENABLED=false")
	s.plays("Mira", 1, 1)
	s.plays("bench", 1, 4)
	s.plays("guest & Co", 1, 3)
	if n := s.unread(); n.Attention != 2 {
		t.Errorf("seven plays of two users count %d times", n.Attention)
	}
	browsertest.Complaints(t, tab)
	gone := func(selector, words string) browsertest.Step {
		return browsertest.Until(fmt.Sprintf(`!(document.querySelector(%q)?.innerText ?? "").includes(%q)`, selector, words))
	}
	ignore := browsertest.Click(`#unrouted .user-line:has([href$="guest+%26+Co"], [href$="guest%20%26%20Co"]) form[data-url$="/ignored-users"] button`)
	browsertest.Run(t, tab, browsertest.Sized(390, 844), chromedp.Navigate(s.url+"/"), browsertest.Until(browsertest.Listening), browsertest.Until(browsertest.Says(".needs", "2 users have no account")),
		browsertest.Click(`.needs a[href$="/records?unrouted="]`), browsertest.Until(browsertest.Says("#unrouted", "bench")), browsertest.Until(browsertest.Listening),
		browsertest.Until(browsertest.Says("#unrouted", "4 plays")), browsertest.Until(browsertest.Says("#unrouted", "3 plays")),
		browsertest.Until(`document.querySelectorAll("#records tbody tr").length === 1`), browsertest.Until(`document.documentElement.scrollWidth <= 390`),
		// Ignored, and back.
		ignore, browsertest.Until(browsertest.Says("#ignored-users summary", "1 ignored user")), gone(".unrouted", "guest & Co"),
		browsertest.Click("#ignored-users summary"), browsertest.Click("#ignored-users form button"), browsertest.Until(browsertest.Says("#unrouted .unrouted", "guest & Co")),
		ignore, browsertest.Until(browsertest.Says("#ignored-users summary", "1 ignored user")))
	if n := s.unread(); n.Attention != 1 {
		t.Errorf("after one is ignored %d count", n.Attention)
	}
	s.plays("guest & Co", 5, 5)
	if n := s.unread(); n.Attention != 1 {
		t.Errorf("an ignored user counts: %d", n.Attention)
	}
	browsertest.Run(t, tab, chromedp.Navigate(s.url+"/records?user=guest+%26+Co"), browsertest.Until(browsertest.Listening), browsertest.Until(`document.querySelectorAll("#records tbody tr").length === 4`),
		browsertest.Until(browsertest.Says("#records tbody", "Ignored")), gone("#records tbody", "Failed"),
		// A record of somebody without an account is no matter for a retry.
		chromedp.Navigate(s.url+"/records/2"), browsertest.Until(browsertest.Listening), browsertest.Until(`!document.querySelector("form[data-url$='/retry'] button").matches(".primary")`),
		browsertest.Until(`document.querySelector(".verdict a[href*='account=1']").matches(".primary")`),
		// The inbox has the same buttons.
		chromedp.Navigate(s.url+"/inbox"), browsertest.Until(browsertest.Listening), browsertest.Until(browsertest.Says("#inbox", "4 times")), browsertest.Until(browsertest.Says("#inbox .over", "Solved")),
		browsertest.Until(`document.documentElement.scrollWidth <= 390`),
		browsertest.Click("#inbox a[href*='account=1']"), browsertest.Until(browsertest.Listening), browsertest.Until(browsertest.Says("#assign", "Season 1, episode 1–4")),
		browsertest.Until(browsertest.Says("#assign", "4 plays wait")), browsertest.Until(`document.documentElement.scrollWidth <= 390`),
		browsertest.Click("#assign form button"), browsertest.Until(browsertest.Says("#run", "Finished. 4 marked")), browsertest.Until(browsertest.Says("#assigned", "4 marked")),
		browsertest.Until(browsertest.Says("#assign", "belongs to mira")), browsertest.Until(`!!document.querySelector("#assigned a[href*='/records/undo?task=']")`),
		chromedp.Navigate(s.url+"/inbox"), browsertest.Until(browsertest.Listening), browsertest.Until(`document.querySelectorAll("#inbox li:not(.over)").length === 0`))
	if n := s.unread(); n.Attention != 0 {
		t.Errorf("in the end %d count", n.Attention)
	}
	if marked := s.marked(); len(marked) != 4 {
		t.Errorf("marked are %v", marked)
	}
	browsertest.Run(t, tab, chromedp.Navigate(s.url+"/people"), browsertest.Until(browsertest.Listening), browsertest.Until(browsertest.Says("#ignored-users", "1 ignored user")))
	s.api(http.MethodDelete, "/api/ignored-users?name=nobody", "", http.StatusNotFound, nil)
	s.api(http.MethodPost, "/api/ignored-users", `{"name":" "}`, http.StatusUnprocessableEntity, nil)
	// An account that names somebody goes first, and ends that they are ignored.
	s.api(http.MethodPost, "/api/accounts/2/media_user_names", `{"name":"guest & Co"}`, http.StatusOK, nil)
	if left := list[struct{ Name string }](s, "/api/ignored-users"); len(left) != 0 {
		t.Errorf("ignored are %+v", left)
	}
}
