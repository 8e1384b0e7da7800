// Package dumptest makes synthetic weekly dumps of the catalog site, of any
// size and shaped like the real ones, for tests and benchmarks. The same Spec
// always gives the same bytes.
package dumptest

import "math"

// A Spec says how large a dump is and which of the endless dumps of that size
// it is.
type Spec struct {
	// Seed tells apart dumps of the same size.
	Seed uint64
	// Subjects is the number of rows of subject.jsonlines.
	Subjects int
	// Watchable is how many of Subjects are anime (type 2) or live action
	// (type 6); more than Subjects counts as Subjects.
	Watchable int
	// Episodes is the number of rows of episode.jsonlines.
	Episodes int
	// Relations is the number of rows of subject-relations.jsonlines.
	Relations int
}

// full is of the size of a real dump.
var full = Spec{Seed: 1, Subjects: 600_000, Watchable: 130_000, Episodes: 2_000_000, Relations: 600_000}

// Scaled returns a Spec of the shape of a real dump with ratio times its rows,
// but at least some of each kind.
func Scaled(ratio float64) Spec {
	scale := func(n, least int) int {
		return max(least, int(math.Round(float64(n)*ratio)))
	}
	return Spec{
		Seed:      full.Seed,
		Subjects:  scale(full.Subjects, 40),
		Watchable: scale(full.Watchable, 10),
		Episodes:  scale(full.Episodes, 150),
		Relations: scale(full.Relations, 40),
	}
}

func (s Spec) clean() Spec {
	s.Subjects = max(0, s.Subjects)
	s.Watchable = min(max(0, s.Watchable), s.Subjects)
	s.Episodes = max(0, s.Episodes)
	s.Relations = max(0, s.Relations)
	return s
}

// Every twelfth id is missing, as the ids of merged subjects are in real
// dumps.
func subjectID(i int) int { return 1 + i + i/11 }

// missingID gives an id which is not in a dump with that many subjects.
func missingID(d *dice, subjects int) int {
	if subjects < 23 {
		return 12 * (subjects + 1)
	}
	return 12 * (1 + d.IntN((subjects-1)/11))
}

// watchableAt tells whether subject i is watchable and how many watchable
// subjects come before it.
func (s Spec) watchableAt(i int) (number int, ok bool) {
	number = i * s.Watchable / s.Subjects
	return number, (i+1)*s.Watchable/s.Subjects > number
}

// watchableIndex is the inverse of watchableAt.
func (s Spec) watchableIndex(number int) int {
	return ((number+1)*s.Subjects+s.Watchable-1)/s.Watchable - 1
}

// otherType gives the type of a subject which is not watchable.
func (s Spec) otherType(i int) int {
	switch h := mix(s.Seed^mix(uint64(i))) % 100; {
	case h < 62:
		return 1
	case h < 82:
		return 3
	default:
		return 4
	}
}
