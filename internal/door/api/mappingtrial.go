package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/scope"
	"watchmark/internal/watch"
)

// mappingTrial is an event to be tried on the rules.
type mappingTrial struct {
	Title   string        `json:"title" minLength:"1" maxLength:"500" doc:"The title, or the original title, as a media server sends it." example:"灯塔守望者"`
	Season  *int          `json:"season,omitempty" nullable:"true" minimum:"0" maximum:"999" doc:"The season; leave it out or give null for an event that tells none." example:"2"`
	Episode float64       `json:"episode,omitempty" default:"1" minimum:"0" maximum:"99999" doc:"The episode number; of no matter for a film."`
	Film    bool          `json:"is_film,omitempty" doc:"Whether the event is of a film."`
	Draft   *mappingDraft `json:"draft,omitempty" doc:"A mapping that is not saved, to be tried with the others."`
}

// mappingDraft is a mapping before it is saved.
type mappingDraft struct {
	MappingInput
	ID int64 `json:"id,omitempty" minimum:"0" doc:"The mapping that it is to replace; 0 for a new one."`
}

// draftFate says whether a draft would apply.
type draftFate string

// The fates of a draft.
const (
	draftNone    draftFate = ""
	draftApplies draftFate = "applies"
	draftBehind  draftFate = "behind"
	draftUnfit   draftFate = "unfit"
)

// mappingTrialResult is what the rules make of an event.
type mappingTrialResult struct {
	Blocked    *mapping.Blocked `json:"blocked,omitempty" doc:"The blocked keyword that stops the event; left out when none does."`
	Mapping    *mapping.Mapping `json:"mapping,omitempty" doc:"The mapping that applies; left out when none does. Its id is 0 where it is a new draft."`
	Draft      draftFate        `json:"draft" enum:",applies,behind,unfit" doc:"Whether the draft applies; behind: it fits, and another rule goes first; unfit: it does not fit the event. Empty without a draft."`
	PassedOver string           `json:"passed_over" doc:"Why the mapping is not obeyed for this event; empty when it is."`
	// PassedOverValue is the same as a value.
	PassedOverValue reason.Reason   `json:"passed_over_value,omitzero" doc:"The same as a value: its code, its arguments, and the text."`
	Leads           *correctionGoal `json:"leads,omitempty" doc:"Where the event comes out by the mapping; left out when none applies, or the draft names no entry yet."`
}

func (ms Mappings) registerTest(s *server) {
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/mappings/test", OperationID: "test-mappings", Tags: []string{"Mappings"},
		Summary:     "Try the rules on a title",
		Description: "Which blocked keyword or mapping an event comes under, and to which episode that leads. Where none applies nothing is searched for: POST /api/test-match does that. Nothing is written.",
		Errors:      []int{http.StatusNotFound, http.StatusServiceUnavailable},
	}, func(ctx context.Context, in *JSON[mappingTrial]) (*JSON[mappingTrialResult], error) {
		return answer(ms.try(ctx, in.Body))
	})
}

func (ms Mappings) try(ctx context.Context, in mappingTrial) (mappingTrialResult, error) {
	event := watch.Event{Source: watch.Custom, Action: watch.Watched, Media: watch.Episode, Title: strings.TrimSpace(in.Title), Season: in.Season, Episode: &in.Episode}
	if in.Film {
		event.Media, event.Season, event.Episode = watch.Movie, nil, nil
	}
	if event.Title == "" {
		return mappingTrialResult{}, fieldProblem("body.title", fieldMissing)
	}
	rules, draft, err := ms.rulesWith(ctx, in.Draft, event)
	if err != nil {
		return mappingTrialResult{}, err
	}
	ruled, err := ms.Decisions.Rule(ctx, event, rules)
	if err != nil {
		return mappingTrialResult{}, notAsked(err)
	}
	if draft == draftApplies && (ruled.Mapping == nil || !ruled.Mapping.CreatedAt.IsZero()) {
		draft = draftBehind
	}
	result := mappingTrialResult{Blocked: ruled.Blocked, Mapping: ruled.Mapping, Draft: draft, PassedOver: ruled.PassedOver.Text, PassedOverValue: ruled.PassedOver}
	if ruled.Leads != nil {
		goal := goalOf(*ruled.Leads, ruled.EpisodeName)
		result.Leads = &goal
	}
	return result, nil
}

// rulesWith are the rules with a draft, if there is one, and whether that fits the event.
func (ms Mappings) rulesWith(ctx context.Context, d *mappingDraft, event watch.Event) (*mapping.Rules, draftFate, error) {
	if d == nil {
		rules, err := ms.Store.Rules(ctx)
		return rules, draftNone, err
	}
	draft := d.mapping(d.ID, mapping.ByPerson)
	draft.PersonID = scope.From(ctx).Person()
	if d.ID != 0 {
		saved, err := ms.Store.Get(ctx, d.ID)
		if err != nil {
			return nil, draftNone, err
		}
		draft.PersonID = saved.PersonID
	}
	rules, err := ms.Store.RulesWith(mapping.For(ctx, draft.PersonID), draft)
	var field *reason.FieldError
	if errors.As(err, &field) {
		return nil, draftNone, fieldProblem("body.draft."+field.Field, field.What)
	}
	if err != nil {
		return nil, draftNone, err
	}
	fate := draftUnfit
	if draft.Fits(event.Title, event.Season, event.IsFilm(), event.Episode) {
		fate = draftApplies
	}
	return rules, fate, nil
}
