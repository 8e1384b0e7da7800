package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/testkit/catalogtest"
)

// seasonInstead leads season 1 of the sample's series to its season 2.
const seasonInstead = `{"title":"灯塔守望者","season":1,"subject_id":900002}`

// wrongly marks two episodes of season 1 in season 2.
func (s *service) wrongly() []int64 {
	s.t.Helper()
	s.api(http.MethodPost, "/api/mappings", seasonInstead, http.StatusCreated, nil)
	var ids []int64
	for _, number := range []int{2, 3} {
		id := s.custom(fmt.Sprintf(`{"title":"灯塔守望者","season":1,"episode":%d,"user_name":"Mira"}`, number))
		if r := s.settled(id); r.Status != "success" || r.SubjectID != 900002 {
			s.t.Fatalf("the record is %+v", r)
		}
		ids = append(ids, id)
	}
	return ids
}

func TestAWrongMarkIsCorrected(t *testing.T) {
	t.Parallel()
	s := start(t)
	ids := s.wrongly()
	wrong := map[string]bool{"mira/90000202": true, "mira/90000203": true}
	if diff := cmp.Diff(wrong, s.marked()); diff != "" {
		t.Fatalf("marks (-want +got):\n%s", diff)
	}
	path := fmt.Sprintf("/api/records/%d", ids[0])
	var preview struct {
		Leads struct {
			SubjectID int `json:"subject_id"`
			EpisodeID int `json:"episode_id"`
		} `json:"leads"`
		Others       int `json:"others"`
		OthersMarked int `json:"others_marked"`
	}
	s.api(http.MethodGet, path+"/correction?subject_id=900001", "", http.StatusOK, &preview)
	if preview.Leads.SubjectID != 900001 || preview.Leads.EpisodeID != 90000102 || preview.Others != 1 || preview.OthersMarked != 1 {
		t.Errorf("the preview is %+v", preview)
	}
	if err := s.list.SetFault(catalogtest.Fault{Mode: catalogtest.Status, Status: http.StatusInternalServerError, Paths: catalogtest.Writes}); err != nil {
		t.Fatal(err)
	}
	if got := s.correct(ids[0]); !strings.Contains(got, `"state":"failed"`) || !strings.Contains(got, "could not be taken back and stay as they were") {
		t.Errorf("while the catalog fails the task is %s", got)
	}
	if r := s.settled(ids[0]); r.Status != "success" || r.SubjectID != 900002 {
		t.Errorf("the record is %+v", r)
	}
	if err := s.list.SetFault(catalogtest.Fault{Mode: catalogtest.None}); err != nil {
		t.Fatal(err)
	}
	s.api(http.MethodPost, "/api/catalog_replay/probe", "", http.StatusOK, nil)
	if got := s.correct(ids[0]); !strings.Contains(got, `"state":"done"`) {
		t.Errorf("the task is %s", got)
	}
	if diff := cmp.Diff(map[string]bool{"mira/90000102": true, "mira/90000103": true}, s.marked()); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
	for _, id := range ids {
		if r := s.settled(id); r.Status != "success" || r.SubjectID != 900001 {
			t.Errorf("the record is %+v", r)
		}
		s.explained(id)
	}
	s.undoesTheCorrection(ids)
	s.api(http.MethodPost, path+"/unmark", "", http.StatusOK, nil)
	if diff := cmp.Diff(map[string]bool{"mira/90000203": true}, s.marked()); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
	s.api(http.MethodPost, path+"/unmark", "", http.StatusConflict, nil)
}

// undoesTheCorrection takes back the correction of the first of some records, and all of their title, which went on after it failed.
func (s *service) undoesTheCorrection(ids []int64) {
	s.t.Helper()
	path := fmt.Sprintf("/api/records/%d/correction", ids[0])
	var preview struct {
		Corrected bool `json:"corrected"`
	}
	if s.api(http.MethodGet, path, "", http.StatusOK, &preview); !preview.Corrected {
		s.t.Error("there is nothing to undo")
	}
	if err := s.list.SetFault(catalogtest.Fault{Mode: catalogtest.Status, Status: http.StatusInternalServerError, Paths: catalogtest.Writes}); err != nil {
		s.t.Fatal(err)
	}
	s.api(http.MethodPost, path+"/undo", "", http.StatusServiceUnavailable, nil)
	if diff := cmp.Diff(map[string]bool{"mira/90000102": true, "mira/90000103": true}, s.marked()); diff != "" {
		s.t.Errorf("while the catalog fails the marks are (-want +got):\n%s", diff)
	}
	if err := s.list.SetFault(catalogtest.Fault{Mode: catalogtest.None}); err != nil {
		s.t.Fatal(err)
	}
	s.api(http.MethodPost, "/api/catalog_replay/probe", "", http.StatusOK, nil)
	var undone struct {
		RecordIDs []int64 `json:"record_ids"`
		Unmarked  []int64 `json:"unmarked_record_ids"`
		Kept      bool    `json:"rule_kept"`
		TaskID    int64   `json:"task_id"`
	}
	s.api(http.MethodPost, path+"/undo", "", http.StatusAccepted, &undone)
	if diff := cmp.Diff(ids, undone.RecordIDs); diff != "" || len(undone.Unmarked) != 2 || undone.Kept {
		s.t.Errorf("undone is %+v (-want +got):\n%s", undone, diff)
	}
	if got := s.taskEnds(undone.TaskID).body; !strings.Contains(got, `"state":"done"`) {
		s.t.Errorf("the task is %s", got)
	}
	for _, id := range ids {
		if r := s.settled(id); r.Status != "success" || r.SubjectID != 900002 {
			s.t.Errorf("the record is %+v", r)
		}
	}
	if diff := cmp.Diff(map[string]bool{"mira/90000202": true, "mira/90000203": true}, s.marked()); diff != "" {
		s.t.Errorf("marks (-want +got):\n%s", diff)
	}
	var mappings struct {
		Items []struct {
			SubjectID int `json:"subject_id"`
		} `json:"items"`
	}
	if s.api(http.MethodGet, "/api/mappings", "", http.StatusOK, &mappings); len(mappings.Items) != 1 || mappings.Items[0].SubjectID != 900002 {
		s.t.Errorf("the mappings are %+v", mappings)
	}
	s.api(http.MethodPost, path+"/undo", "", http.StatusConflict, nil)
}

// correct leads a record, and all of its title, to season 1 and waits until that is done. It answers the task.
func (s *service) correct(id int64) string {
	s.t.Helper()
	var started struct {
		TaskID int64 `json:"task_id"`
	}
	s.api(http.MethodPost, fmt.Sprintf("/api/records/%d/correct", id), `{"subject_id":900001,"all_of_title":true}`, http.StatusAccepted, &started)
	return s.taskEnds(started.TaskID).body
}

func TestADryRunLooksAndDoesNotMark(t *testing.T) {
	s := start(t)
	s.api(http.MethodPatch, "/api/accounts/1", `{"dry_run":true}`, http.StatusOK, nil)
	id := s.custom(`{"title":"灯塔守望者","season":1,"episode":2,"user_name":"Mira"}`)
	if r := s.settled(id); r.Status != "ignored" || r.EpisodeID != 90000102 || !strings.HasPrefix(r.Message, "dry run: 灯塔守望者 episode 2 would have been marked for mira") {
		t.Errorf("the record is %+v", r)
	}
	s.explained(id)
	if len(s.list.Writes()) != 0 {
		t.Errorf("written was %v", s.list.Writes())
	}
	s.api(http.MethodPatch, "/api/accounts/1", `{"dry_run":false}`, http.StatusOK, nil)
	s.api(http.MethodPost, fmt.Sprintf("/api/records/%d/retry", id), "", http.StatusAccepted, nil)
	s.until(id, func(r recordView) bool { return r.Status == "success" })
	if diff := cmp.Diff(map[string]bool{"mira/90000102": true}, s.marked()); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
}

func TestBrowserCorrects(t *testing.T) {
	tab := browsertest.Start(t)
	s := start(t, "WATCHMARK_AUTH_ENABLED=false")
	browsertest.Complaints(t, tab)
	ids := s.wrongly()
	browsertest.Run(t, tab, browsertest.Sized(1280, 900), chromedp.Navigate(fmt.Sprintf("%s/records/%d", s.url, ids[0])), browsertest.Until(browsertest.Listening),
		browsertest.Click("#record-head [data-opens]"), browsertest.Type("#correct-subject", s.url+"/subject/900001"),
		browsertest.Click("[data-check]"), browsertest.Until(browsertest.Says("#correct .preview", "Leads to 灯塔守望者 · episode 2")))
	picture(t, tab, "correct-preview.png")
	browsertest.Run(t, tab, browsertest.Click("#correct [name=all_of_title]"), browsertest.Click("#correct button.primary"),
		browsertest.Until(browsertest.Says("#run", "Finished. Marks taken back: 2.")),
		browsertest.Until(browsertest.Says("#record .story", "Correction")), browsertest.Until(browsertest.Says("#record", "#900001")))
	picture(t, tab, "correct-done.png")
	if diff := cmp.Diff(map[string]bool{"mira/90000102": true, "mira/90000103": true}, s.marked()); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
	browsertest.Run(t, tab, browsertest.Click("form[data-url$='/correction/undo'] button"), browsertest.Until(`document.getElementById("confirm").open`),
		browsertest.Click("#confirm [value=yes]"), browsertest.Until(browsertest.Says("#toasts", "Correction undone.")),
		browsertest.Until(browsertest.Says("#record", "#900002")), browsertest.Until(`!document.querySelector("form[data-url$='/correction/undo']")`))
	if diff := cmp.Diff(map[string]bool{"mira/90000202": true, "mira/90000203": true}, s.marked()); diff != "" {
		t.Errorf("marks after the undo (-want +got):\n%s", diff)
	}
	browsertest.Run(t, tab, browsertest.Click("form[data-url$='/unmark'] button"), browsertest.Until(`document.getElementById("confirm").open`),
		browsertest.Click("#confirm [value=yes]"), browsertest.Until(browsertest.Says("#record .verdict", "taken back by hand")))
}
