package replica

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"watchmark/internal/platform/db"
)

// errGone is the end of an incarnation that others have evicted.
var errGone = errors.New("this replica was evicted")

// Run tells until ctx ends that the replica lives, evicts those that are not heard, and joins anew when it was evicted itself. On
// a database that is one process's alone there is nothing to do.
func (s *Self) Run(ctx context.Context) {
	if s.DB.Alone() {
		return
	}
	failing := false
	for ctx.Err() == nil {
		lapsed, err := s.tell(ctx)
		if errors.Is(err, errGone) {
			s.Log.WarnContext(ctx, "this replica was taken for dead: what it had in hand is left to others, and it joins anew", "replica", s.Name, "incarnation", s.Incarnation())
			err = s.rejoin(ctx)
		}
		if err == nil && lapsed > 0 && time.Since(s.steady) >= s.life() {
			err = s.evict(ctx)
		}
		rest := s.beat()
		if err != nil {
			if !failing && ctx.Err() == nil {
				s.Log.ErrorContext(ctx, "cannot tell the database that this replica lives, trying again", "error", err)
			}
			rest = s.again()
		} else if failing {
			s.Log.InfoContext(ctx, "the database is told again that this replica lives")
		}
		failing = err != nil
		s.wake.Wait(ctx, rest)
	}
}

// tell tells that the replica lives, and answers how many others were not heard for their life. The error is errGone after an eviction, and where
// the row is another replica's: a server that was put back to an earlier state gives numbers anew.
func (s *Self) tell(ctx context.Context) (lapsed int, err error) {
	m := s.Member()
	about := s.about()
	var reaching int
	began := time.Now()
	err = s.DB.WriteAside(ctx, func(ctx context.Context, tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `UPDATE replicas SET lease_until = now_ms() + ?, address = ?, reachable = ?, egress = ?, clock_offset = CAST(? AS BIGINT) - now_ms(), settings_digest = ?
			WHERE incarnation = ? AND state = 'live' AND replica = ?
			RETURNING (SELECT COUNT(*) FROM replicas o WHERE o.state = 'live' AND o.incarnation <> ? AND o.lease_until <= now_ms()),
				(SELECT COUNT(*) FROM replicas o WHERE o.state = 'live' AND o.incarnation <> ? AND o.lease_until > now_ms() AND o.reachable = 1)`,
			s.life().Milliseconds(), about.Address, about.Reachable, about.Egress, began.UnixMilli(), about.SettingsDigest,
			m.Incarnation, s.Name, m.Incarnation, m.Incarnation).Scan(&lapsed, &reaching)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return 0, errGone
	}
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	s.others = reaching > 0
	s.mu.Unlock()
	m.mu.Lock()
	if s.steady.IsZero() || began.Sub(m.heard) > s.gap() {
		s.steady = began
	}
	m.heard = began
	m.mu.Unlock()
	return lapsed, nil
}

// evict takes for dead who was not heard for a whole life. Whoever does must have been heard for one itself: after an outage of
// the database the first to look would evict all others.
func (s *Self) evict(ctx context.Context) error {
	var dead []int64
	var names []string
	err := s.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		dead, names = nil, nil
		err := db.Each(ctx, tx, "look for replicas that are not heard", func(row db.Row) error {
			var incarnation int64
			var name string
			err := row.Scan(&incarnation, &name)
			dead, names = append(dead, incarnation), append(names, name)
			return err
		}, `UPDATE replicas SET state = 'dead' WHERE state = 'live' AND lease_until <= now_ms() AND incarnation <> ? RETURNING incarnation, replica`, s.Incarnation())
		if err != nil || len(dead) == 0 {
			return err
		}
		if err := s.free(ctx, tx, dead); err != nil || s.Told == nil {
			return err
		}
		return s.Told(ctx, tx, names)
	})
	if errors.Is(err, db.ErrEvicted) {
		return nil // the next beat finds out
	}
	if err != nil {
		return err
	}
	for i, incarnation := range dead {
		s.Evictions.Add(1)
		s.Log.WarnContext(ctx, "a replica was not heard and is taken for dead: what it had in hand is done by others", "replica", names[i], "incarnation", incarnation)
	}
	return nil
}

// rejoin ends the present incarnation and begins another. That waits for no lock and no fence: the old one stands until then.
func (s *Self) rejoin(ctx context.Context) error {
	m := s.Member()
	select {
	case <-m.ended:
	default:
		close(m.ended)
	}
	began := time.Now()
	var incarnation int64
	err := s.DB.WriteAside(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		incarnation, err = s.insert(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	s.steady = began
	s.become(incarnation, began)
	return nil
}
