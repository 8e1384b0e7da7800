package auth

import (
	"context"
	"database/sql"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/listen"
	"watchmark/internal/platform/reason"
)

// LockedError is returned when there were too many attempts to sign in or set up:
// by this address, with this name, in this browser, or by everybody together.
type LockedError struct {
	// RetryAfter is when to come back, in whole seconds, at least one.
	RetryAfter time.Duration
}

// Error tells how long to wait.
func (e *LockedError) Error() string { return e.Reason().Text }

// Reason tells how long to wait.
func (e *LockedError) Reason() reason.Reason {
	if e.RetryAfter > 2*time.Minute {
		return lockedForMinutes.With(int((e.RetryAfter + time.Minute - 1) / time.Minute))
	}
	return lockedForSeconds.With(int(e.RetryAfter / time.Second))
}

// All doors together take a burst of attempts, then one each half second: people
// never notice it, and a crowd of guessing addresses cannot keep the processor busy.
const (
	burst     = 20
	knockPace = 500 * time.Millisecond
)

// maxTracked bounds how many addresses and names are known; the one quiet for longest goes first.
const maxTracked = 4096

// door counts failed attempts by address, by name, and by browser where that is known, for all replicas together.
type door struct {
	db        *db.DB
	box       Sealer
	everybody *rate.Limiter // of this replica
}

func newDoor(d *db.DB, box Sealer) *door {
	return &door{d, box, rate.NewLimiter(rate.Every(knockPace), burst)}
}

// addressKey is what is counted of an address: an IPv6 caller owns a whole /64.
func addressKey(addr netip.Addr) string {
	if network := listen.Subscriber(addr); network.IsValid() && !network.IsSingleIP() {
		return "address " + network.String()
	}
	return "address " + addr.Unmap().String()
}

// nameKey is what is counted of a name, however its letters are written; unknown names count too, or a lock would tell which exist.
func nameKey(name string) string { return "name " + strings.ToLower(name[:min(len(name), 4*maxName)]) }

// hashes are what the table keeps of keys: people type passwords where their name belongs.
func hashes(keys []string) []string {
	all := make([]string, len(keys))
	for i, key := range keys {
		all[i] = digest(key)
	}
	return all
}

// whoPlace is where a key is kept, for the seal.
func whoPlace(hash string) string { return "door_failures/" + hash }

// knock lets an attempt in, counted as failed until forgive is called: of many attempts
// at the same moment, at whatever replica, no more than allowed get through. Otherwise it returns a *LockedError;
// a refused attempt does not prolong the lock, and writes nothing. own is for keys that strangers cannot have: it does not wait
// for everybody.
func (d *door) knock(ctx context.Context, p Policy, own bool, keys ...string) error {
	if err := d.refuse(ctx, d.db.Read(), p, keys); err != nil {
		return err
	}
	if !own && !d.everybody.AllowN(time.Now(), 1) {
		return &LockedError{RetryAfter: time.Second}
	}
	return d.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := d.refuse(ctx, tx, p, keys); err != nil {
			return err
		}
		var now int64
		if err := tx.QueryRowContext(ctx, `SELECT now_ms()`).Scan(&now); err != nil {
			return fmt.Errorf("read the database's clock: %w", err)
		}
		fresh := now - p.LockoutTime.Milliseconds()
		for i, hash := range hashes(keys) {
			_, err := tx.ExecContext(ctx, `INSERT INTO door_failures (key, who, count, last) VALUES (?, ?, 1, ?) ON CONFLICT (key) DO UPDATE
				SET count = CASE WHEN door_failures.last <= CAST(? AS BIGINT) THEN 1 ELSE door_failures.count + 1 END, last = excluded.last`,
				hash, d.box.Seal(keys[i], whoPlace(hash)), now, fresh)
			if err != nil {
				return fmt.Errorf("count an attempt to sign in: %w", err)
			}
		}
		return makeRoom(ctx, tx, fresh)
	})
}

// refuse returns a *LockedError while one of keys had too many attempts.
func (d *door) refuse(ctx context.Context, from db.Querier, p Policy, keys []string) error {
	list, args := db.In(hashes(keys))
	var wait int64
	err := from.QueryRowContext(ctx, `SELECT COALESCE(MAX(last + CAST(? AS BIGINT) - now_ms()), 0) FROM door_failures WHERE count >= ? AND key IN `+list,
		append([]any{p.LockoutTime.Milliseconds(), max(1, p.LockoutAttempts)}, args...)...).Scan(&wait)
	if err != nil {
		return fmt.Errorf("look for failed attempts to sign in: %w", err)
	}
	if wait > 0 {
		return &LockedError{RetryAfter: (time.Duration(wait)*time.Millisecond + time.Second - 1).Truncate(time.Second)}
	}
	return nil
}

// makeRoom removes what is over, and the oldest of too many.
func makeRoom(ctx context.Context, tx *sql.Tx, fresh int64) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM door_failures WHERE last <= ?`, fresh); err != nil {
		return fmt.Errorf("forget old attempts to sign in: %w", err)
	}
	var kept int
	if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM door_failures`).Scan(&kept); err != nil {
		return fmt.Errorf("count attempts to sign in: %w", err)
	}
	if kept <= maxTracked {
		return nil
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM door_failures WHERE key IN (SELECT key FROM door_failures ORDER BY last, key LIMIT CAST(? AS BIGINT))`, kept-maxTracked)
	if err != nil {
		return fmt.Errorf("forget the oldest attempts to sign in: %w", err)
	}
	return nil
}

// locked is whom the door keeps out longest of those it keeps out, as addressKey, nameKey
// and KnownBrowser name them, and until when; empty when nobody.
func (d *door) locked(ctx context.Context, p Policy) (key string, until time.Time, err error) {
	var longest int64
	err = db.Each(ctx, d.db.Read(), "look for whom the door keeps out", func(row db.Row) error {
		var hash, sealed string
		var left int64
		if err := row.Scan(&hash, &sealed, &left); err != nil {
			return err
		}
		who, err := d.box.Open(sealed, whoPlace(hash))
		if err != nil || left < longest {
			return nil //nolint:nilerr // of another key: nobody can tell who it is
		}
		if left > longest || who < key { // an attempt counts for address and name alike
			key, longest = who, left
		}
		return nil
	}, `SELECT key, who, last + CAST(? AS BIGINT) - now FROM (SELECT key, who, count, last, (SELECT now_ms()) AS now FROM door_failures) AS failures
		WHERE count >= ? AND last + CAST(? AS BIGINT) > now`, p.LockoutTime.Milliseconds(), max(1, p.LockoutAttempts), p.LockoutTime.Milliseconds())
	if err != nil || longest == 0 {
		return "", time.Time{}, err
	}
	return key, time.Now().Add(time.Duration(longest) * time.Millisecond), nil
}

// withdraw takes one attempt of each key back.
func (d *door) withdraw(ctx context.Context, keys ...string) error {
	return d.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		list, args := db.In(hashes(keys))
		if _, err := tx.ExecContext(ctx, `UPDATE door_failures SET count = count - 1 WHERE key IN `+list, args...); err != nil {
			return fmt.Errorf("take an attempt to sign in back: %w", err)
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM door_failures WHERE count <= 0 AND key IN `+list, args...); err != nil {
			return fmt.Errorf("take an attempt to sign in back: %w", err)
		}
		return nil
	})
}

// forgiveAll forgets every failure within tx.
func forgiveAll(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM door_failures`); err != nil {
		return fmt.Errorf("forget failed attempts to sign in: %w", err)
	}
	return nil
}

// forgive forgets the failures of the keys within tx.
func (d *door) forgive(ctx context.Context, tx *sql.Tx, keys ...string) error {
	if len(keys) == 0 {
		return nil
	}
	list, args := db.In(hashes(keys))
	if _, err := tx.ExecContext(ctx, `DELETE FROM door_failures WHERE key IN `+list, args...); err != nil {
		return fmt.Errorf("forget failed attempts to sign in: %w", err)
	}
	return nil
}
