package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"watchmark/internal/match/idmap"
)

func TestDatasetStatusAndRefresh(t *testing.T) {
	hold, asked := make(chan struct{}), make(chan struct{}, 1)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		<-hold
		w.WriteHeader(http.StatusBadGateway)
	}))
	t.Cleanup(site.Close)
	r := newRig(t, "WATCHMARK_MATCHING_DATASET_URL="+site.URL+"/data.json")
	r.do("GET", "/api/dataset/status", nil).want(http.StatusOK, `"enabled":true`, `"version":"`+idmap.Version+`"`, `"made":"snapshot"`,
		`"last_outcome":""`, `"last_error":""`, `"moved":[]`, `"refreshing":false`, `"task_id":0`, `"next_run":"`)
	r.do("POST", "/api/dataset/refresh", nil).want(http.StatusAccepted, `"task_id":1`)
	<-asked
	r.do("POST", "/api/dataset/refresh", nil).problem(http.StatusConflict, "being updated already")
	r.do("GET", "/api/dataset/status", nil).want(http.StatusOK, `"refreshing":true`, `"task_id":1`)
	close(hold)
	if _, all := r.events("/api/tasks/1/stream", "", 1000); len(all) == 0 || !strings.Contains(all[len(all)-1].data, `"outcome":"failed"`) {
		t.Errorf("the task's stream is %v", all)
	}
	r.do("GET", "/api/dataset/status", nil).want(http.StatusOK, `"refreshing":false`, `"last_outcome":"failed"`, `502 Bad Gateway`, `"made":"snapshot"`)
	if err := r.settings.Patch(t.Context(), map[string]map[string]any{"matching": {"dataset_enabled": false}}); err != nil {
		t.Fatal(err)
	}
	r.do("POST", "/api/dataset/refresh", nil).problem(http.StatusConflict, "switched off")
	r.do("GET", "/api/dataset/status", nil).want(http.StatusOK, `"enabled":false`, `"version":""`, `"entries":0`, `"made":""`, `"next_run":null`)
}
