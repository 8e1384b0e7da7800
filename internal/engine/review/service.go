package review

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/engine"
	"watchmark/internal/match"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/hold"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// The kinds of task that follow records which are run again.
const (
	AnswerKind  = "answer"
	CorrectKind = "correct"
)

// Catalog tells what subjects and episodes are. Errors are those of package catalog.
type Catalog interface {
	Subject(ctx context.Context, id catalog.SubjectID) (catalog.Subject, error)
	Episode(ctx context.Context, id catalog.EpisodeID) (catalog.EpisodeInfo, error)
}

// Config is what a Service needs; every field but Restores must be set.
type Config struct {
	Engine    *engine.Engine
	Questions *Store
	Mappings  *mapping.Store
	Holds     *hold.Holds
	// MatchBy finds where an event leads by other rules than those that are kept.
	MatchBy func(ctx context.Context, event watch.Event, rules *mapping.Rules) match.Trace
	Catalog Catalog
	// Restores are the tasks that restored a snapshot of an account's list (0: of any) in a span of time; the answer is never nil.
	Restores func(ctx context.Context, accountID int64, since, until time.Time) ([]int64, error)
}

// Service carries out what people decide: answers to questions and corrections of records.
type Service struct {
	Config

	mu sync.Mutex
	// corrects are the records that a correction is started for here; Holds knows of other replicas.
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
func (s *Service) Confirm(ctx context.Context, id, person int64, c Choice) (Answered, error) {
	a, err := s.Questions.Confirm(ctx, id, person, c)
	return s.follow(ctx, a, err)
}

// Reject answers a question by blocking its title exactly, and runs the records that wait
// again, which ignores them. Errors are those of Store.Reject.
func (s *Service) Reject(ctx context.Context, id, person int64) (Answered, error) {
	a, err := s.Questions.Reject(ctx, id, person)
	return s.follow(ctx, a, err)
}

// follow has the records of an answer worked on, and followed by a task.
func (s *Service) follow(ctx context.Context, a Answer, err error) (Answered, error) {
	if err != nil {
		return Answered{}, err
	}
	s.Engine.Log.InfoContext(ctx, "question answered", "question_id", a.Question.ID, "status", a.Question.Status, "subject_id", a.Question.SubjectID, "records", len(a.RecordIDs))
	t, err := s.runAgain(ctx, AnswerKind, a.Question.ID, a.RecordIDs, func(tally engine.Tally) any { return tally })
	return Answered{Answer: a, Task: t}, err
}

// runAgain has records worked on that were given back, and followed by a task with the result that their tally makes: nil when
// there are none, or the service is stopping, which takes them up at the next start.
func (s *Service) runAgain(ctx context.Context, kind string, about int64, ids []int64, result func(engine.Tally) any) (*task.Task, error) {
	for _, id := range ids {
		s.Engine.Records.Feed.Publish(id)
	}
	defer s.Engine.Wake()
	if len(ids) == 0 {
		return nil, nil
	}
	since := time.Now()
	t, err := s.Engine.Tasks.Start(ctx, task.Spec{Kind: kind, About: about}, func(ctx context.Context, t *task.Task) error {
		for _, id := range ids {
			defer s.Engine.Follow(id, t)()
		}
		var tally engine.Tally
		err := s.Engine.Await(ctx, ids, &tally, func(settled int) { t.Progress(settled, len(ids), tally.Reason()) })
		if err != nil {
			return err
		}
		t.SetResult(result(tally))
		return nil
	})
	if errors.Is(err, task.ErrStopping) {
		return nil, nil
	}
	if err == nil { // before they are worked on, as far as nobody else has woken the engine
		err = s.Engine.DB.Write(context.WithoutCancel(ctx), func(ctx context.Context, tx *sql.Tx) error {
			return record.OfTaskTx(ctx, tx, t.Status().ID, since, ids...)
		})
	}
	return t, err
}
