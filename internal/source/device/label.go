package device

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"watchmark/internal/platform/reason"
	"watchmark/internal/watch/title"
)

// number is an episode number as labels write it; han is one in Chinese numerals.
const (
	number = `(\d{1,4}(?:\.\d)?)`
	han    = `([〇零一二三四五六七八九十百千两兩]{1,7})`
	left   = `(?:^|[^a-z0-9])`
	right  = `(?:[^a-z0-9]|$)`
	ending = `(?:v\d)?[ _-]?(?:end|fin|完结?|完結|终|終|大结局|大結局)?`
	// quality are the words with which sites praise a file.
	quality = `正片|uhd|蓝光|藍光|超清|高清|标清|原画|原盘|杜比视界|国语版?|國語版?|粤语版?|粵語版?|日语版?|日語版?|英语版?|双语|双字|中字|中文字幕|中英字幕|无字幕|字幕版?`
)

// Everything below reads plain text: NFKC, lower case, single spaces (title.Plain).
var (
	playing   = regexp.MustCompile(`^(?:正在播放中?|播放中|now playing|playing) ?: ?`)
	extension = regexp.MustCompile(`(?:\.(?:mp4|mkv|avi|ts|m2ts|m3u8|mpd|flv|f4v|rmvb|rm|mov|wmv|webm|m4v|mpe?g|iso|strm))+$`)
	// counts say how many episodes there are, not which one this is. 第12集完结 is the last one.
	counts = regexp.MustCompile(`(?:全|共|更新?[至到]|更新|连载至|連載至) ?第? ?(?:\d{1,4}|[一二三四五六七八九十百千]{1,7}) ?[集话話回]?|(?:^|[^第\d ]) ?\d{1,4} ?[集话話回] ?(?:全|完结|完結)|全集|合集`)

	whole      = regexp.MustCompile(`^` + number + ending + `$`)
	wholeRange = regexp.MustCompile(`^(\d{1,4}) ?[-~+&] ?(\d{1,4})$`)
	marked     = regexp.MustCompile(left + `s(\d{1,2})[ ._-]?ep?[ ._]?` + number + `(?:(?:-|-?(?:s\d{1,2})?ep?)(\d{1,3}))?(?:v\d)?` + right)
	counted    = regexp.MustCompile(`第 ?` + number + `(?: ?[集话話章回]? ?[-~至到、,&+] ?第? ?(\d{1,4}))? ?[集话話章回]|第 ?` + han + ` ?[集话話章回]|(?:^|[^\d.])` + number + ` ?[集话話回]`)
	lettered   = regexp.MustCompile(left + `(?:ep(?:isode)?[ ._-]{0,2}|e)` + number + `(?:(?:-|-?ep?)(\d{1,3}))?(?:v\d)?` + right)
	hashed     = regexp.MustCompile(`#` + number + right)
	dashed     = regexp.MustCompile(`(?:^| )- ?` + number + ending + `(?: |\[|\(|$)`)
	bracketed  = regexp.MustCompile(`[\[(【「『](\d{1,3}(?:\.\d)?)` + ending + `[\])】」』]`)

	hanSpecial   = regexp.MustCompile(`(?:特别篇|特別篇|特別編|特别编|番外篇|番外編|番外|スペシャル|总集篇|總集篇|総集編)[ ._#-]?第?(?:(\d{1,3})|` + han + `)?`)
	latinSpecial = regexp.MustCompile(left + `(?:sp|specials?|(ova|oad|oav))(?:\]?[ ._#\[-]?(\d{1,3}))?` + right)
	hanExtra     = regexp.MustCompile(`预告|預告|花絮|彩蛋|片头曲|片尾曲|幕后(?:花絮|特辑|制作|$)|主题曲|先行版|片花|看点|速看|解说`)
	latinExtra   = regexp.MustCompile(left + `(?:nc(?:op|ed)|pv|menu|trailer|preview|teaser)\d{0,2}` + right)
	// maybeExtra stand in the names of episodes, too: they count where no episode is named.
	maybeExtra = regexp.MustCompile(left + `(?:op|ed|cm)\d{0,2}` + right)
	// volume has a number that counts no episodes.
	volume = regexp.MustCompile(left + `(?:part|pt|vol(?:ume)?|dis[ck]|cd)[ ._-]{0,2}\d{1,2}` + right)

	filmWord = regexp.MustCompile(`剧场版|劇場版|电影|電影|` + left + `(?:movie|film)` + right)
	// wholeFilm is a label that says of what quality the only file is, or nothing at all.
	wholeFilm = regexp.MustCompile(`^(?:(?:(?:hd|bd)\d{3,4}p?|hd|bd|tc|ts|dvd|4k|8k|\d{3,4}p|hdr(?:10)?|web-?dl|remux|全片|完整版?|播放|立即播放|原声版?|抢先版?|加长版?|中英|国粤|国英|剧场版|劇場版|电影|電影|the movie|movie|film|` + quality + `)[ ._/|()-]*)+$`)

	seasonWord = regexp.MustCompile(`第 ?(?:(\d{1,2})|([一二三四五六七八九十]{1,3})) ?[季期]|season ?(\d{1,2})|(\d{1,2})(?:st|nd|rd|th) season|` + left + `s(\d{1,2})` + right)

	// noise are the parts of a label whose digits count no episodes, and words that lean on those that do.
	noise = regexp.MustCompile(`[\[(【][^\])】]*[\])】]|\d+(?:\.\d+)? ?[gmk]i?b|\d{3,4}x\d{3,4}|\d{3,4}[pi]\b|\b[48]k\b|[xh][. ]?26[3456]|\d{1,2}[ -]?bit|\d{2,3} ?fps|(?:aac|ddp?|dts|ac|flac|eac)[ -]?\d(?:\.\d)?|\b[257]\.1\b|` +
		`(?:19|20)\d\d[-./年]?\d{1,2}[-./月]?\d{1,2}日?|(?:19|20)\d\d年?|第 ?[\d一二三四五六七八九十]{1,3} ?[季期部]|\d{1,2}(?:st|nd|rd|th) season|season ?\d{1,2}|\bs\d{1,2}\b|\bver[. ]?\d|\d+ ?[-~] ?\d+|` + quality)
	digits = regexp.MustCompile(`\d+`)
	// parting is a dot or slash that stands between words, and not in a fraction or date.
	parting = regexp.MustCompile(`(^|\D)[./]|[./](\D|$)`)
)

// found is what one text tells of the episode.
type found struct {
	season *int
	// bare is set when season is a lone number behind a name, to which it may belong.
	bare     bool
	episodes []float64
	kind     Kind
	how      string       // the rule
	problem  *reason.Kind // why no episode can be told from this text although it speaks of some
}

// readLabel reads the label of an episode. plainTitle is taken off its beginning. The
// order is that of certainty: the label as a whole before what stands somewhere in it.
func readLabel(label, plainTitle string) found {
	text := withoutTitle(extension.ReplaceAllString(label, ""), plainTitle)
	if f, ok := readWhole(text); ok {
		return f
	}
	extra := found{kind: Extra, how: "extra", problem: isExtra}
	if hanExtra.MatchString(text) || latinExtra.MatchString(text) {
		return extra
	}
	text, counting := cutCounts(text)
	if f, ok := readNamed(text); ok {
		return f
	}
	switch {
	case maybeExtra.MatchString(text):
		return extra
	case volume.MatchString(text):
		return found{problem: labelNumbersParts}
	}
	if f, ok := readPlaced(text); ok {
		return f
	}
	if f, ok := readRest(text); ok {
		return f
	}
	if counting {
		return found{problem: labelCounts}
	}
	return found{}
}

// withoutTitle is text without the title in front of it, which may have digits of its own.
func withoutTitle(text, plainTitle string) string {
	rest, found := strings.CutPrefix(text, plainTitle)
	trimmed := strings.TrimLeft(rest, " ._-")
	if last := lastRune(plainTitle); !found || plainTitle == "" || trimmed == "" || trimmed == rest && last < unicode.MaxASCII && joins(firstRune(rest)) {
		return text
	}
	return trimmed
}

// readWhole reads a label that is nothing but a number, or a span of two.
func readWhole(text string) (found, bool) {
	if m := whole.FindStringSubmatch(text); m != nil && !isYear(m[1]) {
		return numbered(m[1], "the whole label"), true
	}
	if m := wholeRange.FindStringSubmatch(text); m != nil {
		if f, ok := spanned(m[1], m[2], "the whole label"); ok {
			return f, true
		}
		return found{problem: labelNamesSpan}, true
	}
	return found{}, false
}

// cutCounts takes off what says how many episodes there are.
func cutCounts(text string) (rest string, counting bool) {
	rest = counts.ReplaceAllString(text, " ")
	return strings.Join(strings.Fields(rest), " "), rest != text
}

// readNamed reads an episode that a word or letter marks as one.
func readNamed(text string) (found, bool) {
	if m := marked.FindStringSubmatch(text); m != nil {
		f := numbered(m[2], "S01E02")
		if span, ok := spanned(m[2], m[3], "S01E02"); ok {
			f = span
		}
		season, _ := strconv.Atoi(m[1]) // two digits
		if f.season = &season; season == 0 {
			f.kind = Special
		}
		return f, true
	}
	if f, ok := readSpecial(text); ok {
		return f, true
	}
	if m := counted.FindStringSubmatch(text); m != nil {
		if m[3] != "" {
			if n, ok := hanNumber(m[3]); ok {
				return numbered(strconv.Itoa(n), "第…集"), true
			}
			return found{}, false
		}
		if f, ok := spanned(m[1], m[2], "第…集"); ok {
			return f, true
		}
		if m[2] != "" {
			return found{problem: labelNamesSpan}, true
		}
		return numbered(m[1]+m[4], "第…集"), true
	}
	if m := lettered.FindStringSubmatch(text); m != nil {
		if f, ok := spanned(m[1], m[2], "EP01"); ok {
			return f, true
		}
		return numbered(m[1], "EP01"), true
	}
	if m := hashed.FindStringSubmatch(text); m != nil {
		return numbered(m[1], "#01"), true
	}
	return found{}, false
}

// readSpecial reads what is no regular episode. A special needs a number of its own: to
// take one without for the first would be a guess.
func readSpecial(text string) (found, bool) {
	var digits string
	kind := Special
	if m := hanSpecial.FindStringSubmatch(text); m != nil {
		digits = m[1]
		if n, ok := hanNumber(m[2]); ok {
			digits = strconv.Itoa(n)
		}
		if c := counted.FindStringSubmatch(text); digits == "" && c != nil {
			digits = c[1] + c[4]
		}
	} else if m := latinSpecial.FindStringSubmatch(text); m != nil {
		if m[1] != "" {
			kind = OVA
		}
		if digits = m[2]; digits == "" && (counted.MatchString(text) || lettered.MatchString(text) || hashed.MatchString(text)) {
			return found{}, false // the word belongs to the episode's name
		}
	} else {
		return found{}, false
	}
	if digits == "" {
		return found{kind: kind, how: "special", problem: specialWithoutNumber}, true
	}
	f := numbered(digits, "special")
	f.kind = kind
	return f, true
}

// readPlaced reads a number in a place where file names have the episode's, behind the
// show's title, which may tell the season.
func readPlaced(text string) (found, bool) {
	for _, rule := range []struct {
		how string
		re  *regexp.Regexp
	}{{"number after a dash", dashed}, {"number in brackets", bracketed}} {
		at := rule.re.FindStringSubmatchIndex(text)
		if at == nil || isYear(text[at[2]:at[3]]) {
			continue
		}
		f := numbered(text[at[2]:at[3]], rule.how)
		if p := title.Parse(text[:at[0]]); p.Season > 0 {
			f.season, f.bare = &p.Season, p.Bare
		}
		return f, true
	}
	return found{}, false
}

// readRest reads the only number that is left when everything else is taken off, and that
// stands free.
func readRest(text string) (found, bool) {
	rest := parting.ReplaceAllString(noise.ReplaceAllString(text, " "), "$1 $2")
	only := ""
	for _, at := range digits.FindAllStringIndex(rest, -1) {
		n := rest[at[0]:at[1]]
		if len(n) > 3 || joins(lastRune(rest[:at[0]])) || joins(firstRune(rest[at[1]:])) {
			continue
		}
		if only != "" && only != n {
			return found{problem: severalNumbers}, true
		}
		only = n
	}
	switch film := filmWord.MatchString(text); {
	case film && digits.MatchString(rest):
		return found{problem: oneOfSeveralFilms}, true
	case film:
		return found{kind: Film}, true
	case only == "":
		return found{}, false
	}
	return numbered(only, "the only number"), true
}

// joins reports whether a digit beside r is part of something longer.
func joins(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' || r == '/' }

func firstRune(text string) rune {
	for _, r := range text {
		return r
	}
	return ' '
}

func lastRune(text string) rune {
	last := ' '
	for _, r := range text {
		last = r
	}
	return last
}

// numbered is an episode of digits that the patterns let through.
func numbered(digits, how string) found {
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return found{}
	}
	f := found{episodes: []float64{n}, kind: Episode, how: how}
	if n != float64(int(n)) {
		f.kind = Special
	}
	return f
}

// mostInFile is how many episodes one file may hold. A wider span counts what there is.
const mostInFile = 4

// spanned is a file of several episodes; ok is false when from and to make none, as in
// 2-03, where a season may stand in front.
func spanned(from, to, how string) (found, bool) {
	first, err := strconv.Atoi(from)
	last, bad := strconv.Atoi(to)
	if err != nil || bad != nil || last <= first || last-first >= mostInFile || to[0] == '0' && from[0] != '0' {
		return found{}, false
	}
	f := found{kind: Episode, how: how}
	for n := first; n <= last; n++ {
		f.episodes = append(f.episodes, float64(n))
	}
	return f, true
}

// isYear reports whether a lone number is rather a year.
func isYear(digits string) bool {
	return len(digits) == 4 && (strings.HasPrefix(digits, "19") || strings.HasPrefix(digits, "20"))
}

// readSeason is the season that words name: 第二季, Season 2, 2nd Season, S2.
func readSeason(text string) *int {
	m := seasonWord.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	n, ok := hanNumber(m[2])
	if !ok {
		var err error
		if n, err = strconv.Atoi(m[1] + m[3] + m[4] + m[5]); err != nil {
			return nil
		}
	}
	return &n
}

// hanNumber reads Chinese numerals below ten thousand; ok is false for no number.
func hanNumber(text string) (n int, ok bool) {
	digit, positional := 0, true
	for _, r := range text {
		value := strings.IndexRune("零一二三四五六七八九", r) / len("零")
		switch r {
		case '〇':
			value = 0
		case '两', '兩':
			value = 2
		}
		if unit := map[rune]int{'十': 10, '百': 100, '千': 1000}[r]; unit > 0 {
			if digit == 0 {
				digit = 1
			}
			n, digit, positional = n+digit*unit, 0, false
			continue
		}
		if positional { // 一二 is 12, as in years
			digit = digit*10 + value
		} else {
			digit = value
		}
	}
	return n + digit, text != "" && n+digit < 10000
}

// plainLabel is label as the rules read it, without what older players put in front of it.
func plainLabel(label string) string { return playing.ReplaceAllString(title.Plain(label), "") }
