package web_test

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"watchmark/internal/catalog/account"
	"watchmark/internal/source/importer"
	"watchmark/internal/source/tracker"
	"watchmark/internal/testkit/browsertest"
)

// wrote are the calls that changed something.
func (g *rig) wrote() []apiCall {
	var calls []apiCall
	for _, c := range g.asked() {
		if c.Method != http.MethodGet {
			calls = append(calls, c)
		}
	}
	return calls
}

func mustCall(t *testing.T, g *rig, want ...apiCall) {
	t.Helper()
	if diff := cmp.Diff(want, g.wrote()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestBrowserReadsTheNAS(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	refused := true
	g.answer = func(c apiCall) (int, string) {
		switch {
		case c.Method == http.MethodPatch && refused:
			refused = false
			return 422, `{"status":422,"errors":[{"location":"body.nas.database_path","message":"is not the path of a file"}]}`
		case c.Method == http.MethodPatch:
			g.fillSources(t)
		case len(g.wrote()) == 5: // the first of the range
			return 200, `{"read":300,"known":0,"skipped":0,"reasons":[],"taken":100,"more":true,"record_ids":[1]}`
		}
		return sourceAnswers(c)
	}
	browsertest.Run(t, tab, browsertest.Sized(390, 844), g.signIn(), chromedp.Navigate(g.server.URL+"/sources/nas"), browsertest.Until(browsertest.Listening),
		browsertest.Type("#nas-path", "/nas/"), browsertest.Click("form[data-api=PATCH] button.primary"),
		browsertest.Until(browsertest.Says(".field-error", "is not the path of a file")), browsertest.Until(`document.activeElement.id === "nas-path"`),
		browsertest.Type("#nas-path", "/nas/trimmedia.db"), browsertest.Click("form[data-api=PATCH] button.primary"),
		browsertest.Until(browsertest.Says("#nas .verdict", "Read regularly")),
		browsertest.Click("#nas-scan button"), browsertest.Until(browsertest.Says("#nas-told", "6 new, 4 already known, 20 skipped.")),
		browsertest.Until(`document.querySelector("#nas-told a").getAttribute("href") === "/records?source=nas"`),
		browsertest.Click("#nas-users form button"), browsertest.Until(browsertest.Says("#nas-users", "mira")),
		browsertest.Click("#nas-earlier summary"), chromedp.Evaluate[chromedp.Void](`document.getElementById("earlier-range").value = "1month"`),
		browsertest.Click("#nas-earlier form button"), browsertest.Until(browsertest.Says("#confirm", "The old history is marked")), browsertest.Click("#confirm [value=yes]"),
		browsertest.Until(browsertest.Says("#nas-told", "Press the button again")),
		// What was confirmed goes on without another question; then it is asked anew.
		browsertest.Click("#nas-earlier form button"), browsertest.Until(`!document.getElementById("nas-told").innerText.includes("Press the button again")`),
		browsertest.Click("#nas-earlier form button"), browsertest.Until(`document.getElementById("confirm").open`),
		browsertest.Until(`document.documentElement.scrollWidth <= 390`),
	)
	settings := func(path string) string {
		return `{"nas":{"database_path":"` + path + `","user":"all","min_percent":85,"enabled":true}}`
	}
	mustCall(t, g, apiCall{"PATCH", "/api/settings", settings("/nas/")}, apiCall{"PATCH", "/api/settings", settings("/nas/trimmedia.db")},
		apiCall{"POST", "/api/nas/sync/manual", ""}, apiCall{"POST", "/api/nas/sync/manual", ""},
		apiCall{"POST", "/api/nas/sync/manual", ""}, apiCall{"POST", "/api/nas/sync/manual", ""})
	if diff := cmp.Diff([]string{"user=a1b2c3", "range=1month", "range=1month"}, g.queries); diff != "" {
		t.Errorf("queries (-want +got):\n%s", diff)
	}
}

func TestBrowserScansForBoxes(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.fillSources(t)
	browsertest.Complaints(t, tab)
	scanned := make(chan struct{})
	syncs := 0
	g.answer = func(c apiCall) (int, string) {
		if c.Path == "/api/device/debug/scan" {
			<-scanned
		}
		if c.Path == "/api/device/debug/sync" {
			switch syncs++; syncs {
			case 2:
				return 200, `{"before":` + seenBox + `,"after":` + seenBox + `,"reason":"it is at 41 %, and counts from 80 %","marks":[]}`
			case 3:
				return 200, `{"before":` + seenBox + `,"after":` + seenBox + `,"event":{"title":"灯塔守望者","label":"第6集","outcome":"counted","reason":"","record_ids":[42]},"reason":"",` +
					`"marks":[{"record_id":42,"status":"success","account":"mira","subject_name":"灯塔守望者 第二季","marked_before":false,"marked_after":true,"message":"marked episode 6"}]}`
			}
		}
		return sourceAnswers(c)
	}
	browsertest.Run(t, tab, browsertest.Sized(390, 844), g.signIn(), chromedp.Navigate(g.server.URL+"/sources/device"), browsertest.Until(browsertest.Listening),
		browsertest.Click("#scan button"), browsertest.Until(browsertest.Says("#scan-progress", "up to 20 seconds")), browsertest.Until(`document.querySelector("#scan-progress progress").value > 0`))
	close(scanned)
	browsertest.Run(t, tab, browsertest.Until(browsertest.Says("#device-told", "Boxes that answered: 1. Nothing was marked. There was not enough time")),
		browsertest.Until(browsertest.Says("#device-told", "Read as 灯塔守望者 · season 2 · episode 7 · from the label of the episode (the only number)")),
		browsertest.Until(`document.getElementById("scan-progress").hidden && document.activeElement.id === "device-told"`),
		browsertest.Until(`document.querySelectorAll("#device-told .box").length === 2`), // an address without a player is none
		browsertest.Click("#boxes form button"), browsertest.Until(browsertest.Says("#device-told", "Not counted · 灯塔守望者 · 第6集 · it was jumped to its end")),
		browsertest.Until(browsertest.Says("#device-told", "Before · Mira TV")), browsertest.Until(browsertest.Says("#device-told", "Now · Mira TV")),
		browsertest.Click("#boxes form button"), browsertest.Until(browsertest.Says("#device-told", "Nothing was marked: it is at 41 %, and counts from 80 %.")),
		browsertest.Click("#boxes form button"), browsertest.Until(browsertest.Says("#device-told .box:first-child", "On the list of mira: not marked")),
		browsertest.Until(browsertest.Says("#device-told .box:last-child", "On the list of mira: marked · 灯塔守望者 第二季 · marked episode 6 Record 42")),
		browsertest.Until(`document.querySelector("#device-told a").pathname.endsWith("/records/42")`),
		browsertest.Type("#device-subnets", "10.0.0.0/24\n\n"), browsertest.Click("form[data-api=PATCH] button.primary:not(#scan *)"),
		browsertest.Until(browsertest.Says("#toasts", "Saved.")),
		browsertest.Click("#device-ask button"), browsertest.Until(`!document.getElementById("run").hidden`),
		browsertest.Until(`document.documentElement.scrollWidth <= 390`),
	)
	mustCall(t, g, apiCall{"POST", "/api/device/debug/scan", ""}, apiCall{"POST", "/api/device/debug/sync", `{"uuid":"u-1"}`}, apiCall{"POST", "/api/device/debug/sync", `{"uuid":"u-1"}`}, apiCall{"POST", "/api/device/debug/sync", `{"uuid":"u-1"}`},
		apiCall{"PATCH", "/api/settings", `{"device":{"addresses":["192.168.1.5"],"subnets":["10.0.0.0/24"],"min_percent":80}}`},
		apiCall{"POST", "/api/device/sync/manual", ""})
}

func TestBrowserSignsInAtTheTrackerByMail(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.fillSources(t)
	tries := 0
	g.answer = func(c apiCall) (int, string) {
		if c.Path == "/api/tracker/email-login/complete" {
			switch tries++; tries {
			case 1:
				return 401, `{"status":401,"errors":[{"location":"body.otp","message":"the code is wrong: 4 more may be wrong"}]}`
			case 2:
				g.retryAfter = "45"
				return 401, `{"status":401,"errors":[{"location":"body.otp","message":"too many wrong codes: request a new code"}]}`
			}
			g.retryAfter = ""
		}
		return sourceAnswers(c)
	}
	code := `document.getElementById("mail-code")`
	browsertest.Run(t, tab, browsertest.Sized(390, 844), g.signIn(), chromedp.Navigate(g.server.URL+"/sources/tracker"), browsertest.Until(browsertest.Listening),
		browsertest.Until(code+`.hidden`), browsertest.Type("#mail-email", "mira@home.example"), browsertest.Click("#mail-start button"),
		browsertest.Until(browsertest.Says("#mail-code", "mira@home.example")), browsertest.Until(`document.activeElement.id === "mail-otp"`),
		browsertest.Until(`/works for another 4:5\d\. You can send another mail in 0:5\d\./.test(`+code+`.innerText)`),
		browsertest.Until(`/The code works for another 5 min/.test(`+code+`.querySelector("[role=status]").textContent)`),
		browsertest.Until(`document.querySelector("[data-mail-again]").getAttribute("aria-disabled") === "true"`),
		// A phone may drop the page while the mail is read.
		chromedp.Navigate(g.server.URL+"/sources/tracker"), browsertest.Until(browsertest.Says("#mail-code", "mira@home.example")), browsertest.Until(browsertest.Listening),
		browsertest.Type("#mail-otp", "000000"), browsertest.Click("#mail-code button.primary"),
		browsertest.Until(browsertest.Says("#mail-code .field-error", "4 more may be wrong")), browsertest.Until(`!document.getElementById("mail-otp").disabled`),
		browsertest.Type("#mail-otp", "000001"), browsertest.Click("#mail-code button.primary"),
		browsertest.Until(browsertest.Says("#mail-code .field-error", "request a new code")), browsertest.Until(`document.getElementById("mail-otp").disabled`),
		browsertest.Until(`/The code no longer works\. Send another mail\. You can send another mail in 0:4\d\./.test(`+code+`.innerText)`),
		browsertest.Click("[data-mail-other]"), browsertest.Until(code+`.hidden`),
		browsertest.Type("#mail-email", "mira@home.example"), browsertest.Click("#mail-start button"), browsertest.Until(`!document.getElementById("mail-otp").disabled`),
		browsertest.Type("#mail-otp", "123456"), browsertest.Click("#mail-code button.primary"),
		browsertest.Until(browsertest.Says("#toasts", "Signed in as mira.")), browsertest.Until(code+`.hidden && sessionStorage.length === 0`),
	)
	g.answer = func(apiCall) (int, string) {
		return 502, `{"status":502,"detail":"The tracker does not know this client."}`
	}
	browsertest.Run(t, tab, browsertest.Click("#mail-start button"), browsertest.Until(`document.getElementById("mail-email").validity.valueMissing`),
		browsertest.Type("#mail-email", "mira@home.example"), browsertest.Click("#mail-start button"),
		browsertest.Until(browsertest.Says("#mail-start .form-error", "Trakt did not answer properly. Try again later.")), browsertest.Until(browsertest.Says("#mail-start .form-error", "does not know this client")))
	start := apiCall{"POST", "/api/tracker/email-login/start", `{"email":"mira@home.example"}`}
	complete := func(otp string) apiCall {
		return apiCall{"POST", "/api/tracker/email-login/complete", `{"email":"mira@home.example","otp":"` + otp + `"}`}
	}
	mustCall(t, g, start, complete("000000"), complete("000001"), start, complete("123456"), start)
}

// TestBrowserWaitsForTheNextMail asks for a mail of which a page that is gone had asked just now.
func TestBrowserWaitsForTheNextMail(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.fillSources(t)
	g.retryAfter = "40"
	g.answer = func(apiCall) (int, string) { return 429, `{"status":429,"detail":"a mail was asked for just now"}` }
	browsertest.Run(t, tab, g.signIn(), chromedp.Navigate(g.server.URL+"/sources/tracker"), browsertest.Until(browsertest.Listening),
		browsertest.Type("#mail-email", "mira@home.example"), browsertest.Click("#mail-start button"),
		browsertest.Until(`/works for another 4:(40|3\d)\. You can send another mail in 0:(40|3\d)\./.test(document.getElementById("mail-code").innerText)`))
	// That mail was for another address, or its code is used up: there is no code to enter.
	g.answer = func(apiCall) (int, string) {
		return 429, `{"status":429,"errors":[{"location":"body.email","message":"an e-mail was sent less than a minute ago: request another one in 40 seconds"}]}`
	}
	browsertest.Run(t, tab, browsertest.Click("[data-mail-other]"),
		browsertest.Type("#mail-email", "alex@home.example"), browsertest.Click("#mail-start button"),
		browsertest.Until(browsertest.Says("#mail-start .field-error", "request another one in 40 seconds")), browsertest.Until(`document.getElementById("mail-code").hidden`))
}

func TestBrowserWorksWithTheTracker(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	if _, err := g.accounts.Create(t.Context(), account.Draft{Username: "mira", Method: account.ByToken, Enabled: true, MediaUserNames: []string{"mira"}}); err != nil {
		t.Fatal(err)
	}
	g.fillSources(t)
	browsertest.Complaints(t, tab)
	_, end := g.begin(t, tracker.PreviewTask, tracker.Preview{UserID: 1, Name: "mira", Table: table(), Known: 1})
	g.answer = func(c apiCall) (int, string) {
		if c.Path == "/api/tracker/sync/manual" {
			return 202, `{"task_id":99}`
		}
		return sourceAnswers(c)
	}
	browsertest.Run(t, tab, browsertest.Sized(390, 844), g.signIn(), chromedp.Navigate(g.server.URL+"/sources/tracker"), browsertest.Until(browsertest.Listening),
		// The preview that runs is found again; what it brought is filtered in place.
		browsertest.Until(browsertest.Says("#run", "3 of 12")), browsertest.Until(`!document.querySelector("#forecast table")`))
	end()
	browsertest.Run(t, tab, browsertest.Until(browsertest.Says("#run", "Finished. The table below")), browsertest.Until(browsertest.Says("#forecast", "灯塔守望者 第二季")),
		browsertest.Type("#mail-email", "typed"), browsertest.Click(`#forecast a[href$="status=not_found"]`), browsertest.Until(`!document.getElementById("forecast").innerText.includes("灯塔守望者")`),
		browsertest.Until(browsertest.Says("#forecast", "A Home Video")), browsertest.Until(`location.search === "?status=not_found" && document.getElementById("mail-email").value === "typed"`),
		browsertest.Click("#person-1 .fold summary"), browsertest.Click("#person-1 .fold button.primary"),
		browsertest.Until(`performance.getEntriesByType("resource").some((one) => one.name.endsWith("/sync/manual"))`),
		browsertest.Click("form[data-url$='/device/start'] button"), browsertest.Until(browsertest.Says("#device-code code", "5E1C7D9B")), browsertest.Until(browsertest.Says("#device-code", "9:5")),
		browsertest.Until(`document.querySelector("#device-code a").href === "https://tracker.example/activate" && document.activeElement.id === "device-code"`),
		browsertest.Click("#forecast .after button"), browsertest.Until(browsertest.Says("#confirm", "Mark the whole history?")), browsertest.Click("#confirm [value=yes]"),
		browsertest.Until(`performance.getEntriesByType("resource").filter((one) => one.name.endsWith("/sync/manual")).length === 2`),
		browsertest.Until(browsertest.Says("#person-2 .offer", "No account lists stranger yet")), browsertest.Until(`!document.querySelector("#person-1 .offer")`),
		browsertest.Click("#person-2 .offer button"), browsertest.Until(browsertest.Says("#toasts", "What stranger watches is marked on the list of mira from now on.")),
		browsertest.Click("#person-2 form[data-api=DELETE] button"), browsertest.Until(browsertest.Says("#confirm", "Disconnect stranger")), browsertest.Click("#confirm [value=yes]"),
		browsertest.Until(browsertest.Says("#toasts", "Disconnected here and at Trakt.")),
		browsertest.Until(`document.documentElement.scrollWidth <= 390`),
	)
	mustCall(t, g, apiCall{"POST", "/api/tracker/sync/manual", `{"preview":true,"user_id":1}`}, apiCall{"POST", "/api/tracker/device/start", ""},
		apiCall{"POST", "/api/tracker/sync/manual", `{"full_sync":true,"user_id":1}`}, apiCall{"POST", "/api/accounts/1/media_user_names", `{"name":"stranger"}`}, apiCall{"DELETE", "/api/tracker/credential", ""})
	if diff := cmp.Diff([]string{"user_id=2"}, g.queries); diff != "" {
		t.Errorf("queries (-want +got):\n%s", diff)
	}
}

func TestBrowserImports(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.fill(t)
	first := true
	var end func()
	g.answer = func(c apiCall) (int, string) {
		switch {
		case c.Path == "/api/import/server" && first:
			first = false
			return 422, `{"status":422,"errors":[{"location":"body.token","message":"Jellyfin refuses the token"}]}`
		case c.Path == "/api/import/preview":
			var id int64
			id, end = g.begin(t, importer.PreviewTask, importer.Preview{Server: "home", User: "Mira", Table: table(), Known: 2})
			return 202, `{"id":` + strconv.FormatInt(id, 10) + `}`
		case c.Path == "/api/import/run":
			id, done := g.begin(t, importer.RunTask, importer.Result{Server: "home", User: "Mira", Taken: 7})
			done()
			return 202, `{"id":` + strconv.FormatInt(id, 10) + `}`
		}
		return sourceAnswers(c)
	}
	who := `document.getElementById("import-who")`
	browsertest.Run(t, tab, browsertest.Sized(390, 844), g.signIn(), chromedp.Navigate(g.server.URL+"/sources/import"), browsertest.Until(browsertest.Listening),
		browsertest.Click("[name=source][value=jellyfin]"), browsertest.Until(`document.getElementById("import-url").placeholder.endsWith(":8096")`),
		browsertest.Until(`document.getElementById("import-token-help").innerText.includes("Dashboard → API Keys")`),
		browsertest.Type("#import-url", "http://192.168.1.5:8096"), browsertest.Type("#import-token", "wrong"), browsertest.Click("[data-ask]"),
		browsertest.Until(browsertest.Says("#import .field-error", "Jellyfin refuses the token")), browsertest.Until(who+`.hidden`),
		browsertest.Type("#import-token", "right"), browsertest.Click("[data-ask]"), browsertest.Until(browsertest.Says("#import-who h2", "home")),
		// Who has an account stands first; for others nothing can be imported.
		browsertest.Until(browsertest.Says("#import-user-help", "is marked on the lists of: mira.")),
		chromedp.Evaluate[chromedp.Void](`{ const user = document.getElementById("import-user"); user.value = "u2"; user.dispatchEvent(new Event("input", { bubbles: true })); }`),
		browsertest.Until(browsertest.Says("#import-user-help", "No account has the user name guest")), browsertest.Until(`document.querySelector("[data-preview-go]").disabled`),
		chromedp.Evaluate[chromedp.Void](`{ const user = document.getElementById("import-user"); user.value = "u1"; user.dispatchEvent(new Event("input", { bubbles: true })); }`),
		browsertest.Click("[data-preview-go]"), browsertest.Until(browsertest.Says(".libraries .field-error", "Choose at least one library.")),
		browsertest.Click("[name=libraries]"), browsertest.Click("[data-preview-go]"), browsertest.Until(browsertest.Says("#run", "3 of 12")),
		// The preview is found again after the page was left.
		chromedp.Navigate(g.server.URL+"/sources/import"), browsertest.Until(browsertest.Says("#run", "3 of 12")), browsertest.Until(browsertest.Listening))
	end()
	browsertest.Run(t, tab, browsertest.Until(browsertest.Says("#forecast", "Preview: Mira on home")),
		browsertest.Type("#import-url", "http://192.168.1.5:32400"), browsertest.Type("#import-token", "right"),
		browsertest.Click(`#forecast a[href$="status=review"]`), browsertest.Until(`!document.getElementById("forecast").innerText.includes("A Home Video")`),
		browsertest.Until(`document.getElementById("import-token").value === "right"`),
		browsertest.Click("[data-ask]"), browsertest.Until(`!`+who+`.hidden`), browsertest.Click("[name=libraries][value='4']"),
		browsertest.Click("[data-run-go]"), browsertest.Until(browsertest.Says("#confirm", "Import what this user has watched")), browsertest.Click("#confirm [value=yes]"),
		browsertest.Until(browsertest.Says("#imported", "Imported: Mira on home")), browsertest.Until(browsertest.Says("#imported", "7 imported.")),
		// The table told what is done now.
		browsertest.Until(`!document.querySelector("#forecast table")`),
		browsertest.Until(`document.documentElement.scrollWidth <= 390`),
	)
	ask := func(source, url, token string) apiCall {
		return apiCall{"POST", "/api/import/server", `{"source":"` + source + `","url":"` + url + `","token":"` + token + `"}`}
	}
	mustCall(t, g, ask("jellyfin", "http://192.168.1.5:8096", "wrong"), ask("jellyfin", "http://192.168.1.5:8096", "right"),
		apiCall{"POST", "/api/import/preview", `{"source":"jellyfin","url":"http://192.168.1.5:8096","token":"right","user":"u1","libraries":["3"]}`},
		ask("plex", "http://192.168.1.5:32400", "right"),
		apiCall{"POST", "/api/import/run", `{"source":"plex","url":"http://192.168.1.5:32400","token":"right","user":"u1","libraries":["4"]}`})
}
