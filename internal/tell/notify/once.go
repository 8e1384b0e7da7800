package notify

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"watchmark/internal/platform/db"
)

// Once keeps that something, named by key, is in a state now, with the notices that tell of
// the change, in one transaction. It does nothing while the state is the one that was kept,
// so a state is told once, whenever the service is started anew and by whichever replica. The empty state is the one
// of what was never kept: nothing is wrong with it. tell is given the state before. What was kept is remembered: where
// another replica may have told of a key meanwhile, call Forget first.
func (n *Notifier) Once(ctx context.Context, key, state string, tell func(before string) []Notice) error {
	n.mu.Lock()
	before, known := n.states[key]
	n.mu.Unlock()
	if known && before == state {
		return nil
	}
	before, err := stateOf(ctx, n.DB.Read(), key)
	if err != nil {
		return err
	}
	if before == state {
		n.keep(key, state)
		return nil
	}
	told := false
	err = n.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		before, err := stateOf(ctx, tx, key)
		if told = before != state; err != nil || !told {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO notice_states (key, state, updated_at) VALUES (?, ?, ?)
			ON CONFLICT (key) DO UPDATE SET state = excluded.state, updated_at = excluded.updated_at`, key, state, time.Now().UnixMilli())
		if err != nil {
			return fmt.Errorf("keep what was told of %s: %w", key, err)
		}
		return n.AddTx(ctx, tx, tell(before)...)
	})
	if err != nil {
		return err
	}
	n.keep(key, state)
	if told {
		n.Wake()
	}
	return nil
}

// Told are the states that are kept of the keys that begin so, but for empty ones.
func (n *Notifier) Told(ctx context.Context, prefix string) (map[string]string, error) {
	told := map[string]string{}
	err := db.Each(ctx, n.DB.Read(), "list what was told of "+prefix, func(row db.Row) error {
		var key, state string
		err := row.Scan(&key, &state)
		told[key] = state
		return err
	}, `SELECT key, state FROM notice_states WHERE key >= ? AND key < ? AND state <> ''`, prefix, prefix+"\U0010ffff")
	return told, err
}

// ReopenTx opens the notice of a matter anew, within tx, that was closed last: what settled the matter is taken back. Nobody is told once
// more. Where one is open, or none is kept, it does nothing.
func (n *Notifier) ReopenTx(ctx context.Context, tx *sql.Tx, of Notice) error {
	about := matter(of)
	_, err := tx.ExecContext(ctx, `UPDATE notices SET over_at = 0, unread = 1 WHERE id = (SELECT MAX(id) FROM notices WHERE matter = ? AND replaced = 0 AND over_at > 0)
		AND NOT EXISTS (SELECT 1 FROM notices WHERE matter = ? AND`+open+`)`, about, about)
	if err != nil {
		return fmt.Errorf("open the notice of a matter anew: %w", err)
	}
	return nil
}

// SettleGone closes the notices of some kinds about accounts that are not known any more.
func (n *Notifier) SettleGone(ctx context.Context, known func(account int64) bool, kinds ...Kind) error {
	list, args := db.In(kinds)
	gone, err := db.Values[int64](ctx, n.DB.Read(), "look for notices of accounts that are gone",
		`SELECT DISTINCT account_id FROM notices WHERE account_id <> 0 AND kind IN `+list+` AND`+open, args...)
	gone = slices.DeleteFunc(gone, known)
	if err != nil || len(gone) == 0 {
		return err
	}
	accounts, ids := db.In(gone)
	return n.exec(ctx, `UPDATE notices SET over_at = ?, unread = 0 WHERE account_id IN `+accounts+` AND kind IN `+list+` AND`+open,
		slices.Concat([]any{time.Now().UnixMilli()}, ids, args)...)
}

// stateOf is the state that is kept of a key.
func stateOf(ctx context.Context, from db.Querier, key string) (state string, err error) {
	err = from.QueryRowContext(ctx, `SELECT state FROM notice_states WHERE key = ?`, key).Scan(&state)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("read what was told of %s: %w", key, err)
	}
	return state, nil
}

// Forget has what is kept read anew.
func (n *Notifier) Forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.states)
}

// statesMost bounds what is remembered: states of accounts that are gone are never asked for again.
const statesMost = 1000

// keep remembers what is stored, so that a state that stays is not read again and again.
func (n *Notifier) keep(key, state string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.states) >= statesMost {
		clear(n.states) // what is still needed is read again
	}
	n.states[key] = state
}
