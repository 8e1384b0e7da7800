package app_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"watchmark/internal/catalog/account"
	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/testkit/catalogtest"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Main(m)) }

// TestBrowserFromSetupToTrace walks the way of a new user: the setup link, the account,
// the first webhook seen without a reload, and why it came out so.
func TestBrowserFromSetupToTrace(t *testing.T) {
	tab := browsertest.Start(t)
	s := startEmpty(t)
	browsertest.Complaints(t, tab)
	link := regexp.MustCompile(`http://\S+/setup\?token=\S+`).FindString(s.logs.String())
	if link == "" {
		t.Fatalf("the log shows no setup link: %s", s.logs.String())
	}
	browsertest.Run(t, tab, browsertest.Sized(1280, 900), chromedp.Navigate(link),
		browsertest.Type("#name", "admin"), browsertest.Type("#password", password),
		browsertest.Click("[data-unmasks]"), browsertest.Until(`document.getElementById("password").type === "text"`), browsertest.Click("form[data-api] button"),
		browsertest.Until(browsertest.Listening), browsertest.Until(browsertest.Says("main", "Three steps to the first mark")),

		browsertest.Click(`#nav a[href="/people"]`), browsertest.Until(browsertest.Says("h1", "Accounts")), browsertest.Until(browsertest.Listening),
		browsertest.Click("#by-token summary"),
		browsertest.Type("#username-new", "mira"), browsertest.Type("#token-new", miraToken), browsertest.Type("#names-new", "Mira"),
		browsertest.Click("#by-token form button.primary"), browsertest.Until(browsertest.Says(".account h2", "mira")),
		browsertest.Click(".account form[data-url$='/test'] button"), browsertest.Until(browsertest.Says(".account", "Token works")),

		browsertest.Click(`#nav a[href="/sources"]`), browsertest.Until(browsertest.Says("h1", "Sources")), browsertest.Click("#card-webhooks .primary"), browsertest.Until(browsertest.Says("h1", "Webhooks")),
		browsertest.Until(browsertest.Says("[data-copy] code", s.url+"/webhook/plex/"+s.hook)),

		chromedp.Navigate(s.url+"/"), browsertest.Until(browsertest.Listening), chromedp.Evaluate[chromedp.Void](`window.notReloaded = true`),
	)
	id := s.custom(`{"title":"灯塔守望者","ori_title":"灯台守のうた","season":2,"episode":7,"release_date":"2025-02-19","user_name":"Mira"}`)
	card := fmt.Sprintf(".shelf a[href='/records/%d']", id)
	browsertest.Run(t, tab, browsertest.Until(browsertest.Says(card, "Marked")), browsertest.Until(`window.notReloaded`),
		browsertest.Until(fmt.Sprintf(`document.querySelector("%s img[src='/cover/900002']")?.naturalWidth === 200`, card)),
		browsertest.Click(card), browsertest.Until(browsertest.Says("#record .verdict", "Marked")),
		browsertest.Until(browsertest.Says("#record .story", "Search on Bangumi")), browsertest.Until(browsertest.Says("#record .story", "灯塔守望者 第二季")),
	)
	if !s.marked()["mira/90000207"] {
		t.Errorf("marked is %v", s.marked())
	}
	picture(t, tab, "first-use-trace.png")
	browsertest.Run(t, tab, browsertest.Click("form[data-url$='/retry'] button"),
		browsertest.Until(browsertest.Says("#run", "Finished.")), browsertest.Until(browsertest.Says("#run .log", "record settled")),
		// One line a step for people; what the log holds beside it is folded away, as values and not as Go writes them.
		browsertest.Until(browsertest.Says("#run .log", "not blocked")), browsertest.Until(`!document.querySelector("#run .log").innerText.includes("elapsed_ms")`),
		browsertest.Until(`document.querySelector("#run .log").textContent.includes('"season":2') && !/map\[|0x[0-9a-f]{6}/.test(document.querySelector("#run .log").textContent)`),
		browsertest.Click("#run .log details summary"), browsertest.Until(`document.querySelector("#run .log details[open] pre").checkVisibility()`),
		browsertest.Until(browsertest.Says("#record .verdict", "already watched")),
	)
	picture(t, tab, "retry-log.png")
	browsertest.Run(t, tab, browsertest.Click("details.menu summary"), browsertest.Click("form[data-url$='/api/logout'] button"),
		browsertest.Until(`location.pathname === "/login"`))
	if got := s.do(s.request(http.MethodGet, "/api/records", "", "")); got.status != http.StatusUnauthorized {
		t.Errorf("without a session the API answers %d", got.status)
	}
}

// picture stores the page of the tab where WATCHMARK_SCREENSHOTS says.
func picture(t *testing.T, tab context.Context, name string) {
	t.Helper()
	if dir := os.Getenv("WATCHMARK_SCREENSHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name), browsertest.WholePage(t, tab, 1280), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBrowserRunsWhatFailedAgain(t *testing.T) {
	tab := browsertest.Start(t)
	s := startEmpty(t, "WATCHMARK_AUTH_ENABLED=false")
	var ids []int64
	for n := range 3 {
		ids = append(ids, s.custom(fmt.Sprintf(`{"title":"灯塔守望者","season":2,"episode":%d,"release_date":%q,"user_name":"Mira"}`, n+7, []string{"2025-02-19", "2025-02-26", "2025-03-05"}[n])))
	}
	for _, id := range ids {
		s.settled(id)
	}
	_, err := s.app.Accounts.Create(t.Context(), account.Draft{Username: "mira", Tokens: account.Tokens{Access: miraToken}, Method: account.ByToken, Enabled: true, MediaUserNames: []string{"Mira"}})
	if err != nil {
		t.Fatal(err)
	}
	browsertest.Complaints(t, tab)
	browsertest.Run(t, tab, browsertest.Sized(1280, 900), chromedp.Navigate(s.url+"/records"), browsertest.Until(browsertest.Listening),
		browsertest.Until(`!document.querySelector("form[data-url*='/api/records/retry']")`),
		// Who has an account by now is no user without one: a retry is all that is left to do.
		browsertest.Until(`document.querySelectorAll("#records tbody tr").length === 3 && !document.querySelector(".unrouted")`),
		chromedp.Navigate(fmt.Sprintf("%s/records/%d", s.url, ids[0])), browsertest.Until(browsertest.Listening),
		browsertest.Until(`document.querySelector("form[data-url$='/retry'] button").matches(".primary")`),
		browsertest.Until(browsertest.Says("#record .verdict", "An account lists this user name now.")),
	)
	picture(t, tab, "named-since.png")
	browsertest.Run(t, tab,
		chromedp.Navigate(s.url+"/records?status=error"), browsertest.Until(browsertest.Listening),
		browsertest.Click("form[data-url*='/api/records/retry'] button"), browsertest.Click("dialog button[value=yes]"),
		browsertest.Until(browsertest.Says("#run", "Finished. 3 marked.")),
		browsertest.Until(browsertest.Says("#records", "No record matches this filter")),
	)
	picture(t, tab, "retry-failed.png")
	if len(s.marked()) != 3 {
		t.Errorf("marked is %v", s.marked())
	}
}

// TestBrowserEndsAnOutage: a mark that waits is seen, the catalog is asked, and the mark sent by hand.
func TestBrowserEndsAnOutage(t *testing.T) {
	tab := browsertest.Start(t)
	s := start(t, "WATCHMARK_AUTH_ENABLED=false", "WATCHMARK_CATALOG_REPLAY_ENABLED=false")
	if err := s.list.SetFault(catalogtest.Fault{Mode: catalogtest.Refuse}); err != nil {
		t.Fatal(err)
	}
	id := s.custom(`{"title":"灯塔守望者","season":1,"episode":5,"user_name":"Mira"}`)
	s.become([]int64{id}, "queued")
	browsertest.Complaints(t, tab)
	browsertest.Run(t, tab, browsertest.Sized(1280, 900), chromedp.Navigate(s.url+"/records/queue"), browsertest.Until(browsertest.Listening),
		browsertest.Until(browsertest.Says("#queue .verdict", "Bangumi does not answer")), browsertest.Until(browsertest.Says("#queue .scheduler", "Switched off")), browsertest.Until(browsertest.Says("#queue .waiting", "灯塔守望者")),
		browsertest.Click("form[data-url$='/probe'] button"), browsertest.Until(browsertest.Says("#toasts", "Bangumi still does not answer.")))
	if err := s.list.SetFault(catalogtest.Fault{Mode: catalogtest.None}); err != nil {
		t.Fatal(err)
	}
	browsertest.Run(t, tab, browsertest.Until(`!document.querySelector("form[data-busy]")`), browsertest.Click("form[data-url$='/probe'] button"), browsertest.Until(browsertest.Says("#toasts", "Bangumi answers and takes the token.")),
		// That Bangumi answers is no green light while a mark waits; and nothing is said to go out by itself.
		browsertest.Until(browsertest.Says("#queue .verdict", "Bangumi can be reached, and no mark is lost. Automatic retry is switched off")), browsertest.Until(browsertest.Says("#queue .waiting", "Waits for you")))
	picture(t, tab, "queue-off.png")
	browsertest.Run(t, tab,
		browsertest.Until(`!document.querySelector("form[data-busy]")`), browsertest.Click("#queue-head form button"), browsertest.Until(browsertest.Says("#queue", "Nothing waits")),
		browsertest.Until(browsertest.Says("#queue .verdict", "Bangumi answers")))
	if s.become([]int64{id}, "success"); !s.marked()["mira/90000105"] {
		t.Errorf("marked is %v", s.marked())
	}
}

// TestBrowserBlocksWhatFailed: the title of a failed record is blocked from its page, which shows
// the request that came in, and the run is found again among the tasks.
func TestBrowserBlocksWhatFailed(t *testing.T) {
	tab := browsertest.Start(t)
	s := start(t, "WATCHMARK_AUTH_ENABLED=false")
	id := s.custom(`{"title":"购物频道","season":1,"episode":5,"user_name":"Mira","token":"not-to-be-seen"}`)
	s.become([]int64{id}, "error")
	page := fmt.Sprintf("%s/records/%d", s.url, id)
	if body := s.do(s.request(http.MethodGet, page[len(s.url):], "", "")).body; strings.Contains(body, "not-to-be-seen") || !strings.Contains(body, "&#34;token&#34;: &#34;***&#34;") {
		t.Error("the page of the record lacks the request, or shows its secret")
	}
	browsertest.Complaints(t, tab)
	browsertest.Run(t, tab, browsertest.Sized(1280, 900), chromedp.Navigate(page), browsertest.Until(browsertest.Listening),
		browsertest.Click("form[data-url$='/blocked-keywords'] button"), browsertest.Click("dialog button[value=yes]"),
		browsertest.Until(browsertest.Says("#record .verdict", "Ignored")), browsertest.Until(`!document.querySelector("form[data-url$='/blocked-keywords']")`),
		chromedp.Navigate(s.url+"/settings/tasks"), browsertest.Until(browsertest.Says("#tasks", "Retry of a record")), browsertest.Click("#tasks a.name"),
		browsertest.Until(browsertest.Says(".log", "record settled")))
}
