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
)

// KeepWrites is for how long a task that wrote to a media server can be undone.
const KeepWrites = 30 * 24 * time.Hour

// written is a row of media_writes: what one task changed of an item.
type written struct {
	task, login int64
	item        string
	// before is its state before; the task changed whether it is played.
	before mediaserver.State
	// after is what the server made of it; nil while that is not known.
	after *mediaserver.State
	// known is whether media_plays had a row of the item before.
	known bool
}

// noteWrite stores, before it is sent, what is to be written of an item: its echo is then no news.
func (s store) noteWrite(ctx context.Context, w written, i mediaserver.Item) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		row := playOf(i)
		found, err := find(ctx, tx, w.login, []play{row})
		if err != nil {
			return err
		}
		w.known = found.byItem[w.item] != nil
		_, err = tx.ExecContext(ctx, `INSERT INTO media_writes (task_id, login_id, item_id, before, after, known, written_at) VALUES (?, ?, ?, ?, '', ?, ?)
			ON CONFLICT (task_id, item_id) DO NOTHING`, w.task, w.login, w.item, toJSON(w.before), w.known, time.Now().UnixMilli())
		if err != nil {
			return fmt.Errorf("note what is written to a media server: %w", err)
		}
		if w.before.Played {
			return unplayedTx(ctx, tx, w.login, w.item)
		}
		return expectTx(ctx, tx, w.login, i)
	})
}

// unplayed notes that an item is about to be set to unwatched.
func (s store) unplayed(ctx context.Context, login int64, item string) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error { return unplayedTx(ctx, tx, login, item) })
}

func unplayedTx(ctx context.Context, tx *sql.Tx, login int64, item string) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO media_unplayed (login_id, item_id, at) VALUES (?, ?, ?) ON CONFLICT (login_id, item_id) DO UPDATE SET at = excluded.at`,
		login, item, time.Now().UnixMilli())
	if err != nil {
		return fmt.Errorf("note what is set to unwatched at a media server: %w", err)
	}
	return nil
}

// expect notes that an item is about to be marked as played.
func (s store) expect(ctx context.Context, login int64, i mediaserver.Item) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error { return expectTx(ctx, tx, login, i) })
}

func expectTx(ctx context.Context, tx *sql.Tx, login int64, i mediaserver.Item) error {
	row := playOf(i)
	row.count++
	row.taken = time.Now()
	row.at = row.taken
	return putTx(ctx, tx, login, []play{row})
}

// settleWrites stores what the server made of items; those that it does not have any more are not among them. An item that
// is as it was before was not changed, or is so no more: there is nothing to undo of it.
func (s store) settleWrites(ctx context.Context, rows []written, now map[string]mediaserver.Item) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, w := range rows {
			i, there := now[w.item]
			var err error
			if there && i.State.Played != w.before.Played {
				_, err = tx.ExecContext(ctx, `UPDATE media_writes SET after = ? WHERE task_id = ? AND item_id = ?`, toJSON(i.State), w.task, w.item)
			} else {
				err = dropWriteTx(ctx, tx, w)
			}
			if err != nil {
				return fmt.Errorf("note what a media server made of a write: %w", err)
			}
			if !there {
				continue
			}
			if i.State.Played {
				row := playOf(i)
				row.taken = time.Now()
				if row.at.IsZero() {
					row.at = row.taken
				}
				err = putTx(ctx, tx, w.login, []play{row})
			} else if w.before.Played || !w.known { // the next play is news
				_, err = tx.ExecContext(ctx, `DELETE FROM media_plays WHERE login_id = ? AND item_id = ?`, w.login, w.item)
			}
			if err != nil {
				return fmt.Errorf("note what a media server made of a write: %w", err)
			}
		}
		return nil
	})
}

// dropWrite forgets what was written of an item: it cannot be undone any more.
func (s store) dropWrite(ctx context.Context, w written) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error { return dropWriteTx(ctx, tx, w) })
}

func dropWriteTx(ctx context.Context, tx *sql.Tx, w written) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM media_writes WHERE task_id = ? AND item_id = ?`, w.task, w.item)
	return err
}

const writeColumns = `task_id, login_id, item_id, before, after, known`

func scanWrite(row db.Row) (w written, err error) {
	var before, after string
	if err := row.Scan(&w.task, &w.login, &w.item, &before, &after, &w.known); err != nil {
		return w, err
	}
	return w, errors.Join(json.Unmarshal([]byte(before), &w.before), fromJSON(after, &w.after))
}

// writes lists up to a limit of what a task has written and was not undone, those after an item, in the order of the items.
func (s store) writes(ctx context.Context, task int64, after string, limit int) ([]written, error) {
	return db.All(ctx, s.db.Read(), "list what was written to a media server", scanWrite,
		`SELECT `+writeColumns+` FROM media_writes WHERE task_id = ? AND item_id > ? ORDER BY item_id LIMIT ?`, task, after, limit)
}

// unsettled lists up to a limit of what was written for a login of which it is not known what the server made of it.
func (s store) unsettled(ctx context.Context, login int64, after string, limit int) ([]written, error) {
	return db.All(ctx, s.db.Read(), "list what was written to a media server", scanWrite,
		`SELECT `+writeColumns+` FROM media_writes WHERE login_id = ? AND after = '' AND item_id > ? ORDER BY item_id LIMIT ?`, login, after, limit)
}

// countWrites is how many items a task has written that were not undone, and at which login.
func (s store) countWrites(ctx context.Context, task int64) (n int, login int64, err error) {
	err = s.db.Read().QueryRowContext(ctx, `SELECT COUNT(*), COALESCE(MAX(login_id), 0) FROM media_writes WHERE task_id = ?`, task).Scan(&n, &login)
	if err != nil {
		return 0, 0, fmt.Errorf("count what was written to a media server: %w", err)
	}
	return n, login, nil
}

// recount stores how many rows media_plays has of a login.
func (s store) recount(ctx context.Context, id int64) error {
	return s.write(ctx, id, `UPDATE media_logins SET known = (SELECT COUNT(*) FROM media_plays WHERE login_id = ?) WHERE id = ?`, id, id)
}

// Prune removes up to a limit of what was written so long ago that it cannot be undone any more, and says how many.
func (s *Service) Prune(ctx context.Context, limit int) (removed int64, err error) {
	err = s.store.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `DELETE FROM media_writes WHERE (task_id, item_id) IN (SELECT task_id, item_id FROM media_writes WHERE written_at < ? LIMIT ?)`,
			time.Now().Add(-KeepWrites).UnixMilli(), limit)
		if err != nil {
			return err
		}
		if removed, err = result.RowsAffected(); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM media_unplayed WHERE at < ?`, time.Now().Add(-ownEcho).UnixMilli())
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("remove what was written to media servers: %w", err)
	}
	return removed, nil
}
