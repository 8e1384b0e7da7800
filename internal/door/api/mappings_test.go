package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/door/api"
	"watchmark/internal/match/mapping"
)

func TestMappingsAreKept(t *testing.T) {
	r := newRig(t)
	r.do("POST", "/api/mappings", map[string]any{"title": "灯塔守望者", "season": 2, "subject_id": 265, "episode_offset": -12, "note": "second half"}).want(201, `"origin":"person"`, `"subject_name":"灯塔守望者"`)
	r.do("POST", "/api/mappings", map[string]any{"title": "灯塔守望者", "season": 2, "subject_id": 266}).problem(409)
	r.do("POST", "/api/mappings", map[string]any{"title": "(", "is_regex": true, "subject_id": 265}).problem(422, "body.title")
	r.do("POST", "/api/mappings", map[string]any{"title": "x", "subject_id": 1}).problem(422, "body.subject_id", "does not exist")
	r.do("POST", "/api/mappings", map[string]any{"title": "x", "subject_id": 8}).problem(422, "body.subject_id", "subject_of_other_kind")
	r.do("POST", "/api/mappings", map[string]any{"title": "while the catalog is down", "first_season": true, "subject_id": 503}).want(201, `"subject_name":""`, `"first_season":true`)
	r.do("PUT", "/api/mappings/1", map[string]any{"title": "灯塔守望者", "season": nil, "subject_id": 266}).want(200, `"season":null`, `"subject_id":266`, `"subject_name":"series"`, `"episode_offset":0`)
	r.do("GET", "/api/mappings/1", nil).want(200)
	r.do("PUT", "/api/mappings/9", map[string]any{"title": "x", "subject_id": 265}).problem(404)
	r.do("GET", "/api/mappings?q=灯塔", nil).want(200, `"subject_id":266`)
	r.do("GET", "/api/mappings?q=nothing", nil).want(200, `"items":[]`)
	first := r.do("GET", "/api/mappings?limit=1", nil).want(200, "while the catalog is down")
	r.do("GET", "/api/mappings?limit=1&cursor="+first.get("next_cursor").(string), nil).want(200, "灯塔守望者", `"next_cursor":""`)
	r.do("GET", "/api/mappings?cursor=x", nil).problem(422, "query.cursor")
	r.do("DELETE", "/api/mappings/1", nil).want(204)
	r.do("DELETE", "/api/mappings/77", nil).problem(404)
}

func TestMappingsAndKeywordsAreExportedAndImported(t *testing.T) {
	r := newRig(t)
	r.do("POST", "/api/mappings", map[string]any{"title": "灯塔守望者", "season": 2, "subject_id": 265, "episode_offset": -12}).want(201)
	r.do("POST", "/api/blocked-keywords", map[string]any{"keyword": "预告"}).want(201)
	export := r.do("GET", "/api/mappings/export", nil).want(200, `"subject_name":"灯塔守望者"`, `"keyword":"预告"`)
	if got := export.header.Get("Content-Disposition"); !strings.Contains(got, "watchmark-mappings.json") {
		t.Errorf("Content-Disposition %q", got)
	}
	r.do("POST", "/api/mappings/import", export.body).want(200, `{"added":0,"changed":0,"same":2,"refused":0}`)
	r.do("DELETE", "/api/mappings/1", nil).want(204)
	r.do("POST", "/api/mappings/import/preview", export.body).want(200, `"added":1`, `"same":1`)
	r.do("GET", "/api/mappings", nil).want(200, `"items":[]`)
	r.do("POST", "/api/mappings/import", export.body).want(200, `{"added":1,"changed":0,"same":1,"refused":0}`)
	r.do("GET", "/api/mappings", nil).want(200, `"origin":"import"`, `"subject_name":"灯塔守望者"`)
	r.do("POST", "/api/mappings/import", `{"mappings":[{"title":"a","subject_id":1},{"title":"b","subject_id":0}]}`).problem(422, "body.mappings[1].subject_id")
	if items := r.do("GET", "/api/mappings", nil).get("items").([]any); len(items) != 1 {
		t.Errorf("a refused import left %v", items)
	}
}

func TestImportIsToldLineByLine(t *testing.T) {
	r := newRig(t)
	r.do("POST", "/api/mappings", map[string]any{"title": "changed", "subject_id": 265}).want(201)
	r.do("POST", "/api/mappings", map[string]any{"title": "same", "subject_id": 265}).want(201)
	var got api.ImportPreview
	r.do("POST", "/api/mappings/import/preview", `{"mappings":[
		{"title":"same","subject_id":265}, {"title":"changed","subject_id":266,"subject_name":"series"}, {"title":"no subject"},
		{"title":"a typo","subject_id":265,"seson":1}, 7, {"title":"text","subject_id":"265"}, {"title":"huge","subject_id":1e30}, {"title":"new","season":3,"subject_id":265}, {"title":"New","season":3,"subject_id":265}],
		"blocked_keywords":[{"keyword":"["},{"keyword":"[","kind":"regex"}]}`).want(200).into(&got)
	var lines []string
	for _, line := range got.Lines {
		lines = append(lines, fmt.Sprintf("%s[%d] %s %q: %s", line.List, line.Index, line.Fate, line.Title, line.Problem))
	}
	want := []string{
		`mappings[1] changed "changed": `,
		`mappings[2] refused "no subject": expected required property subject_id to be present`,
		`mappings[3] refused "a typo": seson: unexpected property`,
		`mappings[4] refused "": expected object`,
		`mappings[5] refused "text": subject_id: expected integer`,
		`mappings[6] refused "huge": a number is too large, or not a whole number`,
		`mappings[7] added "new": `,
		`mappings[8] refused "New": title: is in the file twice for the same season, form and episode`,
		`blocked_keywords[0] added "[": `,
		"blocked_keywords[1] refused \"[\": keyword: is not a regular expression: error parsing regexp: missing closing ]: `[`",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(mapping.Tally{Added: 2, Changed: 1, Same: 1, Refused: 7}, got.Tally); diff != "" {
		t.Errorf("tally (-want +got):\n%s", diff)
	}
	r.do("POST", "/api/mappings/import/preview", `{"mappings":[{"title":"changed","subject_id":266}]}`).want(200, `"was":{"id":1`, `"subject_id":266`)
	r.do("POST", "/api/mappings/import/preview", "{\n\"mappings\": [\n{]}").problem(400, "see line 3")
	r.do("POST", "/api/mappings/import/preview", `[{"title":"a","subject_id":1}]`).problem(400, "like the export")
	r.do("POST", "/api/mappings/import/preview", `{"mapings":[]}`).problem(400, "like the export")
	r.do("POST", "/api/mappings/import/preview", `{"mappings":[`+strings.Repeat(`7,`, 10_000)+`7]}`).problem(422, "body.mappings")
	r.do("POST", "/api/mappings/import/preview", `{"blocked_keywords":[`+strings.Repeat(`7,`, 2_000)+`7]}`).problem(422, "body.blocked_keywords")
	r.do("GET", "/api/mappings", nil).want(200, `"subject_id":265`)
}

func TestRulesAreTriedOnATitle(t *testing.T) {
	r := newRig(t)
	r.do("POST", "/api/mappings", map[string]any{"title": "灯塔守望者", "season": 2, "subject_id": 266}).want(201)
	r.do("POST", "/api/blocked-keywords", map[string]any{"keyword": "预告"}).want(201)
	try := func(title string, more ...any) reply {
		body := map[string]any{"title": title}
		for i := 0; i < len(more); i += 2 {
			body[more[i].(string)] = more[i+1]
		}
		return r.do("POST", "/api/mappings/test", body)
	}
	try("灯塔守望者", "season", 2, "episode", 3).want(200, `"mapping":{"id":1`, `"leads":{"status":"matched","subject_id":266`, `"episode_name":"the title"`, `"draft":""`)
	try("灯塔守望者", "season", 1).want(200, `{"draft":"","passed_over":""}`)
	try("灯塔守望者 预告", "season", 2).want(200, `{"blocked":{`, `"keyword":"预告"`, `},"draft":"","passed_over":""}`)
	draft := map[string]any{"title": "^灯塔", "is_regex": true, "subject_id": 265}
	try("灯塔物语", "draft", draft).want(200, `"draft":"applies"`, `"id":0`, `"subject_id":265`)
	try("灯塔守望者", "season", 2, "draft", draft).want(200, `"draft":"behind"`, `"subject_id":266`)
	try("港口", "draft", draft).want(200, `{"draft":"unfit","passed_over":""}`)
	draft["subject_id"] = 0
	try("灯塔物语", "draft", draft).want(200, `"draft":"applies","passed_over":""}`)
	try("灯塔物语", "is_film", true, "draft", draft).want(200, `"draft":"applies"`)
	draft["title"] = "("
	try("灯塔物语", "draft", draft).problem(422, "body.draft.title", "not a regular expression")
	try(" ").problem(422, "body.title")
	if items := r.do("GET", "/api/mappings", nil).get("items").([]any); len(items) != 1 {
		t.Errorf("a trial wrote %v", items)
	}
}

func TestBlockedKeywordsAreKept(t *testing.T) {
	r := newRig(t)
	r.do("POST", "/api/blocked-keywords", map[string]any{"keyword": "预告"}).want(201, `"kind":"contains"`, `"source":"person"`)
	r.do("POST", "/api/blocked-keywords", map[string]any{"keyword": "预告", "kind": "contains"}).problem(409)
	r.do("POST", "/api/blocked-keywords", map[string]any{"keyword": "(", "kind": "regex"}).problem(422, "body.keyword")
	r.do("POST", "/api/blocked-keywords", map[string]any{"keyword": "x", "kind": "almost"}).problem(422, "body.kind")
	r.do("PUT", "/api/blocked-keywords/1", map[string]any{"keyword": "PV", "kind": "exact"}).want(200, `"PV"`, `"exact"`)
	r.do("GET", "/api/blocked-keywords/1", nil).want(200, `"PV"`)
	r.do("GET", "/api/blocked-keywords?q=pv", nil).want(200, `"PV"`)
	r.do("GET", "/api/blocked-keywords?q=zz", nil).want(200, `"items":[]`)
	r.do("DELETE", "/api/blocked-keywords/1", nil).want(204)
	r.do("GET", "/api/blocked-keywords/1", nil).problem(404)
}
