package app_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// page is a page as somebody who is signed in reads it.
func (s *service) page(path string) string {
	s.t.Helper()
	return s.api(http.MethodGet, path, "", http.StatusOK, nil).body
}

func TestDashboardTellsThatTheNASFails(t *testing.T) {
	s := start(t, "WATCHMARK_NAS_DATABASE_PATH="+filepath.Join(t.TempDir(), "gone.db"))
	s.custom(`{"title":"灯塔守望者","season":2,"episode":7,"user_name":"Mira"}`)
	if _, page, _ := strings.Cut(s.page("/"), "<main"); strings.Contains(page, "NAS") {
		t.Error("a NAS that is switched off is on the dashboard")
	}
	s.api(http.MethodPatch, "/api/settings", `{"nas":{"enabled":true}}`, http.StatusOK, nil)
	failed := s.nas(func(n nasStatus) bool { return n.LastError != "" })
	if page := s.page("/"); !strings.Contains(page, "The library of the NAS cannot be read") || !strings.Contains(page, "gone.db") {
		t.Errorf("the dashboard does not tell %q", failed.LastError)
	}
}
