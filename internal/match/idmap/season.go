package idmap

import (
	"cmp"
	"slices"
)

// Part is a stretch of a season of a TMDB show, with the entries that it is.
type Part struct {
	// First is the episode of the season that the part begins with, Next the one that the
	// part after it begins with; 0 after the last one, whose end the table does not tell.
	First, Next int
	// Entries are the earliest first. Several share the part where the table does not tell
	// with which episode each of them begins.
	Entries []Entry
}

// Parts divides a season of a show, as Show gives it, by the episodes that its entries begin
// with. An entry of the whole show is the first season, from its first episode on, unless
// an entry names that very place (id-map.md section 0). There are no parts of a season that the table does not have.
func Parts(show []Entry, season int) []Part {
	own := slices.DeleteFunc(slices.Clone(show), func(e Entry) bool { return e.Season != season })
	if season == 1 && !slices.ContainsFunc(own, func(e Entry) bool { return e.first() == 1 }) {
		for _, e := range show {
			if e.Season == AnySeason {
				own = append(own, e)
			}
		}
	}
	slices.SortStableFunc(own, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.first(), b.first()), a.Begin.Time().Compare(b.Begin.Time()))
	})
	var parts []Part
	for _, e := range own {
		if n := len(parts); n == 0 || parts[n-1].First != e.first() {
			if n > 0 {
				parts[n-1].Next = e.first()
			}
			parts = append(parts, Part{First: e.first()})
		}
		last := &parts[len(parts)-1]
		last.Entries = append(last.Entries, e)
	}
	return parts
}

// PartOf is the part that an episode of the season lies in; ok is false for one before all
// of them. Episode 0 belongs to episode 1.
func PartOf(parts []Part, episode float64) (part Part, ok bool) {
	for _, p := range parts {
		if float64(p.First) <= max(episode, 1) {
			part, ok = p, true
		}
	}
	return part, ok
}

// first is the episode of its season that the entry begins with.
func (e Entry) first() int { return max(e.Episode, 1) }
