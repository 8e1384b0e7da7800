package record

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/db"
)

// Rewatching is the mark of the record that set an entry which was done back to doing because of a re-watch that is not over. ok is
// false when there is none.
func (s *Store) Rewatching(ctx context.Context, account int64, subject catalog.SubjectID) (m Mark, ok bool, err error) {
	m, err = scanMark(s.db.Read().QueryRowContext(ctx, `SELECT `+markColumns+` FROM record_marks WHERE account_id = ? AND subject_id = ? AND was = ?
		ORDER BY record_id DESC LIMIT 1`, account, subject, catalog.Done))
	if errors.Is(err, sql.ErrNoRows) {
		return Mark{}, false, nil
	}
	if err != nil {
		return Mark{}, false, fmt.Errorf("look whether subject %d is watched again: %w", subject, err)
	}
	return m, true, nil
}

// BeginRewatch notes that a record which its owner has in hand is about to set an entry that is done back to doing; an earlier re-watch of
// it is over. It returns ErrMoved when the record is not its owner's any more.
func (s *Store) BeginRewatch(ctx context.Context, w Work, account int64, subject catalog.SubjectID) error {
	return s.db.WriteShared(ctx, func(ctx context.Context, tx *sql.Tx) error {
		held, err := InHandTx(ctx, tx, w.Owner, w.ID)
		if err != nil {
			return err
		}
		if !held[w.ID] {
			return ErrMoved
		}
		if err := EndRewatchTx(ctx, tx, account, subject); err != nil {
			return err
		}
		return addMark(ctx, tx, Written{EntryAlone: true, Changed: true, Was: catalog.Done}.mark(w.ID, account, subject, 0))
	})
}

// EndRewatchTx forgets within tx that an entry was set back to doing: the re-watch is over.
func EndRewatchTx(ctx context.Context, tx *sql.Tx, account int64, subject catalog.SubjectID) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM record_marks WHERE account_id = ? AND subject_id = ? AND was = ?`, account, subject, catalog.Done)
	if err != nil {
		return fmt.Errorf("forget that subject %d was watched again: %w", subject, err)
	}
	return nil
}

// Watches are the newest other records that came out as a watch of an episode, up to a limit, with their events.
func (s *Store) Watches(ctx context.Context, id, account int64, subject catalog.SubjectID, episode catalog.EpisodeID, limit int) ([]Work, error) {
	return db.All(ctx, s.db.Read(), "list the watches of an episode", func(row db.Row) (w Work, err error) {
		var text string
		if err := scan(row, &w.Record, &text); err != nil {
			return w, err
		}
		return w, json.Unmarshal([]byte(text), &w.Event)
	}, `SELECT `+columns+`, event FROM records WHERE account_id = ? AND subject_id = ? AND episode_id = ? AND status = 'success'
		AND action = 'watched' AND id <> ? ORDER BY id DESC LIMIT ?`, account, subject, episode, id, limit)
}
