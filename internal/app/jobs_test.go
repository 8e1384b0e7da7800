package app_test

import (
	"net/http"
	"slices"
	"testing"
	"time"
)

// TestJobsOfTheService lists the jobs of a service, and runs one as a person does.
func TestJobsOfTheService(t *testing.T) {
	s := start(t)
	type job struct {
		Name        string     `json:"name"`
		Schedule    string     `json:"schedule"`
		Running     bool       `json:"running"`
		TaskID      int64      `json:"task_id"`
		LastRun     *time.Time `json:"last_run"`
		LastOutcome string     `json:"last_outcome"`
		NextRun     *time.Time `json:"next_run"`
	}
	jobs := func() (all []job) {
		var page struct {
			Items []job `json:"items"`
		}
		s.api(http.MethodGet, "/api/jobs", "", http.StatusOK, &page)
		return page.Items
	}
	var names []string
	for _, j := range jobs() {
		names = append(names, j.Name)
		if (j.Schedule == "") != (j.NextRun == nil) {
			t.Errorf("a job without a schedule is planned, or the other way round: %+v", j)
		}
	}
	want := []string{"backup", "archive_import", "dataset_refresh", "idmap_update", "nas_scan", "tracker_sync", "tracker_tokens", "server_accounts", "summaries", "airing", "calendar", "account_tokens", "update_check", "housekeeping", "snapshots", "restores", "unwatched"}
	if !slices.Equal(names, want) {
		t.Errorf("the jobs are %v", names)
	}
	var begun job
	s.api(http.MethodPost, "/api/jobs/housekeeping/run", "", http.StatusAccepted, &begun)
	if begun.Name != "housekeeping" || begun.TaskID != 0 { // nobody waits for its runs: they are no tasks
		t.Errorf("a run begins as %+v", begun)
	}
	var ran job
	for deadline := time.Now().Add(2 * time.Minute); ran.LastRun == nil && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		all := jobs()
		ran = all[slices.IndexFunc(all, func(j job) bool { return j.Name == "housekeeping" })]
	}
	if ran.LastOutcome != "done" || ran.Running || ran.NextRun == nil {
		t.Errorf("the job stands as %+v", ran)
	}
	s.api(http.MethodPost, "/api/jobs/nas_scan/run", "", http.StatusConflict, nil) // it is switched off
	s.api(http.MethodPost, "/api/jobs/nobody/run", "", http.StatusNotFound, nil)
}
