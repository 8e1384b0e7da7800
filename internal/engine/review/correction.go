package review

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/scope"
)

// correction is what the newest correction of a record did, as it is stored for its undo.
type correction struct {
	id int64
	at time.Time
	decision
}

// correctionOf is the newest correction of a record that was not undone, or ErrNotCorrected. In the scope of a person it is one of theirs:
// what holds for all is not theirs to undo.
func correctionOf(ctx context.Context, from db.Querier, recordID int64) (correction, error) {
	all, err := db.All(ctx, from, fmt.Sprintf("read the corrections of record %d", recordID), func(row db.Row) (c correction, err error) {
		var at int64
		var stored string
		if err := row.Scan(&c.id, &stored, &at); err != nil {
			return c, err
		}
		c.at = time.UnixMilli(at)
		c.decision, err = decisionOf(stored)
		return c, err
	}, `SELECT id, decision, created_at FROM corrections WHERE record_id = ? ORDER BY id DESC`, recordID)
	if err != nil {
		return correction{}, err
	}
	whose := scope.From(ctx)
	for _, c := range all {
		if whose.Whole() || c.person() == whose.Person() && c.person() != 0 {
			return c, nil
		}
	}
	return correction{}, ErrNotCorrected
}

// IsCorrected reports whether a record has a correction that can be undone.
func (s *Store) IsCorrected(ctx context.Context, recordID int64) (bool, error) {
	_, err := correctionOf(ctx, s.db.Read(), recordID)
	if errors.Is(err, ErrNotCorrected) {
		return false, nil
	}
	return err == nil, err
}

// Correct writes the mapping of a correction, and what it replaced for the undo. A correction that replaces the mapping of the
// one before, as one that goes on after a failure does, becomes one with it: its undo leads to before both.
func (s *Store) Correct(ctx context.Context, recordID int64, m mapping.Mapping) (put mapping.Mapping, id int64, err error) {
	err = s.mappings.Change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var replaced []mapping.Mapping
		if put, replaced, err = mapping.PutTx(ctx, tx, m); err != nil {
			return err
		}
		before, err := correctionOf(ctx, tx, recordID)
		if err != nil && !errors.Is(err, ErrNotCorrected) {
			return err
		}
		d := decision{Mapping: &put, Replaced: replaced}
		isOfBefore := func(one mapping.Mapping) bool { return before.Mapping != nil && one.ID == before.Mapping.ID }
		if slices.ContainsFunc(replaced, isOfBefore) {
			d.Replaced = slices.Concat(before.Replaced, slices.DeleteFunc(replaced, isOfBefore))
			d.RecordIDs = before.RecordIDs
			if err := dropCorrectionTx(ctx, tx, before.id); err != nil {
				return err
			}
		}
		text, err := d.stored()
		if err != nil {
			return err
		}
		err = tx.QueryRowContext(ctx, `INSERT INTO corrections (record_id, decision, created_at) VALUES (?, ?, ?) RETURNING id`, recordID, text, time.Now().UnixMilli()).Scan(&id)
		if err != nil {
			return fmt.Errorf("store the correction of record %d: %w", recordID, err)
		}
		return nil
	})
	return put, id, err
}

// Corrects notes which records a correction changes, before it does.
func (s *Store) Corrects(ctx context.Context, recordID, id int64, records []int64) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		c, err := correctionOf(ctx, tx, recordID)
		if errors.Is(err, ErrNotCorrected) || err == nil && c.id != id {
			return nil // the record is gone
		}
		if err != nil {
			return err
		}
		c.RecordIDs = append(c.RecordIDs, records...)
		slices.Sort(c.RecordIDs)
		c.RecordIDs = slices.Compact(c.RecordIDs)
		text, err := c.stored()
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE corrections SET decision = ? WHERE id = ?`, text, id); err != nil {
			return fmt.Errorf("store the correction of record %d: %w", recordID, err)
		}
		return nil
	})
}

func dropCorrectionTx(ctx context.Context, tx *sql.Tx, id int64) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM corrections WHERE id = ?`, id); err != nil {
		return fmt.Errorf("remove correction %d: %w", id, err)
	}
	return nil
}

// UndoCorrection takes the newest correction of a record back as Undo does an answer, and runs the records that it changed
// again. It returns ErrNotCorrected, *MarkedError or *InWorkError.
func (s *Store) UndoCorrection(ctx context.Context, recordID int64) (Answer, error) {
	var a Answer
	err := s.mappings.Change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		c, err := correctionOf(ctx, tx, recordID)
		if err != nil {
			return err
		}
		if a, err = backTx(ctx, tx, c.decision, nil, c.at); err != nil {
			return err
		}
		return dropCorrectionTx(ctx, tx, c.id)
	})
	return a, err
}
