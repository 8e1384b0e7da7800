package web

import (
	"context"
	"slices"
	"strconv"

	"watchmark/internal/match/mapping"
)

// Mappings are the pages of mappings and blocked keywords.
type Mappings struct {
	Mappings *mapping.Store
	// Names are those of people, by their ids.
	Names func(ctx context.Context, ids []int64) (map[int64]string, error)
}

// rulesPage is a list of mappings, or of blocked keywords.
type rulesPage[T any] struct {
	Counts mapping.Counts // of all, whatever is searched
	Text   string
	Rules  []T
	pager
	Trial trial
}

// trial is the form that tries the rules on a title, made by the template "trial".
type trial struct {
	Title  string
	Season string
	// Draft is the id of a form whose mapping is tried together with the others; empty when there is none.
	Draft string
}

// mappingView is a mapping in a list.
type mappingView struct {
	mapping.Mapping
	// Whose is the name of the person whom it holds for alone, for the owner; empty for one that holds for all.
	Whose string
}

// From is an example of an episode number of an event.
func (v mappingView) From() int { return max(1, 1-v.EpisodeOffset) }

// To is From with the offset.
func (v mappingView) To() int { return v.From() + v.EpisodeOffset }

// list shows the mappings.
func (g Mappings) list(r *request) (content, error) {
	page, f, err := rulesPageOf[mappingView](g, r)
	if err != nil {
		return content{}, err
	}
	list, next, err := g.Mappings.List(r.Context(), f)
	if err != nil {
		return content{}, err
	}
	var whose []int64
	for _, m := range list {
		whose = append(whose, m.PersonID)
	}
	names, err := g.namesOf(r, whose)
	for _, m := range list {
		page.Rules = append(page.Rules, mappingView{m, names[m.PersonID]})
	}
	page.pager = pagerOf("/titles", map[string]string{"q": f.Text}, f.Before, next)
	return content{Data: page}, err
}

// blockedPage lists the blocked keywords; New is the form of a new one.
type blockedPage struct {
	rulesPage[blockedView]
	New blockedView
}

// blockedView is a blocked keyword in a form; its ID is 0 for a new one.
type blockedView struct {
	mapping.Blocked
	Whose string // as in mappingView
}

// Kinds are the ways to compare a keyword with a title.
func (blockedView) Kinds() []mapping.BlockKind {
	return []mapping.BlockKind{mapping.Contains, mapping.Exact, mapping.Regex}
}

// blocked lists the blocked keywords.
func (g Mappings) blocked(r *request) (content, error) {
	page, f, err := rulesPageOf[blockedView](g, r)
	if err != nil {
		return content{}, err
	}
	list, next, err := g.Mappings.ListBlocked(r.Context(), f)
	if err != nil {
		return content{}, err
	}
	var whose []int64
	for _, b := range list {
		whose = append(whose, b.PersonID)
	}
	names, err := g.namesOf(r, whose)
	for _, b := range list {
		page.Rules = append(page.Rules, blockedView{b, names[b.PersonID]})
	}
	page.pager = pagerOf("/titles/blocked", map[string]string{"q": f.Text}, f.Before, next)
	return content{Data: blockedPage{rulesPage: page}}, err
}

// namesOf are the names of those whom rules hold for alone, for the owner; a person reads only what is theirs.
func (g Mappings) namesOf(r *request, whose []int64) (map[int64]string, error) {
	whose = slices.DeleteFunc(whose, func(id int64) bool { return id == 0 })
	if len(whose) == 0 || !r.can("share-mapping") {
		return nil, nil
	}
	return g.Names(r.Context(), whose)
}

// rulesPageOf returns a page without its rules, and the filter for them.
func rulesPageOf[T any](g Mappings, r *request) (rulesPage[T], mapping.Filter, error) {
	counts, err := g.Mappings.Count(r.Context())
	f := mapping.Filter{Text: r.URL.Query().Get("q"), Before: cursor(r, "before")}
	return rulesPage[T]{Counts: counts, Text: f.Text, Trial: trial{Season: "1"}}, f, err
}

// mappingPage is the form of a mapping; Mapping is nil for a new one.
type mappingPage struct {
	Mapping *mappingView
	// Title and Season are the first values of the fields.
	Title, Season string
	Search        subjectSearch
	Trial         trial
	Forms         []mapping.Form
}

// draftForm is the id of the form of a mapping.
const draftForm = "mapping-form"

// newMapping shows the form of a new mapping, with title and season of the query.
func (g Mappings) newMapping(r *request) (content, error) {
	q := r.URL.Query()
	page := mappingPageOf(q.Get("title"), q.Get("season"))
	page.Trial.Season = page.Season
	if page.Trial.Season == "" {
		page.Trial.Season = "1"
	}
	return content{Data: page}, nil
}

// mapping shows the form of a mapping.
func (g Mappings) mapping(r *request) (content, error) {
	id, err := idOf(r)
	if err != nil {
		return content{}, err
	}
	m, err := g.Mappings.Get(r.Context(), id)
	if err != nil {
		return content{}, err
	}
	names, err := g.namesOf(r, []int64{m.PersonID})
	if err != nil {
		return content{}, err
	}
	page := mappingPageOf(m.Title, "")
	page.Mapping = &mappingView{m, names[m.PersonID]}
	page.Search.Value = strconv.Itoa(int(m.SubjectID))
	page.Trial.Season = "1"
	if m.Season != nil {
		page.Season = strconv.Itoa(*m.Season)
		page.Trial.Season = page.Season
	}
	if m.Regex {
		page.Trial.Title = ""
	}
	return content{Data: page}, nil
}

func mappingPageOf(title, season string) mappingPage {
	return mappingPage{Title: title, Season: season, Search: subjectSearch{ID: "subject", Pick: "find.choose"}, Trial: trial{Title: title, Draft: draftForm},
		Forms: []mapping.Form{mapping.AnyForm, mapping.ShowForm, mapping.FilmForm}}
}

// importRules shows the form that imports a file of rules.
func (g Mappings) importRules(*request) (content, error) {
	return content{}, nil
}
