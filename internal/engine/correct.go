package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"watchmark/internal/catalog"
	"watchmark/internal/mapping"
	"watchmark/internal/match"
	"watchmark/internal/record"
	"watchmark/internal/task"
	"watchmark/internal/watch"
)

// CorrectKind is the kind of task that Correct starts.
const CorrectKind = "correct"

// correctMost is how many records one correction of a title takes, the newest ones.
const correctMost = 500

// Correction is what a person says a record should have led to.
type Correction struct {
	SubjectID catalog.SubjectID
	// EpisodeOffset is added to the event's episode number.
	EpisodeOffset int
	// EverySeason makes the mapping hold for every season of the title, not the event's own alone.
	EverySeason bool
	// Unmark takes back what was marked and is not what the mapping leads to, Mark runs the
	// records again.
	Unmark, Mark bool
	// AllOfTitle corrects all records that the mapping is for: 500 at most, the newest, without ignored ones.
	AllOfTitle bool
}

// Corrected is a correction on its way.
type Corrected struct {
	Mapping mapping.Mapping
	// RecordIDs are the records that are corrected, the oldest first.
	RecordIDs []int64
	Task      *task.Task
}

// Correct writes the mapping that a correction of a record asks for, and starts the task
// that takes back and marks anew. The order is mapping, take back, run again, and each may
// be done twice: after a failure the same correction goes on. A record whose mark cannot be
// taken back keeps it and is not run again. It returns record.ErrNotFound, ErrInProgress,
// ErrCorrecting, task.ErrStopping, a *mapping.FieldError, or an error of package catalog when
// the subject could not be looked up.
func (e *Engine) Correct(ctx context.Context, id int64, c Correction) (Corrected, error) {
	w, err := e.Records.Work(ctx, id)
	if err != nil {
		return Corrected{}, err
	}
	if isOnTheWay(w.Record) {
		return Corrected{}, fmt.Errorf("correct record %d: %w", id, ErrInProgress)
	}
	if running, err := e.Tasks.Newest(CorrectKind, id); err == nil && running.Status().State == task.Running {
		return Corrected{}, fmt.Errorf("correct record %d: %w", id, ErrCorrecting)
	}
	m, _, err := e.mappingFor(ctx, w, c)
	if err != nil {
		return Corrected{}, err
	}
	ids := []int64{id}
	if c.AllOfTitle {
		if ids, _, err = e.Records.SameTitle(ctx, w.Record, c.EverySeason, correctMost); err != nil {
			return Corrected{}, err
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if m, err = e.Mappings.Put(ctx, m); err != nil {
		return Corrected{}, err
	}
	t, err := e.Tasks.Start(CorrectKind, id, func(ctx context.Context, t *task.Task) error {
		return (&correcting{Engine: e, c: c, mapping: m, all: ids, task: t}).run(ctx)
	})
	return Corrected{Mapping: m, RecordIDs: ids, Task: t}, err
}

// mappingFor is the mapping that a correction asks for, and the rules with it.
func (e *Engine) mappingFor(ctx context.Context, w record.Work, c Correction) (mapping.Mapping, *mapping.Rules, error) {
	m := mapping.Mapping{
		Title: w.Event.Title, Season: w.Event.Season, SubjectID: c.SubjectID, EpisodeOffset: c.EpisodeOffset,
		Origin: mapping.ByPerson, Note: fmt.Sprintf("from record %d", w.ID),
	}
	if c.EverySeason {
		m.Season = nil
	}
	rules, err := e.Mappings.RulesWith(ctx, m)
	if err != nil {
		return m, nil, err
	}
	if won, _ := rules.Find([]string{w.Event.Title, w.Event.OriginalTitle}, w.Event.Season); won != m {
		return m, nil, &mapping.FieldError{Field: "every_season", Problem: fmt.Sprintf(
			"the mapping of %q for this very season goes first: leave every_season off, or remove that mapping", won.Title)}
	}
	if _, err := e.Chosen(ctx, c.SubjectID, w.Event.Media); err != nil {
		return m, nil, err
	}
	return m, rules, nil
}

// Chosen is the subject that a person chose for a title. It returns a *mapping.FieldError of
// subject_id when there is none or it is of another kind than the title, else an error of package catalog.
func (e *Engine) Chosen(ctx context.Context, id catalog.SubjectID, media watch.Media) (catalog.Subject, error) {
	subject, err := e.Catalog.Subject(ctx, id)
	if errors.Is(err, catalog.ErrNotFound) {
		return catalog.Subject{}, &mapping.FieldError{Field: "subject_id", Problem: fmt.Sprintf(
			"the catalog does not show subject %d: it does not exist, or is an adult title, which is hidden from look-ups without a login", id)}
	}
	if err != nil {
		return catalog.Subject{}, err
	}
	wanted, kind := catalog.Anime, "an anime"
	if media == watch.RealAction {
		wanted, kind = catalog.Real, "a live-action show"
	}
	if subject.Type != wanted {
		return catalog.Subject{}, &mapping.FieldError{Field: "subject_id", Problem: fmt.Sprintf("subject %d, %s, is not %s", id, subject.DisplayName(), kind)}
	}
	return subject, nil
}

// Preview is what a correction would do.
type Preview struct {
	// Marks is what the record wrote and nobody took back.
	Marks []record.Mark
	// Others are the other records that AllOfTitle would take, OthersMarked those of them that hold a mark.
	Others, OthersMarked int
	// Leads is where the record would come out; nil when the correction names no subject.
	Leads *match.Result
	// EpisodeName is the title of the episode that it leads to; may be empty.
	EpisodeName string
	// Same is set when all that the record marked is what the correction leads to: nothing is taken back.
	Same bool
}

// PreviewCorrection tells what Correct would do, and writes nothing. With SubjectID 0 it
// tells only what there is to correct. Errors as those of Correct.
func (e *Engine) PreviewCorrection(ctx context.Context, id int64, c Correction) (Preview, error) {
	w, err := e.Records.Work(ctx, id)
	if err != nil {
		return Preview{}, err
	}
	var p Preview
	if p.Marks, err = e.Records.Marks(ctx, id); err != nil {
		return Preview{}, err
	}
	others, marked, err := e.Records.SameTitle(ctx, w.Record, c.EverySeason, correctMost)
	if err != nil {
		return Preview{}, err
	}
	p.Others, p.OthersMarked = len(others), marked
	if slices.Contains(others, id) {
		p.Others--
		p.OthersMarked -= min(1, len(p.Marks))
	}
	if c.SubjectID == 0 {
		return p, nil
	}
	_, rules, err := e.mappingFor(ctx, w, c)
	if err != nil {
		return Preview{}, err
	}
	trace := e.MatchBy(ctx, w.Event, rules)
	if trace.Result.Status == match.Unreachable && trace.Err != nil {
		return Preview{}, trace.Err
	}
	p.Leads = &trace.Result
	p.Same = len(p.Marks) > 0 && !slices.ContainsFunc(p.Marks, func(m record.Mark) bool { return !isOf(trace.Result, m) })
	if trace.Result.EpisodeID != 0 {
		if episode, err := e.Catalog.Episode(ctx, trace.Result.EpisodeID); err == nil { // its title is a courtesy
			p.EpisodeName = episode.NameCN
			if p.EpisodeName == "" {
				p.EpisodeName = episode.Name
			}
		}
	}
	return p, nil
}

// isOf reports whether a match leads to what was marked.
func isOf(r match.Result, m record.Mark) bool {
	return r.Status == match.Matched && r.SubjectID == m.SubjectID && r.EpisodeID == m.EpisodeID
}
