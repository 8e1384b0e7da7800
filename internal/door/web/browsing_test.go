package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"watchmark/internal/catalog/account"
	"watchmark/internal/catalog/archive"
	"watchmark/internal/match"
	"watchmark/internal/record"
	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/watch"
)

func TestBrowserSignIn(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t, underPath("/wm"))
	g.answer = func(c apiCall) (int, string) {
		if strings.Contains(c.Body, "wrong") {
			return http.StatusUnauthorized, `{"status":401,"detail":"no"}`
		}
		return http.StatusOK, `{}`
	}
	browsertest.Run(t, tab,
		chromedp.Navigate(g.server.URL+"/wm/accounts"),
		browsertest.Until(`location.pathname === "/wm/login"`),
		browsertest.Type("#name", "mira"), browsertest.Type("#password", "wrong"), browsertest.Click("form[data-api] button"),
		browsertest.Until(browsertest.Says(".form-error", "Name or password is wrong.")),
		browsertest.Type("#password", "right and long"), browsertest.Click("form[data-api] button"),
		browsertest.Until(`location.pathname === "/wm/people" && document.readyState === "complete"`),
		browsertest.Until(browsertest.Says("h1", "Accounts")),
	)
	want := []apiCall{{"POST", "/api/login", `{"name":"mira","password":"wrong"}`}, {"POST", "/api/login", `{"name":"mira","password":"right and long"}`}}
	if diff := cmp.Diff(want, g.asked()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestBrowserSeesRecordsComeAndChange(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	browsertest.Run(t, tab, g.signIn(), chromedp.Navigate(g.server.URL+"/"), browsertest.Until(browsertest.Listening), browsertest.Until(browsertest.Says("main", "Three steps to the first mark")))

	browsertest.Run(t, tab, chromedp.Evaluate[chromedp.Void](`window.notReloaded = true`))
	id := g.insert(t, episode(watch.Plex, "mira", "迷宫饭", "", 1, 12, ""), time.Now())
	g.records.Feed.Publish(id)
	browsertest.Run(t, tab, browsertest.Until(browsertest.Says("#dashboard .shelf", "迷宫饭")), browsertest.Until(browsertest.Says("#dashboard .shelf", "Received")), browsertest.Until(`window.notReloaded`))

	browsertest.Run(t, tab, chromedp.Navigate(g.server.URL+fmt.Sprintf("/records/%d", id)), browsertest.Until(browsertest.Listening), browsertest.Until(browsertest.Says("#record", "There are no steps yet")))
	trace := encode(t, match.Trace{Steps: []match.Step{{Name: "api", Status: "hit"}}})
	g.settle(t, record.Outcome{RecordID: id, Status: record.Failed, ErrorKind: record.EpisodeNotFound, Trace: trace})
	g.records.Feed.Publish(id)
	browsertest.Run(t, tab, browsertest.Until(browsertest.Says("#record .verdict h2", "Episode not found")), browsertest.Until(browsertest.Says("#record .story", "Search on Bangumi")), browsertest.Until(browsertest.Says("#nav .badge", "1")))

	g.answer = func(apiCall) (int, string) {
		return http.StatusConflict, `{"status":409,"detail":"The record is being worked on already."}`
	}
	browsertest.Run(t, tab, browsertest.Click("#record-head form button"), browsertest.Until(browsertest.Says("#toasts .bad", "being worked on already")))
	g.answer = nil
	browsertest.Run(t, tab, browsertest.Click("#record-head form button"), browsertest.Until(browsertest.Says("#toasts", "Retrying.")))
	if last := g.asked()[1]; last.Path != fmt.Sprintf("/api/records/%d/retry", id) || last.Method != http.MethodPost || last.Body != "" {
		t.Errorf("retry calls %+v", last)
	}
}

func TestBrowserFilters(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.fill(t)
	browsertest.Run(t, tab, g.signIn(), chromedp.Navigate(g.server.URL+"/records"), browsertest.Until(browsertest.Listening),
		chromedp.Evaluate[chromedp.Void](`{
			const field = document.querySelector("#status");
			field.value = "error";
			field.dispatchEvent(new Event("change", { bubbles: true }));
		}`),
		browsertest.Until(`location.search === "?status=error" && document.readyState === "complete"`),
		browsertest.Until(`[...document.querySelectorAll("#records .is")].every((e) => e.innerText.includes("Failed"))`),
	)
}

func TestBrowserAddsAndDeletesAnAccount(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.insert(t, episode(watch.Plex, " Mira TV", "迷宫饭", "", 1, 1, ""), time.Now())
	g.answer = func(c apiCall) (int, string) {
		switch {
		case strings.Contains(c.Body, `"username":"nobody"`):
			return http.StatusUnprocessableEntity, `{"status":422,"errors":[{"location":"body.username","message":"the catalog does not know this user"}]}`
		case c.Method == http.MethodPost:
			g.addAccount(t, account.Draft{Username: "mira", Method: account.ByToken, Tokens: token("x"), MediaUserNames: []string{" Mira TV"}, Enabled: true})
		case c.Method == http.MethodDelete:
			if err := g.accounts.Delete(t.Context(), 1); err != nil {
				t.Error(err)
			}
		}
		return http.StatusOK, `{}`
	}
	browsertest.Run(t, tab, g.signIn(), chromedp.Navigate(g.server.URL+"/people"), browsertest.Until(browsertest.Listening),
		browsertest.Click("#by-token summary"),
		browsertest.Type("#username-new", "nobody"), browsertest.Type("#token-new", "abc"),
		browsertest.Click("#by-token [data-name]"), browsertest.Until(`document.querySelector("#by-token [data-name]").ariaPressed === "true"`),
		browsertest.Click("#by-token form button.primary"),
		browsertest.Until(browsertest.Says("#by-token .field-error", "the catalog does not know this user")),
		browsertest.Until(`document.activeElement.id === "username-new" && document.activeElement.ariaInvalid === "true"`),
		browsertest.Type("#username-new", "mira"), browsertest.Click("#by-token form button.primary"),
		browsertest.Until(browsertest.Says(".account h2", "mira")), browsertest.Until(browsertest.Says(".account .names", " Mira TV")),
		browsertest.Until(`document.querySelector("#token-new").value === ""`),
	)
	want := `{"username":"mira","access_token":"abc","media_user_names":[" Mira TV"],"enabled":true,"preferred":false,"private":false,"complete_series":false,"complete_films":true,"dry_run":false,"adult":"","unwatched":"","rewatch":""}`
	if diff := cmp.Diff(apiCall{"POST", "/api/accounts", want}, g.asked()[1]); diff != "" {
		t.Errorf("adding calls (-want +got):\n%s", diff)
	}

	deleteButton := "form[data-api=DELETE] button"
	browsertest.Run(t, tab, browsertest.Click(deleteButton), browsertest.Until(browsertest.Says("#confirm", "Delete the account mira?")), browsertest.Click("#confirm button[value=no]"), browsertest.Until(`!document.querySelector("#confirm").open`))
	if n := len(g.asked()); n != 2 {
		t.Errorf("saying no makes %d calls", n-2)
	}
	browsertest.Run(t, tab, browsertest.Click(deleteButton), browsertest.Click("#confirm button[value=yes]"), browsertest.Until(browsertest.Says("main", "No account yet")))
	if last := g.asked()[2]; last.Method != http.MethodDelete || last.Path != "/api/accounts/1" {
		t.Errorf("deleting calls %+v", last)
	}
}

func TestBrowserTellsWhoseTokenItIs(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.answer = func(apiCall) (int, string) { return http.StatusCreated, `{"username":"alex"}` }
	browsertest.Run(t, tab, g.signIn(), chromedp.Navigate(g.server.URL+"/people"), browsertest.Until(browsertest.Listening),
		browsertest.Type("#username-new", "mira"), browsertest.Type("#token-new", "abc"), browsertest.Click("#by-token form button.primary"),
		browsertest.Until(browsertest.Says("#toasts", "the token belongs to alex and not to mira")))
}

func TestBrowserEmptiesTheFormOfWhatWasAdded(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	browsertest.Run(t, tab, g.signIn(), chromedp.Navigate(g.server.URL+"/people/household"), browsertest.Until(browsertest.Listening),
		browsertest.Type("#name", "mira"), browsertest.Click(".add button.primary"), browsertest.Until(`document.querySelector("#name").value === ""`))
}

func TestBrowserChoosesByFiguresFromTheStart(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.fill(t)
	browsertest.Run(t, tab, g.signIn(), chromedp.Navigate(g.server.URL+"/review"), browsertest.Until(browsertest.Listening),
		chromedp.KeyEvent("1"), browsertest.Until(`document.activeElement === document.querySelector("#review .question .choice button")`))
}

// TestBrowserShowsTheMenuAboveThePage: covers beside it are positioned, and come later.
func TestBrowserShowsTheMenuAboveThePage(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	for range 12 {
		g.insert(t, episode(watch.Plex, "mira", "迷宫饭", "", 1, 12, ""), time.Now())
	}
	browsertest.Run(t, tab, g.signIn(), browsertest.Sized(1280, 844), chromedp.Navigate(g.server.URL+"/records"), browsertest.Until(browsertest.Listening), browsertest.Click("details.menu summary"))
	hidden, err := chromedp.Run(tab, chromedp.Evaluate[[]string](`(() => {
		const menu = document.querySelector(".menu-body"), { left, right, top, bottom } = menu.getBoundingClientRect(), hidden = [];
		for (let x = left + 4; x < right; x += 12) for (let y = top + 4; y < bottom; y += 12) {
			const there = document.elementFromPoint(x, y);
			if (!menu.contains(there)) hidden.push(there.outerHTML.slice(0, 80));
		}
		return hidden;
	})()`))
	if err != nil {
		t.Fatal(err)
	}
	if len(hidden) > 0 {
		t.Errorf("the menu lies below %q", hidden[0])
	}
}

// TestBrowserRefreshesAroundAForm renews a page with a form that is half filled in; a chosen file no script may put back.
func TestBrowserRefreshesAroundAForm(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.archive = archive.Status{Enabled: true}
	g.answer = func(c apiCall) (int, string) {
		g.archive.Enabled = c.Method != http.MethodPatch
		return http.StatusOK, `{}`
	}
	browsertest.Complaints(t, tab)
	browsertest.Run(t, tab, g.signIn(), chromedp.Navigate(g.server.URL+"/titles/archive"), browsertest.Until(browsertest.Listening),
		chromedp.Evaluate[chromedp.Void](`{
			const chosen = new DataTransfer();
			chosen.items.add(new File(["dump"], "dump.zip"));
			document.getElementById("dump").files = chosen.files;
			window.ticked = document.getElementById("smaller");
			window.ticked.checked = true;
		}`),
		browsertest.Click("#archive form button"), browsertest.Until(browsertest.Says("#archive", "Switched off")), browsertest.Until(`!document.querySelector("#archive-update form")`),
		browsertest.Until(`document.getElementById("smaller") !== window.ticked`), browsertest.Until(`document.getElementById("smaller").checked`),
	)
}

func TestBrowserCorrectsAWrongMark(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	s := g.fill(t)
	path := fmt.Sprintf("/api/records/%d", s.success)
	g.answer = func(c apiCall) (int, string) {
		switch c.Path {
		case path + "/correction":
			return 200, `{"marks":[{"account_id":1,"subject_id":400602,"episode_id":1227112,"completed":false}],"others":3,"others_marked":2,"same":false,
				"leads":{"status":"matched","subject_id":265,"subject_name":"灯塔守望者","episode_id":1,"episode_sort":14,"episode_name":"第七夜","reason":"because"}}`
		case "/api/subjects":
			return 200, `{"items":[{"id":265,"name":"灯台守のうた","name_cn":"灯塔守望者","date":"2024-01-10","platform":"TV","eps":12,"type":2}],"next_cursor":""}`
		case path + "/correct":
			return 202, fmt.Sprintf(`{"record_ids":[%d],"task_id":7}`, s.success)
		}
		return 200, "{}"
	}
	browsertest.Run(t, tab, browsertest.Sized(390, 844), g.signIn(), chromedp.Navigate(g.server.URL+fmt.Sprintf("/records/%d", s.success)),
		browsertest.Until(browsertest.Listening), browsertest.Until(`document.getElementById("correct").hidden`),
		browsertest.Until(browsertest.Says("#record .mark", "made by this record")),
		browsertest.Click("#record-head [data-opens]"), browsertest.Type("#correct-subject", "灯塔"),
		chromedp.KeyEvent(kb.Enter), browsertest.Until(browsertest.Says("#correct-subject-found", "灯台守のうた · TV · 2024-01-10 · #265")),
		chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter),
		browsertest.Until(browsertest.Says("#correct-subject-found", "Chosen")), browsertest.Until(`document.getElementById("correct-subject").value === "265"`),
		browsertest.Until(browsertest.Says("#correct .preview", "Leads to 灯塔守望者")),
		browsertest.Type("#correct-subject", "https://catalog.example/subject/265?x=1"), browsertest.Until(`!document.querySelector("#correct-subject-found").childElementCount`),
		browsertest.Type("#correct-offset", "-12"),
		browsertest.Click("[data-check]"), browsertest.Until(browsertest.Says("#correct .preview", "Leads to 灯塔守望者 · episode 14 第七夜.")),
		browsertest.Until(browsertest.Says("#correct .preview", "3 (2 of them marked)")), browsertest.Until(`document.documentElement.scrollWidth <= 390`),
		browsertest.Click("#correct [name=all_of_title]"), browsertest.Until(`document.querySelector("#correct .preview").hidden`),
		browsertest.Click("#correct button.primary"), browsertest.Until(`!document.getElementById("run").hidden && document.getElementById("correct").hidden`),
		browsertest.Click("form[data-url$='/unmark'] button"), browsertest.Until(`document.getElementById("confirm").open`), browsertest.Click("#confirm [value=yes]"),
		browsertest.Until(browsertest.Says("#toasts", "The mark is taken back.")),
	)
	var wrote []apiCall
	for _, c := range g.asked() {
		if c.Method == http.MethodPost {
			wrote = append(wrote, c)
		}
	}
	want := []apiCall{
		{"POST", path + "/correct", `{"subject_id":265,"episode_offset":-12,"unmark":true,"mark":true,"all_of_title":true,"every_season":false}`},
		{"POST", path + "/unmark", ""},
	}
	if diff := cmp.Diff(want, wrote); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}
