package match

import (
	"context"
	"slices"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/reason"
)

// adultMost is how many searches for one event are asked in the name of its account.
const adultMost = 3

// findAdultTitles asks the searches once more in the name of the account whose record it is, for what the catalog hides from
// look-ups without one. What it shows to everybody was weighed before.
func findAdultTitles(ctx context.Context, s *session) (finding, error) {
	f := finding{input: s.input(), output: map[string]any{}}
	types := s.types
	if s.options.LiveAction && !slices.Contains(types, catalog.Real) {
		types = append(slices.Clone(types), catalog.Real)
	}
	plans := s.plans()
	keywords := slices.Concat(plans[0].keywords, plans[1].keywords)
	hits := []catalog.Subject{}
	for _, keyword := range keywords[:min(len(keywords), adultMost)] {
		found, err := s.cached.adultTitles(ctx, viewerOf(ctx), catalog.SearchQuery{Keyword: keyword, Types: types, Limit: s.cached.most})
		if err != nil {
			return f, err
		}
		for _, subject := range found {
			if !has(hits, subject.ID) {
				hits = append(hits, subject)
			}
		}
		if f.proposals, err = s.weigh(ctx, hits); err != nil {
			return f, err
		}
		if s.isSure(f.proposals) {
			break
		}
	}
	f.output["hits"], f.output["look_ups"] = len(hits), s.cached.lookUps
	return f, nil
}

// noAdultTitles is why the layer is passed over.
func noAdultTitles(s *session) reason.Reason {
	switch {
	case !s.viewed:
		return noViewer.With()
	case !s.doubt.IsZero() || s.hidden != 0:
		return otherNamed.With()
	case s.online.sparse:
		return catalog.ErrSearchOff.With()
	case s.settles():
		return entryFits.With()
	}
	return reason.Reason{}
}

// settles reports whether what was found so far settles which subject it is.
func (s *session) settles() bool {
	judged := *s
	if s.options.Arbiter {
		judged.found = slices.Clone(s.found)
		judged.arbitrate()
	}
	d, _ := decide(&judged, judged.found, false)
	return d.Status == Matched || d.Status == EpisodeNotFound
}
