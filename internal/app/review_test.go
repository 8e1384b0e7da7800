package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/testkit/catalogtest"
)

// teahouse is an event of a title that two shows of the sample share, without a date.
func teahouse(episode int) string {
	return fmt.Sprintf(`{"title":"Moonshade Teahouse","season":1,"episode":%d,"user_name":"Mira"}`, episode)
}

// question is what the tests look at of a question.
type question struct {
	ID         int64 `json:"id"`
	Waiting    int   `json:"waiting"`
	Candidates []struct {
		SubjectID int `json:"subject_id"`
	} `json:"candidates"`
}

// questions are those that wait.
func (s *service) questions() []question {
	s.t.Helper()
	var page struct {
		Items []question `json:"items"`
	}
	s.api(http.MethodGet, "/api/pending-candidates", "", http.StatusOK, &page)
	return page.Items
}

// become waits until the records have the states, in order.
func (s *service) become(ids []int64, status string) {
	s.t.Helper()
	for _, id := range ids {
		s.until(id, func(r recordView) bool { return r.Status == status })
	}
}

func TestATitleIsAskedOnceAndThenMarked(t *testing.T) {
	s := start(t)
	ids := []int64{s.custom(teahouse(1)), s.custom(teahouse(2))}
	s.become(ids, "review")
	open := s.questions()
	if len(open) != 1 || open[0].Waiting != 2 || len(open[0].Candidates) < 2 || len(s.marked()) != 0 {
		t.Fatalf("questions are %+v, marked is %v", open, s.marked())
	}
	path := fmt.Sprintf("/api/pending-candidates/%d", open[0].ID)
	s.api(http.MethodPost, path+"/confirm", `{"subject_id":900777}`, http.StatusUnprocessableEntity, nil)
	s.api(http.MethodPost, path+"/confirm", `{"subject_id":900014}`, http.StatusAccepted, nil)
	s.become(ids, "success")
	s.become([]int64{s.custom(teahouse(3))}, "success")
	want := map[string]bool{"mira/90001401": true, "mira/90001402": true, "mira/90001403": true}
	if diff := cmp.Diff(want, s.marked()); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
	if open := s.questions(); len(open) != 0 {
		t.Errorf("it is asked again: %+v", open)
	}

}

func TestUndoTakesTheMarksBack(t *testing.T) {
	t.Parallel()
	s := start(t)
	ids := []int64{s.custom(teahouse(1)), s.custom(teahouse(2))}
	s.become(ids, "review")
	path := fmt.Sprintf("/api/pending-candidates/%d", s.questions()[0].ID)
	s.api(http.MethodPost, path+"/confirm", `{"subject_id":900014}`, http.StatusAccepted, nil)
	s.become(ids, "success")
	ids = append(ids, s.custom(teahouse(3)))
	s.become(ids, "success")

	marked := s.marked()
	if err := s.list.SetFault(catalogtest.Fault{Mode: catalogtest.Status, Status: http.StatusInternalServerError, Paths: catalogtest.Writes}); err != nil {
		t.Fatal(err)
	}
	if refused := s.api(http.MethodPost, path+"/undo", "", http.StatusServiceUnavailable, nil); !strings.Contains(refused.body, "The answer stays") {
		t.Errorf("undo answers %s", refused.body)
	}
	if diff := cmp.Diff(marked, s.marked()); diff != "" || len(marked) != 3 {
		t.Errorf("an undo that was refused touches the list (-want +got):\n%s", diff)
	}
	s.become(ids, "success")
	s.api(http.MethodGet, path, "", http.StatusOK, nil)
	if got := s.api(http.MethodGet, "/api/mappings", "", http.StatusOK, nil); !strings.Contains(got.body, `"subject_id":900014`) {
		t.Errorf("the mappings are %s", got.body)
	}

	if err := s.list.SetFault(catalogtest.Fault{Mode: catalogtest.None}); err != nil {
		t.Fatal(err)
	}
	s.api(http.MethodPost, "/api/catalog_replay/probe", "", http.StatusOK, nil)
	undone := s.api(http.MethodPost, path+"/undo", "", http.StatusAccepted, nil)
	if want := fmt.Sprintf(`"unmarked_record_ids":[%d,%d,%d]`, ids[0], ids[1], ids[2]); !strings.Contains(undone.body, want) {
		t.Errorf("undo answers %s", undone.body)
	}
	s.become(ids, "review")
	if open := s.questions(); len(open) != 1 || open[0].Waiting != 3 {
		t.Errorf("after undo the questions are %+v", open)
	}
	if left := s.marked(); len(left) != 0 {
		t.Errorf("still marked is %v", left)
	}
}

// TestAFilmIsAnsweredAsNoFilm: the answer holds for the film, and for nothing else of its title.
func TestAFilmIsAnsweredAsNoFilm(t *testing.T) {
	s := start(t)
	film := `{"title":"Moonshade Teahouse","media_type":"movie","user_name":"Mira"}`
	ids := []int64{s.custom(film)}
	s.become(ids, "review")
	path := fmt.Sprintf("/api/pending-candidates/%d", s.questions()[0].ID)
	s.api(http.MethodPost, path+"/confirm", `{"subject_id":900014}`, http.StatusAccepted, nil)
	ids = append(ids, s.custom(film))
	s.become(ids, "success")
	s.become([]int64{s.custom(teahouse(2))}, "review")
	if diff := cmp.Diff(map[string]bool{"mira/90001401": true}, s.marked()); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
	s.api(http.MethodPost, path+"/undo", "", http.StatusAccepted, nil)
	s.become(ids, "review")
	if left := s.marked(); len(left) != 0 {
		t.Errorf("still marked is %v", left)
	}
}

// TestASpecialIsAnsweredAlone: the numbers of a media server's specials are its own, so what
// one of them is says nothing of the others.
func TestASpecialIsAnsweredAlone(t *testing.T) {
	s := start(t)
	special := func(n int) int64 {
		return s.custom(fmt.Sprintf(`{"title":"灯塔守望者","season":0,"episode":%d,"user_name":"Mira"}`, n))
	}
	first, second := special(1), special(2)
	s.become([]int64{first, second}, "review")
	open := s.questions()
	if len(open) != 2 || open[0].Waiting != 1 {
		t.Fatalf("the questions are %+v", open)
	}
	path := fmt.Sprintf("/api/pending-candidates/%d", open[1].ID)
	confirmed := s.api(http.MethodPost, path+"/confirm", `{"subject_id":900001}`, http.StatusAccepted, nil)
	if !strings.Contains(confirmed.body, `"episode":1,"subject_id":900001`) {
		t.Errorf("confirm answers %s", confirmed.body)
	}
	s.become([]int64{first, special(1)}, "success")
	s.become([]int64{second, special(2)}, "review")
	if marked := s.marked(); len(marked) != 1 {
		t.Errorf("marked is %v", marked)
	}
	if open := s.questions(); len(open) != 1 || open[0].Waiting != 2 {
		t.Errorf("the questions are %+v", open)
	}
	s.api(http.MethodPost, path+"/undo", "", http.StatusAccepted, nil)
	s.become([]int64{first}, "review")
	if marked := s.marked(); len(marked) != 0 {
		t.Errorf("marked is %v", marked)
	}
}

func TestARejectedTitleIsIgnoredAndNoOther(t *testing.T) {
	s := start(t)
	ids := []int64{s.custom(teahouse(1))}
	s.become(ids, "review")
	path := fmt.Sprintf("/api/pending-candidates/%d", s.questions()[0].ID)
	s.api(http.MethodPost, path+"/reject", "", http.StatusAccepted, nil)
	s.become(ids, "ignored")
	s.become([]int64{s.custom(`{"title":"moonshade teahouse","season":2,"episode":1,"user_name":"Mira"}`)}, "ignored")
	if r := s.settled(s.custom(`{"title":"Moonshade Teahouse Encore","season":1,"episode":1,"user_name":"Mira"}`)); r.Status == "ignored" {
		t.Errorf("a longer title is %+v", r)
	}
	s.api(http.MethodPost, path+"/undo", "", http.StatusAccepted, nil)
	s.become(ids, "review")
}

func TestSubjectsAreFoundInTheCatalog(t *testing.T) {
	s := start(t)
	if got := s.api(http.MethodGet, "/api/subjects?q=900014", "", http.StatusOK, nil); !strings.Contains(got.body, "月影茶坊") {
		t.Errorf("by number: %s", got.body)
	}
	if got := s.api(http.MethodGet, "/api/subjects?q=%E7%81%AF%E5%A1%94%E5%AE%88%E6%9C%9B%E8%80%85&type=anime", "", http.StatusOK, nil); !strings.Contains(got.body, `"id":900001`) {
		t.Errorf("by title: %s", got.body)
	}
	s.api(http.MethodGet, "/api/subjects/900777", "", http.StatusNotFound, nil)
}

// TestBrowserDecidesByKeys confirms the best candidate by the keyboard, takes it back, and
// then chooses an entry that is no candidate.
func TestBrowserDecidesByKeys(t *testing.T) {
	tab := browsertest.Start(t)
	s := start(t, "WATCHMARK_AUTH_ENABLED=false")
	browsertest.Complaints(t, tab)
	browsertest.Run(t, tab, browsertest.Sized(1280, 900), chromedp.Navigate(s.url+"/review"), browsertest.Until(browsertest.Listening),
		browsertest.Until(browsertest.Says("main", "Nothing waits for you")))
	ids := []int64{s.custom(teahouse(1)), s.custom(teahouse(2))}
	s.become(ids, "review")
	card := "#question-1"
	browsertest.Run(t, tab,
		browsertest.Until(browsertest.Says(card, "E1, E2")), browsertest.Until(browsertest.Says(`#nav a[href="/review"] .badge`, "1")),
		chromedp.KeyEvent("j"), browsertest.Until(`document.activeElement.id === "question-1"`),
		chromedp.KeyEvent(kb.Enter), browsertest.Until(browsertest.Says(card, "Confirmed:")), browsertest.Until(browsertest.Says(card, "Undo")),
	)
	picture(t, tab, "review-confirmed.png")
	s.become(ids, "success")
	browsertest.Run(t, tab, browsertest.Until(`document.activeElement.id === "question-1"`), browsertest.Until(`!document.querySelector('#nav a[href="/review"] .badge')`),
		chromedp.KeyEvent("u"), browsertest.Until(browsertest.Says("#toasts", "Marks taken back from Bangumi: 2.")))
	s.become(ids, "review")
	browsertest.Run(t, tab, browsertest.Until(browsertest.Says(card, "E1, E2")))
	// The page may still hear of the moment in which the records ran and nothing was asked, which takes away what is filled in.
	anew := []browsertest.Step{chromedp.Navigate(s.url + "/review"), browsertest.Until(browsertest.Listening), browsertest.Until(browsertest.Says(card, "E1, E2"))}
	browsertest.Run(t, tab, anew...)
	browsertest.Run(t, tab, browsertest.Click("#other-1 summary"), browsertest.Type("#find-1", "灯塔守望者"), browsertest.Click("#other-1 [data-find]"),
		browsertest.Until(browsertest.Says("#find-1-found", "#900001")),
	)
	// A change elsewhere must not take away what was found.
	s.settled(s.custom(`{"title":"灯塔守望者","season":1,"episode":1,"release_date":"2024-01-10","user_name":"alex"}`))
	picture(t, tab, "review-other.png")
	browsertest.Run(t, tab, browsertest.Until(browsertest.Says("#find-1-found", "#900001")), browsertest.Click("#find-1-found button"),
		browsertest.Until(browsertest.Says(card, "灯塔守望者")), browsertest.Until(browsertest.Says(card, "Undo")))
	s.become(ids, "success")
	if !s.marked()["mira/90000102"] {
		t.Errorf("marked is %v", s.marked())
	}
	browsertest.Run(t, tab, chromedp.KeyEvent("j"), browsertest.Until(`document.activeElement.id === "question-1"`), chromedp.KeyEvent("u"))
	s.become(ids, "review")
	browsertest.Run(t, tab, browsertest.Until(browsertest.Says(card, "E1, E2")), browsertest.Until(`document.querySelector("#question-1").contains(document.activeElement)`))
	browsertest.Run(t, tab, anew...)
	browsertest.Run(t, tab, chromedp.KeyEvent("j"), browsertest.Until(`document.activeElement.id === "question-1"`),
		chromedp.KeyEvent("x"), browsertest.Until(browsertest.Says("#confirm", "exactly this title")),
		browsertest.Click("#confirm button[value=yes]"), browsertest.Until(browsertest.Says(card, "Rejected")))
	s.become(ids, "ignored")
}
