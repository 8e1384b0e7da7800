package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/catalog"
	"watchmark/internal/mapping"
)

// MappingInput is a mapping as a person enters it.
type MappingInput struct {
	Title         string            `json:"title" doc:"The title, compared whole and without regard to case, or a regular expression (RE2) to be found in it." example:"灯塔守望者"`
	Regex         bool              `json:"is_regex,omitempty" doc:"Whether title is a regular expression."`
	Season        *int              `json:"season,omitempty" nullable:"true" doc:"The season this holds for; leave it out or give null for every season." example:"2"`
	Form          mapping.Form      `json:"form,omitempty" enum:",film,show" doc:"Whether this holds for films or for shows alone. Left out or empty it holds for both, but a mapping for every season passes over what is of the other kind than its subject."`
	Episode       *float64          `json:"episode,omitempty" nullable:"true" doc:"The episode number this holds for alone; leave it out or give null for all. One for a single episode goes first."`
	SubjectID     catalog.SubjectID `json:"subject_id" doc:"The number in the address of the catalog's page." example:"265"`
	EpisodeOffset int               `json:"episode_offset,omitempty" doc:"Added to the episode number of an event, such as -12 where the library goes on counting and the catalog starts anew."`
	Note          string            `json:"note,omitempty" doc:"For people."`
}

func (m MappingInput) mapping(id int64, origin mapping.Origin) mapping.Mapping {
	return mapping.Mapping{
		ID: id, Title: m.Title, Regex: m.Regex, Season: m.Season, Form: m.Form, Episode: m.Episode, SubjectID: m.SubjectID,
		EpisodeOffset: m.EpisodeOffset, Origin: origin, Note: m.Note,
	}
}

// documentMapping is a mapping in a document.
type documentMapping struct {
	MappingInput
	Origin mapping.Origin `json:"origin,omitempty" enum:"person,import,confirm" doc:"Who made it. Of \"confirm\", an answer to a question, one without a season holds for events that tell none and for season 1 only, so it stays that; every other becomes \"import\"."`
}

// mappingDocument is what export answers and import takes.
type mappingDocument struct {
	Mappings []documentMapping `json:"mappings" maxItems:"10000" doc:"The mappings."`
}

func (s *server) registerMappings() {
	const tag = "Mappings"
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/mappings", OperationID: "list-mappings", Tags: []string{tag},
		Summary: "List mappings", Description: "What a person decided beforehand: which title is which subject. By title, season, form and episode.",
	}, func(ctx context.Context, in *struct {
		PageQuery
		Text string `query:"q" maxLength:"200" doc:"Only mappings with this text in the title."`
	}) (*JSON[Page[mapping.Mapping]], error) {
		all, err := s.Mappings.List(ctx, in.Text)
		if err != nil {
			return nil, err
		}
		return answer(pageOf(all, in.PageQuery))
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/mappings", OperationID: "create-mapping", Tags: []string{tag},
		Summary: "Add a mapping", DefaultStatus: http.StatusCreated, Errors: []int{http.StatusConflict},
	}, func(ctx context.Context, in *JSON[MappingInput]) (*JSON[mapping.Mapping], error) {
		return answer(s.Mappings.Create(ctx, in.Body.mapping(0, mapping.ByPerson)))
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/mappings/{id}", OperationID: "get-mapping", Tags: []string{tag},
		Summary: "Get a mapping", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByID) (*JSON[mapping.Mapping], error) {
		return answer(s.Mappings.Get(ctx, in.ID))
	})
	register(s, huma.Operation{
		Method: http.MethodPut, Path: "/api/mappings/{id}", OperationID: "replace-mapping", Tags: []string{tag},
		Summary: "Replace a mapping", Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, func(ctx context.Context, in *struct {
		ByID
		JSON[MappingInput]
	}) (*JSON[mapping.Mapping], error) {
		return answer(s.Mappings.Update(ctx, in.Body.mapping(in.ID, mapping.ByPerson)))
	})
	register(s, huma.Operation{
		Method: http.MethodDelete, Path: "/api/mappings/{id}", OperationID: "delete-mapping", Tags: []string{tag},
		Summary: "Remove a mapping", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByID) (*none, error) {
		return nil, s.Mappings.Delete(ctx, in.ID)
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/mappings/export", OperationID: "export-mappings", Tags: []string{tag},
		Summary: "Export every mapping", Description: "One document that import takes back.",
	}, s.exportMappings)
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/mappings/import", OperationID: "import-mappings", Tags: []string{tag},
		Summary:      "Import mappings",
		Description:  "Adds the mappings of a document, or replaces those with the same title, season, form and episode. All or nothing.",
		MaxBodyBytes: importBytes,
	}, func(ctx context.Context, in *struct {
		DryRun bool `query:"dry_run" doc:"Only count what would be done."`
		JSON[mappingDocument]
	}) (*JSON[mapping.ImportResult], error) {
		list := make([]mapping.Mapping, len(in.Body.Mappings))
		for i, m := range in.Body.Mappings {
			list[i] = m.mapping(0, m.Origin)
		}
		return answer(s.Mappings.Import(ctx, list, in.DryRun))
	})
}

// importBytes is the largest document that an import takes.
const importBytes = 8 << 20

func (s *server) exportMappings(ctx context.Context, _ *none) (*attachment[mappingDocument], error) {
	all, err := s.Mappings.List(ctx, "")
	if err != nil {
		return nil, err
	}
	document := mappingDocument{Mappings: make([]documentMapping, len(all))}
	for i, m := range all {
		document.Mappings[i] = documentMapping{MappingInput{m.Title, m.Regex, m.Season, m.Form, m.Episode, m.SubjectID, m.EpisodeOffset, m.Note}, m.Origin}
	}
	return &attachment[mappingDocument]{`attachment; filename="watchmark-mappings.json"`, document}, nil
}

// attachment is an answer that a browser saves as a file.
type attachment[T any] struct {
	Disposition string `header:"Content-Disposition"`
	Body        T
}
