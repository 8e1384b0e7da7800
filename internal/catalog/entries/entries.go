// Package entries lets one replica at a time write to a list entry, which is what one account's list says of one subject: the catalog
// loses one of two writes that overlap. An entry is a row while somebody writes to it. It is taken before the first request and given
// back in the transaction that settles what was written, so that who takes it next sees that.
//
// A process that is alone on its database needs none of it: there a catalog.Marker keeps writes apart.
package entries

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/replica"
	"watchmark/internal/platform/turn"
)

// An entry that another replica has is asked for again after a while, which grows from firstLook to lastLook.
const (
	firstLook = 20 * time.Millisecond
	lastLook  = 500 * time.Millisecond
)

// Entries are the list entries as one process has them.
type Entries struct {
	db    *db.DB
	self  *replica.Self
	turns turn.Keys[key]

	mu        sync.Mutex
	held      map[key]bool
	forgotten map[key]bool // those of the last look that this incarnation has and this process does not know of
}

type key struct {
	account int64
	subject catalog.SubjectID
}

// New are the entries on d, for the replica self.
func New(d *db.DB, self *replica.Self) *Entries {
	return &Entries{db: d, self: self, held: map[key]bool{}, forgotten: map[key]bool{}}
}

// Entry is a list entry that this replica alone writes to, until Done.
type Entry struct {
	of     *Entries // nil where there is nobody else
	key    key
	member *replica.Member
	end    func()
}

// Take waits until nobody else has the entry, and takes it. The error is that of ctx or of the database, or replica.ErrNotLive.
func (e *Entries) Take(ctx context.Context, account int64, subject catalog.SubjectID) (*Entry, error) {
	if e.db.Alone() {
		return &Entry{}, nil
	}
	k := key{account, subject}
	end, err := e.turns.Take(ctx, k)
	if err != nil {
		return nil, err
	}
	taken := &Entry{of: e, key: k, member: e.self.Member(), end: sync.OnceFunc(func() {
		e.mu.Lock()
		delete(e.held, k)
		e.mu.Unlock()
		end()
	})}
	for wait := firstLook; ; wait = min(2*wait, lastLook) {
		got, err := taken.take(ctx)
		if err == nil && got {
			e.mu.Lock()
			e.held[k] = true
			e.mu.Unlock()
			return taken, nil
		}
		if err == nil {
			select {
			case <-time.After(wait):
			case <-taken.member.Ended():
				err = replica.ErrNotLive
			case <-ctx.Done():
				err = ctx.Err()
			}
		}
		if err != nil {
			taken.end()
			return nil, err
		}
	}
}

// take takes the row if it is free, or this incarnation's already: then the answer of an earlier commit was lost. It is a shared write: one
// statement on one row.
func (t *Entry) take(ctx context.Context) (got bool, err error) {
	err = t.of.db.WriteShared(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var owner int64
		err := tx.QueryRowContext(ctx, `INSERT INTO entries (account_id, subject_id, owner, free_at) VALUES (?, ?, ?, 0)
			ON CONFLICT (account_id, subject_id) DO UPDATE SET owner = excluded.owner
			WHERE entries.owner = excluded.owner OR entries.owner = 0 AND entries.free_at <= now_ms()
			RETURNING owner`, t.key.account, t.key.subject, t.member.Incarnation).Scan(&owner)
		got = err == nil
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	if err != nil {
		return false, fmt.Errorf("take the list entry of subject %d: %w", t.key.subject, err)
	}
	return got, nil
}

// With is ctx, in which the catalog is written to only while others cannot take this replica for dead.
func (t *Entry) With(ctx context.Context) context.Context {
	if t.of == nil {
		return ctx
	}
	return catalog.Guarded(ctx, t.member.May)
}

// GiveTx gives the entry back, within tx. It rests before others may take it, if the catalog may still be at work on a write.
func (t *Entry) GiveTx(ctx context.Context, tx *sql.Tx, rest time.Duration) error {
	if t.of == nil {
		return nil
	}
	var err error
	if rest > 0 {
		_, err = tx.ExecContext(ctx, `UPDATE entries SET owner = 0, free_at = now_ms() + ? WHERE account_id = ? AND subject_id = ? AND owner = ?`,
			rest.Milliseconds(), t.key.account, t.key.subject, t.member.Incarnation)
	} else {
		_, err = tx.ExecContext(ctx, `DELETE FROM entries WHERE account_id = ? AND subject_id = ? AND owner = ?`, t.key.account, t.key.subject, t.member.Incarnation)
	}
	if err != nil {
		return fmt.Errorf("give back the list entry of subject %d: %w", t.key.subject, err)
	}
	return nil
}

// Give is GiveTx in a transaction of its own, and then Done. It is a shared write: the row is this replica's.
func (t *Entry) Give(ctx context.Context, rest time.Duration) error {
	defer t.Done()
	if t.of == nil {
		return nil
	}
	return t.of.db.WriteShared(ctx, func(ctx context.Context, tx *sql.Tx) error { return t.GiveTx(ctx, tx, rest) })
}

// Done lets others of this process have the entry. One that was not given back is by GiveForgotten. It may be called twice.
func (t *Entry) Done() {
	if t.of != nil {
		t.end()
	}
}

// GiveForgotten gives back what this incarnation has by the database, and this process knew nothing of at this call and the one before:
// the transaction that was to give it back failed.
func (e *Entries) GiveForgotten(ctx context.Context) error {
	if e.db.Alone() {
		return nil
	}
	rows, err := db.All(ctx, e.db.Read(), "list the entries in hand", func(row db.Row) (k key, err error) {
		err = row.Scan(&k.account, &k.subject)
		return k, err
	}, `SELECT account_id, subject_id FROM entries WHERE owner = ?`, e.self.Incarnation())
	if err != nil {
		return err
	}
	e.mu.Lock()
	before := e.forgotten
	e.forgotten = map[key]bool{}
	var twice []key
	for _, k := range rows {
		switch {
		case e.held[k]:
		case before[k]:
			twice = append(twice, k)
		default:
			e.forgotten[k] = true
		}
	}
	e.mu.Unlock()
	for _, k := range twice {
		taken, err := e.Take(ctx, k.account, k.subject)
		if err == nil {
			err = taken.Give(ctx, 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// FreeTx gives back what dead incarnations had, within tx. It rests, for the catalog may still be at work on what they wrote.
func FreeTx(ctx context.Context, tx *sql.Tx, dead []int64) error {
	list, args := db.In(dead)
	if _, err := tx.ExecContext(ctx, `DELETE FROM entries WHERE owner = 0 AND free_at <= now_ms()`); err != nil {
		return fmt.Errorf("forget rested list entries: %w", err)
	}
	if _, err := tx.ExecContext(ctx, `UPDATE entries SET owner = 0, free_at = now_ms() + ? WHERE owner <> 0 AND owner IN `+list,
		append([]any{replica.Rest.Milliseconds()}, args...)...); err != nil {
		return fmt.Errorf("give back list entries: %w", err)
	}
	return nil
}
