package replica

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"watchmark/internal/platform/db"
)

// Replica is one in the list.
type Replica struct {
	Incarnation   int64
	Name, Program string
	About
	// Live is set until it is evicted, Heard while it is heard besides. LeaseUntil is until when it counts as such without a sign of
	// life; of a dead one, when it died.
	Live, Heard           bool
	LeaseUntil, StartedAt time.Time
	// Schema is the newest version of the database that its program knows.
	Schema int64
	// ClockOffset is how far its clock is ahead of the database's.
	ClockOffset time.Duration
}

// CountOn is a subquery for how many replicas live on an egress, which is its parameter, twice; on any when that is empty.
const CountOn = `(SELECT COUNT(*) FROM replicas WHERE state = 'live' AND (egress = ? OR ? = ''))`

// List tells of the replicas that live, and of those that were evicted within the last day, by name.
func List(ctx context.Context, d *db.DB) ([]Replica, error) {
	return db.All(ctx, d.Read(), "list replicas", func(row db.Row) (r Replica, err error) {
		var until, started, offset int64
		err = row.Scan(&r.Incarnation, &r.Name, &r.Address, &r.Live, &r.Heard, &until, &started, &r.Program, &r.Schema, &r.Reachable, &r.Egress, &offset, &r.SettingsDigest)
		r.LeaseUntil, r.StartedAt, r.ClockOffset = time.UnixMilli(until), time.UnixMilli(started), time.Duration(offset)*time.Millisecond
		return r, err
	}, `SELECT incarnation, replica, address, state = 'live', state = 'live' AND lease_until > now_ms(), lease_until, started_at, program, schema, reachable, egress, clock_offset, settings_digest
		FROM replicas ORDER BY replica, incarnation`)
}

// ForgetAll forgets all replicas, for who knows that none of them is there, and answers their incarnations.
func ForgetAll(ctx context.Context, tx *sql.Tx) ([]int64, error) {
	return db.Values[int64](ctx, tx, "forget the replicas", `DELETE FROM replicas RETURNING incarnation`)
}

// RequireTx is for who writes what older programs would do wrong, within a tx of DB.Write: from then on no program works on the database that
// does not know a schema version. It returns ErrOlder while a replica with such a program lives.
func RequireTx(ctx context.Context, tx *sql.Tx, schema int64) error {
	var older bool
	if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM replicas WHERE state = 'live' AND schema < ?)`, schema).Scan(&older); err != nil {
		return fmt.Errorf("look for replicas of an older version: %w", err)
	}
	if older {
		return ErrOlder
	}
	return db.RaiseFloor(ctx, tx, schema)
}
