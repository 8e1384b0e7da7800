package api_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"watchmark/internal/engine/review"
	"watchmark/internal/match"
	"watchmark/internal/platform/reason"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// ask adds a record of mira that waits for an answer, and gives the question.
func (r *rig) ask(e watch.Event, candidates ...match.Candidate) (question, recordID int64) {
	r.t.Helper()
	e.Source, e.Action, e.UserName = watch.Custom, watch.Watched, "mira"
	w := must(r.records.InsertClaimed(r.t.Context(), e, false, 0))(r.t)
	trace := match.Trace{Result: match.Result{Status: match.Review, Reason: reason.Text("perhaps")}, Steps: []match.Step{{Name: "api", Status: "hit", Candidates: candidates}}}
	err := r.db.Write(r.t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		if _, err := review.AskTx(ctx, tx, w, 0, trace); err != nil {
			return err
		}
		return record.SettleTx(ctx, tx, record.Outcome{RecordID: w.ID, Status: record.Review, Message: reason.Text("perhaps")})
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return must(r.questions.OfRecord(r.t.Context(), w.ID))(r.t), w.ID
}

func show(title string, season int, number float64) watch.Event {
	return watch.Event{Media: watch.Episode, Title: title, Season: &season, Episode: &number}
}

func TestConfirmACandidate(t *testing.T) {
	r := newRig(t)
	r.mira()
	counted := match.Candidate{SubjectID: 266, StartID: 265, Name: "灯台守のうた 後半", Score: .8}
	id, recordID := r.ask(show("灯塔守望者", 2, 14), counted)
	r.do("GET", "/api/pending-candidates", nil).want(200, `"title":"灯塔守望者"`, `"waiting":1`, `"start_id":265`)
	path := fmt.Sprintf("/api/pending-candidates/%d", id)
	got := r.do("POST", path+"/confirm", map[string]any{"subject_id": 266}).want(202, fmt.Sprintf(`"record_ids":[%d]`, recordID))
	if got.get("mapping", "subject_id") != 265.0 || got.get("mapping", "season") != 2.0 || got.get("mapping", "origin") != "confirm" || got.get("pending_candidate", "subject_name") != "灯塔守望者" {
		t.Errorf("confirming a candidate of a later part: %s", got.body)
	}
	r.do("GET", fmt.Sprintf("/api/tasks/%v", got.get("task_id")), nil).want(200, `"kind":"answer"`)
	r.do("POST", path+"/confirm", map[string]any{"subject_id": 266}).problem(409, "answered already")
	r.do("POST", path+"/reject", nil).problem(409, "answered already")
	r.do("DELETE", path, nil).problem(409)
	r.do("GET", "/api/pending-candidates?status=confirmed", nil).want(200, `"status":"confirmed"`)
	r.do("GET", "/api/mappings", nil).want(200, `"origin":"confirm"`)

	undone := r.do("POST", path+"/undo", nil).want(202, fmt.Sprintf(`"unmarked_record_ids":[%d]`, recordID), `"marks_left":0`)
	if undone.get("pending_candidate", "status") != "pending" || undone.get("rule_kept") != false {
		t.Errorf("undo: %s", undone.body)
	}
	if items := r.do("GET", "/api/mappings", nil).want(200).get("items").([]any); len(items) != 0 {
		t.Errorf("undo leaves the mapping: %v", items)
	}
	r.do("POST", path+"/undo", nil).problem(409, "nothing to undo")
}

func TestConfirmWithAnOffsetMeansTheSubjectItself(t *testing.T) {
	r := newRig(t)
	id, _ := r.ask(show("灯塔守望者", 2, 14), match.Candidate{SubjectID: 266, StartID: 265, Score: .8})
	got := r.do("POST", fmt.Sprintf("/api/pending-candidates/%d/confirm", id), map[string]any{"subject_id": 266, "episode_offset": -12}).want(202)
	if got.get("mapping", "subject_id") != 266.0 || got.get("mapping", "episode_offset") != -12.0 {
		t.Errorf("the mapping is %s", got.body)
	}
}

func TestConfirmChecksOtherSubjects(t *testing.T) {
	r := newRig(t)
	id, _ := r.ask(show("灯塔守望者", 1, 1))
	path := fmt.Sprintf("/api/pending-candidates/%d/confirm", id)
	r.do("POST", path, map[string]any{"subject_id": 404}).problem(422, "body.subject_id", "does not show")
	r.do("POST", path, map[string]any{"subject_id": 8}).problem(422, "body.subject_id", "subject_of_other_kind")
	for _, much := range []int64{1 << 31, 1 << 32, 1 << 40} {
		r.do("POST", path, map[string]any{"subject_id": much}).problem(422, "body.subject_id")
	}
	r.do("POST", path, map[string]any{"subject_id": 503}).problem(503, "api_catalog_later")
	r.do("POST", path, map[string]any{"subject_id": 0}).problem(422, "body.subject_id")
	r.do("POST", path, map[string]any{"subject_id": 265, "episode_offset": 1 << 20}).problem(422, "body.episode_offset")
	r.do("POST", "/api/pending-candidates/999/confirm", map[string]any{"subject_id": 265}).problem(404)
	r.do("POST", path, map[string]any{"subject_id": 265}).want(202, `"subject_name":"灯塔守望者"`)

	e := show("a show", 1, 1)
	e.Media = watch.RealAction
	live, _ := r.ask(e)
	path = fmt.Sprintf("/api/pending-candidates/%d/confirm", live)
	r.do("POST", path, map[string]any{"subject_id": 265}).want(202)
	other, _ := r.ask(show("another", 1, 1))
	r.do("POST", fmt.Sprintf("/api/pending-candidates/%d/confirm", other), map[string]any{"subject_id": 7}).want(202)
}

func TestConfirmOfASpecialIsForItsNumber(t *testing.T) {
	r := newRig(t)
	one, half := 1.0, 1.5
	id, _ := r.ask(show("灯塔守望者", 0, 9), match.Candidate{SubjectID: 266, EpisodeSort: &half, Score: .7}, match.Candidate{SubjectID: 265, EpisodeSort: &one, Score: .8})
	path := fmt.Sprintf("/api/pending-candidates/%d", id)
	r.do("GET", path, nil).want(200, `"episode":9`)
	r.do("POST", path+"/confirm", map[string]any{"subject_id": 266}).problem(422, "body.episode_offset", "no_offset")
	got := r.do("POST", path+"/confirm", map[string]any{"subject_id": 265}).want(202)
	if got.get("mapping", "subject_id") != 265.0 || got.get("mapping", "episode_offset") != -8.0 || got.get("mapping", "form") != "show" {
		t.Errorf("the mapping is %s", got.body)
	}
	r.do("GET", "/api/mappings/export", nil).want(200, `"form":"show"`, `"episode":9`)
}

func TestRejectAndDelete(t *testing.T) {
	r := newRig(t)
	id, recordID := r.ask(show("购物", 1, 1))
	path := fmt.Sprintf("/api/pending-candidates/%d", id)
	r.do("POST", path+"/reject", nil).want(202, `"source":"reject"`, `"kind":"exact"`, fmt.Sprintf(`"record_ids":[%d]`, recordID))
	r.do("GET", "/api/blocked-keywords", nil).want(200, `"keyword":"购物"`)
	r.do("POST", path+"/undo", nil).want(202)
	if items := r.do("GET", "/api/blocked-keywords", nil).want(200).get("items").([]any); len(items) != 0 {
		t.Errorf("undo leaves the keyword: %v", items)
	}

	id, recordID = r.ask(show("later", 1, 1))
	path = fmt.Sprintf("/api/pending-candidates/%d", id)
	r.do("DELETE", path, nil).want(204)
	r.do("GET", path, nil).problem(404)
	r.do("GET", fmt.Sprintf("/api/records/%d", recordID), nil).want(200, `"status":"review"`)
	r.do("POST", path+"/undo", nil).want(202, `"status":"pending"`, `"task_id":0`)
	r.do("GET", path, nil).want(200)
}

func TestSubjectsAreFoundByTitleAndNumber(t *testing.T) {
	r := newRig(t)
	r.do("GET", "/api/subjects?q=anything", nil).want(200, `"id":265`, `"id":7`)
	if items := r.do("GET", "/api/subjects?q=7&type=real", nil).want(200).get("items").([]any); len(items) != 1 {
		t.Errorf("by number: %v", items)
	}
	if items := r.do("GET", "/api/subjects?q=7&type=anime", nil).want(200, `"id":265`).get("items").([]any); len(items) != 1 {
		t.Errorf("of another kind: %v", items)
	}
	r.do("GET", "/api/subjects?q=nobody+answers", nil).problem(503)
	r.do("GET", "/api/subjects?q=", nil).problem(422, "query.q")
	r.do("GET", "/api/subjects/265", nil).want(200, `"name_cn":"灯塔守望者"`, `"eps":12`)
	r.do("GET", "/api/subjects/404", nil).problem(404)
	r.do("GET", "/api/subjects/503", nil).problem(503)
}
