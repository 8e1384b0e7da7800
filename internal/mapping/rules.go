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
	exact     map[string][]Mapping
	patterns  []pattern
	blocked   []Blocked
	blockedRE map[int64]*regexp.Regexp
}

type pattern struct {
	mapping Mapping
	re      *regexp.Regexp
}

// Find is the mapping for the first of titles that has one: exact titles before
// regular expressions, in each a mapping of this very season before one for every
// season, and of those of one title one for the form of the event before one for any.
// season is nil when the event did not tell, episode for films. Before all these comes one
// for this very episode.
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
// own). What a person said of events that tell no season says nothing of specials and later
// seasons: the matcher reads those events as the first season.
func (m Mapping) fits(season *int, own bool) bool {
	if own {
		return m.Season != nil && season != nil && *m.Season == *season
	}
	return m.Season == nil && (m.Origin != ByConfirm || season == nil || *season == 1)
}

// Blocks is the first blocked keyword that stops one of titles, the event's own one being
// the first. A keyword that came from a rejected question is compared with that alone:
// another show may have it as its original title.
func (r *Rules) Blocks(titles []string) (Blocked, bool) {
	for _, b := range r.blocked {
		for i, title := range titles {
			if title != "" && (i == 0 || b.Source != ByReject) && r.stops(b, title) {
				return b, true
			}
		}
	}
	return Blocked{}, false
}

func (r *Rules) stops(b Blocked, title string) bool {
	switch b.Kind {
	case Regex:
		return r.blockedRE[b.ID].MatchString(title)
	case Exact:
		return Fold(title) == Fold(b.Keyword)
	default:
		return strings.Contains(Fold(title), Fold(b.Keyword))
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
	mappings, err := s.List(ctx, "")
	if err != nil {
		return nil, nil, err
	}
	blocked, err := s.ListBlocked(ctx)
	return mappings, blocked, err
}

// RulesWith is what Rules would be after Put of m: it writes nothing. It returns a *FieldError.
func (s *Store) RulesWith(ctx context.Context, m Mapping) (*Rules, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	mappings, blocked, err := s.all(ctx)
	if err != nil {
		return nil, err
	}
	mappings = slices.DeleteFunc(mappings, m.replaces)
	return newRules(append(mappings, m), blocked)
}

// replaces reports whether old gives way when m is put: no expression, the same title as
// Find compares it, the same season, form and episode. One for a season of a show takes the place of
// one for any form, too, for films tell no season.
func (m Mapping) replaces(old Mapping) bool {
	return !m.Regex && !old.Regex && Fold(m.Title) == Fold(old.Title) && same(m.Season, old.Season) && same(m.Episode, old.Episode) &&
		(m.Form == old.Form || old.Form == AnyForm && m.Form == ShowForm && m.Season != nil)
}

// same reports whether two numbers are told and alike, or neither is told.
func same[T int | float64](a, b *T) bool {
	return (a == nil) == (b == nil) && (a == nil || *a == *b)
}

func newRules(mappings []Mapping, blocked []Blocked) (*Rules, error) {
	rules := &Rules{exact: map[string][]Mapping{}, blocked: blocked, blockedRE: map[int64]*regexp.Regexp{}}
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
		if b.Kind != Regex {
			continue
		}
		re, err := regexp.Compile(b.Keyword)
		if err != nil {
			return nil, fmt.Errorf("blocked keyword %d: %w", b.ID, err)
		}
		rules.blockedRE[b.ID] = re
	}
	return rules, nil
}
