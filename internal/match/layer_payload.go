package match

import (
	"context"
	"errors"

	"watchmark/internal/catalog"
)

// findByPayload takes the catalog's own ids that a metadata plugin of the media
// server put into the event: the episode's before the subject's. An id that the
// catalog does not show is passed over.
func findByPayload(ctx context.Context, s *session) (finding, error) {
	subjectID, episodeID := catalog.SubjectID(s.event.CatalogSubject), catalog.EpisodeID(s.event.CatalogEpisode)
	f := finding{input: map[string]any{}, output: map[string]any{}}
	if subjectID != 0 {
		f.input["catalog_subject"] = subjectID
	}
	if episodeID != 0 {
		f.input["catalog_episode"] = episodeID
		s.look.lookUps++
		episode, err := s.look.catalog.Episode(ctx, episodeID)
		switch {
		case errors.Is(err, catalog.ErrNotFound) && s.look == s.offline:
			return f, nil // it may be newer than the archive
		case errors.Is(err, catalog.ErrNotFound):
			f.output["catalog_episode"] = "not in the catalog"
		case err != nil:
			return f, err
		default:
			subject, err := s.look.subject(ctx, episode.Subject)
			if err != nil && !errors.Is(err, catalog.ErrNotFound) {
				return f, err
			}
			if err == nil {
				f.certain = true
				f.proposals = []proposal{{subject: subject, score: 1, reason: "the media server named this episode by its catalog id",
					target: target{start: subject, subject: subject, row: &episode, fit: 1, how: "named by the media server"}}}
				return f, nil
			}
		}
	}
	if subjectID == 0 {
		return f, nil
	}
	subject, err := s.look.subject(ctx, subjectID)
	if errors.Is(err, catalog.ErrNotFound) {
		f.output["catalog_subject"] = "not in the catalog"
		return f, nil
	}
	if err != nil {
		return f, err
	}
	target, err := s.resolveNamed(ctx, subject, s.number)
	if err != nil {
		return f, err
	}
	f.certain = true
	f.proposals = []proposal{{subject: target.subject, target: target, score: 1, reason: "the media server named this subject by its catalog id"}}
	return f, nil
}
