package app_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/testkit/nastest"
)

// nasStatus is what the tests look at of the status.
type nasStatus struct {
	Watermark *time.Time `json:"watermark"`
	LastScan  *time.Time `json:"last_scan"`
	LastError string     `json:"last_error"`
	Taken     int        `json:"taken"`
	Scanning  bool       `json:"scanning"`
}

// nas waits until no scan runs and the status is as wanted.
func (s *service) nas(is func(nasStatus) bool) (status nasStatus) {
	s.t.Helper()
	s.wait("the status of the NAS", func() bool {
		status = nasStatus{}
		s.api(http.MethodGet, "/api/nas/status", "", http.StatusOK, &status)
		return !status.Scanning && is(status)
	})
	return status
}

// manual reads the library now and waits for its records.
func (s *service) manual(query string) []recordView {
	s.t.Helper()
	var got struct {
		RecordIDs []int64 `json:"record_ids"`
	}
	s.api(http.MethodPost, "/api/nas/sync/manual"+query, "", http.StatusOK, &got)
	var records []recordView
	for _, id := range got.RecordIDs {
		records = append(records, s.settled(id))
		s.explained(id)
	}
	return records
}

// TestNASMarksWhatIsWatchedFromNowOn walks from switching the source on to marks, over a restart.
func TestNASMarksWhatIsWatchedFromNowOn(t *testing.T) {
	l := nastest.Create(t, t.TempDir())
	l.User("guid-of-mira", "Mira")
	l.User("guid-of-alex", "alex")
	l.Item("show", "TV", "", "灯塔守望者", nastest.Columns{"original_title": "灯台守のうた"})
	l.Item("s1", "Season", "show", "第 1 季", nastest.Columns{"season_number": 1})
	l.Item("s2", "Season", "show", "灯塔守望者 第二季", nastest.Columns{"season_number": 2})
	l.Item("s0", "Season", "show", "特别篇", nastest.Columns{"season_number": 0})
	for i, day := range []string{"2024-01-10", "2024-01-17", "2024-01-24"} {
		l.Item(fmt.Sprintf("s1e%d", i+1), "Episode", "s1", "x", nastest.Columns{"season_number": 1, "episode_number": i + 1, "air_date": day, "original_title": "of the episode"})
	}
	l.Item("s2e7", "Episode", "s2", "第七夜", nastest.Columns{"season_number": 2, "episode_number": 7, "air_date": "2025-02-19"})
	l.Item("special", "Episode", "s0", "島の休日", nastest.Columns{"season_number": 0, "episode_number": 1, "air_date": "2024-05-01"})
	l.Play("guid-of-mira", "s1e1", time.Now().Add(-time.Minute).UnixMilli(), nil) // before it is switched on

	s := start(t, "WATCHMARK_NAS_DATABASE_PATH="+l.Path)
	s.nas(func(n nasStatus) bool { return n.Watermark == nil })
	s.api(http.MethodPatch, "/api/settings", `{"nas":{"enabled":true}}`, http.StatusOK, nil)
	s.nas(func(n nasStatus) bool { return n.LastScan != nil && n.LastError == "" })
	if records := s.manual(""); len(records) != 0 {
		t.Errorf("at switching on old history comes: %+v", records)
	}
	l.Play("guid-of-mira", "s2e7", time.Now().UnixMilli(), nil)
	l.Play("guid-of-mira", "special", time.Now().UnixMilli(), nil)
	l.Play("guid-of-alex", "s1e3", time.Now().UnixMilli(), nil)
	if records := s.manual("?user=guid-of-alex"); len(records) != 1 || records[0].UserName != "alex" {
		t.Errorf("for one user the records are %+v", records)
	}
	s.manual("")
	want := map[string]bool{"alex/90000103": true, "mira/90000207": true, "mira/90000151": true}
	if diff := cmp.Diff(want, s.marked()); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}

	was := s.nas(func(n nasStatus) bool { return n.Watermark != nil })
	s.stop()
	l.Play("guid-of-mira", "s1e2", time.Now().UnixMilli(), nil)
	s.again("WATCHMARK_NAS_DATABASE_PATH=" + l.Path)
	if now := s.nas(func(n nasStatus) bool { return n.Watermark != nil }); now.Watermark.Before(*was.Watermark) {
		t.Errorf("the watermark went from %v to %v", was.Watermark, now.Watermark)
	}
	s.manual("")
	want["mira/90000102"] = true
	if diff := cmp.Diff(want, s.marked()); diff != "" {
		t.Errorf("after the restart, marks (-want +got):\n%s", diff)
	}
	if records := s.manual("?range=all"); len(records) != 1 || records[0].EpisodeID != 90000101 {
		t.Errorf("what was watched before comes as %+v", records)
	}
}
