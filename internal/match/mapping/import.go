package mapping

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
)

// Set is mappings and blocked keywords that come together.
type Set struct {
	Mappings []Mapping
	Blocked  []Blocked
}

// Fate is what an import does with one of a Set.
type Fate string

// The fates. Same leaves what is there alone.
const (
	Added   Fate = "added"
	Changed Fate = "changed"
	Same    Fate = "same"
	Refused Fate = "refused"
)

// Line is what becomes of one mapping or blocked keyword of a Set.
type Line struct {
	Fate Fate
	// Was is the mapping that a changed one takes the place of.
	Was *Mapping
	// Problem says why it is refused.
	Problem *reason.FieldError
}

// Plan is what becomes of each of a Set, in its order.
type Plan struct {
	Mappings, Blocked []Line
}

// Tally counts the fates.
type Tally struct {
	Added   int `json:"added"`
	Changed int `json:"changed"`
	Same    int `json:"same"`
	Refused int `json:"refused"`
}

// Tally counts what becomes of a Set.
func (p Plan) Tally() (t Tally) {
	for _, lines := range [][]Line{p.Mappings, p.Blocked} {
		for _, line := range lines {
			switch line.Fate {
			case Added:
				t.Added++
			case Changed:
				t.Changed++
			case Same:
				t.Same++
			case Refused:
				t.Refused++
			}
		}
	}
	return t
}

// PlanImport is what Import would do; nothing is written. It returns ErrFull and ErrExpressions as that does.
func (s *Store) PlanImport(ctx context.Context, set Set) (Plan, error) {
	before, err := countTx(ctx, s.db.Read())
	if err != nil {
		return Plan{}, err
	}
	p, _, err := plan(ctx, s.db.Read(), set)
	if err != nil {
		return Plan{}, err
	}
	person := madeBy(ctx)
	sum := before[person]
	for i, m := range set.Mappings {
		if p.Mappings[i].Fate == Added {
			sum.Mappings++
			if m.Regex {
				sum.expressions++
			}
		}
	}
	for i, b := range set.Blocked {
		if p.Blocked[i].Fate == Added {
			sum.Blocked++
			if b.Kind == Regex {
				sum.blockedExpressions++
			}
		}
	}
	return p, checkGrowth(before, map[int64]Counts{person: sum})
}

// Import adds the mappings of a Set for whoever asks, or in the scope of everything for all, or puts them in the place of those there are for the same title,
// season, form and episode, and adds its blocked keywords, all or nothing. What it
// writes is ByImport. The *reason.FieldError of a refused one names its place; other errors are ErrFull and ErrExpressions.
func (s *Store) Import(ctx context.Context, set Set) (Plan, error) {
	var done Plan
	err := s.Change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		p, alike, err := plan(ctx, tx, set)
		if err != nil {
			return err
		}
		if err := p.refusal(); err != nil {
			return err
		}
		done = p
		for i, m := range set.Mappings {
			if p.Mappings[i].Fate == Same {
				continue
			}
			m.Origin, m.PersonID = ByImport, madeBy(ctx)
			if _, err := replaceTx(ctx, tx, m, alike[m.slot()]); err != nil {
				return err
			}
		}
		for i, b := range set.Blocked {
			if p.Blocked[i].Fate != Added {
				continue
			}
			b.Source, b.PersonID = ByImport, madeBy(ctx)
			if _, _, err := BlockTx(ctx, tx, b); err != nil {
				return err
			}
		}
		return nil
	})
	return done, err
}

// refusal is the problem of the first refused one, with its place; nil when none is.
func (p Plan) refusal() error {
	for _, list := range []struct {
		name  string
		lines []Line
	}{{"mappings", p.Mappings}, {"blocked_keywords", p.Blocked}} {
		for i, line := range list.lines {
			if line.Problem != nil {
				return reason.At(fmt.Sprintf("%s[%d].%s", list.name, i, line.Problem.Field), line.Problem.What)
			}
		}
	}
	return nil
}

// plan finds out what becomes of a Set, and which mappings are there for the slots.
func plan(ctx context.Context, r db.Querier, set Set) (p Plan, alike map[slot][]Mapping, err error) {
	person := madeBy(ctx)
	mappings, blocked, err := ownOf(ctx, r, person)
	if err != nil {
		return p, nil, err
	}
	alike = map[slot][]Mapping{}
	for _, m := range mappings {
		alike[m.slot()] = append(alike[m.slot()], m)
	}
	seen := map[slot]bool{}
	for _, m := range set.Mappings {
		m.PersonID = person
		line := lineOf(m, alike[m.slot()], seen[m.slot()])
		seen[m.slot()] = seen[m.slot()] || line.Fate != Refused
		p.Mappings = append(p.Mappings, line)
	}
	type rule struct {
		keyword string
		kind    BlockKind
	}
	there, twice := map[rule]bool{}, map[rule]bool{}
	for _, b := range blocked {
		there[rule{b.Keyword, b.Kind}] = true
	}
	for _, b := range set.Blocked {
		is := rule{b.Keyword, b.Kind}
		line := Line{Fate: Added}
		if there[is] {
			line.Fate = Same
		}
		if twice[is] {
			line = Line{Fate: Refused, Problem: reason.At("keyword", keywordTwice)}
		}
		twice[is] = true
		p.Blocked = append(p.Blocked, line.unless(b.check()))
	}
	return p, alike, nil
}

// lineOf is what becomes of m, for the slot of which there are those alike.
func lineOf(m Mapping, alike []Mapping, twice bool) Line {
	line := Line{Fate: Added}
	if len(alike) > 0 {
		line = Line{Fate: Changed, Was: &alike[0]}
		if m.asImported() == alike[0].asImported() {
			line.Fate = Same
		}
	}
	if twice {
		line = Line{Fate: Refused, Problem: reason.At("title", titleTwice)}
	}
	return line.unless(m.check())
}

// imported is what an import may change of the mapping of a slot.
type imported struct {
	subject     int
	offset      int
	firstSeason bool
	note        string
}

func (m Mapping) asImported() imported {
	return imported{int(m.SubjectID), m.EpisodeOffset, m.FirstSeason && m.Season == nil, m.Note}
}

// unless is the line, refused when err is a *reason.FieldError.
func (l Line) unless(err error) Line {
	var field *reason.FieldError
	if errors.As(err, &field) {
		return Line{Fate: Refused, Problem: field}
	}
	return l
}
