package match

import (
	"cmp"
	"context"
	"slices"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/match/idmap"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/reason"
	"watchmark/internal/watch"
)

// finding is what a layer answers.
type finding struct {
	proposals []proposal
	// certain is set when a person or the media server named the subject: no further layer is asked and no score is weighed.
	certain bool
	// spare is set when the layers behind look for the same: they go on when this one fails.
	spare bool
	// rule is the mapping that fits; nil when none does.
	rule   *Rule
	input  map[string]any
	output map[string]any
}

// layer is one way to find a subject. The list of layers reads like the rule book.
type layer struct {
	name StepName
	// asks is where the layer looks things up.
	asks source
	// off is why the layer has nothing to do for an event; empty when it has.
	off  func(*session) reason.Reason
	find func(context.Context, *session) (finding, error)
	// settles is why no further layer is asked when this one is certain or sure; nil for a layer that is the last word anyway.
	settles *reason.Kind
}

// source is where things are looked up.
type source int

const (
	// either is the archive, and the catalog for what the archive does not have.
	either source = iota
	theArchive
	theCatalog
)

func always(*session) reason.Reason { return reason.Reason{} }

var layers = []layer{
	{StepMapping, either, always, findByMapping, settledByMapping},
	{StepPayload, either, always, findByPayload, settledByPayload},
	{StepDataset, either, noDataset, findByDataset, settledByTable},
	{StepArchive, theArchive, noArchive, findBySearch, settledByArchive},
	{StepAPI, theCatalog, always, findInCatalog, nil},
	{StepLive, either, noLiveAction, findLiveAction, nil},
	{StepAdult, theCatalog, noAdultTitles, findAdultTitles, nil},
}

func noArchive(s *session) reason.Reason { return s.noArchive }

// session is one match on its way.
type session struct {
	request
	options Options
	// limit decides what becomes of a score.
	limit Thresholds
	rules *mapping.Rules
	// look is where the layer at work looks things up: one of offline and online.
	cached *cachedCatalog
	// offline is nil when there is no archive; noArchive says why.
	offline, online *cachedCatalog
	noArchive       reason.Reason
	// table is nil when there is none; noTable says why.
	table   *idmap.Table
	noTable reason.Reason
	// seriesIDs is Config.SeriesIDs until it was asked; idsFrom says where the ids of the event come from, when it answered some.
	seriesIDs func(context.Context, watch.Event) (watch.IDs, reason.Reason, error)
	idsFrom   reason.Reason
	// viewed is set where an account is asked for what the catalog hides from look-ups without one.
	viewed bool
	// hidden is the subject that the id table leads to and the catalog does not show; 0 when
	// there is none. Whatever else is found then is another one.
	hidden catalog.SubjectID
	// doubt is why an id of the catalog that the media server named cannot be what was watched; empty when there is
	// no such id. Nothing else is marked in its place, for one of the two is wrong.
	doubt reason.Reason
	// dispute is why what the layers found is not marked: two numberings lead to different episodes, and no day decides.
	dispute reason.Reason
	// mapped are the entries of the id table whose series at other sites were asked for.
	mapped []idmap.Entry
	// elsewhere are the subjects of the show that the event's id names, true for those that the id table has for
	// other episodes than the one asked for: no count leads into these, unless the date agrees.
	elsewhere map[catalog.SubjectID]bool
	// aired are the subjects of which the episode asked for, by its number, aired on the day of the event.
	aired map[catalog.SubjectID]bool
	// tabled are the proposals of the id table, searched those of all other layers so far;
	// found is both, best first, each subject once.
	tabled, searched, found []proposal
}

// askLayers asks one layer after the other, until a subject is certain, or one is sure and
// no arbiter wants to hear the others.
func (s *session) askLayers(ctx context.Context, t *Trace) (certain bool, err error) {
	var settled reason.Reason // why no further layer is asked
	for _, layer := range layers {
		start := time.Now()
		because := settled
		if because.IsZero() {
			because = layer.off(s)
		}
		if !because.IsZero() {
			t.add(Step{Name: layer.name, Status: Skipped, Output: map[string]any{"because": because}}, start)
			continue
		}
		f, err := s.ask(ctx, layer)
		for i := range f.proposals {
			f.proposals[i].layer = layer.name
		}
		step := Step{Name: layer.name, Status: Miss, Input: f.input, Output: f.output, Candidates: candidatesOf(f.proposals, layer.name)}
		if err != nil {
			step.Status = Failed
			step.Output = map[string]any{"error": reason.Of(err)}
			t.add(step, start)
			if layer.asks == theArchive || f.spare {
				continue // the catalog knows all that the archive does
			}
			if s.options.Arbiter && layer.asks == theCatalog && s.isSure(s.found) {
				settled = settledOffline.With()
				continue
			}
			return false, err
		}
		if f.rule != nil {
			t.Rule = f.rule
		}
		if len(f.proposals) > 0 {
			step.Status = Hit
			s.addProposals(layer.name, f.proposals)
		}
		t.add(step, start)
		switch {
		case f.certain:
			certain, settled = true, layer.settles.With()
		case layer.settles != nil && !s.options.Arbiter && s.isSure(s.found):
			settled = layer.settles.With()
		}
	}
	return certain, nil
}

// isSure reports whether proposals are enough to decide on, wherever they were looked up.
func (s *session) isSure(proposals []proposal) bool {
	d, _ := decide(s, proposals, false)
	return d.Status == Matched && (s.offline == nil || s.holds(d.proposal.target))
}

// ask runs a layer where it looks things up. A layer that may ask either takes the
// archive's word for a subject with its episode, and the catalog's for everything else:
// the archive is up to a week old and lacks what was merged.
func (s *session) ask(ctx context.Context, l layer) (finding, error) {
	if s.offline != nil && l.asks != theCatalog {
		s.cached = s.offline
		f, err := l.find(ctx, s)
		if l.asks == theArchive {
			return f, err
		}
		if err == nil && (f.certain && s.holds(f.proposals[0].target) || !f.certain && s.isSure(f.proposals)) {
			return f, nil
		}
	}
	s.cached = s.online
	return l.find(ctx, s)
}

// holds reports whether an archive that is a week old can be believed that an episode is
// there. One that was counted into a sequel may be a new one of the season before, unless
// that sequel had begun when the archive was made, or the day of the episode says that it is not.
func (s *session) holds(t target) bool {
	if t.row == nil || t.subject.ID == t.start.ID {
		return t.found()
	}
	if s.sameDay(t.row.AirDate) {
		return true
	}
	archive, ok := s.offline.catalog.(snapshot)
	return ok && t.subject.Date.IsFull() && t.subject.Date.Time().Before(archive.Made())
}

// snapshot is a catalog as it was at one time; the offline archive is one.
type snapshot interface{ Made() time.Time }

// addProposals adds what a layer proposes. The id table and the catalog know a subject by
// different things: the better word of the two counts.
func (s *session) addProposals(layer StepName, proposals []proposal) {
	if layer == StepDataset {
		s.tabled = proposals
	} else {
		s.searched = merge(s.searched, proposals)
	}
	s.found = slices.Clone(s.searched)
	for _, p := range s.tabled {
		at := slices.IndexFunc(s.found, func(q proposal) bool { return q.subject.ID == p.subject.ID })
		switch {
		case at < 0:
			s.found = append(s.found, p)
		case p.score > s.found[at].score:
			s.found[at] = p
		}
	}
	sortByScore(s.found)
}

func sortByScore(proposals []proposal) {
	slices.SortStableFunc(proposals, func(a, b proposal) int { return cmp.Compare(b.score, a.score) })
}

// merge joins what two layers propose, best first. What the later layer proposes of a
// subject, or found from the same start, stays: the catalog is never older than the archive.
func merge(earlier, later []proposal) []proposal {
	all := slices.Clone(later)
	for _, p := range earlier {
		if !slices.ContainsFunc(later, func(q proposal) bool { return q.subject.ID == p.subject.ID || q.target.start.ID == p.target.start.ID }) {
			all = append(all, p)
		}
	}
	sortByScore(all)
	return all
}
