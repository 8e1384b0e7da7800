package match

import (
	"context"
	"slices"

	"watchmark/internal/catalog"
	"watchmark/internal/watch"
)

// almanac is a catalog that knows what aired on a day; the offline archive is one.
type almanac interface {
	// OnAir is the subjects of which an episode airs from one day to another, both inclusive.
	OnAir(ctx context.Context, from, to watch.Date) ([]catalog.Subject, error)
}

// distantKin is the likeness from which a subject is looked at whose episode aired on the
// day of the event: another translation of one title shares some of its characters.
const distantKin = 0.4

// collectByDay adds to hits the subjects that no search finds by their titles, but of which the
// episode asked for, by its number, aired on the day of the event or the day before or after,
// or which began then. Only an almanac can tell.
func (s *session) collectByDay(ctx context.Context, hits []catalog.Subject) ([]catalog.Subject, error) {
	book, ok := s.cached.catalog.(almanac)
	if !ok || !s.date.IsFull() || s.event.IsFilm() || s.season == 0 {
		return hits, nil
	}
	day := s.date.Time()
	s.cached.lookUps++
	onAir, err := book.OnAir(ctx, watch.DateOf(day.AddDate(0, 0, -1)), watch.DateOf(day.AddDate(0, 0, 1)))
	if err != nil {
		return nil, err
	}
	for _, subject := range onAir {
		if !slices.Contains(s.types, subject.Type) || s.likeness(subject).own < distantKin {
			continue
		}
		rows, _, err := s.cached.episodesOf(ctx, subject.ID)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(rows, s.airedThat) {
			continue
		}
		s.aired[subject.ID] = true
		if !has(hits, subject.ID) {
			hits = append(hits, subject)
		}
	}
	return hits, nil
}

// airedThat reports whether a row is the episode asked for by its number, or the first one, and of the day of the event.
func (s *session) airedThat(row catalog.EpisodeInfo) bool {
	days, known := s.date.DaysFrom(row.AirDate)
	return known && -1 <= days && days <= 1 && (row.Sort == s.number || row.Ep == s.number || row.Ep == 1)
}
