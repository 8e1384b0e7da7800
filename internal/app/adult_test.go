package app_test

import (
	"strings"
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/catalogtest"
)

// Adult titles do not exist for look-ups without an account, nor for young accounts: the account of who watched decides.
func TestTheAccountDecidesOnAdultTitles(t *testing.T) {
	s := withArchive(t)
	s.list.SetUser(catalogtest.User{Username: "alex", Token: alexToken, Young: true})
	s.list.AddEpisodes(503, catalogtest.Episode{ID: 50302, Sort: 2, AirDate: "2026-04-14"}) // newer than the archive
	s.list.AddSubject(catalogtest.Subject{ID: 505, Type: catalog.Anime, Name: "夜の標本", Platform: "TV", Date: "2026-10-04", Eps: 12, NSFW: true})
	s.list.AddEpisodes(505, catalogtest.Episode{ID: 50501, Sort: 1, AirDate: "2026-10-04"})
	s.api("POST", "/api/mappings", `{"title":"夜之标本","subject_id":505}`, 201, nil)
	for _, c := range []struct {
		name, event, marked, message string
	}{
		{"known to the archive", `{"title":"夜之果园","season":1,"episode":1,"user_name":"Mira"}`, "mira/50301", ""},
		{"newer than the archive", `{"title":"夜之果园","season":1,"episode":2,"user_name":"Mira"}`, "mira/50302", ""},
		{"newer than the archive, by its date", `{"title":"夜之果园","season":1,"episode":2,"release_date":"2026-04-14","user_name":"mira TV"}`, "mira/50302", ""},
		{"a show that the archive lacks", `{"title":"夜之标本","season":1,"episode":1,"user_name":"Mira"}`, "mira/50501", ""},
		{"known to the archive, too young", `{"title":"夜之果园","season":1,"episode":1,"user_name":"alex"}`, "", "this account may not see it (too young, or not allowed)"},
		{"newer than the archive, too young", `{"title":"夜之果园","season":1,"episode":2,"user_name":"alex"}`, "", "this account may not see it (too young, or not allowed)"},
		{"a show that the archive lacks, too young", `{"title":"夜之标本","season":1,"episode":1,"user_name":"alex"}`, "", "this account may not see it (too young, or not allowed)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.list.Reset() // a minute after a permitted read the catalog shows it to everybody
			r := s.settled(s.custom(c.event))
			if c.marked != "" && (r.Status != "success" || !s.marked()[c.marked]) || c.marked == "" && (r.Status != "error" || len(s.marked()) != 0) {
				t.Errorf("%s %q, marked are %v", r.Status, r.Message, s.marked())
			}
			if !strings.Contains(r.Message, c.message) || strings.Contains(r.Message, "no episode list") {
				t.Errorf("it says %q", r.Message)
			}
		})
	}
}
