package match

import (
	"context"
	"errors"

	"watchmark/internal/catalog"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/reason"
)

// findByMapping obeys what a person decided: their subject is taken, right or wrong.
func findByMapping(ctx context.Context, s *session) (finding, error) {
	f := finding{input: map[string]any{"titles": s.titles(), "season": s.event.Season}}
	m, found := s.rules.Find(s.titles(), s.event.Season, s.event.IsFilm(), s.event.Episode)
	if !found {
		return f, nil
	}
	f.certain = true
	f.rule = &Rule{MappingID: m.ID, SubjectID: m.SubjectID, EpisodeOffset: m.EpisodeOffset}
	f.output = map[string]any{"mapping_id": m.ID, "mapping": m.Title, "subject_id": m.SubjectID, "episode_offset": m.EpisodeOffset}
	subject, err := s.cached.subject(ctx, m.SubjectID)
	if errors.Is(err, catalog.ErrNotFound) {
		why := mappingHidden
		if s.viewed {
			why = mappingHiddenFromAccount
		}
		f.proposals = []proposal{{subject: catalog.Subject{ID: m.SubjectID}, reason: why.With(m.Title, m.SubjectID)}}
		return f, nil
	}
	if err != nil {
		return f, err
	}
	if m.Season == nil && m.Form == mapping.AnyForm {
		other, err := s.isOtherForm(ctx, subject)
		if err != nil {
			return f, err
		}
		if other {
			f.certain = false
			f.rule.PassedOver = mappingOtherForm.With(formWords[subject.IsFilm()])
			f.output["passed_over"] = f.rule.PassedOver
			return f, nil
		}
	}
	target, err := s.resolveNamed(ctx, subject, s.number+float64(m.EpisodeOffset))
	if err != nil {
		return f, err
	}
	f.proposals = []proposal{{subject: target.subject, target: target, score: 1, reason: byMapping.With(m.Title)}}
	return f, nil
}

// formWords say what a subject is, by whether it is a film.
var formWords = map[bool]*reason.Kind{true: aFilm, false: aShow}

// isOtherForm reports whether a subject is a film and the event an episode, or the event a film and the
// subject a show of several episodes, listed already or not.
func (s *session) isOtherForm(ctx context.Context, subject catalog.Subject) (bool, error) {
	if !s.event.IsFilm() {
		return subject.IsFilm(), nil
	}
	main, _, err := s.cached.episodesOf(ctx, subject.ID)
	return !subject.IsFilm() && max(len(main), subject.Eps) > 1, err
}
