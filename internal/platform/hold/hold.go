// Package hold says which replica has what only one may have at a time: the run of a job, the renewal of a credential, the
// connection to a media server.
//
// It promises: of all replicas on a database one has a name; it keeps it until it gives it up or is evicted, however long that
// takes and whatever its clock says; what it had is free once it was evicted. Within a replica a name is had, not locked: where
// two goroutines want it, Alone gives it to one after the other.
package hold

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/turn"
)

const (
	// askEvery is how often it is looked whether another replica has given up what somebody waits for.
	askEvery = 200 * time.Millisecond
	// lookEvery is how often it is looked whether this replica is still what it was.
	lookEvery = time.Second
	// giveAgain is how long it waits when the database does not take what is given up.
	giveAgain = time.Second
)

// Self is the replica that this process is.
type Self interface {
	// Incarnation is its number; another one once it was evicted and has joined anew.
	Incarnation() int64
	// Live reports whether it has been heard of lately enough that nobody may have evicted it.
	Live() bool
}

// Holds is what this replica has, and can have. It may be used by several goroutines.
type Holds struct {
	db    *db.DB
	self  Self
	log   *slog.Logger
	turns turn.Keys[string]

	mu sync.Mutex
	// mine are the names that this replica has, with the incarnation that took them.
	mine map[string]int64
}

// New is a Holds that has nothing.
func New(d *db.DB, self Self, log *slog.Logger) *Holds {
	return &Holds{db: d, self: self, log: log, mine: map[string]int64{}}
}

// Incarnation is the number of this replica.
func (h *Holds) Incarnation() int64 { return h.self.Incarnation() }

// Has reports whether this replica has a name, as far as it knows.
func (h *Holds) Has(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	by, has := h.mine[name]
	return has && by == h.self.Incarnation()
}

// Take has this replica have a name, and reports false while another one has it. It asks the database only for what this replica
// does not have, and writes only what is free.
func (h *Holds) Take(ctx context.Context, name string) (got bool, err error) {
	if h.Has(name) {
		return true, nil
	}
	owner, err := ownerOf(ctx, h.db.Read(), name)
	if err != nil || owner != 0 && owner != h.self.Incarnation() {
		return false, err
	}
	err = h.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		got, err = h.TakeTx(ctx, tx, name)
		return err
	})
	if got = got && err == nil; got {
		h.Took(name)
	}
	return got, err
}

// TakeTx is Take within a transaction. Once that is committed, call Took.
func (h *Holds) TakeTx(ctx context.Context, tx *sql.Tx, name string) (got bool, err error) {
	result, err := tx.ExecContext(ctx, `INSERT INTO holds (name, owner) VALUES (?, ?)
		ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, wanted = 0 WHERE holds.owner IN (0, excluded.owner)`, name, h.self.Incarnation())
	if err != nil {
		return false, fmt.Errorf("take %s: %w", name, err)
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// Took notes that a transaction with a TakeTx that got a name was committed.
func (h *Holds) Took(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mine[name] = h.self.Incarnation()
}

// Give gives up a name that this replica has. What the database does not take now it is told again in the background, until it does or
// is closed; until then no other replica gets it.
func (h *Holds) Give(ctx context.Context, name string) {
	by := h.left(name)
	if by == 0 {
		return
	}
	if err := h.give(ctx, name, by); err != nil && !isOver(err) {
		h.log.ErrorContext(ctx, "cannot give up what one replica has at a time, trying again", "name", name, "error", err)
		go h.giveLater(name, by) //nolint:gosec // it outlives who asked
	}
}

// left notes that this replica does not have a name any more, and answers the incarnation that took it; 0 is none.
func (h *Holds) left(name string) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	by := h.mine[name]
	delete(h.mine, name)
	return by
}

// Gave notes that a transaction with a GiveTx was committed.
func (h *Holds) Gave(name string) { h.left(name) }

// GiveTx is Give within a transaction. Once that is committed, call Gave.
func (h *Holds) GiveTx(ctx context.Context, tx *sql.Tx, name string) error {
	return giveTx(ctx, tx, name, h.self.Incarnation())
}

func giveTx(ctx context.Context, tx *sql.Tx, name string, by int64) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM holds WHERE name = ? AND owner = ?`, name, by); err != nil {
		return fmt.Errorf("give up %s: %w", name, err)
	}
	return nil
}

func (h *Holds) give(ctx context.Context, name string, by int64) error {
	ctx = context.WithoutCancel(ctx)                                                                               // it must not end with the work
	return h.db.WriteShared(ctx, func(ctx context.Context, tx *sql.Tx) error { return giveTx(ctx, tx, name, by) }) // one row, by its key
}

// giveLater gives up a name once the database takes it, unless this replica has taken it again.
func (h *Holds) giveLater(name string, by int64) {
	for {
		time.Sleep(giveAgain)
		end, err := h.turns.Take(context.Background(), name)
		if err != nil {
			return
		}
		if !h.Has(name) {
			err = h.give(context.Background(), name, by)
		}
		end()
		if err == nil || isOver(err) {
			return
		}
	}
}

// isOver reports whether what failed fails for good, after which others get what this replica had by its end or its eviction.
func isOver(err error) bool { return errors.Is(err, db.ErrClosed) || errors.Is(err, db.ErrEvicted) }

// Alone runs fn while nobody else, here or at another replica, has a name, and waits for that until ctx ends.
func (h *Holds) Alone(ctx context.Context, name string, fn func() error) error {
	end, err := h.turns.Take(ctx, name)
	if err != nil {
		return err
	}
	defer end()
	if err := h.Wait(ctx, name); err != nil {
		return err
	}
	defer h.Give(ctx, name)
	if !h.self.Live() {
		return errNotLive
	}
	return fn()
}

// Wait waits until this replica has a name, or until ctx ends. The replica that has it is told that it is wanted.
func (h *Holds) Wait(ctx context.Context, name string) error {
	for {
		got, err := h.Take(ctx, name)
		if err == nil && !got {
			err = h.want(ctx, name)
		}
		if err != nil || got {
			return err
		}
		select {
		case <-time.After(askEvery):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// want tells the replica that has a name that this one wants it, unless another one does already.
func (h *Holds) want(ctx context.Context, name string) error {
	var free bool
	err := h.db.Read().QueryRowContext(ctx, `SELECT wanted = 0 FROM holds WHERE name = ?`, name).Scan(&free)
	if err == nil && free {
		err = h.db.WriteShared(ctx, func(ctx context.Context, tx *sql.Tx) error { // one row, by its key
			_, err := tx.ExecContext(ctx, `UPDATE holds SET wanted = ? WHERE name = ? AND wanted = 0`, h.self.Incarnation(), name)
			return err
		})
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("ask for %s: %w", name, err)
	}
	return nil
}

// Wanted are the names that this replica has and others wait for.
func (h *Holds) Wanted(ctx context.Context) ([]string, error) {
	return db.Values[string](ctx, h.db.Read(), "read what other replicas wait for", `SELECT name FROM holds WHERE owner = ? AND wanted NOT IN (0, owner) ORDER BY name`, h.self.Incarnation())
}

// While is ctx, which ends with cause once this replica may not have a name any more that it has: it was evicted, or may have been.
func (h *Holds) While(ctx context.Context, name string, cause error) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if !h.db.Alone() {
		go func() {
			tick := time.NewTicker(lookEvery)
			defer tick.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
				}
				if !h.self.Live() || !h.Has(name) {
					cancel(cause)
					return
				}
			}
		}()
	}
	return ctx, cancel
}

// Owner is the replica that has a name; 0 when none has.
func (h *Holds) Owner(ctx context.Context, name string) (int64, error) {
	return ownerOf(ctx, h.db.Read(), name)
}

// OwnerSQL is SQL for the owner of what an SQL expression names; 0 when nobody has it.
func OwnerSQL(name string) string {
	return `COALESCE((SELECT owner FROM holds WHERE holds.name = ` + name + `), 0)`
}

func ownerOf(ctx context.Context, from db.Querier, name string) (owner int64, err error) {
	err = from.QueryRowContext(ctx, `SELECT owner FROM holds WHERE name = ?`, name).Scan(&owner)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("read who has %s: %w", name, err)
	}
	return owner, nil
}

// FreeTx frees what replicas had that are evicted, in the transaction that evicts them. Who waits for something keeps waiting for it.
func FreeTx(ctx context.Context, tx *sql.Tx, dead []int64) error {
	list, args := db.In(dead)
	if _, err := tx.ExecContext(ctx, `DELETE FROM holds WHERE owner IN `+list, args...); err != nil {
		return fmt.Errorf("free what evicted replicas had: %w", err)
	}
	return nil
}
