package watcher

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/match/seriesid"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/hold"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/logtest"
	"watchmark/internal/watch"
)

// Tests play days.
func init() { lookAtOthers = lookEvery }

// rig is a service on a real database and a fake server.
type rig struct {
	t       testing.TB
	dir     string
	db      *db.DB
	fake    *fakeServer
	dialer  *fakeDialer
	service *Service
	logs    *logtest.Buffer
	series  *seriesid.Store
	stop    func()
	began   time.Time
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// inBubble runs a test in a bubble of testing/synctest, where waits cost no time.
func inBubble(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dbtest.Folder(t), newFake())
		defer r.end()
		test(t, r)
	})
}

func newRig(t testing.TB, dir string, fake *fakeServer) *rig {
	t.Helper()
	return newReplica(t, dir, fake, 1, 1)
}

// newReplica is the rig of one of some replicas.
func newReplica(t testing.TB, dir string, fake *fakeServer, self dbtest.Self, of int) *rig {
	t.Helper()
	d := dbtest.OpenIn(t, dir)
	box, err := secret.OpenBox(dir, "", false)
	must(t, err)
	r := &rig{t: t, dir: dir, db: d, fake: fake, began: time.Now(), logs: new(logtest.Buffer), stop: func() {}, series: seriesid.NewStore(d)}
	r.dialer = &fakeDialer{fakeServer: fake, users: map[string]string{"mira": "pass", "alex": "word"}}
	taken := &intake{db: d}
	r.service = NewService(Config{
		DB: d, Box: box, Dialer: r.dialer, Masker: &secret.Masker{}, Tasks: task.New(d, self, slog.New(slog.DiscardHandler)), Holds: hold.New(d, self, slog.New(slog.DiscardHandler)), Replicas: func(context.Context) (int, error) { return of, nil }, Intake: taken, Remember: r.series.Told,
		Routed: func(context.Context, string) ([]string, reason.Reason, error) {
			return []string{"mira"}, reason.Reason{}, nil
		},
		Enabled: func() bool { return true },
		Log:     slog.New(slog.NewTextHandler(r.logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	taken.unseen = r.service.UnseenTx
	return r
}

// run lets the service work until stop.
func (r *rig) run() {
	r.start()
	rest()
}

// start is run in the time of the world.
func (r *rig) start() {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { r.service.Run(ctx); close(ended) }()
	r.stop = func() { cancel(); <-ended; r.stop = func() {} }
}

// rest waits until what is under way has come to its end; it takes a little of the bubble's time.
func rest() {
	synctest.Wait()
	time.Sleep(quietMost + time.Second)
	synctest.Wait()
}

func (r *rig) end() {
	r.stop()
	_ = r.service.Tasks.Stop(context.Background())
	_ = r.db.Close()
}

// restart is the service on the same folder once more.
func (r *rig) restart() *rig {
	r.end()
	next := newRig(r.t, r.dir, r.fake)
	*r = *next
	r.run()
	return r
}

// signIn connects mira.
func (r *rig) signIn() Login {
	r.t.Helper()
	l, err := r.service.Add(r.t.Context(), NewLogin{Kind: mediaserver.Jellyfin, URL: "http://attic:8096", Credentials: Credentials{"mira", "pass"}})
	must(r.t, err)
	return l
}

func (r *rig) login(id int64) Login {
	r.t.Helper()
	l, err := r.service.Login(context.Background(), id)
	must(r.t, err)
	return l
}

// events are those of the records.
func (r *rig) events() []watch.Event {
	r.t.Helper()
	all, err := db.All(context.Background(), r.db.Read(), "list records", func(row db.Row) (e watch.Event, err error) {
		var text string
		if err := row.Scan(&text); err != nil {
			return e, err
		}
		return e, json.Unmarshal([]byte(text), &e)
	}, `SELECT event FROM records ORDER BY id`)
	must(r.t, err)
	return all
}

// expect compares the records with some, such as "Star S1 E2".
func (r *rig) expect(what string, want ...string) {
	r.t.Helper()
	var got []string
	for _, e := range r.events() {
		text := e.Title
		if label := e.EpisodeLabel(); label != "" {
			text += " " + label
		}
		got = append(got, text)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		r.t.Errorf("%s: records of %q, not %q\n%s", what, got, want, fmt.Sprint(r.logs))
	}
}

// until waits for a condition.
func (r *rig) until(what string, met func() bool) {
	r.t.Helper()
	for end := time.Now().Add(60 * time.Second); !met(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("%s: not within a minute\n%s", what, r.logs)
		}
	}
}

// real has the service ask servers as it does in the world, with the services of Plex at an address.
func (r *rig) real(plex string) { r.service.Dialer = realDialer(plex) }

func realDialer(plex string) *mediaserver.Dialer {
	return &mediaserver.Dialer{
		HTTP: func() httpx.Config { return httpx.Config{Timeout: 10 * time.Second} },
		Plex: func() mediaserver.PlexAddresses {
			return mediaserver.PlexAddresses{Account: plex, Clients: plex, Page: plex + "/auth"}
		},
		Masker: &secret.Masker{}, Installation: "test", Version: "1.4.0", Log: slog.New(slog.DiscardHandler),
	}
}

// intake stores records as the engine does.
type intake struct {
	db     *db.DB
	unseen func(context.Context, *sql.Tx, watch.Event) (bool, error)
}

// Unwatch keeps what a person set back to unwatched as records of another title.
func (i intake) Unwatch(ctx context.Context, events []watch.Event) error {
	return i.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, e := range events {
			own, err := i.unseen(ctx, tx, e)
			if err != nil || own {
				return err
			}
			e.Title = "not " + e.Title
			if _, err := record.Insert(ctx, tx, e, false, time.Now()); err != nil {
				return err
			}
		}
		return nil
	})
}

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
