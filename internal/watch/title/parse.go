package title

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is what a title says it is besides a show.
type Kind uint8

// The kinds; most titles say none.
const (
	Unmarked Kind = iota
	Film          // 剧场版, 劇場版, 映画, the Movie
	OVA           // OVA, OAD
	Special       // SP, 特别篇, スペシャル, 番外篇
	Recap         // 总集篇
	Mini          // 迷你动画, ミニアニメ
)

// Parsed is a title taken apart.
type Parsed struct {
	// Full is the title without noise but with its marks, plain.
	Full string
	// Base is Full without the marks of season, part and kind; never empty unless the title was.
	Base string
	// Outer is Full without its last season mark alone: what is left of a title that a
	// library has appended a season to. It equals Full when there is no such mark.
	Outer string
	// Season is the number of the last season mark; 0 when there is none.
	Season int
	// Bare is set when Season is a lone number or Roman numeral at the end, which may belong to the name.
	Bare bool
	// Part is the cour, part or chapter; 0 when none is marked.
	Part int
	// Year is the year in parentheses at the end; 0 when there is none.
	Year int
	// Final is set by 最终季, Final Season and the like.
	Final bool
	// Yearly is set by 年番, a show that goes on all year after seasons that had ends.
	Yearly bool
	Kind   Kind
}

// Parse takes text apart. A mark that would leave no name is not taken off.
func Parse(text string) Parsed {
	full, year := clean(Plain(text))
	p := parse(full)
	p.Year = year
	return p
}

// parse takes a title without noise apart.
func parse(full string) Parsed {
	p := Parsed{Full: full, Base: full, Outer: full}
	p.Base, p.Kind = cutKind(p.Base)
	p.Base, p.Final = cutWord(p.Base, finalWords)
	p.Base, p.Yearly = cutWord(p.Base, yearlyWords)
	if m, found := lastMark(p.Base, partAnchors); found {
		p.Base, p.Part = m.cutFrom(p.Base), m.value
	}
	for {
		m, found := lastMark(p.Base, seasonAnchors)
		if !found {
			break
		}
		p.Base = m.cutFrom(p.Base)
		if p.Season == 0 {
			p.Season = m.value
			if outer, found := lastMark(p.Full, seasonAnchors); found {
				p.Outer = outer.cutFrom(p.Full)
			}
		}
	}
	if p.Season != 0 {
		return p
	}
	if m, found := bareNumber(p.Base); found {
		p.Base, p.Season, p.Bare = m.cutFrom(p.Base), m.value, true
		if outer, found := bareNumber(p.Full); found {
			p.Outer = outer.cutFrom(p.Full)
		}
	}
	return p
}

// kindWords say of which kind a title is, where they stand at its beginning or end.
var kindWords = []struct {
	word string
	kind Kind
}{
	{"剧场版", Film}, {"劇場版", Film}, {"電影版", Film}, {"电影版", Film}, {"電影", Film}, {"电影", Film}, {"映画", Film}, {"the movie", Film},
	{"ova", OVA}, {"oad", OVA},
	{"特别篇", Special}, {"特別篇", Special}, {"特別編", Special}, {"スペシャル", Special}, {"番外篇", Special}, {"番外編", Special}, {"special", Special}, {"specials", Special}, {"sp", Special},
	{"总集篇", Recap}, {"總集篇", Recap}, {"総集編", Recap},
	{"迷你动画", Mini}, {"迷你動畫", Mini}, {"ミニアニメ", Mini}, {"mini anime", Mini},
}

// cutKind takes the word of a kind off the beginning or the end of text.
func cutKind(text string) (string, Kind) {
	for _, k := range kindWords {
		if rest, found := strings.CutPrefix(text, k.word); found && k.kind == Film && endsWord(k.word, rest) {
			if rest = strings.TrimLeft(rest, " :"); hasLetter(rest) {
				return rest, k.kind
			}
		}
		if rest, found := strings.CutSuffix(text, k.word); found && beginsWord(rest, k.word) && hasLetter(rest) {
			return tidy(rest), k.kind
		}
	}
	return text, Unmarked
}

var (
	finalWords  = []string{"the final season", "final season", "最终季", "最終季", "最终章", "最終章", "ファイナルシーズン", "完結編", "完結篇", "完结篇"}
	yearlyWords = []string{"年番"}
)

// cutWord takes the first of words that text holds out of it.
func cutWord(text string, words []string) (string, bool) {
	for _, word := range words {
		if at := strings.Index(text, word); at >= 0 {
			if m := (mark{from: at, to: at + len(word)}); m.leavesName(text) {
				return m.cutFrom(text), true
			}
		}
	}
	return text, false
}

// tidy puts single spaces where something was cut out, and takes off brackets that
// became empty and separators that end nothing.
func tidy(text string) string {
	for _, pair := range [...]string{"()", "( )", "[]", "[ ]", "【】", "【 】"} {
		text = strings.ReplaceAll(text, pair, " ")
	}
	text = strings.Trim(text, " ")
	text = strings.TrimRight(text, " -~:：・")
	for strings.Contains(text, "  ") {
		text = strings.ReplaceAll(text, "  ", " ")
	}
	return text
}

func hasLetter(text string) bool { return strings.ContainsFunc(text, unicode.IsLetter) }

// beginsWord reports whether word begins where before ends: no Latin word goes on over
// the border.
func beginsWord(before, word string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	return !isLatin(rune(word[0])) || !isLatin(last) && !isDigit(last)
}

// endsWord reports whether word ends where after begins.
func endsWord(word, after string) bool {
	next, _ := utf8.DecodeRuneInString(after)
	return !isLatin(rune(word[len(word)-1])) || !isLatin(next)
}

func isLatin(r rune) bool { return 'a' <= r && r <= 'z' }
func isDigit(r rune) bool { return '0' <= r && r <= '9' }
