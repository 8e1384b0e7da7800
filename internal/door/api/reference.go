package api

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// reference is the OpenAPI document as people read it: chapters of operations, then
// the schemas they name. The page /api/docs and docs/api.md are made from it.
type reference struct {
	Version  string
	Chapters []chapter
	Schemas  []schemaText
	// BasePath, Stylesheet and Icon are for the page.
	BasePath, Stylesheet, Icon string
}

type chapter struct {
	Name, Description string
	Operations        []operationText
}

type operationText struct {
	ID, Method, Path, Summary, Description string
	Open                                   bool // needs no login
	Parameters                             []row
	Body                                   *typeText
	Responses                              []responseText
}

type responseText struct {
	Status, Description string
	Body                *typeText
}

// row describes a parameter or a field.
type row struct {
	Name, In    string
	Type        typeText
	Required    bool
	Description string
}

// typeText is a type in words. Schema is the name of the schema it leads to, if any.
type typeText struct {
	Text, Schema string
}

type schemaText struct {
	Name    string
	Fields  []row
	Example string
}

// newReference reads the document.
func newReference(doc *huma.OpenAPI) (reference, error) {
	r := reference{Version: doc.Info.Version}
	operations := map[string][]operationText{}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, op := range operationsOf(doc.Paths[path]) {
			operations[op.Tags[0]] = append(operations[op.Tags[0]], newOperation(op))
		}
	}
	for _, tag := range doc.Tags {
		r.Chapters = append(r.Chapters, chapter{tag.Name, tag.Description, operations[tag.Name]})
	}
	schemas := doc.Components.Schemas.Map()
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		text := schemaText{Name: name, Fields: fields(schemas[name])}
		example, err := json.MarshalIndent(example(doc, schemas[name], 0), "", "  ")
		if err != nil {
			return reference{}, fmt.Errorf("write the example of %s: %w", name, err)
		}
		text.Example = string(example)
		r.Schemas = append(r.Schemas, text)
	}
	return r, nil
}

// operationsOf lists the operations of a path in the order of their methods.
func operationsOf(item *huma.PathItem) []*huma.Operation {
	var list []*huma.Operation
	for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
		if op != nil {
			list = append(list, op)
		}
	}
	return list
}

func newOperation(op *huma.Operation) operationText {
	text := operationText{
		ID: op.OperationID, Method: op.Method, Path: op.Path, Summary: op.Summary, Description: op.Description,
		Open: op.Security != nil && len(op.Security) == 0,
	}
	for _, p := range op.Parameters {
		text.Parameters = append(text.Parameters, row{p.Name, p.In, newType(p.Schema), p.Required, p.Description})
	}
	if op.RequestBody != nil {
		text.Body = bodyType(op.RequestBody.Content)
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		response := op.Responses[status]
		text.Responses = append(text.Responses, responseText{status, response.Description, bodyType(response.Content)})
	}
	return text
}

// bodyType is the type of the one content a body has; nil for none.
func bodyType(content map[string]*huma.MediaType) *typeText {
	if len(content) == 0 {
		return nil
	}
	kind := slices.Min(slices.Collect(maps.Keys(content))) // of several the first
	if content[kind].Schema == nil {
		return &typeText{Text: kind}
	}
	t := newType(content[kind].Schema)
	return &t
}

// newType puts a schema into words.
func newType(s *huma.Schema) typeText {
	switch {
	case s.Ref != "":
		name := s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
		return typeText{name, name}
	case s.Items != nil:
		item := newType(s.Items)
		return typeText{"list of " + item.Text, item.Schema}
	case len(s.OneOf) > 0:
		var whole typeText
		var words []string
		for _, one := range s.OneOf {
			part := newType(one)
			words = append(words, part.Text)
			whole.Schema = cmp.Or(whole.Schema, part.Schema)
		}
		whole.Text = strings.Join(words, " or ")
		return whole
	case len(s.Enum) > 0:
		words := make([]string, len(s.Enum))
		for i, value := range s.Enum {
			words[i] = fmt.Sprintf("%q", value)
		}
		return typeText{Text: strings.Join(words, " | ")}
	}
	if inner, ok := s.AdditionalProperties.(*huma.Schema); ok {
		value := newType(inner)
		return typeText{"map to " + value.Text, value.Schema}
	}
	text := s.Type
	switch {
	case text == "":
		text = "any"
	case s.Format == "date-time":
		text = "time (RFC 3339)"
	}
	if s.Minimum != nil && s.Maximum != nil {
		text += fmt.Sprintf(" %v to %v", *s.Minimum, *s.Maximum)
	}
	if s.Nullable {
		text += " or null"
	}
	return typeText{Text: text}
}

// fields describes the fields of an object, required ones first.
func fields(s *huma.Schema) []row {
	var rows []row
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		field := s.Properties[name]
		description := field.Description
		if field.Default != nil {
			description = strings.TrimSpace(fmt.Sprintf("%s Default: %v.", description, field.Default))
		}
		rows = append(rows, row{name, "", newType(field), slices.Contains(s.Required, name), description})
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		switch {
		case a.Required == b.Required:
			return 0
		case a.Required:
			return -1
		}
		return 1
	})
	return rows
}

// example is a value that fits the schema.
func example(doc *huma.OpenAPI, s *huma.Schema, depth int) any {
	const deepest = 8
	for s.Ref != "" {
		s = doc.Components.Schemas.SchemaFromRef(s.Ref)
	}
	switch {
	case len(s.Examples) > 0:
		return s.Examples[0]
	case s.Default != nil:
		return s.Default
	case len(s.Enum) > 0:
		return s.Enum[len(s.Enum)-1]
	case s.Type == huma.TypeObject && depth < deepest:
		object := map[string]any{}
		for name, field := range s.Properties {
			object[name] = example(doc, field, depth+1)
		}
		return object
	case s.Type == huma.TypeArray && depth < deepest:
		return []any{example(doc, s.Items, depth+1)}
	case s.Format == "date-time":
		return "2026-05-19T20:15:00Z"
	}
	return map[string]any{
		huma.TypeArray: []any{}, huma.TypeObject: map[string]any{}, huma.TypeBoolean: true,
		huma.TypeInteger: 1, huma.TypeNumber: 1, huma.TypeString: "…",
	}[s.Type]
}

//go:embed docs.html
var docsHTML string

var docsTemplate = template.Must(template.New("docs").Parse(docsHTML))

// docsPage is the reference as a page without scripts, for the strict content policy.
func (s *server) docsPage() ([]byte, error) {
	r, err := newReference(document(s.Config, s.resources...))
	if err != nil {
		return nil, err
	}
	r.BasePath, r.Stylesheet, r.Icon = s.Guard.BasePath, s.Stylesheet, s.Icon
	var page bytes.Buffer
	if err := docsTemplate.Execute(&page, r); err != nil {
		return nil, fmt.Errorf("write %s %s: %w", http.MethodGet, docsPath, err)
	}
	return page.Bytes(), nil
}
