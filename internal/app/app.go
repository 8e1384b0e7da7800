package app

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/catalog/cover"
	"watchmark/internal/catalog/entries"
	"watchmark/internal/engine"
	"watchmark/internal/engine/queue"
	"watchmark/internal/engine/review"
	"watchmark/internal/match"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/settings"
	"watchmark/internal/platform/tlsfile"
	"watchmark/internal/record/webhooklog"
	"watchmark/internal/source/device"
	"watchmark/internal/source/importer"
	"watchmark/internal/source/nas"
	"watchmark/internal/source/tracker"
	"watchmark/internal/source/watcher"
	"watchmark/internal/tell/calendar"
	"watchmark/internal/tell/llm"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/notify/webpush"
	"watchmark/internal/tell/summary"
	"watchmark/internal/tell/word"
	"watchmark/internal/upkeep/diagnose"
	"watchmark/internal/upkeep/snapshot"
	"watchmark/internal/upkeep/update"
	"watchmark/internal/watch"
)

// App is the whole service, built and not yet running.
type App struct {
	*Data
	webhooks  *webhooklog.Log
	queue     *queue.Queue
	clients   *account.Client
	entries   *entries.Entries
	engine    *engine.Engine
	decisions *review.Service
	replay    *queue.Scheduler
	nas       *nas.Reader
	// device asks the TV boxes; plays is what they have played.
	device    *device.Watcher
	plays     *device.Store
	tracker   *tracker.Service
	snapshots *snapshot.Service
	words     *word.Service
	// watcher follows media servers with people's own logins.
	watcher *watcher.Service
	// importer takes in what media servers remember.
	importer *importer.Importer
	// covers has those that the pages show.
	covers *cover.Cache
	// llm writes the texts of summaries.
	llm       *llm.Client
	summaries *summary.Service
	calendar  *calendar.Service
	airing    *summary.Airing
	doctor    *diagnose.Doctor
	// updates looks for newer versions of the program.
	updates *update.Checker
	ready   *readiness
	// integrity is the check of the database that began with the start.
	integrity *integrity
	meters    *meters
	// taps are the answers from notifications; pushKey is what browsers subscribe to for these.
	taps    *review.Taps
	pushKey webpush.Key
	// Notices tells people.
	Notices *notify.Notifier
	// ways are the clients, beside that of Data, by which the service reaches others.
	ways    []way
	handler http.Handler
	// tls is the own certificate; nil where the service speaks plain HTTP.
	tls *tlsfile.Pair
	// draining is closed when no more should be sent here, stopping when what holds requests open must end.
	draining, stopping chan struct{}
	unlock             func() error
	// folder is the data folder; container is as in Options.
	folder    string
	container bool
}

// New builds the service on its data folder, which it holds until Close. At the first
// start it makes the webhook key. It returns db.ErrLocked while another service runs on
// the folder, and db.ErrDamaged when the database is found damaged before the service starts.
func New(ctx context.Context, o Options) (*App, error) {
	o.keepLog = true
	unlock, err := db.Lock(o.DataDir)
	if err != nil {
		return nil, err
	}
	data, err := OpenData(ctx, o)
	if err != nil {
		return nil, errors.Join(err, unlock())
	}
	a := &App{Data: data, draining: make(chan struct{}), stopping: make(chan struct{}), unlock: unlock, folder: o.DataDir, container: o.Container}
	if err := a.build(ctx, o); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// Close closes the data folder and lets others have it.
func (a *App) Close() error {
	for _, w := range a.ways {
		w.Close()
	}
	if a.integrity != nil {
		a.integrity.stop()
	}
	var err error
	if a.self != nil {
		err = a.leave()
	}
	return errors.Join(err, a.Data.Close(), a.unlock())
}

func (a *App) build(ctx context.Context, o Options) error {
	wait := checkWait
	if a.db.Crashed() {
		wait = 0
	}
	var err error
	if a.integrity, err = checkIntegrity(ctx, a.db.CheckWhole, wait, a.log); err != nil {
		return err
	}
	if err := a.join(ctx); err != nil {
		return err
	}
	if err := a.makeWebhookKey(ctx); err != nil {
		return err
	}
	for _, weak := range a.Settings.Weak() {
		a.log.WarnContext(ctx, "a setting from before still holds, and should be changed", "setting", weak.Field, "set_by", weak.Where, "problem", weak.What)
	}
	if own := a.Settings.Current().Server; own.TLSCert != "" {
		if a.tls, err = tlsfile.Load(own.TLSCert, own.TLSKey, a.log); err != nil {
			return fmt.Errorf("the service cannot speak TLS: %w", err)
		}
	}
	a.webhooks = webhooklog.NewLog(a.db)
	a.doctor = a.Doctor()
	if err := a.buildNotices(ctx); err != nil {
		return err
	}
	a.buildEngine()
	a.words = word.NewService(word.Config{DB: a.db, Accounts: a.Accounts, Lists: a.clients, Entries: a.entries, Notices: a.Notices, Log: a.log})
	a.tracker = a.newTracker()
	a.watcher = a.newWatcher()
	a.importer = a.newImporter()
	a.snapshots = a.newSnapshots()
	a.nas = a.newNAS(o.DataDir)
	if err := a.buildDevice(o); err != nil {
		return err
	}
	if err := a.buildCovers(o); err != nil {
		return err
	}
	if err := a.buildSummaries(); err != nil {
		return err
	}
	a.updates = a.newUpdates()
	a.ready = &readiness{dataDir: o.DataDir, alive: a.db.Alive, fits: a.fits, sound: a.integrity.problem, draining: a.draining}
	a.meters = &meters{App: a, started: time.Now()}
	a.meters.begin()
	a.addJobs()
	a.Settings.OnChange(a.kick)
	return a.buildHandler(o)
}

// kick has what works by itself look at the settings anew.
func (a *App) kick(_, _ settings.Settings) {
	for _, part := range []interface{ Kick() }{a.jobs, a.replay, a.Archiver, a.device, a.watcher} {
		part.Kick()
	}
}

// makeWebhookKey stores a random webhook key when there is none, also none of another replica's.
func (a *App) makeWebhookKey(ctx context.Context) error {
	if a.Settings.Current().Auth.WebhookKey != "" {
		return nil
	}
	if err := a.Settings.Provide(ctx, "auth.webhook_key", settings.NewWebhookKey()); err != nil {
		return fmt.Errorf("make the webhook key: %w", err)
	}
	return nil
}

// buildEngine makes what turns events into marks, and what does it again when the catalog was down.
func (a *App) buildEngine() {
	a.queue = queue.NewQueue(a.db)
	a.clients = account.NewClient(account.ClientConfig{
		Store: a.Accounts, Catalog: a.catalog, Holds: a.holds, Subjects: a.cached, Marker: catalog.NewMarker(), Known: a.Records.Knows, Left: a.Records.Left, Rewatching: a.rewatching, Masker: a.masker, Log: a.log,
		App: func() catalog.App {
			c := a.Settings.Current().Catalog
			return catalog.App{ClientID: c.OAuthClientID, ClientSecret: c.OAuthClientSecret}
		},
	})
	a.entries = entries.New(a.db, a.self)
	matcher := a.Matcher()
	settling := time.AfterFunc(review.UnwatchedQuiet, func() {
		if _, err := a.jobs.Start(context.Background(), review.UnwatchedJob); err != nil { // it looks by itself once a minute
			a.log.Debug("what was set back to unwatched waits", "error", err)
		}
	})
	settling.Stop()
	a.engine = engine.New(engine.Config{
		DB: a.db, Records: a.Records, Replica: a.self, Entries: a.entries, Ask: review.AskTx, Word: word.AskTx, NoWord: word.CloseTx, Accounts: a.Accounts, People: a.Auth, Matcher: matcher, Lists: a.clients, View: func(by account.Account) match.Viewer { return a.clients.View(by) }, Log: a.log,
		Fresh: func(ctx context.Context) error {
			if a.db.Alone() {
				return nil
			}
			return a.board.Refresh(ctx)
		},
		Reaches: func() bool { return a.catalog.Reachability().Reachable },
		// The engine is built before what follows media servers, which hands its plays to it.
		Taken: func(ctx context.Context, tx *sql.Tx, e watch.Event) (bool, error) {
			return a.watcher.SeenTx(ctx, tx, e)
		},
		Unseen: func(ctx context.Context, tx *sql.Tx, e watch.Event) (bool, error) {
			return a.watcher.UnseenTx(ctx, tx, e)
		},
		Unwatched: func() { settling.Reset(review.UnwatchedQuiet) },
		Queue:     a.queue, Tasks: a.tasks, Queued: func() { a.replay.Kick() }, Notices: a.Notices,
		Options: func() engine.Options {
			s := a.Settings.Current()
			return engine.Options{
				Workers: s.Sync.Workers, Coalesce: s.Sync.Coalesce, MaxRetries: s.CatalogReplay.MaxRetries,
				AnyAccountForTests: s.Sync.TestSkipPermissionCheck, Adult: account.Adult(s.Sync.Adult), Unwatched: account.Unwatched(s.Sync.Unwatched), Rewatch: account.Rewatch(s.Sync.Rewatch),
			}
		},
	})
	a.decisions = review.New(review.Config{
		Holds:  a.holds,
		Engine: a.engine, Questions: a.Questions, Mappings: a.Mappings, MatchBy: matchBy(matcher), Catalog: knowledge{a.Data, a.clients},
		Restores: func(ctx context.Context, accountID int64, since, until time.Time) ([]int64, error) {
			return a.snapshots.RestoresBetween(ctx, accountID, since, until) // which are made later
		},
	})
	a.buildTaps()
	a.replay = queue.New(queue.Config{
		Queue:        a.queue,
		Enabled:      func() bool { return a.Settings.Current().CatalogReplay.Enabled },
		Next:         a.schedule("catalog_replay.cron", func(s settings.Settings) string { return s.CatalogReplay.Cron }),
		Reachability: a.catalog.Reachability,
		Probe:        a.probe,
		Held:         a.publish,
		Released: func(ids []int64) {
			a.publish(ids)
			a.engine.Wake()
		},
		Log: a.log,
	})
	a.catalog.OnReturn(a.replay.Kick)
}

// rewatching reports whether an entry follows a re-watch.
func (a *App) rewatching(ctx context.Context, by account.Account, subject catalog.SubjectID) (bool, error) {
	if cmp.Or(by.Rewatch, account.Rewatch(a.Settings.Current().Sync.Rewatch)) != account.DoingRewatch {
		return false, nil
	}
	_, again, err := a.Records.Rewatching(ctx, by.ID, subject)
	return again, err
}

// publish tells live pages of records that changed.
func (a *App) publish(ids []int64) {
	for _, id := range ids {
		a.Records.Feed.Publish(id)
	}
}

// probe asks the catalog for a sign of life in the name of the preferred account.
func (a *App) probe(ctx context.Context) error {
	_, err := a.clients.Probe(ctx)
	if errors.Is(err, account.ErrNotFound) || errors.Is(err, account.ErrNoToken) {
		return fmt.Errorf("%w: %w", queue.ErrNoProbe, err)
	}
	return err
}
