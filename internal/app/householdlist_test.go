package app_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/door/auth"
	"watchmark/internal/testkit/catalogtest"
)

// begins starts a task of somebody, follows it to its end, and answers it.
func (m member) begins(method, path, body string) (id int64, ended answer) {
	m.s.t.Helper()
	var task struct {
		ID int64 `json:"task_id"`
	}
	request := m.s.request(method, path, "application/json", body)
	if strings.HasPrefix(body, "<") {
		request.Header.Set("Content-Type", "application/xml")
	}
	request.Header.Set("Cookie", auth.CookieName+"="+m.cookie)
	if got := m.s.do(request); got.status != http.StatusAccepted || json.Unmarshal([]byte(got.body), &task) != nil {
		m.s.t.Fatalf("%s %s answers %d: %.500s", method, path, got.status, got.body)
	}
	m.want(http.MethodGet, fmt.Sprintf("/api/tasks/%d/stream", task.ID), "", http.StatusOK) // ends with the task
	ended = m.want(http.MethodGet, fmt.Sprintf("/api/tasks/%d", task.ID), "", http.StatusOK)
	if !strings.Contains(ended.body, `"state":"done"`) {
		m.s.t.Fatalf("%s %s ends as %.800s", method, path, ended.body)
	}
	return task.ID, ended
}

// listFile is a list of MyAnimeList with the first episodes of one entry.
func listFile(code, episodes int) string {
	return fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8" ?><myanimelist><myinfo><user_name>mira</user_name><user_export_type>1</user_export_type></myinfo>
		<anime><series_animedb_id>%d</series_animedb_id><series_title>灯台守のうた</series_title><series_episodes>12</series_episodes><my_watched_episodes>%d</my_watched_episodes>
		<my_status>Watching</my_status></anime></myanimelist>`, code, episodes)
}

// A person takes snapshots of their own list, imports a file into it, undoes that, and brings the list back; another list and another's tasks are as if
// they were not there, even where both accounts name the same media-server user.
func TestAPersonLooksAfterTheirOwnList(t *testing.T) {
	table := strings.Replace(tableOf(9000), `"items":[`, `"items":[{"title":"灯台守のうた","type":"tv","begin":"2024-01-10T00:00:00.000Z","sites":[{"site":"bangumi","id":"900001"},{"site":"mal","id":"5001"}]},`, 1)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(table)) }))
	t.Cleanup(site.Close)
	s := startEmpty(t, "WATCHMARK_MATCHING_DATASET_URL="+site.URL+"/data.json")
	if err := s.app.SetUp(t.Context(), "bench", password); err != nil {
		t.Fatal(err)
	}
	s.refreshTable()
	mira, alex := s.joins("mira", miraToken), s.joins("alex", alexToken)
	if err := s.list.Put(catalogtest.Listed{Username: "mira", SubjectID: 900002, Type: catalog.Doing, Rate: 7, Comment: "a secret word"}); err != nil {
		t.Fatal(err)
	}
	account := func(m member) (id int64) {
		var all struct {
			Items []struct {
				ID int64 `json:"id"`
			} `json:"items"`
		}
		if err := json.Unmarshal([]byte(m.want(http.MethodGet, "/api/accounts", "", http.StatusOK).body), &all); err != nil || len(all.Items) != 1 {
			t.Fatalf("%d accounts: %v", len(all.Items), err)
		}
		return all.Items[0].ID
	}
	hers, his := account(mira), account(alex)
	s.api(http.MethodPatch, fmt.Sprintf("/api/accounts/%d", his), `{"media_user_names":["alex","mira"]}`, http.StatusOK, nil)

	taken, snap := mira.begins(http.MethodPost, fmt.Sprintf("/api/accounts/%d/snapshots", hers), "")
	var snapshot struct{ Result struct{ ID int64 } }
	if err := json.Unmarshal([]byte(snap.body), &snapshot); err != nil || snapshot.Result.ID == 0 {
		t.Fatalf("the snapshot is %s", snap.body)
	}
	before := s.list.Listed("mira")
	previewed, _ := mira.begins(http.MethodPost, "/api/import/file?format=mal&dry_run=true", listFile(5001, 3))
	imported, got := mira.begins(http.MethodPost, "/api/import/file?format=mal&user=mira", listFile(5001, 3))
	if !strings.Contains(got.body, `"taken":3`) || len(s.marksOf("mira")) != 3 || len(s.marksOf("alex")) != 0 {
		t.Errorf("the import is %s; marks: %v", got.body, s.marked())
	}
	if again := mira.as(http.MethodPost, "/api/import/file?format=mal&user=alex", listFile(5001, 3)); again.status != http.StatusUnprocessableEntity && again.status != http.StatusUnsupportedMediaType {
		t.Errorf("an import for alex answers %d", again.status)
	}
	// The same file for the other one is not known already, and is theirs alone.
	if _, got := alex.begins(http.MethodPost, "/api/import/file?format=mal", listFile(5001, 2)); !strings.Contains(got.body, `"taken":2`) || !strings.Contains(got.body, `"known":0`) || len(s.marksOf("alex")) != 2 || len(s.marksOf("mira")) != 3 {
		t.Errorf("the import of alex is %s; marks: %v", got.body, s.marked())
	}
	// What the owner is told beforehand is what becomes of it on each list, by the rules of whom that is.
	mira.want(http.MethodPost, "/api/blocked-keywords", `{"keyword":"灯台守","kind":"contains"}`, http.StatusCreated)
	told := map[string]string{}
	for _, row := range s.takesFile("mal", "mira", listFile(5001, 6), true).Result.Table.Rows {
		told[row.Status] = fmt.Sprint(row.Accounts, row.Episodes)
	}
	if want := map[string]string{"blocked": "[mira] [4 5 6]", "mark": "[alex] [4 5 6]"}; !maps.Equal(told, want) {
		t.Errorf("the owner is told %v", told)
	}
	if got := s.get("/sources/import?status=blocked"); !strings.Contains(got.body, "only on the list of <bdi>mira</bdi>") || strings.Contains(got.body, "<bdi>alex</bdi>") {
		t.Errorf("the page does not say whose list a row is about: %s", got.body)
	}
	undone, got := mira.begins(http.MethodPost, "/api/undo", fmt.Sprintf(`{"task_id":%d}`, imported))
	if !strings.Contains(got.body, `"taken_back":3`) || len(s.marksOf("mira")) != 0 || len(s.marksOf("alex")) != 2 {
		t.Errorf("the undo is %s; marks: %v", got.body, s.marked())
	}
	if err := s.list.Put(catalogtest.Listed{Username: "mira", SubjectID: 900002, Type: catalog.Doing, Rate: 3, Comment: "a secret word"}); err != nil {
		t.Fatal(err)
	}
	restored, got := mira.begins(http.MethodPost, fmt.Sprintf("/api/snapshots/%d/restore", snapshot.Result.ID), `{"entries":[900002]}`)
	if now := s.list.Listed("mira"); !strings.Contains(got.body, `"written":1`) || now[len(now)-1].Rate != before[0].Rate {
		t.Errorf("the restore is %s, the list %+v", got.body, now)
	}
	mira.want(http.MethodPut, fmt.Sprintf("/api/accounts/%d/entries/900002/word", hers), `{"rate":8,"comment":"a secret word","shown":{"rate":7,"comment":"a secret word"}}`, http.StatusOK)

	for _, path := range []string{
		fmt.Sprintf("/api/tasks/%d", taken), fmt.Sprintf("/api/tasks/%d", previewed), fmt.Sprintf("/api/tasks/%d/stream", imported), fmt.Sprintf("/api/tasks/%d", undone),
		fmt.Sprintf("/api/snapshots/%d/diff?to=%[1]d", snapshot.Result.ID), fmt.Sprintf("/api/accounts/%d/export", hers), fmt.Sprintf("/api/accounts/%d/export?format=watches", hers),
		fmt.Sprintf("/api/accounts/%d/entries/900002", hers), fmt.Sprintf("/api/accounts/%d/entries/900002/word", hers), fmt.Sprintf("/api/accounts/%d/snapshots", hers),
	} {
		mira.want(http.MethodGet, path, "", http.StatusOK)
		alex.want(http.MethodGet, path, "", http.StatusNotFound)
	}
	for _, c := range []struct{ method, path, body string }{
		{http.MethodPost, fmt.Sprintf("/api/restores/%d/undo", restored), `{}`}, {http.MethodPost, fmt.Sprintf("/api/snapshots/%d/restore", snapshot.Result.ID), `{}`},
		{http.MethodPost, "/api/undo", fmt.Sprintf(`{"task_id":%d}`, restored)}, {http.MethodPost, "/api/undo", fmt.Sprintf(`{"task_id":%d}`, undone)},
		{http.MethodDelete, fmt.Sprintf("/api/snapshots/%d", snapshot.Result.ID), ""}, {http.MethodPost, fmt.Sprintf("/api/tasks/%d/cancel", imported), ""},
	} {
		alex.want(c.method, c.path, c.body, http.StatusNotFound)
	}
	for _, path := range []string{"/mine", "/api/tasks", "/api/stats", "/api/unwatched", "/records/undo", "/sources/import", "/api/records?q=secret"} {
		if got := alex.want(http.MethodGet, path, "", http.StatusOK); strings.Contains(got.body, "mira") || strings.Contains(got.body, "secret word") {
			t.Errorf("%s of alex tells of mira: %s", path, got.body)
		}
	}
	mira.begins(http.MethodPost, fmt.Sprintf("/api/restores/%d/undo", restored), `{}`)
	// The owner helps, and the person does not see with what.
	var helped struct {
		ID int64 `json:"task_id"`
	}
	s.api(http.MethodPost, fmt.Sprintf("/api/accounts/%d/snapshots", hers), "", http.StatusAccepted, &helped)
	s.taskEnds(helped.ID)
	mira.want(http.MethodGet, fmt.Sprintf("/api/tasks/%d", helped.ID), "", http.StatusNotFound)
}
