package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/catalog"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/reason"
)

// documentMapping is a mapping in a document.
type documentMapping struct {
	MappingInput
	SubjectName string `json:"subject_name,omitempty" maxLength:"500" doc:"The entry's, for people. The offline data, where there is one, knows better."`
}

// mappingDocument is what export answers and import takes.
type mappingDocument struct {
	Mappings []documentMapping `json:"mappings,omitempty" maxItems:"10000" doc:"The mappings."`
	Blocked  []blockedInput    `json:"blocked_keywords,omitempty" maxItems:"2000" doc:"The blocked keywords."`
}

// The lists of a document, and how many lines each may have, as the tags of mappingDocument say.
const (
	mappingsList = "mappings"
	mappingsMost = 10_000
	blockedList  = "blocked_keywords"
	blockedMost  = 2_000
)

// ImportLine is what an import would do with one line of a document.
type ImportLine struct {
	List    string       `json:"list" enum:"mappings,blocked_keywords" doc:"The list that the line stands in."`
	Index   int          `json:"index" doc:"Its place in the list, from 0."`
	Fate    mapping.Fate `json:"fate" enum:"added,changed,refused"`
	Title   string       `json:"title" doc:"The title or keyword, as far as there is one."`
	Problem string       `json:"problem" doc:"Why it is refused; empty when it is not."`
	// ProblemValue is the same as a value.
	ProblemValue reason.Reason    `json:"problem_value,omitzero" doc:"The same as a value: its code, its arguments, and the text."`
	Mapping      *documentMapping `json:"mapping,omitempty" doc:"The mapping as it would be; left out for a keyword and for what is refused."`
	Was          *mapping.Mapping `json:"was,omitempty" doc:"The mapping that a changed one takes the place of."`
}

// ImportPreview is what an import would do.
type ImportPreview struct {
	mapping.Tally
	Lines []ImportLine `json:"lines" doc:"Each line that is not the same already, in the order of the document."`
}

// importBytes is the largest document that an import takes.
const importBytes = 8 << 20

func (ms Mappings) registerImport(s *server) {
	const tag = "Mappings"
	registerOther(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/mappings/export", OperationID: "export-mappings", Tags: []string{tag},
		Summary: "Export mappings and blocked keywords", Description: "A person's own, or for the owner all that hold for everybody, in one document that import takes back.",
	}, ms.export)
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/mappings/import", OperationID: "import-mappings", Tags: []string{tag},
		Summary: "Import mappings and blocked keywords",
		Description: "Adds the mappings of a document, or puts them in the place of those for the same title, season, form and episode, and adds its blocked keywords. All or nothing; the preview tells beforehand what is wrong. " +
			"What is written has the origin \"import\". Entries are not looked up.",
		MaxBodyBytes: importBytes, Errors: []int{http.StatusConflict},
	}, func(ctx context.Context, in *JSON[mappingDocument]) (*JSON[mapping.Tally], error) {
		set, err := ms.setOf(ctx, in.Body)
		if err != nil {
			return nil, err
		}
		plan, err := ms.Store.Import(ctx, set)
		return answer(plan.Tally(), err)
	})
	registry := s.api.OpenAPI().Components.Schemas
	body := &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		"application/json": {Schema: registry.Schema(reflect.TypeFor[mappingDocument](), true, "")},
	}}
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/mappings/import/preview", OperationID: "preview-import-mappings", Tags: []string{tag},
		Summary:     "Preview an import",
		Description: "What an import of the document would add and change, line by line, and which lines it would refuse and why: leave those out. Nothing is written.",
		RequestBody: body, SkipValidateBody: true, MaxBodyBytes: importBytes, Errors: []int{http.StatusConflict},
	}, func(ctx context.Context, in *struct{ RawBody []byte }) (*JSON[ImportPreview], error) {
		return answer(ms.previewImport(ctx, registry, in.RawBody))
	})
	// The library adds that the body is read raw, which is true and says nothing.
	delete(body.Content, "application/octet-stream")
}

func (ms Mappings) export(ctx context.Context, _ *none) (*attachment[mappingDocument], error) {
	own, err := ms.Store.Own(ctx)
	if err != nil {
		return nil, err
	}
	var document mappingDocument
	for _, m := range own.Mappings {
		document.Mappings = append(document.Mappings, documentOf(m))
	}
	for _, b := range own.Blocked {
		document.Blocked = append(document.Blocked, blockedInput{b.Keyword, b.Kind})
	}
	return &attachment[mappingDocument]{`attachment; filename="watchmark-mappings.json"`, document}, nil
}

func documentOf(m mapping.Mapping) documentMapping {
	return documentMapping{MappingInput{m.Title, m.Regex, m.Season, m.FirstSeason, m.Form, m.Episode, m.SubjectID, m.EpisodeOffset, m.Note}, m.SubjectName}
}

// setOf is a document with the names of its subjects, as far as the offline archive or the document tells them.
func (ms Mappings) setOf(ctx context.Context, d mappingDocument) (mapping.Set, error) {
	var set mapping.Set
	known := map[catalog.SubjectID]string{}
	for _, one := range d.Mappings {
		m := one.mapping(0, mapping.ByImport)
		m.SubjectName = one.SubjectName
		name, asked := known[m.SubjectID]
		if !asked && ms.Subjects.archived() {
			subject, err := ms.Subjects.Archive.Subject(ctx, m.SubjectID)
			if err != nil && ctx.Err() != nil {
				return set, ctx.Err()
			}
			name = subject.DisplayName() // empty where the archive lacks it
			known[m.SubjectID] = name
		}
		if name != "" {
			m.SubjectName = name
		}
		set.Mappings = append(set.Mappings, m)
	}
	for _, one := range d.Blocked {
		set.Blocked = append(set.Blocked, one.blocked(0, mapping.ByImport))
	}
	return set, nil
}

// previewImport judges a document line by line, each by what the import itself would say of it.
func (ms Mappings) previewImport(ctx context.Context, registry huma.Registry, text []byte) (ImportPreview, error) {
	var lists struct {
		Mappings []json.RawMessage `json:"mappings"`
		Blocked  []json.RawMessage `json:"blocked_keywords"`
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&lists); err != nil {
		return ImportPreview{}, documentProblem(text, err)
	}
	mappings, err := decodeList[documentMapping](registry, mappingsList, "title", lists.Mappings, mappingsMost)
	if err != nil {
		return ImportPreview{}, err
	}
	blocked, err := decodeList[blockedInput](registry, blockedList, "keyword", lists.Blocked, blockedMost)
	if err != nil {
		return ImportPreview{}, err
	}
	set, err := ms.setOf(ctx, mappingDocument{mappings.good, blocked.good})
	if err != nil {
		return ImportPreview{}, err
	}
	plan, err := ms.Store.PlanImport(ctx, set)
	if err != nil {
		return ImportPreview{}, err
	}
	preview := ImportPreview{Lines: append(append([]ImportLine{}, mappings.refused...), blocked.refused...)}
	for i, line := range plan.Mappings {
		m := documentOf(set.Mappings[i])
		preview.add(ImportLine{List: mappingsList, Index: mappings.places[i], Title: m.Title, Mapping: &m}, line)
	}
	for i, line := range plan.Blocked {
		preview.add(ImportLine{List: blockedList, Index: blocked.places[i], Title: set.Blocked[i].Keyword}, line)
	}
	slices.SortStableFunc(preview.Lines, func(a, b ImportLine) int {
		if a.List != b.List {
			return -strings.Compare(a.List, b.List)
		}
		return a.Index - b.Index
	})
	preview.Tally = plan.Tally()
	preview.Refused += len(mappings.refused) + len(blocked.refused)
	return preview, nil
}

// add adds a line with what becomes of it, unless nothing does.
func (p *ImportPreview) add(line ImportLine, becomes mapping.Line) {
	if becomes.Fate == mapping.Same {
		return
	}
	line.Fate = becomes.Fate
	if becomes.Fate == mapping.Changed {
		line.Was = becomes.Was
	}
	if becomes.Problem != nil {
		line.ProblemValue, line.Mapping = reason.Of(becomes.Problem), nil
		line.Problem = becomes.Problem.Error()
	}
	p.Lines = append(p.Lines, line)
}

// decoded is a list of a document: the lines that can be read, with their places in the list, and those that cannot.
type decoded[T any] struct {
	good    []T
	places  []int
	refused []ImportLine
}

// decodeList reads a list line by line; title is the field that people know a line by. The error is the Problem of a
// list of more than most lines, which an import refuses.
func decodeList[T any](registry huma.Registry, list, title string, lines []json.RawMessage, most int) (d decoded[T], err error) {
	if len(lines) > most {
		return d, fieldProblem("body."+list, tooManyLines.With(len(lines), most))
	}
	for i, raw := range lines {
		line, why := decodeLine[T](registry, raw)
		if !why.IsZero() {
			d.refused = append(d.refused, ImportLine{List: list, Index: i, Fate: mapping.Refused, Title: textOf(raw, title), Problem: why.Text, ProblemValue: why})
			continue
		}
		d.good, d.places = append(d.good, line), append(d.places, i)
	}
	return d, nil
}

// decodeLine reads a line as the import would; why says what is wrong with it.
func decodeLine[T any](registry huma.Registry, raw json.RawMessage) (line T, why reason.Reason) {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return line, lineNoJSON.With()
	}
	var result huma.ValidateResult
	huma.Validate(registry, registry.Schema(reflect.TypeFor[T](), true, ""), huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, value, &result)
	var problems []reason.Reason
	for _, err := range result.Errors {
		var field *huma.ErrorDetail
		if errors.As(err, &field) {
			what := libraryReason(field.Message)
			if field.Location != "" {
				what = lineField.With(field.Location, what)
			}
			problems = append(problems, what)
		}
	}
	if len(problems) > 0 {
		return line, reason.Several.With(problems)
	}
	if err := json.Unmarshal(raw, &line); err != nil {
		return line, lineNumber.With()
	}
	return line, why
}

// textOf is the text of a field of a line that may be anything; empty when there is none.
func textOf(raw json.RawMessage, field string) string {
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		return ""
	}
	text, _ := fields[field].(string)
	return short(text)
}

// documentProblem says what is wrong with a document that is none.
func documentProblem(text []byte, err error) error {
	const shape = `{"mappings": […], "blocked_keywords": […]}`
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		line := 1 + bytes.Count(text[:min(int(syntax.Offset), len(text))], []byte("\n"))
		return importNoJSON.With(line, shape)
	}
	return importOther.With(shape)
}

// attachment is an answer that a browser saves as a file.
type attachment[T any] struct {
	Disposition string `header:"Content-Disposition"`
	Body        T
}
