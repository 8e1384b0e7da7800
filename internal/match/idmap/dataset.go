package idmap

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/task"
)

const (
	// TaskKind is the kind of the tasks of refreshes.
	TaskKind = "dataset_refresh"

	// retryAfter is when a refresh that failed is tried again.
	retryAfter = time.Hour
	// longestRefresh bounds a refresh, its download over a slow line included.
	longestRefresh = 30 * time.Minute
)

// Outcome is how a refresh ended.
type Outcome string

// The outcomes.
const (
	Refreshed Outcome = "refreshed"
	UpToDate  Outcome = "up_to_date" // there was no newer table
	Failed    Outcome = "failed"     // it is tried again in an hour
	Refused   Outcome = "refused"    // the fetched table may not serve
	Stopped   Outcome = "cancelled"
)

// attempt is what is remembered of the last refresh.
type attempt struct {
	At      time.Time     `json:"at"`
	Outcome Outcome       `json:"outcome"`
	Error   reason.Reason `json:"error,omitzero"`
	// Moved is what a table that was refused leads elsewhere.
	Moved []Moved `json:"moved,omitempty"`
}

// of is an attempt that ended with an outcome, and err when it failed.
func (a attempt) of(outcome Outcome, err error) attempt {
	a.Outcome, a.Error, a.Moved = outcome, reason.Of(err), nil
	var refusal *Refusal
	if errors.As(err, &refusal) {
		a.Moved = refusal.Moved
	}
	return a
}

// Config is what a Dataset is made of; every field must be set.
type Config struct {
	// Folder is the data folder, which exists.
	Folder string
	HTTP   *httpx.Client
	// Schedule has the Job, which the caller adds.
	Schedule *schedule.Registry
	// Enabled, URL and Plan are asked whenever they are needed, so that changed settings hold at once.
	Enabled func() bool
	URL     func() string
	Plan    func() schedule.Plan
	// Lists are asked for with the table.
	Lists func() []*Seasons
	Log   *slog.Logger
}

// Dataset gives out the table in use and keeps it up to date: by schedule, and an hour
// after a failure. Until a new table was read whole, the old one serves.
type Dataset struct {
	Config

	// loading is held while the table in use is made or changed.
	loading sync.Mutex
	table   *Table // nil while it was not asked for, or is switched off

	// refreshing is held while it is updated, by its own job or with the lists.
	refreshing sync.Mutex

	mu   sync.Mutex
	last attempt
}

// NewDataset is a Dataset; its Job refreshes the table by schedule.
func NewDataset(c Config) *Dataset {
	d := &Dataset{Config: c}
	d.last = d.readState()
	return d
}

// Table is the table in use; nil, and why, when there is none to ask. The first call loads
// it, which takes some 50 ms. Whoever asks several things of it keeps it meanwhile, so that they are of one state.
func (d *Dataset) Table() (*Table, reason.Reason) {
	table, why := d.ownTable()
	if table == nil {
		return nil, why
	}
	joined := *table
	joined.Lists = d.Lists()
	return &joined, reason.Reason{}
}

// ownTable is the table in use without the lists.
func (d *Dataset) ownTable() (*Table, reason.Reason) {
	d.loading.Lock()
	defer d.loading.Unlock()
	if !d.Enabled() {
		d.table = nil // nobody needs its memory
		return nil, switchedOff.With()
	}
	if d.table == nil {
		table, err := d.load()
		if err != nil { // tests hold that the snapshot can be read
			d.Log.Error("the id table in the program cannot be used", "error", err)
			return nil, unusable.With()
		}
		d.table = table
		debug.FreeOSMemory() // else the service would keep for long what only the loading needed
	}
	return d.table, reason.Reason{}
}

// refuse keeps that the table fetched by an earlier version of the program may not serve.
func (d *Dataset) refuse(err error) {
	d.Log.Warn("the fetched id table is not used, the one in the program serves", "error", err)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last = d.last.of(Refused, err)
}

// use takes a table into use.
func (d *Dataset) use(table *Table) {
	d.loading.Lock()
	defer d.loading.Unlock()
	d.table = table
}

// Job fetches the newest table, and loads the one in use before somebody waits for it.
func (d *Dataset) Job() schedule.Job {
	return schedule.Job{
		Name: TaskKind, Own: true, Run: d.refresh, Busy: ErrRunning,
		Plan: func() schedule.Plan {
			if !d.Enabled() {
				return schedule.Plan{}
			}
			return d.Plan()
		},
		Ready: func(context.Context) error {
			if !d.Enabled() {
				return ErrOff
			}
			return nil
		},
		Look: func(ctx context.Context) (bool, error) {
			if table, _ := d.ownTable(); table == nil {
				d.Schedule.Cancel(ctx, TaskKind)
			}
			return false, nil
		},
		Last: func(context.Context) (time.Time, error) {
			d.mu.Lock()
			defer d.mu.Unlock()
			return d.last.At, nil
		},
	}
}

// Refresh starts a task that fetches the newest table. It returns ErrOff while the table
// is switched off, and ErrRunning while a refresh runs.
func (d *Dataset) Refresh(ctx context.Context) (*task.Task, error) {
	return d.Schedule.Start(ctx, TaskKind)
}

// refresh is the work of the job.
func (d *Dataset) refresh(ctx context.Context, run *schedule.Run) error {
	bounded, cancel := context.WithTimeout(ctx, longestRefresh)
	defer cancel()
	defer debug.FreeOSMemory() // as after loading
	err := d.update(bounded, ctx, run.Task)
	if err != nil && ctx.Err() == nil && !errors.As(err, new(*Refusal)) {
		run.Again(retryAfter)
	}
	return err
}

// update fetches the newest table within bounded and keeps how that ended. An end of ctx means that it was cancelled.
func (d *Dataset) update(bounded, ctx context.Context, t *task.Task) error {
	d.refreshing.Lock()
	defer d.refreshing.Unlock()
	outcome, err := d.fetch(bounded, t)
	if err != nil && ctx.Err() != nil {
		outcome = Stopped
	}
	d.end(ctx, t, outcome, err)
	return err
}

// end keeps how a refresh ended.
func (d *Dataset) end(ctx context.Context, t *task.Task, outcome Outcome, err error) {
	last := attempt{At: time.Now().UTC()}.of(outcome, err)
	status := d.inUse()
	d.mu.Lock()
	if outcome != Stopped { // a service that was stopped in the middle begins anew
		d.last = last
	}
	d.mu.Unlock()
	switch outcome {
	case Refreshed:
		d.Log.InfoContext(ctx, "the id table was refreshed", "version", status.Version, "entries", status.Entries)
	case UpToDate:
		d.Log.InfoContext(ctx, "there is no newer id table", "version", status.Version)
	case Stopped:
		d.Log.InfoContext(ctx, "the refresh of the id table was cancelled")
	}
	t.SetResult(struct {
		Outcome Outcome       `json:"outcome"`
		Reason  string        `json:"reason,omitempty"`
		Value   reason.Reason `json:"reason_value,omitzero"`
		InUse
	}{outcome, last.Error.Text, last.Error, status})
	if outcome == Stopped {
		return
	}
	if err := d.writeState(last); err != nil {
		d.Log.Warn("the outcome of the refresh cannot be kept", "error", err)
	}
}

// Made is where the table in use is from.
type Made string

// The places.
const (
	FromSnapshot Made = "snapshot" // it is part of the program
	FromDownload Made = "download"
)

// InUse says which table is in use. It is empty while none is.
type InUse struct {
	Version   string    `json:"version" doc:"The release of bangumi-data, or the beginning of the document's SHA-256 where that is not known."`
	Entries   int       `json:"entries" doc:"How many entries the table has."`
	Made      Made      `json:"made" enum:",snapshot,download" doc:"Whether it came with the program or was fetched."`
	FetchedAt time.Time `json:"fetched_at,omitzero" doc:"When it was fetched; not there for the one of the program."`
}

// inUse says which table is in use now.
func (d *Dataset) inUse() InUse {
	table, _ := d.ownTable()
	if table == nil {
		return InUse{}
	}
	made := FromDownload
	if table.head.FetchedAt.IsZero() {
		made = FromSnapshot
	}
	return InUse{table.Version(), table.Len(), made, table.head.FetchedAt}
}

// Status is where the id table stands.
type Status struct {
	Enabled bool `json:"enabled"`
	InUse
	LastOutcome Outcome       `json:"last_outcome" enum:",refreshed,up_to_date,failed,refused" doc:"How the last refresh ended; empty before the first. refused is a table of which too many ids lead to other entries than in the one of the program: it is not used, and the next one is looked at by schedule."`
	LastError   reason.Reason `json:"last_error_value,omitzero" doc:"Why the last refresh failed; empty when it did not. The table in use stays."`
	Moved       []Moved       `json:"moved" doc:"What the table that was refused leads elsewhere, by kind; empty when none was."`
	LastRun     time.Time     `json:"last_run,omitzero" doc:"When that was; not there before the first."`
	Refreshing  bool          `json:"refreshing"`
	TaskID      int64         `json:"task_id" doc:"The refresh that runs, or ran last; 0 when there was none since the start."`
	// NextRun is nil while nothing is planned.
	NextRun *time.Time `json:"next_run"`
}

// MarshalJSON has the text of the last error beside it.
func (s Status) MarshalJSON() ([]byte, error) {
	type plain Status
	return reason.MarshalBeside((*plain)(&s))
}

// Status is where the id table stands now.
func (d *Dataset) Status() Status {
	job := d.Schedule.Now(TaskKind)
	s := Status{Enabled: d.Enabled(), TaskID: job.TaskID, Refreshing: job.Running, NextRun: job.NextRun}
	// In this order, what a refresh that has ended is said to have brought is there.
	d.mu.Lock()
	s.LastOutcome, s.LastRun, s.LastError, s.Moved = d.last.Outcome, d.last.At, d.last.Error, append([]Moved{}, d.last.Moved...)
	d.mu.Unlock()
	s.InUse = d.inUse()
	return s
}
