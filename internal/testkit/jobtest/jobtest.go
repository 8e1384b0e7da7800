// Package jobtest makes the tasks, the schedule and the holds of a replica, for tests.
package jobtest

import (
	"log/slog"
	"sync/atomic"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/hold"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/task"
	"watchmark/internal/testkit/dbtest"
)

var incarnations atomic.Int64

// New are those of a replica that joins a database and never leaves.
func New(d *db.DB, log *slog.Logger) (*schedule.Registry, *task.Registry, *hold.Holds) {
	self := dbtest.Self(incarnations.Add(1))
	tasks, holds := task.New(d, self, log), hold.New(d, self, log)
	return schedule.New(d, holds, tasks, func() string { return "" }, log), tasks, holds
}
