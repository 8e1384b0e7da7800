package api_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/catalog/archive"
	"watchmark/internal/catalog/archive/fetch"
	"watchmark/internal/catalog/entries"
	"watchmark/internal/door/api"
	"watchmark/internal/door/auth"
	"watchmark/internal/door/auth/oidc"
	"watchmark/internal/door/auth/servers"
	"watchmark/internal/door/problem"
	"watchmark/internal/engine"
	"watchmark/internal/engine/queue"
	"watchmark/internal/engine/review"
	"watchmark/internal/match"
	"watchmark/internal/match/idmap"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/changes"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/hold"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/logs"
	"watchmark/internal/platform/metrics"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/replica"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/settings"
	"watchmark/internal/platform/task"
	"watchmark/internal/platform/tickets"
	"watchmark/internal/record"
	"watchmark/internal/record/webhooklog"
	"watchmark/internal/source/device"
	"watchmark/internal/source/nas"
	"watchmark/internal/source/tracker"
	"watchmark/internal/source/watcher"
	"watchmark/internal/tell/calendar"
	"watchmark/internal/tell/llm"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/notify/channel"
	"watchmark/internal/tell/summary"
	"watchmark/internal/tell/word"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/jobtest"
	"watchmark/internal/testkit/logtest"
	"watchmark/internal/upkeep/backup"
	"watchmark/internal/upkeep/diagnose"
	"watchmark/internal/upkeep/snapshot"
	"watchmark/internal/watch"
)

const (
	hookKey = "hook-key-of-the-tests"
	token   = "catalog-token-of-mira-0123456789"
)

// rig is the API over a real database and real HTTP, with a signed-in script.
type rig struct {
	t         *testing.T
	url       string
	db        *db.DB
	key       string // an API key
	settings  *settings.Manager
	records   *record.Store
	kept      *pages
	words     *word.Service
	snapshots *snapshot.Service
	questions *review.Store
	accounts  *account.Store
	store     *auth.Store
	notices   *notify.Notifier
	engine    *testEngine
	decisions *review.Service
	lists     *testAccounts
	calendar  *calendar.Service
	tasks     *task.Registry
	holds     *hold.Holds
	jobs      *schedule.Registry
	archive   *archive.Archive
	dataset   *idmap.Dataset
	seasons   *idmap.Lists
	log       *logtest.Buffer
	slog      *slog.Logger
	lines     *logs.Ring
	masker    *secret.Masker
	doctor    *diagnose.Doctor
	targets   []diagnose.Target
	summaries *summary.Service
	told      []notify.Notice // of summaries
	backups   *backup.Service
	problems  []string // that keep the service from being ready
	publicURL string   // the setting; empty for what the request used
	handler   http.Handler
	transport http.RoundTripper
	doc       *huma.OpenAPI
}

// newRig starts the API. environ are settings of the environment.
func newRig(t *testing.T, environ ...string) *rig {
	t.Helper()
	ctx := t.Context()
	dir := dbtest.Folder(t)
	d := dbtest.OpenIn(t, dir)
	box := must(secret.OpenBox(dir, "", false))(t)
	manager := must(settings.Load(ctx, settings.Options{Environ: environ, Overrides: settings.NewStore(d, changes.New(d)), Sealer: box}))(t)
	if !strings.Contains(strings.Join(environ, " "), "WEBHOOK_KEY") {
		if err := manager.Patch(ctx, map[string]map[string]any{"auth": {"webhook_key": hookKey}}); err != nil {
			t.Fatal(err)
		}
	}
	r := &rig{
		t: t, transport: http.DefaultTransport, db: d, settings: manager, records: record.NewStore(d), accounts: account.NewStore(d, box), log: &logtest.Buffer{},
		store: auth.NewStore(d, box, func() auth.Policy {
			return auth.Policy{SessionLife: time.Hour, LockoutAttempts: 3, LockoutTime: time.Minute, Entries: append(providerOf(manager).Entries(), servers.Entries(manager.Current().Auth.MediaServers)...)}
		}),
	}
	r.lists, r.kept = &testAccounts{accounts: r.accounts}, &pages{Store: r.records}
	masker := &secret.Masker{}
	r.masker, r.lines = masker, logs.NewRing(1<<20)
	log := slog.New(logs.Handler(masker.Handler(task.Handler(slog.NewMultiHandler(slog.NewTextHandler(r.log, nil), r.lines.Handler(slog.LevelDebug))))))
	r.slog = log
	r.doctor = diagnose.New(diagnose.Config{
		Targets: func() []diagnose.Target { return r.targets }, Timeout: func() time.Duration { return 20 * time.Second }, Masker: masker,
		ProxyFor: func(*url.URL) (*url.URL, error) { return nil, nil },
	})
	r.jobs, r.tasks, r.holds = jobtest.New(d, log)
	hourly := func() schedule.Plan { return schedule.Every(time.Hour) }
	mappings := mapping.NewStore(d, changes.New(d))
	r.questions = review.NewStore(d, mappings)
	r.notices = newNotifier(t, d, box, masker, manager, log)
	r.engine = r.startEngine(d, mappings, log)
	r.words = word.NewService(word.Config{DB: d, Accounts: r.accounts, Entries: r.engine.Entries, Notices: r.notices, Log: log})
	r.snapshots = snapshot.NewService(snapshot.Config{
		DB: d, Accounts: r.accounts, Tasks: r.tasks, Holds: r.holds, Entries: r.engine.Entries, Written: r.records.Written, Resumed: record.ResumedTx, Seen: r.words.Seen,
		Plan: hourly, Keep: func() int { return 30 }, Code: func(catalog.SubjectID) int { return 0 }, Log: log,
	})
	scheduler := queue.New(queue.Config{
		Queue: queue.NewQueue(d), Enabled: func() bool { return true }, Reachability: r.lists.reachability,
		Next: func(t time.Time) time.Time { return t.Add(time.Minute) }, Probe: r.lists.sign, Held: func([]int64) {}, Released: func([]int64) { r.engine.Wake() }, Log: log,
	})
	guard := &auth.Guard{Store: r.store, Enabled: func() bool { return manager.Current().Auth.Enabled }, PublicURL: func() string { return "" }, BasePath: "/base", Log: log}
	r.archive = archive.New(filepath.Join(dir, "archive"), log)
	t.Cleanup(func() { _ = r.archive.Close() })
	archiver := archive.NewImporter(archive.ImporterConfig{
		Archive: r.archive, Schedule: r.jobs, Enabled: func() bool { return manager.Current().CatalogArchive.Enabled },
		Plan: hourly, FreeMB: func() int { return 1 }, Log: log,
		Source: func() fetch.Config { return fetch.Config{} },
	})
	r.dataset = idmap.NewDataset(idmap.Config{
		Folder: dir, HTTP: must(httpx.New(httpx.Config{}, masker, log))(t), Schedule: r.jobs, Log: log,
		Enabled: func() bool { return manager.Current().Matching.DatasetEnabled },
		URL:     func() string { return manager.Current().Matching.DatasetURL },
		Plan:    hourly, Lists: func() []*idmap.Seasons { return r.seasons.InUse() },
	})
	r.seasons = idmap.NewLists(idmap.ListsConfig{
		Folder: dir, HTTP: must(httpx.New(httpx.Config{}, masker, log))(t), Schedule: r.jobs, Dataset: r.dataset, Log: log, Plan: hourly,
		Enabled:    func() bool { return manager.Current().IDMap.Enabled },
		AnimeLists: func() string { return manager.Current().IDMap.AnimeListsURL },
		Shinkro:    func() string { return manager.Current().IDMap.ShinkroURL },
	})
	library := nas.NewReader(nas.Config{
		DB: d, Folder: dir, Take: r.engine.Take, Schedule: r.jobs, Plan: hourly, Log: log,
		Options: func() nas.Options {
			s := manager.Current().NAS
			return nas.Options{Enabled: s.Enabled, Path: s.DatabasePath, User: s.User, MinPercent: s.MinPercent, Range: nas.Range(s.Range), Limit: s.Limit}
		},
	})
	boxes := must(device.NewWatcher(device.WatcherConfig{
		Store: device.NewStore(d), Take: r.engine.Take, Tasks: r.tasks, Masker: masker, Log: log, Loopback: true,
		Config: func() device.Config {
			c := manager.Current().Device
			return device.Config{Enabled: c.Enabled, Addresses: c.Addresses, Subnets: c.Subnets, Threshold: float64(c.MinPercent) / 100}
		},
	}))(t)
	model := r.newModel(masker, log)
	r.summaries = r.newSummaries(model, log)
	r.backups = backup.NewService(backup.Config{
		DataDir: dir, Dir: filepath.Join(dir, "backups"), Schedule: r.jobs, Log: log,
		Keep: func() int { return manager.Current().Backup.Keep }, Plan: hourly,
	})
	r.jobs.Add(r.backups.Job(), archiver.Job(), r.dataset.Job(), r.seasons.Job(), library.Job())
	subjects := api.Subjects{Catalog: subjects{}, Archive: r.archive, Settings: manager}
	stats := api.Stats{Records: r.records, Queue: queue.NewQueue(d), Webhooks: webhooklog.NewLog(d)}
	r.calendar = r.newCalendar(box, log)
	p := parts{
		rig: r, subjects: subjects, stats: stats, scheduler: scheduler, archiver: archiver, nas: library, device: boxes, model: model, mappings: mappings,
		tracker: r.newTracker(box, masker, log), watcher: r.newWatcher(box, masker, log), airing: r.newAiring(log), calendar: r.calendar,
		provider: oidc.New(oidc.Config{
			Settings: func() oidc.Settings { return providerOf(manager) }, HTTP: must(httpx.New(unhurried, masker, log))(t), Log: log,
			Flows: tickets.New[oidc.Flow](d, box, "oidc", oidc.FlowLife, oidc.FlowsMost), Ends: tickets.New[oidc.End](d, box, "oidc_end", oidc.EndLife, 1),
		}),
	}
	p.door = &servers.Door{Config: servers.Config{
		Open: func() []string { return manager.Current().Auth.MediaServers }, Connected: p.watcher.Connections, Dialer: r.dialer(masker, log), Log: log,
		Flows: tickets.New[servers.Flow](d, box, "plex_login", servers.FlowLife, servers.FlowsMost),
	}}
	r.doc = described()
	handler := api.New(api.Config{
		Version: "1.2.3", Guard: guard, Stylesheet: "/base/static/app.css", Icon: "/base/static/icon.svg", Stopping: t.Context().Done(), Log: log,
		PublicURL: func(ctx context.Context) string {
			if r.publicURL != "" {
				return r.publicURL
			}
			return "http://" + auth.ClientOf(ctx).Host + "/base"
		},
	}, p.resources()...)
	proxies := func() auth.Proxies { return auth.Proxies{} }
	doors := http.NewServeMux() // as package app has them: media servers and probes are no strangers to be counted
	doors.Handle("/", guard.Authenticate(handler))
	doors.Handle("/webhook/", handler)
	doors.Handle(api.ScrobblePath, guard.AuthenticateKey(handler))
	doors.Handle("/health", handler)
	for _, path := range api.LegacyPaths {
		doors.Handle("POST "+path, handler)
		doors.Handle("POST "+path+"/", handler)
	}
	doors.Handle("/health/", handler)
	r.handler = auth.Clients(proxies, auth.CrossOrigin(doors, "/webhook/"))
	server := httptest.NewServer(r.handler)
	t.Cleanup(server.Close)
	r.url = server.URL
	plain, _, err := r.store.CreateKey(ctx, "tests")
	if err != nil {
		t.Fatal(err)
	}
	r.key = plain
	return r
}

// parts are what the resources are made of.
type parts struct {
	*rig
	subjects  api.Subjects
	stats     api.Stats
	scheduler *queue.Scheduler
	archiver  *archive.Importer
	nas       *nas.Reader
	device    *device.Watcher
	tracker   *tracker.Service
	watcher   *watcher.Service
	model     *llm.Client
	airing    *summary.Airing
	calendar  *calendar.Service
	mappings  *mapping.Store
	provider  *oidc.Provider
	door      *servers.Door
}

// resources are all of the API. Those of no rig can be described, and not called.
func (p *parts) resources() []api.Resource {
	r := p.rig
	if r == nil {
		r = &rig{engine: &testEngine{}, lists: &testAccounts{}}
	}
	e := r.engine.Engine
	return []api.Resource{
		api.Webhooks{Engine: r.engine, Settings: r.settings, Masker: r.masker, People: r.store, Requests: new(metrics.Counter)},
		api.WebhookLog{Log: p.stats.Webhooks, Settings: r.settings, Masker: r.masker},
		api.Trials{Engine: r.engine, Records: r.records},
		api.Records{Store: r.records, Webhooks: p.stats.Webhooks, Engine: r.engine},
		api.Corrections{Decisions: r.decisions},
		api.Undo{Decisions: r.decisions, Tasks: r.tasks},
		api.Unwatched{Decisions: r.decisions},
		p.stats,
		api.Tasks{Registry: r.tasks, Engine: e},
		api.Jobs{Registry: r.jobs},
		api.Queue{Queue: p.stats.Queue, Scheduler: p.scheduler, Settings: r.settings, Reachability: r.lists.reachability, Probe: r.lists.Probe, CloseNews: e.CloseNews},
		api.People{Store: r.store, Accounts: r.accounts, Words: r.words, Rules: p.mappings, Tasks: r.tasks, Engine: e},
		api.Accounts{Store: r.accounts, People: r.store, Client: r.lists, Engine: e, Notices: r.notices, Words: r.words, Masker: r.masker, Kick: p.scheduler.Kick, Log: r.slog},
		api.Archive{Archive: r.archive, Importer: p.archiver, Tasks: r.tasks},
		api.Calendar{Service: p.calendar},
		api.Dataset{Table: r.dataset},
		api.IDMap{Lists: r.seasons},
		api.NAS{Reader: p.nas},
		api.Device{Watcher: p.device, Engine: e, Records: r.records},
		api.Tracker{Service: p.tracker},
		api.Servers{Service: p.watcher},
		api.Import{Accounts: r.accounts, People: r.store},
		api.Words{Service: r.words},
		api.Snapshots{Service: r.snapshots, Accounts: r.accounts, Watches: api.Watches{Records: r.kept, Questions: r.questions, Mappings: p.mappings}},
		api.Notifications{Notices: r.notices},
		api.Push{Notices: r.notices},
		api.Candidates{Store: r.questions, Decisions: r.decisions, Catalog: p.subjects.Catalog},
		p.subjects,
		api.Mappings{Store: p.mappings, Decisions: r.decisions, Subjects: p.subjects},
		api.Summaries{Service: r.summaries, Airing: p.airing, Notices: r.notices},
		api.LLM{Client: p.model},
		api.Settings{Manager: r.settings},
		api.Network{Doctor: r.doctor},
		api.Logs{Ring: r.lines},
		api.Diagnostics{
			Build: "1.2.3 abc go linux", Settings: r.settings, Masker: r.masker, Stats: p.stats, Reachability: r.lists.reachability, Questions: r.questions, Accounts: r.accounts,
			Archive: p.archiver, Dataset: r.dataset, NAS: p.nas, Device: p.device, Tracker: p.tracker, Tasks: r.tasks, Doctor: r.doctor, Logs: r.lines,
		},
		api.Provider{OIDC: p.provider, People: api.People{Store: r.store, Accounts: r.accounts, Words: r.words, Engine: e}},
		api.ServerLogin{Door: p.door, OIDC: p.provider, Accounts: r.accounts},
		api.Backups{Service: r.backups},
		api.Replicas{Overview: p.overview},
		api.HealthChecks{Problems: func(context.Context) []string { return r.problems }},
	}
}

// described is the document of every rig.
var described = sync.OnceValue(func() *huma.OpenAPI {
	return api.Document(api.Config{Version: "1.2.3", Guard: &auth.Guard{BasePath: "/base"}}, new(parts).resources()...)
})

// unhurried is a way out without a rate.
var unhurried = httpx.Config{PerMinute: 1e6, Burst: 1e6}

// providerOf is the OpenID Connect provider that the settings name.
func providerOf(m *settings.Manager) oidc.Settings {
	a := m.Current().Auth
	groups := map[auth.Role]string{auth.RoleOwner: a.OIDCOwnerGroup, auth.RolePerson: a.OIDCPersonGroup, auth.RoleGuest: a.OIDCGuestGroup}
	maps.DeleteFunc(groups, func(_ auth.Role, group string) bool { return group == "" })
	return oidc.Settings{
		Name: a.OIDCName, Issuer: a.OIDCIssuer, ClientID: a.OIDCClientID, ClientSecret: a.OIDCClientSecret, Allowed: a.OIDCAllowed, Groups: groups, GroupsClaim: a.OIDCGroupsClaim,
	}
}

// newNotifier runs a notifier until the test ends.
func newNotifier(t *testing.T, d *db.DB, box *secret.Box, masker *secret.Masker, m *settings.Manager, log *slog.Logger) *notify.Notifier {
	t.Helper()
	tools := must(channel.NewTools(httpx.Config{Timeout: 20 * time.Second}, time.Now, masker, log))(t)
	t.Cleanup(tools.Close)
	n := must(notify.New(t.Context(), notify.Config{
		DB: d, Changes: changes.New(d), Box: box, Masker: masker, Holds: hold.New(d, dbtest.Self(1), log), Log: log,
		Open: notify.OpenWith(tools, tools.ForPeople(func() bool { return m.Current().Notification.PeopleHome })), Secrets: notify.SecretsOf,
		Language: func() bilingual.Language { return bilingual.English }, Base: func() string { return "https://watch.example" },
	}))(t)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { n.Run(ctx); close(ended) }()
	t.Cleanup(func() { stop(); <-ended })
	return n
}

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// reply is an answer of the API.
type reply struct {
	t      *testing.T
	what   string
	status int
	header http.Header
	body   string
}

// do sends a request with the API key. A body that is not a string is sent as JSON.
func (r *rig) do(method, path string, body any, headers ...string) reply {
	r.t.Helper()
	return r.send(method, path, body, append([]string{"Authorization", "Bearer " + r.key}, headers...)...)
}

// anonymous sends a request of nobody.
func (r *rig) anonymous(method, path string, body any, headers ...string) reply {
	r.t.Helper()
	return r.send(method, path, body, headers...)
}

// send answers what the API does; every answer is held against the OpenAPI document.
func (r *rig) send(method, path string, body any, headers ...string) reply {
	r.t.Helper()
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	default:
		reader = bytes.NewReader(must(json.Marshal(b))(r.t))
	}
	req := must(http.NewRequestWithContext(r.t.Context(), method, r.url+path, reader))(r.t)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	res, err := r.transport.RoundTrip(req) // redirects are answers, too
	if err != nil {
		r.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer func() { _ = res.Body.Close() }()
	got := reply{r.t, method + " " + path, res.StatusCode, res.Header, string(must(io.ReadAll(res.Body))(r.t))}
	holdAgainst(r.t, r.doc, method, path, got)
	return got
}

// want checks the status and that the body holds each text.
func (r reply) want(status int, texts ...string) reply {
	r.t.Helper()
	if r.status != status {
		r.t.Fatalf("%s: status %d, want %d; body: %s", r.what, r.status, status, r.body)
	}
	for _, text := range texts {
		if !strings.Contains(r.body, text) {
			r.t.Errorf("%s: body lacks %q: %s", r.what, text, r.body)
		}
	}
	return r
}

// problem checks that the answer is a problem document with the status.
func (r reply) problem(status int, texts ...string) reply {
	r.t.Helper()
	r.want(status, texts...)
	if got := r.header.Get("Content-Type"); got != "application/problem+json" {
		r.t.Errorf("%s: Content-Type %q", r.what, got)
	}
	var p problem.Document
	r.into(&p)
	if p.Type == "" || p.Title != http.StatusText(status) || p.Status != status || p.Detail == "" {
		r.t.Errorf("%s: incomplete problem %s", r.what, r.body)
	}
	return r
}

func (r reply) into(v any) {
	r.t.Helper()
	if err := json.Unmarshal([]byte(r.body), v); err != nil {
		r.t.Fatalf("%s: %v in %s", r.what, err, r.body)
	}
}

// get is the value at the keys of the JSON body.
func (r reply) get(keys ...string) any {
	r.t.Helper()
	var v any
	r.into(&v)
	for _, key := range keys {
		object, ok := v.(map[string]any)
		if !ok {
			r.t.Fatalf("%s: no object around %q in %s", r.what, key, r.body)
		}
		if v, ok = object[key]; !ok {
			r.t.Fatalf("%s: no %q in %s", r.what, key, r.body)
		}
	}
	return v
}

// testEngine is the engine, which fails on command and remembers what it took in.
type testEngine struct {
	*engine.Engine

	mu     sync.Mutex
	fails  error // what everything answers; nil works
	events []watch.Event
}

func (e *testEngine) failing(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fails = err
}

func (e *testEngine) failure() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.fails
}

func (e *testEngine) Accept(ctx context.Context, a engine.Arrival) (engine.Accepted, error) {
	if err := e.failure(); err != nil {
		return engine.Accepted{}, err
	}
	e.mu.Lock()
	e.events = append(e.events, a.Events...)
	e.mu.Unlock()
	return e.Engine.Accept(ctx, a)
}

func (e *testEngine) Test(ctx context.Context, event watch.Event) (record.Record, error) {
	if err := e.failure(); err != nil {
		return record.Record{}, err
	}
	return e.Engine.Test(ctx, event)
}

func (e *testEngine) Retry(ctx context.Context, id int64) (*task.Task, error) {
	if err := e.failure(); err != nil {
		return nil, err
	}
	return e.Engine.Retry(ctx, id)
}

// matcher finds everything at 265, but for what mappings lead elsewhere; they may be nil.
type matcher struct{ mappings *mapping.Store }

func (m matcher) MatchOnline(ctx context.Context, event watch.Event) match.Trace {
	return m.Match(ctx, event)
}

// by leads where a mapping says.
func (m matcher) by(_ context.Context, event watch.Event, rules *mapping.Rules) match.Trace {
	trace := anything(event)
	if found, is := rules.Find([]string{event.Title}, event.Season, event.IsFilm(), event.Episode); is {
		trace.Result.SubjectID, trace.Result.Method = found.SubjectID, "mapping"
		trace.Steps = []match.Step{{Name: match.StepMapping, Status: match.Hit}}
		trace.Rule = &match.Rule{MappingID: found.ID, SubjectID: found.SubjectID, EpisodeOffset: found.EpisodeOffset}
	}
	return trace
}

func (subjects) Episode(_ context.Context, id catalog.EpisodeID) (catalog.EpisodeInfo, error) {
	return catalog.EpisodeInfo{ID: id, Name: "the title"}, nil
}

func (matcher) Blocked(context.Context, watch.Event) (match.Trace, bool) { return match.Trace{}, false }

func (m matcher) Match(ctx context.Context, event watch.Event) match.Trace {
	if m.mappings == nil {
		return anything(event)
	}
	rules, err := m.mappings.Rules(ctx)
	if err != nil {
		return match.Trace{Result: match.Result{Status: match.Unreachable, Reason: reason.Of(err)}}
	}
	return m.by(ctx, event, rules)
}

func anything(event watch.Event) match.Trace {
	sort := 26.0
	return match.Trace{
		Result: match.Result{Status: match.Matched, SubjectID: 265, SubjectName: event.Title, EpisodeID: 1027, EpisodeSort: &sort,
			Method: "api", Confidence: 0.98, Reason: reason.Text("the title is the same")},
		Steps: []match.Step{{Name: "api", Status: "hit", Input: map[string]any{"title": event.Title}, Output: map[string]any{},
			Candidates: []match.Candidate{{SubjectID: 265, Name: event.Title, Score: 0.98, Source: "api"}}}},
	}
}

// subjects is a catalog with two anime (265, 266), a live-action show (7), and an outage (503).
type subjects struct{}

func (subjects) Subject(_ context.Context, id catalog.SubjectID) (catalog.Subject, error) {
	switch id {
	case 265:
		return catalog.Subject{ID: 265, Type: catalog.Anime, Name: "灯台守のうた", NameCN: "灯塔守望者", Platform: "TV", Eps: 12}, nil
	case 266:
		return catalog.Subject{ID: 266, Type: catalog.Anime, Name: "series"}, nil
	case 7:
		return catalog.Subject{ID: 7, Type: catalog.Real, Name: "a show"}, nil
	case 8:
		return catalog.Subject{ID: 8, Type: catalog.Book, Name: "a book"}, nil
	case 503:
		return catalog.Subject{}, &catalog.Error{Kind: catalog.ErrUnreachable}
	}
	return catalog.Subject{}, &catalog.Error{Kind: catalog.ErrNotFound, Status: 404}
}

func (s subjects) Search(ctx context.Context, q catalog.SearchQuery) ([]catalog.Subject, error) {
	if q.Keyword == "nobody answers" {
		return nil, &catalog.Error{Kind: catalog.ErrUnreachable}
	}
	anime, _ := s.Subject(ctx, 265)
	show, _ := s.Subject(ctx, 7)
	return []catalog.Subject{anime, show}, nil
}

type lists struct{}

func (lists) Mark(_ context.Context, _ account.Account, _ catalog.SubjectID, episodes []catalog.EpisodeID, _ catalog.Intents) (catalog.MarkResult, error) {
	var result catalog.MarkResult
	for _, id := range episodes {
		result.Episodes = append(result.Episodes, catalog.MarkedEpisode{ID: id})
	}
	return result, nil
}

func (lists) MarkDoing(context.Context, account.Account, catalog.SubjectID, catalog.Intents) (catalog.MarkResult, error) {
	return catalog.MarkResult{}, nil
}

func (lists) Unmark(_ context.Context, _ account.Account, _ catalog.SubjectID, back catalog.TakeBack) (catalog.UnmarkResult, error) {
	return catalog.UnmarkResult{Cleared: back.Episodes}, nil
}

func (lists) IsAdult(context.Context, account.Account, catalog.SubjectID) (bool, error) {
	return false, nil
}

func (lists) MarkedAt(context.Context, account.Account, catalog.SubjectID, catalog.EpisodeID) (time.Time, error) {
	return time.Time{}, nil
}

func (lists) Rewatch(context.Context, account.Account, catalog.SubjectID, catalog.Rewatch) (catalog.RewatchResult, error) {
	return catalog.RewatchResult{}, nil
}

func (lists) Watched(context.Context, account.Account, catalog.SubjectID) (catalog.Watched, error) {
	return catalog.Watched{}, nil
}

// reachability is that of a catalog that answers what the lists do.
func (k *testAccounts) reachability() catalog.Reachability {
	if !errors.Is(k.err, catalog.ErrUnreachable) {
		return catalog.Reachability{Reachable: true}
	}
	return catalog.Reachability{Since: time.Now(), NextTrial: time.Now(), Problem: reason.Text("no answer")}
}

func (k *testAccounts) sign(context.Context) error { return k.err }

func (k *testAccounts) Probe(ctx context.Context) (account.Account, error) {
	a, err := k.accounts.Preferred(ctx)
	if err != nil {
		return a, err
	}
	return k.Check(ctx, a.ID)
}

// startEngine runs an engine until the test ends.
func (r *rig) startEngine(d *db.DB, mappings *mapping.Store, log *slog.Logger) *testEngine {
	self := must(replica.Join(r.t.Context(), replica.Config{DB: d, Name: "here", Log: log}))(r.t)
	e := engine.New(engine.Config{
		DB: d, Records: r.records, Replica: self, Entries: entries.New(d, self), Fresh: func(context.Context) error { return nil }, Reaches: func() bool { return true }, Ask: review.AskTx, Word: word.AskTx, NoWord: word.CloseTx, Accounts: r.accounts, People: r.store, Matcher: matcher{mappings}, Lists: lists{}, View: func(account.Account) match.Viewer { return nil }, Log: log,
		Taken: func(context.Context, *sql.Tx, watch.Event) (bool, error) { return false, nil },
		Queue: queue.NewQueue(d), Tasks: r.tasks, Queued: func() {}, Notices: r.notices,
		Options: func() engine.Options { return engine.Options{Workers: 1, MaxRetries: 1} },
	})
	r.decisions = review.New(review.Config{Engine: e, Questions: r.questions, Mappings: mappings, Holds: r.holds, MatchBy: matcher{mappings}.by, Catalog: subjects{}})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { e.Run(ctx, time.Second); close(ended) }()
	r.t.Cleanup(func() { _ = r.tasks.Stop(context.Background()); stop(); <-ended })
	return &testEngine{Engine: e}
}

// newModel is the language model that the settings lead to.
func (r *rig) newModel(masker *secret.Masker, log *slog.Logger) *llm.Client {
	return llm.New(llm.Config{
		HTTP: must(httpx.New(httpx.Config{PerMinute: 60000, Burst: 100, MaxBody: llm.MaxBody}, masker, log))(r.t), Usage: llm.NewUsage(r.db), Log: log,
		Options: func() llm.Options {
			s := r.settings.Current().LLM
			return llm.Options{BaseURL: s.BaseURL, APIKey: s.APIKey, Model: s.Model, MaxTokens: s.MaxTokens}
		},
	})
}

// newSummaries keeps summary jobs; what it tells is in told.
func (r *rig) newSummaries(model *llm.Client, log *slog.Logger) *summary.Service {
	return summary.NewService(summary.Config{
		Schedule: r.jobs, Tasks: r.tasks, Holds: r.holds, DB: r.db, Records: r.records, Model: model, Language: func() bilingual.Language { return bilingual.Language(r.settings.Current().Notification.Language) }, Next: settings.NextRun,
		Notify: func(_ context.Context, _ *sql.Tx, notices ...notify.Notice) error {
			for _, n := range notices {
				if !n.Over {
					r.told = append(r.told, n)
				}
			}
			return nil
		},
		Wake: func() {}, MayTry: r.notices.MayTry, Log: log,
	})
}

// newAiring tells what airs by the archive, while that is there.
func (r *rig) newAiring(log *slog.Logger) *summary.Airing {
	return summary.NewAiring(summary.AiringConfig{
		DB: r.db, Accounts: r.accounts, Log: log, Language: func() bilingual.Language { return bilingual.English }, Plan: func() schedule.Plan { return schedule.Every(time.Hour) },
		Calendar: r.calendar,
	})
}

// newCalendar knows what airs by the archive, while that is there. Nobody follows anything.
func (r *rig) newCalendar(box *secret.Box, log *slog.Logger) *calendar.Service {
	return calendar.New(calendar.Config{
		DB: r.db, Box: box, Accounts: r.accounts, Written: r.records.Written, Log: log, Table: func() calendar.Table { return nil },
		Guide: func() (calendar.Guide, calendar.Missing) {
			if !r.archive.Ready() {
				return nil, calendar.ArchiveMissing
			}
			return r.archive, ""
		},
	})
}

// mira adds an account that names the user mira.
func (r *rig) mira() {
	r.t.Helper()
	r.do("POST", "/api/accounts", map[string]any{"username": "mira", "access_token": token, "media_user_names": []string{"mira"}}).want(201)
}

// record adds a record of mira that no worker takes up, with a trace when it is settled.
func (r *rig) record(title string, status record.Status, traced bool) int64 {
	r.t.Helper()
	season, episode := 1, 1.0
	e := watch.Event{Source: watch.Custom, Action: watch.Watched, Media: watch.Episode, Title: title, Season: &season, Episode: &episode, UserName: "mira"}
	w := must(r.records.InsertClaimed(r.t.Context(), e, true, 0))(r.t)
	trace := matcher{}.Match(r.t.Context(), e)
	o := record.Outcome{RecordID: w.ID, Status: status, Method: trace.Result.Method, Confidence: trace.Result.Confidence}
	if traced {
		o.Trace = must(json.Marshal(trace))(r.t)
	}
	err := r.db.Write(r.t.Context(), func(ctx context.Context, tx *sql.Tx) error { return record.SettleTx(ctx, tx, o) })
	if err != nil {
		r.t.Fatal(err)
	}
	return w.ID
}

// testAccounts answers what a test wants.
type testAccounts struct {
	accounts *account.Store
	err      error
	redirect string
	state    string
	code     string
}

func (k *testAccounts) Check(ctx context.Context, id int64) (account.Account, error) {
	a, err := k.accounts.Get(ctx, id)
	if err != nil {
		return account.Account{}, err
	}
	return a, k.err
}

// Whose says that a token is of the user that it ends with.
func (k *testAccounts) Whose(_ context.Context, token secret.Text) (catalog.User, error) {
	name, good := strings.CutPrefix(token.Reveal(), "token-of-")
	if !good {
		return catalog.User{}, &catalog.Error{Kind: catalog.ErrUnauthorized}
	}
	id := 0
	for _, c := range name {
		id = id*31 + int(c)
	}
	return catalog.User{ID: id, Username: name}, k.err
}

func (k *testAccounts) StartOAuth(_ context.Context, redirectURI string, _ int64) (string, error) {
	k.redirect = redirectURI
	return "http://127.0.0.1/oauth/authorize?state=abc", k.err
}

func (k *testAccounts) FinishOAuth(ctx context.Context, state, code string) (account.Account, error) {
	k.state, k.code = state, code
	if k.err != nil {
		return account.Account{}, k.err
	}
	return k.accounts.Get(ctx, 1)
}
