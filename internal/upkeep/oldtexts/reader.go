package oldtexts

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"watchmark/internal/platform/reason"
)

// before are the English texts of the kinds as the last version that stored texts had them, by the code of then. They never change: a kind that
// has another code or other arguments by now says so with reason.Kind.Was.
//
//go:embed texts.json
var before []byte

// longest is the longest text that is read, in bytes, and deepest how deep texts stand within texts.
const (
	longest = 2000
	deepest = 4
)

// reader recognises texts.
type reader struct {
	// byWord are the kinds by the first word of their text, loose those that begin with an argument; those with most text
	// of their own first.
	byWord map[string][]pattern
	loose  []pattern
}

// pattern recognises the texts of one kind.
type pattern struct {
	code   string
	fits   *regexp.Regexp
	names  []string // of the arguments, in the order of the text
	quoted []bool
	weight int // how much text it has of its own, in bytes
}

var place = regexp.MustCompile(`\{(\w+)(:q)?\}`)

func newReader() (*reader, error) {
	var english map[string]string
	if err := json.Unmarshal(before, &english); err != nil {
		return nil, err
	}
	r := &reader{byWord: map[string][]pattern{}}
	for code, text := range english {
		p := pattern{code: code, weight: len(place.ReplaceAllString(text, ""))}
		if _, known := reason.Stored(code, nil); !known || p.weight < 4 && p.weight < len(text) {
			continue // "{x}: {y}" fits anything
		}
		expression, from := "(?s)^", 0
		for _, at := range place.FindAllStringSubmatchIndex(text, -1) {
			name, quoted := text[at[2]:at[3]], at[4] >= 0
			expression += regexp.QuoteMeta(text[from:at[0]])
			if quoted {
				expression += `("(?:[^"\\]|\\.)*")`
			} else {
				expression += "(.+?)"
			}
			p.names, p.quoted, from = append(p.names, name), append(p.quoted, quoted), at[1]
		}
		p.fits = regexp.MustCompile(expression + regexp.QuoteMeta(text[from:]) + "$")
		if word, _, several := strings.Cut(text, " "); several && !strings.Contains(word, "{") {
			r.byWord[word] = append(r.byWord[word], p)
		} else {
			r.loose = append(r.loose, p)
		}
	}
	heavyFirst := func(a, b pattern) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), strings.Compare(a.code, b.code))
	}
	for _, list := range r.byWord {
		slices.SortFunc(list, heavyFirst)
	}
	slices.SortFunc(r.loose, heavyFirst)
	return r, nil
}

// read is the reason that a text is, with what is recognised within it.
func (r *reader) read(text string, depth int) (reason.Reason, bool) {
	if text == "" || len(text) > longest || depth > deepest {
		return reason.Reason{}, false
	}
	word, _, _ := strings.Cut(text, " ")
	for _, list := range [][]pattern{r.byWord[word], r.loose} {
		for _, p := range list {
			values := p.fits.FindStringSubmatch(text)
			if values == nil {
				continue
			}
			args := map[string]any{}
			for i, name := range p.names {
				args[name] = r.argument(values[i+1], p.quoted[i], depth+1)
			}
			return reason.Stored(p.code, args)
		}
	}
	return reason.Reason{}, false
}

// argument is a text within another one: quoted, a reason, several reasons in a row, or a text of others.
func (r *reader) argument(text string, quoted bool, depth int) any {
	if quoted {
		if inner, err := strconv.Unquote(text); err == nil {
			return inner
		}
		return text
	}
	if value, ok := r.read(text, depth); ok {
		return value
	}
	var all []reason.Reason
	for part := range strings.SplitSeq(text, ", ") {
		value, ok := r.read(part, depth)
		if !ok {
			return text
		}
		all = append(all, value)
	}
	return all
}
