package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

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
