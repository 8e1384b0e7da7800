package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"watchmark/internal/account"
	"watchmark/internal/match"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

const listening = `document.documentElement.dataset.listening === "yes"`

// says is an expression that is true when the element's text contains words.
func says(selector, words string) string {
	return fmt.Sprintf(`(document.querySelector(%q)?.innerText ?? "").includes(%q)`, selector, words)
}

// typeIn sets a field as typing does.
func typeIn(selector, text string) step {
	return chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{
		const field = document.querySelector(%q);
		field.value = %q;
		field.dispatchEvent(new Event("input", { bubbles: true }));
	}`, selector, text))
}

func click(selector string) step {
	return chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector(%q).click()`, selector))
}

func TestBrowserSignIn(t *testing.T) {
	tab := browser(t)
	g := newRig(t, underPath("/wm"))
	g.answer = func(c apiCall) (int, string) {
		if strings.Contains(c.Body, "wrong") {
			return http.StatusUnauthorized, `{"status":401,"detail":"no"}`
		}
		return http.StatusOK, `{}`
	}
	run(t, tab,
		chromedp.Navigate(g.server.URL+"/wm/accounts"),
		until(`location.pathname === "/wm/login"`),
		typeIn("#name", "mira"), typeIn("#password", "wrong"), click("form[data-api] button"),
		until(says(".form-error", "Name or password is wrong.")),
		typeIn("#password", "right and long"), click("form[data-api] button"),
		until(`location.pathname === "/wm/accounts" && document.readyState === "complete"`),
		until(says("h1", "Accounts")),
	)
	want := []apiCall{{"POST", "/api/login", `{"name":"mira","password":"wrong"}`}, {"POST", "/api/login", `{"name":"mira","password":"right and long"}`}}
	if diff := cmp.Diff(want, g.asked()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestBrowserSeesRecordsComeAndChange(t *testing.T) {
	tab := browser(t)
	g := newRig(t)
	run(t, tab, g.signIn(), chromedp.Navigate(g.server.URL+"/"), until(listening), until(says("main", "Three steps to the first mark")))

	run(t, tab, chromedp.Evaluate[chromedp.Void](`window.notReloaded = true`))
	id := g.insert(t, episode(watch.Plex, "mira", "迷宫饭", "", 1, 12, ""), time.Now())
	g.records.Feed.Publish(id)
	run(t, tab, until(says("#dashboard .records", "迷宫饭")), until(says("#dashboard .records", "Received")), until(`window.notReloaded`))

	run(t, tab, chromedp.Navigate(g.server.URL+fmt.Sprintf("/records/%d", id)), until(listening), until(says("#record", "There is no trace yet")))
	trace := encode(t, match.Trace{Steps: []match.Step{{Name: "api", Status: "hit"}}})
	g.settle(t, record.Outcome{RecordID: id, Status: record.Failed, ErrorKind: record.EpisodeNotFound, Trace: trace})
	g.records.Feed.Publish(id)
	run(t, tab, until(says("#record .verdict h2", "Episode not found")), until(says("#record .story", "Search on Bangumi")), until(says("#nav .badge", "1")))

	g.answer = func(apiCall) (int, string) {
		return http.StatusConflict, `{"status":409,"detail":"The record is being worked on already."}`
	}
	run(t, tab, click("#record form button"), until(says("#toasts .bad", "being worked on already")))
	g.answer = nil
	run(t, tab, click("#record form button"), until(says("#toasts", "On its way again.")))
	if last := g.asked()[1]; last.Path != fmt.Sprintf("/api/records/%d/retry", id) || last.Method != http.MethodPost || last.Body != "" {
		t.Errorf("retry calls %+v", last)
	}
}

func TestBrowserAddsAndDeletesAnAccount(t *testing.T) {
	tab := browser(t)
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
	run(t, tab, g.signIn(), chromedp.Navigate(g.server.URL+"/accounts"), until(listening),
		click("#by-token summary"),
		typeIn("#username-new", "nobody"), typeIn("#token-new", "abc"),
		click("#by-token [data-name]"), until(`document.querySelector("#by-token [data-name]").ariaPressed === "true"`),
		click("#by-token form button.primary"),
		until(says("#by-token .field-error", "the catalog does not know this user")),
		until(`document.activeElement.id === "username-new" && document.activeElement.ariaInvalid === "true"`),
		typeIn("#username-new", "mira"), click("#by-token form button.primary"),
		until(says(".account h2", "mira")), until(says(".account .names", " Mira TV")),
		until(`document.querySelector("#token-new").value === ""`),
	)
	want := `{"username":"mira","access_token":"abc","media_user_names":[" Mira TV"],"enabled":true,"preferred":false,"private":false,"complete_series":false,"complete_films":true}`
	if diff := cmp.Diff(apiCall{"POST", "/api/accounts", want}, g.asked()[1]); diff != "" {
		t.Errorf("adding calls (-want +got):\n%s", diff)
	}

	deleteButton := "form[data-api=DELETE] button"
	run(t, tab, click(deleteButton), until(says("#confirm", "Delete the account mira?")), click("#confirm button[value=no]"), until(`!document.querySelector("#confirm").open`))
	if n := len(g.asked()); n != 2 {
		t.Errorf("saying no makes %d calls", n-2)
	}
	run(t, tab, click(deleteButton), click("#confirm button[value=yes]"), until(says("main", "No account yet")))
	if last := g.asked()[2]; last.Method != http.MethodDelete || last.Path != "/api/accounts/1" {
		t.Errorf("deleting calls %+v", last)
	}
}

// TestBrowserKeepsToThePolicy opens every page and finds what the content policy or the
// script complains about, and pages wider than a phone.
func TestBrowserKeepsToThePolicy(t *testing.T) {
	tab := browser(t)
	g := newRig(t)
	s := g.fill(t)
	if err := chromedp.Listen(tab, func(event any) { complain(t, event) }); err != nil {
		t.Fatal(err)
	}
	run(t, tab, g.signIn(), sized(390, 844))
	for _, path := range []string{"/", "/records", fmt.Sprintf("/records/%d", s.success), fmt.Sprintf("/records/%d", s.hostile), "/accounts",
		"/connect?source=plex", "/connect?source=tautulli", "/connect?source=emby", "/connect?source=jellyfin", "/connect?source=custom", "/nowhere"} {
		run(t, tab, chromedp.Navigate(g.server.URL+path), until(listening))
		over, err := chromedp.Run(tab, chromedp.Evaluate[int](`document.documentElement.scrollWidth - 390`))
		if err != nil {
			t.Fatal(err)
		}
		if over > 0 {
			t.Errorf("%s is %d px wider than a phone", path, over)
		}
	}
}
