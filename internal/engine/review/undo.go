package review

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"watchmark/internal/catalog"
	"watchmark/internal/match/mapping"
	"watchmark/internal/record"
)

// undoMost is how many records, beside those that waited for the answer, its undo takes
// with it: the newest ones.
const undoMost = 500

// Undo takes an answer back: the mapping or keyword that it wrote is removed, unless
// somebody changed it since, and what it replaced is there again; the question waits anew,
// and the records that the answer set going are run again, with those that its mapping
// led later. It brings back a question that was deleted, too. What was marked because of
// the answer has to be taken back before: until then it changes nothing and returns a
// *MarkedError. Else it returns ErrNotFound, ErrUnanswered or ErrInWork.
func (s *Store) Undo(ctx context.Context, id int64) (Answer, error) {
	var a Answer
	err := s.mappings.Change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		q, d, err := get(ctx, tx, id)
		if err != nil {
			return err
		}
		a = Answer{Question: q}
		if q.Status == Pending {
			return ErrUnanswered
		}
		caused, left, err := causedTx(ctx, tx, q, d)
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
// more of these hold a mark. It returns a *MarkedError when listed ones do, and ErrInWork
// while one is on its way that may yet be led by the mapping.
func causedTx(ctx context.Context, tx *sql.Tx, q Question, d decision) (ids []int64, left int, err error) {
	for _, id := range d.RecordIDs {
		r, err := record.GetTx(ctx, tx, id)
		switch {
		case errors.Is(err, record.ErrNotFound):
			continue
		case err != nil:
			return nil, 0, err
		case r.Status.IsOnTheWay():
			return nil, 0, ErrInWork
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
	later, err := laterTx(ctx, tx, q, *d.Mapping, slices.Concat(d.RecordIDs, ids))
	if err != nil {
		return nil, 0, err
	}
	var marked []int64
	for _, id := range ids {
		led, holds, err := ledTx(ctx, tx, id, *d.Mapping)
		if err != nil {
			return nil, 0, err
		}
		if led && holds {
			marked = append(marked, id)
		}
	}
	taken := 0
	for _, id := range later {
		led, holds, err := ledTx(ctx, tx, id, *d.Mapping)
		switch {
		case err != nil:
			return nil, 0, err
		case !led:
			continue
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

// laterTx lists the records that the mapping of an answer may have led since, the newest
// first: those with its title and season, without the ones given. It returns ErrInWork when
// one of them is being worked on.
func laterTx(ctx context.Context, tx *sql.Tx, q Question, m mapping.Mapping, without []int64) ([]int64, error) {
	rows, err := tx.QueryContext(ctx, `SELECT id, status, title, original_title FROM records
		WHERE (updated_at >= ? OR status = 'processing') AND (? OR season = ?) AND (? OR episode = ?) ORDER BY id DESC`,
		q.UpdatedAt.UnixMilli(), m.Season == nil, m.Season, m.Episode == nil, m.Episode)
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
		if slices.Contains(without, r.ID) || mapping.Fold(r.Title) != title && mapping.Fold(r.OriginalTitle) != title {
			continue
		}
		if r.Status == record.Processing {
			return nil, ErrInWork
		}
		ids = append(ids, r.ID)
	}
	return ids, rows.Err()
}

// ledTx tells, by its trace, whether a record was led by a mapping as it was written, not as
// somebody changed it since, and whether it holds a mark.
func ledTx(ctx context.Context, tx *sql.Tx, id int64, m mapping.Mapping) (led, holds bool, err error) {
	var text string
	err = tx.QueryRowContext(ctx, `SELECT trace, EXISTS (SELECT 1 FROM record_marks WHERE record_id = ?) FROM traces WHERE record_id = ?`, id, id).Scan(&text, &holds)
	if errors.Is(err, sql.ErrNoRows) {
		return false, false, nil
	}
	if err != nil {
		return false, false, fmt.Errorf("read the trace of record %d: %w", id, err)
	}
	var trace struct {
		Steps []struct {
			Name   string          `json:"name"`
			Output json.RawMessage `json:"output"`
		} `json:"steps"`
	}
	if err := json.Unmarshal([]byte(text), &trace); err != nil {
		return false, false, fmt.Errorf("decode the trace of record %d: %w", id, err)
	}
	for _, step := range trace.Steps {
		if step.Name != "mapping" {
			continue
		}
		var by struct {
			ID            int64             `json:"mapping_id"`
			SubjectID     catalog.SubjectID `json:"subject_id"`
			EpisodeOffset int               `json:"episode_offset"`
		}
		if err := json.Unmarshal(step.Output, &by); err != nil {
			return false, false, fmt.Errorf("decode the trace of record %d: %w", id, err)
		}
		led = led || by.ID == m.ID && by.SubjectID == m.SubjectID && by.EpisodeOffset == m.EpisodeOffset
	}
	return led, holds, nil
}
