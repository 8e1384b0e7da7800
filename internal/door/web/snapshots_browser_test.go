package web_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/upkeep/snapshot"
)

// readsLists is a rig with an account.
func readsLists(t *testing.T) *rig {
	t.Helper()
	g := newRig(t)
	if _, err := g.accounts.Create(t.Context(), account.Draft{Username: "mira", Method: account.ByToken, Enabled: true, Tokens: account.Tokens{Access: "by-hand"}}); err != nil {
		t.Fatal(err)
	}
	return g
}

// TestBrowserTicksWhatIsBroughtBack ticks what the preview offers: an entry of which only something would be taken away has one box, which "Tick all" leaves alone.
func TestBrowserTicksWhatIsBroughtBack(t *testing.T) {
	tab := browsertest.Start(t)
	g := readsLists(t)
	from, _ := g.keepLists(t)
	g.answer = func(apiCall) (int, string) { return 202, `{"task_id":7}` }
	g.ran(t, snapshot.PreviewTask, 1, restored(from.ID, true), nil)
	ticked := func(n int) browsertest.Step {
		return browsertest.Until(fmt.Sprintf(`document.querySelector("#restore-preview [data-count]").textContent === "%d"`, n))
	}
	const (
		write = "#restore-preview button.primary"
		held  = `#restore-preview [name=lower][value="900004"]`
	)
	browsertest.Run(t, tab, browsertest.Sized(1280, 844), g.signIn(), chromedp.Navigate(g.server.URL+"/people/1/list"), browsertest.Until(browsertest.Listening), ticked(2),
		browsertest.Click("[data-tick=none]"), ticked(0), browsertest.Until(fmt.Sprintf(`document.querySelector(%q).disabled`, write)),
		browsertest.Click("[data-tick=all]"), ticked(2),
		browsertest.Click(held), ticked(3), browsertest.Click(held), ticked(2), browsertest.Click(held), ticked(3),
		browsertest.Click("[data-tick=none]"), ticked(0), browsertest.Until(fmt.Sprintf(`!document.querySelector('%s').checked`, held)),
		browsertest.Click(held), ticked(1), browsertest.Click(write), browsertest.Until(browsertest.Says("dialog[open]", "Write the ticked entries")),
		browsertest.Click("dialog[open] [value=yes]"), browsertest.Until(`!document.querySelector("dialog[open]")`))
	calls := g.wrote()
	for end := time.Now().Add(30 * time.Second); len(calls) == 0 && time.Now().Before(end); calls = g.wrote() { // the dialog closes first
		<-time.After(10 * time.Millisecond)
	}
	if len(calls) != 1 || calls[0] != (apiCall{http.MethodPost, fmt.Sprintf("/api/snapshots/%d/restore", from.ID), `{"entries":[900004],"lower":[900004]}`}) {
		t.Errorf("it asks for %+v", calls)
	}
}

// TestBrowserTellsTimesOfTheReader opens pages far west of the service: what is chosen there, and the day that a form begins with, are those of the reader.
func TestBrowserTellsTimesOfTheReader(t *testing.T) {
	tab := browsertest.Start(t)
	g := readsLists(t)
	_, to := g.keepLists(t)
	browsertest.Run(t, tab, g.signIn(), browsertest.Send(emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Pacific/Honolulu"}),
		chromedp.Navigate(g.server.URL+"/people/1/list"), browsertest.Until(browsertest.Listening),
		browsertest.Until(fmt.Sprintf(`document.querySelector("#to").selectedOptions[0].text === new Date("%s").toLocaleString("en", { dateStyle: "medium", timeStyle: "medium" })`, to.TakenAt.UTC().Format("2006-01-02T15:04:05Z"))),
		chromedp.Navigate(g.server.URL+"/records/undo"), browsertest.Until(browsertest.Listening),
		browsertest.Until(`new Date(document.querySelector("#since").value).getTime() === new Date().setHours(0, 0, 0, 0)`),
		browsertest.Until(`Math.abs(new Date(document.querySelector("#until").value) - Date.now()) < 120000`))
}

// TestALongComparisonHasPages compares lists of which more has changed than a page shows.
func TestALongComparisonHasPages(t *testing.T) {
	g := readsLists(t)
	for i := range 230 {
		g.list.entries = append(g.list.entries, catalog.Entry{Subject: catalog.SubjectID(1000 + i), SubjectType: catalog.Anime, Type: catalog.Doing, About: catalog.About{Name: fmt.Sprintf("Title %d.", i)}})
	}
	from := g.takeSnapshot(t, 1)
	for i := range g.list.entries {
		e := &g.list.entries[i]
		e.Rate, e.Changed = 7, e.Changed.AddDate(3000, 0, 0)
	}
	to := g.takeSnapshot(t, 1)
	in := g.client(t, true)
	path := fmt.Sprintf("/people/1/list?from=%d&to=%d", from.ID, to.ID)
	for _, page := range []struct {
		row         string
		rows        int
		has, hasNot []string
	}{
		{"", 100, []string{"Title 0.", "Title 99.", "row=100&amp;to=", "Preview all of them", fmt.Sprintf(`value="%d" data-time`, from.ID)}, []string{"Title 100.", "Previous page"}},
		{"&kind=rated&row=100", 100, []string{"Title 100.", "Title 199.", "row=200&amp;to=", "Previous page", "Preview all of them"}, []string{"Title 99.", "Title 200."}},
		{"&row=200", 30, []string{"Title 200.", "Title 229.", "row=100&amp;to="}, []string{"Title 199.", "Next page"}},
		{"&row=9000", 100, []string{"Title 0."}, nil},
		{"&kind=nothing", 100, []string{"Title 0."}, nil},
	} {
		body := g.get(t, in, path+page.row, "en").body
		mustContain(t, body, page.has...)
		for _, text := range page.hasNot {
			if strings.Contains(body, text) {
				t.Errorf("%s has %q", page.row, text)
			}
		}
		if n := strings.Count(body, `name="entries"`); n != page.rows {
			t.Errorf("%s shows %d rows, want %d", page.row, n, page.rows)
		}
	}
	// The history of an entry keeps what is compared, and closing it leads back there.
	mustContain(t, g.get(t, in, path+"&row=100&entry=1100", "en").body, "History of", fmt.Sprintf(`href="/people/1/list?from=%d&amp;row=100&amp;to=%d#changes">Close`, from.ID, to.ID), "Title 101.")
}

// TestAStoppedRestoreSaysHowItGoesOn ends a restore, and taking one back, before all is done.
func TestAStoppedRestoreSaysHowItGoesOn(t *testing.T) {
	g := readsLists(t)
	from, _ := g.keepLists(t)
	in := g.client(t, true)
	g.ran(t, snapshot.RestoreTask, 1, restored(from.ID, false), errors.New("stopped"))
	mustContain(t, g.get(t, in, "/people/1/list", "en").body, "Brought back in part", "at the snapshot again: only what differs is written")
	back := restored(from.ID, false)
	back.Undoes = 41
	g.ran(t, snapshot.UndoTask, 1, back, errors.New("stopped"))
	mustContain(t, g.get(t, in, "/people/1/list", "en").body, "Taken back in part", `data-url="/api/restores/41/undo"`, "Go on taking it back")
	mustContain(t, g.get(t, in, "/settings/tasks", "en").body, `href="/people/1/list"`)
}

// TestBrowserBringsAListIn sends a file that is refused, which says why and no more, and one that is taken: then nothing is left to lose on the page.
func TestBrowserBringsAListIn(t *testing.T) {
	tab := browsertest.Start(t)
	g := readsLists(t)
	g.answer = func(c apiCall) (int, string) {
		if strings.HasPrefix(c.Body, "{") {
			return 202, `{"task_id":7}`
		}
		return 400, `{"status":400,"detail":"The file is not one of here.","reason":{"code":"list_file","text":"the file is not one of here"}}`
	}
	const (
		leaving = `(() => { const leaves = new Event("beforeunload", { cancelable: true }); dispatchEvent(leaves); return leaves.defaultPrevented; })()`
		problem = `[data-upload] .form-error`
	)
	send := func(text string) browsertest.Step {
		return chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{
			const field = document.getElementById("list-file"), files = new DataTransfer();
			files.items.add(new File([%q], "list.json"));
			field.files = files.files;
			field.form.requestSubmit();
		}`, text))
	}
	browsertest.Run(t, tab, g.signIn(), chromedp.Navigate(g.server.URL+"/people/1/list"), browsertest.Until(browsertest.Listening),
		send("broken"), browsertest.Until(fmt.Sprintf(`document.querySelector(%q).innerText.trim() === "The file is not one of here."`, problem)), browsertest.Until(leaving),
		send("{}"), browsertest.Until(`!document.getElementById("run").hidden && document.querySelector("[data-upload] progress").hidden`), browsertest.Until(`!`+leaving))
}

// TestAListSaysThatASnapshotWasNotFinished shows the last reading that failed until a snapshot is taken.
func TestAListSaysThatASnapshotWasNotFinished(t *testing.T) {
	g := readsLists(t)
	in := g.client(t, true)
	const said = "The last snapshot was not finished"
	g.ran(t, snapshot.TaskKind, 1, nil, catalog.ErrRefused)
	mustContain(t, g.get(t, in, "/people/1/list", "en").body, said, "Bangumi refused the request")
	g.keepLists(t)
	if strings.Contains(g.get(t, in, "/people/1/list", "en").body, said) {
		t.Error("it is shown after a snapshot was taken")
	}
}
