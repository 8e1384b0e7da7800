package archive

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"watchmark/internal/catalog/archive/fetch"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/task"
)

const (
	// TaskKind is the kind of the tasks of imports.
	TaskKind = "archive_import"

	// retryAfter is when an import that failed is tried again, and one that was skipped
	// while there is no archive at all.
	retryAfter = time.Hour
	// pollEvery is how often it is looked whether another process has imported, and
	// pollIdle while the archive is off.
	pollEvery = 2 * time.Second
	pollIdle  = time.Minute
	// longestImport bounds an import, its download over a slow line included.
	longestImport = 12 * time.Hour

	stateName = "state.json"
)

// Outcome is how an import ended.
type Outcome string

// The outcomes.
const (
	Imported Outcome = "imported"
	UpToDate Outcome = "up_to_date" // there was no newer dump
	Skipped  Outcome = "skipped"    // the disk has too little room
	Failed   Outcome = "failed"     // it is tried again in an hour
	Stopped  Outcome = "cancelled"
)

// attempt is what is remembered of the last import, in state.json.
type attempt struct {
	At      time.Time     `json:"at"`
	Outcome Outcome       `json:"outcome"`
	Error   reason.Reason `json:"error,omitzero"`
	// Refused is the dump that was fetched last and could not be used, so that it is not
	// fetched again; zero when there is none.
	Refused refusal `json:"refused,omitzero"`
}

// refusal is a dump that could not be used.
type refusal struct {
	Dump string        `json:"dump"` // its version and digest
	Why  reason.Reason `json:"why"`
}

// ImporterConfig is what an Importer is made of; every field must be set.
type ImporterConfig struct {
	Archive *Archive
	// Schedule has the Job, which the caller adds.
	Schedule *schedule.Registry
	// Enabled, Plan, Source and FreeMB are asked whenever they are needed, so that
	// changed settings hold at once. Source needs only HTTP, PointerURL and Mirrors; FreeMB is how many MiB of disk must be
	// free for an import.
	Enabled func() bool
	Plan    func() schedule.Plan
	Source  func() fetch.Config
	FreeMB  func() int
	Log     *slog.Logger
}

// Importer keeps the archive up to date: it imports the first dump as soon as the archive
// is switched on, looks for a newer one by schedule, tries again an hour after a
// failure, and takes up what another process has imported.
type Importer struct {
	ImporterConfig
	wake schedule.Signal

	mu       sync.Mutex
	progress Progress // of the import that runs, or ran last
	last     attempt
	// tried is set when an import was tried since the archive was switched on, which was seen when enabled is set.
	tried, enabled bool
}

// NewImporter is an Importer; its Job imports newer dumps by schedule, and Follow takes up what others import.
func NewImporter(c ImporterConfig) *Importer {
	k := &Importer{ImporterConfig: c, wake: schedule.NewSignal()}
	k.last = k.readState()
	return k
}

// Job imports the newest dump by schedule, and at once when the archive was switched on and there is none.
func (k *Importer) Job() schedule.Job {
	return schedule.Job{
		Name: TaskKind, Own: true, Look: k.wanted, Run: k.run(k.newest(false)),
		Plan: func() schedule.Plan {
			if !k.Enabled() {
				return schedule.Plan{}
			}
			return k.Plan()
		},
		Last: func(context.Context) (time.Time, error) {
			k.mu.Lock()
			defer k.mu.Unlock()
			return k.last.At, nil
		},
	}
}

// wanted reports that somebody has just switched the archive on and waits for it.
func (k *Importer) wanted(context.Context) (due bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	enabled := k.Enabled()
	if enabled && !k.enabled {
		k.tried = false
	}
	k.enabled = enabled
	return enabled && !k.tried && !k.Archive.Ready(), nil
}

// Kick has Follow look now.
func (k *Importer) Kick() { k.wake.Raise() }

// Follow takes up what another process imports, until ctx ends.
func (k *Importer) Follow(ctx context.Context) {
	for said := ""; ctx.Err() == nil; {
		said = k.refresh(ctx, said)
		wait := pollIdle
		if k.Enabled() {
			wait = pollEvery
		}
		k.wake.Wait(ctx, wait)
	}
}

// refresh takes up what is on the disk, and tells the log when that is something else
// than what it said before.
func (k *Importer) refresh(ctx context.Context, said string) string {
	err := k.Archive.Refresh(ctx)
	info, ok := k.Archive.Info()
	switch {
	case err != nil:
		if err.Error() != said && ctx.Err() == nil {
			k.Log.Warn("the offline data cannot be used", "error", err)
		}
		return err.Error()
	case ok && info.Version != said:
		k.Log.Info("the offline data is ready", "version", info.Version, "subjects", info.Subjects, "episodes", info.Episodes)
	}
	return info.Version
}

// Status is where the archive stands.
type Status struct {
	Enabled bool `json:"enabled"`
	// LastError is why the last import did not come to its end; empty when it did.
	LastError        reason.Reason `json:"last_error_value,omitzero" doc:"Why the last import failed or was skipped; empty when it did not."`
	LastOutcome      Outcome       `json:"last_outcome" enum:",imported,up_to_date,skipped,failed,cancelled" doc:"How the last import ended; empty before the first."`
	LastRun          time.Time     `json:"last_run,omitzero" doc:"When that was; not there before the first."`
	ImportInProgress bool          `json:"import_in_progress"`
	CurrentProgress  *Progress     `json:"current_progress" doc:"How far the import is; null while none runs."`
	TaskID           int64         `json:"task_id" doc:"The import that runs, or ran last; 0 when there was none since the start."`
	Info
	Size       int64 `json:"size" doc:"Bytes that the archive takes on the disk."`
	IndexReady bool  `json:"index_ready" doc:"Whether titles can be looked up; until then Bangumi is asked."`
	// NextRun is nil while nothing is planned.
	NextRun *time.Time `json:"next_run"`
}

// MarshalJSON has the text of the last error beside it.
func (s Status) MarshalJSON() ([]byte, error) {
	type plain Status
	return reason.MarshalBeside((*plain)(&s))
}

// Status is where the archive stands now.
func (k *Importer) Status() Status {
	job := k.Schedule.Now(TaskKind)
	s := Status{Enabled: k.Enabled(), TaskID: job.TaskID, ImportInProgress: job.Running, NextRun: job.NextRun}
	// In this order, what an import that has ended is said to have brought is there.
	k.mu.Lock()
	s.LastOutcome, s.LastRun, s.LastError = k.last.Outcome, k.last.At.UTC(), k.last.Error
	if s.ImportInProgress {
		progress := k.progress
		s.CurrentProgress = &progress
	}
	k.mu.Unlock()
	s.Info, s.IndexReady = k.Archive.Info()
	s.Size = k.Archive.Size()
	return s
}

// run is the work of an import as a run of the job.
func (k *Importer) run(work func(ctx context.Context, tell func(Progress)) (Outcome, error)) func(context.Context, *schedule.Run) error {
	return func(ctx context.Context, run *schedule.Run) error {
		k.mu.Lock()
		k.tried, k.progress = true, Progress{}
		k.mu.Unlock()
		defer k.Kick()
		ctx, cancel := context.WithTimeout(ctx, longestImport)
		defer cancel()
		outcome, err := work(ctx, func(p Progress) {
			k.mu.Lock()
			k.progress = p
			k.mu.Unlock()
			run.Progress(int(p.Done), int(p.Total), reason.Text(string(p.Phase)))
		})
		switch {
		case errors.Is(ctx.Err(), context.Canceled) && outcome == Failed:
			outcome = Stopped
		case errors.Is(err, ErrBusy):
			run.Again(pollIdle)
		case outcome == Failed, outcome == Skipped && !k.Archive.Ready():
			run.Again(retryAfter)
		}
		k.end(ctx, run.Task, outcome, err)
		if outcome == Skipped {
			return nil
		}
		return err
	}
}

// end keeps how an import ended.
func (k *Importer) end(ctx context.Context, t *task.Task, outcome Outcome, err error) {
	last := attempt{At: time.Now(), Outcome: outcome}
	if err != nil {
		last.Error = reason.Of(err)
	}
	info, _ := k.Archive.Info()
	switch outcome {
	case Imported:
		k.Log.InfoContext(ctx, "the offline data was imported", "version", info.Version, "subjects", info.Subjects, "episodes", info.Episodes, "relations", info.Relations, "titles", info.Titles)
	case UpToDate:
		k.Log.InfoContext(ctx, "there is no newer dump", "version", info.Version)
	case Skipped:
		k.Log.WarnContext(ctx, "the import of the offline data is skipped", "reason", last.Error)
	case Stopped:
		k.Log.InfoContext(ctx, "the import of the offline data was cancelled")
	}
	t.SetResult(struct {
		Outcome Outcome       `json:"outcome"`
		Reason  string        `json:"reason,omitempty"`
		Value   reason.Reason `json:"reason_value,omitzero"`
		Info
	}{outcome, last.Error.Text, last.Error, info})
	busy := errors.Is(err, ErrBusy) // what somebody else imports is taken up
	k.mu.Lock()
	if outcome != Imported {
		last.Refused = k.last.Refused
	}
	if !busy {
		k.last = last
	}
	k.mu.Unlock()
	if outcome != Stopped && !busy { // a service that was stopped in the middle begins anew
		if err := k.writeState(last); err != nil {
			k.Log.Warn("the outcome of the import cannot be kept", "error", err)
		}
	}
}

func (k *Importer) readState() attempt {
	var last attempt
	text, err := os.ReadFile(filepath.Join(k.Archive.dir, stateName))
	if err != nil || json.Unmarshal(text, &last) != nil {
		return attempt{} // nothing is known of an earlier import, which only means an earlier next one
	}
	return last
}

func (k *Importer) writeState(last attempt) error {
	text, err := json.Marshal(last)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(k.Archive.dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(k.Archive.dir, stateName), text, 0o600)
}
