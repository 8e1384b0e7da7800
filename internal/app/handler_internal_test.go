package app

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/door/web"
	"watchmark/internal/testkit/dbtest"
)

// answerOf is what a service that is not running answers.
func answerOf(t *testing.T, a *App, path, key string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	w := httptest.NewRecorder()
	a.handler.ServeHTTP(w, r)
	return w
}

func unstarted(t *testing.T) *App {
	t.Helper()
	dir := dbtest.Folder(t)
	a, err := New(t.Context(), Options{DataDir: dir, Environ: dbtest.Environ(t, dir), Logs: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// TestStaticFilesNeedNoDatabase: the page that says what is wrong keeps its looks.
func TestStaticFilesNeedNoDatabase(t *testing.T) {
	a := unstarted(t)
	key, _, err := a.Auth.CreateKey(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	login := answerOf(t, a, "/setup", "").Body.String()
	files := slices.Compact(slices.Sorted(slices.Values(regexp.MustCompile(web.StaticPrefix+`[^"]+`).FindAllString(login, -1))))
	if len(files) < 3 {
		t.Fatalf("the page names %q: %s", files, login)
	}
	if err := a.db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if w := answerOf(t, a, file, key); w.Code != http.StatusOK || w.Body.Len() == 0 {
			t.Errorf("%s: status %d", file, w.Code)
		}
	}
	if w := answerOf(t, a, "/api/records", key); w.Code != http.StatusServiceUnavailable {
		t.Errorf("what needs the database answers %d without it", w.Code)
	}
}

// TestServiceHasTheResourcesOfTheReference: docs/api.md is made without this package.
func TestServiceHasTheResourcesOfTheReference(t *testing.T) {
	a := unstarted(t)
	key, _, err := a.Auth.CreateKey(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "api.md"))
	if err != nil {
		t.Fatal(err)
	}
	var documented, served []string
	for _, op := range regexp.MustCompile("\\| \\[`([A-Z]+ \\S+)`\\]").FindAllStringSubmatch(string(text), -1) {
		documented = append(documented, op[1])
	}
	var document struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	if err := json.Unmarshal(answerOf(t, a, "/api/openapi.json", key).Body.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	for path, operations := range document.Paths {
		for method := range operations {
			served = append(served, strings.ToUpper(method)+" "+path)
		}
	}
	slices.Sort(documented)
	slices.Sort(served)
	if diff := cmp.Diff(documented, served); diff != "" {
		t.Errorf("documented and served (-, +):\n%s", diff)
	}
}
