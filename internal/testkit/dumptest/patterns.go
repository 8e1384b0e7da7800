package dumptest

import "strings"

type script uint8

const (
	japanese script = iota
	chinese
	english
	korean // romanised
)

// A pattern is a title with gaps: %a adjective, %n and %m nouns, %p place,
// %s genre, %f family name, %g given name, %v verb, %c an invented name.
type pattern struct{ ja, zh, en string }

// The patterns with two gaps only hold an invented name, since two words of
// the lists alone would make many shows share a title.
var patterns = []pattern{
	{"%a%nの%m", "%a%n的%m", "The %m of the %a %n"},
	{"%gと%a%n", "%g与%a%n", "%g and the %a %n"},
	{"%p%nの%m", "%p%n的%m", "%m of the %p %n"},
	{"%c -%a%n-", "%c：%a%n", "%c: The %a %n"},
	{"%c%s", "%c%s", "%s of %c"},
	{"%f%gの%a%s", "%f%g的%a%s", "The %a %s of %g %f"},
	{"%nと%mの%s", "%n与%m%s", "%s of %n and %m"},
	{"%c", "%c", "%c"},
	{"%a%nは%pで%v", "%a%n在%p%v", "The %a %n %v in %p"},
	{"%a%nなのに%pの%mになりました", "明明是%a%n却成了%p的%m", "From %a %n to the %m of %p"},
	{"%n%m%s", "%n%m%s", "%n %m %s"},
	{"%p・%f家の%n", "%p%f家的%n", "The %f Family's %n in %p"},
	{"%cの%n", "%c之%n", "%c's %n"},
	{"%m、%gの%n", "%m·%g的%n", "%m: %g's %n"},
	{"%a%n／%a2%m", "%a%n·%a2%m", "%a %n, %a2 %m"},
}

// The frequencies of the patterns, by their numbers.
var (
	animePatterns = []int{0, 0, 1, 1, 2, 3, 3, 4, 4, 5, 6, 6, 7, 8, 9, 9, 10, 11, 12, 13, 14}
	realPatterns  = []int{0, 0, 1, 1, 2, 2, 3, 4, 5, 6, 6, 7, 8, 10, 10, 11, 11, 12, 12, 13, 14}
)

// A phrase is the words chosen for the gaps of a pattern.
type phrase struct {
	adjective, adjective2, noun, noun2 int
	place, genre, family, given, verb  int
	coined                             [5]uint8
	coinedLen                          int
}

func (d *dice) phrase() phrase {
	p := phrase{
		adjective: d.IntN(len(adjectives)), adjective2: d.IntN(len(adjectives)),
		noun: d.IntN(len(nouns)), noun2: d.IntN(len(nouns)),
		place: d.IntN(len(places)), genre: d.IntN(len(genres)), family: d.IntN(len(families)),
		given: d.IntN(len(givens)), verb: d.IntN(len(verbs)), coinedLen: 3 + d.IntN(3),
	}
	for i := range p.coined {
		p.coined[i] = uint8(d.IntN(len(syllables)))
	}
	return p
}

// gap gives the word for a gap and a number which tells words of all lists
// apart; the invented name has no word.
func (p *phrase) gap(mark byte) (word, int) {
	switch mark {
	case 'a':
		return adjectives[p.adjective], p.adjective
	case 'A':
		return adjectives[p.adjective2], p.adjective2
	case 'n':
		return nouns[p.noun], 1000 + p.noun
	case 'm':
		return nouns[p.noun2], 1000 + p.noun2
	case 'p':
		return places[p.place], 2000 + p.place
	case 's':
		return genres[p.genre], 3000 + p.genre
	case 'f':
		return families[p.family], 4000 + p.family
	case 'g':
		return givens[p.given], 5000 + p.given
	default:
		return verbs[p.verb], 6000 + p.verb
	}
}

func (w word) in(s script) string {
	switch s {
	case japanese:
		return w.ja
	case chinese:
		return w.zh
	default:
		return w.en
	}
}

// appendFilled appends a template with its gaps filled.
func (p *phrase) appendFilled(b []byte, template string, s script) []byte {
	for {
		at := strings.IndexByte(template, '%')
		if at < 0 {
			return append(b, template...)
		}
		b = append(b, template[:at]...)
		mark := template[at+1]
		template = template[at+2:]
		if mark == 'a' && strings.HasPrefix(template, "2") {
			mark, template = 'A', template[1:]
		}
		if mark == 'c' {
			b = p.appendCoined(b, s)
			continue
		}
		w, _ := p.gap(mark)
		b = append(b, w.in(s)...)
	}
}

func (p *phrase) appendCoined(b []byte, s script) []byte {
	start := len(b)
	for _, n := range p.coined[:p.coinedLen] {
		b = append(b, syllables[n].in(s)...)
	}
	if s == english {
		b[start] -= 'a' - 'A'
	}
	return b
}

func (p *phrase) filled(template string, s script) string {
	return string(p.appendFilled(nil, template, s))
}

// title gives the phrase in one script.
func (p *phrase) title(number int, s script) string {
	switch s {
	case japanese:
		return p.filled(patterns[number].ja, s)
	case chinese:
		return p.filled(patterns[number].zh, s)
	case english:
		return p.filled(patterns[number].en, s)
	default:
		return p.spelled(patterns[number].en, hangul, english)
	}
}

// spelled gives a title of made-up words, one for every gap of the template:
// the same words always get the same spelling. It stands for romanised
// Japanese (syllables) and for Korean.
func (p *phrase) spelled(template string, letters []word, s script) string {
	var b []byte
	for i := 0; i+1 < len(template); i++ {
		if template[i] != '%' {
			continue
		}
		if len(b) > 0 {
			b = append(b, ' ')
		}
		mark := template[i+1]
		if mark == 'a' && i+2 < len(template) && template[i+2] == '2' {
			mark = 'A'
		}
		start := len(b)
		if mark == 'c' {
			for _, n := range p.coined[:p.coinedLen] {
				b = append(b, letters[int(n)%len(letters)].in(s)...)
			}
		} else {
			_, n := p.gap(mark)
			h := mix(uint64(n))
			for range 2 + h%2 {
				h = mix(h)
				b = append(b, letters[h%uint64(len(letters))].in(s)...)
			}
		}
		if s == english {
			b[start] -= 'a' - 'A'
		}
	}
	return string(b)
}
