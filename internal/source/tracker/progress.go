package tracker

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/record"
)

// progress is how far the history of a user was taken in.
type progress struct {
	episodes, movies string    // the stamps of last_activities before the last reading; "" has it read again
	readUntil        time.Time // when that began, or the oldest play that it left for later
	total            int       // how many plays the tracker counted then; 0 when it did not tell
	baseline         bool      // all of it was seen once
}

// progressOf reads how far the history of a user was taken in.
func (s store) progressOf(ctx context.Context, id int64) (progress, error) {
	var p progress
	var until, baseline int64
	err := s.db.Read().QueryRowContext(ctx, `SELECT episodes_stamp, movies_stamp, read_until, read_total, baseline FROM tracker_users WHERE id = ?`, id).
		Scan(&p.episodes, &p.movies, &until, &p.total, &baseline)
	if errors.Is(err, sql.ErrNoRows) {
		return p, ErrNotFound
	}
	if err != nil {
		return p, fmt.Errorf("read how far a history was read: %w", err)
	}
	p.readUntil, p.baseline = time.UnixMilli(until), baseline != 0
	return p, nil
}

// setProgressTx stores it in the transaction of the last plays.
func setProgressTx(ctx context.Context, tx *sql.Tx, id int64, p progress) error {
	baseline := 0
	if p.baseline {
		baseline = 1
	}
	_, err := tx.ExecContext(ctx, `UPDATE tracker_users SET episodes_stamp = ?, movies_stamp = ?, read_until = ?, read_total = ?, baseline = ? WHERE id = ?`,
		p.episodes, p.movies, max(p.readUntil.UnixMilli(), 0), p.total, baseline, id)
	if err != nil {
		return fmt.Errorf("store how far a history was read: %w", err)
	}
	return nil
}

// setOutcome stores how reading the history of a user ended.
func (s store) setOutcome(ctx context.Context, r RunResult) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE tracker_users SET synced_at = ?, sync_outcome = ?, sync_error = ?, last_taken = ? WHERE id = ?`, time.Now().UnixMilli(), r.Outcome, r.Error, r.Taken, r.UserID)
		return err
	})
}

// lastRead is since when nobody's history has waited to be read: the longest wait counts. It is
// zero when nobody is connected.
func (s store) lastRead(ctx context.Context) (time.Time, error) {
	var at sql.NullInt64
	err := s.db.Read().QueryRowContext(ctx, `SELECT MIN(CASE WHEN synced_at = 0 THEN connected_at ELSE synced_at END) FROM tracker_users WHERE state IN (?, ?)`, Connected, Refused).Scan(&at)
	if err != nil {
		return time.Time{}, fmt.Errorf("read when histories were read: %w", err)
	}
	if !at.Valid {
		return time.Time{}, nil
	}
	return time.UnixMilli(at.Int64), nil
}

// seen is which of some plays were seen before, and the records they became; 0 is none.
func (s store) seen(ctx context.Context, id int64, plays []int64) (map[int64]int64, error) {
	list, args := db.In(plays)
	seen := map[int64]int64{}
	err := db.Each(ctx, s.db.Read(), "look for plays", func(row db.Row) error {
		var play, record int64
		err := row.Scan(&play, &record)
		seen[play] = record
		return err
	}, `SELECT play_id, record_id FROM tracker_plays WHERE user_id = ? AND play_id IN `+list, append([]any{id}, args...)...)
	return seen, err
}

// Taken are those of some plays, by their number at Trakt, that became records of anybody's history.
func (k *Service) Taken(ctx context.Context, plays []string) (map[string]bool, error) {
	numbers := make([]int64, len(plays))
	for i, play := range plays {
		numbers[i], _ = strconv.ParseInt(play, 10, 64) // what has no number is no play
	}
	list, args := db.In(numbers)
	within, whose := account.Within(ctx, record.AccountOf("record_id"))
	taken := map[string]bool{}
	err := db.Each(ctx, k.store.db.Read(), "look for plays of anybody", func(row db.Row) error {
		var play int64
		err := row.Scan(&play)
		taken[strconv.FormatInt(play, 10)] = true
		return err
	}, `SELECT play_id FROM tracker_plays WHERE user_id IN (SELECT id FROM tracker_users) AND record_id <> 0 AND play_id IN `+list+` AND `+within, append(args, whose...)...)
	return taken, err
}

// noteTx stores that a play was seen, and its record unless that is 0. It returns
// errTakenMeanwhile when it has one already.
func noteTx(ctx context.Context, tx *sql.Tx, id, play, record int64) error {
	what := `DO NOTHING`
	if record != 0 {
		what = `DO UPDATE SET record_id = excluded.record_id WHERE tracker_plays.record_id = 0`
	}
	stored, err := changed(tx.ExecContext(ctx, `INSERT INTO tracker_plays (user_id, play_id, record_id) VALUES (?, ?, ?) ON CONFLICT (user_id, play_id) `+what, id, play, record))
	if err != nil {
		return fmt.Errorf("note a play: %w", err)
	}
	if record != 0 && !stored {
		return errTakenMeanwhile
	}
	return nil
}

// UserSync is how reading the history of a user stands.
type UserSync struct {
	ID        int64         `json:"id"`
	Name      string        `json:"name"`
	State     State         `json:"state" enum:"connected,refused,dead,disconnected"`
	LastRun   *time.Time    `json:"last_run" doc:"When the history was last read; null for never."`
	Outcome   Outcome       `json:"last_outcome" enum:",taken,up_to_date,failed,cancelled" doc:"How that ended; empty before the first."`
	Error     reason.Reason `json:"last_error_value,omitzero" doc:"What is wrong and what to do, in plain words; empty when nothing is."`
	ReadUntil *time.Time    `json:"read_until" doc:"Plays up to here are taken in; null before the first run that came to its end."`
	LastTaken int           `json:"last_taken" doc:"How many plays became records in the last reading."`
	Taken     int           `json:"taken" doc:"How many plays became records in all."`
	Seen      int           `json:"seen" doc:"How many more were seen only: older than the connection, of another genre, or unreadable."`
}

// MarshalJSON has the text of the error beside it, as last_error.
func (u UserSync) MarshalJSON() ([]byte, error) {
	type plain UserSync
	return reason.MarshalBeside((*plain)(&u))
}

// syncs lists how reading stands for everybody.
func (s store) syncs(ctx context.Context) ([]UserSync, error) {
	return db.All(ctx, s.db.Read(), "list how far histories were read", func(row db.Row) (u UserSync, err error) {
		var synced, until int64
		err = row.Scan(&u.ID, &u.Name, &u.State, &synced, &u.Outcome, &u.Error, &u.LastTaken, &until, &u.Taken, &u.Seen)
		u.LastRun, u.ReadUntil = timeOrNil(synced), timeOrNil(until)
		return u, err
	}, `SELECT id, name, state, synced_at, sync_outcome, sync_error, last_taken, read_until,
		(SELECT COUNT(*) FROM tracker_plays p WHERE p.user_id = u.id AND p.record_id <> 0),
		(SELECT COUNT(*) FROM tracker_plays p WHERE p.user_id = u.id AND p.record_id = 0) FROM tracker_users u ORDER BY id`)
}
