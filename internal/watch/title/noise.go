package title

import "strings"

// tags are what release files and libraries append: the picture's quality, the origin,
// the codec, the medium.
var tags = []string{
	"480p", "720p", "1080p", "1080i", "2160p", "4k", "uhd", "hdr", "hdr10", "bdrip", "bd-rip", "bluray", "blu-ray", "bdmv", "dvdrip", "dvd-rip",
	"webdl", "web-dl", "webrip", "web-rip", "hdtv", "x264", "x265", "h264", "h265", "h.264", "h.265", "x.264", "x.265", "hevc", "avc", "flac", "aac",
	"10bit", "10-bit", "8bit", "8-bit", "remux", "batch",
}

// heads are what announces a show in front of its title.
var heads = []string{"tvアニメーション", "tvアニメ", "tv动画", "tv動畫"}

// clean takes the noise off a plain title and gives the year it carried, 0 for none.
func clean(plain string) (rest string, year int) {
	rest = plain
	for {
		before := rest
		rest = cutBrackets(rest)
		rest = cutTag(rest)
		rest = cutHead(rest)
		if name, y := cutYear(rest); y != 0 {
			rest, year = name, y
		}
		if rest == before {
			return rest, year
		}
	}
}

// cutBrackets takes [Group] and [1080p] off either end; a title that is bracketed whole, as
// it is or but for its marks, has nothing left without it and is kept. Marks in brackets are
// no noise: they lose their brackets and stand at the end.
func cutBrackets(text string) string {
	if strings.HasSuffix(text, "]") {
		if start := strings.LastIndexByte(text, '['); start > 0 && strings.IndexByte(text[start:len(text)-1], ']') < 0 {
			inside, rest := text[start+1:len(text)-1], strings.TrimRight(text[:start], " ")
			switch {
			case !hasLetter(rest):
			case OnlyMarks(inside):
				return rest + " " + inside
			default:
				return rest
			}
		}
	}
	if strings.HasPrefix(text, "[") {
		if end := strings.IndexByte(text, ']'); end > 0 && strings.IndexByte(text[1:end], '[') < 0 {
			inside, rest := text[1:end], strings.TrimLeft(text[end+1:], " ")
			switch {
			case !hasLetter(rest) || OnlyMarks(rest):
			case OnlyMarks(inside):
				return rest + " " + inside
			default:
				return rest
			}
		}
	}
	return text
}

// OnlyMarks reports whether nothing is left of text without its marks of season, part and kind.
func OnlyMarks(text string) bool {
	const name = "x"
	return parse(name+" "+Plain(text)).Base == name
}

// cutTag takes a tag off the end, where it stands free; a medium only in parentheses or behind a dash.
func cutTag(text string) string {
	trimmed := strings.TrimRight(text, " )]")
	for _, medium := range []string{" - tv", "(tv", "( tv"} {
		if rest, found := strings.CutSuffix(trimmed, medium); found && hasLetter(rest) {
			return strings.TrimRight(rest, " ")
		}
	}
	for _, tag := range tags {
		front, found := strings.CutSuffix(trimmed, tag)
		if !found {
			continue
		}
		if rest := strings.TrimRight(front, " ._-(["); rest != front && hasLetter(rest) {
			return rest
		}
	}
	return text
}

func cutHead(text string) string {
	for _, head := range heads {
		if rest, found := strings.CutPrefix(text, head); found {
			if rest = strings.TrimLeft(rest, " "); hasLetter(rest) {
				return rest
			}
		}
	}
	return text
}

// cutYear takes a year in parentheses off the end; it is 0 when there is none.
func cutYear(text string) (rest string, year int) {
	inside, found := strings.CutSuffix(text, ")")
	if !found {
		return text, 0
	}
	inside = strings.TrimRight(inside, " ")
	start := len(inside) - len("2007")
	if start < 1 || !strings.HasPrefix(inside[start:], "19") && !strings.HasPrefix(inside[start:], "20") {
		return text, 0
	}
	for _, digit := range inside[start:] {
		if !isDigit(digit) {
			return text, 0
		}
		year = year*10 + int(digit-'0')
	}
	front, found := strings.CutSuffix(strings.TrimRight(inside[:start], " "), "(")
	if rest = strings.TrimRight(front, " "); !found || rest == "" {
		return text, 0
	}
	return rest, year
}
