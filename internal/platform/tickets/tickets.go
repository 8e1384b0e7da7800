// Package tickets keeps what somebody comes back for within a time: a sign-in that a browser was sent away for, a code that a
// person types in. They may come back to another replica.
//
// What it promises: a ticket has a name that is stored as a hash, and a value that is stored sealed; it is good for a time by the
// database's clock; of those that take it at the same moment one gets it; beyond a number of a kind the oldest make room.
package tickets

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"watchmark/internal/platform/db"
)

// Sealer keeps a value in the database; *secret.Box is one.
type Sealer interface {
	Seal(plain, place string) string
	Open(sealed, place string) (string, error)
}

// Kind is one kind of tickets, whose values are kept as JSON. It may be used by several goroutines and replicas.
type Kind[T any] struct {
	db   *db.DB
	box  Sealer
	name string
	life time.Duration
	most int
}

// New are the tickets of a kind, good for life, most of them at once.
func New[T any](d *db.DB, box Sealer, kind string, life time.Duration, most int) *Kind[T] {
	return &Kind[T]{d, box, kind, life, most}
}

// hash is what the table keeps of a name.
func (k *Kind[T]) hash(name string) string {
	sum := sha256.Sum256([]byte(k.name + "\x00" + name))
	return hex.EncodeToString(sum[:])
}

// place is where a value is kept, for the seal.
func place(hash string) string { return "tickets/" + hash }

// Give keeps a value and answers its name, which cannot be guessed.
func (k *Kind[T]) Give(ctx context.Context, value T) (name string, err error) {
	name = rand.Text()
	return name, k.Put(ctx, name, value)
}

// Put keeps a value under a name, in place of the one before.
func (k *Kind[T]) Put(ctx context.Context, name string, value T) error {
	plain, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode a ticket: %w", err)
	}
	hash := k.hash(name)
	sealed := k.box.Seal(string(plain), place(hash))
	return k.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := k.makeRoom(ctx, tx, hash); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO tickets (hash, kind, sealed, until) VALUES (?, ?, ?, now_ms() + CAST(? AS BIGINT))
			ON CONFLICT (hash) DO UPDATE SET sealed = excluded.sealed, until = excluded.until, wrong = 0`, hash, k.name, sealed, k.life.Milliseconds())
		if err != nil {
			return fmt.Errorf("keep a ticket: %w", err)
		}
		return nil
	})
}

// makeRoom removes what is over, of every kind, and the oldest of this kind beside that with a hash, so that one more has room.
func (k *Kind[T]) makeRoom(ctx context.Context, tx *sql.Tx, hash string) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM tickets WHERE until <= now_ms()`); err != nil {
		return fmt.Errorf("remove tickets that are over: %w", err)
	}
	var others int
	if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM tickets WHERE kind = ? AND hash <> ?`, k.name, hash).Scan(&others); err != nil {
		return fmt.Errorf("count tickets: %w", err)
	}
	if others < k.most {
		return nil
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM tickets WHERE hash IN (SELECT hash FROM tickets WHERE kind = ? AND hash <> ? ORDER BY until, hash LIMIT CAST(? AS BIGINT))`,
		k.name, hash, others-k.most+1)
	if err != nil {
		return fmt.Errorf("make room for a ticket: %w", err)
	}
	return nil
}

// Find is the value of a name, which stays; false when there is none, or when it is too old.
func (k *Kind[T]) Find(ctx context.Context, name string) (value T, found bool, err error) {
	value, _, found, err = k.find(ctx, name)
	return value, found, err
}

func (k *Kind[T]) find(ctx context.Context, name string) (value T, sealed string, found bool, err error) {
	hash := k.hash(name)
	err = k.db.Read().QueryRowContext(ctx, `SELECT sealed FROM tickets WHERE hash = ? AND until > now_ms()`, hash).Scan(&sealed)
	if errors.Is(err, sql.ErrNoRows) {
		return value, "", false, nil
	}
	if err != nil {
		return value, "", false, fmt.Errorf("look for a ticket: %w", err)
	}
	value, found = k.open(sealed, hash)
	return value, sealed, found, nil
}

// open is a stored value; false for one that another key sealed or another program stored.
func (k *Kind[T]) open(sealed, hash string) (value T, ok bool) {
	plain, err := k.box.Open(sealed, place(hash))
	return value, err == nil && json.Unmarshal([]byte(plain), &value) == nil
}

// Take is the value of a name, which is good no more; false when there is none, when it is too old, or when mine
// refuses it. What mine refuses stays for whom it is.
func (k *Kind[T]) Take(ctx context.Context, name string, mine func(T) bool) (value T, found bool, err error) {
	var none T
	value, sealed, found, err := k.find(ctx, name)
	if err != nil || !found || !mine(value) {
		return none, false, err
	}
	// Shared: one statement, and a row is deleted once.
	err = k.db.WriteShared(ctx, func(ctx context.Context, tx *sql.Tx) error {
		found, err = affected(tx.ExecContext(ctx, `DELETE FROM tickets WHERE hash = ? AND sealed = ? AND until > now_ms()`, k.hash(name), sealed))
		return err
	})
	if err != nil {
		return none, false, fmt.Errorf("take a ticket: %w", err)
	}
	if !found {
		return none, false, nil
	}
	return value, true, nil
}

// Drop removes the value of a name, if there is one.
func (k *Kind[T]) Drop(ctx context.Context, name string) error {
	_, found, err := k.Find(ctx, name)
	if err != nil || !found {
		return err // what is over goes with the next ticket
	}
	// Shared: one statement.
	return k.db.WriteShared(ctx, func(ctx context.Context, tx *sql.Tx) error { return k.DropTx(ctx, tx, name) })
}

// DropTx is Drop within tx.
func (k *Kind[T]) DropTx(ctx context.Context, tx *sql.Tx, name string) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM tickets WHERE hash = ?`, k.hash(name)); err != nil {
		return fmt.Errorf("remove a ticket: %w", err)
	}
	return nil
}

// Clear removes all of the kind.
func (k *Kind[T]) Clear(ctx context.Context) error { return k.db.Write(ctx, k.ClearTx) }

// ClearTx is Clear within tx.
func (k *Kind[T]) ClearTx(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM tickets WHERE kind = ?`, k.name); err != nil {
		return fmt.Errorf("remove tickets: %w", err)
	}
	return nil
}

// All are the values that are good, in no order.
func (k *Kind[T]) All(ctx context.Context) ([]T, error) {
	all := []T{}
	err := db.Each(ctx, k.db.Read(), "list tickets", func(row db.Row) error {
		var hash, sealed string
		if err := row.Scan(&hash, &sealed); err != nil {
			return err
		}
		if value, ok := k.open(sealed, hash); ok {
			all = append(all, value)
		}
		return nil
	}, `SELECT hash, sealed FROM tickets WHERE kind = ? AND until > now_ms()`, k.name)
	return all, err
}

// Try counts a try at the value of a name, which may fail, and answers how many that makes; false when there is no value, or when
// it had most of them.
func (k *Kind[T]) Try(ctx context.Context, name string, most int) (tries int, found bool, err error) {
	// Shared: one statement, which locks its row.
	err = k.db.WriteShared(ctx, func(ctx context.Context, tx *sql.Tx) error {
		tries, found = 0, false
		err := tx.QueryRowContext(ctx, `UPDATE tickets SET wrong = wrong + 1 WHERE hash = ? AND until > now_ms() AND wrong < CAST(? AS BIGINT) RETURNING wrong`,
			k.hash(name), most).Scan(&tries)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		found = err == nil
		return err
	})
	if err != nil {
		return 0, false, fmt.Errorf("count a try: %w", err)
	}
	return tries, found, nil
}

// Withdraw takes a try back that said nothing.
func (k *Kind[T]) Withdraw(ctx context.Context, name string) error {
	// Shared: one statement.
	return k.db.WriteShared(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE tickets SET wrong = wrong - 1 WHERE hash = ? AND wrong > 0`, k.hash(name)); err != nil {
			return fmt.Errorf("take a try back: %w", err)
		}
		return nil
	})
}

func affected(result sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	rows, err := result.RowsAffected()
	return rows > 0, err
}
