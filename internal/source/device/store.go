package device

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/watch/title"
)

// rearmAfter is when something that was counted may count again without anything else
// having been played since (upstreams/device.md, section 7).
const rearmAfter = 12 * time.Hour

// errCounted is returned for what was counted already.
var errCounted = reason.New("device_counted", "it was counted already", "已经计入过")

// Store remembers what was counted, so that nothing counts twice.
type Store struct{ db *db.DB }

// NewStore is the store over d.
func NewStore(d *db.DB) *Store { return &Store{d} }

// play is what counts once: an item on a player.
type play struct {
	device, title string
	season        int
	episode       string
}

// playOf names what a reading is of. The address of the stream has no part in it: it
// differs at each play.
func playOf(device string, r Reading) play {
	p := play{device: device, title: title.Key(r.Title), season: -1, episode: string(r.Kind)}
	if r.Season != nil {
		p.season = *r.Season
	}
	var numbers []string
	for _, n := range r.Episodes {
		numbers = append(numbers, strconv.FormatFloat(n, 'f', -1, 64))
	}
	p.episode += ":" + strings.Join(numbers, ",")
	return p
}

// countTx counts p within tx, or returns errCounted. again is set when p was seen to begin
// anew: it then counts once more after something else was played, or after rearmAfter.
func countTx(ctx context.Context, tx *sql.Tx, p play, again bool, at time.Time) error {
	// A time that lies ahead is that of a clock that was set back since.
	result, err := tx.ExecContext(ctx, `INSERT INTO device_plays (device, title, season, episode, counted_at, armed) VALUES (?, ?, ?, ?, ?, 0)
		ON CONFLICT (device, title, season, episode) DO UPDATE SET counted_at = excluded.counted_at, armed = 0
		WHERE ? AND (device_plays.armed = 1 OR device_plays.counted_at <= ? OR device_plays.counted_at > excluded.counted_at)`,
		p.device, p.title, p.season, p.episode, at.UnixMilli(), again, at.Add(-rearmAfter).UnixMilli())
	if err != nil {
		return countPlay.With(err)
	}
	changed, err := result.RowsAffected()
	if err != nil {
		return countPlay.With(err)
	}
	if changed == 0 {
		return errCounted
	}
	return nil
}

// begin notes that p plays: whatever else its player has played may count again.
func (s *Store) begin(ctx context.Context, p play) error {
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE device_plays SET armed = 1 WHERE device = ? AND armed = 0 AND NOT (title = ? AND season = ? AND episode = ?)`,
			p.device, p.title, p.season, p.episode)
		return err
	})
	if err != nil {
		return storePlay.With(err)
	}
	return nil
}

// Prune forgets up to limit items that were counted before cutoff, and reports how many.
func (s *Store) Prune(ctx context.Context, cutoff time.Time, limit int) (int64, error) {
	var n int64
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `DELETE FROM device_plays WHERE (device, title, season, episode) IN
			(SELECT device, title, season, episode FROM device_plays WHERE counted_at < ? ORDER BY counted_at LIMIT ?)`, cutoff.UnixMilli(), limit)
		if err != nil {
			return err
		}
		n, err = result.RowsAffected()
		return err
	})
	if err != nil {
		return 0, removeOldPlays.With(err)
	}
	return n, nil
}
