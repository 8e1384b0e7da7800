package dumptest

import (
	"cmp"
	"slices"
	"strconv"
)

// A stray is an episode away from the others of its subject: one of a
// long-running show, added when it was aired, or an orphan.
type stray struct {
	after   int32 // the subject whose own episodes it comes after
	subject int32 // its index, or -1 for an orphan
	row     int32 // of its subject; for an orphan, the number of the orphan
}

// A show with this many episodes may have them scattered through the file.
const scatterFrom = 100

func (p *plan) scattered(i int) bool {
	return p.rows[i] >= scatterFrom && mix(p.Seed^uint64(i)<<20)%2 == 0
}

func (p *plan) strays() []stray {
	var all []stray
	for i, n := range p.rows {
		if !p.scattered(i) {
			continue
		}
		step := float64(len(p.rows)-i) / float64(n)
		for row := range n {
			all = append(all, stray{int32(i + int(float64(row)*step)), int32(i), row})
		}
	}
	d := newDice(p.Seed)
	d.reset(forEpisodes, 0)
	after := int32(0)
	for row := range p.orphanRows() {
		if row == 0 || d.permille(300) {
			after = int32(d.IntN(max(1, p.Subjects)))
		}
		all = append(all, stray{after, -1, int32(row)})
	}
	slices.SortFunc(all, func(a, b stray) int {
		return cmp.Or(cmp.Compare(a.after, b.after), cmp.Compare(a.subject, b.subject), cmp.Compare(a.row, b.row))
	})
	return all
}

// A course is what the episodes of a subject have in common.
type course struct {
	index   int // of the subject
	id      int
	day     int // of the first episode
	dated   bool
	old     bool // few names
	music   bool
	english bool
	main    int // main episodes; extras follow
	first   int // sort of the first
	half    int // the row with sort n.5 and no number of its own, or -1
	length  string
}

// mainRows is how many of the episodes of subject i are main ones; they come
// before the others.
func (p *plan) mainRows(i int) int {
	n := int(p.rows[i])
	if p.typeOf(i) == 3 {
		return n
	}
	if h := mix(uint64(i) ^ p.Seed<<32); n >= 12 && h%5 == 0 {
		n -= 1 + int(h>>8%4)
	}
	return n
}

// halfRow gives the row of subject i whose sort lies between two others, or
// -1.
func (p *plan) halfRow(i int) int {
	if h := mix(uint64(i)<<8 ^ p.Seed); p.mainRows(i) >= 10 && p.rows[i] < scatterFrom && h%40 == 0 {
		return 5 + int(h>>8%4)
	}
	return -1
}

func (m *maker) course(i int) course {
	c := course{index: i, id: subjectID(i), first: 1, half: -1, length: "24m", main: m.mainRows(i)}
	w, ok := m.watchableAt(i)
	if !ok {
		c.music = true
		c.length = "4:12"
		return c
	}
	f := m.franchise(m.d, m.groupOf[w])
	c.half = m.halfRow(i)
	c.day = m.showDay(&f, w)
	y, _, _ := date(c.day)
	c.old = y < 2000
	c.english = f.origin == fromWest
	m.d.reset(forEpisodes, 1+i)
	c.dated = !m.d.permille(60)
	g := m.groups[m.groupOf[w]]
	switch {
	case oneOff(m.platform[w]):
		c.length = pick(m.d, []string{"01:32:00", "95m", "1小时52分钟", "02:05:12"})
	case g.anime:
		c.length = pick(m.d, []string{"24m", "24m", "00:24:00", "00:23:40", "25分", ""})
	default:
		c.length = pick(m.d, []string{"45m", "00:45:00", "60m", "45分钟", ""})
	}
	place := int(m.placeOf[w])
	if f.goesOn && m.roleOf[w] == season {
		for _, earlier := range m.members[int(g.first) : int(g.first)+place] {
			at := m.watchableIndex(int(earlier))
			c.first += m.mainRows(at)
			if m.halfRow(at) >= 0 {
				c.first--
			}
		}
	}
	return c
}

// episodeID leaves out every eighth id: deleted episodes.
func episodeID(row int) int { return 1 + row + row/7 }

// appendEpisode appends row `row` of a subject as line number line.
func (m *maker) appendEpisode(b []byte, line int, c *course, row int) []byte {
	d := m.d
	d.reset(forEpisode, c.index<<16^row)
	typ, sort, half := 0, c.first+row, false
	switch {
	case row >= c.main:
		typ, sort = []int{1, 2, 3, 1}[row-c.main], 1+(row-c.main)/3
	case c.half >= 0 && row == c.half:
		sort, half = sort-1, true
		typ = d.IntN(4) / 3
	case c.half >= 0 && row > c.half:
		sort--
	}
	disc := 0
	if c.music {
		disc = 1 + row/12
		sort = 1 + row%12
	}
	b = appendInt(b, `{"id":`, episodeID(line))
	p := phrase{
		adjective: d.IntN(len(adjectives)), noun: d.IntN(len(nouns)), noun2: d.IntN(len(nouns)),
		place: d.IntN(len(places)), given: d.IntN(len(givens)), genre: d.IntN(len(genres)),
		family: d.IntN(len(families)), verb: d.IntN(len(verbs)),
	}
	number := pick(d, episodePatterns)
	named := d.permille(900)
	if c.old {
		named = d.permille(500)
	}
	original := japanese
	if c.english {
		original = english
	}
	b = append(b, `,"name":`...)
	b = m.appendName(b, &p, number, original, named)
	b = append(b, `,"name_cn":`...)
	b = m.appendName(b, &p, number, chinese, named && d.permille(600))
	m.raw = m.raw[:0]
	if d.permille(140) {
		for range 1 + d.IntN(3) {
			m.raw = m.appendSentence(m.raw, &p)
		}
	}
	b = append(b, `,"description":`...)
	b = appendQuoted(b, m.raw)
	b = append(b, `,"airdate":"`...)
	if c.dated {
		b = appendDay(b, c.day+7*min(row, max(0, c.main-1)))
	}
	b = appendInt(b, `","disc":`, disc)
	b = appendString(b, `,"duration":`, c.length)
	b = appendInt(b, `,"subject_id":`, c.id)
	b = appendInt(b, `,"sort":`, sort)
	if half {
		b = append(b, ".5"...)
	}
	b = appendInt(b, `,"type":`, typ)
	return append(b, '}', '\n')
}

var episodePatterns = []int{0, 0, 1, 1, 2, 5, 6, 8, 9, 10, 13}

func (m *maker) appendName(b []byte, p *phrase, number int, s script, named bool) []byte {
	if !named {
		return append(b, `""`...)
	}
	template := patterns[number].ja
	switch s {
	case chinese:
		template = patterns[number].zh
	case english:
		template = patterns[number].en
	}
	m.raw = p.appendFilled(m.raw[:0], template, s)
	return appendQuoted(b, m.raw)
}

// episodes hands the lines of episode.jsonlines to emit, a subject's worth at
// a time. The slice is only valid during the call.
func (m *maker) episodes(emit func(lines []byte) error) error {
	strays := m.strays()
	line := 0
	var b []byte
	for i := range max(1, m.Subjects) {
		b = b[:0]
		if i < m.Subjects && m.rows[i] > 0 && !m.scattered(i) {
			c := m.course(i)
			for row := range int(m.rows[i]) {
				b = m.appendEpisode(b, line, &c, row)
				line++
			}
		}
		for len(strays) > 0 && int(strays[0].after) == i {
			b = m.appendStray(b, line, strays[0])
			strays = strays[1:]
			line++
		}
		if err := emit(b); err != nil {
			return err
		}
	}
	return nil
}

func (m *maker) appendStray(b []byte, line int, s stray) []byte {
	if s.subject >= 0 {
		c := m.course(int(s.subject))
		return m.appendEpisode(b, line, &c, int(s.row))
	}
	m.d.reset(forEpisodes, -int(s.after)-1)
	c := course{
		index: m.Subjects + int(s.row), id: missingID(m.d, m.Subjects), day: lastDay - m.d.IntN(9000), dated: true,
		first: 1 + int(s.row)%12, main: 1, half: -1, length: strconv.Itoa(20+m.d.IntN(10)) + "m",
	}
	return m.appendEpisode(b, line, &c, 0)
}
