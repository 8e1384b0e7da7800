package title

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// mark is a season or part that text[from:to] tells.
type mark struct {
	from, to int
	value    int
}

// cutFrom is text without the mark.
func (m mark) cutFrom(text string) string { return tidy(text[:m.from] + " " + text[m.to:]) }

// leavesName reports whether a letter is left of text without the mark.
func (m mark) leavesName(text string) bool { return hasLetter(text[:m.from]) || hasLetter(text[m.to:]) }

// numbering is the ways in which a number may stand beside an anchor.
type numbering uint8

const (
	// counted is a number in front that says that it counts: 第2, 2nd, second.
	counted numbering = 1 << iota
	// plain is a mere number in front, which must stand free: 2期, but not 12年2期生.
	plain
	// behind is a number that follows: Season 2.
	behind
	// closing is a number that follows closely and ends the title: S2.
	closing
	// half is 前 or 后, 上 or 下 in front.
	half
)

// anchor is a word that makes the number beside it a mark.
type anchor struct {
	word string
	with numbering
}

var (
	seasonAnchors = []anchor{
		{"季", counted | plain}, {"期", counted | plain}, {"さつめ", plain}, {"册", counted},
		{"シーズン", counted | behind}, {"シリーズ", counted | behind},
		{"season", counted | behind}, {"stage", counted | behind}, {"series", counted},
		{"volume", behind}, {"vol.", behind}, {"s", closing},
	}
	partAnchors = []anchor{
		{"クール", counted | plain | half}, {"cour", counted | plain | behind}, {"部分", counted | half}, {"章", counted}, {"幕", counted}, {"部", counted},
		{"part", behind}, {"パート", behind}, {"その", closing},
		{"編", half}, {"篇", half}, {"编", half}, {"半", half},
	}
)

// lastMark is the mark that ends last in text; of two that end there the longer one.
func lastMark(text string, anchors []anchor) (mark, bool) {
	var last mark
	for _, a := range anchors {
		for at := 0; ; at++ {
			next := strings.Index(text[at:], a.word)
			if next < 0 {
				break
			}
			at += next
			for _, m := range a.marks(text, at) {
				if later := m.to > last.to || m.to == last.to && m.from < last.from; later && m.leavesName(text) {
					last = m
				}
			}
		}
	}
	return last, last.to > 0
}

// marks are what the anchor that stands at a place of text makes of the number in front
// and of the one behind; what is no mark is zero.
func (a anchor) marks(text string, at int) [2]mark {
	before, after := text[:at], text[at+len(a.word):]
	var marks [2]mark
	if a.with&(counted|plain|half) != 0 && endsWord(a.word, after) {
		if from, value := a.numberBefore(before, after); value > 0 {
			marks[0] = mark{from, at + len(a.word), value}
		}
	}
	if a.with&(behind|closing) != 0 && beginsWord(before, a.word) {
		if size, value := a.numberAfter(after); value > 0 {
			marks[1] = mark{at, at + len(a.word) + size, value}
		}
	}
	return marks
}

// numberBefore reads the number that ends before, and where the mark begins.
func (a anchor) numberBefore(before, after string) (from, value int) {
	trimmed := strings.TrimRight(before, " ")
	if a.with&half != 0 {
		if from, value := halfBefore(trimmed); value > 0 && (a.word != "編" && a.word != "篇" && a.word != "编" || !beginsHan(after)) {
			return from, value
		}
	}
	if a.with&counted != 0 {
		if from, value := ordinalBefore(strings.TrimRight(trimmed, "-")); value > 0 {
			return from, value
		}
	}
	from, value = digitsBefore(trimmed)
	if value == 0 {
		from, value = numeralBefore(trimmed)
	}
	if value == 0 {
		return 0, 0
	}
	front := strings.TrimRight(trimmed[:from], " ")
	if a.with&counted != 0 && strings.HasSuffix(front, "第") {
		return len(front) - len("第"), value
	}
	last, _ := utf8.DecodeLastRuneInString(trimmed[:from])
	if a.with&plain == 0 || last == '.' || last == '第' || beginsHan(after) {
		return 0, 0
	}
	return from, value
}

// numberAfter reads the number that begins after, and how many bytes it takes with the space in front of it.
func (a anchor) numberAfter(after string) (size, value int) {
	if a.with&closing != 0 {
		return a.closingNumber(after)
	}
	between := " "
	if a.word == "part" || a.word == "cour" {
		between = " ."
	}
	number := strings.TrimLeft(after, between)
	size, value = digitsAfter(number)
	if value == 0 {
		size, value = romanAfter(number)
	}
	return len(after) - len(number) + size, value
}

// closingNumber reads S2 and その弐, which are marks only where the title ends.
func (a anchor) closingNumber(after string) (size, value int) {
	if a.word == "s" {
		size, value = digitsAfter(after)
	} else {
		var r rune
		r, size = utf8.DecodeRuneInString(after)
		value = numerals[r]
		if r == 'に' {
			value = 2
		}
	}
	if strings.Trim(after[size:], " ~)") != "" {
		return 0, 0
	}
	return size, value
}

// ordinalBefore reads 2nd and second.
func ordinalBefore(text string) (from, value int) {
	for _, w := range ordinals {
		if rest, found := strings.CutSuffix(text, w.word); found && beginsWord(rest, w.word) {
			return len(rest), w.value
		}
	}
	for _, suffix := range [...]string{"st", "nd", "rd", "th"} {
		if rest, found := strings.CutSuffix(text, suffix); found {
			from, value := digitsBefore(rest)
			if last, _ := utf8.DecodeLastRuneInString(rest[:from]); last != '.' {
				return from, value
			}
		}
	}
	return 0, 0
}

var ordinals = []struct {
	word  string
	value int
}{
	{"first", 1}, {"second", 2}, {"third", 3}, {"fourth", 4}, {"fifth", 5}, {"sixth", 6},
	{"ファースト", 1}, {"セカンド", 2}, {"サード", 3}, {"フォース", 4},
}

// halfBefore reads 前, 上 as 1 and 後, 下 as 2.
func halfBefore(text string) (from, value int) {
	text = strings.TrimSuffix(text, "半")
	r, size := utf8.DecodeLastRuneInString(text)
	switch r {
	case '前', '上':
		value = 1
	case '後', '后', '下':
		value = 2
	}
	return len(text) - size, value
}

// digitsBefore reads the one or two digits that end text; a longer number is none.
func digitsBefore(text string) (from, value int) {
	from = len(text)
	for from > 0 && isDigit(rune(text[from-1])) {
		from--
	}
	return from, smallNumber(text[from:])
}

// digitsAfter reads the one or two digits that begin text.
func digitsAfter(text string) (size, value int) {
	for size < len(text) && isDigit(rune(text[size])) {
		size++
	}
	return size, smallNumber(text[:size])
}

// smallNumber is a number of one or two digits; 0 is another text.
func smallNumber(digits string) int {
	n := 0
	if len(digits) > 2 {
		return 0
	}
	for _, d := range digits {
		n = n*10 + int(d-'0')
	}
	return n
}

var numerals = map[rune]int{
	'一': 1, '二': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9, '十': 10,
	'壱': 1, '壹': 1, '弐': 2, '贰': 2, '貳': 2, '参': 3, '叁': 3, '肆': 4, '伍': 5,
}

// numeralBefore reads the Han numeral below a hundred that ends text.
func numeralBefore(text string) (from, value int) {
	from = len(text)
	for range 3 {
		r, size := utf8.DecodeLastRuneInString(text[:from])
		if numerals[r] == 0 {
			break
		}
		from -= size
	}
	ten := false
	for _, r := range text[from:] {
		switch n := numerals[r]; {
		case n == 10:
			value, ten = max(value, 1)*10, true
		case ten:
			value += n
		default:
			value = n
		}
	}
	return from, value
}

// romans are the Roman numerals that are no letters of names.
var romans = []struct {
	text  string
	value int
}{{"viii", 8}, {"vii", 7}, {"iii", 3}, {"ii", 2}, {"iv", 4}, {"vi", 6}, {"ix", 9}}

// romanAfter reads the Roman numeral that text begins with.
func romanAfter(text string) (size, value int) {
	for _, r := range romans {
		if rest, found := strings.CutPrefix(text, r.text); found && endsWord(r.text, rest) {
			return len(r.text), r.value
		}
	}
	return 0, 0
}

// bareNumber is a number or Roman numeral that ends text by itself, (2), 2 or II, or a
// Roman numeral that ends the name in front of a subtitle.
func bareNumber(text string) (mark, bool) {
	m := mark{to: len(text)}
	for _, r := range romans {
		rest, found := strings.CutSuffix(text, r.text)
		if last, _ := utf8.DecodeLastRuneInString(rest); found && !isLatin(last) && !isDigit(last) {
			m.from, m.value = len(rest), r.value
			break
		}
	}
	if inside, found := strings.CutSuffix(text, ")"); found {
		inside = strings.TrimRight(inside, " ")
		from, value := digitsBefore(inside)
		if front, found := strings.CutSuffix(strings.TrimRight(inside[:from], " "), "("); found && 2 <= value && value <= 9 {
			m.from, m.value = len(front), value
		}
	} else if from, value := digitsBefore(text); 2 <= value && value <= 19 && text[from] != '0' {
		// A number that goes on from letters, or from a sign that joins, belongs to them.
		if last, _ := utf8.DecodeLastRuneInString(text[:from]); !isLatin(last) && !strings.ContainsRune(".,:-#×第", last) {
			m.from, m.value = from, value
		}
	}
	if m.value == 0 {
		m = romanInside(text)
	}
	return m, m.value != 0 && m.leavesName(text)
}

// romanInside is the Roman numeral that stands in front of a subtitle.
func romanInside(text string) mark {
	for _, r := range romans {
		at := strings.Index(text, r.text)
		if at <= 0 {
			continue
		}
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(r.text):])
		if !isLatin(before) && !isDigit(before) && strings.ContainsRune(" ~〜-:(", after) {
			return mark{at, at + len(r.text), r.value}
		}
	}
	return mark{}
}

// beginsHan reports whether text begins with a Han character: a longer word goes on there.
func beginsHan(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.Is(unicode.Han, r)
}
