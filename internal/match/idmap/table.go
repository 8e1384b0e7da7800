package idmap

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
	"unicode/utf8"

	"watchmark/internal/catalog"
	"watchmark/internal/watch/title"
)

// Table is the table in memory. It never changes and may be used by several goroutines.
type Table struct {
	head    Head
	entries []entry // by subject, each subject once
	// text is all titles, ends where each of them ends in it.
	text string
	ends []uint32
	// sites are the ids of each site in order.
	sites [sites][]link
	// keys are the folded titles of all entries by their hash, readings those that can be read as Japanese.
	keys, readings []keyed
	seed           maphash.Seed
	// own are the ids of each entry at the sites that Entry has fields for.
	own []ownIDs
	// Lists are how other sites number seasons, the one that is believed first; empty while there is no list.
	Lists []*Seasons
}

// ownIDs are the ids of an entry, 0 where it has none.
type ownIDs struct{ aniDB, mal, show uint32 }

// entry is a subject; its titles go from number titles to that of the next entry.
type entry struct {
	subject, begin, titles uint32
	minute                 uint32 // as packBroadcast gives it, period too
	period                 uint16
	kind                   uint8
}

// link leads from an id to a place in entries.
type link struct {
	entry uint32
	reference
}

// keyed leads from the hash of a folded title to a place in entries.
type keyed struct{ hash, entry uint32 }

// index makes what look-ups need and a packed table does not hold.
func (t *Table) index() {
	for _, links := range t.sites {
		slices.SortFunc(links, func(a, b link) int {
			return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.season, b.season), cmp.Compare(a.episode, b.episode), cmp.Compare(a.entry, b.entry))
		})
	}
	t.own = make([]ownIDs, len(t.entries))
	for _, l := range slices.Backward(t.sites[aniDB]) {
		t.own[l.entry].aniDB = l.id
	}
	for _, l := range slices.Backward(t.sites[mal]) {
		t.own[l.entry].mal = l.id
	}
	for _, l := range slices.Backward(t.sites[tmdbShow]) {
		t.own[l.entry].show = l.id
	}
	// Titles are folded here and not in the packed table, which so outlives a change of the folding.
	t.seed = maphash.MakeSeed()
	t.keys = make([]keyed, 0, len(t.ends))
	for i := range t.entries {
		for _, text := range t.titles(i) {
			t.keys = append(t.keys, keyed{t.hash(title.Key(text)), uint32(i)})
			if reading, _ := title.Reading(text); reading != "" {
				t.readings = append(t.readings, keyed{t.hash(reading), uint32(i)})
			}
		}
	}
	t.keys, t.readings = sorted(t.keys), sorted(t.readings)
}

// sorted puts keys in their order, each once.
func sorted(keys []keyed) []keyed {
	slices.SortFunc(keys, func(a, b keyed) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.entry, b.entry)) })
	return slices.Clip(slices.Compact(keys))
}

// entriesAt are the places that keys have for a hash.
func entriesAt(keys []keyed, hash uint32) []uint32 {
	from, _ := slices.BinarySearchFunc(keys, hash, func(k keyed, hash uint32) int { return cmp.Compare(k.hash, hash) })
	var places []uint32
	for _, k := range keys[from:] {
		if k.hash != hash {
			break
		}
		places = append(places, k.entry)
	}
	return places
}

func (t *Table) hash(key string) uint32 { return uint32(maphash.String(t.seed, key)) }

// Version is the release of bangumi-data, or the beginning of a digest where that is not known.
func (t *Table) Version() string { return t.head.Version }

// Len is how many subjects the table has.
func (t *Table) Len() int { return len(t.entries) }

// Show gives the entries that a show of TMDB (id is its number) stands for, by season: those of the whole show
// (AnySeason) first, then its specials and seasons. Parts tells which episodes they are. It is empty for an id that is not in the table.
func (t *Table) Show(id string) []Entry { return t.find(tmdbShow, id) }

// Film gives the entries that a film of TMDB stands for; see Show for films that TMDB
// counts to the specials of a show.
func (t *Table) Film(id string) []Entry { return t.find(tmdbFilm, id) }

// ByID gives the entries that an id of a site stands for which numbers subjects, not
// shows: "mal" (or "myanimelist"), "anidb", "anilist", in any case. Other sites have none; TMDB is asked by Show
// and Film.
func (t *Table) ByID(provider, id string) []Entry {
	at, known := providers[strings.ToLower(provider)]
	if !known {
		return nil
	}
	return t.find(at, id)
}

// ByTitle gives the entries, by subject, that have a title whose title.Key is that of text.
func (t *Table) ByTitle(text string) []Entry {
	key := title.Key(text)
	if key == "" {
		return nil
	}
	var found []Entry
	for _, at := range entriesAt(t.keys, t.hash(key)) {
		if slices.ContainsFunc(t.titles(int(at)), func(own string) bool { return title.Key(own) == key }) {
			found = append(found, t.entry(link{entry: at, reference: reference{season: AnySeason}}))
		}
	}
	return found
}

// Titled gives the entries that have a title whose title.Key is that of text, or whose main title at AniDB has. Where there are
// no such, those that are read alike: kana and the ways to write them in Latin letters.
func (t *Table) Titled(text string) []Entry {
	found := t.ByTitle(text)
	for _, list := range t.Lists {
		found = t.addListed(found, list, entriesAt(list.keys, list.hash(title.Key(text))), func(name string) bool { return title.Key(name) == title.Key(text) })
	}
	wanted, _ := title.Reading(text)
	if len(found) > 0 || utf8.RuneCountInString(wanted) < shortestReading {
		return found
	}
	isRead := func(name string) bool {
		reading, _ := title.Reading(name)
		return reading == wanted
	}
	for _, at := range entriesAt(t.readings, t.hash(wanted)) {
		if slices.ContainsFunc(t.titles(int(at)), isRead) {
			e := t.entry(link{entry: at, reference: reference{season: AnySeason}})
			e.Titles = append(e.Titles, text)
			found = append(found, e)
		}
	}
	for _, list := range t.Lists {
		before := len(found)
		found = t.addListed(found, list, entriesAt(list.readings, list.hash(wanted)), isRead)
		for i := range found[before:] {
			found[before+i].Titles = append(found[before+i].Titles, text)
		}
	}
	return found
}

// shortestReading is how many kana a reading must have to tell titles apart.
const shortestReading = 4

// addListed adds the entries that the rows of a list at places are, if fits holds for their name.
func (t *Table) addListed(found []Entry, list *Seasons, places []uint32, fits func(name string) bool) []Entry {
	for _, at := range places {
		row := list.entries[at]
		if !fits(row.name) {
			continue
		}
		for _, e := range t.EntriesOf(list, row.id) {
			if !hasSubject(found, []Entry{e}) {
				e.Titles = append(e.Titles, row.name)
				found = append(found, e)
			}
		}
	}
	return found
}

// EntriesOf gives the entries that an entry of a list is, the earliest first.
func (t *Table) EntriesOf(list *Seasons, id uint32) []Entry {
	entries := t.entriesOf(list.of, id)
	slices.SortStableFunc(entries, func(a, b Entry) int { return a.Begin.Time().Compare(b.Begin.Time()) })
	return entries
}

// IDOf is the id of an entry at the site that a list is of; 0 when the table has none.
func (e Entry) IDOf(list *Seasons) uint32 {
	if list.of == mal {
		return e.MAL
	}
	return e.AniDB
}

func (t *Table) find(at site, text string) []Entry {
	wanted, ok := parseID(text)
	if !ok {
		return nil
	}
	return t.entriesOf(at, wanted.id)
}

func (t *Table) entriesOf(at site, id uint32) []Entry {
	var found []Entry
	for _, l := range t.linksOf(at, id) {
		found = append(found, t.entry(l))
	}
	return found
}

// linksOf is what a site has for an id.
func (t *Table) linksOf(at site, id uint32) []link {
	links := t.sites[at]
	from, _ := slices.BinarySearchFunc(links, id, func(l link, id uint32) int { return cmp.Compare(l.id, id) })
	if from == len(links) || links[from].id != id {
		return nil
	}
	return links[from : from+runOf(links[from:])]
}

// runOf is how many of links, from the first on, have its id.
func runOf(links []link) int {
	n := 1
	for n < len(links) && links[n].id == links[0].id {
		n++
	}
	return n
}

func (t *Table) entry(l link) Entry {
	e := t.plainEntry(l)
	e.Titles = t.titles(int(l.entry))
	return e
}

// plainEntry is an entry without its titles.
func (t *Table) plainEntry(l link) Entry {
	e := t.entries[l.entry]
	return Entry{
		Subject: catalog.SubjectID(e.subject), Kind: kinds[e.kind], Begin: unpackDate(e.begin),
		Season: int(l.season), Episode: int(l.episode), AniDB: t.own[l.entry].aniDB, MAL: t.own[l.entry].mal, Show: t.own[l.entry].show,
	}
}

func (t *Table) plainEntries(links []link) []Entry {
	entries := make([]Entry, 0, len(links))
	for _, l := range links {
		entries = append(entries, t.plainEntry(l))
	}
	return entries
}

// Entry gives the entry of a subject, without its titles.
func (t *Table) Entry(subject catalog.SubjectID) (e Entry, ok bool) {
	at, ok := t.place(subject)
	if !ok {
		return Entry{}, false
	}
	return t.plainEntry(link{entry: uint32(at), reference: reference{season: AnySeason}}), true
}

// has reports whether the table has a subject.
func (t *Table) has(subject catalog.SubjectID) bool {
	_, found := t.place(subject)
	return found
}

// place is where a subject is in entries.
func (t *Table) place(subject catalog.SubjectID) (at int, found bool) {
	return slices.BinarySearchFunc(t.entries, uint32(subject), func(e entry, id uint32) int { return cmp.Compare(e.subject, id) })
}

// titles are those of the entry at a place, parts of the one text.
func (t *Table) titles(i int) []string {
	from, to := t.entries[i].titles, uint32(len(t.ends))
	if i+1 < len(t.entries) {
		to = t.entries[i+1].titles
	}
	titles := make([]string, 0, to-from)
	for n := from; n < to; n++ {
		start := uint32(0)
		if n > 0 {
			start = t.ends[n-1]
		}
		titles = append(titles, t.text[start:t.ends[n]])
	}
	return titles
}
