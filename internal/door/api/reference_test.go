package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"

	"watchmark/internal/door/api"
	"watchmark/internal/door/auth"
)

var update = flag.Bool("update", false, "write docs/api.md anew")

// bare is the document of an API at the root.
func bare() *huma.OpenAPI {
	return api.Document(api.Config{Guard: &auth.Guard{}}, new(parts).resources()...)
}

func TestReferenceInTheDocumentsIsFresh(t *testing.T) {
	functions := template.FuncMap{
		"lower": strings.ToLower,
		"cell":  func(text string) string { return strings.ReplaceAll(text, "|", `\|`) },
	}
	source := template.Must(template.New("api.md.tmpl").Funcs(functions).ParseFiles(filepath.Join("testdata", "api.md.tmpl")))
	r, err := api.NewReference(bare())
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := source.Execute(&text, r); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("..", "..", "..", "docs", "api.md")
	if *update {
		if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(have), text.String()); diff != "" {
		t.Errorf("docs/api.md is stale: run go test ./internal/door/api -run TestReference -update\n%s", diff)
	}
}

func TestReferenceExamplesFitTheirSchemas(t *testing.T) {
	doc := bare()
	r, err := api.NewReference(doc)
	if err != nil {
		t.Fatal(err)
	}
	for _, schema := range r.Schemas {
		var value any
		if err := json.Unmarshal([]byte(schema.Example), &value); err != nil {
			t.Fatal(err)
		}
		var result huma.ValidateResult
		huma.Validate(doc.Components.Schemas, doc.Components.Schemas.Map()[schema.Name], huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, value, &result)
		for _, err := range result.Errors {
			t.Errorf("the example of %s: %v", schema.Name, err)
		}
	}
}
