// Package app builds the service from its settings, and starts and stops it in order.
// It is the only package that knows all the others.
package app

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"watchmark/internal/account"
	"watchmark/internal/api"
	"watchmark/internal/archive"
	"watchmark/internal/auth"
	"watchmark/internal/auth/oidc"
	"watchmark/internal/backup"
	"watchmark/internal/catalog"
	"watchmark/internal/certfile"
	"watchmark/internal/cover"
	"watchmark/internal/db"
	"watchmark/internal/diagnose"
	"watchmark/internal/engine"
	"watchmark/internal/httpx"
	"watchmark/internal/llm"
	"watchmark/internal/notify"
	"watchmark/internal/notify/channel"
	"watchmark/internal/replay"
	"watchmark/internal/settings"
	"watchmark/internal/source/device"
	"watchmark/internal/source/nas"
	"watchmark/internal/summary"
	"watchmark/internal/tracker"
	"watchmark/internal/update"
	"watchmark/internal/web"
	"watchmark/internal/webhook"
)

// startGrace is how long the start may take with what it does beside the first requests.
const startGrace = 2 * time.Second

// keepSynced is how long a done task stays in the queue, for people to see.
const keepSynced = 7 * 24 * time.Hour

// keepUnasked is how long a question stays that no record waits for: its records may be on
// their way to asking it again.
const keepUnasked = time.Hour

// A stopping service may finish requests for requestGrace, then work in hand for workGrace.
const (
	requestGrace = 4 * time.Second
	workGrace    = 5 * time.Second
)

// App is the whole service, built and not yet running.
type App struct {
	*Data
	webhooks *webhook.Log
	queue    *replay.Queue
	keeper   *account.Keeper
	engine   *engine.Engine
	replay   *replay.Scheduler
	// archiver imports the offline archive.
	archiver *archive.Keeper
	nas      *nas.Keeper
	// device asks the TV boxes; plays is what they have played.
	device  *device.Keeper
	plays   *device.Store
	tracker *tracker.Keeper
	// covers has those that the pages show; images is its way to the image host.
	covers *cover.Keeper
	images *httpx.Client
	// llm writes the texts of summaries; models is its way to the language model.
	llm       *llm.Client
	models    *httpx.Client
	summaries *summary.Keeper
	airing    *summary.Airing
	doctor    *diagnose.Doctor
	backups   *backup.Keeper
	// updates looks for newer versions of the program.
	updates *update.Checker
	ready   *readiness
	meters  *meters
	// Notices tells people; senders is its way out.
	Notices *notify.Notifier
	senders *channel.Tools
	// say says in a language what the service says of itself.
	say     func(lang, said string) string
	handler http.Handler
	// tls is the own certificate; nil where the service speaks plain HTTP.
	tls      *certfile.Pair
	stopping chan struct{}
	unlock   func() error
	// folder is the data folder; container is as in Options.
	folder    string
	container bool
}

// New builds the service on its data folder, which it holds until Close. At the first
// start it makes the webhook key. It returns db.ErrLocked while another service runs on
// the folder, and db.ErrDamaged when a crash left the database damaged.
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
	a := &App{Data: data, stopping: make(chan struct{}), unlock: unlock, folder: o.DataDir, container: o.Container}
	if err := a.build(ctx, o); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// Close closes the data folder and lets others have it.
func (a *App) Close() error {
	if a.images != nil {
		a.images.Close()
	}
	if a.senders != nil {
		a.senders.Close()
	}
	if a.models != nil {
		a.models.Close()
	}
	return errors.Join(a.Data.Close(), a.unlock())
}

func (a *App) build(ctx context.Context, o Options) error {
	if err := a.db.CheckAfterCrash(ctx); err != nil {
		return err
	}
	// Nobody else works on this folder, so what was in work is not any more.
	if err := a.Records.ReleaseAll(ctx); err != nil {
		return err
	}
	if err := a.makeWebhookKey(ctx); err != nil {
		return err
	}
	if own := a.Settings.Current().Server; own.TLSCert != "" {
		var err error
		if a.tls, err = certfile.Load(own.TLSCert, own.TLSKey, a.log); err != nil {
			return fmt.Errorf("the service cannot speak TLS: %w", err)
		}
	}
	a.webhooks = webhook.NewLog(a.db)
	a.queue = replay.NewQueue(a.db)
	a.doctor = a.Doctor()
	if err := a.buildNotices(ctx); err != nil {
		return err
	}
	a.keeper = account.NewKeeper(account.KeeperConfig{
		Store: a.Accounts, Catalog: a.catalog, Subjects: a.cached, Marker: catalog.NewMarker(), Masker: a.masker, Log: a.log,
		App: func() catalog.App {
			c := a.Settings.Current().Catalog
			return catalog.App{ClientID: c.OAuthClientID, ClientSecret: c.OAuthClientSecret}
		},
	})
	matcher := a.Matcher()
	a.engine = engine.New(engine.Config{
		DB: a.db, Records: a.Records, Questions: a.Questions, Accounts: a.Accounts, Matcher: matcher, MatchBy: matchBy(matcher), Mappings: a.Mappings,
		Catalog: knowledge{a.Data}, Lists: a.keeper, Log: a.log,
		Queue: a.queue, Tasks: a.tasks, Queued: func() { a.replay.Kick() }, Notices: a.Notices,
		Options: func() engine.Options {
			s := a.Settings.Current()
			return engine.Options{
				Workers: s.Sync.Workers, Coalesce: s.Sync.Coalesce, MaxRetries: s.CatalogReplay.MaxRetries,
				AnyAccountForTests: s.Sync.TestSkipPermissionCheck,
			}
		},
	})
	a.replay = replay.New(replay.Config{
		Queue:        a.queue,
		Enabled:      func() bool { return a.Settings.Current().CatalogReplay.Enabled },
		Next:         a.schedule("catalog_replay.cron", func(s settings.Settings) string { return s.CatalogReplay.Cron }),
		Reachability: a.catalog.Reachability,
		Probe:        a.probe,
		Ping:         a.catalog.Ping,
		Released: func(ids []int64) {
			for _, id := range ids {
				a.Records.Feed.Publish(id)
			}
			a.engine.Wake()
		},
		Log: a.log,
	})
	a.tracker = a.newTracker()
	a.Settings.OnChange(func(settings.Settings, settings.Settings) { a.tracker.Kick() })
	a.Archive.Clean()
	a.archiver = a.Archiver(a.tasks)
	a.Settings.OnChange(func(settings.Settings, settings.Settings) { a.archiver.Kick() })
	a.Settings.OnChange(func(settings.Settings, settings.Settings) { a.Dataset.Kick() })
	a.nas = a.newNAS(o.DataDir)
	a.Settings.OnChange(func(settings.Settings, settings.Settings) { a.nas.Kick() })
	if err := a.buildDevice(o); err != nil {
		return err
	}
	if err := a.buildCovers(o); err != nil {
		return err
	}
	if err := a.buildSummaries(); err != nil {
		return err
	}
	a.backups = a.newBackups(o)
	a.Settings.OnChange(func(settings.Settings, settings.Settings) { a.backups.Kick() })
	a.updates = update.New(update.Config{
		HTTP: a.http, Version: Version(), Log: a.log,
		URL: func() string {
			if s := a.Settings.Current().Server; s.UpdateCheck {
				return s.UpdateURL
			}
			return ""
		},
	})
	a.Settings.OnChange(func(settings.Settings, settings.Settings) { a.updates.Kick() })
	a.ready = &readiness{dataDir: o.DataDir, alive: a.db.Alive, stopping: a.stopping}
	a.meters = &meters{App: a, started: time.Now()}
	a.catalog.OnReturn(a.replay.Kick)
	a.Settings.OnChange(func(settings.Settings, settings.Settings) { a.replay.Kick() })
	return a.buildHandler(o)
}

// probe asks the catalog for a sign of life in the name of the preferred account.
func (a *App) probe(ctx context.Context) error {
	_, err := a.keeper.Probe(ctx)
	if errors.Is(err, account.ErrNotFound) || errors.Is(err, account.ErrNoToken) {
		return fmt.Errorf("%w: %w", replay.ErrNoProbe, err)
	}
	return err
}

// buildHandler puts pages and API behind one door.
func (a *App) buildHandler(o Options) error {
	base := a.Settings.Current().Server.BasePath
	guard := &auth.Guard{
		Store:     a.Auth,
		Enabled:   func() bool { return a.Settings.Current().Auth.Enabled },
		PublicURL: func() string { return a.Settings.Current().Server.PublicURL },
		BasePath:  base,
		Log:       a.log,
	}
	signIn := oidc.New(a.provider, a.http)
	pages, err := a.pages(o, guard, signIn)
	if err != nil {
		return err
	}
	a.say = pages.Say
	endpoints := api.New(api.Deps{
		Version: Version(), Guard: guard, OIDC: signIn, Settings: a.Settings, Engine: a.engine, Records: a.Records, Queue: a.queue,
		Replay: a.replay, Reachability: a.catalog.Reachability, Tasks: a.tasks, Stopping: a.stopping,
		Backups: a.backups, Problems: a.ready.problems, Requests: &a.meters.requests,
		Webhooks: a.webhooks, Accounts: a.Accounts, Keeper: a.keeper, Archive: a.Archive, ArchiveKeeper: a.archiver, Dataset: a.Dataset, Doctor: a.doctor, Logs: a.lines, Build: BuildInfo(), NAS: a.nas, Device: a.device, Importer: a.newImporter(), Mappings: a.Mappings, Masker: a.masker, Tracker: a.tracker, Notices: a.Notices,
		LLM: a.llm, Summary: a.summaries, Airing: a.airing,
		Questions: a.Questions, Subjects: knowledge{a.Data},
		PublicURL: a.publicURL, Stylesheet: pages.Stylesheet, Icon: pages.Icon, Log: a.log,
	})
	mux := http.NewServeMux()
	mux.Handle("/webhook/", endpoints)
	mux.Handle("/health", endpoints)
	for _, path := range api.LegacyPaths {
		mux.Handle("POST "+path, endpoints)
		mux.Handle("POST "+path+"/", endpoints)
	}
	mux.Handle("/health/", endpoints)
	mux.Handle("GET /metrics", guard.Authenticate(a.meters))
	mux.Handle("/api/", guard.Authenticate(endpoints))
	mux.Handle("/api", guard.Authenticate(endpoints))
	mux.Handle("/", guard.Authenticate(pages))
	// The legacy paths may ask for no key, so pages of other sites must not reach them by a browser at home.
	handler := auth.SecurityHeaders(auth.CrossOrigin(mux, "/webhook/"))
	if base != "" {
		outer := http.NewServeMux()
		outer.Handle(base+"/", http.StripPrefix(base, handler))
		outer.Handle(base, http.RedirectHandler(base+"/", http.StatusPermanentRedirect))
		// Media servers reach these past the proxy, too.
		for _, path := range api.LegacyPaths {
			outer.Handle("POST "+path, handler)
			outer.Handle("POST "+path+"/", handler)
		}
		handler = outer
	}
	a.handler = auth.Clients(a.proxies, handler)
	return nil
}

func (a *App) pages(o Options, guard *auth.Guard, signIn *oidc.Provider) (web.Pages, error) {
	deps := web.Deps{
		Records: a.Records, Feed: a.Records.Feed, Questions: a.Questions, Mappings: a.Mappings, Accounts: a.Accounts, WebhookLog: a.webhooks, Settings: a.Settings, APIKeys: a.Auth.ListKeys, ArchiveStatus: a.archiver.Status, DatasetStatus: a.Dataset.Status, FindInArchive: a.Archive.Find, Reachability: a.catalog.Reachability,
		Cover: a.covers.Get,
		Queue: a.queue, Scheduler: a.replay.Standing, MaxRetries: func() int { return a.Settings.Current().CatalogReplay.MaxRetries }, Tasks: a.tasks,
		NAS: a.nas, Device: a.device.Status, Tracker: a.tracker, Notices: a.Notices,
		Summaries: a.summaries, Airing: a.airing.Status, ModelUsage: a.llm.Usage.Report,
		Backups: a.backups.Status, Update: a.updates.Status,
		TestMatch:   a.engine.Preview,
		Network:     a.doctor.State,
		Logs:        a.lines,
		SilentAfter: func() time.Duration { return a.Settings.Current().Notification.SilentAfter },
		LogLevel:    func() slog.Level { return a.Settings.Current().Log.Level },
		WebhookKey: func() string {
			s := a.Settings.Current().Auth
			if !s.WebhookAuthEnabled {
				return ""
			}
			return s.WebhookKey.Reveal()
		},
		PublicURL: func(r *http.Request) string { return a.publicURL(r.Context()) },
		BasePath:  func() string { return guard.BasePath },
		Viewer: func(r *http.Request) (string, bool) {
			identity, known := auth.IdentityOf(r.Context())
			return identity.Name, known
		},
		ToLogin:    guard.ToLogin,
		NeedsSetup: a.Auth.NeedsSetup,
		Provider:   signIn.Status,
		TwoFactor:  a.Auth.TwoFactor,
		Enrolment: func(r *http.Request) (auth.Enrolment, bool) {
			if identity, _ := auth.IdentityOf(r.Context()); identity.Kind != auth.BySession {
				return auth.Enrolment{}, false
			}
			return a.Auth.Enrolment()
		},
		SubjectURL: func(id catalog.SubjectID) string {
			return fmt.Sprintf("%s/subject/%d", a.Settings.Current().Catalog.WebURL, id)
		},
		TokenURL:   func() string { return "https://next.bgm.tv/demo/access-token" },
		OAuthReady: func() bool { return a.Settings.Current().Catalog.OAuthClientID != "" },
		Version:    Version(),
		Modules:    modules(),
		Shutdown:   a.stopping,
		Log:        a.log,
	}
	if o.Demo != (DemoLogin{}) {
		deps.Demo = &web.DemoLogin{Name: o.Demo.Name, Password: o.Demo.Password}
	}
	pages, err := web.New(deps)
	if err != nil {
		return web.Pages{}, fmt.Errorf("build the pages: %w", err)
	}
	return pages, nil
}

// publicURL is the address people reach the service by: the setting, or what the request used.
func (a *App) publicURL(ctx context.Context) string {
	s := a.Settings.Current().Server
	if s.PublicURL != "" {
		return s.PublicURL
	}
	client := auth.ClientOf(ctx)
	scheme := "http"
	if client.HTTPS {
		scheme = "https"
	}
	return scheme + "://" + client.Host + s.BasePath
}

// makeWebhookKey stores a random webhook key when there is none.
func (a *App) makeWebhookKey(ctx context.Context) error {
	if a.Settings.Current().Auth.WebhookKey != "" {
		return nil
	}
	key := make([]byte, 24)
	_, _ = rand.Read(key) // documented never to return an error
	err := a.Settings.Patch(ctx, map[string]map[string]any{"auth": {"webhook_key": base64.RawURLEncoding.EncodeToString(key)}})
	if err != nil {
		return fmt.Errorf("make the webhook key: %w", err)
	}
	return nil
}

// Run listens on the address of the settings and serves until ctx ends.
func (a *App) Run(ctx context.Context) error {
	address := a.Settings.Current().Server.Listen
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return errors.Join(fmt.Errorf("listen on %s: %w; another program may use the port: choose one with --listen", address, err), a.Close())
	}
	return a.Serve(ctx, listener)
}

// Serve serves on listener until ctx ends, then stops in order: no new requests, what
// is in hand finished within the times of grace, data closed.
func (a *App) Serve(ctx context.Context, listener net.Listener) error {
	if err := a.greet(ctx, listener.Addr()); err != nil {
		return errors.Join(err, listener.Close(), a.Close())
	}
	a.tellAddress(listener.Addr())
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { a.engine.Run(background, workGrace) })
	running.Go(func() { a.replay.Run(background) })
	running.Go(func() { a.keeper.Run(background) })
	running.Go(func() { a.archiver.Run(background) })
	running.Go(func() { a.Dataset.Run(background) })
	running.Go(func() { a.nas.Run(background) })
	running.Go(func() { a.device.Run(background) })
	running.Go(func() { a.tracker.Run(background) })
	running.Go(func() { a.covers.Run(background) })
	running.Go(func() { a.Notices.Run(background) })
	running.Go(func() { a.lookOut(background) })
	running.Go(func() { a.summaries.Run(background) })
	running.Go(func() { a.backups.Run(background) })
	running.Go(func() { a.updates.Run(background) })
	running.Go(func() { a.airing.Run(background) })
	running.Go(func() { a.housekeep(background) })

	server := &http.Server{
		Handler:           a.handler,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(a.log.Handler(), slog.LevelWarn), // who refuses the certificate, among others
	}
	failed := make(chan error, 1)
	go func() {
		if a.tls == nil {
			failed <- server.Serve(listener)
			return
		}
		server.TLSConfig = a.tls.Config()
		failed <- server.ServeTLS(listener, "", "")
	}()
	var err error
	select {
	case err = <-failed:
		err = fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	close(a.stopping)
	deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestGrace)
	if shutdown := server.Shutdown(deadline); shutdown != nil {
		a.log.Warn("some requests did not finish in time", "error", shutdown)
		_ = server.Close() // closes what Shutdown waited for
	}
	cancel()
	a.tasks.Stop()
	stop()
	running.Wait()
	a.log.Info("stopped")
	return errors.Join(err, a.Close())
}

// greet says where the service is, and prints the setup link while nobody has set it up.
func (a *App) greet(ctx context.Context, address net.Addr) error {
	url := scheme(a.Settings.Current().Server) + reachable(address) + a.Settings.Current().Server.BasePath
	if public := a.Settings.Current().Server.PublicURL; public != "" {
		url = public
	}
	a.log.Info("watchmark is running", "version", Version(), "url", url)
	token, err := a.Auth.SetupToken(ctx)
	if errors.Is(err, auth.ErrSetupDone) || !a.Settings.Current().Auth.Enabled {
		return nil
	}
	if err != nil {
		return fmt.Errorf("make the setup link: %w", err)
	}
	where := ":\n\n"
	if _, port, err := net.SplitHostPort(address.String()); err == nil && a.container && a.Settings.Current().Server.PublicURL == "" {
		url = scheme(a.Settings.Current().Server) + "HOST:" + port + a.Settings.Current().Server.BasePath
		where = ".\nHOST stands for the machine that runs the container, " + port + " for the port there that leads to it:\n\n"
	}
	_, err = fmt.Fprintf(a.out, "\nNobody can sign in yet. Open this link once to create the administrator%s    %s/setup?token=%s\n\n", where, url, token)
	return err
}

// scheme is how the service is spoken to.
func scheme(s settings.Server) string {
	if s.TLSCert != "" {
		return "https://"
	}
	return "http://"
}

// reachable is address as a person can open it: one that listens everywhere has no name
// of its own, so it is told by the first address of a home network.
func reachable(address net.Addr) string {
	listening, err := netip.ParseAddrPort(address.String())
	if err != nil || !listening.Addr().IsUnspecified() {
		return address.String()
	}
	host := "localhost"
	interfaces, _ := net.InterfaceAddrs() // without them it is localhost
	for _, i := range interfaces {
		if prefix, err := netip.ParsePrefix(i.String()); err == nil && prefix.Addr().Is4() && prefix.Addr().IsPrivate() {
			host = prefix.Addr().String()
			break
		}
	}
	return net.JoinHostPort(host, strconv.Itoa(int(listening.Port())))
}

// housekeep removes what is kept for a while only, and gives memory back that was needed for a while only: when
// the start is over, and then once an hour.
func (a *App) housekeep(ctx context.Context) {
	for wait := startGrace; ; wait = time.Hour {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		if err := a.prune(ctx); err != nil && ctx.Err() == nil {
			a.log.Error("cannot remove old rows", "error", err)
		}
		debug.FreeOSMemory()
	}
}

func (a *App) prune(ctx context.Context) error {
	s := a.Settings.Current().Server
	err := inBatches(ctx, func(limit int) (int64, error) { return a.webhooks.Prune(ctx, time.Now().Add(-s.WebhookLog), limit) })
	if err != nil {
		return err
	}
	err = inBatches(ctx, func(limit int) (int64, error) { return a.queue.Prune(ctx, time.Now().Add(-keepSynced), limit) })
	if err == nil && s.KeepRecords != 0 {
		err = inBatches(ctx, func(limit int) (int64, error) {
			return a.Records.DeleteBefore(ctx, time.Now().Add(-s.KeepRecords), limit)
		})
	}
	if err != nil {
		return err
	}
	err = inBatches(ctx, func(limit int) (int64, error) { return a.Questions.Prune(ctx, time.Now().Add(-keepUnasked), limit) })
	if err != nil {
		return err
	}
	if err := inBatches(ctx, func(limit int) (int64, error) { return a.Notices.Prune(ctx, limit) }); err != nil {
		return err
	}
	err = inBatches(ctx, func(limit int) (int64, error) { return a.llm.Usage.Prune(ctx, time.Now().Add(-llm.KeepUsage), limit) })
	if err != nil {
		return err
	}
	if err := inBatches(ctx, func(limit int) (int64, error) { return a.tracker.Prune(ctx, limit) }); err != nil {
		return err
	}
	return inBatches(ctx, func(limit int) (int64, error) { return a.plays.Prune(ctx, time.Now().Add(-keepPlays), limit) })
}

// inBatches removes rows a few at a time, so that what is accepted meanwhile does not
// wait for long. remove answers how many rows went.
func inBatches(ctx context.Context, remove func(limit int) (int64, error)) error {
	const batch = 500
	for ctx.Err() == nil {
		n, err := remove(batch)
		if err != nil || n < batch {
			return err
		}
	}
	return nil
}
