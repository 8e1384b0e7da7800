package backup

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/task"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/jobtest"
)

// newService keeps two backups, of a database without content, every day at 4:17.
func newService(t *testing.T) *Service {
	t.Helper()
	dir := t.TempDir()
	d := dbtest.OpenFile(t, dir)
	jobs, tasks, _ := jobtest.New(d, slog.New(slog.DiscardHandler))
	t.Cleanup(func() { _ = tasks.Stop(context.Background()) })
	k := NewService(Config{
		DataDir: dir, Dir: filepath.Join(dir, "backups"), Log: slog.New(slog.DiscardHandler), Keep: func() int { return 2 },
		Schedule: jobs, Plan: func() schedule.Plan { return schedule.Plan{Text: "17 4 * * *", Next: nightly} },
	})
	k.Schedule.Add(k.Job())
	return k
}

// nightly is 4:17 of the next night after a time.
func nightly(after time.Time) time.Time {
	next := time.Date(after.Year(), after.Month(), after.Day(), 4, 17, 0, 0, after.Location())
	if !next.After(after) {
		next = next.AddDate(0, 0, 1)
	}
	return next
}

// put writes a file into the folder of the backups.
func (k *Service) put(t *testing.T, name string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(k.Dir, 0o700), os.WriteFile(filepath.Join(k.Dir, name), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// TestNextRun is of a service that has not made a backup yet: what lies in the folder tells when one was made last.
func TestNextRun(t *testing.T) {
	at := func(day, hour int) time.Time { return time.Date(2026, 3, day, hour, 0, 0, 0, time.Local) }
	planned := func(day int) time.Time { return time.Date(2026, 3, day, 4, 17, 0, 0, time.Local) }
	for name, c := range map[string]struct {
		newest string
		failed bool // the first try
		want   time.Time
	}{
		"none yet":               {want: planned(15)},
		"made tonight":           {newest: "watchmark-20260314-041703.backup", want: planned(15)},
		"missed last night":      {newest: "watchmark-20260312-041703.backup", want: planned(13)},
		"failed":                 {newest: "watchmark-20260313-041703.backup", failed: true, want: at(14, 13)},
		"the clock was set back": {newest: "watchmark-20270101-041700.backup", want: planned(15)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(at(14, 12)))
				k := newService(t)
				if c.newest != "" {
					k.put(t, c.newest)
				}
				if c.failed {
					k.DataDir = filepath.Join(k.DataDir, "gone")
					run, err := k.Start(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					ended(run)
					synctest.Wait()
				}
				s := k.Status()
				if s.NextRun == nil || !s.NextRun.Equal(c.want) || c.failed != !s.LastError.IsZero() {
					t.Errorf("the next run is at %v, not %v (%s)", s.NextRun, c.want, s.LastError)
				}
			})
		})
	}
}

func TestOnlyBackupsAreTouched(t *testing.T) {
	k := newService(t)
	for _, name := range []string{"watchmark-20250101-041700.backup", "watchmark-20250102-041700.backup", "holiday.jpg", "watchmark-20250101.backup", ".watchmark-20250103-041700.backup.123"} {
		k.put(t, name)
	}
	k.Clean()
	made, err := k.create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	k.prune(t.Context())
	entries, err := os.ReadDir(k.Dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if len(names) != 4 || names[0] != "holiday.jpg" || names[1] != "watchmark-20250101.backup" || names[2] != "watchmark-20250102-041700.backup" || names[3] != made.Name {
		t.Errorf("there are %v", names)
	}
	if info, err := os.Stat(filepath.Join(k.Dir, made.Name)); err != nil || info.Mode().Perm() != 0o600 || info.Size() != made.Size {
		t.Errorf("%v, %v", info, err)
	}
	for _, name := range []string{"holiday.jpg", "../watchmark.db", "", "watchmark-20250101-041700.backup"} {
		if _, err := k.Open(name); !errors.Is(err, ErrNotFound) {
			t.Errorf("open %s: %v", name, err)
		}
		if err := k.Delete(name); !errors.Is(err, ErrNotFound) {
			t.Errorf("delete %s: %v", name, err)
		}
	}
}

// TestABackupThatPanicsIsNotTheLast: a backup can be made after one that a bug ended.
func TestABackupThatPanicsIsNotTheLast(t *testing.T) {
	k := newService(t)
	keep := k.Keep
	k.Keep = func() int { panic("a bug") }
	run, err := k.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s := ended(run); s.State != task.Failed {
		t.Fatalf("the task is %+v", s)
	}
	k.Keep = keep
	if run, err = k.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := ended(run); s.State != task.Done {
		t.Errorf("the task is %+v", s)
	}
}

// ended waits for the end of a task.
func ended(run *task.Task) task.Status {
	for {
		_, more := run.After(0)
		if s := run.Status(); s.State != task.Running {
			return s
		}
		<-more
	}
}

// TestARestoreThatWasInterruptedIsDoneAgain and keeps what the first one replaced.
func TestARestoreThatWasInterruptedIsDoneAgain(t *testing.T) {
	k := newService(t)
	write := func(dir, name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(k.DataDir, secret.KeyFile, "the key of the backup")
	made, err := k.create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := dbtest.OpenFile(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	// It came as far as the key.
	write(dir, secret.KeyFile, "the key of the backup")
	write(dir, secret.KeyFile+aside, "the key before")
	if _, err := Restore(t.Context(), dir, filepath.Join(k.Dir, made.Name)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{secret.KeyFile: "the key of the backup", secret.KeyFile + aside: "the key before"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s is %q (%v)", name, got, err)
		}
	}
}

// TestADamagedDatabaseReplacesNoBackup: the old ones may be the last that are whole.
func TestADamagedDatabaseReplacesNoBackup(t *testing.T) {
	k := newService(t)
	k.DataDir = t.TempDir()
	if err := os.WriteFile(filepath.Join(k.DataDir, db.FileName), []byte("SQLite format 3\x00 and then nothing of it"), 0o600); err != nil {
		t.Fatal(err)
	}
	k.put(t, "watchmark-20250101-041700.backup")
	k.put(t, "watchmark-20250102-041700.backup")
	if _, err := k.create(t.Context()); err == nil {
		t.Error("a backup is made of a damaged database")
	}
	files, err := k.list()
	left, _ := filepath.Glob(filepath.Join(k.Dir, ".*"))
	if err != nil || len(files) != 2 || len(left) != 0 {
		t.Errorf("there are %v and %v (%v)", files, left, err)
	}
	if err := os.RemoveAll(k.Dir); err != nil {
		t.Fatal(err)
	}
	if files, err := k.list(); err != nil || len(files) != 0 {
		t.Errorf("without a folder: %v, %v", files, err)
	}
}
