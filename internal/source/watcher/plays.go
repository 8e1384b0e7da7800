package watcher

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/watch"
)

// errMeanwhile is returned when a webhook told of a play while it was being taken.
var errMeanwhile = errors.New("a webhook told of a play meanwhile")

// lookMost is how many items one query looks up.
const lookMost = 200

// play is a row of media_plays.
type play struct {
	item, key    string
	year         int
	count        int
	at           time.Time // by the server's clock, not before the last play
	taken, heard time.Time // by ours
}

// plays are rows by item and by key.
type plays struct {
	byItem map[string]*play
	byKey  map[string][]*play
}

func newPlays() plays { return plays{map[string]*play{}, map[string][]*play{}} }

// put notes a row in the place of the one of the same item.
func (p plays) put(row play) {
	kept := &row
	if before := p.byItem[row.item]; before != nil {
		before.key = "" // it is found by the new one only
	}
	p.byItem[row.item] = kept
	if row.key != "" {
		p.byKey[row.key] = append(p.byKey[row.key], kept)
	}
}

// alike are the rows of a key in a year, but the one of an item. A year that is not told is any; that of an episode may turn between
// two sources of it.
func (p plays) alike(key string, year int, but string) []*play {
	var found []*play
	for _, row := range p.byKey[key] {
		if row.key == key && row.item != but && (row.year == 0 || year == 0 || max(row.year, year)-min(row.year, year) <= 1) {
			found = append(found, row)
		}
	}
	return found
}

// find reads the rows of some items and keys.
func find(ctx context.Context, from db.Querier, login int64, wanted []play) (plays, error) {
	found := newPlays()
	for len(wanted) > 0 {
		some := wanted[:min(lookMost, len(wanted))]
		wanted = wanted[len(some):]
		items, keys := make([]string, 0, len(some)), make([]string, 0, len(some))
		for _, w := range some {
			items = append(items, w.item)
			if w.key != "" {
				keys = append(keys, w.key)
			}
		}
		inItems, args := db.In(items)
		inKeys, more := db.In(keys)
		// Two queries in one, each by its own index: UNION alone would have the second one read all rows of the login.
		query := `SELECT item_id, play_key, year, count, played_at, taken_at, heard_at FROM media_plays WHERE login_id = ? AND item_id IN ` + inItems + `
			UNION ALL SELECT item_id, play_key, year, count, played_at, taken_at, heard_at FROM media_plays WHERE login_id = ? AND play_key IN ` + inKeys
		args = append(append(append([]any{login}, args...), login), more...)
		err := db.Each(ctx, from, "look for plays", func(row db.Row) error {
			var p play
			var at, taken, heard int64
			err := row.Scan(&p.item, &p.key, &p.year, &p.count, &at, &taken, &heard)
			p.at, p.taken, p.heard = timeOf(at), timeOf(taken), timeOf(heard)
			found.put(p)
			return err
		}, query, args...)
		if err != nil {
			return found, err
		}
	}
	return found, nil
}

// putTx stores rows. What a webhook told, or a record was made of, is not taken back by a row that was read before.
func putTx(ctx context.Context, tx *sql.Tx, login int64, rows []play) error {
	for _, p := range rows {
		_, err := tx.ExecContext(ctx, `INSERT INTO media_plays (login_id, item_id, play_key, year, count, played_at, taken_at, heard_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (login_id, item_id) DO UPDATE SET play_key = excluded.play_key, year = excluded.year, count = excluded.count,
				played_at = CASE WHEN excluded.played_at > media_plays.played_at THEN excluded.played_at ELSE media_plays.played_at END,
				taken_at = CASE WHEN excluded.taken_at > media_plays.taken_at THEN excluded.taken_at ELSE media_plays.taken_at END,
				heard_at = CASE WHEN excluded.heard_at > media_plays.heard_at THEN excluded.heard_at ELSE media_plays.heard_at END`,
			login, p.item, p.key, p.year, p.count, millis(p.at), millis(p.taken), millis(p.heard))
		if err != nil {
			return fmt.Errorf("note a play: %w", err)
		}
	}
	return nil
}

// knownMost bounds what is known of a login: nobody has watched so much.
const knownMost = 500_000

// thereTx makes sure that a login is still followed, and that some more items of it may be known.
func thereTx(ctx context.Context, from db.Querier, login int64, fresh int) error {
	var known int
	err := from.QueryRowContext(ctx, `SELECT known FROM media_logins WHERE id = ? AND removed = 0`, login).Scan(&known)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return ErrNotFound
	case err != nil:
		return fmt.Errorf("look for media login %d: %w", login, err)
	case fresh > 0 && known+fresh > knownMost:
		return fmt.Errorf("%w: %w", tooMuch.With(knownMost), mediaserver.ErrRefused)
	}
	return nil
}

// countTx notes how many items of a login are known for the first time, and how many more its server is expected to count.
func countTx(ctx context.Context, tx *sql.Tx, login int64, fresh, added int) error {
	if fresh == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, `UPDATE media_logins SET known = known + ?, counted = CASE WHEN counted < 0 THEN counted ELSE counted + ? END WHERE id = ?`, fresh, added, login)
	if err != nil {
		return fmt.Errorf("count what is known of media login %d: %w", login, err)
	}
	return nil
}

// heldPlay is a row of media_held.
type heldPlay struct {
	id     int64
	item   string
	events []watch.Event
	at     time.Time
}

// holdTx keeps the events of an item for a person's word, or until it is known how many came at once.
func holdTx(ctx context.Context, tx *sql.Tx, login int64, item string, events []watch.Event, asked bool, now time.Time) error {
	text, err := json.Marshal(events)
	if err != nil {
		return fmt.Errorf("encode what is held: %w", err)
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO media_held (login_id, item_id, events, held_at, asked) VALUES (?, ?, ?, ?, ?)`, login, item, string(text), now.UnixMilli(), asked); err != nil {
		return fmt.Errorf("hold a play: %w", err)
	}
	return nil
}

// held lists up to a limit of what is held of a login, the first one first.
func (s store) held(ctx context.Context, login int64, asked bool, limit int) ([]heldPlay, error) {
	return db.All(ctx, s.db.Read(), "list held plays", func(row db.Row) (h heldPlay, err error) {
		var text string
		var at int64
		if err := row.Scan(&h.id, &h.item, &text, &at); err != nil {
			return h, err
		}
		h.at = timeOf(at)
		return h, json.Unmarshal([]byte(text), &h.events)
	}, `SELECT id, item_id, events, held_at FROM media_held WHERE login_id = ? AND asked = ? ORDER BY id LIMIT ?`, login, asked, limit)
}

// countHeld is how many plays are held of a login.
func (s store) countHeld(ctx context.Context, login int64, asked bool) (n int, err error) {
	if err := s.db.Read().QueryRowContext(ctx, `SELECT COUNT(*) FROM media_held WHERE login_id = ? AND asked = ?`, login, asked).Scan(&n); err != nil {
		return 0, fmt.Errorf("count held plays: %w", err)
	}
	return n, nil
}

// askHeld has a person asked about what was held until now.
func (s store) askHeld(ctx context.Context, login int64) error {
	return s.write(ctx, login, `UPDATE media_held SET asked = 1 WHERE login_id = ? AND asked = 0`, login)
}

// dropHeldTx removes rows of media_held; errMeanwhile when another one did so before.
func dropHeldTx(ctx context.Context, tx *sql.Tx, rows []heldPlay) error {
	ids := make([]int64, len(rows))
	for i, row := range rows {
		ids[i] = row.id
	}
	list, args := db.In(ids)
	result, err := tx.ExecContext(ctx, `DELETE FROM media_held WHERE id IN `+list, args...)
	if err != nil {
		return fmt.Errorf("release held plays: %w", err)
	}
	if n, err := result.RowsAffected(); err != nil || int(n) != len(rows) {
		return errors.Join(err, errMeanwhile)
	}
	return nil
}
