package api_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"watchmark/internal/engine/review"
	"watchmark/internal/match"
	"watchmark/internal/platform/reason"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// waits has a record of somebody wait for an answer, and gives the question.
func (h *house) waits(i *inhabitant, title string) (question, recordID int64) {
	h.t.Helper()
	season, episode := 1, float64(len(i.records)+1)
	e := watch.Event{Source: watch.Custom, Action: watch.Watched, Media: watch.Episode, Title: title, OriginalTitle: "as " + i.name + " has it", Season: &season, Episode: &episode, UserName: i.name}
	w := must(h.records.InsertClaimed(h.t.Context(), e, false, 0))(h.t)
	trace := match.Trace{Result: match.Result{Status: match.Review, Reason: reason.Text("unsure of " + i.name)}, Steps: []match.Step{
		match.Step{Name: match.StepRoute, Status: match.Hit, Output: map[string]any{"accounts": []string{"mira", "alex", "bench"}}}.Ended(w.CreatedAt),
		match.Step{Name: match.StepAPI, Status: match.Hit, Candidates: []match.Candidate{{SubjectID: 265, Name: "seen by " + i.name, Score: .8}}}.Ended(w.CreatedAt),
	}}
	err := h.db.Write(h.t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		if _, err := review.AskTx(ctx, tx, w, i.id, trace); err != nil {
			return err
		}
		text := must(json.Marshal(trace))(h.t)
		return record.SettleTx(ctx, tx, record.Outcome{RecordID: w.ID, AccountID: i.account, AccountName: i.name, Status: record.Review, Message: trace.Result.Reason, Trace: text})
	})
	if err != nil {
		h.t.Fatal(err)
	}
	i.records = append(i.records, w.ID)
	return must(h.questions.OfRecord(h.t.Context(), w.ID))(h.t), w.ID
}

// maps adds a mapping, blocks a keyword, by headers.
func (h *house) maps(as []string, title string, subject int) (id int64) {
	h.t.Helper()
	h.send("POST", "/api/mappings", map[string]any{"title": title, "subject_id": subject}, as...).want(201).pick(map[string]any{"id": &id})
	return id
}

// blocks is explained at maps.
func (h *house) blocks(as []string, keyword string) (id int64) {
	h.t.Helper()
	h.send("POST", "/api/blocked-keywords", map[string]any{"keyword": keyword}, as...).want(201).pick(map[string]any{"id": &id})
	return id
}

func TestMappingsOfAPerson(t *testing.T) {
	h := newHouse(t)
	mira, alex := h.people["mira"], h.people["alex"]
	h.do("POST", "/api/mappings", map[string]any{"title": "of the house", "subject_id": 265}).want(201, `"person_id":0`)
	own := h.maps(mira.bySession(), "灯塔守望者", 265)
	h.maps(alex.byKey(), "secret of alex", 7)
	h.blocks(alex.byKey(), "secret of alex")
	list := h.send("GET", "/api/mappings", nil, mira.byKey()...).want(200, `"灯塔守望者"`, fmt.Sprintf(`"person_id":%d`, mira.id))
	if items := list.get("items").([]any); len(items) != 1 {
		t.Errorf("mira sees %s", list.body)
	}
	path := fmt.Sprintf("/api/mappings/%d", own)
	h.send("PUT", path, map[string]any{"title": "灯塔守望者", "subject_id": 7}, mira.byKey()...).want(200, `"subject_id":7`)
	h.send("POST", "/api/mappings", map[string]any{"title": "灯塔守望者", "subject_id": 265}, mira.byKey()...).problem(409)
	h.send("POST", "/api/mappings/test", map[string]any{"title": "灯塔守望者"}, mira.byKey()...).want(200, `"subject_id":7`)
	for _, title := range []string{"secret of alex", "灯塔守望者"} {
		got := h.do("POST", "/api/mappings/test", map[string]any{"title": title}).want(200)
		if strings.Contains(got.body, `"mapping":`) || strings.Contains(got.body, `"blocked":`) {
			t.Errorf("for everybody %s comes out as %s", title, got.body)
		}
	}
	if got := h.send("POST", "/api/mappings/test", map[string]any{"title": "secret of alex"}, mira.byKey()...).want(200); strings.Contains(got.body, "alex") {
		t.Errorf("mira is told %s", got.body)
	}
	for _, as := range [][]string{mira.bySession(), mira.byKey()} {
		for _, path := range []string{"/api/mappings", "/api/mappings?q=alex", "/api/mappings?q=house", "/api/blocked-keywords", "/api/blocked-keywords?q=alex", "/api/mappings/export"} {
			if got := h.send("GET", path, nil, as...).want(200); strings.Contains(got.body, "alex") || strings.Contains(got.body, "house") {
				t.Errorf("%s tells mira %s", path, got.body)
			}
		}
	}
	document := map[string]any{"mappings": []any{map[string]any{"title": "secret of alex", "subject_id": 265}, map[string]any{"title": "of the house", "subject_id": 7}}}
	h.send("POST", "/api/mappings/import/preview", document, mira.byKey()...).want(200, `"added":2`, `"changed":0`)
	h.send("POST", "/api/mappings/import", document, mira.byKey()...).want(200, `"added":2`, `"changed":0`)
	h.send("GET", "/api/mappings?q=secret", nil, alex.byKey()...).want(200, `"subject_id":7`)
	if got := h.do("GET", "/api/mappings/export", nil).want(200); strings.Contains(got.body, "secret") || !strings.Contains(got.body, "of the house") {
		t.Errorf("for everybody there is %s", got.body)
	}

	h.send("POST", path+"/share", nil, mira.byKey()...).problem(403)
	h.do("POST", path+"/share", nil).want(200, `"person_id":0`)
	h.send("GET", path, nil, mira.byKey()...).problem(404)
	h.send("POST", "/api/mappings/test", map[string]any{"title": "灯塔守望者"}, alex.byKey()...).want(200, `"subject_id":7`)
	var theirs int64
	h.send("POST", "/api/mappings", map[string]any{"title": "灯塔守望者", "subject_id": 265}, mira.byKey()...).want(201).pick(map[string]any{"id": &theirs})
	h.do("POST", fmt.Sprintf("/api/mappings/%d/share", theirs), nil).problem(409, "for everybody of this title")
	h.send("DELETE", fmt.Sprintf("/api/mappings/%d", theirs), nil, mira.byKey()...).want(204)
}

// A question that two people wait for is asked once, shown to each with what is theirs, and answered for each.
func TestAQuestionThatTwoPeopleWaitFor(t *testing.T) {
	h := newHouse(t)
	mira, alex := h.people["mira"], h.people["alex"]
	question, first := h.waits(mira, "The Show")
	same, second := h.waits(alex, "the show")
	if question != same {
		t.Fatalf("mira waits for %d, alex for %d", question, same)
	}
	path := fmt.Sprintf("/api/pending-candidates/%d", question)
	seen := func(i *inhabitant, other string) {
		t.Helper()
		for _, path := range []string{path, "/api/pending-candidates"} {
			got := h.send("GET", path, nil, i.byKey()...).want(200, "as "+i.name+" has it", "seen by "+i.name, "unsure of "+i.name, `"waiting":1`, `"people":[]`)
			if strings.Contains(got.body, other) {
				t.Errorf("%s tells %s of %s: %s", path, i.name, other, got.body)
			}
		}
	}
	seen(mira, "alex")
	seen(alex, "mira")
	h.do("GET", "/api/pending-candidates", nil).want(200, `"waiting":2`, fmt.Sprintf(`"people":[%d,%d]`, mira.id, alex.id))

	// The answer of mira is hers: whatever person she names.
	got := h.send("POST", fmt.Sprintf("%s/confirm?person_id=%d", path, alex.id), map[string]any{"subject_id": 265}, mira.byKey()...).want(202,
		fmt.Sprintf(`"record_ids":[%d]`, first), fmt.Sprintf(`"person_id":%d`, mira.id), `"status":"confirmed"`)
	if strings.Contains(got.body, "alex") {
		t.Errorf("the answer tells %s", got.body)
	}
	h.ends(first)
	if status := h.statusOf(second); status != record.Review {
		t.Errorf("the record of alex is %s", status)
	}
	seen(alex, "mira")
	h.send("POST", path+"/confirm", map[string]any{"subject_id": 265}, mira.byKey()...).problem(409, "answered already")
	h.send("GET", "/api/pending-candidates?status=confirmed", nil, mira.byKey()...).want(200, "as mira has it")
	if items := h.send("GET", "/api/pending-candidates?status=confirmed", nil, alex.byKey()...).want(200).get("items").([]any); len(items) != 0 {
		t.Errorf("alex sees answers: %v", items)
	}
	h.send("POST", path+"/undo", nil, alex.byKey()...).problem(409)

	// The owner answers for alex alone, then takes that back.
	h.do("POST", fmt.Sprintf("%s/reject?person_id=%d", path, alex.id), nil).want(202, fmt.Sprintf(`"record_ids":[%d]`, second), fmt.Sprintf(`"person_id":%d`, alex.id))
	h.ends(second)
	h.send("GET", "/api/blocked-keywords", nil, alex.byKey()...).want(200, `"the show"`)
	h.do("POST", fmt.Sprintf("%s/undo?person_id=%d", path, alex.id), nil).want(202)
	h.ends(second)
	if got := h.send("GET", "/api/blocked-keywords", nil, alex.byKey()...).want(200); strings.Contains(got.body, "the show") {
		t.Errorf("the keyword stays: %s", got.body)
	}

	// Mira takes hers back: the mark on her list alone.
	h.send("POST", path+"/undo", nil, mira.byKey()...).want(202, fmt.Sprintf(`"record_ids":[%d]`, first))
	if items := h.send("GET", "/api/mappings", nil, mira.byKey()...).want(200).get("items").([]any); len(items) != 0 {
		t.Errorf("mira has %v", items)
	}
}

// What somebody decides about a title runs, marks and takes back nothing of anybody else, even after the owner had the mapping hold for all.
func TestNobodysAnswerReachesAnothersList(t *testing.T) {
	h := newHouse(t)
	mira, alex := h.people["mira"], h.people["alex"]
	question, first := h.waits(mira, "The Show")
	_, second := h.waits(alex, "The Show")
	path := fmt.Sprintf("/api/pending-candidates/%d", question)
	var mapping int64
	answered := h.send("POST", path+"/confirm", map[string]any{"subject_id": 265}, mira.byKey()...).want(202)
	mapping = int64(answered.get("mapping", "id").(float64))
	h.ends(first)
	h.do("POST", fmt.Sprintf("/api/mappings/%d/share", mapping), nil).want(200)
	h.send("POST", fmt.Sprintf("/api/records/%d/retry", second), nil, alex.byKey()...).want(202)
	h.ends(second)
	if marks := must(h.records.Marks(t.Context(), second))(t); len(marks) != 1 {
		t.Fatalf("the record of alex has the marks %v", marks)
	}
	back := h.send("POST", path+"/undo", nil, mira.byKey()...).want(202, `"rule_kept":true`)
	if got := back.get("record_ids").([]any); len(got) != 1 || int64(got[0].(float64)) != first {
		t.Errorf("the undo of mira runs %v", got)
	}
	if marks := must(h.records.Marks(t.Context(), second))(t); len(marks) != 1 {
		t.Errorf("the undo of mira left alex the marks %v", marks)
	}
	before := h.rows("record_marks")
	// A correction of mira takes her records alone, all of the title that she has.
	h.ends(first)
	h.send("POST", fmt.Sprintf("/api/records/%d/correct", first), map[string]any{"subject_id": 266, "all_of_title": true}, mira.byKey()...).
		want(202, fmt.Sprintf(`"record_ids":[%d]`, first), fmt.Sprintf(`"person_id":%d`, mira.id))
	h.idle()
	if marks := must(h.records.Marks(t.Context(), second))(t); len(marks) != 1 {
		t.Errorf("the correction of mira left alex the marks %v; before there were\n%s", marks, before)
	}
	preview := h.send("GET", fmt.Sprintf("/api/records/%d/correction?subject_id=266&all_of_title=true", first), nil, mira.byKey()...).want(200, `"corrected":true`, `"others":0`)
	if strings.Contains(preview.body, "alex") {
		t.Errorf("the preview tells %s", preview.body)
	}
	// The owner corrects for all, which leads mira nowhere else: her own mapping goes first.
	h.do("POST", fmt.Sprintf("/api/records/%d/correct", first), map[string]any{"subject_id": 265}).problem(422, "body.personal")
	h.do("POST", fmt.Sprintf("/api/records/%d/correct", second), map[string]any{"subject_id": 265}).want(202, `"person_id":0`)
	h.idle()
	h.send("POST", fmt.Sprintf("/api/records/%d/correction/undo", second), nil, alex.byKey()...).problem(409, "no correction")
	h.send("POST", fmt.Sprintf("/api/records/%d/correction/undo", first), nil, mira.byKey()...).want(202)
}

func TestATraceTellsNothingOfOthers(t *testing.T) {
	h := newHouse(t)
	mira := h.people["mira"]
	_, id := h.waits(mira, "The Show")
	got := h.send("GET", fmt.Sprintf("/api/match-records/%d/trace", id), nil, mira.byKey()...).want(200, `"mira"`, "seen by mira")
	if strings.Contains(got.body, "alex") || strings.Contains(got.body, "bench") {
		t.Errorf("the trace tells %s", got.body)
	}
	h.do("GET", fmt.Sprintf("/api/match-records/%d/trace", id), nil).want(200, `"alex"`)
	h.send("GET", fmt.Sprintf("/api/records/%d/arrival", id), nil, mira.byKey()...).want(200, `"user_name":"mira"`)
}

// Who runs failed records again runs their own.
func TestAPersonRetriesTheirOwn(t *testing.T) {
	h := newHouse(t)
	mira, alex := h.people["mira"], h.people["alex"]
	h.watch(mira, "one")
	h.watch(alex, "two")
	h.send("POST", "/api/records/retry", nil, mira.byKey()...).want(202)
	h.idle()
	if status := h.statusOf(mira.records[0]); status != record.Success {
		t.Errorf("the record of mira is %s", status)
	}
	if status := h.statusOf(alex.records[0]); status != record.Failed {
		t.Errorf("the record of alex is %s", status)
	}
}

func (h *house) statusOf(id int64) record.Status {
	h.t.Helper()
	return must(h.records.Get(h.t.Context(), id))(h.t).Status
}

// ends waits until a record is through.
func (h *house) ends(id int64) {
	h.t.Helper()
	h.becomes(func() bool { return !h.statusOf(id).IsOnTheWay() })
}

// idle waits until no task runs and all records are through.
func (h *house) idle() {
	h.t.Helper()
	h.becomes(func() bool {
		var n int
		err := h.db.Read().QueryRowContext(h.t.Context(), `SELECT (SELECT COUNT(*) FROM tasks WHERE state = 'running') + (SELECT COUNT(*) FROM records WHERE status IN ('received', 'processing'))`).Scan(&n)
		if err != nil {
			h.t.Fatal(err)
		}
		return n == 0
	})
}
