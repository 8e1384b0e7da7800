package archive

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"unicode"
	"unicode/utf8"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/archive/titles"
	"watchmark/internal/watch"
	"watchmark/internal/watch/title"
)

// How is the way a title was found.
type How string

// The ways, the surest first.
const (
	Equal  How = "equal"  // the title is the same but for width, case, spaces, punctuation and kana
	Begins How = "begins" // the title begins with what was looked for
	Alike  How = "alike"  // the title is similar
)

// Found is a subject that a look-up by title found.
type Found struct {
	Subject catalog.Subject
	How     How
	// Kind is which of the subject's titles it was found by.
	Kind titles.Kind
	// Likeness is a ratio 0..1: how alike that title is.
	Likeness float64
	// rank orders equal titles: the same to the last mark, which title it is, how many know the subject.
	rank [3]int
}

// By is which of the subject's titles it was found by: name, name_cn or alias.
func (f Found) By() string {
	return [...]string{titles.Name: "name", titles.NameCN: "name_cn", titles.Alias: "alias"}[f.Kind]
}

// Query asks for subjects by title.
type Query struct {
	Text  string
	Types []catalog.SubjectType // empty = anime and live action
	// From and To bound the subject's date, both inclusive; zero is open. A subject
	// without a date passes no bound.
	From, To watch.Date
	Limit    int // 0 = 20, at most 100
}

const (
	exactMost  = 200
	prefixMost = 100
	likeMost   = 40
	// leastAlike is the likeness below which a title is another one.
	leastAlike = 0.3
)

// find is Archive.Find in this file.
func (f *file) find(ctx context.Context, q Query) ([]Found, error) {
	key := title.Key(q.Text)
	if key == "" {
		return []Found{}, nil
	}
	limit := min(q.Limit, 100)
	if limit <= 0 {
		limit = 20
	}
	hits, err := f.hits(key, func(e titles.Entry) bool {
		return len(q.Types) == 0 || slices.Contains(q.Types, catalog.SubjectType(e.Type))
	})
	if err != nil {
		return nil, searching.With(q.Text, err)
	}
	best := map[uint32]hit{}
	for _, h := range hits {
		if b, known := best[h.Subject]; !known || h.ahead(b) < 0 {
			best[h.Subject] = h
		}
	}
	hits = hits[:0]
	for _, h := range best {
		hits = append(hits, h)
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(a.ahead(b), cmp.Compare(a.Subject, b.Subject)) })
	plain := title.Plain(q.Text)
	window := catalog.SearchQuery{From: q.From, To: q.To}
	list := make([]Found, 0, min(limit, len(hits)))
	for _, h := range hits {
		// Equal ones are all read, because which of them comes first depends on what is read.
		if len(list) >= limit && h.how != Equal {
			break
		}
		s, err := f.subject(ctx, catalog.SubjectID(h.Subject))
		if errors.Is(err, catalog.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if window.Covers(s.Date) {
			list = append(list, Found{Subject: s.Subject, How: h.how, Kind: h.Kind, Likeness: h.Likeness,
				rank: [3]int{differs(plain, s.Subject), int(h.Kind), -s.fans}})
		}
	}
	slices.SortStableFunc(list, func(a, b Found) int {
		if a.How != Equal || b.How != Equal {
			return 0
		}
		return slices.Compare(a.rank[:], b.rank[:])
	})
	return list[:min(limit, len(list))], nil
}

// differs is 0 when a subject has the title plain, marks included, and 1 when it has not.
func differs(plain string, s catalog.Subject) int {
	if title.Plain(s.Name) == plain || title.Plain(s.NameCN) == plain ||
		slices.ContainsFunc(s.Aliases, func(alias string) bool { return title.Plain(alias) == plain }) {
		return 0
	}
	return 1
}

// hit is a title with the way it was found.
type hit struct {
	titles.Hit
	how How
}

// ahead orders hits, the better one first.
func (h hit) ahead(other hit) int {
	if (h.how == Equal) != (other.how == Equal) {
		if h.how == Equal {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(other.Likeness, h.Likeness), cmp.Compare(h.Kind, other.Kind))
}

// hits asks the index in the three ways.
func (f *file) hits(key string, keep func(titles.Entry) bool) ([]hit, error) {
	equal, err := f.index.Exact(key, exactMost)
	if err != nil {
		return nil, err
	}
	var hits []hit
	for _, e := range equal {
		if keep(e) {
			hits = append(hits, hit{titles.Hit{Entry: e, Likeness: 1}, Equal})
		}
	}
	alike := len(hits) == 0
	if tells(key) {
		longer, err := f.index.Prefix(key, prefixMost)
		if err != nil {
			return nil, err
		}
		for _, e := range longer {
			if e.Key != key && keep(e) {
				hits = append(hits, hit{titles.Hit{Entry: e, Likeness: max(0.5, title.Similarity(key, e.Key))}, Begins})
			}
		}
	}
	if alike {
		similar, err := f.index.Like(key, likeMost, keep)
		if err != nil {
			return nil, err
		}
		for _, h := range similar {
			if h.Likeness >= leastAlike {
				hits = append(hits, hit{h, Alike})
			}
		}
	}
	return hits, nil
}

// tells reports whether a beginning is long enough to mean something.
func tells(key string) bool {
	if utf8.RuneCountInString(key) >= 4 {
		return true
	}
	first, _ := utf8.DecodeRuneInString(key)
	return unicode.Is(unicode.Han, first) && utf8.RuneCountInString(key) >= 2
}
