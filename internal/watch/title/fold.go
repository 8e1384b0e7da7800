// Package title compares the titles of shows: it folds the ways one title can be
// written into one, takes the noise of releases and libraries off, reads the marks
// of seasons and parts, and says how alike two titles are. It is pure and knows no catalog.
package title

import (
	_ "embed"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

//go:generate go run ./gen

// hanForms has a line for each Han character with its other written forms behind it:
// traditional, of Taiwan and Hong Kong, of Japan.
//
//go:embed han.txt
var hanForms string

// firstHan and lastHan are the characters that hanForms may hold.
const firstHan, lastHan = '一', '龥'

// sameHan is the character that another one is folded to, less firstHan, counted from firstHan.
var sameHan = func() (table [lastHan - firstHan + 1]uint16) {
	for i := range table {
		table[i] = uint16(i)
	}
	for class := range strings.Lines(hanForms) {
		to, size := utf8.DecodeRuneInString(class)
		for _, r := range strings.TrimSuffix(class[size:], "\n") {
			table[r-firstHan] = uint16(to - firstHan)
		}
	}
	return table
}()

// Plain is text in one width, one case and with single spaces: what differs only in
// these is the same title, punctuation included.
func Plain(text string) string {
	if isPlain(text) {
		return text
	}
	text = norm.NFKC.String(text)
	if !strings.ContainsFunc(text, changes) && text != "" && !strings.HasPrefix(text, " ") && !strings.HasSuffix(text, " ") && !strings.Contains(text, "  ") {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	space := false
	for _, r := range text {
		if unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			space = b.Len() > 0
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// changes reports whether a plain text has another rune instead of r.
func changes(r rune) bool {
	return r != ' ' && unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.ToLower(r) != r
}

// isPlain reports whether ASCII text needs no change, which spares most Latin titles the work.
func isPlain(text string) bool {
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf || c < ' ' || 'A' <= c && c <= 'Z' {
			return false
		}
		if c == ' ' && (i == 0 || i == len(text)-1 || text[i+1] == ' ') {
			return false
		}
	}
	return true
}

// Key is text folded for comparison: Plain without spaces and punctuation, Han characters
// of every country in one form, katakana as hiragana. A title made of punctuation alone
// is its own key.
func Key(text string) string {
	text = norm.NFKC.String(text)
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range text {
		if r = fold(r); r >= 0 {
			b.WriteRune(r)
		}
	}
	if b.Len() == 0 {
		return Plain(text)
	}
	return b.String()
}

// fold is r as a key has it, -1 for what a key leaves out.
func fold(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			return r
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return -1
	case firstHan <= r && r <= lastHan:
		return firstHan + rune(sameHan[r-firstHan])
	case 'ァ' <= r && r <= 'ヶ':
		return r - 'ァ' + 'ぁ'
	case unicode.IsLetter(r), unicode.IsNumber(r):
		return unicode.ToLower(r)
	}
	return -1
}
