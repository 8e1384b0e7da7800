package snapshot_test

import (
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/task"
	"watchmark/internal/testkit/jobtest"
	"watchmark/internal/upkeep/snapshot"
)

// While a person has a list read at one replica, the job of another one leaves it out.
func TestAListIsReadByOneReplicaAtATime(t *testing.T) {
	r := newRig(t)
	r.write(http.MethodPost, 0, `{"type":3}`)
	var services []*snapshot.Service
	var jobs []*schedule.Registry
	for range 2 {
		c, log := r.config, slog.New(slog.DiscardHandler)
		own, tasks, holds := jobtest.New(r.db, log)
		c.Tasks, c.Holds = tasks, holds
		s := snapshot.NewService(c)
		own.Add(s.Job())
		services, jobs = append(services, s), append(jobs, own)
	}
	var requests atomic.Int64
	reading, goOn := make(chan struct{}), make(chan struct{})
	first := sync.OnceFunc(func() { close(reading); <-goOn })
	hook := func(*http.Request) { requests.Add(1); first() }
	r.before.Store(&hook)
	ended := func(run *task.Task, err error) {
		t.Helper()
		must(t, err)
		for run.Status().State == task.Running {
			time.Sleep(5 * time.Millisecond)
		}
		if s := run.Status(); s.State != task.Done {
			t.Errorf("it ends as %+v", s)
		}
	}

	taken, err := services[0].Take(t.Context(), r.mira.ID)
	must(t, err)
	<-reading
	ended(jobs[1].Start(t.Context(), snapshot.JobName))
	if n := requests.Load(); n != 1 {
		t.Errorf("the other replica has sent %d requests", n-1)
	}
	close(goOn)
	ended(taken, nil)
	before := requests.Load()
	ended(jobs[1].Start(t.Context(), snapshot.JobName))
	if requests.Load() == before {
		t.Error("afterwards the other replica does not read it")
	}
}
