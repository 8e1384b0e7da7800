package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/catalogtest"
)

// bringIn sends a file as a list of an account.
func (s *service) bringIn(path, body string, status int) answer {
	s.t.Helper()
	return s.api(http.MethodPost, path, body, status, nil)
}

func (s *service) idle() {
	s.t.Helper()
	s.wait("task", func() bool { return !strings.Contains(s.get("/api/tasks").body, `"running"`) })
}

// What was taken out comes back as a snapshot that is the same, and can be brought back to the list.
func TestAListIsTakenOutAndBroughtIn(t *testing.T) {
	s := start(t)
	s.put(catalogtest.Listed{SubjectID: 900002, Type: catalog.Done, Rate: 9, Comment: "好看 <b>\n\"x\"", Tags: []string{"TV", "原创"}, Private: true})
	s.put(catalogtest.Listed{SubjectID: 900010, Type: catalog.Doing, Chapter: 3, Volume: 1})
	s.watchedButLast()
	s.api(http.MethodPost, "/api/accounts/1/snapshots", "", http.StatusAccepted, nil)
	s.idle()
	file := s.get("/api/accounts/1/export").body
	for name, c := range map[string]struct {
		path, body string
		status     int
		says       string
	}{
		"of another account": {"/api/accounts/2/snapshots/import", file, http.StatusConflict, "the list of mira"},
		"no account":         {"/api/accounts/9/snapshots/import", file, http.StatusNotFound, ""},
		"broken":             {"/api/accounts/1/snapshots/import", file[:len(file)/2], http.StatusBadRequest, "as it was taken out"},
		"a CSV":              {"/api/accounts/1/snapshots/import", s.get("/api/accounts/1/export?format=csv").body, http.StatusBadRequest, "choose the file"},
		"of watches":         {"/api/accounts/1/snapshots/import", s.get("/api/accounts/1/export?format=watches").body, http.StatusBadRequest, "choose the file"},
	} {
		if c.path == "/api/accounts/2/snapshots/import" { // whose the token is was not asked yet
			s.api(http.MethodPost, "/api/accounts/2/test", "", http.StatusOK, nil)
		}
		if got := s.bringIn(c.path, c.body, c.status); !strings.Contains(got.body, c.says) {
			t.Errorf("%s: %s", name, got.body)
		}
	}
	s.bringIn("/api/accounts/1/snapshots/import", file, http.StatusAccepted)
	s.idle()
	var list struct {
		Items []struct {
			ID             int64
			Source         string
			Entries, Marks int
		}
	}
	s.api(http.MethodGet, "/api/accounts/1/snapshots", "", http.StatusOK, &list)
	if len(list.Items) != 2 || list.Items[0].Source != "file" || list.Items[1].Source != "list" || list.Items[0].Entries != 3 || list.Items[0].Marks != 11 {
		t.Fatalf("the snapshots are %+v", list.Items)
	}
	if got := s.get(fmt.Sprintf("/api/accounts/1/export?snapshot=%d", list.Items[0].ID)).body; got != file {
		t.Errorf("it comes out as %s, and went in as %s", got, file)
	}
	if got := s.get(fmt.Sprintf("/api/snapshots/%d/diff?to=%d", list.Items[0].ID, list.Items[1].ID)).body; !strings.Contains(got, `"items":[]`) {
		t.Errorf("it differs: %s", got)
	}
	if page := s.get("/people/1/list").body; !strings.Contains(page, "from a file") {
		t.Error("the page does not say that it is from a file")
	}
	// The list is lost, and the file brings it back.
	before := fmt.Sprint(s.list.Listed("mira"), s.marked())
	s.list.Reset()
	s.api(http.MethodPost, fmt.Sprintf("/api/snapshots/%d/restore", list.Items[0].ID), `{"entries":null,"dry_run":false}`, http.StatusAccepted, nil)
	s.idle()
	if after := fmt.Sprint(s.list.Listed("mira"), s.marked()); after != before {
		t.Errorf("the list is\n%s and was\n%s", after, before)
	}
}
