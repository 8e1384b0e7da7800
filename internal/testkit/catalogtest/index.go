package catalogtest

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"watchmark/internal/catalog"
)

// index finds subjects by title, aliases included. Like the real engine it
// forgives typing mistakes and returns neighbours rather than nothing. It is
// never changed once built.
type index struct {
	subjects []*Subject
	titles   []indexedTitle
	pairs    map[[2]rune][]int32 // rune pair → titles that hold it
	single   map[rune][]int32    // rune → titles that hold it, for when no pair is shared
}

type indexedTitle struct {
	text    string // folded
	pairs   int    // distinct pairs
	subject int32
}

// hit is a subject and how well its best title fits: 3 the same title, above 2 one begins
// with the other, above 1 one holds the other, below 1 the share of rune pairs in common.
type hit struct {
	subject *Subject
	score   float64
}

// searchIndex is the index over the content of now.
func (d *data) searchIndex() *index {
	d.mu.RLock()
	built := d.index
	d.mu.RUnlock()
	if built != nil {
		return built
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.index == nil {
		d.index = buildIndex(d.subjects)
	}
	return d.index
}

// buildIndex indexes everything but locked, deleted, merged and redirected subjects, in the order of ids.
func buildIndex(subjects map[catalog.SubjectID]*Subject) *index {
	x := &index{pairs: map[[2]rune][]int32{}, single: map[rune][]int32{}}
	for _, subject := range subjects {
		if !subject.hidden() {
			x.subjects = append(x.subjects, subject)
		}
	}
	slices.SortFunc(x.subjects, func(a, b *Subject) int { return cmp.Compare(a.ID, b.ID) })
	for i, subject := range x.subjects {
		var seen []string
		for _, title := range append([]string{subject.Name, subject.NameCN}, infoboxAliases(subject.Infobox)...) {
			text := fold(title)
			if text == "" || slices.Contains(seen, text) {
				continue
			}
			seen = append(seen, text)
			x.add(text, int32(i))
		}
	}
	return x
}

func (x *index) add(text string, subject int32) {
	n := int32(len(x.titles))
	pairs := pairsOf(text)
	x.titles = append(x.titles, indexedTitle{text, len(pairs), subject})
	for _, pair := range pairs {
		x.pairs[pair] = append(x.pairs[pair], n)
	}
	for _, r := range runesOf(text) {
		x.single[r] = append(x.single[r], n)
	}
}

// maxKeyword is how many runes of a keyword are looked at.
const maxKeyword = 200

// search is every subject that fits at all and that keep wants, best first. An
// empty keyword finds everything.
func (x *index) search(keyword string, keep func(*Subject) bool) []hit {
	query := fold(keyword)
	if runes := []rune(query); len(runes) > maxKeyword {
		query = string(runes[:maxKeyword])
	}
	best := make([]float64, len(x.subjects))
	if query == "" {
		for i := range best {
			best[i] = 1
		}
	} else {
		x.score(query, best)
	}
	var hits []hit
	for i, subject := range x.subjects {
		if best[i] > 0 && keep(subject) {
			hits = append(hits, hit{subject, best[i]})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	return hits
}

// score writes the best score of each subject's titles into best.
func (x *index) score(query string, best []float64) {
	shared := make([]uint16, len(x.titles))
	var touched []int32
	count := func(titles []int32) {
		for _, t := range titles {
			if shared[t] == 0 {
				touched = append(touched, t)
			}
			shared[t]++
		}
	}
	pairs := pairsOf(query)
	for _, pair := range pairs {
		count(x.pairs[pair])
	}
	if len(touched) == 0 {
		for _, r := range runesOf(query) {
			count(x.single[r])
		}
	}
	for _, t := range touched {
		title := x.titles[t]
		score := 2 * float64(shared[t]) / float64(len(pairs)+title.pairs)
		score = max(min(score, 0.999), holds(title.text, query))
		best[title.subject] = max(best[title.subject], score)
	}
}

// minHeld is the length in bytes below which a title inside the keyword says nothing.
const minHeld = 6

// holds is the score of one text being in the other: 3 the same, 2 at the start, 1 anywhere,
// plus the share of the longer that the shorter makes up; 0 when it is not.
func holds(title, query string) float64 {
	if title == query {
		return 3
	}
	long, short := title, query
	if len(long) < len(short) {
		long, short = short, long
		if len(short) < minHeld {
			return 0
		}
	}
	share := float64(len(short)) / float64(len(long)+1)
	switch {
	case strings.HasPrefix(long, short):
		return 2 + share
	case strings.Contains(long, short):
		return 1 + share
	}
	return 0
}

// fold makes titles comparable: width and compatibility forms, case, blanks and
// marks do not count. A text of marks alone keeps them.
func fold(text string) string {
	text = strings.ToLower(norm.NFKC.String(text))
	folded := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return r
		}
		return -1
	}, text)
	if folded == "" {
		return strings.TrimSpace(text)
	}
	return folded
}

// pairsOf is the distinct rune pairs of a text, its edges (0) included, so that a
// text of one rune has some too.
func pairsOf(text string) [][2]rune {
	pairs := make([][2]rune, 0, len(text)/2+2)
	before := rune(0)
	add := func(r rune) {
		if pair := [2]rune{before, r}; !slices.Contains(pairs, pair) {
			pairs = append(pairs, pair)
		}
		before = r
	}
	for _, r := range text {
		add(r)
	}
	add(0)
	return pairs
}

// runesOf is the distinct runes of a text.
func runesOf(text string) []rune {
	var runes []rune
	for _, r := range text {
		if !slices.Contains(runes, r) {
			runes = append(runes, r)
		}
	}
	return runes
}
