// Package replica says who works on the database. Each start of the service is an incarnation, a number, and what it has in hand is
// owned by that number: records, list entries, jobs, tasks, deliveries.
//
// On a database that others may use, too, an incarnation shows every five seconds that it lives. One that was not heard for its life is
// evicted by another: one transaction, which no other write runs beside, marks it dead and frees all it owned. From then on its writes
// are refused (db.ErrEvicted), whatever it does, so what it had in hand is lost to it, and it joins anew as another incarnation. All times are
// the database's.
//
// A database in a folder has one process, by the folder's lock. There a start evicts whoever was before it, and no one beats.
package replica

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/metrics"
	"watchmark/internal/platform/schedule"
)

const (
	// Life is how long a replica counts as live after it was heard.
	Life = 30 * time.Second
	// Rest is how long what an evicted replica wrote to outside stays closed: a service that it wrote to may go on with that for a minute
	// without it (upstreams/catalog.md sections 4 and 12), and a replica that is started again evicts its former incarnation at once.
	Rest = time.Minute
	// remembered is how long the dead are listed.
	remembered = 24 * time.Hour
)

// lasting is a life, with what is made of it.
type lasting time.Duration

// life is as long as all.
func (l lasting) life() time.Duration { return time.Duration(l) }

// beat is how often a replica tells that it lives, again is when it does after a failure.
func (l lasting) beat() time.Duration  { return l.life() / 6 }
func (l lasting) again() time.Duration { return l.life() / 30 }

// gap is the longest time between two beats of a replica that is heard without a gap.
func (l lasting) gap() time.Duration { return l.life() / 2 }

// margin is what is left for what nobody has thought of.
func (l lasting) margin() time.Duration { return l.life() / 15 }

// Config is what a Self needs; About and Told may be nil.
type Config struct {
	DB *db.DB
	// Name is the same at each start of the same replica, and no other's: whoever joins evicts those of its name at once.
	Name string
	// Program is its version.
	Program string
	// About is asked at each beat.
	About func() About
	// Free gives back what dead incarnations own, within the transaction of their eviction. 0 is among them on a database that is one
	// process's alone: whoever was before there were incarnations.
	Free []func(ctx context.Context, tx *sql.Tx, dead []int64) error
	// Told is told within that transaction who was evicted because it was not heard.
	Told func(ctx context.Context, tx *sql.Tx, names []string) error
	Log  *slog.Logger
}

// About is what a replica tells of itself beside that it lives.
type About struct {
	Address, Egress, SettingsDigest string
	// Reachable is whether it reaches the catalog.
	Reachable bool
}

// Self is this process among the replicas.
type Self struct {
	Config
	// Evictions counts the replicas that this one evicted.
	Evictions metrics.Counter

	lasting
	wake schedule.Signal
	mu   sync.Mutex
	now  *Member
	next chan struct{} // closed when now is another
	// others is whether another live replica reaches the catalog, as of the last beat.
	others bool
	// steady is since when it is heard without a gap; only Run uses it.
	steady time.Time
}

// Member is this process as one incarnation.
type Member struct {
	Incarnation int64
	lasting
	alone bool
	ended chan struct{} // closed when it is one no more

	mu    sync.Mutex
	heard time.Time // when the last beat that the database took was sent
}

// Join makes this process a replica, and evicts those of before that are known to be gone: of its name, or all on a database that is one
// process's alone. On others Run must follow at once.
func Join(ctx context.Context, c Config) (*Self, error) {
	s := &Self{Config: c, lasting: lasting(Life), wake: schedule.NewSignal(), others: true}
	began := time.Now()
	var incarnation int64
	err := c.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		if incarnation, err = s.insert(ctx, tx); err != nil {
			return err
		}
		gone, err := db.Values[int64](ctx, tx, "look for former incarnations", `SELECT incarnation FROM replicas
			WHERE incarnation <> ? AND state = 'live' AND (replica = ? OR ?) ORDER BY incarnation`, incarnation, c.Name, c.DB.Alone())
		if err != nil {
			return err
		}
		if c.DB.Alone() {
			gone = append(gone, 0)
		}
		return s.free(ctx, tx, gone)
	})
	if err != nil {
		return nil, fmt.Errorf("join the replicas: %w", err)
	}
	s.become(incarnation, began)
	return s, nil
}

// insert adds the row of a new incarnation.
func (s *Self) insert(ctx context.Context, tx *sql.Tx) (incarnation int64, err error) {
	about := s.about()
	err = tx.QueryRowContext(ctx, `INSERT INTO replicas (replica, address, state, lease_until, started_at, program, schema, reachable, egress, clock_offset, settings_digest)
		VALUES (?, ?, 'live', now_ms() + ?, now_ms(), ?, ?, ?, ?, CAST(? AS BIGINT) - now_ms(), ?) RETURNING incarnation`,
		s.Name, about.Address, s.life().Milliseconds(), s.Program, s.DB.SchemaVersion(), about.Reachable, about.Egress, time.Now().UnixMilli(), about.SettingsDigest).Scan(&incarnation)
	return incarnation, err
}

func (s *Self) about() About {
	if s.About == nil {
		return About{Reachable: true}
	}
	return s.About()
}

// become is this incarnation from now on: writes of the one before are refused until then.
func (s *Self) become(incarnation int64, heard time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next != nil {
		close(s.next)
	}
	s.next = make(chan struct{})
	s.now = &Member{Incarnation: incarnation, lasting: s.lasting, alone: s.DB.Alone(), ended: make(chan struct{}), heard: heard}
	s.DB.Fence(incarnation)
}

// free gives back what the dead own, and forgets who is long dead.
func (s *Self) free(ctx context.Context, tx *sql.Tx, dead []int64) error {
	list, args := db.In(dead)
	if _, err := tx.ExecContext(ctx, `UPDATE replicas SET state = 'dead', lease_until = now_ms() WHERE incarnation IN `+list, args...); err != nil {
		return fmt.Errorf("evict replicas: %w", err)
	}
	until := remembered
	if s.DB.Alone() {
		until = 0
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM replicas WHERE state = 'dead' AND lease_until <= now_ms() - ?`, until.Milliseconds()); err != nil {
		return fmt.Errorf("forget dead replicas: %w", err)
	}
	if len(dead) == 0 {
		return nil
	}
	for _, free := range s.Free {
		if err := free(ctx, tx, dead); err != nil {
			return err
		}
	}
	return nil
}

// Member is this process as it is now. It may have ended; then another follows, unless the process leaves.
func (s *Self) Member() *Member {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Await is Member once there is one that has not ended; nil when ctx ends before.
func (s *Self) Await(ctx context.Context) *Member {
	for ctx.Err() == nil {
		s.mu.Lock()
		m, next := s.now, s.next
		s.mu.Unlock()
		select {
		case <-m.ended:
		default:
			return m
		}
		select {
		case <-next:
		case <-ctx.Done():
		}
	}
	return nil
}

// Incarnation is the number of the present one.
func (s *Self) Incarnation() int64 { return s.Member().Incarnation }

// Live reports whether it is live, as far as it knows.
func (s *Self) Live() bool { return s.Member().May(0) == nil }

// OthersReach reports whether another live replica reaches the catalog, as of the last beat.
func (s *Self) OthersReach() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.others && !s.now.alone
}

// Doubt has the replica look now whether it still is one: a write was refused.
func (s *Self) Doubt() { s.wake.Raise() }

// Ended is closed when this incarnation is over: what it had in hand is another's.
func (m *Member) Ended() <-chan struct{} { return m.ended }

// May returns ErrNotLive unless a request that takes timeout at most is over before others may take this incarnation for dead. The wall
// clock counts, too: the other one stands still while a machine sleeps.
func (m *Member) May(timeout time.Duration) error {
	if m.alone {
		return nil
	}
	select {
	case <-m.ended:
		return ErrNotLive
	default:
	}
	m.mu.Lock()
	heard := m.heard
	m.mu.Unlock()
	now := time.Now()
	if max(now.Sub(heard), now.Round(0).Sub(heard.Round(0)))+timeout+m.margin() >= m.life() {
		return ErrNotLive
	}
	return nil
}

// Leave gives back what this incarnation owns. Its writes are refused from then on.
func (s *Self) Leave(ctx context.Context) error {
	m := s.Member()
	s.mu.Lock()
	select {
	case <-m.ended:
	default:
		close(m.ended)
	}
	s.mu.Unlock()
	err := s.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := s.free(ctx, tx, []int64{m.Incarnation}); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM replicas WHERE incarnation = ?`, m.Incarnation)
		return err
	})
	if errors.Is(err, db.ErrEvicted) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("leave the replicas: %w", err)
	}
	return nil
}
