package match

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/match/idmap"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/reason"
	"watchmark/internal/watch"
)

// Catalog is what the matcher asks of the catalog; *catalog.Client is one, and so is
// the offline archive. Errors are told apart with errors.Is and the sentinels of package catalog.
type Catalog interface {
	Search(ctx context.Context, q catalog.SearchQuery) ([]catalog.Subject, error)
	Subject(ctx context.Context, id catalog.SubjectID) (catalog.Subject, error)
	Relations(ctx context.Context, id catalog.SubjectID) ([]catalog.Relation, error)
	Episodes(ctx context.Context, id catalog.SubjectID) ([]catalog.EpisodeInfo, error)
	Episode(ctx context.Context, id catalog.EpisodeID) (catalog.EpisodeInfo, error)
}

// Rules gives the current mappings and blocked keywords; *mapping.Store is one.
type Rules interface {
	Rules(ctx context.Context) (*mapping.Rules, error)
}

// Thresholds decide what becomes of a score; each is a ratio 0..1.
type Thresholds struct {
	// Accept is the lowest score that is marked without asking.
	Accept float64
	// Review is the lowest score worth showing to a person.
	Review float64
	// Margin is how far the best subject must be ahead of the next one to be marked.
	Margin float64
}

// input is the thresholds as a step tells them.
func (t Thresholds) input() map[string]any {
	return map[string]any{"accept": t.Accept, "review": t.Review, "margin": t.Margin}
}

// Options are the settings of the matcher.
type Options struct {
	Thresholds
	// Arbiter has all layers asked and weighed together before anything is decided.
	Arbiter bool
	// LiveAction has what is no anime looked for among the live-action subjects.
	LiveAction bool
}

// Config is what a Matcher is made of; every field but SeriesIDs must be set.
type Config struct {
	Catalog Catalog
	// Archive is asked before every match for the offline archive, which is asked before
	// the catalog. It answers nil, and why, while there is none to ask.
	Archive func() (archive Catalog, why reason.Reason)
	// Dataset is asked before every match for the community table. It answers nil, and why,
	// while it is switched off.
	Dataset func() (table *idmap.Table, why reason.Reason)
	Rules   Rules
	// SeriesIDs is asked for the ids of the series of an event that has none, and answers where they come from. ids is
	// nil when it knows none.
	SeriesIDs func(ctx context.Context, event watch.Event) (ids watch.IDs, from reason.Reason, err error)
	// Options is asked before every match, so that a change of settings applies at once.
	Options func() Options
}

// Matcher finds the subject and the episode of an event. It keeps nothing between
// two matches and is safe for concurrent use.
type Matcher struct{ Config }

// New is a Matcher over c.
func New(c Config) *Matcher { return &Matcher{c} }

// Match finds out what event is about. It does not fail: what went wrong is the
// status, the reason and the steps of the Trace.
func (m *Matcher) Match(ctx context.Context, event watch.Event) Trace {
	archive, why := m.Archive()
	return m.match(ctx, event, archive, why)
}

// MatchOnline is Match without the offline archive, for what that has led astray.
func (m *Matcher) MatchOnline(ctx context.Context, event watch.Event) Trace {
	return m.match(ctx, event, nil, archiveRefused.With())
}

func (m *Matcher) match(ctx context.Context, event watch.Event, archive Catalog, noArchive reason.Reason) Trace {
	start := time.Now()
	s := &session{
		request: newRequest(event), options: m.Options(), online: newCachedCatalog(m.Catalog, searchMost),
		noArchive: noArchive, seriesIDs: m.SeriesIDs, viewed: viewerOf(ctx) != nil, aired: map[catalog.SubjectID]bool{}, elsewhere: map[catalog.SubjectID]bool{},
	}
	s.limit = s.options.Thresholds
	s.table, s.noTable = m.Dataset()
	if archive != nil {
		s.offline, s.noArchive = newCachedCatalog(archive, searchMostOffline), reason.Reason{}
		s.offline.archived = true
	}
	t := Trace{Steps: []Step{}}
	t.Result = m.run(ctx, s, &t)
	t.archived = s.offline != nil
	t.ElapsedMS = milliseconds(time.Since(start))
	return t
}

func (m *Matcher) run(ctx context.Context, s *session, t *Trace) Result {
	start := time.Now()
	rules, err := m.Rules.Rules(ctx)
	if err != nil {
		t.Err = err
		t.add(Step{Name: StepBlock, Status: Failed, Output: map[string]any{"error": reason.Of(err)}}, start)
		return Result{Status: Unreachable, Reason: rulesUnreadable.With()}
	}
	s.rules = rules
	if result, stops := t.block(s.request, rules, start); stops {
		return result
	}

	certain, err := s.askLayers(ctx, t)
	if err == nil && s.options.Arbiter && !certain {
		start = time.Now()
		t.add(s.arbitrate(), start)
	}
	if err != nil {
		t.Err = err
		return failure(err)
	}
	start = time.Now()
	result, output := decide(s, s.found, certain)
	if result.Status == NotFound && s.online.sparse {
		t.Err = &catalog.Error{Op: opSearch.With(), Kind: catalog.ErrUnreachable, Err: catalog.ErrSearchOff}
		return failure(t.Err)
	}
	isAdult := result.proposal != nil && result.proposal.subject.NSFW
	if s.online.refused != nil && (result.Status == NotFound || isAdult && result.Status != Matched) {
		t.Err = fmt.Errorf("%w: %w", ErrViewerRefused, s.online.refused)
	}
	if best := result.proposal; best != nil {
		t.add(best.target.step(s.request), start)
		start = time.Now()
	}
	t.add(Step{Name: StepDecision, Status: statusOf(result.Status), Input: s.limit.input(), Output: output}, start)
	return result.Result
}

// Blocked tells whether a blocked keyword stops an event, for which nothing is looked up; the trace
// is what Match would answer then.
func (m *Matcher) Blocked(ctx context.Context, event watch.Event) (Trace, bool) {
	start := time.Now()
	rules, err := m.Rules.Rules(ctx)
	if err != nil {
		return Trace{}, false
	}
	t := Trace{Steps: []Step{}}
	result, stops := t.block(newRequest(event), rules, start)
	t.Result, t.ElapsedMS = result, milliseconds(time.Since(start))
	return t, stops
}

// BlockedBy is the blocked keyword that stopped the event of a record with this message; empty when none did.
func BlockedBy(message reason.Reason) string {
	if message.Code != keywordBlocks.Code() {
		return ""
	}
	keyword, _ := message.Args["keyword"].(string)
	return keyword
}

// block takes the first step: a blocked keyword ends the match.
func (t *Trace) block(r request, rules *mapping.Rules, start time.Time) (result Result, stops bool) {
	blocked, stops := rules.Blocks(r.titles())
	if !stops {
		t.add(Step{Name: StepBlock, Status: Miss, Input: r.input()}, start)
		return Result{}, false
	}
	t.add(Step{Name: StepBlock, Status: Hit, Input: r.input(), Output: map[string]any{"keyword": blocked.Keyword, "kind": blocked.Kind}}, start)
	return Result{Status: Blocked, Reason: keywordBlocks.With(blocked.Keyword)}, true
}

func statusOf(s Status) StepStatus {
	if s == Matched {
		return Hit
	}
	return Miss
}

// failure is the result of a match that the catalog did not answer.
func failure(err error) Result {
	refusals := []error{catalog.ErrUnauthorized, catalog.ErrForbidden, catalog.ErrRefused, catalog.ErrNotFound}
	if !slices.ContainsFunc(refusals, func(refusal error) bool { return errors.Is(err, refusal) }) {
		return Result{Status: Unreachable, Reason: catalog.Outage(err)}
	}
	var problem *catalog.Error
	if errors.As(err, &problem) && !problem.Description.IsZero() {
		return Result{Status: NotFound, Reason: lookUpRefusedSaying.With(problem.Description)}
	}
	return Result{Status: NotFound, Reason: lookUpRefused.With()}
}

// add ends a step that began at start.
func (t *Trace) add(s Step, start time.Time) { t.Steps = append(t.Steps, s.Ended(start)) }
