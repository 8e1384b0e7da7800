package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/disk"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/task"
)

// TaskKind is the kind of the tasks that make a backup.
const TaskKind = "backup"

const (
	// retryAfter is when a backup that failed is tried again.
	retryAfter = time.Hour
	// reserve is how many bytes a backup leaves free on the disk.
	reserve = 256 << 20
)

// File is a backup in the folder.
type File struct {
	Name   string    `json:"name" example:"watchmark-20260314-041700.backup"`
	MadeAt time.Time `json:"made_at"`
	Size   int64     `json:"size" doc:"In bytes."`
}

// Status is how backups stand.
type Status struct {
	Dir     string     `json:"dir" doc:"The folder of the backups, on the machine of the service."`
	Keep    int        `json:"keep" doc:"How many are kept."`
	NextRun *time.Time `json:"next_run" doc:"When the next one is made; null while none is planned."`
	Running bool       `json:"running"`
	TaskID  int64      `json:"task_id" doc:"The backup that is being made, or was made last; 0 when there was none since the start."`
	// LastRun is that of the last try, else of the newest file.
	LastRun   time.Time     `json:"last_run,omitzero" doc:"When one was last tried; not there before the first."`
	LastError reason.Reason `json:"last_error_value,omitzero" doc:"Why that failed; empty when it did not."`
	Items     []File        `json:"items" doc:"The backups in the folder, newest first."`
	// OnServer is set where the Service makes none.
	OnServer bool `json:"on_server" doc:"The data is in PostgreSQL: no backup is made by itself, nor here. Use PostgreSQL's own tools, such as pg_dump, or the command watchmark backup FILE."`
	// KeyMissing is set where the key is not a file, so that no backup holds it.
	KeyMissing bool `json:"key_missing" doc:"The key that seals tokens is given by the environment, so backups do not hold it: keep it elsewhere too."`
}

// MarshalJSON has the text of the last error beside it, as last_error.
func (s Status) MarshalJSON() ([]byte, error) {
	type plain Status
	return reason.MarshalBeside((*plain)(&s))
}

// Config is what a Service is made of; every field must be set.
type Config struct {
	DataDir string
	// Dir is the folder of the backups, which is made when it is missing.
	Dir string
	// Keep and Plan are asked whenever they are needed.
	Keep func() int
	Plan func() schedule.Plan
	// OnServer says that the database is on a server, which has tools of its own for backups: the Service makes none.
	OnServer bool
	// KeyOutside says that the key is not a file of the data folder.
	KeyOutside bool
	// Schedule has the Job, which the caller adds.
	Schedule *schedule.Registry
	Log      *slog.Logger
}

// Service makes backups by schedule and on demand, and removes the oldest when there are
// more than are kept. One that was missed while the service was off is made at the start.
type Service struct {
	Config
}

// NewService is a Service; its Job makes backups by schedule.
func NewService(c Config) *Service { return &Service{Config: c} }

// Job makes a backup. Before it has run, the newest backup in the folder tells when one was made last.
func (k *Service) Job() schedule.Job {
	return schedule.Job{
		Name: TaskKind, Run: k.make, Busy: ErrRunning,
		Plan: func() schedule.Plan {
			if k.OnServer {
				return schedule.Plan{}
			}
			return k.Plan()
		},
		Ready: func(context.Context) error {
			if k.OnServer {
				return ErrOnServer
			}
			return nil
		},
		Last: func(context.Context) (time.Time, error) {
			files, err := k.list()
			if err != nil || len(files) == 0 {
				return time.Time{}, nil //nolint:nilerr // the run tells what is wrong with the folder
			}
			return files[0].MadeAt, nil
		},
	}
}

// Start starts a task that makes a backup now. It returns ErrRunning while one is made, and ErrOnServer.
func (k *Service) Start(ctx context.Context) (*task.Task, error) {
	return k.Schedule.Start(ctx, TaskKind)
}

// make is the work of the job.
func (k *Service) make(ctx context.Context, run *schedule.Run) error {
	defer debug.FreeOSMemory() // a copy goes through much memory, which nobody needs afterwards
	run.Progress(0, 1, copying.With())
	file, err := k.create(ctx)
	if err != nil {
		run.Again(retryAfter)
		return err
	}
	run.SetResult(file)
	run.Progress(1, 1, reason.Text(fmt.Sprintf("%s: %.1f MB", file.Name, float64(file.Size)/1e6)))
	k.Log.InfoContext(ctx, "a backup was made", "file", filepath.Join(k.Dir, file.Name), "bytes", file.Size)
	k.prune(ctx)
	return nil
}

// create makes one backup.
func (k *Service) create(ctx context.Context) (File, error) {
	if err := os.MkdirAll(k.Dir, 0o700); err != nil {
		return File{}, noFolder.With(err)
	}
	if err := k.checkSpace(); err != nil {
		return File{}, err
	}
	now := time.Now().Truncate(time.Second)
	for exists(filepath.Join(k.Dir, nameAt(now))) {
		now = now.Add(time.Second)
	}
	path := filepath.Join(k.Dir, nameAt(now))
	if _, err := Create(ctx, k.DataDir, path); err != nil {
		return File{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return File{}, notSeen.With(err)
	}
	return File{filepath.Base(path), now, info.Size()}, nil
}

// checkSpace returns ErrNoSpace when a backup as large as the database would leave too little.
func (k *Service) checkSpace() error {
	free, err := disk.Free(k.Dir)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return spaceUnknown.With(k.Dir, err)
	}
	var need uint64 = reserve
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(filepath.Join(k.DataDir, db.FileName+suffix)); err == nil {
			need += uint64(info.Size())
		}
	}
	if free < need {
		return spaceLacks.With(ErrNoSpace, k.Dir, free>>20, need>>20)
	}
	return nil
}

// prune removes the oldest backups, when there are more than are kept.
func (k *Service) prune(ctx context.Context) {
	files, err := k.list()
	if err == nil {
		for _, old := range files[min(len(files), k.Keep()):] {
			err = errors.Join(err, os.Remove(filepath.Join(k.Dir, old.Name)))
		}
	}
	if err != nil {
		k.Log.WarnContext(ctx, "old backups cannot be removed", "error", err)
	}
}

// Clean removes what a backup left that was interrupted.
func (k *Service) Clean() {
	left, _ := filepath.Glob(filepath.Join(k.Dir, ".watchmark-*.backup.*")) // the pattern is right
	for _, file := range left {
		_ = os.Remove(file) // the next start tries again
	}
}

// timeForm is how a backup's name tells when it was made, in local time.
const timeForm = "20060102-150405"

var namePattern = regexp.MustCompile(`^watchmark-(\d{8}-\d{6})\.backup$`)

func nameAt(t time.Time) string { return "watchmark-" + t.Format(timeForm) + ".backup" }

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// list are the backups in the folder, newest first. Files of other names are nobody's business.
func (k *Service) list() ([]File, error) {
	entries, err := os.ReadDir(k.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return []File{}, nil
	}
	if err != nil {
		return []File{}, notListed.With(err)
	}
	files := []File{}
	for _, entry := range entries {
		made, is := madeAt(entry.Name())
		if !is || !entry.Type().IsRegular() {
			continue
		}
		info, err := entry.Info()
		if err != nil { // it was removed meanwhile
			continue
		}
		files = append(files, File{entry.Name(), made, info.Size()})
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(b.Name, a.Name) })
	return files, nil
}

// madeAt is when the backup of a name was made; false for what is the name of none.
func madeAt(name string) (time.Time, bool) {
	parts := namePattern.FindStringSubmatch(name)
	if parts == nil {
		return time.Time{}, false
	}
	t, err := time.ParseInLocation(timeForm, parts[1], time.Local)
	return t, err == nil
}

// Open opens a backup for reading; the caller closes it. It returns ErrNotFound.
func (k *Service) Open(name string) (*os.File, error) {
	if _, is := madeAt(name); !is {
		return nil, ErrNotFound
	}
	file, err := os.Open(filepath.Join(k.Dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotFound
	}
	return file, err
}

// Delete removes a backup. It returns ErrNotFound.
func (k *Service) Delete(name string) error {
	if _, is := madeAt(name); !is {
		return ErrNotFound
	}
	err := os.Remove(filepath.Join(k.Dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNotFound
	}
	if err != nil {
		return notRemoved.With(err)
	}
	return nil
}

// Status is how backups stand now.
func (k *Service) Status() Status {
	job := k.Schedule.Now(TaskKind)
	s := Status{Dir: k.Dir, Keep: k.Keep(), OnServer: k.OnServer, KeyMissing: k.KeyOutside && !k.OnServer, TaskID: job.TaskID, Running: job.Running, NextRun: job.NextRun, LastError: job.LastProblem}
	// In this order, a backup that was made is listed.
	files, err := k.list()
	s.Items = files
	if err != nil && s.LastError.IsZero() {
		s.LastError = reason.Of(err)
	}
	switch {
	case job.LastRun != nil:
		s.LastRun = *job.LastRun
	case len(files) > 0:
		s.LastRun = files[0].MadeAt.UTC()
	}
	return s
}
