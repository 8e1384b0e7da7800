package review

import (
	"context"
	"fmt"
	"slices"

	"watchmark/internal/catalog"
	"watchmark/internal/engine"
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
	// Personal has the mapping hold for the person whose record it is alone, as that of a person always does.
	Personal bool
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
// *reason.FieldError, or an error of package catalog when the subject could not be looked up.
func (s *Service) Correct(ctx context.Context, id int64, c Correction) (Corrected, error) {
	w, err := s.Engine.Records.Work(ctx, id)
	if err != nil {
		return Corrected{}, err
	}
	if w.Status.IsOnTheWay() {
		return Corrected{}, fmt.Errorf("correct record %d: %w", id, engine.ErrInProgress)
	}
	if err := s.beginCorrecting(ctx, id); err != nil {
		return Corrected{}, fmt.Errorf("correct record %d: %w", id, err)
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
	own := within(ctx, m.PersonID)
	ids := []int64{id}
	if c.AllOfTitle {
		all, err := s.Engine.Records.SameTitle(own, titlesOf(w.Record, c.EverySeason), correctMost)
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
	m, correction, err := s.Questions.Correct(own, id, m)
	if err != nil {
		return Corrected{}, err
	}
	t, err := s.Engine.Tasks.Start(ctx, task.Spec{Kind: CorrectKind, About: id}, func(ctx context.Context, t *task.Task) error {
		defer s.endCorrecting(id)
		return (&correcting{Service: s, asked: c, mapping: m, correction: correction, id: id, all: ids, task: t}).run(ctx)
	})
	started = err == nil
	return Corrected{Mapping: m, RecordIDs: ids, Task: t}, err
}

// beginCorrecting reserves a record for one correction. It returns ErrCorrecting while another one has it, at whatever replica.
func (s *Service) beginCorrecting(ctx context.Context, id int64) error {
	s.mu.Lock()
	here := s.corrects[id]
	s.corrects[id] = true
	s.mu.Unlock()
	if here {
		return ErrCorrecting
	}
	got, err := s.Holds.Take(ctx, correctingName(id))
	if got && err == nil {
		return nil
	}
	s.forgetCorrecting(id)
	if err == nil {
		err = ErrCorrecting
	}
	return err
}

func (s *Service) endCorrecting(id int64) {
	s.Holds.Give(context.Background(), correctingName(id))
	s.forgetCorrecting(id)
}

func (s *Service) forgetCorrecting(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.corrects, id)
}

// correctingName is the name under which one replica has the correction of a record.
func correctingName(id int64) string { return fmt.Sprintf("correction of %d", id) }

// titlesOf are the records that a mapping made from r is for.
func titlesOf(r record.Record, everySeason bool) record.Titles {
	title := mapping.Fold(r.Title)
	return record.Titles{
		Same:   func(other string) bool { return mapping.Fold(other) == title },
		Season: r.Season, EverySeason: everySeason, Film: r.MediaType == watch.Movie,
	}
}
