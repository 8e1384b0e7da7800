package match

import (
	"context"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/reason"
	"watchmark/internal/watch"
)

// findLiveAction looks for what is no anime among the live-action subjects: libraries
// mix both, and what a media server calls a show may be either.
func findLiveAction(ctx context.Context, s *session) (finding, error) {
	types := s.types
	defer func() { s.types = types }()
	s.types = []catalog.SubjectType{catalog.Real}
	return findBySearch(ctx, s)
}

// noLiveAction is why the layer is passed over.
func noLiveAction(s *session) reason.Reason {
	switch {
	case s.event.Media == watch.RealAction:
		return liveSearched.With()
	case !s.options.LiveAction:
		return liveOff.With()
	case len(s.found) > 0 && s.found[0].score >= s.limit.Review:
		return animeFits.With()
	}
	return reason.Reason{}
}
