package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/catalog"
	"watchmark/internal/door/access"
	"watchmark/internal/engine/review"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/reason"
)

// MappingInput is a mapping as a person enters it.
type MappingInput struct {
	Title         string            `json:"title" doc:"The title, compared whole and without regard to case, or a regular expression (RE2) to be found in it." example:"灯塔守望者"`
	Regex         bool              `json:"is_regex,omitempty" doc:"Whether title is a regular expression."`
	Season        *int              `json:"season,omitempty" nullable:"true" doc:"The season this holds for; leave it out or give null for every season." example:"2"`
	FirstSeason   bool              `json:"first_season,omitempty" doc:"Without a season: holds for events that tell none, and for season 1, alone; not for specials and later seasons."`
	Form          mapping.Form      `json:"form,omitempty" enum:",film,show" doc:"Whether this holds for films or for shows alone. Left out or empty it holds for both, but a mapping for every season passes over what is of the other kind than its entry."`
	Episode       *float64          `json:"episode,omitempty" nullable:"true" doc:"The episode number this holds for alone; leave it out or give null for all. One for a single episode goes first."`
	SubjectID     catalog.SubjectID `json:"subject_id" doc:"The number in the address of Bangumi's page." example:"265"`
	EpisodeOffset int               `json:"episode_offset,omitempty" doc:"Added to the episode number of an event, such as -12 where the library goes on counting and Bangumi starts anew."`
	Note          string            `json:"note,omitempty" doc:"For people."`
}

func (m MappingInput) mapping(id int64, origin mapping.Origin) mapping.Mapping {
	return mapping.Mapping{
		ID: id, Title: m.Title, Regex: m.Regex, Season: m.Season, FirstSeason: m.FirstSeason && m.Season == nil, Form: m.Form, Episode: m.Episode,
		SubjectID: m.SubjectID, EpisodeOffset: m.EpisodeOffset, Origin: origin, Note: m.Note,
	}
}

// named is m with the name of its subject. It returns a *reason.FieldError for a subject that
// is none; where the catalog cannot tell, only the name is missing.
func (ms Mappings) named(ctx context.Context, m mapping.Mapping) (mapping.Mapping, error) {
	subject, err := ms.Decisions.Chosen(ctx, m.SubjectID)
	var field *reason.FieldError
	if errors.As(err, &field) {
		return m, err
	}
	m.SubjectName = subject.DisplayName()
	return m, nil
}

// Mappings are what a person decided beforehand: which title is which subject, and which is left alone.
type Mappings struct {
	Store     *mapping.Store
	Decisions *review.Service
	Subjects  Subjects
}

func (ms Mappings) register(s *server) {
	const tag = "Mappings"
	s.owned[access.Mapping] = func(ctx context.Context, id int64) error {
		_, err := ms.Store.Get(ctx, id)
		return err
	}
	s.owned[access.Keyword] = func(ctx context.Context, id int64) error {
		_, err := ms.Store.GetBlocked(ctx, id)
		return err
	}
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/mappings", OperationID: "list-mappings", Tags: []string{tag},
		Summary: "List mappings", Description: "What was decided beforehand: which title is which entry. The newest first. A mapping with a person_id holds for the records of that person alone, before those for all; a person makes and sees their own alone, the owner makes those for all and sees everybody's.",
	}, func(ctx context.Context, in *struct {
		PageQuery
		Text string `query:"q" maxLength:"200" doc:"Only mappings with this text in the title, the name of the entry or the note, or with this number as the entry."`
	}) (*JSON[Page[mapping.Mapping]], error) {
		mappings, next, err := ms.Store.List(ctx, mapping.Filter{Text: in.Text, Before: in.seen, Limit: in.Limit})
		return answer(Page[mapping.Mapping]{mappings, cursorOf(next)}, err)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/mappings", OperationID: "create-mapping", Tags: []string{tag},
		Summary: "Add a mapping", DefaultStatus: http.StatusCreated, Errors: []int{http.StatusConflict},
		Description: "The entry is looked up; while Bangumi does not answer it is taken as it is.",
	}, func(ctx context.Context, in *JSON[MappingInput]) (*JSON[mapping.Mapping], error) {
		m, err := ms.named(ctx, in.Body.mapping(0, mapping.ByPerson))
		if err != nil {
			return nil, err
		}
		return answer(ms.Store.Create(ctx, m))
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/mappings/{id}", OperationID: "get-mapping", Tags: []string{tag},
		Summary: "Get a mapping", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByID) (*JSON[mapping.Mapping], error) {
		return answer(ms.Store.Get(ctx, in.ID))
	})
	register(s, huma.Operation{
		Method: http.MethodPut, Path: "/api/mappings/{id}", OperationID: "replace-mapping", Tags: []string{tag},
		Summary: "Replace a mapping", Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, func(ctx context.Context, in *struct {
		ByID
		JSON[MappingInput]
	}) (*JSON[mapping.Mapping], error) {
		m, err := ms.named(ctx, in.Body.mapping(in.ID, mapping.ByPerson))
		if err != nil {
			return nil, err
		}
		return answer(ms.Store.Update(ctx, m))
	})
	registerOther(s, huma.Operation{
		Method: http.MethodDelete, Path: "/api/mappings/{id}", OperationID: "delete-mapping", Tags: []string{tag},
		Summary: "Remove a mapping", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByID) (*none, error) {
		return nil, ms.Store.Delete(ctx, in.ID)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/mappings/{id}/share", OperationID: "share-mapping", Tags: []string{tag},
		Summary: "Have a mapping hold for all", Errors: []int{http.StatusNotFound, http.StatusConflict},
		Description: "A mapping of a person holds for all from now on. 409 while there is one for all of the same title, season, form and episode.",
	}, func(ctx context.Context, in *ByID) (*JSON[mapping.Mapping], error) {
		return answer(ms.Store.Share(ctx, in.ID))
	})
	ms.registerImport(s)
	ms.registerTest(s)
	ms.registerBlocked(s)
}
