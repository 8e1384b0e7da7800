package app_test

import (
	"net/http"
	"strings"
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/catalogtest"
)

// What is no answer of the catalog's, or cannot be true, marks nothing wrong and loses nothing.
func TestAnswersThatAreNotTheCatalogsOwn(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	const watched = `{"title":"灯塔守望者","season":1,"episode":5,"user_name":"Mira"}`
	const (
		entryOf  = "GET /v0/users/{username}/collections/{id}"
		episodes = "GET /v0/episodes"
		mark     = "PUT /v0/users/-/collections/-/episodes/{id}"
		search   = "POST /v0/search/subjects"
	)
	for _, c := range []struct {
		name    string
		fault   catalogtest.Fault
		status  string // of the record, while the fault is in force
		message string
	}{
		{"a mark answered with 200", catalogtest.Fault{Mode: catalogtest.Say, Status: 200, Pattern: mark}, "queued", "the answer is not one that Bangumi gives (HTTP 200)"},
		{"a mark answered with an error and 200", catalogtest.Fault{Mode: catalogtest.Say, Status: 200, Body: `{"title":"Bad Request"}`, Pattern: mark}, "queued", "(HTTP 200)"},
		{"a mark answered with 202 and a text", catalogtest.Fault{Mode: catalogtest.Say, Status: 202, Body: "ok", ContentType: "text/plain", Pattern: mark}, "queued", "(HTTP 202)"},
		{"an entry that is null", catalogtest.Fault{Mode: catalogtest.Say, Status: 200, Body: `null`, Pattern: entryOf}, "queued", "(HTTP 200)"},
		{"an episode list that is empty", catalogtest.Fault{Mode: catalogtest.Say, Status: 200, Body: `{"data":[],"total":0}`, Pattern: episodes}, "queued", "Bangumi shows no episodes of an entry that should have some"},
		{"an episode list that is empty once", catalogtest.Fault{Mode: catalogtest.Say, Status: 200, Body: `{"data":[],"total":0}`, Pattern: episodes, Times: 1}, "success", ""},
		{"an episode list that lacks its rows", catalogtest.Fault{Mode: catalogtest.Say, Status: 200, Body: `{"data":null,"total":99}`, Pattern: episodes}, "queued", "(HTTP 200)"},
		{"a search that is switched off", catalogtest.Fault{Mode: catalogtest.Say, Status: 200, Body: "search is not enable", ContentType: "text/plain; charset=UTF-8", Pattern: search}, "queued", "the search of Bangumi is switched off"},
		{"a rate ban", catalogtest.Fault{Mode: catalogtest.Status, Status: 429}, "queued", "too many (HTTP 429)"},
		{"a server error", catalogtest.Fault{Mode: catalogtest.Status, Status: 500}, "queued", "out of order (HTTP 500)"},
		{"a refused connection", catalogtest.Fault{Mode: catalogtest.Refuse}, "queued", "refused or cut"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, "WATCHMARK_MATCHING_DATASET_ENABLED=false")
			if c.fault.Pattern == search { // the old search finds less
				s.list.AddSubject(catalogtest.Subject{ID: 900001, Type: catalog.Anime, Name: "灯台守", Deleted: true})
				s.list.AddSubject(catalogtest.Subject{ID: 900003, Type: catalog.Anime, Name: "x", Deleted: true})
			}
			s.api(http.MethodPatch, "/api/settings", `{"catalog_replay":{"enabled":false}}`, http.StatusOK, nil)
			if err := s.list.SetFault(c.fault); err != nil {
				t.Fatal(err)
			}
			r := s.settled(s.custom(watched))
			if r.Status != c.status || !strings.Contains(r.Message, c.message) {
				t.Errorf("%s %q", r.Status, r.Message)
			}
			if (len(s.marked()) == 1) != (c.status == "success") {
				t.Errorf("marked are %v", s.marked())
			}
		})
	}
}

// One false "not collected" must not turn what is done into what is being watched.
func TestOneFalseNotCollectedChangesNothing(t *testing.T) {
	s := start(t)
	if err := s.list.Collect("mira", 900001, catalog.Done, false); err != nil {
		t.Fatal(err)
	}
	if r := s.settled(s.custom(`{"title":"灯塔守望者","season":1,"episode":4,"user_name":"Mira"}`)); r.Status != "success" {
		t.Fatalf("%s %q", r.Status, r.Message)
	}
	s.again() // what is known outlives the program
	for _, body := range []string{`{"title":"Not Found","description":"subject is not collected by user"}`, `{"title":"Not Found"}`} {
		err := s.list.SetFault(catalogtest.Fault{Mode: catalogtest.Say, Status: 404, Body: body, Pattern: "GET /v0/users/{username}/collections/{id}", Times: 1})
		if err != nil {
			t.Fatal(err)
		}
		if r := s.settled(s.custom(`{"title":"灯塔守望者","season":1,"episode":5,"user_name":"Mira"}`)); r.Status != "success" || !strings.Contains(r.Message, "the whole entry is completed") {
			t.Errorf("%s %q", r.Status, r.Message)
		}
	}
	if now := s.list.Collections(); len(now) != 1 || now[0].Type != catalog.Done || len(s.list.Writes()) != 0 {
		t.Errorf("entries %+v, writes %+v", now, s.list.Writes())
	}
}
