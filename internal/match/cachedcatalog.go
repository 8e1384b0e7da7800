package match

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"watchmark/internal/catalog"
	"watchmark/internal/watch/title"
)

// cachedCatalog asks the catalog, or the archive, and remembers every answer for the length of one match.
type cachedCatalog struct {
	catalog   Catalog
	most      int // hits that one search asks for
	searches  map[string][]catalog.Subject
	subjects  map[catalog.SubjectID]catalog.Subject
	relations map[catalog.SubjectID][]catalog.Relation
	episodes  map[catalog.SubjectID][]catalog.EpisodeInfo
	names     map[catalog.SubjectID][]name
	called    map[catalog.SubjectID][]string // titles that the id table has besides
	lookUps   int
	// sparse is set when a search found what it found while the catalog's own is switched off.
	sparse bool
	// refused is the error with which the catalog refused the token of the account that was asked by.
	refused error
	// archived is set for the archive, which hides nothing.
	archived bool
	// unseen are subjects whose episodes nobody shows, renewed those whose list was asked of the account.
	unseen, renewed map[catalog.SubjectID]bool
}

func newCachedCatalog(c Catalog, most int) *cachedCatalog {
	return &cachedCatalog{
		catalog:   c,
		most:      most,
		searches:  map[string][]catalog.Subject{},
		subjects:  map[catalog.SubjectID]catalog.Subject{},
		relations: map[catalog.SubjectID][]catalog.Relation{},
		episodes:  map[catalog.SubjectID][]catalog.EpisodeInfo{},
		names:     map[catalog.SubjectID][]name{},
		called:    map[catalog.SubjectID][]string{},
		unseen:    map[catalog.SubjectID]bool{},
		renewed:   map[catalog.SubjectID]bool{},
	}
}

// search gives the hits of q that are of a type asked for. A keyword that the catalog refuses finds nothing.
func (l *cachedCatalog) search(ctx context.Context, q catalog.SearchQuery) ([]catalog.Subject, error) {
	key := fmt.Sprint(q)
	if hits, known := l.searches[key]; known {
		return hits, nil
	}
	l.lookUps++
	hits, err := l.catalog.Search(ctx, q)
	if errors.Is(err, catalog.ErrNotFound) || errors.Is(err, catalog.ErrRefused) {
		hits, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	l.sparse = l.sparse || slices.ContainsFunc(hits, func(s catalog.Subject) bool { return s.Sparse })
	hits = slices.DeleteFunc(slices.Clone(hits), func(s catalog.Subject) bool { return !slices.Contains(q.Types, s.Type) })
	for _, s := range hits {
		if _, known := l.subjects[s.ID]; !known && isWhole(s) {
			l.subjects[s.ID] = s
		}
	}
	l.searches[key] = hits
	return hits, nil
}

// adultTitles gives the hits of q that the catalog shows to the account alone; an account that cannot ask finds none, and
// a refused token is remembered.
func (l *cachedCatalog) adultTitles(ctx context.Context, by Viewer, q catalog.SearchQuery) ([]catalog.Subject, error) {
	l.lookUps++
	hits, err := by.AdultTitles(ctx, q)
	l.noteRefusal(err)
	switch {
	case err != nil && !isAway(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	hits = slices.DeleteFunc(hits, func(s catalog.Subject) bool { return !slices.Contains(q.Types, s.Type) })
	for _, s := range hits {
		l.subjects[s.ID] = s
	}
	return hits, nil
}

// isWhole reports whether a hit tells all of its subject: those of the legacy
// search have neither platform nor aliases (upstreams/catalog.md section 6).
func isWhole(s catalog.Subject) bool { return s.Platform != "" || len(s.Aliases) > 0 }

func (l *cachedCatalog) subject(ctx context.Context, id catalog.SubjectID) (catalog.Subject, error) {
	if s, known := l.subjects[id]; known {
		return s, nil
	}
	l.lookUps++
	s, err := l.catalog.Subject(ctx, id)
	if !l.archived {
		s, err = orSeen(ctx, l, s, err, func(by Viewer) (catalog.Subject, error) { return by.Subject(ctx, id) })
	}
	if err != nil {
		return catalog.Subject{}, err
	}
	l.subjects[id], l.subjects[s.ID] = s, s
	return s, nil
}

// related gives the neighbours of a subject; one that the catalog does not show has none.
func (l *cachedCatalog) related(ctx context.Context, id catalog.SubjectID) ([]catalog.Relation, error) {
	if r, known := l.relations[id]; known {
		return r, nil
	}
	l.lookUps++
	r, err := l.catalog.Relations(ctx, id)
	if !l.archived && l.subjects[id].NSFW {
		r, err = orSeen(ctx, l, r, err, func(by Viewer) ([]catalog.Relation, error) { return by.Relations(ctx, id) })
	}
	if err != nil && !errors.Is(err, catalog.ErrNotFound) {
		return nil, err
	}
	l.relations[id] = r
	return r, nil
}

// episodesOf gives the main episodes and the specials of a subject, each by sort.
func (l *cachedCatalog) episodesOf(ctx context.Context, id catalog.SubjectID) (main, special []catalog.EpisodeInfo, err error) {
	list, known := l.episodes[id]
	if !known {
		l.lookUps++
		list, err = l.catalog.Episodes(ctx, id)
		if !l.archived {
			list, err = orSeen(ctx, l, list, err, func(by Viewer) ([]catalog.EpisodeInfo, error) { return by.Episodes(ctx, id) })
		}
		if err != nil && !errors.Is(err, catalog.ErrNotFound) {
			return nil, nil, err
		}
		l.unseen[id] = err != nil
		l.episodes[id] = list
	}
	for _, e := range list {
		switch e.Type {
		case catalog.Main:
			main = append(main, e)
		case catalog.Special:
			special = append(special, e)
		}
	}
	bySort := func(a, b catalog.EpisodeInfo) int {
		switch {
		case a.Sort < b.Sort:
			return -1
		case a.Sort > b.Sort:
			return 1
		}
		return int(a.ID - b.ID)
	}
	slices.SortStableFunc(main, bySort)
	slices.SortStableFunc(special, bySort)
	return main, special, nil
}

// call has titles count as those of a subject.
func (l *cachedCatalog) call(id catalog.SubjectID, titles []string) {
	l.called[id] = titles
	delete(l.names, id)
}

// namesOf is every title of a subject, taken apart: original, Chinese, aliases, and what
// the id table calls it.
func (l *cachedCatalog) namesOf(s catalog.Subject) []name {
	if names, known := l.names[s.ID]; known {
		return names
	}
	names := appendName(nil, s.Name)
	names = appendName(names, s.NameCN)
	for _, alias := range slices.Concat(s.Aliases, l.called[s.ID]) {
		names = appendName(names, alias)
	}
	l.names[s.ID] = names
	return names
}

// name is a title with its folded forms.
type name struct {
	title.Parsed
	plain string
	// The keys of the title whole, without its last season mark, and without any mark.
	full, outer, base string
	// reading is how the whole is read in kana, empty when it is not Japanese in kana or Latin letters; latin tells which.
	reading string
	latin   bool
}

func appendName(names []name, text string) []name {
	plain := title.Plain(text)
	if plain == "" || slices.ContainsFunc(names, func(n name) bool { return n.plain == plain }) {
		return names
	}
	n := name{Parsed: title.Parse(plain), plain: plain}
	n.full = title.Key(n.Full)
	n.outer, n.base = n.full, n.full
	n.reading, n.latin = title.Reading(n.Full)
	if n.Outer != n.Full {
		n.outer = title.Key(n.Outer)
	}
	if n.Base != n.Full {
		n.base = title.Key(n.Base)
	}
	return append(names, n)
}
