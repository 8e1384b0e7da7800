package api_test

import (
	"net/http"
	"strconv"
	"testing"

	"watchmark/internal/platform/task"
	"watchmark/internal/record"
)

func TestCorrections(t *testing.T) {
	r := newRig(t)
	r.mira()
	marked := r.do("POST", "/api/test-sync", `{"title":"a","season":1,"episode":1,"user_name":"mira"}`).want(200, `"marked":true`)
	var tested record.Record
	marked.into(&tested)
	path := "/api/records/" + strconv.FormatInt(tested.ID, 10)
	other := r.record("a", record.Review, true)

	r.do("POST", path+"/correction/undo", nil).want(409, "no correction")
	r.do("GET", path+"/correction", nil).want(200, `"corrected":false`, `"others":1`, `"others_marked":0`, `"subject_id":265,"episode_id":1027`)
	r.do("GET", path+"/correction?subject_id=266", nil).want(200, `"subject_id":266`, `"episode_name":"the title"`, `"same":false`)
	r.do("GET", path+"/correction?subject_id=265", nil).want(200, `"same":true`)
	r.do("GET", path+"/correction?subject_id=9", nil).want(422, `"location":"query.subject_id"`)
	r.do("GET", path+"/correction?subject_id=266&all_of_title=true", nil).want(200, `"others_change":1`, `"others_stay":0`, `"others_untold":0`)
	r.do("GET", path+"/correction?subject_id=4294967296", nil).want(422, `"location":"query.subject_id"`)
	r.do("POST", path+"/correct", map[string]any{"subject_id": 1 << 31}).want(422, `"location":"body.subject_id"`)
	r.do("GET", "/api/records/999/correction", nil).want(404)
	r.do("GET", "/api/mappings", nil).want(200, `"items":[]`)

	r.do("POST", path+"/correct", map[string]any{}).want(422, "subject_id")
	r.do("POST", path+"/correct", map[string]any{"subject_id": 9}).want(422, `"location":"body.subject_id"`)
	r.do("POST", path+"/correct", map[string]any{"subject_id": 266, "surprise": 1}).want(422)
	r.do("POST", "/api/records/999/correct", map[string]any{"subject_id": 266}).want(404)
	r.anonymous("POST", path+"/correct", map[string]any{"subject_id": 266}).want(401)
	var started struct {
		RecordIDs []int64 `json:"record_ids"`
		TaskID    int64   `json:"task_id"`
	}
	r.do("POST", path+"/correct", map[string]any{"subject_id": 266, "all_of_title": true}).want(http.StatusAccepted, `"note":"from record `).into(&started)
	if len(started.RecordIDs) != 2 || started.RecordIDs[1] != other {
		t.Errorf("corrected are %v", started.RecordIDs)
	}
	run := must(r.tasks.Get(t.Context(), started.TaskID))(t)
	for run.Status().State == task.Running {
		_, more := run.After(0)
		if run.Status().State == task.Running {
			<-more
		}
	}
	r.do("GET", "/api/tasks/"+strconv.FormatInt(started.TaskID, 10), nil).want(200, `"state":"done"`, `"taken_back":1`)

	r.do("GET", path+"/correction", nil).want(200, `"corrected":true`)
	r.anonymous("POST", path+"/correction/undo", nil).want(401)
	r.do("POST", path+"/correction/undo", nil).want(202, `"record_ids":[1,2]`, `"unmarked_record_ids":[1`, `"marks_left":0`, `"rule_kept":false`)
	r.do("GET", "/api/mappings", nil).want(200, `"items":[]`)
	must(r.engine.Settled(t.Context(), tested.ID))(t)
	r.do("POST", path+"/correction/undo", nil).want(409)

	r.do("POST", path+"/unmark", nil).want(200, `"status":"ignored"`, "taken back by hand", `"marked":false`)
	r.do("POST", path+"/unmark", nil).want(409, "nothing_marked")
	r.do("POST", "/api/records/999/unmark", nil).want(404)
}

func TestDryRunOfAnAccount(t *testing.T) {
	r := newRig(t)
	r.mira()
	r.do("GET", "/api/accounts/1", nil).want(200, `"dry_run":false`)
	r.do("PATCH", "/api/accounts/1", map[string]any{"dry_run": true}).want(200, `"dry_run":true`)
	r.do("POST", "/api/test-sync", `{"title":"a","season":1,"episode":1,"user_name":"mira"}`).want(200, `"status":"ignored"`, "dry run: ", `"marked":false`)
	r.do("POST", "/api/accounts", map[string]any{"username": "alex", "dry_run": true}).want(201, `"dry_run":true`)
}
