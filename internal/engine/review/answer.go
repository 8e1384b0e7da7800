package review

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/db"
	"watchmark/internal/record"
)

// Confirm answers a question with a subject: it writes a mapping of the title, for films or
// shows as the question is, for the season if there is one, and of a special for its number, and gives the waiting records back to be run again. The caller
// has checked the subject. The mapping and the answer are of the person whose scope ctx has, or whom the owner names, and only records of
// theirs run again; a person of 0 is everybody. It returns ErrNotFound, ErrAnswered or a *reason.FieldError.
func (s *Store) Confirm(ctx context.Context, id, person int64, c Choice) (Answer, error) {
	person = answering(ctx, person)
	return s.answer(ctx, id, person, c.Seen, Confirmed, func(ctx context.Context, tx *sql.Tx, a *Answer, d *decision) error {
		q := a.Question
		m := mapping.Mapping{PersonID: person, Title: q.Title, Season: q.Season, FirstSeason: q.Season == nil, Form: mapping.FormOf(q.IsFilm()), SubjectID: c.SubjectID, SubjectName: c.Name, EpisodeOffset: c.EpisodeOffset, Origin: mapping.ByConfirm}
		if q.isSpecial() {
			m.Episode = q.Episode
		}
		var err error
		if a.Mapping, d.Replaced, err = mapping.PutTx(ctx, tx, m); err != nil {
			return err
		}
		d.SubjectID, d.SubjectName, d.EpisodeOffset, d.Mapping = c.SubjectID, c.Name, c.EpisodeOffset, &a.Mapping
		a.RecordIDs, err = runWaitingTx(ctx, tx, id)
		return err
	})
}

// Reject answers a question with "leave this title alone": the title is blocked exactly as
// it is, and what waits is given back to be run again, also for other seasons of the
// title, which the keyword blocks too. The person is as in Confirm. It returns ErrNotFound or ErrAnswered.
func (s *Store) Reject(ctx context.Context, id, person int64) (Answer, error) {
	person = answering(ctx, person)
	return s.answer(ctx, id, person, "", Rejected, func(ctx context.Context, tx *sql.Tx, a *Answer, d *decision) error {
		standing, added, err := mapping.BlockTx(ctx, tx, mapping.Blocked{PersonID: person, Keyword: a.Question.Title, Kind: mapping.Exact, Source: mapping.ByReject})
		if err != nil {
			return err
		}
		a.Blocked = standing
		if added {
			d.Blocked = &standing
		}
		alike, err := db.Values[int64](ctx, tx, fmt.Sprintf("list the questions like question %d", id), `SELECT id FROM pending_candidates WHERE title_key = (SELECT title_key FROM pending_candidates WHERE id = ?)`, id)
		if err != nil {
			return err
		}
		a.RecordIDs, err = runWaitingTx(ctx, tx, alike...)
		return err
	})
}

// answer runs one answer to a pending question, in the scope of the person who gives it; 0 is everybody. Where seen is not empty the question must
// look so.
func (s *Store) answer(ctx context.Context, id, person int64, seen string, status Status, do func(context.Context, *sql.Tx, *Answer, *decision) error) (Answer, error) {
	var a Answer
	err := s.mappings.Change(within(ctx, person), func(ctx context.Context, tx *sql.Tx) (err error) {
		a = Answer{}
		if a.Question, _, err = get(ctx, tx, id); err != nil {
			return err
		}
		switch a.Question.Status {
		case Pending:
		case Deferred:
			return ErrNotFound
		default:
			return ErrAnswered
		}
		if seen != "" && seen != a.Question.seen() {
			return ErrTapChanged
		}
		var d decision
		if err := do(ctx, tx, &a, &d); err != nil {
			return err
		}
		d.RecordIDs = a.RecordIDs
		return moveTx(ctx, tx, &a, person, status, d)
	})
	return a, err
}

// Delete puts a question off: it is gone until the next event of its title comes in. The
// records stay as they are. Who is a person puts it off for themselves. seen is as in Choice. It returns ErrNotFound or ErrAnswered.
func (s *Store) Delete(ctx context.Context, id int64, seen string) error {
	_, err := s.answer(ctx, id, answering(ctx, 0), seen, Deferred, func(context.Context, *sql.Tx, *Answer, *decision) error { return nil })
	return err
}

// moveTx stores the new state of the question, for a person or for all, and reads it as it is now.
func moveTx(ctx context.Context, tx *sql.Tx, a *Answer, person int64, status Status, d decision) error {
	if person != 0 {
		return moveOwnTx(ctx, tx, a, person, status, d)
	}
	text, err := d.stored()
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE pending_candidates SET status = ?, decision = ?, updated_at = ? WHERE id = ?`,
		status, text, time.Now().UnixMilli(), a.Question.ID); err != nil {
		return fmt.Errorf("store the answer of question %d: %w", a.Question.ID, err)
	}
	a.Question, _, err = get(ctx, tx, a.Question.ID)
	return err
}

// runWaitingTx gives the records that wait for questions back to the engine.
func runWaitingTx(ctx context.Context, tx *sql.Tx, questions ...int64) ([]int64, error) {
	found, err := record.AwaitingTx(ctx, tx, questions...)
	if err != nil {
		return nil, err
	}
	return requeueTx(ctx, tx, found)
}

// requeueTx gives records back to the engine, and lists those that were not on their way.
func requeueTx(ctx context.Context, tx *sql.Tx, found []int64) ([]int64, error) {
	ids := []int64{}
	for _, recordID := range found {
		requeued, err := record.RequeueTx(ctx, tx, recordID)
		if err != nil {
			return nil, err
		}
		if requeued {
			ids = append(ids, recordID)
		}
	}
	return ids, nil
}
