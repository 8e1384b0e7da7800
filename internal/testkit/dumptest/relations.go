package dumptest

import (
	"cmp"
	"slices"
)

// A relation says that subject b is the code of subject a; both are ids.
type relation struct {
	a, b int32
	code int16
}

var (
	// Codes between unrelated shows with those of the reverse row; 0 is for no
	// such row.
	looseCodes = [][2]int16{{7, 7}, {8, 8}, {9, 9}, {10, 10}, {14, 14}, {99, 99}, {99, 0}, {14, 0}}
	// Codes by the type of the related subject.
	otherCodes = map[int][]int16{
		1: {1002, 1003, 1003, 1003, 1004, 1005, 1006, 1007, 1008, 1010, 1011, 1012, 1013, 1014, 1015, 1099, 1},
		3: {3001, 3002, 3003, 3004, 3005, 3006, 3007, 3099},
		4: {4002, 4003, 4006, 4007, 4008, 4009, 4010, 4012, 4014, 4015, 4016, 4017, 4018, 4019, 4099, 1},
	}
)

// relations gives the rows of subject-relations.jsonlines in order: as many
// as asked for, those of the franchises first if they are too many.
func (p *plan) relations() []relation {
	d := newDice(p.Seed)
	d.reset(forRelations, 0)
	all := make([]relation, 0, p.Relations+64)
	if p.Watchable > 0 {
		all = p.franchiseRelations(d, all)
	}
	if p.Subjects == 0 {
		return nil
	}
	for len(all) < p.Relations {
		all = p.appendOthers(d, all)
	}
	all = all[:p.Relations]
	slices.SortStableFunc(all, func(a, b relation) int { return cmp.Compare(a.a, b.a) })
	return all
}

func (p *plan) memberID(g group, place int) int32 {
	return int32(subjectID(p.watchableIndex(int(p.members[int(g.first)+place]))))
}

func (p *plan) franchiseRelations(d *dice, all []relation) []relation {
	both := func(a, b int32, code, reverse int16) {
		all = append(all, relation{a, b, code})
		if reverse != 0 {
			all = append(all, relation{b, a, reverse})
		}
		if d.permille(4) {
			all = append(all, relation{a, b, pick(d, []int16{code, 99})})
		}
	}
	for number, g := range p.groups {
		if len(all) >= p.Relations {
			break
		}
		for place := 1; place < int(g.seasons); place++ {
			both(p.memberID(g, place-1), p.memberID(g, place), 3, 2)
		}
		for place := int(g.seasons); place < int(g.size); place++ {
			code, reverse := int16(6), int16(12)
			switch p.roleOf[p.members[int(g.first)+place]] {
			case film:
				codes := pick(d, [][2]int16{{6, 12}, {11, 12}, {3, 2}, {10, 10}})
				code, reverse = codes[0], codes[1]
			case recap:
				code, reverse = 4, 5
			case special:
				codes := pick(d, [][2]int16{{6, 12}, {11, 12}, {99, 99}})
				code, reverse = codes[0], codes[1]
			}
			both(p.memberID(g, d.IntN(int(g.seasons))), p.memberID(g, place), code, reverse)
		}
		if book, ok := p.book[int32(number)]; ok {
			both(p.memberID(g, 0), int32(subjectID(book)), 1, 1)
		}
		if i := p.watchableIndex(d.IntN(p.Watchable)); d.permille(80) {
			codes := pick(d, looseCodes)
			both(p.memberID(g, 0), int32(subjectID(i)), codes[0], codes[1])
		}
		if d.permille(4) {
			all = append(all, relation{p.memberID(g, 0), int32(missingID(d, p.Subjects)), pick(d, []int16{1, 3, 6, 99})})
		}
	}
	return all
}

// appendOthers relates a subject which is not watchable to one near it or,
// music, to an anime it is from.
func (p *plan) appendOthers(d *dice, all []relation) []relation {
	i := d.IntN(p.Subjects)
	k := min(p.Subjects-1, i+1+d.IntN(12))
	a, b := p.typeOf(i), p.typeOf(k)
	from, to := int32(subjectID(i)), int32(subjectID(k))
	switch {
	case d.permille(2):
		return append(all, relation{from, int32(missingID(d, p.Subjects)), 1003})
	case (a == 2 || a == 6) && b == 3:
		return append(all, relation{from, to, pick(d, otherCodes[3])}, relation{to, from, 1})
	case a == 2 || a == 6 || b == 2 || b == 6 || i == k:
		if p.Watchable+2 > p.Subjects {
			return append(all, relation{from, int32(missingID(d, p.Subjects)), 99})
		}
		return all
	}
	all = append(all, relation{from, to, pick(d, otherCodes[b])})
	if d.permille(900) {
		all = append(all, relation{to, from, pick(d, otherCodes[a])})
	}
	return all
}

// appendRelation appends a row; order is its place among the rows of its
// subject.
func appendRelation(b []byte, r relation, order int) []byte {
	b = appendInt(b, `{"subject_id":`, int(r.a))
	b = appendInt(b, `,"relation_type":`, int(r.code))
	b = appendInt(b, `,"related_subject_id":`, int(r.b))
	b = appendInt(b, `,"order":`, order)
	return append(b, '}', '\n')
}
