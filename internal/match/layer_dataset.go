package match

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"watchmark/internal/catalog"
	"watchmark/internal/match/idmap"
	"watchmark/internal/platform/reason"
	"watchmark/internal/watch"
	"watchmark/internal/watch/title"
)

// noDataset is why the layer is passed over.
func noDataset(s *session) reason.Reason {
	switch {
	case s.table == nil:
		return s.noTable
	case s.event.Media == watch.RealAction:
		return animeOnly.With()
	}
	return reason.Reason{}
}

// findByDataset asks the community table for the provider ids of the event, and where
// these do not lead to an episode that is sure, for its titles, which it has in more languages
// than the catalog.
func findByDataset(ctx context.Context, s *session) (finding, error) {
	f := finding{spare: true}
	if err := s.learnIDs(ctx); err != nil {
		return f, err
	}
	f.input, f.output = map[string]any{"ids": s.providerIDs()}, map[string]any{"table": "bangumi-data " + s.table.Version()}
	if !s.idsFrom.IsZero() {
		f.output["ids_from"] = s.idsFrom
	}
	s.hidden, s.dispute = 0, reason.Reason{} // what the archive lacks, the catalog may show
	named := s.readings()
	f.spare = len(named) == 0
	f.output["by_id"] = subjectsOf(named)
	if len(named) > 0 {
		p, hidden, found, err := s.proposeNamed(ctx, named)
		if err != nil {
			return f, err
		}
		if hidden != 0 {
			s.hidden, f.output["hidden"] = hidden, hidden
		}
		if !found && hidden != 0 {
			return f, nil
		}
		if found {
			f.proposals = []proposal{p}
		}
	}
	others, hidden, err := s.numberedByID(ctx)
	if err != nil {
		return f, err
	}
	if hidden != 0 {
		s.hidden, f.output["hidden"] = hidden, hidden
	}
	f.tell(others)
	f.proposals = s.weighNumbered(f.proposals, others)
	if len(f.proposals) > 0 {
		p := f.proposals[0]
		if s.isClear(f.proposals) || !s.date.IsFull() && p.score >= s.limit.Accept {
			return f, nil
		}
	}
	hits, titled, hidden, err := s.titledSubjects(ctx)
	if err != nil {
		return f, err
	}
	if len(hits) == 0 {
		if hidden != 0 && len(f.proposals) == 0 {
			s.hidden, f.output["hidden"] = hidden, hidden
		}
		return f, nil
	}
	proposals, err := s.weigh(ctx, hits)
	if err != nil {
		return f, err
	}
	f.proposals = merge(proposals, f.proposals)
	if len(others) > 0 {
		return f, nil
	}
	s.mapped = titled
	return f, s.withNumberings(ctx, &f, titled)
}

// meansSeason reports whether a title stands for the very season asked for: the mere name of a
// show stands for its first one.
func (s *session) meansSeason(text string) bool {
	return s.event.IsFilm() || s.season == 1 || s.season > 1 && slices.ContainsFunc(s.names, func(n name) bool { return n.Full == text && n.Season == s.season })
}

// standsForShow reports whether a title of the event is that of its show, with or without the season's mark: what is
// left of "Show OVA" or "Show: Final Season" is another thing than the title meant.
func (s *session) standsForShow(text string) bool {
	return slices.ContainsFunc(s.names, func(n name) bool {
		return n.Full == text || (n.Base == text || n.Outer == text) && n.Kind == title.Unmarked && !n.Final && !n.Yearly && n.Part < 2
	})
}

// titledSubjects are the subjects that the table knows by a title of the event, and one that
// it has for the season asked for and the catalog does not show, 0 when there is none. What the table calls them counts
// like their titles in the catalog.
func (s *session) titledSubjects(ctx context.Context) (hits []catalog.Subject, titled []idmap.Entry, hidden catalog.SubjectID, err error) {
	var texts []string
	for _, n := range s.names {
		texts = appendNew(appendNew(appendNew(texts, n.Full), n.Outer), n.Base)
	}
	for _, text := range texts {
		for _, e := range s.table.Titled(text) {
			if s.standsForShow(text) {
				titled = append(titled, e)
			}
			if has(hits, e.Subject) {
				continue
			}
			subject, err := s.cached.subject(ctx, e.Subject)
			if errors.Is(err, catalog.ErrNotFound) {
				if s.meansSeason(text) {
					hidden = e.Subject
				}
				continue
			}
			if err != nil {
				return nil, nil, 0, err
			}
			s.cached.call(subject.ID, e.Titles)
			hits = append(hits, subject)
		}
	}
	slices.SortStableFunc(hits, func(a, b catalog.Subject) int { return cmp.Compare(a.ID, b.ID) })
	return hits, titled, hidden, nil
}
