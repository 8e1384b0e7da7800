package match

import (
	"context"
	"errors"
	"slices"

	"watchmark/internal/catalog"
	"watchmark/internal/match/idmap"
	"watchmark/internal/watch"
	"watchmark/internal/watch/title"
)

// providerIDs are the ids of the event that stand for what the table lists: those of a film
// itself, and of the show of an episode.
func (s *session) providerIDs() watch.IDs {
	if s.event.IsFilm() {
		return s.event.ItemIDs
	}
	return s.event.SeriesIDs
}

// learnIDs completes an event that has no ids of its series by those that are known of it, once in a match.
func (s *session) learnIDs(ctx context.Context) error {
	if s.seriesIDs == nil {
		return nil
	}
	ids, from, err := s.seriesIDs(ctx, s.event)
	if err != nil {
		return err
	}
	if s.seriesIDs = nil; ids != nil {
		s.event.SeriesIDs, s.idsFrom = ids, from
	}
	return nil
}

// reading is what the ids of the event may mean: a part of a season whose episodes are counted
// from the first one of the part.
type reading struct {
	idmap.Part
	// dated is set for a reading that counts only when the air date agrees.
	dated bool
}

// readings are what the ids of the event may mean, the likeliest first.
func (s *session) readings() []reading {
	ids := s.providerIDs()
	var entries []idmap.Entry
	if s.event.IsFilm() {
		entries = s.table.Film(ids["tmdb"])
	} else if readings := s.ofShow(s.table.Show(ids["tmdb"])); len(readings) > 0 {
		return readings
	}
	for _, provider := range []string{"anidb", "anilist", "mal", "myanimelist"} {
		if len(entries) == 0 && (s.event.IsFilm() || s.season == 1) {
			entries = s.table.ByID(provider, ids[provider])
		}
	}
	if len(entries) == 0 {
		return nil
	}
	slices.SortStableFunc(entries, func(a, b idmap.Entry) int { return a.Begin.Time().Compare(b.Begin.Time()) })
	return []reading{{Part: idmap.Part{First: 1, Entries: entries}}}
}

// ofShow reads the season and the number of the event by the entries of its show, and notes which of
// them are other parts of it. A library that keeps a season or a part as a show by itself says season 1 and
// the title of that: then the title tells, and the number counts in that, unless it lies behind its end.
func (s *session) ofShow(show []idmap.Entry) []reading {
	parts := idmap.Parts(show, s.season)
	part, found := idmap.PartOf(parts, s.number)
	var readings []reading
	if titled := s.namesakes(show, parts); len(titled) > 0 {
		readings = append(readings, reading{Part: idmap.Part{First: 1, Entries: titled}})
		found = found && slices.ContainsFunc(parts, func(p idmap.Part) bool { return p.First > 1 && p.First <= part.First && hasAny(p.Entries, titled) })
	}
	if found {
		readings = append(readings, reading{Part: part})
	}
	for _, p := range parts {
		// The date alone may tell that a part is counted anew, and specials are in no order.
		if found && p.First != part.First {
			readings = append(readings, reading{Part: idmap.Part{First: 1, Entries: p.Entries}, dated: true})
		}
	}
	if len(readings) == 0 {
		return nil // the server counts seasons in another way
	}
	for _, e := range show {
		s.elsewhere[e.Subject] = !slices.ContainsFunc(readings, func(r reading) bool { return !r.dated && hasAny(r.Entries, []idmap.Entry{e}) })
	}
	return readings
}

// namesakes are the entries of a show that have the very title of an event of season 1, when the one that begins the season does not.
func (s *session) namesakes(show []idmap.Entry, parts []idmap.Part) []idmap.Entry {
	if s.season != 1 || len(parts) > 0 && parts[0].First == 1 && slices.ContainsFunc(parts[0].Entries, s.bears) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(show), func(e idmap.Entry) bool { return e.Season == 0 || !s.bears(e) })
}

// hasAny reports whether two lists share a subject.
func hasAny(a, b []idmap.Entry) bool {
	return slices.ContainsFunc(a, func(e idmap.Entry) bool {
		return slices.ContainsFunc(b, func(f idmap.Entry) bool { return e.Subject == f.Subject })
	})
}

// bears reports whether an entry has the very title of the event.
func (s *session) bears(e idmap.Entry) bool {
	return slices.ContainsFunc(e.Titles, func(text string) bool {
		key := title.Key(text)
		return slices.ContainsFunc(s.names, func(n name) bool { return n.full == key })
	})
}

// subjectsOf are the subjects that readings are about; those that only a date speaks for are left out.
func subjectsOf(readings []reading) []catalog.SubjectID {
	ids := []catalog.SubjectID{}
	for _, r := range readings {
		for _, e := range r.Entries {
			if !r.dated && !slices.Contains(ids, e.Subject) {
				ids = append(ids, e.Subject)
			}
		}
	}
	return ids
}

// proposeNamed finds the episode by the readings of the ids. hidden is a subject that the catalog does not show
// and that the episode may be in; 0 when there is none. found is false when it shows none of them.
func (s *session) proposeNamed(ctx context.Context, readings []reading) (p proposal, hidden catalog.SubjectID, found bool, err error) {
	var best *target
	for _, r := range readings {
		if r.dated && (!s.date.IsFull() || best == nil) {
			continue
		}
		subjects, missing, err := s.shown(ctx, r.Entries)
		if err != nil {
			return proposal{}, 0, false, err
		}
		behind := s.season == 0 && s.number > float64(r.First) && r.Entries[0].Episode != 0
		if missing != 0 && !r.dated && !behind {
			hidden = missing
		}
		if len(subjects) == 0 {
			continue
		}
		t, err := s.resolveReading(ctx, r, subjects)
		if err != nil {
			return proposal{}, 0, false, err
		}
		if behind && !t.found() {
			continue // it is one of the other specials
		}
		// The first day of another part says nothing of an episode: servers date episodes by the first day of their season.
		agrees := t.found() && (s.agrees(t) && !r.dated || s.isDayOf(t))
		if best == nil || agrees || !r.dated && !best.found() {
			best = &t
		}
		if agrees {
			hidden = 0
			break
		}
	}
	if best == nil {
		return proposal{}, hidden, false, nil
	}
	p, err = s.scored(ctx, start{subject: best.subject, likeness: s.likeness(best.subject), season: s.season, named: true}, *best)
	return p, hidden, true, err
}

// shown are the subjects of entries, and the last one that the catalog does not show; 0 when it shows all.
func (s *session) shown(ctx context.Context, entries []idmap.Entry) (subjects []catalog.Subject, hidden catalog.SubjectID, err error) {
	for _, e := range entries {
		subject, err := s.cached.subject(ctx, e.Subject)
		if errors.Is(err, catalog.ErrNotFound) {
			hidden = e.Subject
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		subjects = append(subjects, subject)
	}
	return subjects, hidden, nil
}

// resolveReading finds the episode in the subjects that a reading is about.
func (s *session) resolveReading(ctx context.Context, r reading, subjects []catalog.Subject) (target, error) {
	number := s.number - float64(r.First-1)
	if s.season == 0 && r.Entries[0].Episode != 0 && !r.dated {
		return s.resolveSpecial(ctx, subjects[0], number)
	}
	var ways []target
	if s.season > 0 && (len(subjects) > 1 || r.First > 1) {
		t, err := s.countThrough(ctx, subjects, number)
		if err != nil {
			return t, err
		}
		ways = append(ways, t)
	}
	if r.First == 1 {
		for _, subject := range subjects {
			t, err := s.resolveNamed(ctx, subject, number)
			if err != nil {
				return t, err
			}
			ways = append(ways, t)
		}
	}
	best := slices.IndexFunc(ways, func(t target) bool { return t.found() && s.agrees(t) })
	if best < 0 {
		best = max(0, slices.IndexFunc(ways, target.found))
	}
	return ways[best], nil
}

// resolveSpecial finds an episode of an entry that begins at a special of the show. TMDB may have put
// something else between its episodes, so that of those behind the first one the date must agree.
func (s *session) resolveSpecial(ctx context.Context, subject catalog.Subject, number float64) (target, error) {
	t, err := s.resolveFilm(ctx, subject)
	if err != nil || number == 1 || !t.found() {
		return t, err
	}
	main, _, err := s.cached.episodesOf(ctx, subject.ID)
	if err != nil {
		return target{}, err
	}
	row := atPlace(main, number)
	if row == nil {
		return target{start: subject, subject: subject, how: specialMissing.With(s.number)}, nil
	}
	t.row, t.fit, t.how = row, ambiguous, placeBehind.With()
	if s.sameDay(row.AirDate) {
		t.fit = 1
	}
	return t, nil
}

// countThrough finds an episode by its place in the part of a season that subjects are together; where
// they end before it, the sequels go on.
func (s *session) countThrough(ctx context.Context, subjects []catalog.Subject, number float64) (target, error) {
	left := number
	t := target{start: subjects[0], subject: subjects[0], how: seasonEnds.With()}
	for _, subject := range subjects {
		rows, _, err := s.cached.episodesOf(ctx, subject.ID)
		if err != nil {
			return t, err
		}
		if n := float64(wholeOnes(rows)); left > n {
			left -= n
			continue
		}
		row := atPlace(rows, left)
		if row == nil {
			t.subject, t.how = subject, notInSeason.With(s.number)
			return t, nil
		}
		t.subject, t.row, t.fit, t.how = subject, row, 0.95, placeInTable.With()
		// Where the list goes on from the part before, its own numbers say the same, unless one of the two counts a recap.
		if numbered := bySort(rows, s.number); rows[0].Sort > 1 && numbered != nil && numbered != row && !s.sameDay(row.AirDate) {
			t.fit, t.how = ambiguous, placeOtherNumber.With()
			if s.sameDay(numbered.AirDate) {
				t.row, t.fit, t.how = numbered, 1, numberDated.With()
			}
		}
		return t, nil
	}
	if len(subjects) > 1 {
		return t, nil
	}
	rows, _, err := s.cached.episodesOf(ctx, subjects[0].ID)
	if err != nil || len(rows) == 0 {
		return t, err
	}
	return s.walkOn(ctx, target{start: subjects[0], subject: subjects[0]}, rows, number+max(rows[0].Sort, 1)-1)
}

// atPlace is the episode at a place of a list. A list with an episode 0 is not counted by ep, which is off by one there.
func atPlace(rows []catalog.EpisodeInfo, place float64) *catalog.EpisodeInfo {
	if len(rows) > 0 && rows[0].Sort < 1 {
		return bySort(rows, place)
	}
	return byEp(rows, place)
}

// agrees reports whether the date of the event is that of the episode, or the first day of its subject.
func (s *session) agrees(t target) bool {
	return s.isDayOf(t) || s.sameDay(t.subject.Date)
}
