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
	At      time.Time `json:"at"`
	Outcome Outcome   `json:"outcome"`
	Error   string    `json:"error,omitempty"`
	// Refused is the dump that was fetched last and could not be used, so that it is not
	// fetched again; zero when there is none.
	Refused refusal `json:"refused,omitzero"`
}

// refusal is a dump that could not be used.
type refusal struct {
	Dump string `json:"dump"` // its version and digest
	Why  string `json:"why"`
}

// KeeperConfig is what a Keeper is made of; every field must be set.
type KeeperConfig struct {
	Archive *Archive
	Tasks   *task.Registry
	// Enabled, Next, Source and FreeMB are asked whenever they are needed, so that
	// changed settings hold at once. Next is when the schedule is due after a time; Source needs
	// only HTTP, PointerURL and Mirrors; FreeMB is how many MiB of disk must be free for an import.
	Enabled func() bool
	Next    func(after time.Time) time.Time
	Source  func() fetch.Config
	FreeMB  func() int
	Log     *slog.Logger
}

// Keeper keeps the archive up to date: it imports the first dump as soon as the archive
// is switched on, looks for a newer one by schedule, tries again an hour after a
// failure, and takes up what another process has imported.
type Keeper struct {
	KeeperConfig
	wake schedule.Signal

	mu       sync.Mutex
	progress Progress // of the import that runs, or ran last
	last     attempt
	tried    bool // an import was tried since the archive was switched on or the service began
}

// NewKeeper is a Keeper that does nothing until Run.
func NewKeeper(c KeeperConfig) *Keeper {
	k := &Keeper{KeeperConfig: c, wake: schedule.NewSignal()}
	k.last = k.readState()
	return k
}

// Kick has the Keeper look at the settings anew.
func (k *Keeper) Kick() { k.wake.Raise() }

// Run works until ctx ends. Imports are tasks, which the registry stops.
func (k *Keeper) Run(ctx context.Context) {
	enabled, said := false, ""
	for ctx.Err() == nil {
		wait := pollIdle
		said = k.refresh(ctx, said)
		if !k.Enabled() {
			enabled = false
		} else {
			if !enabled {
				enabled = true
				k.mu.Lock()
				k.tried = false
				k.mu.Unlock()
			}
			wait = pollEvery
			if due := k.due(time.Now()); !due.IsZero() && !due.After(time.Now()) {
				if _, err := k.Update(false); err != nil {
					k.Log.Warn("the import of the offline archive does not start", "error", err)
				}
			} else if !due.IsZero() {
				wait = min(wait, time.Until(due))
			}
		}
		k.wake.Wait(ctx, wait)
	}
}

// refresh takes up what is on the disk, and tells the log when that is something else
// than what it said before.
func (k *Keeper) refresh(ctx context.Context, said string) string {
	err := k.Archive.Refresh(ctx)
	info, ok := k.Archive.Info()
	switch {
	case err != nil:
		if err.Error() != said && ctx.Err() == nil {
			k.Log.Warn("the offline archive cannot be used", "error", err)
		}
		return err.Error()
	case ok && info.Version != said:
		k.Log.Info("the offline archive is ready", "version", info.Version, "subjects", info.Subjects, "episodes", info.Episodes)
	}
	return info.Version
}

// due is when the next import begins by itself; zero is never.
func (k *Keeper) due(now time.Time) time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.Tasks.Runs(TaskKind):
		return k.Next(now)
	case !k.Archive.Ready() && !k.tried:
		return now // whoever has just switched it on waits for it
	case k.last.At.IsZero(), k.last.At.After(now): // never, or somebody has set the clock back
		return k.Next(now)
	case k.last.Outcome == Failed, k.last.Outcome == Skipped && !k.Archive.Ready():
		return k.last.At.Add(retryAfter)
	}
	return k.Next(k.last.At)
}

// NextRun is when the next import begins by itself; zero while the archive is off.
func (k *Keeper) NextRun() time.Time {
	if !k.Enabled() {
		return time.Time{}
	}
	return k.due(time.Now())
}

// Status is where the archive stands.
type Status struct {
	Enabled bool `json:"enabled"`
	// LastError is why the last import did not come to its end; empty when it did.
	LastError        string    `json:"last_error" doc:"Why the last import failed or was skipped; empty when it did not."`
	LastOutcome      Outcome   `json:"last_outcome" enum:",imported,up_to_date,skipped,failed,cancelled" doc:"How the last import ended; empty before the first."`
	LastRun          time.Time `json:"last_run,omitzero" doc:"When that was; not there before the first."`
	ImportInProgress bool      `json:"import_in_progress"`
	CurrentProgress  *Progress `json:"current_progress" doc:"How far the import is; null while none runs."`
	TaskID           int64     `json:"task_id" doc:"The import that runs, or ran last; 0 when there was none since the start."`
	Info
	Size       int64 `json:"size" doc:"Bytes that the archive takes on the disk."`
	IndexReady bool  `json:"index_ready" doc:"Whether titles can be looked up; until then the catalog is asked."`
	// NextRun is nil while nothing is planned.
	NextRun *time.Time `json:"next_run"`
}

// Status is where the archive stands now.
func (k *Keeper) Status() Status {
	s := Status{Enabled: k.Enabled()}
	if t, err := k.Tasks.Newest(TaskKind, 0); err == nil {
		s.TaskID, s.ImportInProgress = t.Status().ID, t.Status().State == task.Running
	}
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
	if next := k.NextRun(); !next.IsZero() {
		next = next.UTC()
		s.NextRun = &next
	}
	return s
}

// start begins a task; while one runs, it answers that one and task.ErrRunning.
func (k *Keeper) start(work func(ctx context.Context, tell func(Progress)) (Outcome, error)) (*task.Task, error) {
	return k.Tasks.StartAlone(TaskKind, func(ctx context.Context, t *task.Task) error {
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
			t.Progress(int(p.Done), int(p.Total), string(p.Phase))
		})
		if errors.Is(ctx.Err(), context.Canceled) && outcome == Failed {
			outcome = Stopped
		}
		k.end(ctx, t, outcome, err)
		if outcome == Skipped {
			return nil
		}
		return err
	})
}

// end keeps how an import ended.
func (k *Keeper) end(ctx context.Context, t *task.Task, outcome Outcome, err error) {
	last := attempt{At: time.Now(), Outcome: outcome}
	if err != nil {
		last.Error = err.Error()
	}
	info, _ := k.Archive.Info()
	switch outcome {
	case Imported:
		k.Log.InfoContext(ctx, "the offline archive was imported", "version", info.Version, "subjects", info.Subjects, "episodes", info.Episodes, "relations", info.Relations, "titles", info.Titles)
	case UpToDate:
		k.Log.InfoContext(ctx, "there is no newer dump", "version", info.Version)
	case Skipped:
		k.Log.WarnContext(ctx, "the import of the offline archive is skipped", "reason", last.Error)
	case Stopped:
		k.Log.InfoContext(ctx, "the import of the offline archive was cancelled")
	case Failed:
		k.Log.WarnContext(ctx, "the import of the offline archive failed", "error", last.Error, "next_try", last.At.Add(retryAfter).Format(time.RFC3339))
	}
	t.SetResult(struct {
		Outcome Outcome `json:"outcome"`
		Reason  string  `json:"reason,omitempty"`
		Info
	}{outcome, last.Error, info})
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

func (k *Keeper) readState() attempt {
	var last attempt
	text, err := os.ReadFile(filepath.Join(k.Archive.dir, stateName))
	if err != nil || json.Unmarshal(text, &last) != nil {
		return attempt{} // nothing is known of an earlier import, which only means an earlier next one
	}
	return last
}

func (k *Keeper) writeState(last attempt) error {
	text, err := json.Marshal(last)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(k.Archive.dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(k.Archive.dir, stateName), text, 0o600)
}
