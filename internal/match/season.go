package match

import (
	"context"
	"errors"
	"slices"

	"watchmark/internal/catalog"
	"watchmark/internal/watch"
)

// link is a subject of a chain of sequels with the season it is counted as.
type link struct {
	subject catalog.Subject
	season  int
	// unsure is set from the first season on that may be counted wrongly: the marks before it
	// skip a number, so the catalog lacks a season, or a long pause came before it, after which some
	// servers count on, others begin anew, and a season between is easily missing.
	unsure bool
}

// pause is how many years without a season make a long pause.
const pause = 10

// chain is the seasons of a show in order, from the first that 前传 leads back to.
// Where a catalog splits a season, several links have the same number.
func (s *session) chain(ctx context.Context, from catalog.Subject) ([]link, error) {
	first, err := s.firstOf(ctx, from)
	if err != nil {
		return nil, err
	}
	seen := map[catalog.SubjectID]bool{first.ID: true}
	subjects := []catalog.Subject{first}
	for len(subjects) < walkMost {
		next, found, err := s.sequel(ctx, subjects[len(subjects)-1], seen)
		if err != nil {
			return nil, err
		}
		if !found {
			break
		}
		subjects = append(subjects, next)
	}
	return s.countSeasons(subjects), nil
}

// countSeasons counts the seasons of a chain: a mark in the titles is believed, a
// later part or the same mark again belongs to the season before, everything else
// is the next season.
func (s *session) countSeasons(subjects []catalog.Subject) []link {
	links := make([]link, 0, len(subjects))
	season, unsure := 0, false
	for i, subject := range subjects {
		unsure = unsure || i > 0 && isPause(subjects[i-1].Date, subject.Date)
		mark, bare := s.seasonMarks(subject)
		switch {
		case mark >= max(season, 1):
			unsure = unsure || mark > season+1
			season = mark
		case season > 0 && bare == season:
		case season > 0 && mark == 0 && s.partMark(subject) > 1:
		default:
			season++
		}
		links = append(links, link{subject, season, unsure})
	}
	return links
}

func isPause(before, after watch.Date) bool {
	return !before.IsZero() && !after.IsZero() && after.Time().After(before.Time().AddDate(pause, 0, 0))
}

// firstOf follows 前传 to the beginning of a show.
func (s *session) firstOf(ctx context.Context, from catalog.Subject) (catalog.Subject, error) {
	seen := map[catalog.SubjectID]bool{from.ID: true}
	for range walkMost {
		before, found, err := s.neighbour(ctx, from, catalog.Prequel, seen)
		if err != nil || !found {
			return from, err
		}
		from = before
	}
	return from, nil
}

// sequel is the next season or part after a subject.
func (s *session) sequel(ctx context.Context, after catalog.Subject, seen map[catalog.SubjectID]bool) (catalog.Subject, bool, error) {
	return s.neighbour(ctx, after, catalog.Sequel, seen)
}

// neighbour follows label from a subject to one of the same type and form. A film or
// OVA between two seasons is passed through. Of several the one nearest in time is taken.
func (s *session) neighbour(ctx context.Context, from catalog.Subject, label string, seen map[catalog.SubjectID]bool) (catalog.Subject, bool, error) {
	waiting := []catalog.Subject{from}
	for depth := 0; depth < 3 && len(waiting) > 0; depth++ {
		var same, other []catalog.Subject
		for _, w := range waiting {
			relations, err := s.cached.related(ctx, w.ID)
			if err != nil {
				return catalog.Subject{}, false, err
			}
			for _, r := range relations {
				if r.Label != label || r.Type != from.Type || seen[r.ID] {
					continue
				}
				seen[r.ID] = true
				subject, err := s.cached.subject(ctx, r.ID)
				if errors.Is(err, catalog.ErrNotFound) {
					continue
				}
				if err != nil {
					return catalog.Subject{}, false, err
				}
				if subject.ID != r.ID { // merged: relations keep the old id
					if seen[subject.ID] {
						continue
					}
					seen[subject.ID] = true
				}
				if formOf(subject) == formOf(from) {
					same = append(same, subject)
				} else {
					other = append(other, subject)
				}
			}
		}
		if len(same) > 0 {
			return nearest(same, label), true, nil
		}
		waiting = other
	}
	return catalog.Subject{}, false, nil
}

// nearest is the earliest sequel, or the latest prequel; undated ones come last.
func nearest(subjects []catalog.Subject, label string) catalog.Subject {
	return slices.MinFunc(subjects, func(a, b catalog.Subject) int {
		switch {
		case a.Date.IsZero() != b.Date.IsZero():
			if a.Date.IsZero() {
				return 1
			}
			return -1
		case label == catalog.Prequel:
			return b.Date.Time().Compare(a.Date.Time())
		}
		return a.Date.Time().Compare(b.Date.Time())
	})
}

// form is how a subject was published, as far as seasons are told apart by it.
type form int

const (
	series form = iota // TV, web and what tells nothing
	ova
	film
)

func formOf(s catalog.Subject) form {
	switch {
	case s.IsFilm():
		return film
	case s.Platform == "OVA":
		return ova
	}
	return series
}

// seasonMarks are the season that the titles of a subject tell in words, and the one
// that a lone number at the end tells, which may belong to the name; 0 when they tell
// none. The main titles are read before the aliases.
func (s *session) seasonMarks(subject catalog.Subject) (mark, bare int) {
	for _, n := range s.cached.namesOf(subject) {
		switch {
		case n.Season > 0 && !n.Bare:
			return n.Season, 0
		case n.Season > 0 && bare == 0:
			bare = n.Season
		}
	}
	return 0, bare
}

// partMark is the part or cour that the titles of a subject tell, 0 when they tell none.
func (s *session) partMark(subject catalog.Subject) int {
	for _, n := range s.cached.namesOf(subject) {
		if n.Part > 0 {
			return n.Part
		}
	}
	return 0
}

// isLaterPart reports whether the titles call next another part of the season of start.
func (s *session) isLaterPart(start, next catalog.Subject) bool {
	a, _ := s.seasonMarks(start)
	b, _ := s.seasonMarks(next)
	return max(a, 1) == max(b, 1) && s.partMark(next) > 1
}
