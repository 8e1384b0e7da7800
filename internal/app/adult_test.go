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
	s.list.AddSubject(catalogtest.Subject{ID: 506, Type: catalog.Anime, Name: "真昼の温室", Platform: "TV", Date: "2026-10-05", Eps: 12, NSFW: true})
	s.list.AddEpisodes(506, catalogtest.Episode{ID: 50601, Sort: 1, AirDate: "2026-10-05"})
	s.api("POST", "/api/mappings", `{"title":"夜之标本","subject_id":505}`, 201, nil)
	for _, c := range []struct {
		name, event, marked, message string
	}{
		{"known to the archive", `{"title":"夜之果园","season":1,"episode":1,"user_name":"Mira"}`, "mira/50301", ""},
		{"newer than the archive", `{"title":"夜之果园","season":1,"episode":2,"user_name":"Mira"}`, "mira/50302", ""},
		{"newer than the archive, by its date", `{"title":"夜之果园","season":1,"episode":2,"release_date":"2026-04-14","user_name":"mira TV"}`, "mira/50302", ""},
		{"a show that the archive lacks", `{"title":"夜之标本","season":1,"episode":1,"user_name":"Mira"}`, "mira/50501", ""},
		{"a show that only its title leads to", `{"title":"真昼の温室","season":1,"episode":1,"user_name":"Mira"}`, "mira/50601", ""},
		{"known to the archive, too young", `{"title":"夜之果园","season":1,"episode":1,"user_name":"alex"}`, "", "account may not see it (registered too recently, or not permitted)"},
		{"newer than the archive, too young", `{"title":"夜之果园","season":1,"episode":2,"user_name":"alex"}`, "", "account may not see it (registered too recently, or not permitted)"},
		{"a show that the archive lacks, too young", `{"title":"夜之标本","season":1,"episode":1,"user_name":"alex"}`, "", "account may not see it (registered too recently, or not permitted)"},
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

// What only an account may see cannot be missed for a refused token in silence.
func TestARefusedTokenIsToldWhereNothingElseMatches(t *testing.T) {
	s := start(t)
	s.list.RevokeToken(miraToken)
	r := s.settled(s.custom(`{"title":"夜の標本","season":1,"episode":1,"user_name":"Mira"}`))
	if r.Status != "error" || r.ErrorKind != "unauthorized" || !strings.Contains(r.Message, "enter a new one on the page People") {
		t.Errorf("%s %s %q", r.Status, r.ErrorKind, r.Message)
	}
}

// Where neither the archive nor a mapping nor an id leads to an adult title, the account searches itself.
func TestTheAccountFindsAdultTitlesByName(t *testing.T) {
	const search = "POST /v0/search/subjects"
	s := start(t)
	s.list.SetUser(catalogtest.User{Username: "alex", Token: alexToken, Young: true})
	s.list.AddSubject(
		catalogtest.Subject{ID: 505, Type: catalog.Anime, Name: "夜の標本", NameCN: "夜之标本", Platform: "TV", Date: "2026-10-04", Eps: 12, NSFW: true},
		catalogtest.Subject{ID: 506, Type: catalog.Anime, Name: "朝の標本", Platform: "TV", Date: "2027-04-04", Eps: 12, NSFW: true},
		catalogtest.Subject{ID: 507, Type: catalog.Anime, Name: "月下の金魚", Platform: "剧场版", Date: "2025-05-05", Eps: 1, NSFW: true},
		catalogtest.Subject{ID: 508, Type: catalog.Anime, Name: "眠れる庭", Platform: "OVA", Date: "2024-05-05", Eps: 1, NSFW: true},
		catalogtest.Subject{ID: 509, Type: catalog.Anime, Name: "眠れる庭師", Platform: "TV", Date: "2024-01-05", Eps: 1},
	)
	for id, date := range map[catalog.SubjectID]string{505: "2026-10-04", 506: "2027-04-04", 507: "", 508: "2024-05-05", 509: "2024-01-05"} {
		s.list.AddEpisodes(id, catalogtest.Episode{ID: catalog.EpisodeID(100 * id), Sort: 1, AirDate: date})
	}
	s.list.AddRelation(505, catalog.CodeSequel, 506)
	s.list.AddRelation(506, catalog.CodePrequel, 505)
	const nothing = `no entry matches "夜の標本": search for it on Bangumi`
	for _, c := range []struct {
		name, event, marked, message string
		searches                     int
	}{
		{"too young", `{"title":"夜の標本","season":1,"episode":1,"user_name":"alex"}`, "", nothing, 2},
		{"what the young one did not find", `{"title":"夜の標本","season":1,"episode":1,"user_name":"Mira"}`, "mira/50500", "", 1},
		{"what the old one found", `{"title":"夜の標本","season":1,"episode":1,"user_name":"alex"}`, "", nothing, 0},
		{"again", `{"title":"夜の標本","season":1,"episode":1,"user_name":"mira TV"}`, "mira/50500", "", 0},
		{"by another title", `{"title":"夜之标本","season":1,"episode":1,"user_name":"Mira"}`, "mira/50500", "", 2},
		{"a season along the sequels", `{"title":"夜の標本","season":2,"episode":1,"release_date":"2027-04-04","user_name":"Mira"}`, "mira/50600", "", 1},
		{"a film", `{"media_type":"movie","title":"月下の金魚","release_date":"2025-05-05","user_name":"Mira"}`, "mira/50700", "", 3},
		{"beside one that is not sure", `{"title":"眠れる庭","season":1,"episode":1,"release_date":"2024-05-05","user_name":"Mira"}`, "mira/50800", "", 3},
		{"found by all", `{"title":"灯台守のうた","season":1,"episode":1,"release_date":"2024-01-10","user_name":"Mira"}`, "mira/90000101", "", 1},
		{"found by nobody", `{"title":"The Office","season":1,"episode":1,"user_name":"Mira"}`, "", "no entry matches", 2},
		{"found by nobody again", `{"title":"The Office","season":1,"episode":2,"user_name":"Mira"}`, "", "no entry matches", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.list.Reset()
			r := s.settled(s.custom(c.event))
			if c.marked != "" && (r.Status != "success" || !s.marked()[c.marked]) || c.marked == "" && (r.Status != "error" || len(s.marked()) != 0) {
				t.Errorf("%s %q, marked are %v", r.Status, r.Message, s.marked())
			}
			if !strings.Contains(r.Message, c.message) {
				t.Errorf("it says %q", r.Message)
			}
			if n := s.list.Requests()[search]; n != c.searches {
				t.Errorf("%d searches, want %d", n, c.searches)
			}
		})
	}
}
