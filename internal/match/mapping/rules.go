package mapping

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Rules is a snapshot of all mappings and blocked keywords, ready to be asked.
// It is safe for concurrent use.
type Rules struct {
	exact    map[string][]Mapping
	patterns []pattern
	stops    []stop
}

type pattern struct {
	mapping Mapping
	re      *regexp.Regexp
}

// stop is a blocked keyword made ready: an expression, or a folded text.
type stop struct {
	Blocked
	re   *regexp.Regexp
	text string
}

// Find is the mapping that is used for an event of these titles: one for this very episode
// before those for all; of these whole titles before regular expressions; of each one for this
// very season before one for every season. The first title that has one counts, and of its
// mappings that for the form of the event before that for any; of expressions the form counts
// before the alphabet. season is nil when the event did not tell, episode for films.
func (r *Rules) Find(titles []string, season *int, film bool, episode *float64) (Mapping, bool) {
	if episode != nil {
		if m, found := r.find(titles, season, film, episode); found {
			return m, true
		}
	}
	return r.find(titles, season, film, nil)
}

// find is Find among the mappings for this episode; nil for those of all.
func (r *Rules) find(titles []string, season *int, film bool, episode *float64) (Mapping, bool) {
	forms := []Form{FormOf(film), AnyForm}
	for _, own := range []bool{true, false} {
		for _, title := range titles {
			for _, form := range forms {
				for _, m := range r.exact[Fold(title)] {
					if m.Form == form && same(m.Episode, episode) && m.fits(season, own) {
						return m, true
					}
				}
			}
		}
	}
	for _, own := range []bool{true, false} {
		for _, form := range forms {
			for _, p := range r.patterns {
				if p.mapping.Form != form || !same(p.mapping.Episode, episode) || !p.mapping.fits(season, own) {
					continue
				}
				for _, title := range titles {
					if title != "" && p.re.MatchString(title) {
						return p.mapping, true
					}
				}
			}
		}
	}
	return Mapping{}, false
}

// fits reports whether the mapping is for this very season (own) or for every season (not
// own). The matcher reads events that tell no season as the first one, and so does FirstSeason.
func (m Mapping) fits(season *int, own bool) bool {
	if own {
		return m.Season != nil && season != nil && *m.Season == *season
	}
	return m.Season == nil && (!m.FirstSeason || season == nil || *season == 1)
}

// Blocks is the first blocked keyword that stops one of titles, the event's own one being
// the first. A keyword that came from a rejected question is compared with that alone:
// another show may have it as its original title.
func (r *Rules) Blocks(titles []string) (Blocked, bool) {
	folded := make([]string, len(titles))
	for i, title := range titles {
		folded[i] = Fold(title)
	}
	for _, s := range r.stops {
		for i, title := range titles {
			if title != "" && (i == 0 || s.Source != ByReject) && s.has(title, folded[i]) {
				return s.Blocked, true
			}
		}
	}
	return Blocked{}, false
}

// has reports whether the keyword is found in a title, which comes also folded.
func (s stop) has(title, folded string) bool {
	switch s.Kind {
	case Regex:
		return s.re.MatchString(title)
	case Exact:
		return folded == s.text
	default:
		return strings.Contains(folded, s.text)
	}
}

// Fold is what titles of mappings and keywords are compared by: case and surrounding space do not matter.
func Fold(text string) string { return strings.ToLower(strings.TrimSpace(text)) }

// snapshot is the rules as of a generation of the store.
type snapshot struct {
	rules      *Rules
	generation int64
}

// Rules is the current snapshot; it is rebuilt only after a change.
func (s *Store) Rules(ctx context.Context) (*Rules, error) {
	s.changing.RLock()
	defer s.changing.RUnlock()
	generation := s.generation.Load()
	if have := s.snapshot.Load(); have != nil && have.generation == generation {
		return have.rules, nil
	}
	mappings, blocked, err := s.all(ctx)
	if err != nil {
		return nil, err
	}
	rules, err := newRules(mappings, blocked)
	if err != nil {
		return nil, err
	}
	s.snapshot.Store(&snapshot{rules, generation})
	return rules, nil
}

// all is what rules are made of.
func (s *Store) all(ctx context.Context) ([]Mapping, []Blocked, error) {
	mappings, err := s.All(ctx)
	if err != nil {
		return nil, nil, err
	}
	blocked, err := s.AllBlocked(ctx)
	return mappings, blocked, err
}

// RulesWith is what Rules would be after Put of m, or with an id after Update of it: it writes
// nothing. m may lead to no subject yet. It returns a *reason.FieldError.
func (s *Store) RulesWith(ctx context.Context, m Mapping) (*Rules, error) {
	if err := m.checkRule(); err != nil {
		return nil, err
	}
	mappings, blocked, err := s.all(ctx)
	if err != nil {
		return nil, err
	}
	mappings = slices.DeleteFunc(mappings, func(old Mapping) bool { return old.ID == m.ID || m.slot() == old.slot() || m.replaces(old) })
	mappings = append(mappings, m)
	slices.SortStableFunc(mappings, func(a, b Mapping) int { return strings.Compare(a.Title, b.Title) })
	return newRules(mappings, blocked)
}

// slot is what there is one mapping for: a title as Find compares it, a season, a form and an episode.
type slot struct {
	title   string
	regex   bool
	season  int // -1 for every one
	form    Form
	episode float64 // -1 for all
}

func (m Mapping) slot() slot {
	s := slot{title: m.Title, regex: m.Regex, season: -1, form: m.Form, episode: -1}
	if !m.Regex {
		s.title = Fold(m.Title)
	}
	if m.Season != nil {
		s.season = *m.Season
	}
	if m.Episode != nil {
		s.episode = *m.Episode
	}
	return s
}

// replaces reports whether old gives way when m is put: it has the same slot and is no
// expression. One for a season of a show takes the place of one for any form, too, for films
// tell no season.
func (m Mapping) replaces(old Mapping) bool {
	mine, its := m.slot(), old.slot()
	if its.form == AnyForm && mine.form == ShowForm && m.Season != nil {
		its.form = ShowForm
	}
	return !m.Regex && mine == its
}

// Fits reports whether m applies to an event with the title where it is the only mapping.
// What is no regular expression fits nothing.
func (m Mapping) Fits(title string, season *int, film bool, episode *float64) bool {
	rules, err := newRules([]Mapping{m}, nil)
	if err != nil {
		return false
	}
	_, found := rules.Find([]string{title}, season, film, episode)
	return found
}

// same reports whether two numbers are told and alike, or neither is told.
func same[T int | float64](a, b *T) bool {
	return (a == nil) == (b == nil) && (a == nil || *a == *b)
}

// newRules are the rules of mappings, which must be sorted by title, and blocked keywords.
func newRules(mappings []Mapping, blocked []Blocked) (*Rules, error) {
	rules := &Rules{exact: map[string][]Mapping{}}
	for _, m := range mappings {
		if !m.Regex {
			rules.exact[Fold(m.Title)] = append(rules.exact[Fold(m.Title)], m)
			continue
		}
		re, err := regexp.Compile(m.Title)
		if err != nil {
			return nil, fmt.Errorf("mapping %d: %w", m.ID, err)
		}
		rules.patterns = append(rules.patterns, pattern{m, re})
	}
	for _, b := range blocked {
		made := stop{Blocked: b, text: Fold(b.Keyword)}
		if b.Kind == Regex {
			var err error
			if made.re, err = regexp.Compile(b.Keyword); err != nil {
				return nil, fmt.Errorf("blocked keyword %d: %w", b.ID, err)
			}
		}
		rules.stops = append(rules.stops, made)
	}
	return rules, nil
}
