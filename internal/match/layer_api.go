package match

import (
	"context"
	"errors"
	"slices"

	"watchmark/internal/catalog"
)

// findInCatalog searches the catalog. Where there is an archive, it is asked for what its search did
// not find: what the archive knows of that is weighed by it, which costs no requests, and
// everything is looked up in the catalog only when there is news.
func findInCatalog(ctx context.Context, s *session) (finding, error) {
	if s.offline == nil {
		return findBySearch(ctx, s)
	}
	f := finding{input: s.input(), output: map[string]any{}}
	hits, err := s.collect(ctx, s.plans()[0], nil)
	if err != nil {
		return f, err
	}
	for _, hit := range hits {
		isNews, err := s.isNews(ctx, hit)
		if err != nil {
			return f, err
		}
		if isNews {
			return findBySearch(ctx, s)
		}
	}
	s.cached = s.offline
	f.proposals, err = s.weigh(ctx, hits)
	s.cached = s.online
	if err != nil || s.mayBeStale(merge(s.searched, f.proposals)) {
		return findBySearch(ctx, s)
	}
	f.output["hits"], f.output["look_ups"] = len(hits), s.cached.lookUps
	return f, nil
}

// isNews reports whether the archive does not have a hit of the catalog, or not with the
// titles that make it fit.
func (s *session) isNews(ctx context.Context, hit catalog.Subject) (bool, error) {
	old, err := s.offline.subject(ctx, hit.ID)
	if errors.Is(err, catalog.ErrNotFound) {
		return slices.Contains(s.types, hit.Type), nil
	}
	if err != nil {
		return false, err
	}
	online := s.likeness(hit)
	s.cached = s.offline
	offline := s.likeness(old)
	s.cached = s.online
	return max(online.own, online.family) > max(offline.own, offline.family), nil
}

// mayBeStale reports whether a proposal that is worth showing would lead to another episode if
// one had been added since the archive was made.
func (s *session) mayBeStale(proposals []proposal) bool {
	return slices.ContainsFunc(proposals, func(p proposal) bool { return p.score >= s.limit.Review && !s.holds(p.target) })
}
