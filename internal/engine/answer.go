package engine

import (
	"context"
	"errors"
	"time"

	"watchmark/internal/candidate"
	"watchmark/internal/task"
)

// undoWait is how long Undo waits for records that the answer set going.
const undoWait = 10 * time.Second

// Answered is an answer to a question, with the task that follows the records which are
// run again because of it: nil when there are none, or the service is stopping.
type Answered struct {
	candidate.Answer
	Task *task.Task
}

// Confirm answers a question with a subject that the caller has checked, and runs the
// records that wait for it again. Errors are those of candidate.Store.Confirm.
func (e *Engine) Confirm(ctx context.Context, id int64, c candidate.Choice) (Answered, error) {
	a, err := e.Questions.Confirm(ctx, id, c)
	return e.answered(ctx, a, err)
}

// Reject answers a question by blocking its title exactly, and runs the records that wait
// again, which ignores them. Errors are those of candidate.Store.Reject.
func (e *Engine) Reject(ctx context.Context, id int64) (Answered, error) {
	a, err := e.Questions.Reject(ctx, id)
	return e.answered(ctx, a, err)
}

// UndoAnswer takes an answer back and runs the records that it set going again, so that
// they ask anew. It waits a while for those that are still on their way. Errors are those
// of candidate.Store.Undo.
func (e *Engine) UndoAnswer(ctx context.Context, id int64) (Answered, error) {
	changes, cancel := e.Records.Feed.Subscribe()
	defer cancel()
	waiting, stop := context.WithTimeout(ctx, undoWait)
	defer stop()
	for {
		a, err := e.Questions.Undo(ctx, id)
		if !errors.Is(err, candidate.ErrInWork) {
			// The answer names what stays marked: un-marking needs subject and episode as they
			// were, and running the records again overwrites both.
			return e.answered(ctx, a, err)
		}
		select {
		case <-changes:
		case <-waiting.Done():
			return Answered{}, err
		}
	}
}

// answered has the records of an answer worked on, and followed by a task.
func (e *Engine) answered(ctx context.Context, a candidate.Answer, err error) (Answered, error) {
	if err != nil {
		return Answered{}, err
	}
	e.Log.InfoContext(ctx, "question answered", "question_id", a.Question.ID, "status", a.Question.Status, "subject_id", a.Question.SubjectID, "records", len(a.RecordIDs))
	for _, id := range a.RecordIDs {
		e.Records.Feed.Publish(id)
	}
	defer e.Wake()
	if len(a.RecordIDs) == 0 {
		return Answered{Answer: a}, nil
	}
	t, err := e.Tasks.Start(AnswerKind, a.Question.ID, func(ctx context.Context, t *task.Task) error {
		for _, id := range a.RecordIDs {
			defer e.follow(id, t)()
		}
		var tally Tally
		for n, id := range a.RecordIDs {
			t.Progress(n, len(a.RecordIDs), tally.String())
			if err := e.tallySettled(ctx, id, &tally); err != nil {
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
