package tracker_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/hold"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/source/preview"
	"watchmark/internal/source/tracker"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/jobtest"
	"watchmark/internal/testkit/logtest"
	"watchmark/internal/testkit/memnet"
	"watchmark/internal/testkit/trackertest"
	"watchmark/internal/watch"
)

const (
	mira      = "mira@home.example"
	alex      = "alex@home.example"
	webClient = "web-client-of-the-tracker"
	ourApp    = "app-of-the-house"
	appSecret = "secret-of-the-app-of-the-house"
	callback  = "https://app.home.example/callback"
	appBack   = "http://127.0.0.1:8787/api/tracker/oauth/callback"
)

// rig is a service on a real database and a simulated tracker.
type rig struct {
	imported map[int64]bool // plays that a file of the export brought

	t       *testing.T
	dir     string
	url     string
	remote  *trackertest.Server
	service *tracker.Service
	db      *db.DB
	tasks   *task.Registry
	holds   *hold.Holds
	jobs    *schedule.Registry
	logs    *logtest.Buffer
	opts    *tracker.Options
	mapped  func(titles []string) bool
}

func config() trackertest.Config {
	return trackertest.Config{
		Clients: []trackertest.Client{{ID: webClient, RedirectURI: callback}, {ID: ourApp, Secret: appSecret, RedirectURI: appBack}},
		Users:   []trackertest.User{{Email: mira, Name: "Mira", UUID: "uuid-of-mira"}, {Email: alex, Name: "alex", UUID: "uuid-of-alex"}},
	}
}

func newRig(t *testing.T) *rig {
	t.Helper()
	remote, url := trackertest.Start(t, config())
	return rigOn(t, dbtest.Folder(t), remote, url)
}

// rigIn is a rig in a bubble of testing/synctest, where waits cost no time. end must be
// called before the bubble ends.
func rigIn(t *testing.T) (r *rig, end func()) {
	t.Helper()
	remote := trackertest.New(config())
	network := memnet.New(t)
	server := &http.Server{Handler: remote}
	door := network.Listen("tracker.example")
	go func() { _ = server.Serve(door) }()
	r = rigOn(t, dbtest.Folder(t), remote, "http://tracker.example")
	return r, func() {
		_ = r.tasks.Stop(context.Background())
		_ = server.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		_ = r.db.Close()
	}
}

// rigOn is a service on a folder that others may have open too.
func rigOn(t *testing.T, dir string, remote *trackertest.Server, url string) *rig {
	t.Helper()
	d := dbtest.OpenIn(t, dir)
	box, err := secret.OpenBox(dir, "", false)
	must(t, err)
	masker := &secret.Masker{}
	r := &rig{t: t, dir: dir, url: url, remote: remote, db: d, logs: new(logtest.Buffer)}
	r.mapped = func([]string) bool { return false }
	r.opts = &tracker.Options{
		Enabled: true, AuthURL: url, APIURL: url, AppAPIURL: url, ClientID: webClient, RedirectURI: callback,
		AppClientID: ourApp, AppClientSecret: appSecret, Genres: []string{"anime"}, Overlap: 48 * time.Hour,
	}
	// The log is not masked by its handler here, unlike the service's: what is written must be clean by itself.
	log := slog.New(task.Handler(slog.NewJSONHandler(r.logs, &slog.HandlerOptions{Level: slog.LevelDebug})))
	out, err := httpx.New(httpx.Config{PerMinute: 1e6, Burst: 1e6, UserAgent: "watchmark/test"}, masker, log)
	must(t, err)
	r.jobs, r.tasks, r.holds = jobtest.New(d, log)
	r.service = tracker.NewService(tracker.Config{
		DB: d, Box: box, HTTP: out, Masker: masker, Tasks: r.tasks, Holds: r.holds, Intake: intake{d}, Log: log,
		Imported: func(context.Context, []int64) (map[int64]bool, error) { return r.imported, nil },
		Options:  func() tracker.Options { return *r.opts },
		Schedule: r.jobs, Plan: func() schedule.Plan { return schedule.Every(6 * time.Hour) },
		Mapped: func(_ context.Context, titles []string, _ watch.Event) (bool, error) { return r.mapped(titles), nil },
		Forecast: func() preview.Of {
			return func(_ context.Context, e watch.Event) ([]preview.Verdict, error) {
				return []preview.Verdict{{Status: preview.Mark, SubjectID: 265, SubjectName: e.Title}}, nil
			}
		},
	})
	r.jobs.Add(r.service.Jobs()...)
	t.Cleanup(func() {
		_ = r.tasks.Stop(context.Background())
		out.Close()
		_ = d.Close()
	})
	return r
}

// intake stores records as the engine does.
type intake struct{ db *db.DB }

func (i intake) Take(ctx context.Context, events []watch.Event, also func(ctx context.Context, tx *sql.Tx, ids []int64) error) (ids []int64, err error) {
	err = i.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
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
	return ids, err
}

// cooled ends the wait for the next sign-in mail, as a minute would.
func (r *rig) cooled() {
	r.t.Helper()
	must(r.t, r.db.Write(context.Background(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE tracker_mail SET asked_at = 0`)
		return err
	}))
}

// signIn connects the person with an address.
func (r *rig) signIn(email string) tracker.User {
	r.t.Helper()
	r.cooled()
	_, err := r.service.StartLogin(r.t.Context(), "admin/mira", email)
	must(r.t, err)
	u, err := r.service.CompleteLogin(r.t.Context(), "admin/mira", email, r.remote.LastCode(email))
	must(r.t, err)
	return u
}

// sync runs a reading to its end.
func (r *rig) sync(full bool) (tracker.RunResult, task.Status) {
	r.t.Helper()
	started, err := r.service.Sync(r.t.Context(), 0, full)
	must(r.t, err)
	status := r.wait(started)
	results, _ := task.ResultOf[[]tracker.RunResult](status)
	if len(results) != 1 {
		r.t.Fatalf("results %+v of %+v", results, status)
	}
	return results[0], status
}

// wait is the status of a task that has ended.
func (r *rig) wait(t *task.Task) task.Status {
	r.t.Helper()
	for {
		_, more := t.After(0)
		if s := t.Status(); s.State != task.Running {
			return s
		}
		<-more
	}
}

// events are those of all records.
func (r *rig) events() []watch.Event {
	r.t.Helper()
	rows, err := r.db.Read().Query(`SELECT event FROM records ORDER BY id`)
	must(r.t, err)
	defer func() { _ = rows.Close() }()
	var events []watch.Event
	for rows.Next() {
		var text string
		must(r.t, rows.Scan(&text))
		var e watch.Event
		must(r.t, json.Unmarshal([]byte(text), &e))
		events = append(events, e)
	}
	must(r.t, rows.Err())
	return events
}

// clean fails when the log holds one of the texts.
func (r *rig) clean(secrets ...string) {
	r.t.Helper()
	log := r.logs.String()
	for _, text := range secrets {
		if text != "" && strings.Contains(log, text) {
			r.t.Errorf("the log holds %q", text)
		}
	}
	for _, mark := range []string{`acc-`, `ref-`, `id-`} {
		for piece := range strings.SplitSeq(log, mark) {
			if len(piece) > 26 && strings.ToUpper(piece[:26]) == piece[:26] && !strings.ContainsAny(piece[:26], `" /:{},-`) {
				r.t.Errorf("the log holds a token %s%s", mark, piece[:26])
			}
		}
	}
}

// show is a title of anime, and plays of it a day apart, the last one at end.
func (r *rig) show(email string, id, plays int, end time.Time) {
	r.remote.AddTitle(trackertest.Title{Kind: "show", ID: id, Name: fmt.Sprintf("Show %d", id), Original: fmt.Sprintf("番組 %d", id), Tmdb: 1000 + id,
		Genres: []string{"anime"}, Timezone: "Asia/Tokyo", In: map[string]string{"tw": "節目", "cn": fmt.Sprintf("节目 %d", id)}})
	list := make([]trackertest.Play, 0, plays)
	for n := range plays {
		list = append(list, trackertest.Play{ID: int64(id)*1_000_000 + int64(n) + 1, WatchedAt: end.Add(-time.Duration(plays-1-n) * time.Hour),
			Kind: "show", Title: id, Season: 1, Episode: n%999 + 1, Tmdb: 5000 + n, Aired: "2026-04-01T16:30:00.000Z"})
	}
	r.remote.AddPlays(email, list...)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
