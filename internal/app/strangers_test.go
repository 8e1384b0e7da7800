package app_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/channeltest"
)

const (
	// longShow is an entry with so many episodes.
	longShow     = 730001
	longEpisodes = 500
)

// addLongShow puts longShow on the catalog.
func (s *service) addLongShow() {
	s.list.AddSubject(catalogtest.Subject{ID: longShow, Type: catalog.Anime, Name: "長河の手記", NameCN: "长河手记", Platform: "TV", Date: "2010-04-04", Eps: longEpisodes})
	var episodes []catalogtest.Episode
	for n := range longEpisodes {
		episodes = append(episodes, catalogtest.Episode{ID: catalog.EpisodeID(longShow*1000 + n + 1), Sort: float64(n + 1), AirDate: "2010-04-04"})
	}
	s.list.AddEpisodes(longShow, episodes...)
}

// standing is what is seen of a user without an account.
type standing struct {
	Plays, Lines, Notices, Times, Badge int
	Failed, Ignored                     int
}

// standsAs is what the API and the pages show of users without an account.
func (s *service) standsAs(user string) (got standing) {
	s.t.Helper()
	for _, u := range list[struct {
		UserName string `json:"user_name"`
		Plays    int    `json:"plays"`
	}](s, "/api/unknown-users") {
		if u.UserName == user {
			got.Plays = u.Plays
		}
	}
	for _, path := range []string{"/records", "/people"} {
		page := s.get(path).body
		_, fold, _ := strings.Cut(page, `id="unrouted-users"`)
		fold, _, _ = strings.Cut(fold, "</details>")
		got.Lines += strings.Count(fold, "user-line")
		if path == "/records" {
			got.Badge = badgesOn(page).Failed
		}
	}
	for _, n := range list[struct {
		Kind      string
		Times     int
		Replaced  bool
		SettledAt *string `json:"settled_at"`
	}](s, "/api/notification/inbox?kind=no_account&limit=200") {
		if !n.Replaced && n.SettledAt == nil {
			got.Notices, got.Times = got.Notices+1, n.Times
		}
	}
	var stats struct{ Total map[string]int }
	s.api(http.MethodGet, "/api/stats", "", http.StatusOK, &stats)
	got.Failed, got.Ignored = stats.Total["error"], stats.Total["ignored"]
	return got
}

// 500 plays of one unknown user are one line, one notice, one message and one count. As one of an account's they are all marked, once and in
// their order; undone, they are as before; and ignored and heeded again, too.
func TestAHouseholdWithAStranger(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	s := startEmpty(t)
	s.addLongShow()
	if err := s.app.SetUp(t.Context(), "bench", password); err != nil {
		t.Fatal(err)
	}
	mira := s.joins("mira", miraToken)
	hook := channeltest.NewHook(t)
	s.api(http.MethodPost, "/api/notification/webhooks", fmt.Sprintf(`{"name":"hook","config":{"url":%q}}`, hook.URL), http.StatusCreated, nil)
	var last int64
	for n := range longEpisodes {
		last = s.custom(fmt.Sprintf(`{"title":"长河手记","season":1,"episode":%d,"user_name":"Sofa TV"}`, n+1))
	}
	s.settled(last)
	one := standing{Plays: longEpisodes, Lines: 2, Notices: 1, Times: longEpisodes, Badge: 1, Failed: longEpisodes}
	s.wait("all plays failed", func() bool { return s.standsAs("Sofa TV").Failed == longEpisodes })
	is := func(when string, want standing) {
		t.Helper()
		if diff := cmp.Diff(want, s.standsAs("Sofa TV")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	is("500 plays", one)
	hook.Wait(t, 1)

	var preview struct {
		AccountName string `json:"account_name"`
		Plays, More int
		Titles      []struct {
			Title        string
			Plays        int
			FirstEpisode float64 `json:"first_episode"`
			LastEpisode  float64 `json:"last_episode"`
		}
	}
	s.api(http.MethodGet, "/api/unknown-users/preview?name=Sofa+TV&account_id=1", "", http.StatusOK, &preview)
	if preview.AccountName != "mira" || preview.Plays != longEpisodes || len(preview.Titles) != 1 || preview.Titles[0].LastEpisode != longEpisodes {
		t.Errorf("the preview is %+v", preview)
	}
	page := s.get("/people/assign?" + url.Values{"user": {"Sofa TV"}, "account": {"1"}}.Encode())
	if page.status != http.StatusOK || !strings.Contains(page.body, "长河手记") || !strings.Contains(page.body, "500 plays") || !strings.Contains(page.body, "/api/unknown-users/assign") {
		t.Errorf("the page of the preview answers %d: %s", page.status, page.body)
	}

	const assign = `{"name":"Sofa TV","account_id":1}`
	var started struct {
		TaskID int64 `json:"task_id"`
	}
	marked := func() {
		t.Helper()
		before := len(s.list.Writes())
		s.api(http.MethodPost, "/api/unknown-users/assign", assign, http.StatusAccepted, &started)
		if end := s.taskEnds(started.TaskID).body; !strings.Contains(end, `"state":"done"`) || !strings.Contains(end, fmt.Sprintf(`"marked":%d`, longEpisodes)) {
			t.Errorf("the task ended as %s", end)
		}
		is("mira's", standing{})
		var order []int
		for _, m := range s.list.Marks() {
			order = append(order, int(m.EpisodeID))
		}
		if len(order) != longEpisodes || len(slices.Compact(slices.Sorted(slices.Values(order)))) != longEpisodes {
			t.Errorf("%d are marked", len(order))
		}
		var written []catalog.EpisodeID
		for _, w := range s.list.Writes()[before:] {
			written = append(written, w.Episodes...)
		}
		if !slices.IsSorted(written) || len(written) != longEpisodes {
			t.Errorf("the marks were written as %v", written)
		}
	}
	marked()
	if !strings.Contains(mira.want(http.MethodGet, "/api/me", "", http.StatusOK).body, "Sofa TV") {
		t.Error("the user is not mira")
	}

	// Undone.
	writes := len(s.list.Writes())
	s.undoes(fmt.Sprintf(`{"task_id":%d,"dry_run":true}`, started.TaskID))
	is("the undo is previewed", standing{})
	s.undoes(fmt.Sprintf(`{"task_id":%d}`, started.TaskID))
	is("undone", one)
	if left := s.marked(); len(left) != 0 || len(s.list.Writes()) == writes {
		t.Errorf("%d marks are left", len(left))
	}
	if strings.Contains(mira.want(http.MethodGet, "/api/me", "", http.StatusOK).body, "Sofa TV") {
		t.Error("the user is mira still")
	}
	if got := mira.want(http.MethodGet, "/api/records", "", http.StatusOK); strings.Contains(got.body, "长河手记") {
		t.Error("mira has records of the user still")
	}

	// Ignored, and heeded.
	s.api(http.MethodPost, "/api/ignored-users", `{"name":"Sofa TV"}`, http.StatusNoContent, nil)
	is("ignored", standing{Ignored: longEpisodes})
	s.api(http.MethodDelete, "/api/ignored-users?name=Sofa+TV", "", http.StatusNoContent, nil)
	is("heeded", one)

	marked()
	var told []string
	for _, message := range hook.Requests() { // the other one asks mira how the show was
		if strings.Contains(string(message.Body), `"type":"no_account"`) {
			told = append(told, string(message.Body))
		}
	}
	if len(told) != 1 {
		t.Errorf("%d messages tell of the user: %s", len(told), strings.Join(told, "\n"))
	}
	// What cannot be.
	s.api(http.MethodPost, "/api/unknown-users/assign", `{"name":"Sofa TV","account_id":4711}`, http.StatusNotFound, nil)
	s.api(http.MethodPost, "/api/unknown-users/assign", `{"name":" ","account_id":1}`, http.StatusUnprocessableEntity, nil)
	s.api(http.MethodPost, "/api/people", `{"name":"alex","role":"person","media_user_names":["alex"]}`, http.StatusCreated, nil)
	if got := s.api(http.MethodPost, "/api/unknown-users/assign", `{"name":"alex","account_id":1}`, http.StatusConflict, nil); !strings.Contains(got.body, "person_media_user_taken") {
		t.Errorf("the user of alex as mira: %s", got.body)
	}
	s.api(http.MethodPatch, "/api/accounts/1", `{"enabled":false}`, http.StatusOK, nil)
	s.api(http.MethodPost, "/api/unknown-users/assign", `{"name":"another","account_id":1}`, http.StatusConflict, nil)
}
