package settings

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"watchmark/internal/platform/reason"
)

// Errors is everything that is wrong with a set of settings; it is never empty
// when returned as an error.
type Errors []*reason.FieldError

// Error has one line for each problem.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives errors.As each reason.FieldError.
func (e Errors) Unwrap() []error {
	list := make([]error, len(e))
	for i, one := range e {
		list[i] = one
	}
	return list
}

// byKey orders e, so that the same mistakes always give the same text.
func (e Errors) byKey() Errors {
	slices.SortStableFunc(e, func(a, b *reason.FieldError) int { return cmp.Compare(a.Field, b.Field) })
	return e
}

// unknownSection says that there is no section of that name, and what may be meant.
func unknownSection(name string) *reason.FieldError {
	var names []string
	for _, sec := range table(&Settings{}) {
		names = append(names, sec.name)
	}
	if near, ok := nearest(name, names); ok {
		return reason.At(shown(name), unknownSectionNear.With(near))
	}
	return reason.At(shown(name), noSuchSection.With(strings.Join(names, ", ")))
}

// unknownKey says that the section, which exists, has no key of that name, and
// what may be meant.
func unknownKey(section, name string) *reason.FieldError {
	var siblings, paths []string
	for _, sec := range table(&Settings{}) {
		for _, o := range sec.options {
			paths = append(paths, o.path)
			if sec.name == section {
				siblings = append(siblings, o.name)
			}
		}
	}
	what := noSuchKey.With(section, strings.Join(siblings, ", "))
	if near, ok := nearest(name, siblings); ok {
		what = unknownKeyNear.With(section + "." + near)
	} else if i := slices.IndexFunc(paths, func(path string) bool { return strings.HasSuffix(path, "."+name) }); i >= 0 {
		what = unknownKeyNear.With(paths[i])
	}
	return reason.At(section+"."+shown(name), what)
}

// outsideSections says that name is written as a key outside of every section.
func outsideSections(name string) *reason.FieldError {
	for _, sec := range table(&Settings{}) {
		if sec.name == name {
			return reason.At(shown(name), isASection.With(name))
		}
		for _, o := range sec.options {
			if o.name == name {
				return reason.At(shown(name), outsideNear.With(o.path))
			}
		}
	}
	return reason.At(shown(name), outside.With())
}

// nearest is the candidate that name most likely is a misspelling of, if any is near.
func nearest(name string, candidates []string) (string, bool) {
	const longest = 64 // no name of ours is longer, and the distance costs length times length
	if len(name) > longest {
		return "", false
	}
	best, bestDistance := "", max(2, len(name)/4)+1
	for _, c := range candidates {
		if d := distance(strings.ToLower(name), strings.ToLower(c)); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best, best != ""
}

// distance counts the insertions, deletions and replacements that lead from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// shown makes foreign text fit for one line of a message: short, and quoted
// unless it is a plain name.
func shown(text string) string {
	const most = 80
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	if text != "" && madeOf(text, alphanumeric+"_-") {
		return text
	}
	return strconv.Quote(text)
}
