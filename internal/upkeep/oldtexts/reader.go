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

// before are the English texts of the kinds as the last version that stored texts had them, by code. They never change.
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
	kind   *reason.Kind
	fits   *regexp.Regexp
	quoted []bool
	weight int // how much text it has of its own, in bytes
	// order are the places of the arguments of the kind among those of the text.
	order []int
}

var place = regexp.MustCompile(`\{(\w+)(:q)?\}`)

func newReader() (*reader, error) {
	var english map[string]string
	if err := json.Unmarshal(before, &english); err != nil {
		return nil, err
	}
	r := &reader{byWord: map[string][]pattern{}}
	for _, kind := range reason.Kinds() {
		text, known := english[kind.Code()]
		if !known {
			continue
		}
		p := pattern{kind: kind, weight: len(place.ReplaceAllString(text, ""))}
		if p.weight < 4 {
			continue // "{x}: {y}" fits anything
		}
		var names []string
		expression, from := "(?s)^", 0
		for _, at := range place.FindAllStringSubmatchIndex(text, -1) {
			name, quoted := text[at[2]:at[3]], at[4] >= 0
			expression += regexp.QuoteMeta(text[from:at[0]])
			if quoted {
				expression += `("(?:[^"\\]|\\.)*")`
			} else {
				expression += "(.+?)"
			}
			names, p.quoted, from = append(names, name), append(p.quoted, quoted), at[1]
		}
		p.fits = regexp.MustCompile(expression + regexp.QuoteMeta(text[from:]) + "$")
		var now []string
		for _, at := range place.FindAllStringSubmatch(kind.Texts().English, -1) {
			if !slices.Contains(now, at[1]) {
				now = append(now, at[1])
				p.order = append(p.order, slices.Index(names, at[1]))
			}
		}
		if word, _, several := strings.Cut(text, " "); several && !strings.Contains(word, "{") {
			r.byWord[word] = append(r.byWord[word], p)
		} else {
			r.loose = append(r.loose, p)
		}
	}
	heavyFirst := func(a, b pattern) int { return cmp.Compare(b.weight, a.weight) }
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
			args := make([]any, len(p.order))
			for i, from := range p.order {
				if from < 0 {
					args[i] = ""
					continue
				}
				args[i] = r.argument(values[from+1], p.quoted[from], depth+1)
			}
			return p.kind.With(args...), true
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
