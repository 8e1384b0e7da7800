package review

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/match/mapping"
	"watchmark/internal/record"
)

// undoMost is how many records, beside those that waited for the answer, its undo takes
// with it: the newest ones.
const undoMost = 500

// byMapping is the step of a trace, and the method of a record, that a mapping led.
const byMapping = "mapping"

// Undo takes an answer back: the mapping or keyword that it wrote is removed, unless
// somebody changed it since, and what it replaced is there again; the question waits anew,
// and the records that the answer set going are run again, with those that its mapping
// led later. It brings back a question that was deleted, too. What was marked because of
// the answer has to be taken back before: until then it changes nothing and returns a
// *MarkedError. Else it returns ErrNotFound, ErrUnanswered or *InWorkError.
func (s *Store) Undo(ctx context.Context, id int64) (Answer, error) {
	for {
		seen, err := s.lookAt(ctx, id)
		if err != nil {
			return Answer{}, err
		}
		a, err := s.undo(ctx, id, seen)
		if !errors.Is(err, errMoved) {
			return a, err
		}
	}
}

// errMoved is returned by undo when the question changed since it was looked at.
var errMoved = errors.New("the question has changed meanwhile")

// undo is Undo with what was seen before; it returns errMoved, too.
func (s *Store) undo(ctx context.Context, id int64, seen seen) (Answer, error) {
	var a Answer
	err := s.mappings.Change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		q, d, err := get(ctx, tx, id)
		if err != nil {
			return err
		}
		a = Answer{Question: q}
		switch {
		case q.Status == Pending:
			return ErrUnanswered
		case !q.UpdatedAt.Equal(seen.answered):
			return errMoved
		}
		caused, left, err := causedTx(ctx, tx, q, d, seen)
		if err != nil {
			return err
		}
		a.Left = left
		held := true
		switch {
		case d.Mapping != nil:
			held, err = mapping.RestoreTx(ctx, tx, *d.Mapping, d.Replaced)
		case d.Blocked != nil:
			held, err = mapping.UnblockTx(ctx, tx, *d.Blocked)
		case q.Status == Rejected:
			held = false // it was blocked before
		}
		if err != nil {
			return err
		}
		a.Kept = !held
		if a.RecordIDs, err = requeueTx(ctx, tx, caused); err != nil {
			return err
		}
		return moveTx(ctx, tx, &a, Pending, decision{})
	})
	return a, err
}

// causedTx lists the records that an answer is to blame for, the oldest first: those that
// waited for it or came out as review since, and the newest undoMost of those that its mapping led later; left is how many
// more of these hold a mark. It returns a *MarkedError when listed ones do, and *InWorkError
// while one is on its way that may yet be led by the mapping.
func causedTx(ctx context.Context, tx *sql.Tx, q Question, d decision, seen seen) (ids []int64, left int, err error) {
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
	if q.Status != Deferred {
		waiting, err := idsTx(ctx, tx, `SELECT id FROM records WHERE question_id = ? AND status = 'review' ORDER BY id`, q.ID)
		if err != nil {
			return nil, 0, err
		}
		for _, id := range waiting {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	if d.Mapping == nil {
		slices.Sort(ids)
		return ids, 0, nil
	}
	// What was looked at before and changed since is looked at again.
	changed, err := mayHaveLed(ctx, tx, *d.Mapping, seen.at)
	if err != nil {
		return nil, 0, err
	}
	if err := addLed(ctx, tx, seen.led, changed, *d.Mapping); err != nil {
		return nil, 0, err
	}
	var marked []int64
	for _, id := range ids {
		led, known := seen.led[id]
		if !known {
			if led, err = isLed(ctx, tx, id, *d.Mapping); err != nil {
				return nil, 0, err
			}
		}
		if !led {
			continue
		}
		holds, err := holdsMarkTx(ctx, tx, id)
		if err != nil {
			return nil, 0, err
		}
		if holds {
			marked = append(marked, id)
		}
	}
	waited := slices.Concat(d.RecordIDs, ids)
	taken := 0
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(seen.led))) {
		if !seen.led[id] || slices.Contains(waited, id) {
			continue
		}
		holds, err := holdsMarkTx(ctx, tx, id)
		switch {
		case err != nil:
			return nil, 0, err
		case taken == undoMost:
			if holds {
				left++
			}
			continue
		}
		taken++
		ids = append(ids, id)
		if holds {
			marked = append(marked, id)
		}
	}
	if len(marked) > 0 {
		return nil, 0, &MarkedError{marked}
	}
	slices.Sort(ids)
	return ids, left, nil
}

// seen is what Undo finds out before it writes, so that nobody who writes waits for that.
type seen struct {
	at       time.Time // when it was begun
	answered time.Time // when the question had its answer
	// led are the records that the mapping of the answer may have led, and whether it did.
	led map[int64]bool
}

// lookAt reads what the mapping of an answer led. Errors: ErrNotFound, *InWorkError.
func (s *Store) lookAt(ctx context.Context, id int64) (seen, error) {
	look := seen{at: time.Now(), led: map[int64]bool{}}
	q, d, err := get(ctx, s.db.Read(), id)
	if err != nil {
		return look, err
	}
	look.answered = q.UpdatedAt
	if d.Mapping == nil {
		return look, nil
	}
	ids, err := mayHaveLed(ctx, s.db.Read(), *d.Mapping, q.UpdatedAt)
	if err != nil {
		return look, err
	}
	return look, addLed(ctx, s.db.Read(), look.led, ids, *d.Mapping)
}

// mayHaveLed lists the records that a mapping may have led since a time: those with its title, season and
// episode. It returns *InWorkError when one of them is being worked on.
func mayHaveLed(ctx context.Context, from querier, m mapping.Mapping, since time.Time) ([]int64, error) {
	rows, err := from.QueryContext(ctx, `SELECT id, status, title, original_title FROM records
		WHERE (updated_at >= ? OR status = 'processing') AND (? OR season = ?) AND (? OR episode = ?)`,
		since.UnixMilli(), m.Season == nil, m.Season, m.Episode == nil, m.Episode)
	if err != nil {
		return nil, fmt.Errorf("list what mapping %d led: %w", m.ID, err)
	}
	defer func() { _ = rows.Close() }()
	title := mapping.Fold(m.Title)
	var ids []int64
	for rows.Next() {
		var r record.Record
		if err := rows.Scan(&r.ID, &r.Status, &r.Title, &r.OriginalTitle); err != nil {
			return nil, fmt.Errorf("list what mapping %d led: %w", m.ID, err)
		}
		if mapping.Fold(r.Title) != title && mapping.Fold(r.OriginalTitle) != title {
			continue
		}
		if r.Status == record.Processing {
			return nil, &InWorkError{r.ID}
		}
		ids = append(ids, r.ID)
	}
	return ids, rows.Err()
}

// addLed notes in led which of some records a mapping led.
func addLed(ctx context.Context, from querier, led map[int64]bool, ids []int64, m mapping.Mapping) (err error) {
	for _, id := range ids {
		if led[id], err = isLed(ctx, from, id, m); err != nil {
			return err
		}
	}
	return nil
}

// isLed tells, by its trace, whether a record was led by a mapping as it was written, not as
// somebody changed it since. Of one whose trace cannot be read the record itself tells.
func isLed(ctx context.Context, from querier, id int64, m mapping.Mapping) (bool, error) {
	var text, method string
	var subject catalog.SubjectID
	err := from.QueryRowContext(ctx, `SELECT t.trace, r.method, r.subject_id FROM traces t JOIN records r ON r.id = t.record_id WHERE t.record_id = ?`, id).
		Scan(&text, &method, &subject)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the trace of record %d: %w", id, err)
	}
	var trace struct {
		Steps []struct {
			Name   string          `json:"name"`
			Output json.RawMessage `json:"output"`
		} `json:"steps"`
	}
	damaged := json.Unmarshal([]byte(text), &trace) != nil
	for _, step := range trace.Steps {
		if step.Name != byMapping {
			continue
		}
		var by struct {
			ID            int64             `json:"mapping_id"`
			SubjectID     catalog.SubjectID `json:"subject_id"`
			EpisodeOffset int               `json:"episode_offset"`
		}
		if json.Unmarshal(step.Output, &by) != nil {
			damaged = true
		} else if by.ID == m.ID && by.SubjectID == m.SubjectID && by.EpisodeOffset == m.EpisodeOffset {
			return true, nil
		}
	}
	return damaged && method == byMapping && subject == m.SubjectID, nil
}

// holdsMarkTx reports whether a record holds a mark.
func holdsMarkTx(ctx context.Context, tx *sql.Tx, id int64) (holds bool, err error) {
	if err = tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM record_marks WHERE record_id = ?)`, id).Scan(&holds); err != nil {
		err = fmt.Errorf("read whether record %d holds a mark: %w", id, err)
	}
	return holds, err
}
