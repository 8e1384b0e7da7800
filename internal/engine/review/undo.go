package review

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"watchmark/internal/engine"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/scope"
	"watchmark/internal/record"
)

// undoWait is how long an undo waits for records that the answer set going.
const undoWait = 10 * time.Second

// undoMost is how many records, beside those that waited for the answer, its undo takes
// with it: the newest ones.
const undoMost = 500

// Undo takes an answer back with all that it caused. First the marks that it led to
// are removed from the lists, as far as the service itself wrote them; then rule and question
// are as before, and the records run again, so that they ask anew. When a mark cannot be taken
// back the answer stays, and undoing again goes on where it stopped. It waits a while for
// records that are still on their way. Errors are those of Store.Undo but for
// *MarkedError, and of packages account and catalog.
func (s *Service) Undo(ctx context.Context, id, person int64) (Answered, error) {
	a, taken, err := s.goBack(ctx, answerUndone.With(), func(ctx context.Context) (Answer, error) { return s.Questions.Undo(ctx, id, person) })
	back, err := s.follow(ctx, a, err)
	back.Unmarked, back.Shared = countTaken(taken)
	return back, err
}

// UndoCorrection takes the newest correction of a record back, as Undo does an answer: what its mapping led to is removed from
// the lists, the rules are as before, and the records run again by them. Errors are ErrCorrecting, those of
// Store.UndoCorrection but for *MarkedError, and of packages account and catalog.
func (s *Service) UndoCorrection(ctx context.Context, recordID int64) (Answered, error) {
	if err := s.beginCorrecting(ctx, recordID); err != nil {
		return Answered{}, fmt.Errorf("undo the correction of record %d: %w", recordID, err)
	}
	defer s.endCorrecting(recordID)
	a, taken, err := s.goBack(ctx, correctionUndone.With(), func(ctx context.Context) (Answer, error) { return s.Questions.UndoCorrection(ctx, recordID) })
	if err != nil {
		return Answered{}, err
	}
	s.Engine.Log.InfoContext(ctx, "correction undone", "record_id", recordID, "records", len(a.RecordIDs))
	back := Answered{Answer: a}
	back.Unmarked, back.Shared = countTaken(taken)
	back.Task, err = s.runAgain(ctx, CorrectKind, recordID, a.RecordIDs, func(tally engine.Tally) any { return CorrectTally{TakenBack: len(back.Unmarked), Tally: tally} })
	return back, err
}

// goBack takes a decision back by undo, which needs its marks gone, and says why of each. It waits a while for records that are on
// their way.
func (s *Service) goBack(ctx context.Context, why reason.Reason, undo func(context.Context) (Answer, error)) (a Answer, taken []takenBack, err error) {
	waiting, stop := context.WithTimeout(ctx, undoWait)
	defer stop()
	for {
		a, err = undo(ctx)
		var marked *MarkedError
		var busy *InWorkError
		switch {
		case errors.As(err, &marked):
			var some []takenBack
			some, err = s.takeBackAll(ctx, marked.RecordIDs, why)
			taken = append(taken, some...)
		case errors.As(err, &busy):
			if _, err = s.Engine.Settled(scope.In(waiting, scope.Everything()), busy.RecordID); waiting.Err() != nil {
				return Answer{}, taken, busy
			}
			if errors.Is(err, record.ErrNotFound) {
				err = nil
			}
		default:
			return a, taken, err
		}
		if err != nil {
			return Answer{}, taken, fmt.Errorf("undo a decision: %w", err)
		}
	}
}

// countTaken tells whose marks were taken back, and how many are left to other records in the end.
func countTaken(taken []takenBack) (unmarked []int64, shared int) {
	for i, t := range taken {
		switch {
		case t.sharer == 0:
			if !slices.Contains(unmarked, t.RecordID) {
				unmarked = append(unmarked, t.RecordID)
			}
		case !slices.ContainsFunc(taken[i:], func(later takenBack) bool { return later.isThatLeftBy(t) }):
			shared++
		}
	}
	return unmarked, shared
}

// Undo takes an answer back: the mapping or keyword that it wrote is removed, unless
// somebody changed it since, and what it replaced is there again; the question waits anew,
// and the records that the answer set going are run again, with those that its mapping
// led later. It brings back a question that was deleted, too. What was marked because of
// the answer has to be taken back before: until then it changes nothing and returns a
// *MarkedError. Else it returns ErrNotFound, ErrUnanswered or *InWorkError.
//
// The answer is that of the person whose scope ctx has, or whom the owner names; of 0 it is the one for all.
func (s *Store) Undo(ctx context.Context, id, person int64) (Answer, error) {
	person = answering(ctx, person)
	var a Answer
	err := s.mappings.Change(within(ctx, person), func(ctx context.Context, tx *sql.Tx) error {
		q, d, err := get(ctx, tx, id)
		if err != nil {
			return err
		}
		if q.Status == Pending {
			return ErrUnanswered
		}
		var waiting []int64
		if q.Status != Deferred {
			if waiting, err = record.AwaitingTx(ctx, tx, q.ID); err != nil {
				return err
			}
		}
		if a, err = backTx(ctx, tx, d, waiting, q.UpdatedAt); err != nil {
			return err
		}
		a.Question = q
		a.Kept = a.Kept || q.Status == Rejected && d.Blocked == nil // it was blocked before
		return moveTx(ctx, tx, &a, person, Pending, decision{})
	})
	return a, err
}

// backTx takes back what a decision wrote, and runs the records again that it is to blame for, those that wait with them. A decision of a
// person is to blame for nobody else's, even where its mapping holds for all by now.
func backTx(ctx context.Context, tx *sql.Tx, d decision, waiting []int64, since time.Time) (a Answer, err error) {
	ctx = within(ctx, d.person())
	caused, left, err := causedTx(ctx, tx, d, waiting, since)
	if err != nil {
		return Answer{}, err
	}
	a.Left = left
	held := true
	switch {
	case d.Mapping != nil:
		held, err = mapping.RestoreTx(ctx, tx, *d.Mapping, d.Replaced)
	case d.Blocked != nil:
		held, err = mapping.UnblockTx(ctx, tx, *d.Blocked)
	}
	if err != nil {
		return Answer{}, err
	}
	a.Kept = !held
	a.RecordIDs, err = requeueTx(ctx, tx, caused)
	return a, err
}

// causedTx lists the records that a decision is to blame for, the oldest first: those that it set going, those that
// wait, and the newest undoMost of those that its mapping led since; left is how many
// more of these hold a mark. It returns a *MarkedError when listed ones do, and *InWorkError
// while one is on its way that may yet be led by the mapping.
func causedTx(ctx context.Context, tx *sql.Tx, d decision, waiting []int64, since time.Time) (ids []int64, left int, err error) {
	for _, id := range d.RecordIDs {
		r, err := record.GetTx(ctx, tx, id)
		switch {
		case errors.Is(err, record.ErrNotFound):
			continue
		case err != nil:
			return nil, 0, err
		case r.Status.IsOnTheWay():
			return nil, 0, &InWorkError{id}
		}
		ids = append(ids, id)
	}
	ids = append(ids, waiting...)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if d.Mapping == nil {
		return ids, 0, nil
	}
	if err := inWorkTx(ctx, tx, *d.Mapping); err != nil {
		return nil, 0, err
	}
	led, err := record.LedTx(ctx, tx, record.Rule{ID: d.Mapping.ID, SubjectID: d.Mapping.SubjectID, EpisodeOffset: d.Mapping.EpisodeOffset})
	if err != nil {
		return nil, 0, err
	}
	asked := len(ids)
	var marked []int64
	for _, one := range led {
		if _, known := slices.BinarySearch(ids[:asked], one.ID); !known {
			switch {
			case one.UpdatedAt.Before(since): // by a mapping that had this id before
				continue
			case len(ids) == asked+undoMost:
				if one.Marked {
					left++
				}
				continue
			}
			ids = append(ids, one.ID)
		}
		if one.Marked {
			marked = append(marked, one.ID)
		}
	}
	if len(marked) > 0 {
		slices.Sort(marked)
		return nil, 0, &MarkedError{marked}
	}
	slices.Sort(ids)
	return ids, left, nil
}

// inWorkTx returns an *InWorkError while a record is being worked on that a mapping may lead.
func inWorkTx(ctx context.Context, tx *sql.Tx, m mapping.Mapping) error {
	working, err := record.InWorkTx(ctx, tx)
	if err != nil {
		return err
	}
	title := mapping.Fold(m.Title)
	for _, r := range working {
		if (m.Season == nil || r.Season != nil && *r.Season == *m.Season) && (m.Episode == nil || r.Episode != nil && *r.Episode == *m.Episode) &&
			(mapping.Fold(r.Title) == title || mapping.Fold(r.OriginalTitle) == title) {
			return &InWorkError{r.ID}
		}
	}
	return nil
}
