package title

import (
	"slices"
	"unicode/utf8"
)

// onStack is how many runes of a title are compared without an allocation.
const onStack = 96

// Similarity says how alike two keys (or plain titles) are, 0..1; it is symmetric,
// 1 for equal texts and 0 when one is empty. It is the better of two measures:
// edit distance, which forgives a slip of the pen, and shared pairs of
// neighbouring runes, which forgive another order of the words.
func Similarity(a, b string) float64 {
	if a == "" || b == "" {
		return 0
	}
	if a == b {
		return 1
	}
	var bufA, bufB [onStack]rune
	x, y := runes(a, bufA[:0]), runes(b, bufB[:0])
	return max(edits(x, y), pairs(x, y))
}

func runes(text string, into []rune) []rune {
	if utf8.RuneCountInString(text) > cap(into) {
		return []rune(text)
	}
	for _, r := range text {
		into = append(into, r)
	}
	return into
}

// edits is 1 minus the optimal string alignment distance (insert, delete, replace, swap of neighbours) over the longer length.
func edits(x, y []rune) float64 {
	if len(x) > len(y) {
		x, y = y, x
	}
	var buf [3 * (onStack + 1)]int
	row := buf[:]
	if n := 3 * (len(x) + 1); n > len(row) {
		row = make([]int, n)
	}
	w := len(x) + 1
	before, last, now := row[:w], row[w:2*w], row[2*w:3*w]
	for i := range last {
		last[i] = i
	}
	for j := 1; j <= len(y); j++ {
		now[0] = j
		for i := 1; i <= len(x); i++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			now[i] = min(last[i]+1, now[i-1]+1, last[i-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				now[i] = min(now[i], before[i-2]+1)
			}
		}
		before, last, now = last, now, before
	}
	return 1 - float64(last[len(x)])/float64(len(y))
}

// pairs is the Dice coefficient of the neighbouring runes.
func pairs(x, y []rune) float64 {
	if len(x) < 2 || len(y) < 2 {
		return 0
	}
	var bufX, bufY [onStack]uint64
	p, q := pairsOf(x, bufX[:0]), pairsOf(y, bufY[:0])
	shared := 0
	for i, j := 0, 0; i < len(p) && j < len(q); {
		switch {
		case p[i] == q[j]:
			shared++
			i++
			j++
		case p[i] < q[j]:
			i++
		default:
			j++
		}
	}
	return 2 * float64(shared) / float64(len(p)+len(q))
}

func pairsOf(x []rune, into []uint64) []uint64 {
	for i := 1; i < len(x); i++ {
		into = append(into, uint64(uint32(x[i-1]))<<32|uint64(uint32(x[i])))
	}
	slices.Sort(into)
	return into
}
