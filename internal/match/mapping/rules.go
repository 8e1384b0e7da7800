package mapping

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"watchmark/internal/platform/scope"
)

// Rules is a snapshot of mappings and blocked keywords as they hold for somebody, ready to be asked: those for all, and before
// them those of a person. It is safe for concurrent use.
type Rules struct {
	own, all *set
	// people are the rules as they hold for everybody who has some of their own, and for 0, who has none.
	people map[int64]*Rules
}

// Of is the rules as they hold for a person; 0 is who has none.
func (r *Rules) Of(person int64) *Rules {
	if own := r.people[person]; own != nil {
		return own
	}
	return r.people[0]
}

// Find is the mapping that is used for an event of these titles: the person's own one before one for all. Of each of both: one for
// this very episode before those for all; of these whole titles before regular expressions; of each one for this
// very season before one for every season. The first title that has one counts, and of its
// mappings that for the form of the event before that for any; of expressions the form counts
// before the alphabet. season is nil when the event did not tell, episode for films.
func (r *Rules) Find(titles []string, season *int, film bool, episode *float64) (Mapping, bool) {
	if m, found := r.own.find(titles, season, film, episode); found {
		return m, true
	}
	return r.all.find(titles, season, film, episode)
}

// Blocks is the first blocked keyword that stops one of titles, the event's own one being
// the first. A keyword that came from a rejected question is compared with that alone:
// another show may have it as its original title. One for all does not stop a title that the person has mapped as a whole.
func (r *Rules) Blocks(titles []string) (Blocked, bool) {
	folded := make([]string, len(titles))
	for i, title := range titles {
		folded[i] = Fold(title)
	}
	if b, stops := r.own.blocks(titles, folded); stops {
		return b, true
	}
	for _, title := range folded {
		if len(r.own.exact[title]) > 0 {
			return Blocked{}, false
		}
	}
	return r.all.blocks(titles, folded)
}

// set is the rules of one person, or those for all.
type set struct {
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

// find is Rules.Find in one set.
func (s *set) find(titles []string, season *int, film bool, episode *float64) (Mapping, bool) {
	if episode != nil {
		if m, found := s.findFor(titles, season, film, episode); found {
			return m, true
		}
	}
	return s.findFor(titles, season, film, nil)
}

// findFor is find among the mappings for this episode; nil for those of all.
func (s *set) findFor(titles []string, season *int, film bool, episode *float64) (Mapping, bool) {
	forms := []Form{FormOf(film), AnyForm}
	for _, own := range []bool{true, false} {
		for _, title := range titles {
			for _, form := range forms {
				for _, m := range s.exact[Fold(title)] {
					if m.Form == form && same(m.Episode, episode) && m.fits(season, own) {
						return m, true
					}
				}
			}
		}
	}
	for _, own := range []bool{true, false} {
		for _, form := range forms {
			for _, p := range s.patterns {
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

// blocks is Rules.Blocks in one set; folded are the titles as they are compared.
func (s *set) blocks(titles, folded []string) (Blocked, bool) {
	for _, stop := range s.stops {
		for i, title := range titles {
			if title != "" && (i == 0 || stop.Source != ByReject) && stop.has(title, folded[i]) {
				return stop.Blocked, true
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

// Rules is the current snapshot as it holds for the person of ctx: see For. It is rebuilt only after a change.
func (s *Store) Rules(ctx context.Context) (*Rules, error) {
	s.changing.RLock()
	defer s.changing.RUnlock()
	generation := s.generation.Load()
	if have := s.snapshot.Load(); have != nil && have.generation == generation {
		return have.rules.Of(readBy(ctx)), nil
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
	return rules.Of(readBy(ctx)), nil
}

// all is what rules are made of: everybody's, whoever asks.
func (s *Store) all(ctx context.Context) ([]Mapping, []Blocked, error) {
	ctx = scope.In(ctx, scope.Everything())
	mappings, err := s.All(ctx)
	if err != nil {
		return nil, nil, err
	}
	blocked, err := s.AllBlocked(ctx)
	return mappings, blocked, err
}

// RulesWith is what Rules would be after PutTx of m, or with an id after Update of it: it writes
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
	rules, err := newRules(mappings, blocked)
	if err != nil {
		return nil, err
	}
	return rules.Of(readBy(ctx)), nil
}

// slot is what there is one mapping for: whom it holds for, a title as Find compares it, a season, a form and an episode.
type slot struct {
	person  int64
	title   string
	regex   bool
	season  int // -1 for every one
	form    Form
	episode float64 // -1 for all
}

func (m Mapping) slot() slot {
	s := slot{person: m.PersonID, title: m.Title, regex: m.Regex, season: -1, form: m.Form, episode: -1}
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
	m.PersonID = 0
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

// newRules are the rules of mappings, which must be sorted by title, and blocked keywords, as they hold for who has none of their own.
func newRules(mappings []Mapping, blocked []Blocked) (*Rules, error) {
	rules := &Rules{own: &set{}, all: &set{exact: map[string][]Mapping{}}, people: map[int64]*Rules{}}
	rules.people[0] = rules
	for _, m := range mappings {
		its := rules.setOf(m.PersonID)
		if !m.Regex {
			its.exact[Fold(m.Title)] = append(its.exact[Fold(m.Title)], m)
			continue
		}
		re, err := regexp.Compile(m.Title)
		if err != nil {
			return nil, fmt.Errorf("mapping %d: %w", m.ID, err)
		}
		its.patterns = append(its.patterns, pattern{m, re})
	}
	for _, b := range blocked {
		made := stop{Blocked: b, text: Fold(b.Keyword)}
		if b.Kind == Regex {
			var err error
			if made.re, err = regexp.Compile(b.Keyword); err != nil {
				return nil, fmt.Errorf("blocked keyword %d: %w", b.ID, err)
			}
		}
		its := rules.setOf(b.PersonID)
		its.stops = append(its.stops, made)
	}
	return rules, nil
}

// setOf is where a rule of a person belongs, while rules are made.
func (r *Rules) setOf(person int64) *set {
	if person == 0 {
		return r.all
	}
	if r.people[person] == nil {
		r.people[person] = &Rules{own: &set{exact: map[string][]Mapping{}}, all: r.all, people: r.people}
	}
	return r.people[person].own
}
