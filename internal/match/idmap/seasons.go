package idmap

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"watchmark/internal/watch"
	"watchmark/internal/watch/title"
)

// Numbering is a site whose seasons media servers number episodes by.
type Numbering int

// The sites.
const (
	TVDB Numbering = iota
	TMDB
	numberings
)

const (
	// through is the season of an entry whose episodes go on through all seasons of the series.
	through = -1
	// unnumbered is the season where the list names none.
	unnumbered = -2
)

// Place is an episode as AniDB or MyAnimeList numbers it.
type Place struct {
	// ID is the id of the entry at the site that the list is of.
	ID uint32
	// Number is that of the episode in the entry, from 1.
	Number int
	// Special is set for one of AniDB's specials, which have numbers of their own.
	Special bool
	// Row is the row of the list that leads there, as it is told to people in every language: "S3+12" for season 3 with offset 12.
	Row string
	// Before are the entries that share the season and begin before this one, the nearest first, each with the number that
	// the episode has when it is counted on in it: where Bangumi does not divide what the list divides, it has it there.
	Before []Place
}

// Seasons are the entries of AniDB or MyAnimeList with the seasons and episodes that they are at TheTVDB and TMDB, from a
// list that people keep (id-map.md sections 1, 2 and 6). They never change and may be used by several goroutines.
type Seasons struct {
	// Name and Version are those of the list, as they are told to people.
	Name, Version string
	// of is the site whose entries they are: aniDB or mal.
	of      site
	entries []anime // by id
	// series are the entries of each series of a site.
	series [numberings][]member
	// films are the entries of films, by their ids at IMDb and TMDB.
	films []filmID
	// keys are the folded names by their hash, readings those that can be read as Japanese.
	keys, readings []keyed
	seed           maphash.Seed
}

// anime is an entry of the list.
type anime struct {
	id   uint32
	at   [numberings]numbered
	name string
	rows []exception
}

// numbered is where the regular episodes of an entry stand at a site.
type numbered struct {
	series         uint32 // 0 when it is not there
	season, offset int16
}

// exception is what the list says of single episodes of an entry.
type exception struct {
	special bool
	// season is that of each site which the numbers on the right are of; unnumbered for a site that it says nothing of.
	season [numberings]int16
	// start to end are those that offset is added to; end is 0 when it is open, and start when there is no range. What
	// is in skip is not among them, and not counted.
	start, end, offset int16
	skip               []int16
	pairs              []pair
}

// pair is an episode of the entry and the one that it is at the site; 0 when there is none.
type pair struct{ own, there int16 }

// member leads from a series to a place in entries.
type member struct {
	series uint32
	entry  uint32
}

// filmID leads from an id of a film to an entry.
type filmID struct {
	imdb bool
	id   uint32
	// part is the number of the episode of the entry of that the film is.
	part uint16
	of   uint32
}

// index makes what look-ups need.
func (l *Seasons) index() {
	slices.SortFunc(l.entries, func(a, b anime) int { return cmp.Compare(a.id, b.id) })
	l.entries = slices.CompactFunc(l.entries, func(a, b anime) bool { return a.id == b.id })
	l.seed = maphash.MakeSeed()
	for i, a := range l.entries {
		for site, at := range a.at {
			if at.series != 0 {
				l.series[site] = append(l.series[site], member{at.series, uint32(i)})
			}
		}
		if key := title.Key(a.name); key != "" {
			l.keys = append(l.keys, keyed{l.hash(key), uint32(i)})
		}
		if reading, _ := title.Reading(a.name); reading != "" {
			l.readings = append(l.readings, keyed{l.hash(reading), uint32(i)})
		}
	}
	for _, series := range l.series {
		slices.SortStableFunc(series, func(a, b member) int { return cmp.Compare(a.series, b.series) })
	}
	l.keys, l.readings = sorted(l.keys), sorted(l.readings)
}

func (l *Seasons) hash(key string) uint32 { return uint32(maphash.String(l.seed, key)) }

// String is the list with its version, as it is told to people.
func (l *Seasons) String() string { return strings.TrimSpace(l.Name + " " + l.Version) }

// Site is the site that IDs of Places are of, as it is told to people.
func (l *Seasons) Site() string {
	if l.of == mal {
		return "MyAnimeList"
	}
	return "AniDB"
}

// Len is how many entries the list has.
func (l *Seasons) Len() int { return len(l.entries) }

// SeriesOf is the series of a site that an entry belongs to; 0 when it belongs to none. named is set when the title of
// the entry stands for a season of the series there: it begins the first season, or that season.
func (l *Seasons) SeriesOf(site Numbering, id uint32, season int) (series uint32, named bool) {
	a := l.entry(id)
	if a == nil {
		return 0, false
	}
	at := a.at[site]
	return at.series, at.season == through || at.offset <= 0 && (at.season == 1 || int(at.season) == season)
}

func (l *Seasons) entry(id uint32) *anime {
	at, found := slices.BinarySearchFunc(l.entries, id, func(a anime, id uint32) int { return cmp.Compare(a.id, id) })
	if !found {
		return nil
	}
	return &l.entries[at]
}

// ofSeries gives the entries of a series.
func (l *Seasons) ofSeries(site Numbering, series uint32) []*anime {
	if series == 0 {
		return nil
	}
	all := l.series[site]
	from, _ := slices.BinarySearchFunc(all, series, func(s member, id uint32) int { return cmp.Compare(s.series, id) })
	var found []*anime
	for _, s := range all[from:] {
		if s.series != series {
			break
		}
		found = append(found, &l.entries[s.entry])
	}
	return found
}

// Places gives what an episode of a series may be: single episodes that the list names, else those in a range that it
// names, else the entry of the season that begins last before the episode (id-map.md section 1, reverse look-up).
// Several are equally likely. The list does not tell how many episodes an entry has.
func (l *Seasons) Places(site Numbering, series uint32, season, episode int) []Place {
	entries := l.ofSeries(site, series)
	var places []Place
	for _, a := range entries {
		places = append(places, a.paired(site, season, episode)...)
	}
	if len(places) > 0 {
		if season == 0 && slices.ContainsFunc(places, func(p Place) bool { return !p.Special }) {
			return places
		}
		// Another entry may have the same episode by its season alone: a broadcast that was shown in another order, or
		// specials that AniDB has as an entry and as specials of another one.
		return append(places, slices.DeleteFunc(placesBySeason(entries, site, season, episode), func(p Place) bool {
			return slices.ContainsFunc(places, func(q Place) bool { return q.ID == p.ID })
		})...)
	}
	for _, a := range entries {
		places = append(places, a.ranged(site, season, episode)...)
	}
	if len(places) > 0 {
		return places
	}
	return placesBySeason(entries, site, season, episode)
}

// paired are the episodes of an entry that the list names for an episode of the site. Of several the ones that are
// this episode alone are taken: a film stands beside its parts.
func (a *anime) paired(site Numbering, season, episode int) []Place {
	var places, alone []Place
	for _, row := range a.rows {
		if int(row.season[site]) != season {
			continue
		}
		for _, p := range row.pairs {
			if int(p.there) != episode || episode == 0 {
				continue
			}
			place := a.place(int(p.own), row.special, fmt.Sprintf("S%dE%d = %d", season, episode, p.own))
			places = append(places, place)
			if !slices.ContainsFunc(row.pairs, func(other pair) bool { return other.own == p.own && other.there != p.there }) {
				alone = append(alone, place)
			}
		}
	}
	if len(alone) > 0 {
		return alone
	}
	return places
}

// ranged are the episodes of an entry by the ranges that the list names.
func (a *anime) ranged(site Numbering, season, episode int) []Place {
	var places []Place
	for _, row := range a.rows {
		own := episode - int(row.offset)
		if int(row.season[site]) != season || row.start == 0 || own < int(row.start) {
			continue
		}
		for _, skipped := range row.skip {
			if own >= int(skipped) {
				own++
			}
		}
		if row.end != 0 && own > int(row.end) {
			continue
		}
		places = append(places, a.place(own, row.special, fmt.Sprintf("S%d%+d (%d…)", season, row.offset, row.start)))
	}
	return places
}

// placesBySeason are the episodes by the seasons and offsets of the entries.
func placesBySeason(entries []*anime, site Numbering, season, episode int) []Place {
	own := slices.DeleteFunc(slices.Clone(entries), func(a *anime) bool {
		at := a.at[site]
		return int(at.season) != season || int(at.offset) >= episode
	})
	slices.SortStableFunc(own, func(a, b *anime) int { return cmp.Compare(b.at[site].offset, a.at[site].offset) })
	var places, before []Place
	for _, a := range own {
		offset := int(a.at[site].offset)
		place := a.place(episode-offset, false, fmt.Sprintf("S%d%+d", season, offset))
		switch {
		case a.excepts(site, place.Number):
		case a.at[site].offset == own[0].at[site].offset:
			places = append(places, place)
		default:
			before = append(before, place)
		}
	}
	for i := range places {
		places[i].Before = before
	}
	return places
}

// excepts reports whether the list says of a regular episode where it stands at the site.
func (a *anime) excepts(site Numbering, number int) bool {
	return slices.ContainsFunc(a.rows, func(row exception) bool {
		if row.special || row.season[site] == unnumbered {
			return false
		}
		if row.start != 0 && number >= int(row.start) && (row.end == 0 || number <= int(row.end)) {
			return true
		}
		return slices.ContainsFunc(row.pairs, func(p pair) bool { return int(p.own) == number })
	})
}

func (a *anime) place(number int, special bool, row string) Place {
	return Place{ID: a.id, Number: number, Special: special, Row: row}
}

// FilmOf gives the entries of a film, by its id at "imdb" or "tmdb", with the episode that it is.
func (l *Seasons) FilmOf(provider, id string) []Place {
	imdb := provider == "imdb"
	if imdb {
		id = strings.TrimPrefix(id, "tt")
	}
	wanted, ok := parseID(id)
	if !ok {
		return nil
	}
	var found []Place
	for _, f := range l.films {
		if f.imdb == imdb && f.id == wanted.id {
			found = append(found, l.entry(f.of).place(int(f.part), false, provider+" "+id))
		}
	}
	return found
}

// Knows reports whether the table or its lists have a show or a film, by ids that it has at other sites. Without lists, and without an
// id that they could have, it cannot tell and answers true.
func (t *Table) Knows(ids watch.IDs, film bool) bool {
	if len(t.Lists) == 0 || ids["tmdb"] == "" && ids["tvdb"] == "" && ids["imdb"] == "" {
		return true
	}
	for provider := range providers {
		if id := ids[provider]; id != "" && len(t.ByID(provider, id)) > 0 {
			return true
		}
	}
	if film {
		return len(t.Film(ids["tmdb"])) > 0 || slices.ContainsFunc(t.Lists, func(l *Seasons) bool {
			return len(l.FilmOf("imdb", ids["imdb"])) > 0 || len(l.FilmOf("tmdb", ids["tmdb"])) > 0
		})
	}
	return len(t.Show(ids["tmdb"])) > 0 || slices.ContainsFunc(t.Lists, func(l *Seasons) bool {
		for site, provider := range map[Numbering]string{TVDB: "tvdb", TMDB: "tmdb"} {
			if r, ok := parseID(ids[provider]); ok && len(l.ofSeries(site, r.id)) > 0 {
				return true
			}
		}
		return false
	})
}
