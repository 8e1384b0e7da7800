package mediaservertest

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const playedQuery = "Recursive=true&IncludeItemTypes=Episode,Movie&Filters=IsPlayed&SortBy=DatePlayed,SortName&SortOrder=Descending,Ascending"

// What lists of the kinds tell and withhold: sections 2.5, 3.4 and 5.
func TestItems(t *testing.T) {
	watched := func(t *testing.T, cfg Config) *person {
		s := start(t, cfg)
		for n := range 3 {
			must(t, s.Mark("mira", episode(t, s, n+1), time.Date(2026, 5, n+1, 12, 0, 0, 0, time.UTC)))
		}
		return signedIn(t, s)
	}
	list := func(p *person, path string) rows {
		var all rows
		p.get(path, &all)
		return all
	}
	t.Run("jellyfin sorts and pages", func(t *testing.T) {
		p := watched(t, Config{Kind: Jellyfin})
		got := list(p, "/Users/"+p.id+"/Items?"+playedQuery+"&StartIndex=1&Limit=1")
		if len(got.Items) != 1 || got.TotalRecordCount != 3 || got.Items[0].UserData.LastPlayedDate != "2026-05-02T12:00:00.0000000Z" || got.Items[0].PremiereDate == "" {
			t.Errorf("%+v", got)
		}
		if got = list(p, "/Items?userId="+p.id+"&"+playedQuery+"&Limit=0"); len(got.Items) != 0 || got.TotalRecordCount != 3 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("jellyfin 10.8 without a user knows nothing of plays", func(t *testing.T) {
		p := watched(t, Config{Kind: Jellyfin, Version: "10.8.13"})
		if got := list(p, "/Items?"+playedQuery); len(got.Items) > 0 && got.Items[0].UserData.Played {
			t.Errorf("%+v", got.Items[0])
		}
	})
	t.Run("another person's items", func(t *testing.T) {
		for version, want := range map[string]int{"10.8.13": 200, "10.9.11": 403} {
			p := watched(t, Config{Kind: Jellyfin, Version: version})
			alex, err := p.s.User("alex")
			must(t, err)
			if status, _ := p.ask("GET", "/Users/"+alex.ID+"/Items?"+playedQuery, ""); status != want {
				t.Errorf("%s: %d", version, status)
			}
		}
	})
	t.Run("emby withholds dates that are not named", func(t *testing.T) {
		for version, told := range map[string]bool{"4.7.14.0": true, "4.8.10.0": false, "4.9.1.0": false} {
			p := watched(t, Config{Kind: Emby, Version: version})
			got := list(p, "/emby/Users/"+p.id+"/Items?"+playedQuery).Items[0]
			if (got.UserData.LastPlayedDate != "") != told || (got.UserData.PlayCount > 0) != told || (got.PremiereDate != "") != told || !got.UserData.Played {
				t.Errorf("%s: %+v", version, got)
			}
			got = list(p, "/emby/Users/"+p.id+"/Items?"+playedQuery+"&Fields=PremiereDate,UserDataLastPlayedDate,UserDataPlayCount").Items[0]
			if got.UserData.LastPlayedDate == "" || got.UserData.PlayCount != 1 || got.PremiereDate != "2025-01-21T16:00:00.0000000Z" {
				t.Errorf("%s, named: %+v", version, got)
			}
		}
	})
	t.Run("fnos finds nothing by a list of types", func(t *testing.T) {
		p := watched(t, Config{Kind: FnOS})
		if got := list(p, "/Users/"+p.id+"/Items?"+playedQuery); len(got.Items) != 0 {
			t.Errorf("%d rows", len(got.Items))
		}
		if got := list(p, "/Users/"+p.id+"/Items?Recursive=true&IncludeItemTypes=Episode&Filters=IsPlayed"); len(got.Items) < 100 {
			t.Errorf("%d rows: the filter of plays is not known to work", len(got.Items))
		}
		if status, text := p.ask("GET", "/Shows/x/Episodes", ""); status != 200 || !strings.HasPrefix(text, "<!DOCTYPE") {
			t.Errorf("%d %s", status, text)
		}
	})
	t.Run("zspace ignores types below a parent", func(t *testing.T) {
		p := watched(t, Config{Kind: ZSpace})
		got := list(p, "/emby/Users/"+p.id+"/Items?ParentId=1&IncludeItemTypes=Episode&Recursive=true")
		if len(got.Items) == 0 || got.Items[0].Type != "Series" {
			t.Fatalf("%+v", got)
		}
		var episodes rows
		p.get("/emby/Shows/"+got.Items[0].ID+"/Episodes?UserId="+p.id, &episodes)
		if len(episodes.Items) != 26 || episodes.Items[0].Type != "Episode" {
			t.Errorf("%d rows", len(episodes.Items))
		}
	})
	t.Run("a part of the libraries", func(t *testing.T) {
		s := start(t, Config{Kind: Jellyfin})
		must(t, s.ChangeUser("mira", func(u *User) { u.Libraries = []string{sampleID(Jellyfin, 2)} }))
		p := signedIn(t, s)
		if got := list(p, "/Users/"+p.id+"/Items?Ids="+episode(t, s, 1)); len(got.Items) != 0 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("a collection hides its films", func(t *testing.T) {
		s := start(t, Config{Kind: Emby})
		film := s.Add(Item{Library: s.cfg.Libraries[1].ID, Title: "深海", Collection: "深海"})
		must(t, s.Watch("mira", film.ID))
		p := signedIn(t, s)
		if got := list(p, "/Users/"+p.id+"/Items?"+playedQuery); len(got.Items) != 0 {
			t.Errorf("%+v", got)
		}
		if got := list(p, "/Users/"+p.id+"/Items?"+playedQuery+"&GroupItemsIntoCollections=false"); len(got.Items) != 1 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("a list and a filter that read different rows", func(t *testing.T) {
		p := watched(t, Config{Kind: Jellyfin})
		id := episode(t, p.s, 2)
		must(t, p.s.Split("mira", id))
		if got := list(p, "/Users/"+p.id+"/Items?"+playedQuery); len(got.Items) != 3 || got.Items[1].ID != id || got.Items[1].UserData.Played {
			t.Errorf("%+v", got)
		}
		if got := list(p, "/Users/"+p.id+"/Items?Ids="+id); !got.Items[0].UserData.Played {
			t.Errorf("%+v", got)
		}
	})
	t.Run("the whole of 50,000 plays", func(t *testing.T) {
		s := start(t, Config{Kind: Jellyfin})
		s.Generate(50_000, "mira")
		p := signedIn(t, s)
		seen := map[string]bool{}
		for at := 0; ; at += 1000 {
			got := list(p, fmt.Sprintf("/Users/%s/Items?%s&EnableTotalRecordCount=false&StartIndex=%d&Limit=1000", p.id, playedQuery, at))
			for _, i := range got.Items {
				seen[i.ID] = true
			}
			if len(got.Items) < 1000 {
				break
			}
		}
		if len(seen) != 50_000 {
			t.Errorf("%d items", len(seen))
		}
	})
}
