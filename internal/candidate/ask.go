package candidate

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"watchmark/internal/mapping"
	"watchmark/internal/match"
	"watchmark/internal/record"
)

// AskTx asks the question of a record that comes out as review, within the transaction
// that settles it. A question that was answered or deleted earlier waits again. It reports
// that the record need not wait when the answer came after the record was claimed: it is to be run again.
func AskTx(ctx context.Context, tx *sql.Tx, w record.Work, trace match.Trace) (answered bool, err error) {
	now := time.Now()
	key := mapping.Fold(w.Event.Title)
	var id, updated int64
	var status Status
	var decided string
	err = tx.QueryRowContext(ctx, `SELECT id, status, decision, updated_at FROM pending_candidates
		WHERE title_key = ? AND COALESCE(season, -1) = COALESCE(?, -1) AND film = ?`, key, w.Event.Season, w.Event.IsFilm()).Scan(&id, &status, &decided, &updated)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, fmt.Errorf("look for the question of record %d: %w", w.ID, err)
	}
	// An answer of the future was given before the clock was set back, so it tells nothing.
	answered = (status == Confirmed || status == Rejected) && updated >= w.UpdatedAt.UnixMilli() && updated <= now.UnixMilli()
	if answered {
		return true, joinTx(ctx, tx, id, decided, w.ID)
	}
	candidates, err := json.Marshal(of(trace))
	if err != nil {
		return false, fmt.Errorf("encode the candidates of record %d: %w", w.ID, err)
	}
	err = tx.QueryRowContext(ctx, `INSERT INTO pending_candidates (title_key, season, film, title, original_title, media_type, candidates, reason, status, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?)
		ON CONFLICT (title_key, COALESCE(season, -1), film) DO UPDATE SET title = excluded.title, original_title = excluded.original_title,
			media_type = excluded.media_type, candidates = excluded.candidates, reason = excluded.reason, status = 'pending', decision = '', updated_at = excluded.updated_at
		RETURNING id`,
		key, w.Event.Season, w.Event.IsFilm(), w.Event.Title, w.Event.OriginalTitle, w.Event.Media, string(candidates), trace.Result.Reason,
		now.UnixMilli(), now.UnixMilli()).Scan(&id)
	if err != nil {
		return false, fmt.Errorf("ask the question of record %d: %w", w.ID, err)
	}
	if _, err := tx.ExecContext(ctx, `UPDATE records SET question_id = ? WHERE id = ?`, id, w.ID); err != nil {
		return false, fmt.Errorf("ask the question of record %d: %w", w.ID, err)
	}
	return false, nil
}

// joinTx counts a record to those that the answer of a question has set going.
func joinTx(ctx context.Context, tx *sql.Tx, id int64, decided string, recordID int64) error {
	var d decision
	if err := json.Unmarshal([]byte(decided), &d); err != nil {
		return fmt.Errorf("decode the answer of question %d: %w", id, err)
	}
	if slices.Contains(d.RecordIDs, recordID) {
		return nil
	}
	d.RecordIDs = append(d.RecordIDs, recordID)
	text, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("encode the answer of question %d: %w", id, err)
	}
	if _, err := tx.ExecContext(ctx, `UPDATE pending_candidates SET decision = ? WHERE id = ?`, string(text), id); err != nil {
		return fmt.Errorf("store the answer of question %d: %w", id, err)
	}
	return nil
}
