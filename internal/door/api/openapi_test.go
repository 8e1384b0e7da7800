package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"
)

// methodsOf are the documented operations of a path.
func methodsOf(item *huma.PathItem) map[string]*huma.Operation {
	all := map[string]*huma.Operation{
		http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put,
		http.MethodPatch: item.Patch, http.MethodDelete: item.Delete,
	}
	maps.DeleteFunc(all, func(_ string, op *huma.Operation) bool { return op == nil })
	return all
}

var parameter = regexp.MustCompile(`\{[a-z_]+\}`)

// matches reports whether a path is one of the template's.
func matches(template, path string) bool {
	return slices.EqualFunc(strings.Split(template, "/"), strings.Split(path, "/"), func(want, have string) bool {
		return want == have || strings.HasPrefix(want, "{") && have != ""
	})
}

// documented finds the operation that answers a request; nil when none is documented.
func documented(doc *huma.OpenAPI, method, path string) *huma.Operation {
	path, _, _ = strings.Cut(path, "?")
	if item := doc.Paths[path]; item != nil {
		return methodsOf(item)[method]
	}
	for template, item := range doc.Paths {
		if matches(template, path) {
			return methodsOf(item)[method]
		}
	}
	return nil
}

// holdAgainst checks an answer against the document: status, content type and body.
func holdAgainst(t *testing.T, doc *huma.OpenAPI, method, path string, got reply) {
	t.Helper()
	op := documented(doc, method, path)
	if op == nil {
		return
	}
	response := op.Responses[fmt.Sprint(got.status)]
	if response == nil {
		t.Errorf("%s answered %d, which is not documented", got.what, got.status)
		return
	}
	contentType, _, _ := strings.Cut(got.header.Get("Content-Type"), ";")
	if len(response.Content) == 0 {
		if got.body != "" && got.status < 300 {
			t.Errorf("%s answered %d with a body, and none is documented: %.200s", got.what, got.status, got.body)
		}
		return
	}
	media := response.Content[contentType]
	if media == nil {
		t.Errorf("%s answered %d as %q, documented are %v", got.what, got.status, contentType, slices.Collect(maps.Keys(response.Content)))
		return
	}
	if media.Schema == nil {
		return
	}
	var value any
	if err := json.Unmarshal([]byte(got.body), &value); err != nil {
		t.Errorf("%s: %v", got.what, err)
		return
	}
	schema := map[string]any{}
	if err := json.Unmarshal(must(json.Marshal(media.Schema))(t), &schema); err != nil {
		t.Fatal(err)
	}
	held := &checker{}
	held.check("answer", schema, value)
	for _, problem := range held.problems {
		t.Errorf("%s %d breaks the document: %s", got.what, got.status, problem)
	}
}

// What is asked of a service that has nothing yet is answered as documented, too: lists are empty and not null.
func TestAnswersOfAnEmptyServiceKeepToTheDocument(t *testing.T) {
	r := newRig(t)
	for path, item := range r.doc.Paths {
		if item.Get == nil || strings.Contains(path, "{") || slices.ContainsFunc(slices.Collect(maps.Values(item.Get.Responses)), streams) {
			continue
		}
		r.do("GET", path, nil)
		r.anonymous("GET", path, nil)
	}
}

// streams reports whether an answer does not end.
func streams(response *huma.Response) bool { return response.Content["text/event-stream"] != nil }

func TestTheDocumentListsExactlyWhatIsServed(t *testing.T) {
	r := newRig(t)
	served := r.do("GET", "/api/openapi.json", nil).want(200, `"openapi":"3.1.0"`)
	var doc struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	served.into(&doc)
	if len(doc.Paths) < 30 {
		t.Fatalf("%d paths", len(doc.Paths))
	}
	for template := range doc.Paths {
		path := parameter.ReplaceAllString(strings.Replace(template, "{source}", "custom", 1), "1")
		allowed := strings.Split(r.do("PROPFIND", path, nil).want(405).header.Get("Allow"), ", ")
		var methods []string
		for other, item := range doc.Paths { // an id may be any word: /mappings/export is /mappings/{id} too
			if other == template || matches(other, path) {
				for method := range item {
					methods = append(methods, strings.ToUpper(method))
				}
			}
		}
		slices.Sort(allowed)
		slices.Sort(methods)
		methods = slices.Compact(methods)
		if diff := cmp.Diff(methods, allowed); diff != "" {
			t.Errorf("%s: documented (-) and served (+) differ: %s", template, diff)
		}
	}
}

func TestEveryOperationIsToldWhole(t *testing.T) {
	r := newRig(t)
	for path, item := range r.doc.Paths {
		for method, op := range methodsOf(item) {
			if op.Summary == "" || op.OperationID == "" || len(op.Tags) != 1 {
				t.Errorf("%s %s lacks summary, id or tag", method, path)
			}
			for _, p := range op.Parameters {
				if p.Description == "" {
					t.Errorf("%s %s: parameter %s is not described", method, path, p.Name)
				}
			}
			for _, name := range parameter.FindAllString(path, -1) {
				if !slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.In == "path" && "{"+p.Name+"}" == name }) {
					t.Errorf("%s %s: %s is not documented", method, path, name)
				}
			}
		}
	}
}

func TestDocsPageWorksOfflineUnderTheStrictPolicy(t *testing.T) {
	r := newRig(t)
	page := r.do("GET", "/api/docs", nil).want(200, "POST /base/api/test-match", `href="/base/static/app.css"`, `href="/base/api/openapi.json"`, "灯塔守望者")
	for _, forbidden := range []string{"<script", "<style", "style=", "onclick", "http://", "https://"} {
		if strings.Contains(page.body, forbidden) {
			t.Errorf("the page contains %s", forbidden)
		}
	}
	for path, item := range r.doc.Paths {
		for method := range methodsOf(item) {
			if !strings.Contains(page.body, method+" /base"+path) {
				t.Errorf("the page lacks %s %s", method, path)
			}
		}
	}
}
