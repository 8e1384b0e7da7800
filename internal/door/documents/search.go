package documents

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
)

const (
	// longestQuery bounds what is searched for, in characters; the rest of it is left out.
	longestQuery = 100
	// mostFound is how many sections a search returns.
	mostFound = 30
	// beforeHit and fromHit are how much text a snippet has before the first hit and from it on, in characters.
	beforeHit, fromHit = 40, 120
)

// section is a heading of a document with the text up to the next one. The folded texts are those that are searched.
type section struct {
	page, path, title, heading, text       string // page is the path without the anchor
	foldedTitle, foldedHeading, foldedText string
}

// Found is a section that a search found.
type Found struct {
	// Path is its path with its anchor, without the base path.
	Path string
	// Title is the title of the document. Within is set for a section of its own, whose heading is another one.
	Title, Heading, Snippet []Piece
	Within                  bool
}

// Piece is a part of a text; Hit is set for what was searched for.
type Piece struct {
	Text string
	Hit  bool
}

// sections are the sections of a document. It is asked for before the title is taken out.
func (d *parsed) sections() []section {
	var all []section
	title, page := "", pathOf(d.name)
	for _, h := range d.headings {
		s := section{page: page, path: page + "#" + h.ID, heading: h.Text}
		if h.Level == 1 {
			title, s.path = h.Text, page
		}
		s.title = title
		var text strings.Builder
		for n := h.node.NextSibling(); n != nil && n.Kind() != ast.KindHeading; n = n.NextSibling() {
			text.WriteString(d.text(n) + "\n\n")
		}
		s.text = oneLine(text.String())
		s.foldedTitle, s.foldedHeading, s.foldedText = fold(s.title), fold(s.heading), fold(s.text)
		all = append(all, s)
	}
	return all
}

// Search returns the sections in which every word of a query occurs, the best ones first: a word in a heading counts
// more than one in the title of the document, and that more than one in the text.
func (l *Library) Search(query string) []Found {
	if runes := []rune(query); len(runes) > longestQuery {
		query = string(runes[:longestQuery])
	}
	words := strings.Fields(fold(query))
	if len(words) == 0 {
		return nil
	}
	type ranked struct {
		*section
		rank int
	}
	var hits []ranked
	for i := range l.sections {
		if rank := l.sections[i].rank(words); rank > 0 {
			hits = append(hits, ranked{&l.sections[i], rank})
		}
	}
	slices.SortStableFunc(hits, func(a, b ranked) int { return cmp.Compare(b.rank, a.rank) })
	found := make([]Found, 0, min(len(hits), mostFound))
	for _, s := range hits[:cap(found)] {
		found = append(found, Found{s.path, mark(s.title, words), mark(s.heading, words), mark(snippet(s.text, words), words), s.path != s.page})
	}
	return found
}

// rank says how well a section answers a query; 0 when a word does not occur in it.
func (s *section) rank(words []string) int {
	rank, inside := 0, false
	for _, word := range words {
		in := 20*weight(s.foldedHeading, word) + weight(s.foldedText, word)
		inside = inside || in > 0
		in += 5 * weight(s.foldedTitle, word)
		if in == 0 {
			return 0
		}
		rank += in
	}
	if !inside { // the title alone says it, so the beginning of the document does
		return 0
	}
	if phrase := strings.Join(words, " "); len(words) > 1 {
		rank += 20*weight(s.foldedHeading, phrase) + 5*weight(s.foldedText, phrase)
	}
	return rank
}

// weight is how much a text is about a word: the beginning of a word counts twice as much as the middle of one.
func weight(text, word string) int {
	at := strings.Index(text, word)
	if at < 0 {
		return 0
	}
	for ; at >= 0; at = next(text, word, at) {
		if at == 0 || !isLatin(text[at-1]) {
			return 2
		}
	}
	return 1
}

// next is where a word occurs again; less than 0 when it does not.
func next(text, word string, at int) int {
	from := at + len(word)
	if again := strings.Index(text[from:], word); again >= 0 {
		return from + again
	}
	return -1
}

// fold makes letters small, and keeps each where it is.
func fold(text string) string {
	return strings.Map(func(r rune) rune {
		if small := unicode.ToLower(r); utf8.RuneLen(small) == utf8.RuneLen(r) {
			return small
		}
		return r
	}, text)
}

// snippet is the part of a text around the first hit; its beginning when nothing is hit.
func snippet(text string, words []string) string {
	folded, first := fold(text), len(text)
	for _, word := range words {
		if at := strings.Index(folded, word); at >= 0 {
			first = min(first, at)
		}
	}
	if first == len(text) {
		first = 0
	}
	from, to := first, first
	for range beforeHit {
		_, size := utf8.DecodeLastRuneInString(text[:from])
		from -= size
	}
	for range fromHit {
		_, size := utf8.DecodeRuneInString(text[to:])
		to += size
	}
	for from > 0 && isLatin(text[from-1]) && from < len(text) && isLatin(text[from]) { // no part of a word
		from--
	}
	for to > 0 && to < len(text) && isLatin(text[to-1]) && isLatin(text[to]) {
		to++
	}
	part := strings.TrimSpace(text[from:to])
	if from > 0 {
		part = "… " + part
	}
	if to < len(text) {
		part += " …"
	}
	return part
}

// isLatin reports whether a byte is a letter or digit of ASCII.
func isLatin(b byte) bool {
	return b < utf8.RuneSelf && (unicode.IsLetter(rune(b)) || unicode.IsDigit(rune(b)))
}

// mark parts a text into hits and the rest.
func mark(text string, words []string) []Piece {
	folded, hit := fold(text), make([]bool, len(text))
	for _, word := range words {
		for at := strings.Index(folded, word); at >= 0; at = next(folded, word, at) {
			for i := range len(word) {
				hit[at+i] = true
			}
		}
	}
	var pieces []Piece
	for from := 0; from < len(text); {
		to := from + 1
		for to < len(text) && hit[to] == hit[from] {
			to++
		}
		pieces = append(pieces, Piece{text[from:to], hit[from]})
		from = to
	}
	return pieces
}
