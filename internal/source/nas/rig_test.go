package nas_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/source/nas"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/jobtest"
	"watchmark/internal/testkit/nastest"
	"watchmark/internal/watch"
)

func TestMain(m *testing.M) {
	nastest.Main()
	os.Exit(m.Run())
}

// rig is a Reader over a real database, whose events are stored as the engine does.
type rig struct {
	*nas.Reader
	t   *testing.T
	dir string
	db  *db.DB
	log *bytes.Buffer

	tasks *task.Registry
	jobs  *schedule.Registry

	mu      sync.Mutex
	events  []watch.Event // what was taken, in order
	options nas.Options
	fails   error // what Take answers; nil works
}

func newRig(t *testing.T, path string) *rig {
	t.Helper()
	return newReplica(t, dbtest.Folder(t), path)
}

// newReplica is the rig of one of some replicas, which look for the library at path.
func newReplica(t *testing.T, dir, path string) *rig {
	t.Helper()
	r := &rig{t: t, dir: dir, log: &bytes.Buffer{}, options: nas.Options{
		Enabled: true, Path: path, User: nas.AllUsers, MinPercent: 85, Range: nas.All, Limit: 100,
	}}
	r.start()
	return r
}

// start makes the Reader on the folder, as a service that starts.
func (r *rig) start() {
	r.t.Helper()
	d := dbtest.OpenIn(r.t, r.dir)
	r.db = d
	log := slog.New(slog.NewTextHandler(r.log, nil))
	r.jobs, r.tasks, _ = jobtest.New(d, log)
	r.Reader = nas.NewReader(nas.Config{
		DB: d, Folder: r.dir, Take: r.take, Log: log, Schedule: r.jobs,
		Plan: func() schedule.Plan { return schedule.Every(time.Hour) },
		Options: func() nas.Options {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.options
		},
	})
	r.jobs.Add(r.Job())
}

// reads has r read the library at path in a test of its own, as if nothing had been taken before.
func (r *rig) reads(t *testing.T, path string) {
	r.t = t
	r.options.Path, r.events = path, nil
	r.exec(`DELETE FROM nas_plays`)
}

// set changes the settings and lets the Reader see them.
func (r *rig) set(change func(o *nas.Options)) {
	r.t.Helper()
	r.mu.Lock()
	change(&r.options)
	r.mu.Unlock()
	r.round()
}

// round is one look of the Reader at what is to be done.
func (r *rig) round() {
	r.t.Helper()
	if err := r.Round(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) exec(query string, args ...any) {
	r.t.Helper()
	err := r.db.Write(r.t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, query, args...)
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) take(ctx context.Context, events []watch.Event, also func(ctx context.Context, tx *sql.Tx, ids []int64) error) ([]int64, error) {
	if r.fails != nil {
		return nil, r.fails
	}
	var ids []int64
	err := r.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		ids = nil
		for _, e := range events {
			id, err := record.Insert(ctx, tx, e, false, time.Now())
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return also(ctx, tx, ids)
	})
	if err == nil {
		r.mu.Lock()
		r.events = append(r.events, events...)
		r.mu.Unlock()
	}
	return ids, err
}

// sync reads the library now and gives the counts; it must work.
func (r *rig) sync(m nas.Manual) nas.Counts {
	r.t.Helper()
	before := len(r.events)
	counts, ids, err := r.Sync(r.t.Context(), m)
	if err != nil {
		r.t.Fatal(err)
	}
	if got := len(r.events) - before; got != counts.Taken || len(ids) != counts.Taken {
		r.t.Fatalf("%d events and %d ids are told as %+v", got, len(ids), counts)
	}
	return counts
}

// titles are those of the events that were taken since the last call, with their numbers.
func (r *rig) titles() string {
	r.mu.Lock()
	events := r.events
	r.events = nil
	r.mu.Unlock()
	var all []string
	for _, e := range events {
		text := e.UserName + ": " + e.Title
		if e.Season != nil {
			text += fmt.Sprintf(" s%d", *e.Season)
		}
		if e.Episode != nil {
			text += fmt.Sprintf(" e%v", *e.Episode)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// expect checks what was taken since the last call.
func (r *rig) expect(want string) {
	r.t.Helper()
	if got := r.titles(); got != want {
		r.t.Fatalf("taken was %q, want %q", got, want)
	}
}

func (r *rig) status() nas.Status {
	r.t.Helper()
	s, err := r.Status(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// problem reads the library, which must fail, and checks kind and words.
func (r *rig) problem(kind nas.Kind, says ...string) {
	r.t.Helper()
	_, _, err := r.Sync(r.t.Context(), nas.Manual{Range: nas.All})
	var p *nas.Problem
	if !errors.As(err, &p) || p.Kind != kind {
		r.t.Fatalf("the error is %v, want a problem of kind %s", err, kind)
	}
	for _, text := range says {
		if !strings.Contains(p.Error(), text) {
			r.t.Errorf("the problem %q does not say %q", p, text)
		}
	}
}

// show adds a show with a season and n episodes, named as its guid with -1 and so on.
func show(l *nastest.Library, guid, title string, n int) {
	l.Item(guid, "TV", "", title, nastest.Columns{"original_title": "原" + title, "tmdb_id": 4711})
	l.Item(guid+"-s", "Season", guid, "第 1 季", nastest.Columns{"season_number": 1})
	for i := 1; i <= n; i++ {
		l.Item(fmt.Sprintf("%s-%d", guid, i), "Episode", guid+"-s", fmt.Sprintf("夜 %d", i), nastest.Columns{
			"season_number": 1, "episode_number": i, "original_title": "the episode's own", "air_date": fmt.Sprintf("2024-01-%02d", 9+i), "tmdb_id": 9000 + i})
	}
}

// sample is a library with the users mira and alex and a show of twelve episodes.
func sample(t *testing.T, without ...string) *nastest.Library {
	t.Helper()
	l := nastest.Create(t, t.TempDir(), without...)
	l.User("mira-guid", "mira")
	l.User("alex-guid", "alex")
	show(l, "lamp", "灯塔守望者", 12)
	return l
}

// ago is an update_time so long before now.
func ago(d time.Duration) int64 { return time.Now().Add(-d).UnixMilli() }

// foreign is what lies in the folder of a library: names, sizes, times and bytes.
func foreign(t *testing.T, folder string) string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s %d %v %x\n", e.Name(), info.Size(), info.ModTime(), content)
	}
	return all.String()
}
