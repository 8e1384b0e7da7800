package app_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/catalogtest"
)

const (
	// manyFirst is the first subject of manyEntries, and malOf what MyAnimeList calls it.
	manyFirst   = 710001
	malOf       = 10000
	noID        = 7 // each seventh has no number on MyAnimeList
	hostileText = "<script>alert(1)</script> & \"]]>\" '\n\t;,=HYPERLINK(\"x\") 好看 \U0001F3EE"
)

// manyEntries gives mira a list of 44 entries, and answers the table of ids that knows six of seven of them. What a number of
// episodes can say is in wantMarks.
func (s *service) manyEntries() (table string, wantMarks map[string]bool) {
	s.t.Helper()
	var rows []string
	wantMarks = map[string]bool{}
	for i := range 44 {
		id := catalog.SubjectID(manyFirst + i)
		film, empty := i%11 == 4, i%22 == 15
		subject := catalogtest.Subject{ID: id, Type: catalog.Anime, Name: fmt.Sprintf("試験 %d", i), NameCN: fmt.Sprintf("试验 %d", i), Platform: "TV", Date: "2020-04-04", Eps: 12, NSFW: i == 8}
		first := 1
		switch {
		case empty: // a film without rows can only be set to done
			subject.Platform, subject.Eps, film = "剧场版", 0, true
		case film:
			subject.Platform, subject.Eps = "剧场版", 1
		case i%5 == 3: // goes on from an earlier season
			first = 13
		}
		s.list.AddSubject(subject)
		var episodes []catalogtest.Episode
		for n := range subject.Eps {
			episodes = append(episodes, catalogtest.Episode{ID: catalog.EpisodeID(int(id)*100 + n + 1), Sort: float64(first + n), AirDate: "2020-04-04"})
		}
		if !film {
			episodes = append(episodes, catalogtest.Episode{ID: catalog.EpisodeID(int(id)*100 + 90), Type: catalog.Special, Sort: 1, AirDate: "2020-04-04"},
				catalogtest.Episode{ID: catalog.EpisodeID(int(id)*100 + 80), Sort: float64(first) + 6.5, AirDate: "2020-05-23"}) // a recap
		}
		s.list.AddEpisodes(id, episodes...)
		known := i%noID != 0
		if known {
			kind := "tv"
			if film {
				kind = "movie"
			}
			rows = append(rows, fmt.Sprintf(`{"title":%q,"type":%q,"begin":"2020-04-04T00:00:00.000Z","sites":[{"site":"bangumi","id":"%d"},{"site":"mal","id":"%d"}]}`, subject.Name, kind, id, malOf+i))
		}
		state := []catalog.CollectionType{catalog.Wish, catalog.Done, catalog.Doing, catalog.OnHold, catalog.Dropped}[i%5]
		if film && state != catalog.Wish {
			state = catalog.Done
		}
		entry := catalogtest.Listed{SubjectID: id, Type: state, Rate: i % 11, Private: i%6 == 5}
		if state == catalog.Wish {
			entry.Rate = 0
		}
		if i%3 == 0 {
			entry.Comment = fmt.Sprintf("%s %d", hostileText, i)
		}
		if i%4 == 0 {
			entry.Tags = []string{"2020年4月", "<b>&amp;", "原创"}
		}
		s.put(entry)
		// What is watched: nothing, all, or some with a gap and a special.
		var watched, counted []int
		switch {
		case state == catalog.Wish, empty:
		case film:
			watched, counted = []int{1}, []int{1}
		case state == catalog.Done:
			for n := range 12 {
				watched = append(watched, n+1)
			}
			counted = watched
		default:
			watched, counted = []int{1, 2, 3, 5, 90}, []int{1, 2, 3} // 4 is a gap, 90 a special
		}
		for _, n := range watched {
			if err := s.list.SetMark("mira", catalog.EpisodeID(int(id)*100+n), catalog.EpisodeWatched); err != nil {
				s.t.Fatal(err)
			}
		}
		for _, n := range counted {
			if known {
				wantMarks[fmt.Sprintf("alex/%d", int(id)*100+n)] = true
			}
		}
	}
	return strings.Replace(tableOf(9000), `"items":[`, `"items":[`+strings.Join(rows, ",")+",", 1), wantMarks
}

// startMany is the service with that list, kept as a snapshot.
func startMany(t *testing.T) (s *service, wantMarks map[string]bool) {
	t.Helper()
	var table string
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(table)) }))
	t.Cleanup(site.Close)
	s = start(t, "WATCHMARK_MATCHING_DATASET_URL="+site.URL+"/data.json")
	table, wantMarks = s.manyEntries()
	s.refreshTable()
	if state := s.app.Dataset.Status(); state.Entries < 9000 {
		t.Fatalf("the table is %+v", state)
	}
	s.takesSnapshot()
	return s, wantMarks
}

// takesFile imports a file for a user, or previews that.
func (s *service) takesFile(format, user, file string, dryRun bool) imported {
	s.t.Helper()
	request := s.request(http.MethodPost, fmt.Sprintf("/api/import/file?format=%s&user=%s&dry_run=%v", format, user, dryRun), "application/octet-stream", file)
	request.Header.Set("Authorization", "Bearer "+s.key)
	var task struct {
		ID int64 `json:"task_id"`
	}
	if got := s.do(request); got.status != http.StatusAccepted || json.Unmarshal([]byte(got.body), &task) != nil {
		s.t.Fatalf("the file is answered %d: %s", got.status, got.body)
	}
	return s.importDone(task.ID)
}

// marksOf are the marks of somebody, as marked has them.
func (s *service) marksOf(user string) map[string]bool {
	all := s.marked()
	maps.DeleteFunc(all, func(mark string, _ bool) bool { return !strings.HasPrefix(mark, user+"/") })
	return all
}

// The JSON gives another account the list that it was taken out of, whole.
func TestTheJSONOfAListGivesTheListBack(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	s, _ := startMany(t)
	file := s.get("/api/accounts/1/export?format=json").body
	s.api(http.MethodPost, "/api/accounts/2/snapshots/import?other_account=true", file, http.StatusAccepted, nil)
	s.idle()
	var list struct {
		Items []struct{ ID int64 }
	}
	s.api(http.MethodGet, "/api/accounts/2/snapshots", "", http.StatusOK, &list)
	s.api(http.MethodPost, fmt.Sprintf("/api/snapshots/%d/restore", list.Items[0].ID), `{"entries":null,"dry_run":false}`, http.StatusAccepted, nil)
	s.idle()
	want, got := s.list.Listed("mira"), s.list.Listed("alex")
	for i := range got {
		got[i].Username = "mira"
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) != 44 {
		t.Errorf("%d entries, -want +got:\n%s", len(want), diff)
	}
	marks := map[string]bool{}
	for mark := range s.marksOf("alex") {
		marks["mira"+strings.TrimPrefix(mark, "alex")] = true
	}
	if diff := cmp.Diff(s.marksOf("mira"), marks); diff != "" {
		t.Errorf("marks, -want +got:\n%s", diff)
	}
}

// The XML gives the episodes of the anime that MyAnimeList has, as far as a number can say which; films, too.
func TestTheXMLOfAListGivesItsEpisodesBack(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	s, want := startMany(t)
	file := s.get("/api/accounts/1/export?format=mal").body
	preview := s.takesFile("mal", "alex", file, true)
	if len(s.marksOf("alex")) > 0 || preview.Result.Table.Counts["mark"] == 0 {
		t.Fatalf("the preview is %+v, marked are %v", preview.Result, s.marksOf("alex"))
	}
	run := s.takesFile("mal", "alex", file, false)
	if diff := cmp.Diff(want, s.marksOf("alex")); diff != "" {
		t.Errorf("marks, -want +got:\n%s\n%+v", diff, run.Result)
	}
	// A film without episodes is on the list as done.
	entries := map[catalog.SubjectID]catalogtest.Listed{}
	for _, e := range s.list.Listed("alex") {
		entries[e.SubjectID] = e
	}
	for _, e := range s.list.Listed("mira") {
		i := int(e.SubjectID) - manyFirst
		got, has := entries[e.SubjectID]
		if wanted := i%noID != 0 && e.Type != catalog.Wish; has != wanted {
			t.Errorf("entry %d (%+v) is on the list: %v, want %v", i, e, has, wanted)
		}
		if i%22 == 15 && i%noID != 0 && e.Type == catalog.Done && got.Type != catalog.Done {
			t.Errorf("the film %d without episodes is %+v", i, got)
		}
	}
	if again := s.takesFile("mal", "alex", file, false); again.Result.Taken != 0 || again.Result.Known != run.Result.Taken {
		t.Errorf("again it takes %+v", again.Result)
	}
}
