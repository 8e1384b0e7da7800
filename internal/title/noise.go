package title

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	// [Group] and [1080p] at either end; a title that is bracketed whole has nothing left without it and is kept.
	squareStart = mark{regexp.MustCompile(`^\s*\[[^\[\]]*\]`), []string{"["}}
	squareEnd   = mark{regexp.MustCompile(`\[[^\[\]]*\]\s*$`), []string{"]"}}
	yearEnd     = mark{regexp.MustCompile(`\s*\(\s*((?:19|20)\d\d)\s*\)\s*$`), []string{"(19", "(20", "( "}}
	// What release files and libraries append: the picture's quality, the origin, the medium.
	qualityEnd = mark{regexp.MustCompile(`(?:^|[\s._\-(\[]+)(?:480p|720p|1080[pi]|2160p|4k|uhd|hdr(?:10)?|bd-?rip|blu-?ray|bdmv|dvd-?rip|web-?dl|web-?rip|hdtv|[xh][ ._]?26[45]|hevc|avc|flac|aac|10-?bit|8-?bit|remux|batch)[\s)\]]*$`), []string{"0p", "0i", "4k", "uhd", "hdr", "bd", "rip", "ray", "web", "hdtv", "26", "hevc", "avc", "flac", "aac", "bit", "remux", "batch"}}
	mediumEnd  = mark{regexp.MustCompile(`\s+-\s+tv\s*$|\s*\(\s*tv\s*\)\s*$`), []string{"tv"}}
	mediumHead = mark{regexp.MustCompile(`^tv(?:アニメ(?:ーション)?|动画|動畫)\s*`), []string{"tv"}}
)

// clean takes the noise off a plain title and gives the year it carried, 0 for none.
func clean(plain string) (rest string, year int) {
	rest = plain
	for {
		before := rest
		for _, noise := range []mark{squareStart, squareEnd, qualityEnd, mediumEnd, mediumHead} {
			rest = cut(rest, noise)
		}
		if containsAny(rest, yearEnd.hints) {
			if m := yearEnd.re.FindStringSubmatchIndex(rest); m != nil && m[0] > 0 {
				year, _ = strconv.Atoi(rest[m[2]:m[3]])
				rest = strings.TrimSpace(rest[:m[0]])
			}
		}
		if rest == before {
			return rest, year
		}
	}
}

// cut removes the first match of noise unless nothing with a letter would be left.
func cut(text string, noise mark) string {
	if !containsAny(text, noise.hints) {
		return text
	}
	m := noise.re.FindStringIndex(text)
	if m == nil {
		return text
	}
	rest := strings.TrimSpace(text[:m[0]] + " " + text[m[1]:])
	if !hasLetter(rest) {
		return text
	}
	return rest
}
