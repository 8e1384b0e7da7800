package catalog

import (
	"context"
	"slices"
	"time"
)

// listed is an entry of a list; its zero is "not collected".
type listed struct {
	Type CollectionType
	// changed is when the entry was last written; zero when that is not known.
	changed time.Time
	// marked is how many episodes have a mark, of any kind and type; -1 is not known.
	marked int
	// eps is Subject.Eps; 0 is not known.
	eps int
	// rated: it has a rating.
	rated bool
}

// mayBeCompletedBy reports whether so many marks more may be all that the subject was waiting for.
func (l listed) mayBeCompletedBy(marks int) bool {
	return l.eps == 0 || l.marked < 0 || l.marked+marks >= l.eps
}

// progress is what was read of the marks of a subject.
type progress struct {
	marks []episodeMark
	// complete is set when all marks were read and the subject is to be done with the last one.
	complete bool
	eps      int // Subject.Eps; 0 is not known
}

// marks reads the marks of the episodes asked for: one alone, for a subject may have thousands of them, and all when
// the subject may be complete with it.
func (req *MarkRequest) marks(ctx context.Context, entry listed) (p progress, err error) {
	single, may := len(req.Episodes) == 1, entry.mayBeCompletedBy(len(req.Episodes))
	if single && !may {
		if p.marks, err = req.marksOf(ctx, req.Episodes); err != nil || !p.has(entry.eps) {
			return p, err
		}
		may = true // it is the last one, whatever the entry counts
	}
	if may && req.Complete != nil {
		if p.complete, p.eps, err = req.Complete(ctx); err != nil {
			return p, err
		}
	}
	if single && (!p.complete || entry.Type == 0 && p.eps > 1) {
		if p.complete = false; p.marks == nil {
			p.marks, err = req.marksOf(ctx, req.Episodes)
		}
		return p, err
	}
	p.marks, err = req.Session.episodeMarks(ctx, req.Subject)
	return p, err
}

// marksOf reads the marks of episodes of the subject, and perhaps of others of it.
func (e *ListEntry) marksOf(ctx context.Context, episodes []EpisodeID) ([]episodeMark, error) {
	if len(episodes) != 1 {
		return e.Session.episodeMarks(ctx, e.Subject)
	}
	mark, err := e.Session.episodeMark(ctx, episodes[0])
	if err != nil || mark.Episode.Subject != e.Subject {
		return []episodeMark{}, err
	}
	return []episodeMark{mark}, nil
}

// has reports whether an episode is among the marks that were read, by the number that the catalog counts it as.
func (p progress) has(number int) bool {
	return slices.ContainsFunc(p.marks, func(m episodeMark) bool { return m.Episode.Ep == float64(number) })
}

// ends reports whether the last main episode of a subject with so many is among those given.
func (p progress) ends(eps int, episodes []EpisodeID) bool {
	return eps > 0 && slices.ContainsFunc(p.marks, func(m episodeMark) bool {
		return m.Episode.Type == Main && m.Episode.Ep == float64(eps) && slices.Contains(episodes, m.Episode.ID)
	})
}

// states are the marks by episode.
func (p progress) states() map[EpisodeID]EpisodeState {
	states := make(map[EpisodeID]EpisodeState, len(p.marks))
	for _, mark := range p.marks {
		states[mark.Episode.ID] = mark.State
	}
	return states
}

// completedBy reports whether every main episode is listed and watched, once those given are.
func (p progress) completedBy(episodes []EpisodeID) bool {
	if !p.complete {
		return false
	}
	main := 0
	for _, mark := range p.marks {
		if mark.Episode.Type != Main {
			continue
		}
		if main++; mark.State != EpisodeWatched && !slices.Contains(episodes, mark.Episode.ID) {
			return false
		}
	}
	return main > 0 && main >= p.eps
}
