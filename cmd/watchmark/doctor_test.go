package main

import (
	"encoding/json"
	"net/http/httptest"
	"testing"
)

func TestDoctorTellsWhatCannotBeReached(t *testing.T) {
	list := simulate(t)
	gone := httptest.NewServer(nil)
	gone.Close()
	environ := []string{"WATCHMARK_CATALOG_WEB_URL=" + list.url, "WATCHMARK_CATALOG_IMAGE_URL=" + list.url, "WATCHMARK_CATALOG_ARCHIVE_POINTER_URL=" + gone.URL,
		"WATCHMARK_TRACKER_AUTH_URL=" + gone.URL + "/a", "WATCHMARK_TRACKER_API_URL=" + gone.URL + "/b", "WATCHMARK_TRACKER_APP_API_URL=" + gone.URL + "/c"}
	doctor := func(more []string, args ...string) ran {
		t.Helper()
		return finish(t, command(t, append(more, environ...), append([]string{"doctor", "--data", t.TempDir()}, args...)...), "")
	}
	well := doctor([]string{"WATCHMARK_CATALOG_API_URL=" + list.url, "WATCHMARK_MATCHING_DATASET_ENABLED=false", "WATCHMARK_MATCHING_DATASET_URL=" + gone.URL + "/d"})
	if well.code != 0 || well.err != "" {
		t.Errorf("while all that is in use answers: exit %d, %s", well.code, well.err)
	}
	mustHold(t, well.out, "ok      Catalog API")
	mustHold(t, well.out, "FAILED  Offline archive")
	mustHold(t, well.out, "(not in use)")
	ill := doctor([]string{"WATCHMARK_CATALOG_API_URL=" + gone.URL, "WATCHMARK_MATCHING_DATASET_URL=" + gone.URL + "/d"})
	if ill.code != 1 {
		t.Errorf("while the catalog is down: exit %d", ill.code)
	}
	mustHold(t, ill.out, "direct: dns 0 ms, tcp FAILED: dial tcp")
	mustHold(t, ill.out, "nothing listens on this port")
	mustHold(t, ill.err, "cannot be reached")
	var found []map[string]any
	if err := json.Unmarshal([]byte(doctor([]string{"WATCHMARK_CATALOG_API_URL=" + gone.URL, "WATCHMARK_MATCHING_DATASET_URL=" + gone.URL + "/d"}, "--json").out), &found); err != nil || len(found) < 5 {
		t.Errorf("as JSON: %v", err)
	}
}
