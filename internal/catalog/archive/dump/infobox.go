package dump

import (
	"bytes"
	"html"
	"slices"
	"strings"
	"unicode/utf8"

	"watchmark/internal/catalog"
)

// maxTitle is how many bytes of a title are read.
const maxTitle = 1000

// infobox is what the wiki text of a subject tells.
type infobox struct {
	aliases []string
	eps     int
}

var (
	epsKeys = [][]byte{[]byte("话数"), []byte("集数")}
	listEnd = []byte("}")
	boxEnd  = []byte("}}")
)

// readInfobox reads wiki text leniently (upstreams/archive.md section 8): a line that
// does not follow the grammar loses that line and no other. known are titles that are
// no aliases.
func readInfobox(wiki []byte, known ...string) infobox {
	var box infobox
	key, inList := []byte(nil), false
	for len(wiki) > 0 {
		line := wiki
		if end := bytes.IndexByte(wiki, '\n'); end >= 0 {
			line, wiki = wiki[:end], wiki[end+1:]
		} else {
			wiki = nil
		}
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0:
		case line[0] == '|':
			// A field ends a list that nobody closed.
			name, value, found := bytes.Cut(line[1:], []byte("="))
			key, inList = bytes.TrimSpace(name), false
			if !found {
				continue
			}
			if value = bytes.TrimSpace(value); len(value) == 1 && value[0] == '{' {
				inList = true
				continue
			}
			// Some close the list, or the whole box, on the line of the value.
			box.take(key, bytes.TrimSuffix(value, boxEnd), known)
		case bytes.Equal(line, listEnd), bytes.HasPrefix(line, boxEnd):
			inList = false
		case inList && line[0] == '[':
			item := bytes.TrimSuffix(line[1:], []byte("]"))
			if _, value, found := bytes.Cut(item, []byte("|")); found {
				item = value
			}
			box.take(key, item, known)
		}
	}
	return box
}

// take uses one value of a field.
func (b *infobox) take(key, value []byte, known []string) {
	if value = bytes.TrimSpace(value); len(value) == 0 || len(value) > maxTitle {
		return
	}
	if b.eps == 0 && slices.ContainsFunc(epsKeys, func(k []byte) bool { return bytes.Equal(k, key) }) {
		b.eps = leadingNumber(value)
		return
	}
	if catalog.IsTitleField(string(key)) {
		b.aliases = catalog.AppendAlias(b.aliases, text(value), known)
	}
}

// leadingNumber is the number that value begins with, 0 when it begins with none.
func leadingNumber(value []byte) int {
	n := 0
	for _, c := range value[:min(len(value), 5)] {
		if c < '0' || c > '9' {
			break
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// text is a title as a string: HTML entities resolved, without surrounding space, bounded.
func text(value []byte) string {
	title := string(cut(value))
	if strings.IndexByte(title, '&') >= 0 {
		title = strings.ReplaceAll(html.UnescapeString(title), "\n", " ")
	}
	return strings.TrimSpace(title)
}

// cut bounds a text.
func cut(text []byte) []byte {
	n := len(text)
	if n <= maxTitle {
		return text
	}
	for n = maxTitle; !utf8.RuneStart(text[n]); n-- {
	}
	return text[:n]
}
