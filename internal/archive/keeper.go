package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"watchmark/internal/archive/dump"
	"watchmark/internal/archive/fetch"
	"watchmark/internal/bell"
	"watchmark/internal/task"
)

const (
	// TaskKind is the kind of the tasks of imports.
	TaskKind = "archive_import"
	// MaxDump is the largest zip that is taken, in bytes; real ones have 0.45 GB.
	MaxDump = 2 << 30

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
	bell bell.Bell

	mu       sync.Mutex
	progress Progress // of the import that runs, or ran last
	last     attempt
	tried    bool // an import was tried since the archive was switched on or the service began
}

// NewKeeper is a Keeper that does nothing until Run.
func NewKeeper(c KeeperConfig) *Keeper {
	k := &Keeper{KeeperConfig: c, bell: bell.New()}
	k.last = k.readState()
	return k
}

// Kick has the Keeper look at the settings anew.
func (k *Keeper) Kick() { k.bell.Ring() }

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
		k.bell.Wait(ctx, wait)
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
		k.Log.Info("the offline archive is in use", "version", info.Version, "subjects", info.Subjects, "episodes", info.Episodes)
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

// Update starts the import of the newest dump, even if it is the one in use when force
// is set. While an import runs, that one's task is answered.
func (k *Keeper) Update(force bool) (*task.Task, error) {
	t, err := k.start(func(ctx context.Context, tell func(Progress)) (Outcome, error) {
		return k.update(ctx, tell, k.source(), wish{again: force})
	})
	if errors.Is(err, task.ErrRunning) {
		return t, nil
	}
	return t, err
}

// wish is what an update may do that it does not do by itself.
type wish struct {
	again   bool // import the version in use once more
	smaller bool // import a dump that holds much less than the archive in use
}

// ImportFile starts the import of a dump in a file, which is closed and removed at the
// end. It returns ErrBusy while an import runs.
func (k *Keeper) ImportFile(file *os.File, allowSmaller bool) (*task.Task, error) {
	t, err := k.start(func(ctx context.Context, tell func(Progress)) (Outcome, error) {
		defer k.Discard(file)
		info, err := file.Stat()
		if err != nil {
			return Failed, fmt.Errorf("read the upload: %w", err)
		}
		return k.take(ctx, tell, k.Archive.Import, Dump{Data: file, Size: info.Size(), AllowSmaller: allowSmaller})
	})
	if errors.Is(err, task.ErrRunning) {
		err = ErrBusy
	}
	if err != nil {
		k.Discard(file)
		return nil, err
	}
	return t, nil
}

// Fetch imports a dump at once, outside of the service: the newest one, or what is at an
// address, which may be that of a pointer file (ending .json) or of a zip. force imports
// it even if it is in use already, or holds much less than the archive in use.
func (k *Keeper) Fetch(ctx context.Context, address string, force bool, tell func(Progress)) (outcome Outcome, err error) {
	cfg := k.source()
	switch {
	case address == "":
		return k.update(ctx, tell, cfg, wish{again: force, smaller: force})
	case strings.HasSuffix(address, ".json"):
		cfg.PointerURL = address
		return k.update(ctx, tell, cfg, wish{again: force, smaller: force})
	}
	release, err := k.Archive.hold()
	if err != nil {
		return Failed, err
	}
	defer func() { err = errors.Join(err, release()) }()
	k.Archive.removeAll(fetchedPrefix) // of a command that was killed
	file, err := k.newFile(fetchedPrefix)
	if err != nil {
		return Failed, err
	}
	defer k.Discard(file)
	tell(Progress{Phase: Fetching})
	size, err := fetch.To(ctx, cfg, address, file, func(done, total int64) {
		tell(Progress{Phase: Fetching, Done: done, Total: total})
	})
	if err != nil {
		return Failed, err
	}
	return k.take(ctx, tell, k.Archive.importHeld, Dump{Data: file, Size: size, AllowSmaller: force})
}

// NewUpload is an empty file in the archive's folder for ImportFile. An error wraps
// ErrNoSpace when there is too little room on the disk.
func (k *Keeper) NewUpload() (*os.File, error) { return k.newFile(uploadPrefix) }

func (k *Keeper) newFile(prefix string) (*os.File, error) {
	if err := os.MkdirAll(k.Archive.dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the archive's folder: %w", err)
	}
	if err := fetch.CheckSpace(k.Archive.dir, k.FreeMB()); err != nil {
		return nil, err
	}
	return os.CreateTemp(k.Archive.dir, prefix+"*.part")
}

// Discard closes and removes an upload.
func (k *Keeper) Discard(file *os.File) {
	_ = file.Close() // nothing of it is needed any more
	k.Archive.remove(file.Name())
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

// source is where the settings say that dumps come from.
func (k *Keeper) source() fetch.Config {
	cfg := k.Source()
	cfg.Dir, cfg.MaxSize, cfg.Log = k.Archive.dir, MaxDump, k.Log
	return cfg
}

// update fetches and imports the newest dump.
func (k *Keeper) update(ctx context.Context, tell func(Progress), cfg fetch.Config, w wish) (outcome Outcome, err error) {
	if err := fetch.CheckSpace(k.Archive.dir, k.FreeMB()); err != nil {
		if errors.Is(err, ErrNoSpace) {
			return Skipped, err
		}
		return Failed, err
	}
	unlock, err := k.Archive.hold()
	if err != nil {
		return Failed, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	tell(Progress{Phase: Fetching})
	release, err := fetch.Latest(ctx, cfg)
	if err != nil {
		return Failed, err
	}
	last, has := k.Archive.Info()
	digest := strings.TrimPrefix(release.Digest, "sha256:")
	id := release.Version + " " + digest
	k.mu.Lock()
	refused := k.last.Refused
	k.mu.Unlock()
	switch {
	case has && !w.again && (last.Version == release.Version || digest != "" && last.Digest == digest):
		return UpToDate, nil
	case has && !w.smaller && float64(release.Size) < leastBytes*float64(last.DumpSize):
		return Failed, fmt.Errorf("%w (%d bytes are announced, before there were %d)", ErrSmaller, release.Size, last.DumpSize)
	case refused.Dump == id && !w.again:
		return Failed, errors.New(refused.Why) // the same dump would be the same again
	}
	k.Log.InfoContext(ctx, "a dump is fetched", "version", release.Version, "bytes", release.Size)
	path, err := fetch.Download(ctx, cfg, release, func(done, total int64) {
		tell(Progress{Phase: Fetching, Done: done, Total: total})
	})
	if errors.Is(err, ErrNoSpace) {
		return Skipped, err
	}
	if err != nil {
		return Failed, err
	}
	outcome, err = k.takeFile(ctx, tell, path, Dump{Size: release.Size, Version: release.Version, Digest: digest, AllowSmaller: w.smaller})
	var unusable *dump.Error
	if errors.As(err, &unusable) || errors.Is(err, ErrSmaller) {
		k.mu.Lock()
		k.last.Refused = refusal{id, err.Error()}
		k.mu.Unlock()
	}
	if ctx.Err() == nil {
		err = errors.Join(err, fetch.Remove(path))
	}
	return outcome, err
}

// takeFile imports the dump at path, in a folder that is held.
func (k *Keeper) takeFile(ctx context.Context, tell func(Progress), path string, d Dump) (Outcome, error) {
	file, err := os.Open(path)
	if err != nil {
		return Failed, fmt.Errorf("open the dump: %w", err)
	}
	defer func() { _ = file.Close() }() // opened for reading: nothing can be lost
	d.Data = file
	return k.take(ctx, tell, k.Archive.importHeld, d)
}

// take imports a dump and tells of each phase.
func (k *Keeper) take(ctx context.Context, tell func(Progress), do func(context.Context, Dump, func(Progress)) (Info, error), d Dump) (Outcome, error) {
	phase := Phase("")
	_, err := do(ctx, d, func(p Progress) {
		if p.Phase != phase {
			phase = p.Phase
			k.Log.InfoContext(ctx, "import of the offline archive", "phase", phase)
		}
		tell(p)
	})
	if err != nil {
		return Failed, err
	}
	return Imported, nil
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
