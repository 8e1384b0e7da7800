package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/catalogtest"
)

// TestRequestsOfAMark counts what marks cost the catalog, by their webhooks.
func TestRequestsOfAMark(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	const (
		search   = "POST /v0/search/subjects"
		episodes = "GET /v0/episodes"
		entry    = "GET /v0/users/{username}/collections/{id}"
		state    = "GET /v0/users/-/collections/-/episodes/{id}"
		states   = "GET /v0/users/-/collections/{id}/episodes"
		create   = "POST /v0/users/-/collections/{id}"
		mark     = "PUT /v0/users/-/collections/-/episodes/{id}"
		batch    = "PATCH /v0/users/-/collections/{id}/episodes"
		move     = "PATCH /v0/users/-/collections/{id}"
	)
	type requests = map[string]int
	episode := func(title string, number int) string {
		return fmt.Sprintf(`{"title":%q,"season":1,"episode":%d,"release_date":%q,"user_name":"Mira"}`, title, number, aired(number))
	}
	watch := func(number int) string { return episode("静かな湖畔", number) }
	long := func(number int) string { return episode("長い航海", number) }
	film := `{"media_type":"movie","title":"白夜の塔","release_date":"2019-07-19","user_name":"Mira"}`
	for _, c := range []struct {
		name     string
		before   []string // watched before, and not counted
		arrange  func(*catalogtest.Server) error
		watched  []string
		want     requests
		timeline int
	}{
		{name: "the first of a show", watched: []string{watch(1)}, timeline: 2,
			want: requests{search: 1, episodes: 1, entry: 1, state: 1, create: 1, mark: 1}},
		{name: "the next one", before: []string{watch(1)}, watched: []string{watch(2)}, timeline: 1,
			want: requests{entry: 1, state: 1, mark: 1}},
		{name: "the first of a long one", watched: []string{long(1500)}, timeline: 2,
			want: requests{search: 1, episodes: 11, entry: 1, state: 1, create: 1, mark: 1}},
		{name: "the next of a long one", before: []string{long(1500)}, watched: []string{long(1501)}, timeline: 1,
			want: requests{entry: 1, state: 1, mark: 1}},
		{name: "a film", watched: []string{film}, timeline: 2,
			want: requests{search: 1, episodes: 1, entry: 1, states: 1, create: 1, mark: 1, move: 1}},
		{name: "a film that was wished for", watched: []string{film}, timeline: 2,
			arrange: func(s *catalogtest.Server) error { return s.Collect("mira", 800002, catalog.Wish, false) },
			want:    requests{search: 1, episodes: 1, entry: 1, states: 1, mark: 1, move: 1}},
		{name: "watched again", before: []string{watch(1)}, watched: []string{watch(1)}, timeline: 0,
			want: requests{entry: 1, state: 1}},
		{name: "watched before it was taken off the list", watched: []string{watch(1)}, timeline: 0,
			arrange: func(s *catalogtest.Server) error { return s.SetMark("mira", 30001, catalog.EpisodeWatched) },
			want:    requests{search: 1, episodes: 1, entry: 1, state: 1, create: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t)
			s.list.AddSubject(
				catalogtest.Subject{ID: 800001, Type: catalog.Anime, Name: "長い航海", Date: aired(1), Platform: "TV", Eps: 2005},
				catalogtest.Subject{ID: 800002, Type: catalog.Anime, Name: "白夜の塔", Date: "2019-07-19", Platform: "剧场版", Eps: 1},
				catalogtest.Subject{ID: 800003, Type: catalog.Anime, Name: "静かな湖畔", Date: aired(1), Platform: "TV", Eps: 12},
			)
			for id, eps := range map[catalog.SubjectID]int{800001: 2005, 800002: 1, 800003: 12} {
				for n := range eps {
					s.list.AddEpisodes(id, catalogtest.Episode{ID: catalog.EpisodeID(10_000*(int(id)-800_000) + n + 1), Sort: float64(n + 1), AirDate: aired(n + 1)})
				}
			}
			s.api(http.MethodPost, "/api/accounts/1/test", "", http.StatusOK, nil)
			if c.arrange != nil {
				if err := c.arrange(s.list); err != nil {
					t.Fatal(err)
				}
			}
			watched := func(bodies []string) {
				for _, body := range bodies {
					if r := s.settled(s.custom(body)); r.Status != "success" {
						t.Fatalf("the record is %+v", r)
					}
				}
			}
			watched(c.before)
			before, timeline := s.list.Requests(), s.list.Timeline()
			watched(c.watched)
			got := requests{}
			for pattern, n := range s.list.Requests() {
				if n -= before[pattern]; n > 0 {
					got[pattern] = n
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if n := s.list.Timeline() - timeline; n != c.timeline {
				t.Errorf("%d entries of the timeline, want %d", n, c.timeline)
			}
		})
	}
}

// aired is the day on which an episode was aired, one every week.
func aired(number int) string {
	return time.Date(1980, 4, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, 7*(number-1)).Format(time.DateOnly)
}

// What was marked before its entry was taken off the list puts the entry back, says so, and is told to nobody.
func TestAnEntryThatWasCreatedIsToldAndTakenBack(t *testing.T) {
	const body = `{"title":"灯台守のうた","season":1,"episode":1,"release_date":"2024-01-10","user_name":"Mira"}`
	s := start(t)
	if err := s.list.SetMark("mira", 90000101, catalog.EpisodeWatched); err != nil {
		t.Fatal(err)
	}
	first := s.settled(s.custom(body))
	if first.Status != "success" || first.Message != "already watched; the entry is now on the list" {
		t.Errorf("the record is %+v", first)
	}
	second := s.settled(s.custom(body))
	if second.Message != "already watched: nothing to do" {
		t.Errorf("the second record is %+v", second)
	}
	if now := s.list.Collections(); len(now) != 1 || now[0].Type != catalog.Doing || s.list.Timeline() != 0 {
		t.Errorf("on the list %+v, %d entries of the timeline", now, s.list.Timeline())
	}
	unmark := func(id int64, status int) {
		t.Helper()
		s.api(http.MethodPost, fmt.Sprintf("/api/records/%d/unmark", id), "", status, nil)
	}
	unmark(second.ID, http.StatusConflict)
	unmark(first.ID, http.StatusOK)
	if r := s.settled(first.ID); r.Status != "ignored" || r.Message != "taken back by hand: the entry is set to dropped and private on the list of mira, because Bangumi cannot remove it from a list" {
		t.Errorf("taken back, the record is %+v", r)
	}
	now := s.list.Collections()
	if len(now) != 1 || now[0].Type != catalog.Dropped || !now[0].Private || s.list.Timeline() != 0 || len(s.list.Marks()) != 1 {
		t.Errorf("on the list %+v with %+v, %d entries of the timeline", now, s.list.Marks(), s.list.Timeline())
	}
	// A retry takes the entry up again; what the person drops stays dropped.
	s.api(http.MethodPost, fmt.Sprintf("/api/records/%d/retry", first.ID), "", http.StatusAccepted, nil)
	if r := s.until(first.ID, func(r recordView) bool { return r.Status == "success" }); r.Message != first.Message {
		t.Errorf("retried, the record is %+v", r)
	}
	if now := s.list.Collections(); now[0].Type != catalog.Doing || now[0].Private {
		t.Errorf("after a retry there is %+v on the list", now)
	}
	if err := s.list.Collect("mira", 900001, catalog.Dropped, false); err != nil {
		t.Fatal(err)
	}
	s.settled(s.custom(strings.Replace(body, `"episode":1`, `"episode":2`, 1)))
	if now := s.list.Collections(); now[0].Type != catalog.Dropped || len(s.list.Marks()) != 2 {
		t.Errorf("what the person dropped is %+v, with %+v", now, s.list.Marks())
	}
}

// A film is put on the list when it begins. Taken back it is gone from it, but not when it was watched since.
func TestTheStartOfAFilmIsTakenBack(t *testing.T) {
	film := func(action string) string {
		return `{"media_type":"movie","title":"白夜の塔","release_date":"2019-07-19","user_name":"Mira","sync_action":"` + action + `"}`
	}
	s := start(t, "WATCHMARK_SYNC_FILM_START_MARKS_DOING=true")
	s.list.AddSubject(catalogtest.Subject{ID: 800002, Type: catalog.Anime, Name: "白夜の塔", Date: "2019-07-19", Platform: "剧场版", Eps: 1})
	s.list.AddEpisodes(800002, catalogtest.Episode{ID: 20001, Sort: 1})
	entry := func() catalog.CollectionType { return s.list.Collections()[0].Type }
	unmark := func(id int64) {
		t.Helper()
		s.api(http.MethodPost, fmt.Sprintf("/api/records/%d/unmark", id), "", http.StatusOK, nil)
	}
	began := s.settled(s.custom(film("mark_watching")))
	if began.Message != "listed as being watched" || entry() != catalog.Doing || s.list.Timeline() != 0 {
		t.Errorf("the record is %+v, the entry %v, the timeline has %d", began, entry(), s.list.Timeline())
	}
	watched := s.settled(s.custom(film("")))
	if watched.Status != "success" || entry() != catalog.Done || s.list.Timeline() != 2 {
		t.Errorf("the record is %+v, the entry %v, the timeline has %d", watched, entry(), s.list.Timeline())
	}
	unmark(began.ID)
	if entry() != catalog.Done || len(s.list.Marks()) != 1 {
		t.Errorf("the film was watched since, and is %v now", entry())
	}
	unmark(watched.ID)
	if entry() != catalog.Dropped || len(s.list.Marks()) != 0 || !s.list.Collections()[0].Private {
		t.Errorf("all is taken back, and the entry is %v", entry())
	}
}
