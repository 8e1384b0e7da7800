package dumptest

import "slices"

type role uint8

const (
	season role = iota
	film
	ova
	special
	recap
)

// A group is a franchise: its seasons in order, then its extras, which are
// members[first:first+size] of the plan.
type group struct {
	first, size, seasons int32
	anime                bool
}

// A plan holds what rows have to know of each other: it is made whole before
// any row and takes a few dozen bytes for every watchable subject.
type plan struct {
	Spec
	groups []group
	// By position in groups: the number of the watchable subject.
	members []int32
	// By number of the watchable subject.
	groupOf  []int32
	placeOf  []uint8
	roleOf   []role
	platform []int16
	// By index of the subject: its episode rows.
	rows []int32
	// The franchise a book has its title from, by index of the book.
	bookOf map[int]int32
	// The book of a franchise, by group.
	book map[int32]int
}

func newPlan(s Spec) *plan {
	p := &plan{Spec: s.clean(), bookOf: map[int]int32{}, book: map[int32]int{}}
	d := newDice(p.Seed)
	d.reset(forPlan, 0)
	p.planGroups(d)
	p.planBooks(d)
	p.planEpisodes(d)
	return p
}

// planGroups shares the watchable subjects out to franchises whose members
// lie far apart in the file.
func (p *plan) planGroups(d *dice) {
	n := p.Watchable
	p.members = make([]int32, n)
	p.groupOf = make([]int32, n)
	p.placeOf = make([]uint8, n)
	p.roleOf = make([]role, n)
	p.platform = make([]int16, n)
	stride := coprimeNear(n*618/1000, n)
	for at := range n {
		p.members[at] = int32(at * stride % n)
	}
	for at := 0; at < n; {
		seasons, extras := 1, 0
		switch {
		case d.permille(200):
			seasons = 2 + min(d.IntN(4), d.IntN(4))
			extras = d.IntN(3)
		case d.permille(120):
			extras = 1 + d.IntN(2)
		}
		size := min(seasons+extras, n-at)
		g := group{int32(at), int32(size), int32(min(seasons, size)), d.permille(450)}
		p.addGroup(d, g)
		at += size
	}
}

func (p *plan) addGroup(d *dice, g group) {
	number := int32(len(p.groups))
	p.groups = append(p.groups, g)
	members := p.members[g.first : g.first+g.size]
	slices.Sort(members)
	for place, w := range members {
		r := season
		if place >= int(g.seasons) {
			r = pick(d, []role{film, film, ova, ova, special, recap})
		}
		p.groupOf[w] = number
		p.placeOf[w] = uint8(place)
		p.roleOf[w] = r
		p.platform[w] = drawPlatform(d, g, r)
	}
}

func drawPlatform(d *dice, g group, r role) int16 {
	switch {
	case r == film && g.anime:
		return 3
	case r == film:
		return 6002
	case g.anime && r != season:
		return pick(d, []int16{2, 2, 2, 5, 1})
	case r != season:
		return pick(d, []int16{0, 6001, 6002, 6003, 1})
	case g.anime && g.size == 1:
		return pick(d, []int16{1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 5, 5, 5, 0, 2006, 4})
	case g.anime:
		return pick(d, []int16{1, 1, 1, 1, 1, 1, 1, 5, 5, 2006})
	case g.size == 1:
		return pick(d, []int16{1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3, 6001, 6002, 6002, 6002, 6002, 6002, 6004, 6003, 0})
	default:
		return pick(d, []int16{1, 2, 2, 2, 3, 3, 6001, 6004})
	}
}

// planBooks gives every third franchise the book it is made from.
func (p *plan) planBooks(d *dice) {
	if p.Watchable == 0 {
		return
	}
	for number, g := range p.groups {
		if d.IntN(3) > 0 {
			continue
		}
		near := p.watchableIndex(int(p.members[g.first]))
		for i := max(0, near-40); i < min(p.Subjects, near+40); i++ {
			if _, taken := p.bookOf[i]; !taken && p.typeOf(i) == 1 {
				p.bookOf[i] = int32(number)
				p.book[int32(number)] = i
				break
			}
		}
	}
}

func (p *plan) typeOf(i int) int {
	w, ok := p.watchableAt(i)
	switch {
	case !ok:
		return p.otherType(i)
	case p.groups[p.groupOf[w]].anime:
		return 2
	default:
		return 6
	}
}

// orphanRows is how many episodes belong to subjects which are not in the
// dump.
func (p *plan) orphanRows() int {
	if p.Subjects == 0 {
		return p.Episodes
	}
	return p.Episodes * 4 / 1000
}

// planEpisodes shares the rows of episode.jsonlines out to the subjects, so
// that with the orphans they are exactly as many as asked for: what the
// other shows leave goes to the long-running ones.
func (p *plan) planEpisodes(d *dice) {
	p.rows = make([]int32, p.Subjects)
	left := p.Episodes - p.orphanRows()
	music := p.Episodes * 4 / 100
	// An album has ten tracks in the mean and one subject in six is music.
	step := max(1, p.Subjects/6*10/max(1, music))
	for i := 0; i < p.Subjects && music > 0; i++ {
		if p.typeOf(i) != 3 || d.IntN(step) > 0 {
			continue
		}
		n := min(1+d.IntN(20), music)
		p.rows[i] = int32(n)
		music -= n
		left -= n
	}
	var long []int
	for w := range p.Watchable {
		i := p.watchableIndex(w)
		if p.longRunning(d, w) {
			long = append(long, i)
			continue
		}
		n := min(p.drawRows(d, w), left)
		p.rows[i] = int32(n)
		left -= n
	}
	switch {
	case len(long) > 0 || p.Subjects == 0:
	case p.Watchable > 0:
		long = append(long, p.watchableIndex(0))
	default:
		long = append(long, 0)
	}
	p.shareLong(d, long, left)
}

func (p *plan) longRunning(d *dice, w int) bool {
	g := p.groups[p.groupOf[w]]
	return g.size == 1 && !oneOff(p.platform[w]) && d.permille(60)
}

func oneOff(platform int16) bool {
	return platform == 3 || platform == 6002 || platform == 6003
}

// shareLong spreads rows over the long-running shows unevenly; some get many
// times as much as most.
func (p *plan) shareLong(d *dice, long []int, rows int) {
	weights := make([]int, len(long))
	sum := 0
	for k := range long {
		weights[k] = 20 + d.IntN(80)
		if d.permille(30) {
			weights[k] *= 5
		}
		sum += weights[k]
	}
	done, weight := 0, 0
	for k, i := range long {
		weight += weights[k]
		n := rows*weight/sum - done
		p.rows[i] += int32(n)
		done += n
	}
}

func (p *plan) drawRows(d *dice, w int) int {
	anime := p.groups[p.groupOf[w]].anime
	switch {
	case d.permille(40):
		return 0
	case oneOff(p.platform[w]):
		return pick(d, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 2})
	case p.roleOf[w] != season || anime && p.platform[w] == 2:
		return pick(d, []int{1, 1, 1, 2, 2, 3, 4, 6})
	case anime:
		return pick(d, []int{12, 12, 12, 12, 12, 12, 12, 13, 13, 13, 13, 10, 11, 24, 24, 25, 26, 14, 39, 52})
	default:
		return pick(d, []int{8, 9, 10, 10, 10, 11, 11, 12, 12, 13, 16, 16, 20, 20, 22, 24, 24, 30, 36, 40})
	}
}

func coprimeNear(k, n int) int {
	gcd := func(a, b int) int {
		for b != 0 {
			a, b = b, a%b
		}
		return a
	}
	k = max(1, k)
	for gcd(k, n) > 1 {
		k++
	}
	return k
}
