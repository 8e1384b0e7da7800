package match

import (
	"context"

	"watchmark/internal/catalog"
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
func noLiveAction(s *session) string {
	switch {
	case s.event.Media == watch.RealAction:
		return "the event says live action, and the layers before have looked for that"
	case !s.options.LiveAction:
		return "matching.live_action_enabled is off"
	case len(s.found) > 0 && s.found[0].score >= s.limit.Review:
		return "an anime fits"
	}
	return ""
}
