package match

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"watchmark/internal/catalog"
	"watchmark/internal/dataset"
	"watchmark/internal/title"
	"watchmark/internal/watch"
)

// providerIDs are the ids of the event that stand for what the table lists: those of a film
// itself, and of the show of an episode.
func (s *session) providerIDs() watch.IDs {
	if s.event.IsFilm() {
		return s.event.ItemIDs
	}
	return s.event.SeriesIDs
}

// namedEntries are the entries that the ids of the event lead to, the earliest first.
func (s *session) namedEntries() []dataset.Entry {
	ids := s.providerIDs()
	var entries []dataset.Entry
	if s.event.IsFilm() {
		entries = s.table.Film(ids["tmdb"])
	} else {
		entries = s.seasonOf(s.table.Show(ids["tmdb"]))
	}
	for _, provider := range []string{"anidb", "anilist", "mal", "myanimelist"} {
		if len(entries) == 0 && (s.event.IsFilm() || s.season == 1) {
			entries = s.table.ByID(provider, ids[provider])
		}
	}
	slices.SortStableFunc(entries, func(a, b dataset.Entry) int { return a.Begin.Time().Compare(b.Begin.Time()) })
	return entries
}

// seasonOf picks the entries of the season asked for out of those of a show. Special n of
// season 0 may be an entry of its own. A library that keeps a season as a show by itself says
// season 1 and the title of the season: then the title tells.
func (s *session) seasonOf(show []dataset.Entry) []dataset.Entry {
	pick := func(keep func(dataset.Entry) bool) []dataset.Entry {
		return slices.DeleteFunc(slices.Clone(show), func(e dataset.Entry) bool { return !keep(e) })
	}
	if s.season == 0 {
		if single := pick(func(e dataset.Entry) bool { return e.Season == 0 && e.Episode != 0 && float64(e.Episode) == s.number }); len(single) > 0 {
			return single
		}
		return pick(func(e dataset.Entry) bool { return e.Season == 0 && e.Episode == 0 })
	}
	own := pick(func(e dataset.Entry) bool { return e.Season == s.season })
	if s.season != 1 {
		return own
	}
	if len(own) == 0 {
		own = pick(func(e dataset.Entry) bool { return e.Season == dataset.AnySeason })
	}
	if !slices.ContainsFunc(own, s.bears) {
		if titled := pick(func(e dataset.Entry) bool { return e.Season != 0 && s.bears(e) }); len(titled) > 0 {
			return titled
		}
	}
	return own
}

// bears reports whether an entry has the very title of the event.
func (s *session) bears(e dataset.Entry) bool {
	return slices.ContainsFunc(e.Titles, func(text string) bool {
		key := title.Key(text)
		return slices.ContainsFunc(s.names, func(n name) bool { return n.full == key })
	})
}

func subjectsOf(entries []dataset.Entry) []catalog.SubjectID {
	ids := make([]catalog.SubjectID, 0, len(entries))
	for _, e := range entries {
		ids = append(ids, e.Subject)
	}
	return ids
}

// proposeNamed finds the episode in the subjects that ids lead to, which share a season. hidden is
// one that the catalog does not show and that the episode may be in; 0 when there is none. found is false when it shows none of them.
func (s *session) proposeNamed(ctx context.Context, entries []dataset.Entry) (p proposal, hidden catalog.SubjectID, found bool, err error) {
	var subjects []catalog.Subject
	for _, e := range entries {
		subject, err := s.look.subject(ctx, e.Subject)
		if errors.Is(err, catalog.ErrNotFound) {
			hidden = e.Subject
			continue
		}
		if err != nil {
			return proposal{}, 0, false, err
		}
		subjects = append(subjects, subject)
	}
	if len(subjects) == 0 {
		return proposal{}, hidden, false, nil
	}
	var t target
	if s.season == 0 && entries[0].Episode != 0 { // one special is an entry of its own
		t, err = s.resolveFilm(ctx, subjects[0])
	} else {
		t, err = s.resolveAmong(ctx, subjects)
	}
	if err != nil {
		return proposal{}, 0, false, err
	}
	if t.found() && s.agrees(t) {
		hidden = 0
	}
	p, err = s.scored(ctx, start{subject: t.subject, likeness: s.likeness(t.subject), season: s.season, named: true}, t)
	return p, hidden, true, err
}

// resolveAmong finds the episode in subjects that share a season, by what the date agrees with: the
// place that a count through all of them leads to, or the number in one of them.
func (s *session) resolveAmong(ctx context.Context, subjects []catalog.Subject) (target, error) {
	var ways []target
	if len(subjects) > 1 && s.season > 0 {
		t, err := s.countThrough(ctx, subjects)
		if err != nil {
			return t, err
		}
		ways = append(ways, t)
	}
	for _, subject := range subjects {
		t, err := s.resolveNamed(ctx, subject, s.number)
		if err != nil {
			return t, err
		}
		ways = append(ways, t)
	}
	best := slices.IndexFunc(ways, func(t target) bool { return t.found() && s.agrees(t) })
	if best < 0 {
		best = max(0, slices.IndexFunc(ways, target.found))
	}
	return ways[best], nil
}

// countThrough finds the episode by its place in the season that subjects are together.
func (s *session) countThrough(ctx context.Context, subjects []catalog.Subject) (target, error) {
	left := s.number
	t := target{start: subjects[0], subject: subjects[0], how: "the season has fewer episodes"}
	for _, subject := range subjects {
		rows, _, err := s.look.chapters(ctx, subject.ID)
		if err != nil {
			return t, err
		}
		if n := float64(wholeOnes(rows)); left > n {
			left -= n
			continue
		}
		row := byEp(rows, left)
		if len(rows) > 0 && rows[0].Sort < 1 {
			row = bySort(rows, left)
		}
		if row == nil {
			t.subject, t.how = subject, fmt.Sprintf("episode %s is not in the season", plainNumber(s.number))
			return t, nil
		}
		t.subject, t.row, t.fit, t.how = subject, row, 0.95, "by its place in the season, which the id table puts together of several subjects"
		return t, nil
	}
	return t, nil
}

// agrees reports whether the date of the event is that of the episode, or the first day of its subject.
func (s *session) agrees(t target) bool {
	return t.row != nil && s.sameDay(t.row.AirDate) || s.sameDay(t.subject.Date)
}
