package match

import (
	"context"
	"errors"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/reason"
)

// findByPayload takes the catalog's own ids that a metadata plugin of the media
// server put into the event: the episode's before the subject's. An id that the
// catalog does not show is passed over. One of something that nobody watches, or of another
// form than the event, is in doubt: then a person is asked.
func findByPayload(ctx context.Context, s *session) (finding, error) {
	subjectID, episodeID := catalog.SubjectID(s.event.CatalogSubject), catalog.EpisodeID(s.event.CatalogEpisode)
	f := finding{input: map[string]any{}, output: map[string]any{}}
	s.doubt = reason.Reason{} // what the archive has wrongly, the catalog may have rightly
	if subjectID != 0 {
		f.input["catalog_subject"] = subjectID
	}
	if episodeID != 0 {
		f.input["catalog_episode"] = episodeID
		s.cached.lookUps++
		episode, err := s.cached.catalog.Episode(ctx, episodeID)
		switch {
		case errors.Is(err, catalog.ErrNotFound) && s.cached == s.offline:
			return f, nil // it may be newer than the archive
		case errors.Is(err, catalog.ErrNotFound):
			f.output["catalog_episode"] = notOnBangumi.With()
		case err != nil:
			return f, err
		default:
			subject, err := s.cached.subject(ctx, episode.Subject)
			if err != nil && !errors.Is(err, catalog.ErrNotFound) {
				return f, err
			}
			if err == nil {
				t := target{start: subject, subject: subject, row: &episode, fit: 1, how: serverNamed.With()}
				return s.named(ctx, f, subject, t, episodeNamed)
			}
		}
	}
	if subjectID == 0 {
		return f, nil
	}
	subject, err := s.cached.subject(ctx, subjectID)
	if errors.Is(err, catalog.ErrNotFound) {
		f.output["catalog_subject"] = notOnBangumi.With()
		return f, nil
	}
	if err != nil {
		return f, err
	}
	t, err := s.resolveNamed(ctx, subject, s.number)
	if err != nil {
		return f, err
	}
	return s.named(ctx, f, subject, t, subjectNamed)
}

// named proposes the target that a subject named by the media server leads to: certain where it is what the
// event can be about, as a mapping must be, and one candidate among others where only its form is another.
func (s *session) named(ctx context.Context, f finding, subject catalog.Subject, t target, why *reason.Kind) (finding, error) {
	if subject.Type != catalog.Anime && subject.Type != catalog.Real {
		s.doubt = namedOther.With(subject.ID, subject.DisplayName())
		f.output["passed_over"] = s.doubt
		return f, nil
	}
	other, err := s.isOtherForm(ctx, subject)
	if err != nil {
		return f, err
	}
	other = other && (s.event.IsFilm() || s.season != 0) // servers count films to the specials of a show
	p := proposal{subject: t.subject, target: t, score: 1, reason: why.With()}
	if other && subject.IsFilm() {
		s.doubt = namedFilm.With(subject.ID, subject.DisplayName())
	} else if other {
		s.doubt = namedShow.With(subject.ID, subject.DisplayName())
	}
	if other {
		f.output["passed_over"] = s.doubt
		p.score, p.reason = s.limit.Review, s.doubt
	}
	f.certain, f.proposals = !other, []proposal{p}
	return f, nil
}
