package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/match"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/reason"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// mappingFor is the mapping that a correction asks for, and the rules with it as they hold for the person whose record it is.
func (s *Service) mappingFor(ctx context.Context, w record.Work, c Correction) (mapping.Mapping, *mapping.Rules, error) {
	person, err := s.personOf(ctx, w.Record)
	if err != nil {
		return mapping.Mapping{}, nil, err
	}
	m := mapping.Mapping{
		PersonID: answering(ctx, 0),
		Title:    w.Event.Title, Season: w.Event.Season, Form: mapping.FormOf(w.Event.IsFilm()), SubjectID: c.SubjectID, EpisodeOffset: c.EpisodeOffset,
		Origin: mapping.ByPerson, Note: fmt.Sprintf("from record %d", w.ID),
	}
	if c.Personal {
		m.PersonID = answering(ctx, person)
	}
	if c.EverySeason {
		m.Season = nil
	} else {
		m.FirstSeason = m.Season == nil
	}
	if m.Season != nil && *m.Season == 0 && !c.AllOfTitle {
		m.Episode = w.Event.Episode // what one special is says nothing of the others
	}
	rules, err := s.Mappings.RulesWith(mapping.For(ctx, person), m)
	if err != nil {
		return m, nil, err
	}
	if won, _ := rules.Find([]string{w.Event.Title, w.Event.OriginalTitle}, w.Event.Season, w.Event.IsFilm(), w.Event.Episode); won != m {
		if won.PersonID != m.PersonID {
			return m, nil, reason.At("personal", personMapped.With(won.Title))
		}
		if won.Episode != nil {
			return m, nil, reason.At("all_of_title", episodeMapped.With(won.Title))
		}
		return m, nil, reason.At("every_season", seasonMapped.With(won.Title))
	}
	subject, err := s.Chosen(ctx, c.SubjectID)
	m.SubjectName = subject.DisplayName()
	return m, rules, err
}

// personOf is whose list a record is for; 0 is the owner, and of one without an account everybody.
func (s *Service) personOf(ctx context.Context, r record.Record) (int64, error) {
	if r.AccountID == 0 {
		return 0, nil
	}
	a, err := s.Engine.Accounts.Get(ctx, r.AccountID)
	if errors.Is(err, account.ErrNotFound) {
		return 0, nil
	}
	return a.PersonID, err
}

// Chosen is the subject that a person chose for a title: an anime or live action, whatever the
// media server takes the title for. It returns a *reason.FieldError of subject_id when there
// is none or it is of another kind, else an error of package catalog.
func (s *Service) Chosen(ctx context.Context, id catalog.SubjectID) (catalog.Subject, error) {
	if err := mapping.CheckSubject(id); err != nil {
		return catalog.Subject{}, err
	}
	subject, err := s.Catalog.Subject(ctx, id)
	if errors.Is(err, catalog.ErrNotFound) {
		return catalog.Subject{}, reason.At("subject_id", entryHidden.With(id))
	}
	if err != nil {
		return catalog.Subject{}, err
	}
	if subject.Type != catalog.Anime && subject.Type != catalog.Real {
		return catalog.Subject{}, reason.At("subject_id", entryOfOtherType.With(id, subject.DisplayName()))
	}
	return subject, nil
}

// Ruled is what the mappings and blocked keywords make of an event.
type Ruled struct {
	// Blocked is the keyword that stops the event; nil when none does.
	Blocked *mapping.Blocked
	// Mapping is the one that applies; nil when none does, or a keyword stops the event.
	Mapping *mapping.Mapping
	// PassedOver says why the mapping is not obeyed for this event; empty when it is.
	PassedOver reason.Reason
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

// episodeName is the title of an episode; empty where it cannot be had, for it is a courtesy.
func (s *Service) episodeName(ctx context.Context, id catalog.EpisodeID) string {
	if id == 0 {
		return ""
	}
	episode, err := s.Catalog.Episode(ctx, id)
	if err != nil {
		return ""
	}
	return cmp.Or(episode.NameCN, episode.Name)
}
