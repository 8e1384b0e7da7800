package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"watchmark/internal/engine"

	"watchmark/internal/catalog"
	"watchmark/internal/match"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

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
	// AllOfTitle corrects all records that the mapping is for: 500 at most, the newest, without
	// ignored ones. What came out right already, and what the mapping leads to no episode, stays.
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
// be done twice: after a failure the same correction goes on. A mark is taken back only when
// the mapping is known to lead elsewhere, and then its record runs again even when the service
// stops in between. A record whose mark cannot be taken back keeps it and is not run again.
//
// It returns record.ErrNotFound, engine.ErrInProgress, ErrCorrecting, task.ErrStopping, a
// *mapping.FieldError, or an error of package catalog when the subject could not be looked up.
func (s *Service) Correct(ctx context.Context, id int64, c Correction) (Corrected, error) {
	w, err := s.Engine.Records.Work(ctx, id)
	if err != nil {
		return Corrected{}, err
	}
	if w.Status.IsOnTheWay() {
		return Corrected{}, fmt.Errorf("correct record %d: %w", id, engine.ErrInProgress)
	}
	if !s.beginCorrecting(id) {
		return Corrected{}, fmt.Errorf("correct record %d: %w", id, ErrCorrecting)
	}
	started := false
	defer func() {
		if !started {
			s.endCorrecting(id)
		}
	}()
	m, _, err := s.mappingFor(ctx, w, c)
	if err != nil {
		return Corrected{}, err
	}
	ids := []int64{id}
	if c.AllOfTitle {
		all, err := s.Engine.Records.SameTitle(ctx, titlesOf(w.Record, c.EverySeason), correctMost)
		if err != nil {
			return Corrected{}, err
		}
		ids = ids[:0]
		for _, one := range all {
			ids = append(ids, one.ID)
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if m, err = s.Mappings.Put(ctx, m); err != nil {
		return Corrected{}, err
	}
	t, err := s.Engine.Tasks.Start(CorrectKind, id, func(ctx context.Context, t *task.Task) error {
		defer s.endCorrecting(id)
		return (&correcting{Service: s, c: c, mapping: m, id: id, all: ids, task: t}).run(ctx)
	})
	started = err == nil
	return Corrected{Mapping: m, RecordIDs: ids, Task: t}, err
}

// beginCorrecting reserves a record for one correction, and reports false while another one has it.
func (s *Service) beginCorrecting(id int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.corrects[id] {
		return false
	}
	s.corrects[id] = true
	return true
}

func (s *Service) endCorrecting(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.corrects, id)
}

// mappingFor is the mapping that a correction asks for, and the rules with it.
func (s *Service) mappingFor(ctx context.Context, w record.Work, c Correction) (mapping.Mapping, *mapping.Rules, error) {
	m := mapping.Mapping{
		Title: w.Event.Title, Season: w.Event.Season, Form: mapping.FormOf(w.Event.IsFilm()), SubjectID: c.SubjectID, EpisodeOffset: c.EpisodeOffset,
		Origin: mapping.ByPerson, Note: fmt.Sprintf("from record %d", w.ID),
	}
	if c.EverySeason {
		m.Season = nil
	} else {
		m.FirstSeason = m.Season == nil
	}
	if m.Season != nil && *m.Season == 0 && !c.AllOfTitle {
		m.Episode = w.Event.Episode // what one special is says nothing of the others
	}
	rules, err := s.Mappings.RulesWith(ctx, m)
	if err != nil {
		return m, nil, err
	}
	if won, _ := rules.Find([]string{w.Event.Title, w.Event.OriginalTitle}, w.Event.Season, w.Event.IsFilm(), w.Event.Episode); won != m {
		if won.Episode != nil {
			return m, nil, &mapping.FieldError{Field: "all_of_title", Problem: fmt.Sprintf("the mapping of %q for this very episode goes first: remove that mapping", won.Title)}
		}
		return m, nil, &mapping.FieldError{Field: "every_season", Problem: fmt.Sprintf(
			"the mapping of %q for this very season goes first: leave every_season off, or remove that mapping", won.Title)}
	}
	subject, err := s.Chosen(ctx, c.SubjectID)
	m.SubjectName = subject.DisplayName()
	return m, rules, err
}

// Chosen is the subject that a person chose for a title: an anime or live action, whatever the
// media server takes the title for. It returns a *mapping.FieldError of subject_id when there
// is none or it is of another kind, else an error of package catalog.
func (s *Service) Chosen(ctx context.Context, id catalog.SubjectID) (catalog.Subject, error) {
	if err := mapping.CheckSubject(id); err != nil {
		return catalog.Subject{}, err
	}
	subject, err := s.Catalog.Subject(ctx, id)
	if errors.Is(err, catalog.ErrNotFound) {
		return catalog.Subject{}, &mapping.FieldError{Field: "subject_id", Problem: fmt.Sprintf(
			"the catalog does not show subject %d: it does not exist, or is an adult title, which is hidden from look-ups without a login", id)}
	}
	if err != nil {
		return catalog.Subject{}, err
	}
	if subject.Type != catalog.Anime && subject.Type != catalog.Real {
		return catalog.Subject{}, &mapping.FieldError{Field: "subject_id", Problem: fmt.Sprintf("subject %d, %s, is neither an anime nor live action", id, subject.DisplayName())}
	}
	return subject, nil
}

// Effect is what a correction would do.
type Effect struct {
	// Marks is what the record wrote and nobody took back.
	Marks []record.Mark
	// Others are the other records that AllOfTitle would take, OthersMarked those of them that hold a mark.
	Others, OthersMarked int
	// OthersChange of them would run again, OthersStay would stay as they are, and of
	// OthersUntold that cannot be told now; all 0 without AllOfTitle and a subject.
	OthersChange, OthersStay, OthersUntold int
	// Leads is where the record would come out; nil when the correction names no subject.
	Leads *match.Result
	// EpisodeName is the title of the episode that it leads to; may be empty.
	EpisodeName string
	// Same is set when all that the record marked is what the correction leads to: nothing is taken back.
	Same bool
}

// PreviewCorrection tells what Correct would do, and writes nothing. With SubjectID 0 it
// tells only what there is to correct. Errors as those of Correct.
func (s *Service) PreviewCorrection(ctx context.Context, id int64, c Correction) (Effect, error) {
	w, err := s.Engine.Records.Work(ctx, id)
	if err != nil {
		return Effect{}, err
	}
	var p Effect
	if p.Marks, err = s.Engine.Records.Marks(ctx, id); err != nil {
		return Effect{}, err
	}
	others, err := s.Engine.Records.SameTitle(ctx, titlesOf(w.Record, c.EverySeason), correctMost)
	if err != nil {
		return Effect{}, err
	}
	others = slices.DeleteFunc(others, func(one record.Titled) bool { return one.ID == id })
	p.Others = len(others)
	for _, one := range others {
		if one.Marked {
			p.OthersMarked++
		}
	}
	if c.SubjectID == 0 {
		return p, nil
	}
	_, rules, err := s.mappingFor(ctx, w, c)
	if err != nil {
		return Effect{}, err
	}
	trace := s.MatchBy(ctx, w.Event, rules)
	if trace.Result.Status == match.Unreachable && trace.Err != nil {
		return Effect{}, trace.Err
	}
	p.Leads = &trace.Result
	p.Same = len(p.Marks) > 0 && !slices.ContainsFunc(p.Marks, func(m record.Mark) bool { return !isOf(trace.Result, m) })
	if c.AllOfTitle {
		if err := s.previewOthers(ctx, others, rules, &p); err != nil {
			return Effect{}, err
		}
	}
	p.EpisodeName = s.episodeName(ctx, trace.Result.EpisodeID)
	return p, nil
}

// episodeName is the title of an episode; empty where it cannot be had, for it is a courtesy.
func (s *Service) episodeName(ctx context.Context, id catalog.EpisodeID) string {
	if id == 0 {
		return ""
	}
	episode, err := s.Catalog.Episode(ctx, id)
	if err != nil {
		return ""
	}
	return cmp.Or(episode.NameCN, episode.Name)
}

// previewTime is how long a preview looks where other records lead.
const previewTime = 10 * time.Second

// previewOthers counts what a correction would do to other records.
func (s *Service) previewOthers(ctx context.Context, others []record.Titled, rules *mapping.Rules, p *Effect) error {
	looking, stop := context.WithTimeout(ctx, previewTime)
	defer stop()
	for _, one := range others {
		r, err := s.Engine.Records.Get(ctx, one.ID)
		if errors.Is(err, record.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		v := verdict{fate: untold}
		if !r.Status.IsOnTheWay() && looking.Err() == nil {
			v, err = s.judge(looking, r, func(ctx context.Context, event watch.Event) match.Trace { return s.MatchBy(ctx, event, rules) })
			if looking.Err() != nil {
				v, err = verdict{fate: untold}, ctx.Err()
			}
			if err != nil {
				return err
			}
		}
		switch v.fate {
		case runsAgain:
			p.OthersChange++
		case untold:
			p.OthersUntold++
		default:
			p.OthersStay++
		}
	}
	return nil
}

// isOf reports whether a match leads to what was marked.
func isOf(r match.Result, m record.Mark) bool {
	return r.Status == match.Matched && r.SubjectID == m.SubjectID && (m.EpisodeID == 0 || r.EpisodeID == m.EpisodeID)
}
