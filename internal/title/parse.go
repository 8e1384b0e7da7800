package title

import (
	"regexp"
	"strings"
	"unicode"
)

// Parsed is a title taken apart.
type Parsed struct {
	// Full is the title without noise but with its marks, plain.
	Full string
	// Base is Full without the marks of season, part and film; never empty unless the title was.
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
	// Film is set by 剧场版, 劇場版, 電影版, Movie in front or behind.
	Film bool
}

const number = `(\d{1,2}|[一二三四五六七八九十壱弐参壹贰貳叁肆伍]{1,3})`

// mark is one way to write a season or part. Text that holds none of hints cannot
// hold the mark: looking for them first spares most titles the expression.
type mark struct {
	re    *regexp.Regexp
	hints []string
}

// In each mark group 1 is what is taken off and group 2 its value; what stands
// outside group 1 is context that stays.
var (
	seasonMarks = []mark{
		{regexp.MustCompile(`(第\s*` + number + `\s*(?:季|期|シーズン|シリーズ|册))`), []string{"第"}},
		{regexp.MustCompile(`(?:^|[^\d.])((\d{1,2})(?:st|nd|rd|th)[\s-]*(?:season|stage|series|シーズン|シリーズ|期))(?:[^a-z]|$)`), []string{"st", "nd", "rd", "th"}},
		{regexp.MustCompile(`((?:season|シーズン|シリーズ|volume|vol\.)\s*(\d{1,2}))(?:[^\d]|$)`), []string{"season", "シ", "vol"}},
		{regexp.MustCompile(`((first|second|third|fourth|fifth|sixth|ファースト|セカンド|サード|フォース)\s*(?:season|stage|series|シーズン|シリーズ))`), []string{"season", "stage", "series", "シ"}},
		{regexp.MustCompile(`(?:^|[^\d第.一二三四五六七八九十])(` + number + `\s*(?:期|季|さつめ))(?:\P{Han}|$)`), []string{"期", "季", "さつめ"}},
		{regexp.MustCompile(`(?:^|[^a-z\d])(s(\d{1,2}))\s*\)?$`), []string{"s"}},
	}
	bareMarks = []mark{
		{regexp.MustCompile(`(\(\s*([2-9])\s*\))$`), []string{")"}},
		{regexp.MustCompile(`[^\d.,:a-z\-#×第]\s*(([2-9]|1\d))$`), []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}},
		{regexp.MustCompile(`[a-z]\s+(([2-9]))$`), []string{"2", "3", "4", "5", "6", "7", "8", "9"}},
		{regexp.MustCompile(`[^a-z\d]\s*((ii|iii|iv|vi|vii|viii|ix))$`), []string{"i"}},
	}
	partMarks = []mark{
		{regexp.MustCompile(`(第\s*` + number + `\s*(?:クール|部分|章))`), []string{"第"}},
		{regexp.MustCompile(`(?:^|[^a-z])((?:part|パート|cour)[\s.]*(\d{1,2}))(?:[^\d]|$)`), []string{"part", "パート", "cour"}},
		{regexp.MustCompile(`(?:^|[^\d.])((\d)(?:st|nd|rd|th)?\s*(?:クール|cour))`), []string{"クール", "cour"}},
		{regexp.MustCompile(`((前半|後半|后半)\s*(?:クール|部分)?)`), []string{"半"}},
		{regexp.MustCompile(`((前|後|后|上|下)[編篇编])(?:\P{Han}|$)`), []string{"編", "篇", "编"}},
		{regexp.MustCompile(`(その([弐参二三に]))[\s~)]*$`), []string{"その"}},
	}
	finalMark = mark{regexp.MustCompile(`(?:the\s+)?final\s+season|最[终終](?:季|章)|ファイナルシーズン|完[结結][篇編编]`), []string{"final", "最", "ファイナル", "完"}}
	filmMark  = mark{regexp.MustCompile(`^(?:[剧劇][场場]版|電影版?|电影版?|映画|the movie)[\s:：]*|[\s:：]*(?:[剧劇][场場]版|the movie)$`), []string{"剧", "劇", "电影", "電影", "映画", "movie"}}
	emptyPair = regexp.MustCompile(`\(\s*\)|\[\s*\]|【\s*】`)
)

var values = map[string]int{
	"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6,
	"ファースト": 1, "セカンド": 2, "サード": 3, "フォース": 4,
	"ii": 2, "iii": 3, "iv": 4, "vi": 6, "vii": 7, "viii": 8, "ix": 9,
	"前半": 1, "後半": 2, "后半": 2, "前": 1, "後": 2, "后": 2, "上": 1, "下": 2, "に": 2,
}

var digits = map[rune]int{
	'一': 1, '二': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9,
	'壱': 1, '壹': 1, '弐': 2, '贰': 2, '貳': 2, '参': 3, '叁': 3, '肆': 4, '伍': 5,
}

// Parse takes text apart. A mark that would leave no name is not taken off.
func Parse(text string) Parsed {
	var p Parsed
	p.Full, p.Year = clean(Plain(text))
	p.Base, p.Outer = p.Full, p.Full
	if rest := cut(p.Base, filmMark); rest != p.Base {
		p.Base, p.Film = rest, true
	}
	if rest := cut(p.Base, finalMark); rest != p.Base {
		p.Base, p.Final = rest, true
	}
	p.Base, p.Part = lastMark(p.Base, partMarks)
	for {
		rest, n := lastMark(p.Base, seasonMarks)
		if n == 0 {
			break
		}
		if p.Season == 0 {
			p.Season = n
			p.Outer, _ = lastMark(p.Full, seasonMarks)
		}
		p.Base = rest
	}
	if p.Season == 0 {
		if rest, n := lastMark(p.Base, bareMarks); n != 0 {
			p.Base, p.Season, p.Bare = rest, n, true
			p.Outer, _ = lastMark(p.Full, bareMarks)
		}
	}
	return p
}

// lastMark takes the mark that stands last in text off; 0 means there was none.
func lastMark(text string, marks []mark) (rest string, n int) {
	rest, from, to := text, 0, 0
	for _, mark := range marks {
		if !containsAny(text, mark.hints) {
			continue
		}
		for _, m := range mark.re.FindAllStringSubmatchIndex(text, -1) {
			value := valueOf(text[m[4]:m[5]])
			without := tidy(text[:m[2]] + " " + text[m[3]:])
			later := m[3] > to || m[3] == to && m[2] < from
			if later && value > 0 && hasLetter(without) {
				rest, n, from, to = without, value, m[2], m[3]
			}
		}
	}
	return rest, n
}

func containsAny(text string, hints []string) bool {
	for _, hint := range hints {
		if strings.Contains(text, hint) {
			return true
		}
	}
	return false
}

func tidy(text string) string {
	text = emptyPair.ReplaceAllString(text, " ")
	return strings.Join(strings.Fields(strings.TrimRight(text, " -~:：・")), " ")
}

func hasLetter(text string) bool { return strings.ContainsFunc(text, unicode.IsLetter) }

// valueOf reads digits, kanji numerals below a hundred and the words of values; 0 is unreadable.
func valueOf(text string) int {
	if n, ok := values[text]; ok {
		return n
	}
	n, ten := 0, false
	for _, r := range text {
		switch {
		case r >= '0' && r <= '9':
			n = n*10 + int(r-'0')
		case r == '十':
			n, ten = max(n, 1)*10, true
		case ten:
			n += digits[r]
		default:
			n = digits[r]
		}
	}
	return n
}
