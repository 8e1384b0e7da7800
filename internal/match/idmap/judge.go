package idmap

import (
	"fmt"
	"slices"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/reason"
)

// The table says which subject an id leads to, and a release may change what its ids mean
// (0.3.219 did, id-map.md section 0). What is read wrongly then looks like many ids that lead
// elsewhere. So a fetched table serves only after it was held against the one in the program.

// judgedBy stands in a stored table that has passed: by which table, and by which form of the rules.
const judgedBy = Version + "/1"

const (
	// movesMost is the share of what both tables have that may lead elsewhere, movesAlways how much
	// always may. All releases from 0.3.208 to 0.3.222 moved less than a third of that.
	movesMost   = 0.005
	movesAlways = 10
	// shiftsMost is how many of the known parts may begin with another episode: TMDB divides shows anew.
	shiftsMost = 2
	// examplesMost is how many moves of a kind are told.
	examplesMost = 3
)

// errMeaning is what the texts of all refusals begin with.
var errMeaning = otherMeaning.With(Version)

// MoveKind is what leads elsewhere.
type MoveKind string

// The kinds.
const (
	MovedSeason  MoveKind = "season"  // the first episode of a season
	MovedPart    MoveKind = "part"    // a later episode, where several entries are one season
	MovedSpecial MoveKind = "special" // a special of a show
	MovedFilm    MoveKind = "film"
	MovedID      MoveKind = "id" // an id of MyAnimeList, AniDB or AniList
)

// Moved counts what a table leads elsewhere.
type Moved struct {
	Kind     MoveKind `json:"kind" enum:"season,part,special,film,id" doc:"What leads elsewhere: the first episode of a season, a later one where several entries are one season, a special, a film, or an id of MyAnimeList, AniDB or AniList."`
	Count    int      `json:"count"`
	Of       int      `json:"of" doc:"How many of that kind both tables have."`
	AtMost   int      `json:"at_most" doc:"How many may, before the table is refused."`
	Examples []Move   `json:"examples" doc:"The first few."`
}

// Move is an episode or a film that two tables lead to different subjects.
type Move struct {
	ID      string            `json:"id" doc:"The id at the other site, such as tmdb:tv/95479."`
	Season  int               `json:"season" doc:"0 for films and specials."`
	Episode int               `json:"episode" doc:"0 for films and ids of whole entries."`
	From    catalog.SubjectID `json:"from" doc:"The entry by the table in the program."`
	To      catalog.SubjectID `json:"to" doc:"The entry by the table that was refused."`
}

// Refusal is the error for a fetched table that may not serve, and what it leads elsewhere.
type Refusal struct {
	error
	Moved []Moved
}

// Unwrap gives what the refusal says.
func (r *Refusal) Unwrap() error { return r.error }

// known are shows that have been divided for long, by the subjects of a season and the
// episodes that they begin with.
var known = []struct {
	show   string
	season int
	begins []begin
}{
	{"890", 1, []begin{{1, 265}}},
	{"95479", 1, []begin{{1, 294993}, {25, 369304}, {48, 472741}}},
	{"209867", 1, []begin{{1, 400602}, {29, 515759}}},
	{"120089", 1, []begin{{1, 329906}, {13, 373267}}},
	{"94664", 1, []begin{{1, 277554}, {12, 325585}}},
	{"1429", 3, []begin{{1, 217300}, {13, 263750}}},
	{"30984", 2, []begin{{1, 302286}, {14, 412916}, {27, 457326}}},
	{"45790", 2, []begin{{1, 85631}, {25, 113292}}},
	{"45782", 4, []begin{{1, 279457}, {13, 292238}}},
	{"62745", 4, []begin{{1, 326874}, {12, 402223}}},
	{"82684", 2, []begin{{1, 278031}, {13, 302523}}},
}

type begin struct {
	episode int
	subject catalog.SubjectID
}

// Judge holds a table against t, which is known to be read rightly. The error is a *Refusal.
func (t *Table) Judge(next *Table) error {
	moved := t.moves(next)
	shifts := 0
	for _, k := range known {
		parts := Parts(next.Show(k.show), k.season)
		for _, episode := range []int{1, 5} {
			part, found := PartOf(parts, float64(episode))
			if first := k.begins[0].subject; found && part.leads(episode, first) {
				return &Refusal{knownWrong.With(errMeaning, k.show, k.season, episode, part.Entries[0].Subject, first), moved}
			}
		}
		for _, b := range k.begins {
			if slices.ContainsFunc(parts, func(p Part) bool {
				return len(p.Entries) == 1 && p.First > 1 && p.Entries[0].Subject == b.subject && p.First != b.episode
			}) {
				shifts++
			}
		}
	}
	if shifts > shiftsMost {
		return &Refusal{knownShifted.With(errMeaning, shifts), moved}
	}
	for _, m := range moved {
		if m.Count > m.AtMost {
			return &Refusal{m.refusal(), moved}
		}
	}
	return nil
}

// refusals say what too much of each kind is.
var refusals = map[MoveKind]*reason.Kind{
	MovedSeason: movedSeasons, MovedPart: movedParts, MovedSpecial: movedSpecials, MovedFilm: movedFilms, MovedID: movedIDs,
}

func (m Moved) refusal() error { return refusals[m.Kind].With(errMeaning, m.Count, m.Of, m.AtMost) }

// tally counts the moves of a kind, each show or id once.
type tally struct {
	of, count int
	examples  []Move
}

func (c *tally) add(move *Move) {
	c.of++
	if move == nil {
		return
	}
	if c.count++; len(c.examples) < examplesMost {
		c.examples = append(c.examples, *move)
	}
}

// moves is what next leads elsewhere than t, by kind.
func (t *Table) moves(next *Table) []Moved {
	tallies := map[MoveKind]*tally{}
	kinds := []MoveKind{MovedSeason, MovedPart, MovedSpecial, MovedFilm, MovedID}
	for _, kind := range kinds {
		tallies[kind] = &tally{}
	}
	names := map[site]string{tmdbFilm: "tmdb:movie/", mal: "mal:", aniDB: "anidb:", aniList: "anilist:"}
	for at := range sites {
		for links := t.sites[at]; len(links) > 0; {
			id := links[0].id
			own := links[:runOf(links)]
			links = links[len(own):]
			other := next.linksOf(at, id)
			if len(other) == 0 {
				continue
			}
			before, after := t.plainEntries(own), next.plainEntries(other)
			if at == tmdbShow {
				t.compareShow(fmt.Sprintf("tmdb:tv/%d", id), before, after, tallies)
				continue
			}
			kind := MovedID
			if at == tmdbFilm {
				kind = MovedFilm
			}
			tallies[kind].add(moveOf(wholeOf(before), wholeOf(after), 1, Move{ID: fmt.Sprint(names[at], id)}))
		}
	}
	moved := make([]Moved, 0, len(kinds))
	for _, kind := range kinds {
		c := tallies[kind]
		moved = append(moved, Moved{Kind: kind, Count: c.count, Of: c.of, AtMost: max(movesAlways, int(movesMost*float64(c.of))), Examples: append([]Move{}, c.examples...)})
	}
	return moved
}

// compareShow compares the seasons of a show that both tables have.
func (t *Table) compareShow(id string, before, after []Entry, tallies map[MoveKind]*tally) {
	seasons := []int{}
	for _, e := range before {
		season := e.Season
		if season == AnySeason {
			season = 1
		}
		if !slices.Contains(seasons, season) {
			seasons = append(seasons, season)
		}
	}
	for _, season := range seasons {
		old, now := Parts(before, season), Parts(after, season)
		if season == 0 { // specials are in no order: only where an entry begins says something
			for _, p := range old {
				if q, found := PartOf(now, float64(p.First)); found && q.First == p.First {
					tallies[MovedSpecial].add(moveOf(p, q, p.First, Move{ID: id, Episode: p.First}))
				}
			}
			continue
		}
		if len(old) == 0 || len(now) == 0 {
			continue
		}
		var later *Move
		for _, p := range slices.Concat(old, now) {
			for _, episode := range []int{p.First - 1, p.First} {
				if episode <= 1 || later != nil {
					continue
				}
				p, held := PartOf(old, float64(episode))
				q, holds := PartOf(now, float64(episode))
				if !held || !holds || slices.ContainsFunc(q.Entries, func(e Entry) bool { return !t.has(e.Subject) }) {
					continue // an entry that is new may well be what goes on behind the last one
				}
				later = moveOf(p, q, episode, Move{ID: id, Season: season, Episode: episode})
			}
		}
		if old[0].First == 1 && now[0].First == 1 {
			tallies[MovedSeason].add(moveOf(old[0], now[0], 1, Move{ID: id, Season: season, Episode: 1}))
		}
		if len(old) > 1 || len(now) > 1 {
			tallies[MovedPart].add(later)
		}
	}
}

// moveOf completes a move of an episode from p to q; nil when it may well be the same subject.
func moveOf(p, q Part, episode int, move Move) *Move {
	move.From, move.To = p.Entries[0].Subject, q.Entries[0].Subject
	one, known := p.lead(episode)
	two, sure := q.lead(episode)
	if hasSubject(p.Entries, q.Entries) && (!known || !sure || one == two) {
		return nil
	}
	return &move
}

// lead is the subject that an episode of the part is of, as far as the table tells: of several that share
// the part the first one begins it.
func (p Part) lead(episode int) (catalog.SubjectID, bool) {
	return p.Entries[0].Subject, len(p.Entries) == 1 || episode <= p.First
}

// leads reports whether an episode of the part leads elsewhere than to want.
func (p Part) leads(episode int, want catalog.SubjectID) bool {
	lead, sure := p.lead(episode)
	return sure && lead != want || !hasSubject(p.Entries, []Entry{{Subject: want}})
}

func hasSubject(entries, of []Entry) bool {
	return slices.ContainsFunc(entries, func(e Entry) bool {
		return slices.ContainsFunc(of, func(o Entry) bool { return o.Subject == e.Subject })
	})
}

// wholeOf is the entries of an id that stands for whole entries.
func wholeOf(entries []Entry) Part {
	slices.SortStableFunc(entries, func(a, b Entry) int { return a.Begin.Time().Compare(b.Begin.Time()) })
	return Part{First: 1, Entries: entries}
}
