package app_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/testkit/catalogtest"
)

// snapshots takes a snapshot of the list of mira.
func (s *service) takesSnapshot() {
	s.t.Helper()
	var started struct {
		TaskID int64 `json:"task_id"`
	}
	s.api(http.MethodPost, "/api/accounts/1/snapshots", "", http.StatusAccepted, &started)
	s.wait("the snapshot", func() bool {
		var now struct{ State string }
		s.api(http.MethodGet, fmt.Sprintf("/api/tasks/%d", started.TaskID), "", http.StatusOK, &now)
		return now.State == "done"
	})
}

// TestBrowserBringsBackWhatWasTicked: from the diff to the preview, to the list, and back.
func TestBrowserBringsBackWhatWasTicked(t *testing.T) {
	tab := browsertest.Start(t)
	s := start(t, "WATCHMARK_AUTH_ENABLED=false")
	entry := func(subject catalog.SubjectID, state catalog.CollectionType, rate int, comment string) {
		t.Helper()
		if err := s.list.Put(catalogtest.Listed{Username: "mira", SubjectID: subject, Type: state, Rate: rate, Comment: comment}); err != nil {
			t.Fatal(err)
		}
	}
	entry(900001, catalog.Done, 9, "good")
	entry(900002, catalog.Doing, 7, "")
	entry(900003, catalog.Doing, 5, "")
	s.takesSnapshot()
	entry(900001, catalog.Doing, 0, "")
	entry(900002, catalog.Doing, 8, "")
	entry(900003, catalog.Doing, 6, "new")
	s.takesSnapshot()
	browsertest.Complaints(t, tab)
	enabled := browsertest.Until(`!document.querySelector("#changes .primary").disabled`)
	browsertest.Run(t, tab, browsertest.Sized(390, 844), chromedp.Navigate(s.url+"/people/1/list?from=1&to=2"), browsertest.Until(browsertest.Listening),
		browsertest.Until(`document.querySelectorAll("#changes input[name=entries]").length === 3`), browsertest.Until(`document.querySelector("#changes .primary").disabled`),
		browsertest.Click("#changes [data-tick=all]"), browsertest.Until(browsertest.Says("#changes [data-count]", "3")), browsertest.Click("#changes [data-tick=none]"),
		browsertest.Until(browsertest.Says("#changes [data-count]", "0")),
		browsertest.Click(`#changes input[value="900001"]`), browsertest.Click(`#changes input[value="900002"]`), enabled, browsertest.Until(`document.documentElement.scrollWidth <= 390`),
		browsertest.Click("#changes .primary"), browsertest.Until(browsertest.Says("#restore-preview", "Rating: – → 9")), browsertest.Until(browsertest.Says("#restore-preview", "the rating would go down from 8 to 7")),
		browsertest.Until(browsertest.Says("#restore-preview", "Nothing appears on the public timeline")), browsertest.Until(`document.documentElement.scrollWidth <= 390`))
	if n := len(s.list.Writes()); n != 0 {
		t.Fatalf("the preview wrote %d times", n)
	}
	browsertest.Run(t, tab, browsertest.Until(`!document.querySelector('#restore-preview input[name=entries][value="900002"]').checked`),
		browsertest.Click(`#restore-preview input[name=lower][value="900002"]`), browsertest.Until(`document.querySelector('#restore-preview input[name=entries][value="900002"]').checked`),
		browsertest.Until(browsertest.Says("#restore-preview [data-count]", "2")),
		browsertest.Click("#restore-preview .primary"), browsertest.Until(browsertest.Says("dialog[open]", "Write the ticked entries")), browsertest.Click("dialog[open] .primary"),
		browsertest.Until(browsertest.Says("#restored", "Brought back")), browsertest.Until(`document.querySelector("#restore-title") === null`))
	now := func() (all [3]catalogtest.Listed) {
		for i, l := range s.list.Listed("mira") {
			all[i] = l
		}
		return all
	}
	if got := now(); got[0].Type != catalog.Done || got[0].Rate != 9 || got[0].Comment != "good" || got[0].Private || got[1].Rate != 7 || got[2].Rate != 6 || s.list.Timeline() != 0 {
		t.Fatalf("%+v, with %d lines", got, s.list.Timeline())
	}
	browsertest.Run(t, tab, browsertest.Click("#restored form button"), browsertest.Until(browsertest.Says("dialog[open]", "what they were before")), browsertest.Click("dialog[open] .primary"),
		browsertest.Until(browsertest.Says("#restored", "Taken back")), browsertest.Until(`document.querySelector("#restored form") === null`))
	if got := now(); got[0].Type != catalog.Doing || got[0].Rate != 0 || got[1].Rate != 8 || got[2].Rate != 6 {
		t.Errorf("taken back: %+v", got)
	}
}
