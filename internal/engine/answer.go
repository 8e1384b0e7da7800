package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"watchmark/internal/engine/review"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
)

// undoWait is how long Undo waits for records that the answer set going.
const undoWait = 10 * time.Second

// Answered is an answer to a question, with the task that follows the records which are
// run again because of it: nil when there are none, or the service is stopping.
type Answered struct {
	review.Answer
	Task *task.Task
	// Unmarked are the records whose marks an undo took back from lists. Shared is how many
	// marks it left there, because a record of another title relies on them.
	Unmarked []int64
	Shared   int
}

// Confirm answers a question with a subject that the caller has checked, and runs the
// records that wait for it again. Errors are those of review.Store.Confirm.
func (e *Engine) Confirm(ctx context.Context, id int64, c review.Choice) (Answered, error) {
	a, err := e.Questions.Confirm(ctx, id, c)
	return e.answered(ctx, a, err)
}

// Reject answers a question by blocking its title exactly, and runs the records that wait
// again, which ignores them. Errors are those of review.Store.Reject.
func (e *Engine) Reject(ctx context.Context, id int64) (Answered, error) {
	a, err := e.Questions.Reject(ctx, id)
	return e.answered(ctx, a, err)
}

// UndoAnswer takes an answer back with all that it caused. First the marks that it led to
// are removed from the lists, as far as the service itself wrote them; then rule and question
// are as before, and the records run again, so that they ask anew. When a mark cannot be taken
// back the answer stays, and undoing again goes on where it stopped. It waits a while for
// records that are still on their way. Errors are those of review.Store.Undo but for
// *review.MarkedError, and of packages account and catalog.
func (e *Engine) UndoAnswer(ctx context.Context, id int64) (Answered, error) {
	waiting, stop := context.WithTimeout(ctx, undoWait)
	defer stop()
	var taken []takenBack
	for {
		a, err := e.Questions.Undo(ctx, id)
		var marked *review.MarkedError
		if errors.As(err, &marked) {
			some, err := e.takeBackAll(ctx, marked.RecordIDs, "the answer about this title was undone")
			if err != nil {
				return Answered{}, fmt.Errorf("undo the answer to question %d: %w", id, err)
			}
			taken = append(taken, some...)
			continue
		}
		var busy *review.InWorkError
		if !errors.As(err, &busy) {
			back, err := e.answered(ctx, a, err)
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
		_, waited := e.Settled(waiting, busy.RecordID)
		switch {
		case waiting.Err() != nil:
			return Answered{}, err
		case waited != nil && !errors.Is(waited, record.ErrNotFound):
			return Answered{}, fmt.Errorf("undo the answer to question %d: %w", id, waited)
		}
	}
}

// answered has the records of an answer worked on, and followed by a task.
func (e *Engine) answered(ctx context.Context, a review.Answer, err error) (Answered, error) {
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
