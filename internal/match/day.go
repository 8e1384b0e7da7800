package match

import (
	"context"
	"slices"

	"watchmark/internal/catalog"
	"watchmark/internal/watch"
)

// almanac is a catalog that knows what aired on a day; the offline archive is one.
type almanac interface {
	Airing(ctx context.Context, from, to watch.Date) ([]catalog.Airing, error)
}

// distantKin is the likeness from which a subject is looked at whose episode aired on the
// day of the event: another translation of one title shares some of its characters.
const distantKin = 0.4

// collectByDay adds to hits the subjects that no search finds by their titles, but of which the
// episode asked for, by its number, aired on the day of the event or the day before or after,
// or which began then. Only an almanac can tell.
func (s *session) collectByDay(ctx context.Context, hits []catalog.Subject) ([]catalog.Subject, error) {
	book, ok := s.look.catalog.(almanac)
	if !ok || !s.date.IsFull() || s.event.IsFilm() || s.season == 0 {
		return hits, nil
	}
	day := s.date.Time()
	s.look.lookUps++
	airing, err := book.Airing(ctx, watch.DateOf(day.AddDate(0, 0, -1)), watch.DateOf(day.AddDate(0, 0, 1)))
	if err != nil {
		return nil, err
	}
	for _, a := range airing {
		if a.Episode.Type != catalog.Main || !slices.Contains(s.types, a.Subject.Type) {
			continue
		}
		if a.Episode.Sort != s.number && a.Episode.Ep != s.number && a.Episode.Ep != 1 || s.likeness(a.Subject).own < distantKin {
			continue
		}
		s.aired[a.Subject.ID] = true
		if !slices.ContainsFunc(hits, func(h catalog.Subject) bool { return h.ID == a.Subject.ID }) {
			hits = append(hits, a.Subject)
		}
	}
	return hits, nil
}
