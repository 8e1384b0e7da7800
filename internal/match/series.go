package match

import (
	"cmp"
	"context"
	"slices"

	"watchmark/internal/catalog"
)

// weighSeasons proposes subjects for an episode of a season. The first season is
// named by its own title alone. Every later one is looked for by the marks in the
// titles, along the chain of sequels, and by air date.
func (s *session) weighSeasons(ctx context.Context, hits []catalog.Subject) ([]proposal, error) {
	starts := []start{}
	for _, h := range hits {
		if l := s.likeness(h); l.own >= kin || s.season > 1 && l.family >= 0.8 || s.aired[h.ID] && l.own >= distantKin {
			starts = append(starts, start{subject: h, likeness: l})
		}
	}
	var err error
	if s.season > 1 {
		starts, err = s.withChains(ctx, starts)
	} else {
		starts, err = s.tellEqualsApart(ctx, starts)
	}
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(starts, func(a, b start) int { return cmp.Compare(s.promise(b), s.promise(a)) })
	proposals := []proposal{}
	for _, st := range starts[:min(len(starts), weighMost)] {
		p, err := s.propose(ctx, st)
		if err != nil {
			return nil, err
		}
		proposals = append(proposals, p)
	}
	return proposals, nil
}

// promise is the score of a start before its episodes are known; it orders what is looked at.
func (s *session) promise(st start) float64 {
	p := parts{title: s.title(st.likeness), season: s.seasonFit(st), kind: s.kindFit(st.subject), episode: 1}
	p.date, p.dated, _ = s.dateFit(target{start: st.subject, subject: st.subject}, make([]catalog.EpisodeInfo, max(st.subject.Eps, 13)))
	if p.dated && p.date > 0.5 && s.season > 1 {
		p.season = max(p.season, 0.8)
	}
	if s.aired[st.subject.ID] {
		p.date, p.dated, p.ownDay = 1, true, true
	}
	return p.score()
}

// withChains adds the seasons that the sequels of the likeliest starts lead to, and
// counts all of them.
func (s *session) withChains(ctx context.Context, starts []start) ([]start, error) {
	slices.SortStableFunc(starts, func(a, b start) int { return cmp.Compare(b.likeness.family, a.likeness.family) })
	counted := map[catalog.SubjectID]bool{}
	chains := 0
	for i := 0; i < len(starts) && chains < 2; i++ {
		seed := starts[i]
		if counted[seed.subject.ID] || seed.likeness.family < 0.8 {
			continue
		}
		chains++
		links, err := s.chain(ctx, seed.subject)
		if err != nil {
			return nil, err
		}
		before := 0
		for _, link := range links {
			if counted[link.subject.ID] {
				continue
			}
			counted[link.subject.ID] = true
			at := slices.IndexFunc(starts, func(st start) bool { return st.subject.ID == link.subject.ID })
			if at < 0 {
				starts = append(starts, start{subject: link.subject, likeness: s.likeness(link.subject)})
				at = len(starts) - 1
			}
			if family := 0.97 * seed.likeness.family; !seed.likeness.side && (family > starts[at].likeness.family || starts[at].likeness.side) {
				starts[at].likeness.family, starts[at].likeness.side = family, false
			}
			starts[at].season, starts[at].later, starts[at].unsure = link.season, link.season == before, link.unsure
			before = link.season
		}
	}
	return starts, nil
}

// tellEqualsApart counts the seasons of starts that bear the same title, as sequels
// do that differ in a punctuation mark: the one that others follow is the first season.
func (s *session) tellEqualsApart(ctx context.Context, starts []start) ([]start, error) {
	equal := 0
	for _, st := range starts {
		if st.likeness.exact {
			equal++
		}
	}
	if equal < 2 {
		return starts, nil
	}
	for i, st := range starts {
		if !st.likeness.exact {
			continue
		}
		relations, err := s.cached.related(ctx, st.subject.ID)
		if err != nil {
			return nil, err
		}
		starts[i].season = 1
		if slices.ContainsFunc(relations, func(r catalog.Relation) bool { return r.Label == catalog.Prequel && r.Type == st.subject.Type }) {
			starts[i].season = 2
		}
	}
	return starts, nil
}
