package match

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"watchmark/internal/catalog"
	"watchmark/internal/match/idmap"
	"watchmark/internal/platform/reason"
)

// Media servers number seasons as TheTVDB or TMDB does, Bangumi has its own entries. What a season and a number mean at these
// sites stands beside what they mean in the catalog's own order of entries: where all that the day leaves over agree, it is
// marked; else a person is asked.

// numbered is an episode that the season and the number of the event mean at another site.
type numbered struct {
	proposal
	// site is the one whose numbering it is, list where its row stands, with its version, and row is that row, as they are told to people.
	site, list, row string
}

// told is what the trace shows of it.
func (n numbered) told() reason.Reason {
	if n.target.row == nil {
		return numberedEntry.With(n.site, n.list, n.row, n.subject.ID)
	}
	return numberedEpisode.With(n.site, n.list, n.row, n.subject.ID, n.target.row.Sort)
}

// numberings are the sites as they are told to people, and as ids name them.
var numberings = [...]struct{ name, provider string }{idmap.TVDB: {"TheTVDB", "tvdb"}, idmap.TMDB: {"TMDB", "tmdb"}}

// counts reports whether the event has a number that sites number by.
func (s *session) counts() bool {
	return s.event.IsFilm() || s.number == math.Trunc(s.number) && s.number < 1<<15
}

// numberedByID proposes what the ids of the event stand for: the episode of the series, or the film. hidden is a subject that they lead
// to and that the catalog does not show; 0 when there is none, and when the day of the event is that of what is proposed.
func (s *session) numberedByID(ctx context.Context) (all []numbered, hidden catalog.SubjectID, err error) {
	if !s.counts() {
		return nil, 0, nil
	}
	ids := s.providerIDs()
	add := func(list *idmap.Seasons, site string, places []idmap.Place) error {
		found, missing, err := s.proposePlaces(ctx, list, site, places, true)
		all, hidden = append(all, found...), cmp.Or(hidden, missing)
		return err
	}
	for _, list := range s.table.Lists {
		if s.event.IsFilm() {
			for _, film := range []struct{ name, provider string }{{"IMDb", "imdb"}, {"TMDB", "tmdb"}} {
				if err := add(list, film.name, list.FilmOf(film.provider, ids[film.provider])); err != nil {
					return nil, 0, err
				}
			}
			continue
		}
		for site, numbering := range numberings {
			series, err := strconv.ParseUint(ids[numbering.provider], 10, 32)
			if err != nil || site == int(idmap.TMDB) && len(s.table.Show(ids[numbering.provider])) > 0 {
				continue // what the table itself says of a show of TMDB is newer (id-map.md section 10)
			}
			if err := add(list, numbering.name, list.Places(idmap.Numbering(site), uint32(series), s.season, int(s.number))); err != nil {
				return nil, 0, err
			}
		}
	}
	if slices.ContainsFunc(all, func(n numbered) bool { return s.isDayOf(n.target) }) {
		hidden = 0
	}
	return all, hidden, nil
}

// numberedByTitle proposes what the event means in the series of entries that bear its title.
func (s *session) numberedByTitle(ctx context.Context, titled []idmap.Entry) ([]numbered, error) {
	if !s.isMapped() || s.event.IsFilm() || !s.counts() {
		return nil, nil
	}
	var all []numbered
	asked := map[string]bool{}
	isAsked := func(series uint32, by string) bool {
		key := by + strconv.Itoa(int(series))
		was := asked[key]
		asked[key] = true
		return was || series == 0
	}
	for _, e := range titled {
		for _, list := range s.table.Lists {
			for site, numbering := range numberings {
				if site == int(idmap.TMDB) && e.Show != 0 {
					continue
				}
				series, named := list.SeriesOf(idmap.Numbering(site), e.IDOf(list), s.season)
				if !named || isAsked(series, list.Name+numbering.name) {
					continue
				}
				found, _, err := s.proposePlaces(ctx, list, numbering.name, list.Places(idmap.Numbering(site), series, s.season, int(s.number)), false)
				if err != nil {
					return nil, err
				}
				all = append(all, found...)
			}
		}
		show := s.table.Show(strconv.Itoa(int(e.Show)))
		if s.season == 0 || !begins(show, e, 1) && !begins(show, e, s.season) || isAsked(e.Show, "TMDB") {
			continue // the table has no order of specials
		}
		n, found, err := s.numberedInShow(ctx, show)
		if err != nil {
			return nil, err
		}
		if found {
			all = append(all, n)
		}
	}
	return all, nil
}

// numberedInShow is what the event means in a show of TMDB, by the entries that the table divides its seasons into.
func (s *session) numberedInShow(ctx context.Context, show []idmap.Entry) (n numbered, found bool, err error) {
	part, ok := idmap.PartOf(idmap.Parts(show, s.season), s.number)
	if !ok {
		return numbered{}, false, nil
	}
	subjects, _, err := s.shown(ctx, part.Entries)
	if err != nil || len(subjects) == 0 {
		return numbered{}, false, err
	}
	t, err := s.resolveReading(ctx, reading{Part: part}, subjects)
	if err != nil || !t.found() {
		return numbered{}, false, err
	}
	n, err = s.numbered(ctx, t, false)
	n.site, n.list = "TMDB", "bangumi-data "+s.table.Version()
	n.row = fmt.Sprintf("S%dE%d", s.season, part.First)
	return n, true, err
}

// begins reports whether an entry is the first of a season of a show, so that its title stands for the season there.
func begins(show []idmap.Entry, e idmap.Entry, season int) bool {
	parts := idmap.Parts(show, season)
	return len(parts) > 0 && parts[0].First == 1 && hasAny(parts[0].Entries[:1], []idmap.Entry{e})
}

// proposePlaces looks the places up in the catalog. An episode that the catalog does not have is left out; hidden is the subject of one
// that the catalog does not show, 0 when it shows all.
func (s *session) proposePlaces(ctx context.Context, list *idmap.Seasons, site string, places []idmap.Place, named bool) (all []numbered, hidden catalog.SubjectID, err error) {
	for _, place := range places {
		t, missing, err := s.resolvePlace(ctx, list, place)
		if err != nil {
			return nil, 0, err
		}
		hidden = cmp.Or(hidden, missing)
		if !t.found() {
			continue
		}
		if len(places) > 1 && !s.isDayOf(t) {
			t.fit = min(t.fit, ambiguous)
		}
		n, err := s.numbered(ctx, t, named)
		if err != nil {
			return nil, 0, err
		}
		n.site, n.list, n.row = site, list.String(), fmt.Sprintf("%s %d (%s)", list.Site(), place.ID, place.Row)
		all = append(all, n)
	}
	return all, hidden, nil
}

// numbered scores a target that a numbering leads to, by an id of the event (named) or by its title, which is that of the series.
func (s *session) numbered(ctx context.Context, t target, named bool) (numbered, error) {
	p, err := s.scored(ctx, start{subject: t.subject, likeness: likeness{own: 1, family: 1, exact: true}, season: s.season, named: named, placed: true}, t)
	return numbered{proposal: p}, err
}

// resolvePlace finds an episode of a list in the catalog (id-map.md section 8). hidden is a subject that it may be in and that the
// catalog does not show, 0 when there is none: then only the day of the event tells that it is an episode of another one.
func (s *session) resolvePlace(ctx context.Context, list *idmap.Seasons, place idmap.Place) (t target, hidden catalog.SubjectID, err error) {
	subjects, hidden, err := s.shown(ctx, s.table.EntriesOf(list, place.ID))
	number, goesOn := place.Number, true
	for i := 0; err == nil && len(subjects) == 0 && i < len(place.Before); i++ {
		var missing catalog.SubjectID
		subjects, missing, err = s.shown(ctx, s.table.EntriesOf(list, place.Before[i].ID))
		number, goesOn, hidden = place.Before[i].Number, false, cmp.Or(hidden, missing)
	}
	switch {
	case err != nil || len(subjects) == 0:
		return target{}, hidden, err
	case place.Special && goesOn:
		t, err = s.resolveSpecialOf(ctx, subjects[0], number)
	default:
		t, err = s.resolveNth(ctx, subjects, number, goesOn)
	}
	if err != nil || hidden != 0 && !s.isDayOf(t) {
		return target{}, hidden, err
	}
	return t, 0, nil
}

// resolveNth finds the nth main episode of subjects that follow each other. Where goesOn is set, the sequels of a single one go on.
func (s *session) resolveNth(ctx context.Context, subjects []catalog.Subject, n int, goesOn bool) (target, error) {
	t := target{start: subjects[0], subject: subjects[0], how: seasonEnds.With()}
	left := n
	for _, subject := range subjects {
		rows, _, err := s.cached.episodesOf(ctx, subject.ID)
		switch {
		case err != nil:
			return t, err
		case len(rows) == 0 && left == 1:
			return s.resolveFilm(ctx, subject)
		case left < 1:
			return t, nil
		case left <= len(rows):
			return s.nthOf(subject, rows, left), nil
		}
		left -= wholeOnes(rows)
	}
	if !goesOn || len(subjects) > 1 {
		return t, nil
	}
	rows, _, err := s.cached.episodesOf(ctx, subjects[0].ID)
	if err != nil || len(rows) == 0 {
		return t, err
	}
	return s.walkOn(ctx, target{start: subjects[0], subject: subjects[0]}, rows, float64(n)+max(rows[0].Sort, 1)-1)
}

// nthOf is the nth of rows. A list may not count an episode 0 or one between two numbers: then the day must tell which it is.
func (s *session) nthOf(subject catalog.Subject, rows []catalog.EpisodeInfo, n int) target {
	t := target{start: subject, subject: subject, row: &rows[n-1], fit: 1, how: placeInTable.With()}
	whole := slices.DeleteFunc(slices.Clone(rows), func(r catalog.EpisodeInfo) bool { return !isWholeOne(r) })
	if n > len(whole) || whole[n-1].ID == t.row.ID {
		return t
	}
	isThis, isOther := s.sameDay(t.row.AirDate), s.sameDay(whole[n-1].AirDate)
	if !isThis {
		t.row = &whole[n-1]
	}
	if isThis == isOther {
		t.fit = ambiguous
	}
	return t
}

// resolveSpecialOf finds what a list counts as a special of an entry: by its day or its title; its number is a guess.
func (s *session) resolveSpecialOf(ctx context.Context, subject catalog.Subject, n int) (target, error) {
	main, special, err := s.cached.episodesOf(ctx, subject.ID)
	if err != nil {
		return target{}, err
	}
	t := target{start: subject, subject: subject, fit: 1}
	for _, rows := range [][]catalog.EpisodeInfo{special, main} {
		if t.row, t.how = s.onDay(rows), dayOfEvent.With(); t.row != nil && !s.sameDay(subject.Date) {
			return t, nil
		}
		if t.row, t.how = s.titled(rows), specialTitled.With(); t.row != nil {
			return t, nil
		}
	}
	t.row, t.fit, t.how = bySort(special, float64(n)), ambiguous, specialNumbered.With()
	return t, nil
}

// weighNumbered brings what other numberings say together with what the catalog's own order of seasons says, best first.
func (s *session) weighNumbered(own []proposal, others []numbered) []proposal {
	if len(others) == 0 {
		return own
	}
	all := slices.Clone(own)
	d, _ := decide(s, own, false)
	for _, n := range others {
		at := slices.IndexFunc(all, func(p proposal) bool { return p.subject.ID == n.subject.ID })
		if at < 0 {
			all = append(all, n.proposal)
			continue
		}
		here, there := all[at].target.row, n.target.row
		switch {
		case here == nil || there == nil || here.ID == there.ID:
			if n.score > all[at].score {
				all[at] = n.proposal
			}
		case s.isDayOf(n.target) && !s.isDayOf(all[at].target), s.season == 0 && all[at].target.fit < 1:
			all[at] = n.proposal
		case s.isDayOf(n.target) || !s.isDayOf(all[at].target):
			s.dispute = otherNumbering.With(n.site, there.Sort, here.Sort)
		}
	}
	sortByScore(all)
	if best := all[0]; d.Status == Matched && best.subject.ID != d.SubjectID && (s.isDayOf(d.proposal.target) || !s.isDayOf(best.target)) {
		s.dispute = otherEntry.With(d.SubjectName)
	}
	return all
}

// isDayOf reports whether the event has the day of the very episode.
func (s *session) isDayOf(t target) bool {
	return t.row != nil && s.sameDay(t.row.AirDate)
}

// withNumberings puts what other numberings say of the series of titled entries beside the proposals of a layer.
func (s *session) withNumberings(ctx context.Context, f *finding, titled []idmap.Entry) error {
	others, err := s.numberedByTitle(ctx, titled)
	if err != nil {
		return err
	}
	f.tell(others)
	f.proposals = s.weighNumbered(f.proposals, others)
	return nil
}

// tell puts into the trace what other numberings say.
func (f *finding) tell(others []numbered) {
	if len(others) == 0 {
		return
	}
	rows := make([]reason.Reason, 0, len(others))
	for _, n := range others {
		rows = append(rows, n.told())
	}
	f.output["numbering"] = reason.Several.With(rows)
}

// isMapped reports whether there is a list of how other sites number seasons.
func (s *session) isMapped() bool { return s.table != nil && len(s.table.Lists) > 0 }
