package match

import (
	"context"
	"errors"
	"fmt"

	"watchmark/internal/catalog"
	"watchmark/internal/match/mapping"
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
	subject, err := s.look.subject(ctx, m.SubjectID)
	if errors.Is(err, catalog.ErrNotFound) {
		reason := "the mapping %q leads to subject %d, which the catalog does not show: it does not exist, or is an adult title, which is hidden from look-ups without a login; correct the mapping"
		if s.viewed {
			reason = "the mapping %q leads to subject %d, which the catalog does not show: it does not exist, or this account may not see it (too young, or not allowed)"
		}
		f.proposals = []proposal{{subject: catalog.Subject{ID: m.SubjectID}, reason: fmt.Sprintf(reason, m.Title, m.SubjectID)}}
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
			f.rule.PassedOver = "it holds for every season and leads to " + formWords[subject.IsFilm()] + ", which the event is not: a film and a show may bear one title; give the mapping a form, or a season, to have it used"
			f.output["passed_over"] = f.rule.PassedOver
			return f, nil
		}
	}
	target, err := s.resolveNamed(ctx, subject, s.number+float64(m.EpisodeOffset))
	if err != nil {
		return f, err
	}
	f.proposals = []proposal{{subject: target.subject, target: target, score: 1, reason: fmt.Sprintf("the mapping %q says so", m.Title)}}
	return f, nil
}

// formWords say what a subject is, by whether it is a film.
var formWords = map[bool]string{true: "a film", false: "a show"}

// isOtherForm reports whether a subject is a film and the event an episode, or the event a film and the
// subject a show of several episodes, listed already or not.
func (s *session) isOtherForm(ctx context.Context, subject catalog.Subject) (bool, error) {
	if !s.event.IsFilm() {
		return subject.IsFilm(), nil
	}
	main, _, err := s.look.chapters(ctx, subject.ID)
	return !subject.IsFilm() && max(len(main), subject.Eps) > 1, err
}
