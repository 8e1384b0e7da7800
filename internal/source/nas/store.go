package nas

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"watchmark/internal/platform/db"
)

// state is how far the library was read. The zero state is that of a source which is
// switched off and was never read. Times are milliseconds, the watermark's by the clock of the NAS.
type state struct {
	since     int64 // 0 while the source is switched off
	watermark int64 // the time of the row read last
	// caughtUp is when a scan last came to the last row; rescanned is when one did that began at since.
	caughtUp, rescanned int64
	// user is the setting nas.user that all these hold for.
	user string
	last Scan
}

// store keeps state and what was taken.
type store struct{ db *db.DB }

// load gives the state as it was written last.
func (s store) load(ctx context.Context) (state, error) {
	var st state
	var last string
	err := s.db.Read().QueryRowContext(ctx, `SELECT since, watermark, caught_up_at, rescanned_at, user_filter, last_scan FROM nas_state WHERE id = 1`).
		Scan(&st.since, &st.watermark, &st.caughtUp, &st.rescanned, &st.user, &last)
	if err != nil {
		return st, fmt.Errorf("read how far the library was read: %w", err)
	}
	if last != "" {
		if err := json.Unmarshal([]byte(last), &st.last); err != nil {
			return st, fmt.Errorf("read the last scan of the library: %w", err)
		}
	}
	return st, nil
}

// save writes the state in a transaction of its own.
func (s store) save(ctx context.Context, st state) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error { return saveTx(ctx, tx, st) })
}

func saveTx(ctx context.Context, tx *sql.Tx, st state) error {
	last, err := json.Marshal(st.last)
	if err != nil {
		return fmt.Errorf("write the last scan of the library: %w", err)
	}
	_, err = tx.ExecContext(ctx, `UPDATE nas_state SET since = ?, watermark = ?, caught_up_at = ?, rescanned_at = ?, user_filter = ?, last_scan = ? WHERE id = 1`,
		st.since, st.watermark, st.caughtUp, st.rescanned, st.user, string(last))
	if err != nil {
		return fmt.Errorf("write how far the library was read: %w", err)
	}
	return nil
}

// standing is what was done with a row of the library before.
type standing int

const (
	untaken  standing = iota
	taken             // it was taken, and nothing happened to it since that counts
	reopened          // it was taken, and seen unfinished after that
)

// standing looks a row up.
func (s store) standing(ctx context.Context, p position) (standing, error) {
	var finished bool
	err := s.db.Read().QueryRowContext(ctx, `SELECT finished FROM nas_plays WHERE user_guid = ? AND item_guid = ?`, p.user, p.item).Scan(&finished)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return untaken, nil
	case err != nil:
		return untaken, fmt.Errorf("look up what was taken: %w", err)
	case finished:
		return taken, nil
	}
	return reopened, nil
}

// takeTx notes that rows were taken.
func takeTx(ctx context.Context, tx *sql.Tx, rows []position) error {
	for _, p := range rows {
		const upsert = `INSERT INTO nas_plays (user_guid, item_guid, finished) VALUES (?, ?, 1) ON CONFLICT (user_guid, item_guid) DO UPDATE SET finished = 1`
		if _, err := tx.ExecContext(ctx, upsert, p.user, p.item); err != nil {
			return fmt.Errorf("note what was taken: %w", err)
		}
	}
	return nil
}

// reopenTx notes that rows which were taken are unfinished again.
func reopenTx(ctx context.Context, tx *sql.Tx, rows []position) error {
	for _, p := range rows {
		if _, err := tx.ExecContext(ctx, `UPDATE nas_plays SET finished = 0 WHERE user_guid = ? AND item_guid = ?`, p.user, p.item); err != nil {
			return fmt.Errorf("note what is watched again: %w", err)
		}
	}
	return nil
}

// milli is a time of the state; zero for 0.
func milli(at int64) time.Time {
	if at == 0 {
		return time.Time{}
	}
	return time.UnixMilli(at).UTC()
}
