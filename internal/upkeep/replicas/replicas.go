// Package replicas tells how the database stands, the replicas that work on it, and what they may send to Bangumi.
package replicas

import (
	"context"
	"time"

	"watchmark/internal/catalog/budget"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/replica"
)

// State is how a replica stands.
type State string

// The states.
const (
	Live State = "live"
	// Silent: it was not heard for its life, and is evicted soon.
	Silent State = "silent"
	Gone   State = "gone"
)

// Replica is one of the processes that work on the database.
type Replica struct {
	Name string `json:"name" example:"berlin-1-k3jx2a9q"`
	Self bool   `json:"self" doc:"Whether it is the one that answers."`
	// State and LostAt: a replica that stops leaves at once, so one that is gone was lost.
	State     State      `json:"state" enum:"live,silent,gone" doc:"silent: it was not heard for half a minute. gone: others took over what it had in hand."`
	StartedAt time.Time  `json:"started_at"`
	LostAt    *time.Time `json:"lost_at" doc:"When it was lost; null for one that is live."`
	Program   string     `json:"program" doc:"The version of its program." example:"1.0.0"`
	Schema    int64      `json:"schema_version" doc:"The newest version of the database that its program knows."`
	Reachable bool       `json:"reachable" doc:"Whether it reaches Bangumi."`
	Egress    string     `json:"egress" doc:"Its way out (catalog.egress)." example:"shared"`
	// ClockOffset is in milliseconds.
	ClockOffset   int64 `json:"clock_offset_ms" doc:"How far its clock is ahead of the database's, in milliseconds."`
	OtherSettings bool  `json:"other_settings" doc:"Whether its settings file and environment set something else than those of the replica that answers."`
}

// Database is where everything is stored.
type Database struct {
	Engine  string  `json:"engine" example:"PostgreSQL"`
	Version string  `json:"version" example:"15.8"`
	Shared  bool    `json:"shared" doc:"Whether several replicas can work on it."`
	Schema  int64   `json:"schema_version" doc:"The newest version that the program of the replica that answers knows."`
	Floor   int64   `json:"schema_floor" doc:"The oldest version whose program may run."`
	Bytes   int64   `json:"bytes" doc:"Its size; 0 when that cannot be told."`
	Answer  float64 `json:"answer_ms" doc:"How long it took to answer, in milliseconds."`
}

// Overview is all of it.
type Overview struct {
	Database Database          `json:"database"`
	Replicas []Replica         `json:"replicas" doc:"Those that live, and those that were lost within a day."`
	Budgets  []budget.Standing `json:"budgets" doc:"What may be sent to Bangumi."`
}

// Source is what an Overview is made of.
type Source struct {
	DB     *db.DB
	Self   *replica.Self
	Budget *budget.Budget
}

// Overview looks how everything stands now.
func (s Source) Overview(ctx context.Context) (o Overview, err error) {
	start := time.Now()
	if o.Database.Engine, o.Database.Version, err = s.DB.Describe(ctx); err != nil {
		return Overview{}, err
	}
	o.Database.Answer = float64(time.Since(start).Microseconds()) / 1000
	o.Database.Shared, o.Database.Schema, o.Database.Bytes = !s.DB.Alone(), s.DB.SchemaVersion(), s.DB.Size()
	if o.Database.Floor, err = s.DB.SchemaFloor(ctx); err != nil {
		return Overview{}, err
	}
	if o.Replicas, err = s.list(ctx); err != nil {
		return Overview{}, err
	}
	o.Budgets, err = s.Budget.Standings(ctx)
	return o, err
}

func (s Source) list(ctx context.Context) ([]Replica, error) {
	found, err := replica.List(ctx, s.DB)
	if err != nil {
		return nil, err
	}
	own, digest := s.Self.Incarnation(), ""
	for _, r := range found {
		if r.Incarnation == own {
			digest = r.SettingsDigest
		}
	}
	all := []Replica{}
	for _, r := range found {
		one := Replica{
			Name: r.Name, Self: r.Incarnation == own, State: Live, StartedAt: r.StartedAt, Program: r.Program, Schema: r.Schema, Reachable: r.Reachable,
			Egress: r.Egress, ClockOffset: r.ClockOffset.Milliseconds(), OtherSettings: r.Live && r.SettingsDigest != digest,
		}
		// A process alone never tells that it lives: nobody asks.
		if !s.DB.Alone() && !r.Heard {
			one.State, one.LostAt = Silent, &r.LeaseUntil
			if !r.Live {
				one.State = Gone
			}
		}
		all = append(all, one)
	}
	return all, nil
}
