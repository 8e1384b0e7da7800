package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/catalog"
	"watchmark/internal/source/watcher"
	"watchmark/internal/testkit/mediaservertest"
)

// connects signs a person in at a media server and waits until all that was played there is known.
func (s *service) connects(server *mediaservertest.Server, kind mediaservertest.Kind, user string) int64 {
	s.t.Helper()
	var login watcher.Login
	body := fmt.Sprintf(`{"kind":%q,"url":%q,"username":%q,"password":"pass"}`, kind, server.URL, user)
	s.api(http.MethodPost, "/api/servers", body, http.StatusCreated, &login)
	s.wait("everything is compared", func() bool {
		s.api(http.MethodGet, fmt.Sprintf("/api/servers/%d", login.ID), "", http.StatusOK, &login)
		return login.ComparedAt != nil
	})
	return login.ID
}

// seeds runs a task of a path and gives its id and the parts of its status that a reader compares.
func (s *service) seeds(path, body string) (int64, map[string]any) {
	s.t.Helper()
	var started struct {
		ID int64 `json:"task_id"`
	}
	s.api(http.MethodPost, path, body, http.StatusAccepted, &started)
	var ended struct {
		State   string
		Message string
		Result  map[string]any
	}
	if err := json.Unmarshal([]byte(s.taskEnds(started.ID).body), &ended); err != nil || ended.State != "done" {
		s.t.Fatalf("%s ended as %s: %s (%v)", path, ended.State, ended.Message, err)
	}
	return started.ID, ended.Result
}

func (s *service) recordCount() int {
	s.t.Helper()
	var records struct {
		Items []recordView `json:"items"`
	}
	s.api(http.MethodGet, "/api/records?limit=100", "", http.StatusOK, &records)
	return len(records.Items)
}

func TestAListIsWrittenToAMediaServerAndUndoneAfterARestart(t *testing.T) {
	t.Parallel()
	for _, kind := range []mediaservertest.Kind{mediaservertest.Jellyfin, mediaservertest.Emby} {
		t.Run(string(kind), func(t *testing.T) {
			server := mediaservertest.Start(t, mediaservertest.Sample(kind, mediaservertest.User{Name: "Mira", Password: "pass"}))
			s := start(t)
			if err := s.list.Collect("mira", 900001, catalog.Done, false); err != nil {
				t.Fatal(err)
			}
			if err := s.list.Collect("mira", 900002, catalog.Doing, false); err != nil {
				t.Fatal(err)
			}
			for n := 1; n <= 5; n++ {
				if err := s.list.SetMark("mira", catalog.EpisodeID(90000200+n), catalog.EpisodeWatched); err != nil {
					t.Fatal(err)
				}
			}
			played, err := server.Find("灯塔守望者", 2, 2)
			if err != nil {
				t.Fatal(err)
			}
			if err := server.Mark("Mira", played.ID, time.Now().AddDate(0, 0, -30)); err != nil {
				t.Fatal(err)
			}
			before := server.Played()
			marks := s.marked()
			login := s.connects(server, kind, "Mira")
			path := fmt.Sprintf("/api/servers/%d/seed", login)
			_, told := s.seeds(path, `{"account_id":1,"dry_run":true}`)
			if diff := cmp.Diff(before, server.Played()); diff != "" {
				t.Errorf("the preview wrote (-want +got):\n%s", diff)
			}
			id, did := s.seeds(path, `{"account_id":1}`)
			if did["undo"] != true || told["undo"] != false {
				t.Errorf("the result is %v", did)
			}
			did["undo"], did["dry_run"] = false, true
			if diff := cmp.Diff(told, did); diff != "" {
				t.Errorf("the result is not the preview (-want +got):\n%s", diff)
			}
			if counts := did["counts"].(map[string]any); counts["mark"] != 17.0 || counts["played"] != 1.0 { // 12 and a special, and 5 but the one that was played
				t.Errorf("the counts are %v", counts)
			}
			if n := len(server.Played()); n != len(before)+17 {
				t.Errorf("%d items are played, before %d", n, len(before))
			}
			echo := fmt.Sprintf(`{"Event":"item.markplayed","User":{"Name":"Mira"},"Server":{"Id":%q},"Item":{"Id":%q,"Type":"Episode","SeriesName":"灯塔守望者","ParentIndexNumber":2,"IndexNumber":3}}`,
				s.loginOf(login).ServerID, must(server.Find("灯塔守望者", 2, 3))(t).ID)
			if kind == mediaservertest.Emby {
				s.webhook("emby", "application/json", echo)
			}
			s.seeds(fmt.Sprintf("/api/servers/%d/sync", login), "")
			if n := s.recordCount(); n != 0 {
				t.Errorf("the echo became %d records", n)
			}
			if diff := cmp.Diff(marks, s.marked()); diff != "" {
				t.Errorf("the list was written to (-want +got):\n%s", diff)
			}

			s.again()
			undo := fmt.Sprintf("/api/tasks/%d/undo", id)
			undone, _ := s.seeds(undo, "")
			if undone <= id {
				t.Errorf("the task %d came after %d", undone, id)
			}
			if diff := cmp.Diff(before, server.Played()); diff != "" {
				t.Errorf("after the undo (-want +got):\n%s", diff)
			}
			s.api(http.MethodPost, undo, "", http.StatusConflict, nil) // nothing is left of it
			s.api(http.MethodPost, fmt.Sprintf("/api/tasks/%d/undo", undone), "", http.StatusConflict, nil)
			s.api(http.MethodPost, path, `{"account_id":77}`, http.StatusUnprocessableEntity, nil)
			s.api(http.MethodPost, "/api/servers/77/seed", `{"account_id":1}`, http.StatusNotFound, nil)
			if n := s.recordCount(); n != 0 {
				t.Errorf("the undo became %d records", n)
			}
		})
	}
}

func (s *service) loginOf(id int64) (l watcher.Login) {
	s.t.Helper()
	s.api(http.MethodGet, fmt.Sprintf("/api/servers/%d", id), "", http.StatusOK, &l)
	return l
}

// What a person played before is imported when they ask for it, and by one way only.
func TestTheHistoryOfALoginIsImportedOnce(t *testing.T) {
	t.Parallel()
	for _, kind := range []mediaservertest.Kind{mediaservertest.Jellyfin, mediaservertest.Emby, mediaservertest.ZSpace} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			cfg := mediaservertest.Sample(kind, mediaservertest.User{Name: "Mira", Password: "pass"}, mediaservertest.User{Name: "alex", Password: "of-alex"})
			cfg.Key = importToken
			server := mediaservertest.Start(t, cfg)
			for n := 1; n <= 3; n++ {
				if err := server.Mark("Mira", must(server.Find("灯塔守望者", 2, n))(t).ID, time.Now().AddDate(0, 0, -n)); err != nil {
					t.Fatal(err)
				}
			}
			s := start(t)
			login := s.connects(server, kind, "Mira")
			path := fmt.Sprintf("/api/servers/%d/history", login)
			_, told := s.seeds(path, `{"dry_run":true}`)
			if counts := told["table"].(map[string]any)["counts"].(map[string]any); counts["mark"] != 3.0 || s.recordCount() != 0 {
				t.Errorf("the preview is %v", told)
			}
			if _, got := s.seeds(path, `{}`); got["taken"] != 3.0 || s.recordCount() != 3 {
				t.Errorf("the import is %v", got)
			}
			var records struct {
				Items []struct {
					Source     string
					OccurredAt *time.Time `json:"occurred_at"`
				} `json:"items"`
			}
			s.api(http.MethodGet, "/api/records?limit=100", "", http.StatusOK, &records)
			for _, r := range records.Items {
				if r.Source != "watcher" {
					t.Errorf("a record is of %s", r.Source)
				}
			}
			if _, again := s.seeds(path, `{}`); again["taken"] != 0.0 || again["known"] != 3.0 {
				t.Errorf("the second import is %v", again)
			}
			item := must(server.Find("灯塔守望者", 2, 7))(t)
			if err := server.Watch("Mira", item.ID); err != nil { // now it is followed
				t.Fatal(err)
			}
			if kind == mediaservertest.ZSpace {
				s.seeds(fmt.Sprintf("/api/servers/%d/sync", login), "")
			}
			s.wait("the play is a record", func() bool { return s.recordCount() == 4 })
			if _, again := s.seeds(path, `{}`); again["taken"] != 0.0 || again["known"] != 4.0 {
				t.Errorf("the third import is %v", again)
			}
			if kind != mediaservertest.ZSpace { // nor does it come by the key of the owner
				if got := s.imports("run", importBody(string(kind), server.URL, "Mira")).Result; got.Taken != 0 || got.Known != 4 {
					t.Errorf("the import with a key is %+v", got)
				}
			}
		})
	}
}
