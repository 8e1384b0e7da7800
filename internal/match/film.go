package match

import (
	"cmp"
	"context"
	"slices"

	"watchmark/internal/catalog"
)

// weighFilms proposes subjects for a film: its title, its release, one episode or none.
func (s *session) weighFilms(ctx context.Context, hits []catalog.Subject) ([]proposal, error) {
	starts := []start{}
	for _, h := range hits {
		if l := s.likeness(h); l.own >= kin {
			starts = append(starts, start{subject: h, likeness: l})
		}
	}
	slices.SortStableFunc(starts, func(a, b start) int {
		return cmp.Compare(b.likeness.own*s.kindFit(b.subject), a.likeness.own*s.kindFit(a.subject))
	})
	proposals := []proposal{}
	for _, st := range starts[:min(len(starts), weighMost)] {
		t, err := s.resolveFilm(ctx, st.subject)
		if err != nil {
			return nil, err
		}
		p, err := s.scored(ctx, st, t)
		if err != nil {
			return nil, err
		}
		proposals = append(proposals, p)
	}
	return proposals, nil
}
