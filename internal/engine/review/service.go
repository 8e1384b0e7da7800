package review

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/engine"
	"watchmark/internal/match"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// The kinds of task that follow records which are run again.
const (
	AnswerKind  = "answer"
	CorrectKind = "correct"
)

// undoWait is how long Undo waits for records that the answer set going.
const undoWait = 10 * time.Second

// Catalog tells what subjects and episodes are. Errors are those of package catalog.
type Catalog interface {
	Subject(ctx context.Context, id catalog.SubjectID) (catalog.Subject, error)
	Episode(ctx context.Context, id catalog.EpisodeID) (catalog.EpisodeInfo, error)
}

// Config is what a Service needs; every field must be set.
type Config struct {
	Engine    *engine.Engine
	Questions *Store
	Mappings  *mapping.Store
	// MatchBy finds where an event leads by other rules than those that are kept.
	MatchBy func(ctx context.Context, event watch.Event, rules *mapping.Rules) match.Trace
	Catalog Catalog
}

// Service carries out what people decide: answers to questions and corrections of records.
type Service struct {
	Config

	mu sync.Mutex
	// corrects are the records that a correction is started for.
	corrects map[int64]bool
}

// New is a service over c.
func New(c Config) *Service { return &Service{Config: c, corrects: map[int64]bool{}} }

// Answered is an answer to a question, with the task that follows the records which are
// run again because of it: nil when there are none, or the service is stopping.
type Answered struct {
	Answer
	Task *task.Task
	// Unmarked are the records whose marks an undo took back from lists. Shared is how many
	// marks it left there, because a record of another title relies on them.
	Unmarked []int64
	Shared   int
}

// Confirm answers a question with a subject that the caller has checked, and runs the
// records that wait for it again. Errors are those of Store.Confirm.
func (s *Service) Confirm(ctx context.Context, id int64, c Choice) (Answered, error) {
	a, err := s.Questions.Confirm(ctx, id, c)
	return s.answered(ctx, a, err)
}

// Reject answers a question by blocking its title exactly, and runs the records that wait
// again, which ignores them. Errors are those of Store.Reject.
func (s *Service) Reject(ctx context.Context, id int64) (Answered, error) {
	a, err := s.Questions.Reject(ctx, id)
	return s.answered(ctx, a, err)
}

// Undo takes an answer back with all that it caused. First the marks that it led to
// are removed from the lists, as far as the service itself wrote them; then rule and question
// are as before, and the records run again, so that they ask anew. When a mark cannot be taken
// back the answer stays, and undoing again goes on where it stopped. It waits a while for
// records that are still on their way. Errors are those of Store.Undo but for
// *MarkedError, and of packages account and catalog.
func (s *Service) Undo(ctx context.Context, id int64) (Answered, error) {
	waiting, stop := context.WithTimeout(ctx, undoWait)
	defer stop()
	var taken []takenBack
	for {
		a, err := s.Questions.Undo(ctx, id)
		var marked *MarkedError
		if errors.As(err, &marked) {
			some, err := s.takeBackAll(ctx, marked.RecordIDs, "the answer about this title was undone")
			if err != nil {
				return Answered{}, fmt.Errorf("undo the answer to question %d: %w", id, err)
			}
			taken = append(taken, some...)
			continue
		}
		var busy *InWorkError
		if !errors.As(err, &busy) {
			back, err := s.answered(ctx, a, err)
			for i, t := range taken {
				if t.sharer != 0 {
					if !slices.ContainsFunc(taken[i:], func(later takenBack) bool { return later.isThatLeftBy(t) }) {
						back.Shared++
					}
				} else if !slices.Contains(back.Unmarked, t.RecordID) {
					back.Unmarked = append(back.Unmarked, t.RecordID)
				}
			}
			return back, err
		}
		_, waited := s.Engine.Settled(waiting, busy.RecordID)
		switch {
		case waiting.Err() != nil:
			return Answered{}, err
		case waited != nil && !errors.Is(waited, record.ErrNotFound):
			return Answered{}, fmt.Errorf("undo the answer to question %d: %w", id, waited)
		}
	}
}

// answered has the records of an answer worked on, and followed by a task.
func (s *Service) answered(ctx context.Context, a Answer, err error) (Answered, error) {
	if err != nil {
		return Answered{}, err
	}
	s.Engine.Log.InfoContext(ctx, "question answered", "question_id", a.Question.ID, "status", a.Question.Status, "subject_id", a.Question.SubjectID, "records", len(a.RecordIDs))
	for _, id := range a.RecordIDs {
		s.Engine.Records.Feed.Publish(id)
	}
	defer s.Engine.Wake()
	if len(a.RecordIDs) == 0 {
		return Answered{Answer: a}, nil
	}
	t, err := s.Engine.Tasks.Start(AnswerKind, a.Question.ID, func(ctx context.Context, t *task.Task) error {
		for _, id := range a.RecordIDs {
			defer s.Engine.Follow(id, t)()
		}
		var tally engine.Tally
		for n, id := range a.RecordIDs {
			t.Progress(n, len(a.RecordIDs), tally.String())
			if err := s.Engine.Await(ctx, id, &tally); err != nil {
				return err
			}
		}
		t.SetResult(tally)
		t.Progress(len(a.RecordIDs), len(a.RecordIDs), tally.String())
		return nil
	})
	if errors.Is(err, task.ErrStopping) {
		err = nil // the answer is stored, and the records are taken up at the next start
	}
	return Answered{Answer: a, Task: t}, err
}
