package app_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/mediaservertest"
	"watchmark/internal/testkit/trackertest"
)

// taskOf waits for the newest task of a kind to end well.
func (s *service) taskOf(kind string) (id int64) {
	s.t.Helper()
	s.wait("the task "+kind, func() bool {
		var all struct {
			Items []struct {
				ID          int64
				Kind, State string
			}
		}
		s.api(http.MethodGet, "/api/tasks", "", http.StatusOK, &all)
		at := slices.IndexFunc(all.Items, func(t struct {
			ID          int64
			Kind, State string
		}) bool {
			return t.Kind == kind
		})
		if at < 0 || all.Items[at].State != "done" {
			return false
		}
		id = all.Items[at].ID
		return true
	})
	return id
}

// season is marks of episodes of the second season, as marked has them.
func season(numbers ...int) (marks []string) {
	for _, n := range numbers {
		marks = append(marks, fmt.Sprintf("mira/%d", 90000200+n))
	}
	return marks
}

// Whatever had marks made, its task is taken back by its id: its marks and no others, but for what the person changed since.
func TestWhateverMarkedIsUndoneByItsTask(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	const mail = "mira@home.example"
	remote, trakt := trackertest.Start(t, trackertest.Config{
		Clients: []trackertest.Client{{ID: "web-client", RedirectURI: "https://app.trakt.tv/callback"}},
		Users:   []trackertest.User{{Email: mail, Name: "Mira", UUID: "uuid-of-mira"}},
	})
	remote.AddTitle(trackertest.Title{Kind: "show", ID: 1, Name: "The Lighthouse Keeper's Song", Original: "灯台守のうた", Genres: []string{"anime"}, Timezone: "Asia/Tokyo",
		In: map[string]string{"cn": "灯塔守望者"}})
	guest := func(s *service, numbers ...int) (ids []int64) {
		for _, n := range numbers {
			id := s.custom(fmt.Sprintf(`{"title":"灯塔守望者","season":2,"episode":%d,"user_name":"guest"}`, n))
			s.become([]int64{id}, "error")
			ids = append(ids, id)
		}
		s.api(http.MethodPatch, "/api/accounts/1", `{"media_user_names":["Mira","mira TV","guest","bench"]}`, http.StatusOK, nil)
		return ids
	}
	for _, c := range []struct {
		name, kind string
		environ    []string
		marks      []string
		work       func(t *testing.T, s *service)
	}{
		{
			"an answer", "answer", nil, []string{"mira/90001401", "mira/90001402", "mira/90001403"}, func(_ *testing.T, s *service) {
				ids := []int64{s.custom(teahouse(1)), s.custom(teahouse(2)), s.custom(teahouse(3))}
				s.become(ids, "review")
				s.api(http.MethodPost, fmt.Sprintf("/api/pending-candidates/%d/confirm", s.questions()[0].ID), `{"subject_id":900014}`, http.StatusAccepted, nil)
				s.become(ids, "success")
			},
		},
		{
			"a retry", "retry", nil, season(5), func(_ *testing.T, s *service) {
				id := guest(s, 5)[0]
				s.api(http.MethodPost, fmt.Sprintf("/api/records/%d/retry", id), "", http.StatusAccepted, nil)
				s.become([]int64{id}, "success")
			},
		},
		{
			"a retry of all that failed", "retry_failed", nil, season(5, 6, 7), func(_ *testing.T, s *service) {
				ids := guest(s, 5, 6, 7)
				s.api(http.MethodPost, "/api/records/retry", "", http.StatusAccepted, nil)
				s.become(ids, "success")
			},
		},
		{
			"a reading of Trakt", "tracker_sync",
			[]string{"WATCHMARK_TRACKER_ENABLED=true", "WATCHMARK_TRACKER_AUTH_URL=" + trakt, "WATCHMARK_TRACKER_API_URL=" + trakt, "WATCHMARK_TRACKER_CLIENT_ID=web-client"},
			season(7, 8, 9), func(_ *testing.T, s *service) {
				for i := range 3 {
					remote.AddPlays(mail, trackertest.Play{ID: int64(i + 1), WatchedAt: time.Now().Add(-24 * time.Hour), Kind: "show", Title: 1, Season: 2, Episode: 7 + i,
						Aired: time.Date(2025, 2, 18+7*i, 15, 30, 0, 0, time.UTC).Format(time.RFC3339)})
				}
				s.api(http.MethodPost, "/api/tracker/email-login/start", `{"email":"`+mail+`"}`, http.StatusOK, nil)
				s.api(http.MethodPost, "/api/tracker/email-login/complete", `{"email":"`+mail+`","otp":"`+remote.LastCode(mail)+`"}`, http.StatusOK, nil)
				s.api(http.MethodPost, "/api/tracker/sync/manual", `{"full_sync":"yes"}`, http.StatusAccepted, nil)
			},
		},
		{
			"a catch-up of a media server", "server_sync", nil, season(4, 5, 6), func(t *testing.T, s *service) {
				server := mediaServer(t, mediaservertest.ZSpace) // which tells of nothing by itself
				s.api(http.MethodPatch, "/api/accounts/1", `{"media_user_names":["Mira","mira TV","bench"]}`, http.StatusOK, nil)
				s.api(http.MethodPost, "/api/servers", fmt.Sprintf(`{"kind":"zspace","url":%q,"username":"bench","password":%q}`, server.URL, mediaPassword), http.StatusCreated, nil)
				s.wait("what was played is known", func() bool { return s.loginOf(1).ComparedAt != nil })
				for n := 4; n <= 6; n++ {
					watches(t, server, n)
				}
				s.api(http.MethodPost, "/api/servers/1/sync", "", http.StatusAccepted, nil)
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, c.environ...)
			s.watches("Mira", 1, 1)
			s.watches("alex", 1, 1)
			others := s.marked()
			c.work(t, s)
			s.wait("the marks", func() bool { return len(s.marked()) == len(others)+len(c.marks) })
			id := s.taskOf(c.kind)
			s.watches("Mira", 1, 2)
			others["mira/90000102"] = true
			want := []string{}
			for i, mark := range c.marks {
				fate := "taken_back"
				var episode catalog.EpisodeID
				if _, err := fmt.Sscanf(mark, "mira/%d", &episode); err != nil {
					t.Fatal(err)
				}
				s.later.Store(int64(time.Hour))
				switch i { // the person changes the first two
				case 1:
					fate = "kept"
					must(0, s.list.SetMark("mira", episode, catalog.Unmarked))(t)
					must(0, s.list.SetMark("mira", episode, catalog.EpisodeWatched))(t)
					others[mark] = true
				case 2:
					fate = "gone"
					must(0, s.list.SetMark("mira", episode, catalog.Unmarked))(t)
				}
				want = append(want, fmt.Sprintf("mira/%d/%d %s", episode/100, episode, fate))
			}
			marks := s.marked()
			body := fmt.Sprintf(`{"task_id":%d`, id)
			preview := s.undoes(body + `,"dry_run":true}`)
			fates := slices.DeleteFunc(preview.fates(), func(fate string) bool { return strings.Count(fate, "/") == 1 }) // the entry's own
			if diff := cmp.Diff(want, fates); diff != "" {
				t.Errorf("the preview, -want +got:\n%s", diff)
			}
			if diff := cmp.Diff(marks, s.marked()); diff != "" {
				t.Errorf("the preview wrote, -want +got:\n%s", diff)
			}
			if got := s.undoes(body + `}`); got.State != "done" || got.Result.Failed != 0 {
				t.Errorf("%+v", got)
			}
			if diff := cmp.Diff(others, s.marked()); diff != "" {
				t.Errorf("marks, -want +got:\n%s", diff)
			}
			writes := len(s.list.Writes())
			if twice := s.undoes(body + `}`); twice.State != "done" || len(s.list.Writes()) != writes {
				t.Errorf("the second undo wrote: %+v", twice)
			}
			if page := s.get(fmt.Sprintf("/settings/tasks/%d", id)).body; !strings.Contains(page, fmt.Sprintf(`/records/undo?task=%d"`, id)) {
				t.Error("its page does not lead to its undo")
			}
		})
	}
}

// A restore is taken back by the id of its task, and its page leads to where that is done, also when another one came later.
func TestARestoreIsUndoneByItsTask(t *testing.T) {
	s := start(t)
	s.put(catalogtest.Listed{SubjectID: 900002, Type: catalog.Done, Rate: 9, Comment: "good"})
	s.put(catalogtest.Listed{SubjectID: 900003, Type: catalog.Done, Rate: 7})
	s.watchedButLast()
	s.takesSnapshot()
	s.put(catalogtest.Listed{SubjectID: 900002, Type: catalog.Wish})
	s.put(catalogtest.Listed{SubjectID: 900003, Type: catalog.Wish})
	must(0, s.list.SetMark("mira", 90000105, catalog.Unmarked))(t)
	damaged, marks := fmt.Sprint(s.list.Listed("mira")), s.marked()
	restore := func(entries string) (id int64) {
		s.api(http.MethodPost, "/api/snapshots/1/restore", `{"entries":`+entries+`}`, http.StatusAccepted, nil)
		s.idle()
		return s.taskOf("restore")
	}
	first := restore("[900001,900002]")
	second := restore("[900003]")
	if s.listed(900002).Rate != 9 || s.listed(900003).Rate != 7 || first == second || s.marked()["mira/90000105"] == false {
		t.Fatalf("after %d and %d the list is %v", first, second, s.list.Listed("mira"))
	}
	page := s.get(fmt.Sprintf("/settings/tasks/%d", first)).body
	path := fmt.Sprintf("/people/1/list?restore=%d", first)
	if !strings.Contains(page, path) {
		t.Error("its page does not lead to its undo")
	}
	if list := s.get(path).body; !strings.Contains(list, fmt.Sprintf(`/api/restores/%d/undo"`, first)) {
		t.Error("the list does not offer to take it back")
	}
	now := s.listed(900002)
	now.Comment = "better" // by the person
	s.put(now)
	for _, id := range []int64{first, second} {
		body := fmt.Sprintf(`{"task_id":%d`, id)
		before := fmt.Sprint(s.list.Listed("mira"), s.marked())
		s.undoes(body + `,"dry_run":true}`)
		if after := fmt.Sprint(s.list.Listed("mira"), s.marked()); after != before {
			t.Errorf("the preview wrote\n%s\n%s", before, after)
		}
		s.undoes(body + `}`)
	}
	if got := s.listed(900002); got.Comment != "better" {
		t.Errorf("what the person wrote is gone: %+v", got)
	}
	now = s.listed(900002)
	now.Comment = ""
	s.put(now)
	if got := fmt.Sprint(s.list.Listed("mira")); got != damaged {
		t.Errorf("the list is\n%s, before the restore it was\n%s", got, damaged)
	}
	if diff := cmp.Diff(marks, s.marked()); diff != "" {
		t.Errorf("marks, -want +got:\n%s", diff)
	}
}

// What was written to a media server is taken back there by the id of its task.
func TestASeedIsUndoneByItsTask(t *testing.T) {
	server := mediaservertest.Start(t, mediaservertest.Sample(mediaservertest.Jellyfin, mediaservertest.User{Name: "Mira", Password: "pass"}))
	s := start(t)
	s.watchedButLast()
	login := s.connects(server, mediaservertest.Jellyfin, "Mira")
	before, marks := server.Played(), s.marked()
	id, _ := s.seeds(fmt.Sprintf("/api/servers/%d/seed", login), `{"account_id":1}`)
	if len(server.Played()) != len(before)+11 {
		t.Fatalf("played are %v", server.Played())
	}
	s.api(http.MethodPost, "/api/undo", fmt.Sprintf(`{"task_id":%d,"dry_run":true}`, id), http.StatusConflict, nil)
	s.undoes(fmt.Sprintf(`{"task_id":%d}`, id))
	if diff := cmp.Diff(before, server.Played()); diff != "" {
		t.Errorf("played, -want +got:\n%s", diff)
	}
	if diff := cmp.Diff(marks, s.marked()); diff != "" {
		t.Errorf("marks, -want +got:\n%s", diff)
	}
}

func TestWhatIsWrongWithAnUndoIsToldAtItsField(t *testing.T) {
	s := start(t)
	hour := func(by int) string { return time.Now().Add(time.Duration(by) * time.Hour).Format(time.RFC3339) }
	for name, c := range map[string]struct{ body, field string }{
		"nothing":                {`{}`, "since"},
		"no end":                 {`{"since":"` + hour(-1) + `"}`, "until"},
		"no beginning":           {`{"until":"` + hour(-1) + `"}`, "since"},
		"the end before":         {`{"since":"` + hour(-1) + `","until":"` + hour(-2) + `"}`, "until"},
		"no span":                {`{"since":"2026-01-01T00:00:00Z","until":"2026-01-01T00:00:00Z"}`, "until"},
		"the future":             {`{"since":"` + hour(1) + `","until":"` + hour(2) + `"}`, "since"},
		"a time without a zone":  {`{"since":"2026-01-01T00:00:00","until":"` + hour(0) + `"}`, "since"},
		"an end without a zone":  {`{"since":"` + hour(-1) + `","until":"2026-01-01T00:00:00"}`, "until"},
		"no time":                {`{"since":"yesterday","until":"` + hour(0) + `"}`, "since"},
		"a day that is none":     {`{"since":"2026-02-30T00:00:00Z","until":"` + hour(0) + `"}`, "since"},
		"a number":               {`{"since":1767225600,"until":"` + hour(0) + `"}`, "since"},
		"a task and a span":      {`{"task_id":1,"since":"` + hour(-1) + `"}`, "task_id"},
		"a task and an end":      {`{"task_id":1,"until":"` + hour(-1) + `"}`, "task_id"},
		"a task and an account":  {`{"task_id":1,"account_id":1}`, "task_id"},
		"a task that is a text":  {`{"task_id":"1"}`, "task_id"},
		"a task below zero":      {`{"task_id":-1}`, "task_id"},
		"a dry run that is none": {`{"task_id":1,"dry_run":"yes"}`, "dry_run"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := s.api(http.MethodPost, "/api/undo", c.body, http.StatusUnprocessableEntity, nil); !strings.Contains(got.body, `"location":"body.`+c.field+`"`) {
				t.Errorf("%s", got.body)
			}
		})
	}
	s.api(http.MethodPost, "/api/undo", `{"task_id":9}`, http.StatusNotFound, nil)
	if len(s.list.Writes()) > 0 {
		t.Error("something was written")
	}
}
