package app_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/mediaservertest"
)

// undone is how an undo, or its preview, ended.
type undone struct {
	ID      int64  `json:"id"`
	State   string `json:"state"`
	Message string `json:"message"`
	Result  struct {
		Lists     int `json:"lists"`
		TakenBack int `json:"taken_back"`
		Gone      int `json:"gone"`
		Kept      int `json:"kept"`
		Needed    int `json:"needed"`
		Changed   int `json:"changed"`
		Stopped   int `json:"stopped"`
		Failed    int `json:"failed"`
		Entries   []struct {
			AccountName string `json:"account_name"`
			SubjectID   int    `json:"subject_id"`
			SubjectName string `json:"subject_name"`
			State       string `json:"state"`
			Problem     string `json:"problem"`
			Marks       []struct {
				EpisodeID int    `json:"episode_id"`
				Fate      string `json:"fate"`
				NeededBy  int64  `json:"needed_by"`
			} `json:"marks"`
		} `json:"entries"`
	} `json:"result"`
}

// fates are a line for each mark and each entry whose state was to be taken back.
func (u undone) fates() []string {
	all := []string{}
	for _, e := range u.Result.Entries {
		for _, m := range e.Marks {
			all = append(all, fmt.Sprintf("%s/%d/%d %s", e.AccountName, e.SubjectID, m.EpisodeID, m.Fate))
		}
		if e.State != "" {
			all = append(all, fmt.Sprintf("%s/%d %s", e.AccountName, e.SubjectID, e.State))
		}
	}
	slices.Sort(all)
	return all
}

// undoes starts an undo and waits for its end.
func (s *service) undoes(body string) (ended undone) {
	s.t.Helper()
	var task struct {
		ID int64 `json:"task_id"`
	}
	s.api(http.MethodPost, "/api/undo", body, http.StatusAccepted, &task)
	if err := json.Unmarshal([]byte(s.taskEnds(task.ID).body), &ended); err != nil {
		s.t.Fatal(err)
	}
	return ended
}

// entries are the states of all entries, and what people have added.
func (s *service) entries() []string {
	var all []string
	for _, user := range []string{"alex", "mira"} {
		for _, e := range s.list.Listed(user) {
			all = append(all, strings.TrimSpace(fmt.Sprintf("%s/%d %d %v %d%s", user, e.SubjectID, e.Type, e.Private, e.Rate, e.Comment)))
		}
	}
	return all
}

func (s *service) watches(user string, season, episode int) recordView {
	s.t.Helper()
	r := s.settled(s.custom(fmt.Sprintf(`{"media_type":"episode","title":"灯塔守望者","season":%d,"episode":%d,"user_name":%q}`, season, episode, user)))
	if r.Status != "success" {
		s.t.Fatalf("record %+v", r)
	}
	return r
}

func TestADayIsUndone(t *testing.T) {
	remote := mediaservertest.Start(t, library("jellyfin", "a1", "b2"))
	s := start(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.list.Collect("mira", 900002, catalog.Wish, false))
	s.watches("alex", 1, 1)
	time.Sleep(time.Millisecond) // the span begins with a whole millisecond
	since := time.Now()
	s.watches("Mira", 1, 4)
	s.watches("alex", 1, 2)
	s.watches("alex", 1, 3)
	s.imports("run", importBody("jellyfin", remote.URL, "a1"))
	time.Sleep(time.Millisecond)
	until := time.Now()

	// What happens afterwards: another watch of one that the import brought, and what the person does on the website.
	again := s.watches("mira TV", 1, 5)
	s.later.Store(int64(time.Hour))
	must(s.list.SetMark("mira", 90000106, catalog.Unmarked))
	must(s.list.SetMark("mira", 90000106, catalog.EpisodeWatched))
	must(s.list.SetMark("mira", 90000107, catalog.EpisodeDropped))
	must(s.list.SetMark("mira", 90000108, catalog.Unmarked))
	must(s.list.Put(catalogtest.Listed{Username: "mira", SubjectID: 900003, Type: catalog.Done, Rate: 8}))
	marks, entries, writes := s.marked(), s.entries(), len(s.list.Writes())

	span := fmt.Sprintf(`"since":%q,"until":%q`, since.Format(time.RFC3339Nano), until.Format(time.RFC3339Nano))
	want := []string{
		"alex/900001/90000102 taken_back", "alex/900001/90000103 taken_back",
		"mira/900001/90000104 taken_back", "mira/900001/90000105 needed", "mira/900001/90000106 kept", "mira/900001/90000107 kept", "mira/900001/90000108 gone",
		"mira/900001/90000151 taken_back", "mira/900001 stays",
		"mira/900002/90000207 taken_back", "mira/900002 set_back",
		"mira/900003/90000301 taken_back", "mira/900003 stays",
	}
	slices.Sort(want)
	preview := s.undoes(`{` + span + `,"dry_run":true}`)
	if diff := cmp.Diff(want, preview.fates()); diff != "" || preview.State != "done" {
		t.Errorf("the preview %s (%s), -want +got:\n%s", preview.State, preview.Message, diff)
	}
	if !maps.Equal(marks, s.marked()) || !slices.Equal(entries, s.entries()) || len(s.list.Writes()) != writes {
		t.Error("the preview wrote")
	}

	timeline := s.list.Timeline()
	got := s.undoes(`{` + span + `}`)
	if diff := cmp.Diff(want, got.fates()); diff != "" || got.State != "done" {
		t.Errorf("the undo %s (%s), -want +got:\n%s", got.State, got.Message, diff)
	}
	wantMarks := map[string]bool{"alex/90000101": true, "mira/90000105": true, "mira/90000106": true, "mira/90000107": true}
	if diff := cmp.Diff(wantMarks, s.marked()); diff != "" {
		t.Errorf("marks, -want +got:\n%s", diff)
	}
	wantEntries := []string{"alex/900001 3 false 0", "mira/900001 3 false 0", "mira/900002 1 false 0", "mira/900003 2 false 8"}
	if diff := cmp.Diff(wantEntries, s.entries()); diff != "" {
		t.Errorf("entries, -want +got:\n%s", diff)
	}
	if s.list.Timeline() != timeline {
		t.Errorf("%d lines were posted", s.list.Timeline()-timeline)
	}

	writes = len(s.list.Writes())
	if twice := s.undoes(`{` + span + `}`); twice.State != "done" || len(twice.fates()) != 0 || len(s.list.Writes()) != writes {
		t.Errorf("the second undo is %+v", twice)
	}
	if r := s.watches("Mira", 1, 8); r.Status != "success" || !s.marked()["mira/90000108"] {
		t.Errorf("the new watch is %+v", r)
	}
	// The one that was needed is the other record's now.
	s.api(http.MethodPost, fmt.Sprintf("/api/records/%d/unmark", again.ID), "", http.StatusOK, nil)
	if s.marked()["mira/90000105"] {
		t.Error("the mark that was left cannot be taken back")
	}
}

// What an import wrote is taken back by the id of its task, one account's list alone by a span, and entries that it made are dropped and
// taken up again.
func TestATaskIsUndone(t *testing.T) {
	remote := mediaservertest.Start(t, library("jellyfin", "a1", "b2"))
	s := start(t)
	since := time.Now().Truncate(time.Millisecond)
	s.watches("alex", 1, 2)
	s.watches("Mira", 2, 1)
	var task struct {
		ID int64 `json:"id"`
	}
	s.api(http.MethodPost, "/api/import/run", importBody("jellyfin", remote.URL, "a1"), http.StatusAccepted, &task)
	s.importEnds(task.ID)
	got := s.undoes(fmt.Sprintf(`{"task_id":%d}`, task.ID))
	if got.State != "done" || got.Result.TakenBack != 8 || got.Result.Changed != 2 || got.Result.Failed != 0 {
		t.Errorf("the undo is %+v", got)
	}
	if diff := cmp.Diff(map[string]bool{"alex/90000102": true, "mira/90000201": true}, s.marked()); diff != "" {
		t.Errorf("marks, -want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"alex/900001 3 false 0", "mira/900001 5 true 0", "mira/900002 3 false 0", "mira/900003 5 true 0"}, s.entries()); diff != "" {
		t.Errorf("entries, -want +got:\n%s", diff)
	}
	if twice := s.undoes(fmt.Sprintf(`{"task_id":%d}`, task.ID)); twice.State != "done" || len(twice.fates()) != 0 {
		t.Errorf("the second undo is %+v", twice)
	}
	if s.watches("Mira", 1, 4); s.list.Listed("mira")[0].Type != catalog.Doing {
		t.Errorf("entries %v", s.entries())
	}
	var accounts struct {
		Items []struct {
			ID       int64
			Username string
		}
	}
	s.api(http.MethodGet, "/api/accounts", "", http.StatusOK, &accounts)
	for _, a := range accounts.Items {
		if a.Username == "alex" {
			span := fmt.Sprintf(`{"since":%q,"until":%q,"account_id":%d}`, since.Format(time.RFC3339Nano), time.Now().Add(time.Second).Format(time.RFC3339Nano), a.ID)
			got = s.undoes(span)
		}
	}
	if diff := cmp.Diff([]string{"alex/900001 dropped", "alex/900001/90000102 taken_back"}, got.fates()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for body, status := range map[string]int{
		`{}`: 422, `{"task_id":999}`: 404, `{"since":"2026-01-02T00:00:00Z"}`: 422, `{"since":"2026-01-02T00:00:00Z","until":"2026-01-01T00:00:00Z"}`: 422,
		`{"since":"2026-01-01T00:00:00Z","until":"2026-01-02T00:00:00Z","account_id":99}`: 404, `{"task_id":1,"since":"2026-01-02T00:00:00Z"}`: 422,
		`{"since":"yesterday"}`: 422,
	} {
		s.api(http.MethodPost, "/api/undo", body, status, nil)
	}
}
