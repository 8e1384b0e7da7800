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
// that settles it. A question that was deleted earlier waits again, and so does one whose
// answer's rule was changed or removed since. While the rule stands the answer does, with its
// undo: a record that was claimed before the answer is run again, once; any other stays as
// it came out and says so, and the undo of the answer runs it again.
func AskTx(ctx context.Context, tx *sql.Tx, w record.Work, trace match.Trace) (asked engine.Asked, err error) {
	now := time.Now()
	key := mapping.Fold(w.Event.Title)
	var special *float64
	if w.Event.Season != nil && *w.Event.Season == 0 {
		special = w.Event.Episode
	}
	var id, updated int64
	var status Status
	var decided string
	err = tx.QueryRowContext(ctx, `SELECT id, status, decision, updated_at FROM pending_candidates
		WHERE title_key = ? AND COALESCE(season, -1) = COALESCE(?, -1) AND film = ?
			AND COALESCE(CASE WHEN season = 0 THEN episode END, -1) = COALESCE(?, -1)`, key, w.Event.Season, w.Event.IsFilm(), special).Scan(&id, &status, &decided, &updated)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return engine.Asked{}, fmt.Errorf("look for the question of record %d: %w", w.ID, err)
	}
	d, err := decisionOf(decided)
	if err != nil {
		return engine.Asked{}, fmt.Errorf("question %d: %w", id, err)
	}
	// An answer of the future was given before the clock was set back, so it tells nothing.
	answered := status == Confirmed || status == Rejected
	if answered && updated >= w.UpdatedAt.UnixMilli() && updated <= now.UnixMilli() {
		return engine.Asked{Again: true}, joinTx(ctx, tx, id, d, w.ID)
	}
	if answered {
		stands, err := standsTx(ctx, tx, d)
		if err != nil {
			return engine.Asked{}, err
		}
		if stands {
			return engine.Asked{Message: stillUnsure.With()}, record.AskTx(ctx, tx, w.ID, id)
		}
	}
	before, err := record.AskedBeforeTx(ctx, tx, w.ID, id)
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
	return engine.Asked{Before: before}, record.AskTx(ctx, tx, w.ID, id)
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

// joinTx counts a record to those that the answer of a question has set going.
func joinTx(ctx context.Context, tx *sql.Tx, id int64, d decision, recordID int64) error {
	if slices.Contains(d.RecordIDs, recordID) {
		return nil
	}
	d.RecordIDs = append(d.RecordIDs, recordID)
	text, err := d.stored()
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE pending_candidates SET decision = ? WHERE id = ?`, text, id); err != nil {
		return fmt.Errorf("store the answer of question %d: %w", id, err)
	}
	return nil
}
