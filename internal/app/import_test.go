package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/testkit/mediaservertest"
)

const importToken = "server-token-5e1c7d9b"

// library is what a server of the tests holds: two seasons, a special, a film and things that
// cannot be marked. watcher has seen most of it, another user one episode.
func library(source, watcher, other string) mediaservertest.Config {
	at := func(days int) map[string]time.Time {
		return map[string]time.Time{watcher: time.Now().AddDate(0, 0, -days).Truncate(time.Second)}
	}
	c := mediaservertest.Config{
		Kind: mediaservertest.Kind(source), ID: "server-1", Name: "Home " + source, Key: importToken,
		Users:     []mediaservertest.User{{ID: watcher, Name: "Mira"}, {ID: other, Name: "alex"}},
		Libraries: []mediaservertest.Library{{ID: "3", Name: "动画", Kind: "show"}, {ID: "4", Name: "Films", Kind: "movie"}, {ID: "5", Name: "Music", Kind: "music"}},
		Shows: []mediaservertest.Show{
			{ID: "100", Library: "3", Title: "The Lighthouse Keeper's Song", Original: "灯台守のうた"},
			{ID: "200", Library: "3", Title: "A show that nobody knows at all"},
		},
		Items: []mediaservertest.Item{
			{ID: "103", Library: "3", Show: "100", Title: "unseen", Season: 1, Episode: 3, Date: "2024-01-24", Watched: map[string]time.Time{other: time.Now()}},
			{ID: "207", Library: "3", Show: "100", Title: "seen", Season: 2, Episode: 7, Date: "2025-02-19", Watched: at(20)},
			{ID: "151", Library: "3", Show: "100", Title: "special", Season: 0, Episode: 1, Date: "2024-05-01", Watched: at(10)},
			{ID: "901", Library: "3", Show: "200", Title: "nowhere", Season: 1, Episode: 1, Date: "2020-01-01", Watched: at(5)},
			{ID: "801", Library: "4", Title: "劇場版 灯台守のうた 北の光", Date: "2024-08-30", Watched: at(3)},
		},
		PageMost: 2,
	}
	for n := range 5 { // the first two of them become marks before the import
		c.Items = append(c.Items, mediaservertest.Item{ID: fmt.Sprint(110 + n), Library: "3", Show: "100", Title: "x", Season: 1, Episode: 4 + n, Date: time.Date(2024, 1, 31+7*n, 0, 0, 0, 0, time.UTC).Format(time.DateOnly), Watched: at(60 - n)})
	}
	return c
}

// imported is the result of an import or a preview.
type imported struct {
	State   string `json:"state"`
	Message string `json:"message"`
	Result  struct {
		Server string `json:"server"`
		User   string `json:"user"`
		Table  struct {
			Rows []struct {
				Title     string    `json:"title"`
				Accounts  []string  `json:"accounts"`
				Season    *int      `json:"season"`
				Episodes  []float64 `json:"episodes"`
				Status    string    `json:"status"`
				SubjectID int       `json:"subject_id"`
			} `json:"rows"`
			Counts map[string]int `json:"counts"`
		} `json:"table"`
		Taken   int            `json:"taken"`
		Known   int            `json:"known"`
		Skipped int            `json:"skipped"`
		Records map[string]int `json:"records"`
	} `json:"result"`
}

// imports starts a preview or a run and waits for its end.
func (s *service) imports(what, body string) imported {
	s.t.Helper()
	var task struct {
		ID int64 `json:"id"`
	}
	s.api(http.MethodPost, "/api/import/"+what, body, http.StatusAccepted, &task)
	return s.importDone(task.ID)
}

// importDone waits for the good end of a preview or a run.
func (s *service) importDone(id int64) imported {
	s.t.Helper()
	ended := s.importEnds(id)
	if ended.State != "done" {
		s.t.Fatalf("task %d ended as %s: %s", id, ended.State, ended.Message)
	}
	return ended
}

// importEnds waits for the end of a preview or a run.
func (s *service) importEnds(id int64) (ended imported) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(s.taskEnds(id).body), &ended); err != nil {
		s.t.Fatal(err)
	}
	return ended
}

func importBody(source, url, user string, libraries ...string) string {
	body, _ := json.Marshal(map[string]any{"source": source, "url": url, "token": importToken, "user": user, "libraries": append([]string{}, libraries...)})
	return string(body)
}

func TestWhatAServerRemembersIsImported(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cfg  mediaservertest.Config
		user string
	}{
		"plex, the owner":                       {library("plex", "1", "7"), "Mira"},
		"plex, a member of the home":            {library("plex", "7", "1"), "7"},
		"emby":                                  {library("emby", "a1", "b2"), "Mira"},
		"emby, an old version":                  {old(library("emby", "a1", "b2")), "Mira"},
		"jellyfin":                              {library("jellyfin", "a1", "b2"), "Mira"},
		"a plex that does not know filters":     {deaf(library("plex", "1", "7")), "1"},
		"a plex that gives everybody's history": {deaf(library("plex", "7", "1")), "7"},
		"a jellyfin that knows no filters":      {deaf(library("jellyfin", "a1", "b2")), "a1"},
		"pages as large as they are asked for":  {whole(library("jellyfin", "a1", "b2")), "a1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			remote := mediaservertest.Start(t, c.cfg)
			s := start(t, "WATCHMARK_LOG_LEVEL=debug")
			for n := 4; n <= 5; n++ {
				s.settled(s.custom(fmt.Sprintf(`{"media_type":"episode","title":"灯塔守望者","season":1,"episode":%d,"user_name":"Mira"}`, n)))
			}
			before := s.marked()
			body := importBody(string(c.cfg.Kind), remote.URL, c.user)
			p := s.imports("preview", body)
			want := map[string]int{"mark": 6, "marked": 2, "not_found": 1}
			if diff := cmp.Diff(want, p.Result.Table.Counts); diff != "" || p.Result.User != "Mira" {
				t.Errorf("the preview for %q (-want +got):\n%s", p.Result.User, diff)
			}
			rows := map[string]bool{}
			for _, r := range p.Result.Table.Rows {
				rows[fmt.Sprintf("%d %v %s", r.SubjectID, r.Episodes, r.Status)] = true
			}
			wantRows := map[string]bool{
				"900001 [4 5] marked": true, "900001 [6 7 8] mark": true, "900002 [7] mark": true,
				"900001 [1] mark": true, "900003 [] mark": true, "0 [1] not_found": true,
			}
			if diff := cmp.Diff(wantRows, rows); diff != "" {
				t.Errorf("the rows of the preview (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, s.marked()); diff != "" {
				t.Errorf("the preview marked (-want +got):\n%s", diff)
			}
			r := s.imports("run", body)
			if got := r.Result; got.Taken != 9 || got.Known != 0 || got.Records["success"] != 8 || got.Records["error"] != 1 {
				t.Errorf("the import is %+v", got)
			}
			marks := map[string]bool{"mira/90000207": true, "mira/90000151": true}
			for n := 4; n <= 8; n++ {
				marks[fmt.Sprintf("mira/900001%02d", n)] = true
			}
			for mark := range s.marked() {
				if !marks[mark] && !strings.HasPrefix(mark, "mira/900003") {
					t.Errorf("%s was marked", mark)
				}
				delete(marks, mark)
			}
			if len(marks) > 0 {
				t.Errorf("not marked: %v", marks)
			}
			if got := s.imports("run", body).Result; got.Taken != 0 || got.Known != 9 {
				t.Errorf("the second import is %+v", got)
			}
			if strings.Contains(s.logs.String(), importToken) {
				t.Error("the log holds the token")
			}
		})
	}
}

// old is the Emby that has its users at the older path.
func old(c mediaservertest.Config) mediaservertest.Config { c.OldUsers = true; return c }

// deaf is the server that answers everything, whatever is asked.
func deaf(c mediaservertest.Config) mediaservertest.Config { c.NoFilters = true; return c }

func whole(c mediaservertest.Config) mediaservertest.Config { c.PageMost = 0; return c }

func TestAnImportOfOneLibrary(t *testing.T) {
	remote := mediaservertest.Start(t, library("jellyfin", "a1", "b2"))
	s := start(t)
	if got := s.imports("run", importBody("jellyfin", remote.URL, "Mira", "Films")).Result; got.Taken != 1 {
		t.Errorf("the import is %+v", got)
	}
	for _, request := range remote.Requests() {
		if strings.Contains(request, "ParentId=3") {
			t.Errorf("the other library was asked for: %s", request)
		}
	}
}

func TestAnImportThatBreaksGoesOnWhereItStopped(t *testing.T) {
	remote := mediaservertest.Start(t, library("plex", "1", "7"))
	s := start(t)
	body := importBody("plex", remote.URL, "Mira")
	remote.Fail(http.StatusInternalServerError, 6) // root, accounts, sections, shows, two pages
	var task struct {
		ID int64 `json:"id"`
	}
	s.api(http.MethodPost, "/api/import/run", body, http.StatusAccepted, &task)
	broken := s.importEnds(task.ID)
	if broken.State != "failed" || !strings.Contains(broken.Message, "answered with an error (500)") || broken.Result.Taken == 0 {
		t.Fatalf("the import is %+v", broken)
	}
	remote.Fail(0, 0)
	s.again()
	if got := s.imports("run", body).Result; got.Known != broken.Result.Taken || got.Known+got.Taken != 9 {
		t.Errorf("after %d the import took %+v", broken.Result.Taken, got)
	}
	var records struct {
		Items []recordView `json:"items"`
	}
	s.api(http.MethodGet, "/api/records?limit=100", "", http.StatusOK, &records)
	if len(records.Items) != 9 {
		t.Errorf("there are %d records of 9 items", len(records.Items))
	}
}

func TestWhatAPlexHasDeletedIsImportedFromItsHistory(t *testing.T) {
	cfg := library("plex", "7", "1")
	for i := range cfg.Items {
		cfg.Items[i].Deleted = cfg.Items[i].ID == "207"
	}
	remote := mediaservertest.Start(t, cfg)
	s := start(t)
	s.imports("run", importBody("plex", remote.URL, "Mira"))
	if !s.marked()["mira/90000207"] {
		t.Errorf("marked %v", s.marked())
	}
}

// Milliseconds in place of seconds are a time in the year 57889, which no JSON holds.
func TestATimeOutOfAnySenseIsNoneForAnImport(t *testing.T) {
	cfg := library("plex", "1", "7")
	for user := range cfg.Items[0].Watched {
		cfg.Items[0].Watched = map[string]time.Time{user: time.Unix(time.Now().UnixMilli(), 0)}
	}
	remote := mediaservertest.Start(t, cfg)
	s := start(t)
	got := s.imports("run", importBody("plex", remote.URL, "Mira")).Result
	if got.Taken != 9 || got.Records["success"] != 8 { // one is in no catalog
		t.Errorf("the import is %+v", got)
	}
}

func TestAFileOfSeveralEpisodesAndOneWithoutNumber(t *testing.T) {
	cfg := library("jellyfin", "a1", "b2")
	now := map[string]time.Time{"a1": time.Now()}
	cfg.Items = []mediaservertest.Item{
		{ID: "1", Library: "3", Show: "100", Title: "two", Season: 1, Episode: 1, Last: 2, Date: "2024-01-10", Watched: now},
		{ID: "2", Library: "3", Show: "100", Title: "extra", Season: 1, Unnumbered: true, Date: "2024-01-10", Watched: now},
	}
	remote := mediaservertest.Start(t, cfg)
	s := start(t)
	body := importBody("jellyfin", remote.URL, "Mira")
	if got := s.imports("preview", body).Result; got.Skipped != 1 || got.Table.Counts["mark"] != 2 {
		t.Errorf("the preview is %+v", got)
	}
	if got := s.imports("run", body).Result; got.Skipped != 1 || got.Taken != 1 || got.Records["success"] != 2 {
		t.Errorf("the import is %+v", got)
	}
	if got := s.imports("run", body).Result; got.Known != 1 || got.Taken != 0 {
		t.Errorf("the second import is %+v", got)
	}
}

func TestAServerTellsWhoseHistoryItHas(t *testing.T) {
	remote := mediaservertest.Start(t, library("emby", "a1", "b2"))
	s := start(t)
	got := s.api(http.MethodPost, "/api/import/server", `{"source":"emby","url":"`+remote.URL+`/","token":"`+importToken+`"}`, http.StatusOK, nil)
	const want = `{"id":"server-1","name":"Home emby","users":[{"id":"a1","name":"Mira","accounts":["mira"]},{"id":"b2","name":"alex","accounts":["alex"]}],"libraries":[{"id":"3","name":"动画"},{"id":"4","name":"Films"}]}`
	if diff := cmp.Diff(want, strings.TrimSpace(got.body)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWhatAnImportRefuses(t *testing.T) {
	remote := mediaservertest.Start(t, library("plex", "1", "7"))
	strangers := library("jellyfin", "a1", "b2")
	strangers.Users = append(strangers.Users, mediaservertest.User{ID: "c3", Name: "nobody"})
	jellyfin := mediaservertest.Start(t, strangers)
	s := start(t)
	for name, c := range map[string]struct{ body, field, says string }{
		"no such user":          {importBody("plex", remote.URL, "Somebody"), "body.user", "no user with this id or name"},
		"several users":         {importBody("plex", remote.URL, ""), "body.user", "has several users"},
		"nobody's account":      {importBody("jellyfin", jellyfin.URL, "nobody"), "body.user", "add the name to an account on the page People"},
		"no such library":       {importBody("plex", remote.URL, "Mira", "Anime"), "body.libraries", `no library \"Anime\"`},
		"a library of music":    {importBody("plex", remote.URL, "Mira", "5"), "body.libraries", "with episodes or films"},
		"another product":       {importBody("plex", jellyfin.URL, "Mira"), "body.url", "there is no Plex at this address"},
		"a wrong token":         {strings.Replace(importBody("plex", remote.URL, "Mira"), importToken, "wrong", 1), "body.token", "Plex refuses the token"},
		"an empty token":        {strings.Replace(importBody("plex", remote.URL, "Mira"), importToken, " ", 1), "body.token", "enter the token"},
		"a header in the token": {strings.Replace(importBody("jellyfin", jellyfin.URL, "Mira"), importToken, `a\", X=\"b`, 1), "body.token", "enter the token"},
		"a page of the server":  {importBody("jellyfin", jellyfin.URL+"/web/index.html#!/home", "Mira"), "body.url", "without what follows in the browser"},
		"a password":            {importBody("plex", "http://me:secret@192.168.1.2:32400", "Mira"), "body.url", "leave the user name and password out of the address"},
		"no address":            {importBody("plex", "192.168.1.2", "Mira"), "body.url", "enter the address"},
		"nobody answers":        {importBody("plex", "http://127.0.0.1:1", "Mira"), "body.url", "no answer from this address"},
		"a path that is not":    {importBody("jellyfin", jellyfin.URL+"/jellyfin", "Mira"), "body.url", "there is no Jellyfin"},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.api(http.MethodPost, "/api/import/run", c.body, http.StatusUnprocessableEntity, nil)
			if !strings.Contains(got.body, `"location":"`+c.field+`"`) && !strings.Contains(got.body, `"`+c.field+`"`) || !strings.Contains(got.body, c.says) {
				t.Errorf("the answer is %s", got.body)
			}
			if strings.Contains(got.body, importToken) || strings.Contains(got.body, "secret@") {
				t.Errorf("the answer holds a secret: %s", got.body)
			}
		})
	}
	for _, request := range remote.Requests() {
		if strings.Contains(request, importToken) {
			t.Errorf("the token is in an address: %s", request)
		}
	}
}

func TestOneImportAtATimeAndCancelled(t *testing.T) {
	remote := mediaservertest.Start(t, library("plex", "1", "7"))
	defer remote.Hold()()
	s := start(t)
	body := importBody("plex", remote.URL, "Mira")
	var task struct {
		ID int64 `json:"id"`
	}
	s.api(http.MethodPost, "/api/import/preview", body, http.StatusAccepted, &task)
	s.api(http.MethodPost, "/api/import/run", body, http.StatusConflict, nil)
	s.api(http.MethodPost, fmt.Sprintf("/api/tasks/%d/cancel", task.ID), "", http.StatusAccepted, nil)
	ended := s.importEnds(task.ID)
	if ended.State != "cancelled" || ended.Result.User != "Mira" {
		t.Errorf("the preview is %+v", ended)
	}
}
