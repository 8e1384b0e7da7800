package review

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"watchmark/internal/engine"
	"watchmark/internal/match"
	"watchmark/internal/match/mapping"
	"watchmark/internal/record"
)

// AskTx asks the question of a record that comes out as review, within the transaction
// that settles it; person is whose list it is for, 0 the owner's. A question that was deleted earlier waits again, and so does one whose
// answer's rule was changed or removed since. While the rule stands the answer does, with its
// undo: a record that was claimed before the answer is run again, once; any other stays as
// it came out and says so, and the undo of the answer runs it again. An answer of the person counts before the one for all, and those of
// others do not.
func AskTx(ctx context.Context, tx *sql.Tx, w record.Work, person int64, trace match.Trace) (asked engine.Asked, err error) {
	now := time.Now()
	key := mapping.Fold(w.Event.Title)
	var special *float64
	if w.Event.Season != nil && *w.Event.Season == 0 {
		special = w.Event.Episode
	}
	var id int64
	var forAll given
	var decided string
	err = tx.QueryRowContext(ctx, `SELECT id, status, decision, updated_at FROM pending_candidates
		WHERE title_key = ? AND COALESCE(season, -1) = COALESCE(?, -1) AND film = ?
			AND COALESCE(CASE WHEN season = 0 THEN episode END, -1) = COALESCE(?, -1)`, key, w.Event.Season, w.Event.IsFilm(), special).Scan(&id, &forAll.status, &decided, &forAll.updated)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return engine.Asked{}, fmt.Errorf("look for the question of record %d: %w", w.ID, err)
	}
	if forAll.decision, err = decisionOf(decided); err != nil {
		return engine.Asked{}, fmt.Errorf("question %d: %w", id, err)
	}
	putOff := person == 0 && forAll.status == Deferred // then it is news that it is asked again
	if person != 0 && id != 0 {
		own, err := givenTx(ctx, tx, person, id)
		if err != nil {
			return engine.Asked{}, err
		}
		if asked, over, err := own.coversTx(ctx, tx, w, person, id, now); over || err != nil {
			return asked, err
		}
		putOff = own.status == Deferred
		if own.status != "" {
			if err := dropTx(ctx, tx, person, id); err != nil {
				return engine.Asked{}, err
			}
		}
	}
	if asked, over, err := forAll.coversTx(ctx, tx, w, 0, id, now); over || err != nil {
		return asked, err
	}
	before, err := record.AskedBeforeTx(within(ctx, person), tx, w.ID, id)
	if err != nil {
		return engine.Asked{}, err
	}
	candidates, err := json.Marshal(of(trace))
	if err != nil {
		return engine.Asked{}, fmt.Errorf("encode the candidates of record %d: %w", w.ID, err)
	}
	err = tx.QueryRowContext(ctx, `INSERT INTO pending_candidates (title_key, season, film, title, original_title, media_type, episode, candidates, reason, status, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?)
		ON CONFLICT (title_key, COALESCE(season, -1), film, COALESCE(CASE WHEN season = 0 THEN episode END, -1)) DO UPDATE SET title = excluded.title, original_title = excluded.original_title,
			media_type = excluded.media_type, episode = excluded.episode, candidates = excluded.candidates, reason = excluded.reason, status = 'pending', decision = '', updated_at = excluded.updated_at
		RETURNING id`,
		key, w.Event.Season, w.Event.IsFilm(), w.Event.Title, w.Event.OriginalTitle, w.Event.Media, w.Event.Episode, string(candidates), trace.Result.Reason,
		now.UnixMilli(), now.UnixMilli()).Scan(&id)
	if err != nil {
		return engine.Asked{}, fmt.Errorf("ask the question of record %d: %w", w.ID, err)
	}
	return engine.Asked{Before: before && !putOff}, record.AskTx(ctx, tx, w.ID, id)
}

// standsTx reports whether the rule that an answer wrote is as it was written.
func standsTx(ctx context.Context, tx *sql.Tx, d decision) (bool, error) {
	switch {
	case d.Mapping != nil:
		return mapping.StandsTx(ctx, tx, *d.Mapping)
	case d.Blocked != nil:
		return mapping.BlockStandsTx(ctx, tx, *d.Blocked)
	}
	return false, nil // a keyword that was there before: the answer wrote none
}

// coversTx tells what becomes of a record that asks a question with this answer, of a person or for all: over is false when it asks anew.
func (g given) coversTx(ctx context.Context, tx *sql.Tx, w record.Work, person, id int64, now time.Time) (asked engine.Asked, over bool, err error) {
	if g.status != Confirmed && g.status != Rejected {
		return engine.Asked{}, false, nil
	}
	// An answer of the future was given before the clock was set back, so it tells nothing.
	if g.updated >= w.UpdatedAt.UnixMilli() && g.updated <= now.UnixMilli() {
		return engine.Asked{Again: true}, true, g.joinTx(ctx, tx, person, id, w.ID)
	}
	stands, err := standsTx(ctx, tx, g.decision)
	if err != nil || !stands {
		return engine.Asked{}, false, err
	}
	return engine.Asked{Message: stillUnsure.With()}, true, record.AskTx(ctx, tx, w.ID, id)
}

// joinTx counts a record to those that the answer has set going.
func (g given) joinTx(ctx context.Context, tx *sql.Tx, person, id, recordID int64) error {
	if slices.Contains(g.RecordIDs, recordID) {
		return nil
	}
	g.RecordIDs = append(g.RecordIDs, recordID)
	text, err := g.stored()
	if err != nil {
		return err
	}
	statement, args := `UPDATE pending_candidates SET decision = ? WHERE id = ?`, []any{text, id}
	if person != 0 {
		statement, args = `UPDATE person_answers SET decision = ? WHERE question_id = ? AND person_id = ?`, append(args, person)
	}
	if _, err := tx.ExecContext(ctx, statement, args...); err != nil {
		return fmt.Errorf("store the answer of question %d: %w", id, err)
	}
	return nil
}
