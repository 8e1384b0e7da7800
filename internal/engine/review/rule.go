package review

import (
	"context"

	"watchmark/internal/match"
	"watchmark/internal/match/mapping"
	"watchmark/internal/watch"
)

// Ruled is what the mappings and blocked keywords make of an event.
type Ruled struct {
	// Blocked is the keyword that stops the event; nil when none does.
	Blocked *mapping.Blocked
	// Mapping is the one that applies; nil when none does, or a keyword stops the event.
	Mapping *mapping.Mapping
	// PassedOver says why the mapping is not obeyed for this event; empty when it is.
	PassedOver string
	// Leads is where the event comes out; nil without a mapping, or one that leads to no subject yet.
	Leads *match.Result
	// EpisodeName is the title of the episode that it leads to; may be empty.
	EpisodeName string
}

// Rule tells what rules make of an event, and asks the catalog only where a mapping
// leads. Nothing is written. The error is one of package catalog, when that cannot be asked.
func (s *Service) Rule(ctx context.Context, event watch.Event, rules *mapping.Rules) (Ruled, error) {
	titles := []string{event.Title, event.OriginalTitle}
	if blocked, stops := rules.Blocks(titles); stops {
		return Ruled{Blocked: &blocked}, nil
	}
	m, found := rules.Find(titles, event.Season, event.IsFilm(), event.Episode)
	if !found {
		return Ruled{}, nil
	}
	ruled := Ruled{Mapping: &m}
	if m.SubjectID == 0 {
		return ruled, nil
	}
	trace := s.MatchBy(ctx, event, rules)
	if trace.Result.Status == match.Unreachable && trace.Err != nil {
		return Ruled{}, trace.Err
	}
	if trace.Rule != nil {
		ruled.PassedOver = trace.Rule.PassedOver
	}
	ruled.Leads, ruled.EpisodeName = &trace.Result, s.episodeName(ctx, trace.Result.EpisodeID)
	return ruled, nil
}
