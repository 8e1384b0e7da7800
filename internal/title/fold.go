// Package title compares the titles of shows: it folds the ways one title can be
// written into one, takes the noise of releases and libraries off, reads the marks
// of seasons and parts, and says how alike two titles are. It is pure and knows no catalog.
package title

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Plain is text in one width, one case and with single spaces: what differs only in
// these is the same title, punctuation included.
func Plain(text string) string {
	if isPlain(text) {
		return text
	}
	var b strings.Builder
	text = norm.NFKC.String(text)
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

// Key is text folded for comparison: Plain without spaces and punctuation, katakana
// as hiragana. A title made of punctuation alone is its own key.
func Key(text string) string {
	plain := Plain(text)
	var b strings.Builder
	b.Grow(len(plain))
	for _, r := range plain {
		switch {
		case r >= 'ァ' && r <= 'ヶ':
			b.WriteRune(r - 'ァ' + 'ぁ')
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			b.WriteRune(r)
		}
	}
	if b.Len() == 0 {
		return plain
	}
	return b.String()
}
