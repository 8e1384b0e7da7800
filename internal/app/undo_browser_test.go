package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/testkit/mediaservertest"
)

// TestBrowserUndoesADay: a day is looked at and taken back from the page of the records, an import from the page of its task, by the keyboard
// and on a phone.
func TestBrowserUndoesADay(t *testing.T) {
	tab := browsertest.Start(t)
	s := start(t, "WATCHMARK_AUTH_ENABLED=false")
	remote := mediaservertest.Start(t, library("jellyfin", "a1", "b2"))
	s.plays("alex", 1, 3)
	s.plays("Mira", 4, 5)
	if err := s.list.SetMark("alex", 90000102, catalog.EpisodeDropped); err != nil {
		t.Fatal(err)
	}
	browsertest.Complaints(t, tab)
	fits := browsertest.Until(`document.documentElement.scrollWidth <= innerWidth`)
	browsertest.Run(t, tab, browsertest.Sized(390, 844), chromedp.Navigate(s.url+"/records"), browsertest.Until(browsertest.Listening), fits,
		browsertest.Click(`a[href$="/records/undo"]`), browsertest.Until(`location.pathname === "/records/undo"`), browsertest.Until(browsertest.Listening), fits,
		browsertest.Until(`(document.querySelector("#account").value = [...document.querySelector("#account").options].find((o) => o.text.includes("alex")).value) > 0`),
		chromedp.Focus("#undo-what ~ form button"), chromedp.KeyEvent("\r"), browsertest.Until(browsertest.Says("#run", "nothing was changed")),
		browsertest.Until(browsertest.Says("#undo-result", "Preview: nothing is taken back yet")), browsertest.Until(browsertest.Says("#undo-result", "Taken back: episode 1, 3")),
		browsertest.Until(browsertest.Says("#undo-result", "Stays, changed since: episode 2")), fits)
	picture(t, tab, "undo-preview.png")
	if n := len(s.marked()); n != 5 {
		t.Errorf("the preview left %d marks", n)
	}
	browsertest.Run(t, tab, browsertest.Click(`#undo-result form button`), browsertest.Until(browsertest.Says("dialog[open]", "Take back 2 marks?")),
		browsertest.Click("dialog[open] [value=yes]"), browsertest.Until(browsertest.Says("#undo-result", "What was taken back")), fits)
	for mark := range s.marked() {
		if strings.HasPrefix(mark, "alex/") && mark != "alex/90000102" {
			t.Errorf("%s is still marked", mark)
		}
	}

	var task struct {
		ID int64 `json:"id"`
	}
	s.api(http.MethodPost, "/api/import/run", importBody("jellyfin", remote.URL, "a1"), http.StatusAccepted, &task)
	s.importEnds(task.ID)
	browsertest.Run(t, tab, browsertest.Sized(1280, 900), chromedp.Navigate(s.url+fmt.Sprintf("/settings/tasks/%d", task.ID)), browsertest.Until(browsertest.Listening),
		browsertest.Click(fmt.Sprintf(`a[href$="/records/undo?task=%d"]`, task.ID)), browsertest.Until(`location.search.startsWith("?task=")`), browsertest.Until(browsertest.Listening),
		browsertest.Click("#undo-what ~ form button"), browsertest.Until(browsertest.Says("#undo-result", "Preview: nothing is taken back yet")), browsertest.Until(browsertest.Says("#undo-result", "灯塔守望者")), fits)
	picture(t, tab, "undo-task.png")
	browsertest.Run(t, tab, browsertest.Click(`#undo-result form button`), browsertest.Until(browsertest.Says("dialog[open]", "Take back 6 marks?")),
		browsertest.Click("dialog[open] [value=yes]"), browsertest.Until(browsertest.Says("#undo-result", "What was taken back")), fits)
	if marked := s.marked(); len(marked) != 3 || !marked["mira/90000104"] || !marked["mira/90000105"] {
		t.Errorf("marked are %v", marked)
	}
}
