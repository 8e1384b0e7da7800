package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/catalogtest"
)

// adultEvent is an episode of an adult title that only its name leads to.
const adultEvent = `{"title":"夜の標本","season":1,"episode":%d,"user_name":"%s"}`

// withAdult is the service with an adult title of two episodes.
func withAdult(t *testing.T, environ ...string) *service {
	s := start(t, environ...)
	s.list.AddSubject(catalogtest.Subject{ID: 505, Type: catalog.Anime, Name: "夜の標本", Platform: "TV", Date: "2026-10-04", Eps: 12, NSFW: true})
	s.list.AddEpisodes(505, catalogtest.Episode{ID: 50501, Sort: 1, AirDate: "2026-10-04"}, catalogtest.Episode{ID: 50502, Sort: 2, AirDate: "2026-10-11"})
	return s
}

// entryOf is somebody's entry of a subject as text, empty when there is none.
func (s *service) entryOf(username string, subject catalog.SubjectID) string {
	for _, c := range s.list.Collections() {
		if c.Username == username && c.SubjectID == subject {
			return fmt.Sprintf("%d private=%v", c.Type, c.Private)
		}
	}
	return ""
}

func TestAdultTitlesAreMarkedByTheRule(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	t.Parallel()
	for _, c := range []struct {
		name, setting, own string
		before             bool   // a public entry is on the list
		entry              string // afterwards; empty for none
	}{
		{name: "as before", entry: "3 private=false"},
		{name: "privately", setting: "private", entry: "3 private=true"},
		{name: "privately, with an entry that is public", setting: "private", before: true, entry: "3 private=false"},
		{name: "skipped", setting: "skip"},
		{name: "skipped, with an entry", setting: "skip", before: true, entry: "1 private=false"},
		{name: "the account marks", setting: "skip", own: "mark", entry: "3 private=false"},
		{name: "the account skips", own: "skip"},
		{name: "the account hides", setting: "mark", own: "private", entry: "3 private=true"},
	} {
		t.Run(c.name, func(t *testing.T) {
			environ := []string{}
			if c.setting != "" {
				environ = append(environ, "WATCHMARK_SYNC_ADULT="+c.setting)
			}
			s := withAdult(t, environ...)
			s.list.Reset()
			if c.before {
				if err := s.list.Collect("mira", 505, catalog.Wish, false); err != nil {
					t.Fatal(err)
				}
			}
			if c.own != "" {
				s.api(http.MethodPatch, "/api/accounts/1", `{"adult":"`+c.own+`"}`, http.StatusOK, nil)
			}
			event := fmt.Sprintf(adultEvent, 1, "Mira")
			r := s.settled(s.custom(event))
			again := s.settled(s.custom(event)) // a media server tells of it twice
			skips := c.own == "skip" || c.own == "" && c.setting == "skip"
			if skips != (r.Status == "ignored") || skips != (again.Status == "ignored") || skips == s.marked()["mira/50501"] {
				t.Errorf("%s %q, then %s; marked are %v", r.Status, r.Message, again.Status, s.marked())
			}
			if skips && !strings.Contains(r.Message, "adult title") {
				t.Errorf("it says %q", r.Message)
			}
			if got := s.entryOf("mira", 505); got != c.entry {
				t.Errorf("the entry is %q, want %q", got, c.entry)
			}
			if skips {
				for request, n := range s.list.Requests() {
					if strings.Contains(request, "collections") && request != "GET /v0/users/-/collections/{id}/episodes" { // that is how the episodes of an adult title are found
						t.Errorf("the list was asked: %d × %s", n, request)
					}
				}
				// What was skipped is marked by a retry once the rule is another one.
				s.api(http.MethodPatch, "/api/accounts/1", `{"adult":"mark"}`, http.StatusOK, nil)
				s.api(http.MethodPost, fmt.Sprintf("/api/records/%d/retry", r.ID), "", http.StatusAccepted, nil)
				s.until(r.ID, func(r recordView) bool { return r.Status == "success" })
			}
			// Another title is nobody's matter.
			if r := s.settled(s.custom(`{"title":"灯台守のうた","season":1,"episode":1,"release_date":"2024-01-10","user_name":"Mira"}`)); r.Status != "success" || s.entryOf("mira", catalog.SubjectID(r.SubjectID)) != "3 private=false" {
				t.Errorf("another title: %s %q, %s", r.Status, r.Message, s.entryOf("mira", catalog.SubjectID(r.SubjectID)))
			}
		})
	}
}

// An adult title that a mapping leads to is looked at before it is marked, and what cannot be looked at waits.
func TestAnAdultTitleIsKnownBeforeItIsMarked(t *testing.T) {
	s := withAdult(t, "WATCHMARK_SYNC_ADULT=skip")
	s.api(http.MethodPost, "/api/mappings", `{"title":"Night","subject_id":505}`, http.StatusCreated, nil)
	if r := s.settled(s.custom(`{"title":"Night","season":1,"episode":1,"user_name":"Mira"}`)); r.Status != "ignored" || len(s.marked()) != 0 {
		t.Errorf("%s %q, marked are %v", r.Status, r.Message, s.marked())
	}
	s.list.SetUser(catalogtest.User{Username: "alex", Token: alexToken, Young: true})
	s.list.Reset() // a minute after a permitted read the catalog shows it to everybody
	if r := s.settled(s.custom(`{"title":"Night","season":1,"episode":1,"user_name":"alex"}`)); r.Status != "error" || len(s.marked()) != 0 {
		t.Errorf("of an account that may not see it: %s %q, marked are %v", r.Status, r.Message, s.marked())
	}
}

func TestRulesOfAnAccountAreChecked(t *testing.T) {
	s := start(t)
	for _, c := range []struct {
		body, now string
		status    int
	}{
		{`{"adult":"skip"}`, "skip", http.StatusOK},
		{`{"private":true}`, "skip", http.StatusOK},
		{`{"adult":"hide"}`, "skip", http.StatusUnprocessableEntity},
		{`{"adult":7}`, "skip", http.StatusUnprocessableEntity},
		{`{"adult":null}`, "", http.StatusOK},
		{`{"adult":"private"}`, "private", http.StatusOK},
		{`{"adult":""}`, "", http.StatusOK},
	} {
		s.api(http.MethodPatch, "/api/accounts/1", c.body, c.status, nil)
		var a struct{ Adult *string }
		if s.api(http.MethodGet, "/api/accounts/1", "", http.StatusOK, &a); a.Adult == nil || *a.Adult != c.now {
			t.Errorf("%s: it is %v, want %q", c.body, a.Adult, c.now)
		}
	}
	s.api(http.MethodPost, "/api/accounts", `{"username":"bench","adult":"private"}`, http.StatusCreated, nil)
}

// rewatchRig is the service with a show that mira has watched some time ago: three episodes, all marked by this service, and done.
func rewatchRig(t *testing.T, rule string) (s *service, watch func(episode int) recordView) {
	s = start(t, "WATCHMARK_SYNC_REWATCH="+rule)
	s.api(http.MethodPatch, "/api/accounts/1", `{"complete_series":true}`, http.StatusOK, nil)
	s.list.AddSubject(catalogtest.Subject{ID: 601, Type: catalog.Anime, Name: "三度目の灯", Platform: "TV", Date: "2020-04-04", Eps: 3})
	s.list.AddEpisodes(601, catalogtest.Episode{ID: 60101, Sort: 1, AirDate: "2020-04-04"}, catalogtest.Episode{ID: 60102, Sort: 2, AirDate: "2020-04-11"},
		catalogtest.Episode{ID: 60103, Sort: 3, AirDate: "2020-04-18"}, catalogtest.Episode{ID: 60191, Type: catalog.Special, Sort: 1})
	if err := s.list.Collect("mira", 601, catalog.Done, false); err != nil {
		t.Fatal(err)
	}
	for _, id := range []catalog.EpisodeID{60101, 60102, 60103} {
		if err := s.list.SetMark("mira", id, catalog.EpisodeWatched); err != nil {
			t.Fatal(err)
		}
	}
	s.list.Age(100 * 24 * time.Hour)
	return s, func(episode int) recordView {
		return s.settled(s.custom(fmt.Sprintf(`{"title":"三度目の灯","season":1,"episode":%d,"user_name":"Mira"}`, episode)))
	}
}

func TestRewatchesFollowTheRule(t *testing.T) {
	t.Parallel()
	const done, doing = "2 private=false", "3 private=false"
	for _, c := range []struct {
		rule    string
		flagged bool
		begun   string // the entry while it is watched again
	}{{"ignore", false, done}, {"note", true, done}, {"doing", true, doing}} {
		t.Run(c.rule, func(t *testing.T) {
			s, watch := rewatchRig(t, c.rule)
			for i, want := range []struct {
				episode int
				flagged bool
				entry   string
			}{{1, c.flagged, c.begun}, {1, false, c.begun}, {2, c.flagged, c.begun}, {3, c.flagged, done}, {3, false, done}} {
				r := watch(want.episode)
				if r.Status != "success" || r.Rewatch != want.flagged || s.entryOf("mira", 601) != want.entry {
					t.Errorf("step %d, episode %d: %s, rewatch %v, %q; the entry is %q, want %q", i, want.episode, r.Status, r.Rewatch, r.Message, s.entryOf("mira", 601), want.entry)
				}
			}
			writes := 0
			for _, w := range s.list.Writes() {
				if w.Episodes != nil {
					t.Errorf("a mark was written: %+v", w)
				}
				writes++
			}
			if want := map[string]int{"doing": 2}[c.rule]; writes != want || len(s.list.Marks()) != 3 {
				t.Errorf("%d writes, want %d; marks are %v", writes, want, s.list.Marks())
			}
			var page struct{ Items []recordView }
			s.api(http.MethodGet, "/api/records?rewatch=true", "", http.StatusOK, &page)
			if got := len(page.Items); got != map[bool]int{true: 3}[c.flagged] {
				t.Errorf("the list of re-watches has %d", got)
			}
		})
	}
}

// A re-watch that is undone leaves the entry as it was, and one that the person ended stays ended.
func TestARewatchIsUndone(t *testing.T) {
	s, watch := rewatchRig(t, "doing")
	first := watch(1)
	if !first.Marked || s.entryOf("mira", 601) != "3 private=false" {
		t.Fatalf("%+v; the entry is %q", first, s.entryOf("mira", 601))
	}
	s.api(http.MethodPost, fmt.Sprintf("/api/records/%d/unmark", first.ID), "", http.StatusOK, nil)
	if got := s.entryOf("mira", 601); got != "2 private=false" || len(s.list.Marks()) != 3 {
		t.Errorf("after the undo the entry is %q, marks are %v", got, s.list.Marks())
	}
	if watch(2); s.entryOf("mira", 601) != "3 private=false" {
		t.Errorf("the next one begins it anew: %q", s.entryOf("mira", 601))
	}
	if err := s.list.Collect("mira", 601, catalog.Done, false); err != nil {
		t.Fatal(err)
	}
	if watch(1); s.entryOf("mira", 601) != "2 private=false" {
		t.Errorf("the person set it done, and now it is %q", s.entryOf("mira", 601))
	}
	if err := s.list.Collect("mira", 601, catalog.Dropped, false); err != nil {
		t.Fatal(err)
	}
	if watch(3); s.entryOf("mira", 601) != "5 private=false" {
		t.Errorf("the person dropped it, and now it is %q", s.entryOf("mira", 601))
	}
}

// What an account chose holds, a film of one part is done and stays so, and what a history tells is over.
func TestRewatchesOfAnAccountFilmsAndHistories(t *testing.T) {
	s, watch := rewatchRig(t, "doing")
	s.list.AddSubject(catalogtest.Subject{ID: 602, Type: catalog.Anime, Name: "冬の停車場", Platform: "剧场版", Date: "2019-01-05", Eps: 1})
	s.list.AddEpisodes(602, catalogtest.Episode{ID: 60201, Sort: 1, AirDate: "2019-01-05"})
	if err := s.list.Collect("mira", 602, catalog.Done, false); err != nil {
		t.Fatal(err)
	}
	s.list.Age(24 * time.Hour)
	if r := s.settled(s.custom(`{"media_type":"movie","title":"冬の停車場","release_date":"2019-01-05","user_name":"Mira"}`)); !r.Rewatch || s.entryOf("mira", 602) != "2 private=false" {
		t.Errorf("a film: %+v, the entry is %q", r, s.entryOf("mira", 602))
	}
	old := time.Now().Add(-10 * 24 * time.Hour).UTC().Format("2006-01-02T15:04:05.0000000Z")
	ids := s.accepted(s.webhook("emby", "application/json", `{"Event":"item.markplayed","Date":"`+old+`","User":{"Name":"Mira"},"Server":{"Id":"attic"},
		"Item":{"Type":"Episode","Id":"9","Name":"x","SeriesName":"三度目の灯","ParentIndexNumber":1,"IndexNumber":2}}`))
	if r := s.settled(ids[0]); !r.Rewatch || s.entryOf("mira", 601) != "2 private=false" {
		t.Errorf("of ten days ago: %+v, the entry is %q", r, s.entryOf("mira", 601))
	}
	s.api(http.MethodPatch, "/api/accounts/1", `{"rewatch":"ignore"}`, http.StatusOK, nil)
	if r := watch(1); r.Rewatch || s.entryOf("mira", 601) != "2 private=false" {
		t.Errorf("ignored: %+v, the entry is %q", r, s.entryOf("mira", 601))
	}
}

// A re-watch whose write was refused, or whose answer was lost, is followed when the catalog answers again, once and undoable.
func TestARewatchSurvivesAnOutage(t *testing.T) {
	for _, mode := range []catalogtest.FaultMode{catalogtest.Refuse, catalogtest.Cut} {
		t.Run(string(mode), func(t *testing.T) {
			s, watch := rewatchRig(t, "doing")
			if err := s.list.SetFault(catalogtest.Fault{Mode: mode, Paths: catalogtest.Writes}); err != nil {
				t.Fatal(err)
			}
			r := watch(1)
			if mode == catalogtest.Refuse && r.Status != "queued" {
				t.Fatalf("%s %q", r.Status, r.Message)
			}
			if err := s.list.SetFault(catalogtest.Fault{Mode: catalogtest.None}); err != nil {
				t.Fatal(err)
			}
			s.again("WATCHMARK_SYNC_REWATCH=doing") // whatever was in hand is taken up at the next start
			if r.Status != "success" {
				s.api(http.MethodPost, fmt.Sprintf("/api/records/%d/retry", r.ID), "", http.StatusAccepted, nil)
			}
			r = s.until(r.ID, func(r recordView) bool { return r.Status == "success" })
			if !r.Rewatch || !r.Marked || s.entryOf("mira", 601) != "3 private=false" {
				t.Errorf("%+v; the entry is %q", r, s.entryOf("mira", 601))
			}
			s.api(http.MethodPost, fmt.Sprintf("/api/records/%d/unmark", r.ID), "", http.StatusOK, nil)
			if got := s.entryOf("mira", 601); got != "2 private=false" {
				t.Errorf("after the undo the entry is %q", got)
			}
		})
	}
}

// unplayed is what Emby sends when somebody sets an episode to played, or back to unplayed.
func (s *service) emby(event string, episode int) answer {
	return s.webhook("emby", "application/json", fmt.Sprintf(`{"Event":"item.%s","User":{"Name":"Mira"},"Server":{"Id":"attic"},
		"Item":{"Type":"Episode","Id":"%d","Name":"x","SeriesName":"三度目の灯","ParentIndexNumber":1,"IndexNumber":%[2]d}}`, event, episode))
}

// unwatchedRig is the service with a show of forty episodes, none of them marked.
func unwatchedRig(t *testing.T, rule string) *service {
	s := start(t, "WATCHMARK_SYNC_UNWATCHED="+rule)
	s.list.AddSubject(catalogtest.Subject{ID: 601, Type: catalog.Anime, Name: "三度目の灯", Platform: "TV", Date: "2020-04-04", Eps: 40})
	for n := range 40 {
		s.list.AddEpisodes(601, catalogtest.Episode{ID: catalog.EpisodeID(60101 + n), Sort: float64(n + 1), AirDate: "2020-04-04"})
	}
	return s
}

// ends waits until a condition holds of the simulated catalog or the service.
func (s *service) ends(what string, is func() bool) {
	s.t.Helper()
	for end := time.Now().Add(30 * time.Second); !is(); {
		if time.Now().After(end) {
			s.t.Fatalf("it never came to that: %s\n%s", what, s.logs.String())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

type unwatchedItem struct {
	RecordID int64    `json:"record_id"`
	Episode  *float64 `json:"episode"`
}

func (s *service) unwatchedAsked() []unwatchedItem {
	var list struct{ Items []unwatchedItem }
	s.api(http.MethodGet, "/api/unwatched", "", http.StatusOK, &list)
	return list.Items
}

func TestWhatIsSetBackToUnwatchedFollowsTheRule(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{"ignore", "take_back", "ask"} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			s := unwatchedRig(t, rule)
			if err := s.list.Collect("mira", 601, catalog.Doing, false); err != nil {
				t.Fatal(err)
			}
			if err := s.list.SetMark("mira", 60102, catalog.EpisodeWatched); err != nil { // her own
				t.Fatal(err)
			}
			first := s.settled(s.accepted(s.emby("markplayed", 1))[0])
			s.settled(s.accepted(s.emby("markplayed", 2))[0])
			for range 2 { // it is told twice
				for _, episode := range []int{1, 2, 3} {
					if got := s.emby("markunplayed", episode); got.status != http.StatusOK || !strings.Contains(got.body, "ignored") {
						t.Fatalf("the webhook answers %d %s", got.status, got.body)
					}
				}
			}
			switch rule {
			case "take_back":
				s.ends("the mark is taken back", func() bool { return !s.marked()["mira/60101"] })
			case "ask":
				s.ends("it is asked", func() bool { return len(s.unwatchedAsked()) == 1 })
				if asked := s.unwatchedAsked(); asked[0].RecordID != first.ID || !s.marked()["mira/60101"] {
					t.Fatalf("asked is %+v, marked are %v", asked, s.marked())
				}
				s.api(http.MethodPost, "/api/unwatched", fmt.Sprintf(`{"record_ids":[%d],"take_back":true}`, first.ID), http.StatusAccepted, nil)
				s.ends("the mark is taken back", func() bool { return !s.marked()["mira/60101"] && len(s.unwatchedAsked()) == 0 })
				s.api(http.MethodPost, "/api/unwatched", fmt.Sprintf(`{"record_ids":[%d],"take_back":true}`, first.ID), http.StatusConflict, nil)
			}
			if !s.marked()["mira/60102"] {
				t.Error("her own mark is gone")
			}
			if rule == "ignore" {
				if !s.marked()["mira/60101"] || len(s.unwatchedAsked()) != 0 {
					t.Errorf("marked are %v", s.marked())
				}
				return
			}
			r := s.until(first.ID, func(r recordView) bool { return r.Status == "ignored" })
			if !strings.Contains(r.Message, "set back to unwatched") {
				t.Errorf("it says %q", r.Message)
			}
			// A later watch marks again, and what is kept stays.
			again := s.settled(s.accepted(s.emby("markplayed", 1))[0])
			if again.Status != "success" || !s.marked()["mira/60101"] {
				t.Errorf("a later watch: %+v, marked are %v", again, s.marked())
			}
			if rule == "ask" {
				s.emby("markunplayed", 1)
				s.ends("it is asked again", func() bool { return len(s.unwatchedAsked()) == 1 })
				s.api(http.MethodPost, "/api/unwatched", fmt.Sprintf(`{"record_ids":[%d],"take_back":false}`, again.ID), http.StatusAccepted, nil)
				s.ends("nothing is asked", func() bool { return len(s.unwatchedAsked()) == 0 })
				if !s.marked()["mira/60101"] {
					t.Error("what was kept is gone")
				}
			}
		})
	}
}

// Many at once wait for a person, whatever the rule; an account has its own rule; and what was watched again meanwhile stays.
func TestManySetBackAtOnceWait(t *testing.T) {
	s := unwatchedRig(t, "ignore")
	s.api(http.MethodPatch, "/api/accounts/1", `{"unwatched":"take_back"}`, http.StatusOK, nil)
	var ids []int64
	for n := range 31 {
		ids = append(ids, s.accepted(s.emby("markplayed", n+1))...)
	}
	for _, id := range ids {
		s.settled(id)
	}
	for n := range 31 {
		s.emby("markunplayed", n+1)
	}
	s.ends("it is asked about all", func() bool { return len(s.unwatchedAsked()) == 31 })
	if n := len(s.list.Marks()); n != 31 {
		t.Errorf("%d marks are left before the answer", n)
	}
	s.settled(s.accepted(s.emby("markplayed", 5))[0])
	text, _ := json.Marshal(ids)
	s.api(http.MethodPost, "/api/unwatched", `{"record_ids":`+string(text)+`,"take_back":true}`, http.StatusAccepted, nil)
	s.ends("all are answered", func() bool { return len(s.unwatchedAsked()) == 0 })
	if marks := s.list.Marks(); len(marks) != 1 || marks[0].EpisodeID != 60105 {
		t.Errorf("marks are %v", marks)
	}
}
