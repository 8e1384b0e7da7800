package match

import (
	"context"
	"errors"
	"slices"

	"watchmark/internal/catalog"
	"watchmark/internal/match/idmap"
	"watchmark/internal/platform/reason"
	"watchmark/internal/watch"
)

const (
	// searchMost is how many hits one search asks for; the catalog gives no more (upstreams/catalog.md section 6).
	searchMost = 20
	// searchMostOffline is how many the archive is asked for, which costs next to nothing.
	searchMostOffline = 50
	// weighMost is how many subjects of one show are looked at with their episodes.
	weighMost = 6
	// completeMost is how many hits of the legacy search, which lack aliases, are completed.
	completeMost = 3
	// kin is the likeness from which a hit is looked at: the search engine gives neighbours rather than nothing.
	kin = 0.6
)

// findBySearch asks the archive or the catalog for the titles in rounds, until one gives a clear answer:
// everywhere, which is the same for all episodes of a show and so mostly remembered,
// then around the air date, which a hit without a date never passes.
func findBySearch(ctx context.Context, s *session) (finding, error) {
	f := finding{input: s.input(), output: map[string]any{}}
	hits := []catalog.Subject{}
	for _, plan := range s.plans() {
		if len(plan.keywords) == 0 {
			continue
		}
		more, err := s.collect(ctx, plan, hits)
		if err != nil {
			return f, err
		}
		hits = more
		f.proposals, err = s.weigh(ctx, hits)
		if err != nil {
			return f, err
		}
		if s.isClear(f.proposals) {
			break
		}
	}
	if !s.isClear(f.proposals) {
		aired := len(s.aired)
		more, err := s.collectByDay(ctx, hits)
		if err != nil {
			return f, err
		}
		if len(more) > len(hits) || len(s.aired) > aired {
			hits = more
			if f.proposals, err = s.weigh(ctx, hits); err != nil {
				return f, err
			}
		}
	}
	f.output["hits"], f.output["look_ups"] = len(hits), s.cached.lookUps
	return f, s.withNumberings(ctx, &f, s.newlyTitled(hits))
}

// newlyTitled are the entries of the id table for hits that bear the title of the event, which the table itself has by other titles.
func (s *session) newlyTitled(hits []catalog.Subject) []idmap.Entry {
	if !s.isMapped() {
		return nil
	}
	var titled []idmap.Entry
	for _, hit := range hits {
		if e, ok := s.table.Entry(hit.ID); ok && s.likeness(hit).exact && !slices.ContainsFunc(s.mapped, func(known idmap.Entry) bool { return known.Subject == e.Subject }) {
			titled = append(titled, e)
		}
	}
	return titled
}

// plan is one round of searches.
type plan struct {
	keywords []string
	from, to watch.Date
}

// plans are the rounds in order. The titles are asked for as they came, then without
// the marks that a library or a server adds.
func (s *session) plans() []plan {
	var whole, base []string
	for _, n := range s.names {
		whole = appendNew(whole, n.Full)
	}
	for _, n := range s.names {
		if !slices.Contains(whole, n.Base) {
			base = appendNew(base, n.Base)
		}
	}
	plans := []plan{{keywords: whole}, {keywords: base}}
	if s.date.IsFull() {
		// A show is on air for about a year after its premiere. Whole months make the
		// episodes of one show ask the same.
		month := watch.Date{Year: s.date.Year, Month: s.date.Month}.Time()
		until := month.AddDate(0, 1, 6)
		if s.event.IsFilm() {
			until = month.AddDate(0, 3, 0)
		}
		plans = append(plans, plan{keywords: whole, from: watch.DateOf(month.AddDate(-1, -1, 0)), to: watch.DateOf(until)})
	}
	return plans
}

func appendNew(list []string, text string) []string {
	if text == "" || slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// collect adds the hits of a plan to those there are, each subject once.
func (s *session) collect(ctx context.Context, p plan, hits []catalog.Subject) ([]catalog.Subject, error) {
	for _, keyword := range p.keywords {
		found, err := s.cached.search(ctx, catalog.SearchQuery{Keyword: keyword, Types: s.types, From: p.from, To: p.to, Limit: s.cached.most})
		if err != nil {
			return nil, err
		}
		incomplete := 0
		for _, subject := range found {
			if has(hits, subject.ID) {
				continue
			}
			if !isWhole(subject) && incomplete < completeMost {
				incomplete++
				subject, err = s.cached.subject(ctx, subject.ID)
				if errors.Is(err, catalog.ErrNotFound) {
					continue // the search engine lags behind, or shows what is hidden
				}
				if err != nil {
					return nil, err
				}
			}
			hits = append(hits, subject)
		}
	}
	return hits, nil
}

// has reports whether a subject is among hits.
func has(hits []catalog.Subject, id catalog.SubjectID) bool {
	return slices.ContainsFunc(hits, func(h catalog.Subject) bool { return h.ID == id })
}

// weigh turns hits into proposals, best first, each subject once.
func (s *session) weigh(ctx context.Context, hits []catalog.Subject) ([]proposal, error) {
	var proposals []proposal
	var err error
	switch {
	case s.event.IsFilm():
		proposals, err = s.weighFilms(ctx, hits)
	case s.season == 0:
		proposals, err = s.weighSpecials(ctx, hits)
	default:
		proposals, err = s.weighSeasons(ctx, hits)
	}
	if err != nil {
		return nil, err
	}
	sortByScore(proposals)
	seen := map[catalog.SubjectID]bool{}
	return slices.DeleteFunc(proposals, func(p proposal) bool {
		again := seen[p.subject.ID] || p.score < s.limit.Review/2
		seen[p.subject.ID] = true
		return again
	}), nil
}

// isClear reports whether the best proposal is so good that no further round is needed:
// an equal title, the right date, the episode in the list, nothing near it.
func (s *session) isClear(proposals []proposal) bool {
	if len(proposals) == 0 {
		return false
	}
	best := proposals[0]
	if best.score < s.limit.Accept || best.parts.title < 0.95 && !best.parts.named || !best.parts.dated || best.parts.date < 0.9 || !best.target.found() {
		return false
	}
	return len(proposals) == 1 || best.score-proposals[1].score >= s.limit.Margin
}

// start is a subject that the wanted season may begin with.
type start struct {
	subject  catalog.Subject
	likeness likeness
	// season is what the subject is counted as in its chain; 0 when it was not counted.
	season int
	// later is set for a part of the season that is not its first: episodes are not counted from it.
	later bool
	// unsure is set when that count may be off.
	unsure bool
	// named is set when an id of the event stands for this very season.
	named bool
	// placed is set when the numbering of another site leads to this very season.
	placed bool
}

// propose resolves the episode from a start and scores it.
func (s *session) propose(ctx context.Context, st start) (proposal, error) {
	t, err := s.resolve(ctx, st.subject, s.number)
	if err != nil {
		return proposal{}, err
	}
	if s.season > 1 && st.likeness.exact && !s.isDayOf(t) {
		day, err := s.byDay(ctx, st.subject)
		if err != nil {
			return proposal{}, err
		}
		if day.found() {
			t = day
		}
	}
	return s.scored(ctx, st, t)
}

// scored makes a proposal of a start and the target it leads to.
func (s *session) scored(ctx context.Context, st start, t target) (proposal, error) {
	rows, _, err := s.cached.episodesOf(ctx, t.subject.ID)
	if err != nil {
		return proposal{}, err
	}
	p := proposal{subject: t.subject, target: t}
	p.parts.title, p.parts.kind, p.parts.named = s.title(st.likeness), s.kindFit(t.subject), st.named
	p.parts.season = 1
	if st.named || st.placed {
		p.parts.kind = 1
	}
	var why reason.Reason
	p.parts.date, p.parts.dated, why = s.dateFit(t, rows)
	p.parts.ownDay = !s.event.IsFilm() && s.season > 0 && s.isDayOf(t)
	if !s.event.IsFilm() && s.season > 0 && !st.named && !st.placed {
		p.parts.season = s.seasonFit(st)
		if mark, _ := s.seasonMarks(t.subject); mark == s.season && st.season == s.season {
			p.parts.season = max(p.parts.season, countedFit)
		}
		p.counted = s.season > 1 && p.parts.season == countedFit
		if p.parts.ownDay || s.season > 1 && p.parts.dated && p.parts.date >= 0.9 {
			// The library counts seasons in its own way: the air date beats the number.
			p.parts.season = max(p.parts.season, 0.8)
		}
	}
	p.parts.episode = t.fit
	if !t.found() {
		// Whether the list has the episode is told apart from whether the subject is right.
		p.parts.episode = 0.9
	}
	p.score = p.parts.score()
	p.reason = explain(p.parts, why, t)
	return p, nil
}

// countedFit is how well a start fits that is counted as the season along the sequels, and not marked so.
const countedFit = 0.9

// seasonFit says how well a start fits the season that is wanted.
func (s *session) seasonFit(st start) float64 {
	mark, bare := s.seasonMarks(st.subject)
	counted := st.season
	if s.season == 1 {
		switch {
		case mark > 1 && !st.likeness.exact:
			return 0
		case counted > 1 && st.likeness.own < 1:
			return 0.4
		case counted > 1 || mark > 1 && st.likeness.own < 1:
			return 0.8
		}
		return 1
	}
	switch {
	case st.later && counted == s.season && !st.likeness.exact:
		return 0.6
	case mark == s.season:
		return 1
	case mark == 0 && bare == s.season && counted > 1 && counted != s.season:
		// The lone number may count something else: another season has as good a claim.
		return countedFit
	case mark == 0 && bare == s.season:
		return 1
	case counted == s.season && st.unsure:
		return 0.7
	case counted == s.season:
		return countedFit
	case mark == 0 && s.partMark(st.subject) == s.season:
		// Some servers count the parts of a season as seasons; the date must say so.
		return 0.7
	case counted == 0 && mark == 0 && formOf(st.subject) != series:
		return 0.3
	case counted == 0 && mark == 0:
		return 0.6
	case st.likeness.exact && (counted > 1 || mark > 1):
		// A sequel named by its own title; the number counts something else.
		return 0.6
	}
	return 0
}
