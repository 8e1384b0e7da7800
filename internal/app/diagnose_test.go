package app_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"watchmark/internal/app"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/upkeep/diagnose"
)

// TestNetworkIsDiagnosed goes through the whole service: its settings name what is looked at.
func TestNetworkIsDiagnosed(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	s := startEmpty(t, "WATCHMARK_CATALOG_IMAGE_URL="+gone.URL+"/i", "WATCHMARK_MATCHING_DATASET_URL="+gone.URL, "WATCHMARK_CATALOG_ARCHIVE_POINTER_URL="+gone.URL, "WATCHMARK_CATALOG_ARCHIVE_MIRRORS="+gone.URL+"/mirror/", "WATCHMARK_MATCHING_DATASET_CRON=",
		"WATCHMARK_IDMAP_ENABLED=false", "WATCHMARK_IDMAP_ANIME_LISTS_URL="+gone.URL+"/l", "WATCHMARK_IDMAP_SHINKRO_URL="+gone.URL+"/k",
		"WATCHMARK_TRACKER_AUTH_URL="+gone.URL+"/a", "WATCHMARK_TRACKER_API_URL="+gone.URL+"/b", "WATCHMARK_TRACKER_APP_API_URL="+gone.URL+"/c", "WATCHMARK_AUTH_OIDC_ISSUER="+gone.URL+"/d", "WATCHMARK_NETWORK_TIMEOUT_SECONDS=5")
	var got struct {
		OK    bool              `json:"ok"`
		Items []diagnose.Result `json:"items"`
	}
	s.api(http.MethodPost, "/api/network/diagnose", "", http.StatusOK, &got)
	found := map[diagnose.Kind]diagnose.Result{}
	for _, r := range got.Items {
		found[r.Kind] = r
	}
	if r := found[diagnose.CatalogAPI]; !r.OK || !r.InUse || r.Routes[0].Status == 0 {
		t.Errorf("the catalog: %+v", r)
	}
	for _, kind := range diagnose.Kinds {
		r, named := found[kind]
		if onNetwork := kind != diagnose.Database || dbtest.OnServer(); named != onNetwork { // SQLite is a file
			t.Errorf("%s is looked at: %v", kind, named)
		}
		if strings.HasPrefix(string(kind), "tracker") && (r.InUse || r.OK) {
			t.Errorf("%s, which is off: %+v", kind, r)
		}
	}
	for _, kind := range []diagnose.Kind{diagnose.AnimeLists, diagnose.Shinkro} {
		if r := found[kind]; r.InUse || r.OK || len(r.Routes) != 1 || r.Routes[0].Problem != diagnose.Refused {
			t.Errorf("%s, which is off: %+v", kind, r)
		}
	}
	if r := found[diagnose.Dataset]; r.OK || !r.InUse || r.Routes[0].Problem != diagnose.Refused || got.OK {
		t.Errorf("the id table: %+v, all is well: %v", r, got.OK)
	}
	if shown := s.get("/settings/tools/network"); !strings.Contains(shown.body, "nothing listens on this port") {
		t.Error("the page does not show what was found")
	}
}

// TestToolsAreWired looks at what the service itself gives to the tools.
func TestToolsAreWired(t *testing.T) {
	s := start(t, "WATCHMARK_LOG_LEVEL=debug")
	for path, want := range map[string]string{
		"/settings/tools?title=%E7%81%AF%E5%A1%94%E5%AE%88%E6%9C%9B%E8%80%85&season=1&episode=1&user_name=Mira": "This would be marked",
		"/settings/tools/log": "watchmark is running",
		"/api/logs":           `"version":"` + app.Version() + `"`,
		"/api/diagnostics":    `"build": "` + app.BuildInfo(),
	} {
		if got := s.get(path); got.status != http.StatusOK || !strings.Contains(got.body, want) {
			t.Errorf("%s answers %d without %q", path, got.status, want)
		}
	}
	if marked := s.marked(); len(marked) != 0 {
		t.Errorf("trying a title marks %v", marked)
	}
}
