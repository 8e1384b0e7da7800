package web_test

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/catalog/archive"
	"watchmark/internal/catalog/cover"
	"watchmark/internal/door/auth"
	"watchmark/internal/door/auth/oidc"
	"watchmark/internal/door/auth/servers"
	"watchmark/internal/door/web"
	"watchmark/internal/engine/queue"
	"watchmark/internal/engine/review"
	"watchmark/internal/match/idmap"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/changes"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/hold"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/logs"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/scope"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/settings"
	"watchmark/internal/platform/sse"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/record/webhooklog"
	"watchmark/internal/source/device"
	"watchmark/internal/tell/llm"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/notify/channel"
	"watchmark/internal/tell/summary"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/upkeep/backup"
	"watchmark/internal/upkeep/diagnose"
	"watchmark/internal/upkeep/replicas"
	"watchmark/internal/upkeep/update"
)

const (
	sessionValue = "good"
	// personOfRig is the id of who is signed in.
	personOfRig = 2
	webhookKey  = "kZ3v9Qm2Tn5xR8wB"
)

// rig is the pages over a real database, with an API that answers what a test tells
// it to and remembers what it was asked.
type rig struct {
	checking, damaged bool // as the check of the database at the start stands

	db        *db.DB
	records   *record.Store
	list      readList
	said      saidNow
	mappings  *mapping.Store
	questions *review.Store
	accounts  *account.Store
	log       *webhooklog.Log
	settings  *settings.Manager
	environ   []string // of the settings
	auth      *auth.Store
	config    web.Config
	server    *httptest.Server
	base      string
	shutdown  chan struct{}
	needs     bool // no administrator yet
	open      bool // sign-in is turned off
	archive   archive.Status
	dataset   idmap.Status
	seasons   idmap.ListsStatus
	backups   backup.Status
	update    update.Status
	overview  replicas.Overview
	network   []diagnose.Result
	logs      *logs.Ring
	notices   *notify.Notifier
	down      time.Time // since when the catalog does not answer; zero while it does
	answered  time.Time // when it answered last
	scheduler queue.Standing
	tasks     *task.Registry
	jobs      *schedule.Registry
	covers    map[catalog.SubjectID]cover.Image
	nas       nasStub
	device    device.Status
	tracker   trackerStub
	servers   serversStub
	summaries *summary.Service
	airing    summary.AiringStatus
	week      airingWeek
	provider  oidc.Status
	// signInServers are those that could sign people in.
	signInServers []servers.Server
	signIns       []auth.SignIn // of the reader, who has no password then
	differing     []string      // keys that replicas set in different ways
	twoFactor     auth.TwoFactor
	enrolment     auth.Enrolment

	role auth.Role // of who is signed in; empty is the owner
	// person is who is signed in; 0 is personOfRig.
	person int64
	mu     sync.Mutex
	calls  []apiCall
	// queries are those of the calls that had one.
	queries []string
	// answer is what the API answers; nil is 200 {}.
	answer func(apiCall) (status int, body string)
	// retryAfter is the Retry-After of answers; empty for none.
	retryAfter string
	// logStream answers the log of the service; nil is a quiet one.
	logStream http.HandlerFunc
}

// asFirst has a person signed in, whose account the first one is.
func (g *rig) asFirst(t testing.TB) {
	t.Helper()
	g.role = auth.RolePerson
	g.exec(t, `INSERT INTO people (id, name, role, password_hash, created_at, updated_at) VALUES (1, 'bench', 'owner', '', 0, 0), (2, 'mira', 'person', '', 0, 0)`)
	g.exec(t, `INSERT INTO person_media_users (name, person_id) VALUES ('mira', 2), ('Mira TV', 2)`)
	g.exec(t, `UPDATE accounts SET person_id = 2 WHERE id = 1`)
}

// apiCall is one request that the page's script made.
type apiCall struct {
	Method, Path, Body string
}

type option func(*rig)

func underPath(base string) option       { return func(g *rig) { g.base = base } }
func beforeSetup(g *rig)                 { g.needs = true }
func withEnviron(pairs ...string) option { return func(g *rig) { g.environ = pairs } }
func asDemo(g *rig)                      { g.config.Demo = &web.DemoLogin{Name: "demo", Password: "demo-password"} }

func newRig(t testing.TB, options ...option) *rig {
	t.Helper()
	d := dbtest.Open(t)
	g := &rig{db: d, records: record.NewStore(d), log: webhooklog.NewLog(d), logs: logs.NewRing(1 << 16), shutdown: make(chan struct{})}
	g.accounts = account.NewStore(d, plainSeal{})
	g.mappings = mapping.NewStore(d, changes.New(d))
	g.questions = review.NewStore(d, g.mappings)
	g.auth = auth.NewStore(d, plainSeal{}, func() auth.Policy { return auth.Policy{} })
	g.notices = noticesOn(t, d)
	g.jobs, g.tasks = newJobs(d)
	g.summaries = g.newSummaries()
	g.config = web.Config{
		PublicURL: func(context.Context) string { return g.server.URL + g.base },
		Viewer: func(r *http.Request) (auth.Identity, bool) {
			if g.open {
				return auth.Identity{Kind: auth.Open, Role: auth.RoleOwner}, true
			}
			cookie, err := r.Cookie(auth.CookieName)
			return auth.Identity{Kind: auth.BySession, Name: "mira", Role: cmp.Or(g.role, auth.RoleOwner), Person: cmp.Or(g.person, personOfRig)}, err == nil && cookie.Value == sessionValue
		},
		ToLogin: func(w http.ResponseWriter, r *http.Request) { (&auth.Guard{BasePath: g.base}).ToLogin(w, r) },
		SubjectURL: func(id catalog.SubjectID) string {
			return "https://catalog.example/subject/" + strconv.Itoa(int(id))
		},
		Cover: func(_ context.Context, id catalog.SubjectID) (cover.Image, error) {
			g.mu.Lock()
			defer g.mu.Unlock()
			if image, there := g.covers[id]; there {
				return image, nil
			}
			return cover.Image{}, cover.ErrNone
		},
		Changes:  g.records.Feed,
		Version:  "0.1.0",
		Stopping: g.shutdown,
		Log:      slog.New(slog.DiscardHandler),
	}
	for _, o := range options {
		o(g)
	}
	var err error
	if g.settings, err = settings.Load(t.Context(), settings.Options{Environ: g.environ, Overrides: settings.NewStore(d, changes.New(d)), Sealer: plainSeal{}}); err != nil {
		t.Fatal(err)
	}
	g.set(t, "auth", "webhook_key", webhookKey)
	g.set(t, "catalog", "oauth_client_id", "app")
	g.config.BasePath = g.base
	pages, err := web.New(g.config, g.groups())
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/api/", g.serveAPI)
	mux.HandleFunc("/api/logs/stream", func(w http.ResponseWriter, r *http.Request) {
		if g.logStream != nil {
			g.logStream(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-g.shutdown:
		}
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if g.role == auth.RolePerson { // as the guard does
			r = r.WithContext(scope.In(r.Context(), scope.Of(cmp.Or(g.person, personOfRig))))
		}
		pages.ServeHTTP(w, r)
	})
	g.server = httptest.NewServer(auth.SecurityHeaders(http.StripPrefix(g.base, mux)))
	t.Cleanup(func() {
		g.stop()
		_ = g.tasks.Stop(context.Background())
		g.server.Close()
	})
	return g
}

// set changes a setting.
func (g *rig) set(t testing.TB, section, key string, value any) {
	t.Helper()
	if err := g.settings.Patch(t.Context(), map[string]map[string]any{section: {key: value}}); err != nil {
		t.Fatal(err)
	}
}

// groups are the pages over the stores and stand-ins of the rig.
func (g *rig) groups() web.Groups {
	marks := queue.NewQueue(g.db)
	signInServers := func(context.Context) ([]servers.Server, error) { return g.signInServers, nil }
	archived, provider := func() archive.Status { return g.archive }, func(context.Context) (oidc.Status, error) { return g.provider, nil }
	sources := web.Sources{
		Records: g.records, Requests: g.log, Accounts: g.accounts, Settings: g.settings, Tasks: g.tasks,
		NAS: &g.nas, Device: func() device.Status { return g.device }, Tracker: &g.tracker, Servers: &g.servers, Person: g.auth.Person,
	}
	return web.Groups{
		Dashboard: web.Dashboard{
			Sources: sources, Records: g.records, Questions: g.questions, Accounts: g.accounts, Notices: g.notices, Queue: marks,
			Archive: archived, Reachability: g.reachability, Integrity: func() (checking, damaged bool) { return g.checking, g.damaged },
		},
		Records:  web.Records{Records: g.records, Questions: g.questions, Accounts: g.accounts, Requests: g.log, Tasks: g.tasks, WhoAre: g.auth.WhoAre},
		Review:   web.Review{Questions: g.questions, Names: g.auth.Names},
		Inbox:    web.Inbox{Notices: g.notices, Accounts: g.accounts, Records: g.records, WhoAre: g.auth.WhoAre},
		Queue:    web.Queue{Queue: marks, Scheduler: func() queue.Standing { return g.scheduler }, Reachability: g.reachability, Settings: g.settings, Tasks: g.tasks},
		Mappings: web.Mappings{Mappings: g.mappings, Names: g.auth.Names},
		Archive: web.Archive{Status: archived, Find: func(_ context.Context, q archive.Query) ([]archive.Found, error) {
			if q.Text != "灯塔守望者" {
				return []archive.Found{}, nil
			}
			return []archive.Found{{Subject: catalog.Subject{ID: 900001, Name: "灯台守のうた", NameCN: "灯塔守望者", Platform: "TV"}, How: archive.Equal, Kind: 1, Likeness: 1}}, nil
		}},
		Sources:       sources,
		Accounts:      web.Accounts{Accounts: g.accounts, Records: g.records, Settings: g.settings, Snapshots: g.snapshots(), Words: &g.said, Tasks: g.tasks, WhoAre: g.auth.WhoAre},
		Notifications: web.Notifications{Notices: g.notices, Accounts: g.accounts, Records: g.records, PushKey: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"},
		Summaries: web.Summaries{
			Jobs: g.summaries, Airing: func(context.Context) (summary.AiringStatus, error) { return g.airing, nil }, Usage: llm.NewUsage(g.db).Report,
			Notices: g.notices, Accounts: g.accounts, Records: g.records, Settings: g.settings,
		},
		Calendar: web.Calendar{Service: g.newCalendar()},
		Tasks:    web.Tasks{Tasks: g.tasks, Jobs: g.jobs},
		Settings: web.Settings{
			Differing: func(context.Context) ([]string, error) { return g.differing, nil },
			Settings:  g.settings, Backups: func() backup.Status { return g.backups }, Provider: provider, APIKeys: g.auth.ListKeys, Servers: signInServers, Person: func(_ context.Context, id int64) (auth.Person, error) {
				return auth.Person{ID: id, Name: "mira", Role: cmp.Or(g.role, auth.RoleOwner), HasPassword: len(g.signIns) == 0, SignIns: g.signIns, MediaUserNames: []string{"mira"}}, nil
			},
			TwoFactor: func(context.Context, int64) (auth.TwoFactor, error) { return g.twoFactor, nil },
			Enrolment: func(context.Context, int64) (auth.Enrolment, bool, error) {
				return g.enrolment, g.enrolment.URI != "", nil
			},
		},
		Debug: web.Debug{Accounts: g.accounts, Requests: g.log, Settings: g.settings, Lines: g.logs, Match: g.testMatch, Network: func() []diagnose.Result {
			g.mu.Lock()
			defer g.mu.Unlock()
			return slices.Clone(g.network)
		}},
		About: web.About{Table: func() idmap.Status { return g.dataset }, Seasons: func() idmap.ListsStatus { return g.seasons },
			Update:   func() update.Status { return g.update },
			Overview: func(context.Context) (replicas.Overview, error) { return g.overview, nil },
			Modules:  []web.Module{{Path: "github.com/danielgtaylor/huma/v2", Version: "v2.37.2"}, {Path: "modernc.org/sqlite", Version: "v1.60.1"}, {Path: "github.com/remyoudompheng/bigfft", Version: "v0.0.0-20230129092748-24d4a6f8daec"}}},
		SignIn: web.SignIn{NeedsSetup: func(context.Context) (bool, error) { return g.needs, nil }, Provider: provider, ByGroup: func() bool { return true }, Servers: signInServers, Invited: g.auth.Invited},
		Mine:   web.Mine{Records: g.records, Accounts: g.accounts, Words: &g.said, Tasks: g.tasks, Person: g.auth.Person, OAuthReady: func() bool { return g.settings.Current().Catalog.OAuthClientID != "" }}, Household: web.Household{People: g.auth.People, Accounts: g.accounts},
	}
}

// noticesOn is what tells people, on a database, with the real channels.
func noticesOn(t testing.TB, d *db.DB) *notify.Notifier {
	t.Helper()
	box, err := secret.OpenBox(t.TempDir(), "", false)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := channel.NewTools(httpx.Config{}, time.Now, &secret.Masker{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tools.Close)
	n, err := notify.New(t.Context(), notify.Config{DB: d, Changes: changes.New(d), Box: box, Masker: &secret.Masker{}, Holds: hold.New(d, dbtest.Self(1), slog.New(slog.DiscardHandler)), Log: slog.New(slog.DiscardHandler),
		Open: notify.OpenWith(tools, tools.ForPeople(func() bool { return false })), Secrets: notify.SecretsOf,
		Language: func() bilingual.Language { return bilingual.English },
		Base:     func() string { return "" },
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (g *rig) reachability() catalog.Reachability {
	if g.down.IsZero() {
		return catalog.Reachability{Reachable: true, Answered: g.answered}
	}
	return catalog.Reachability{Since: g.down, NextTrial: time.Now().Add(time.Minute), Problem: reason.WithDetail.With(value("http_connection", "api.catalog.example"), reason.Of(syscall.ECONNREFUSED))}
}

// stop ends the live connections, as the service does before it stops.
func (g *rig) stop() {
	select {
	case <-g.shutdown:
	default:
		close(g.shutdown)
	}
}

func (g *rig) serveAPI(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // a cut body shows in the comparison
	call := apiCall{r.Method, r.URL.Path, string(body)}
	if id, streamed := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/api/tasks/"), "/stream"); streamed {
		g.stream(w, r, id)
		return
	}
	g.mu.Lock()
	g.calls = append(g.calls, call)
	if r.URL.RawQuery != "" {
		g.queries = append(g.queries, r.URL.RawQuery)
	}
	answer := g.answer
	g.mu.Unlock()
	status, text := http.StatusOK, "{}"
	if answer != nil {
		status, text = answer(call)
	}
	if r.URL.Path == "/api/login" && status == http.StatusOK {
		http.SetCookie(w, &http.Cookie{Name: auth.CookieName, Value: sessionValue, Path: g.base + "/"})
	}
	w.Header().Set("Content-Type", "application/json")
	if g.retryAfter != "" {
		w.Header().Set("Retry-After", g.retryAfter)
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// stream sends the log of a task until it ends, as the API does; tasks that the rig does not have send nothing.
func (g *rig) stream(w http.ResponseWriter, r *http.Request, text string) {
	out, _ := sse.Start(w)
	id, _ := strconv.ParseInt(text, 10, 64)
	t, err := g.tasks.Get(r.Context(), id)
	if err != nil {
		return
	}
	for seen := 0; ; {
		status := t.Status()
		lines, more := t.After(seen)
		for _, line := range lines {
			seen = line.ID
			out.Send("log", strconv.Itoa(seen), line.Text)
		}
		if status.State != task.Running {
			out.Send("result", strconv.Itoa(seen+1), status.JSON())
			return
		}
		out.Send("progress", "", status.JSON())
		select {
		case <-r.Context().Done():
			return
		case <-g.shutdown:
			return
		case <-more:
		}
	}
}

func (g *rig) asked() []apiCall {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.calls)
}

// client is a browser without a script; it is signed in when asked to be and follows no redirect.
func (g *rig) client(t testing.TB, signedIn bool) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	if signedIn {
		at, err := url.Parse(g.server.URL)
		if err != nil {
			t.Fatal(err)
		}
		jar.SetCookies(at, []*http.Cookie{{Name: auth.CookieName, Value: sessionValue, Path: "/"}})
	}
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// page is one answer, read whole.
type page struct {
	status int
	header http.Header
	body   string
}

func (g *rig) get(t testing.TB, client *http.Client, path, lang string) page {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.server.URL+g.base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept-Language", lang)
	return do(t, client, request)
}

func do(t testing.TB, client *http.Client, request *http.Request) page {
	t.Helper()
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return page{answer.StatusCode, answer.Header, string(body)}
}

func mustContain(t testing.TB, text string, wanted ...string) {
	t.Helper()
	for _, w := range wanted {
		if !strings.Contains(text, w) {
			t.Errorf("the page lacks %q", w)
		}
	}
}

// plainSeal leaves tokens as they are: no page ever reads one.
type plainSeal struct{}

func (plainSeal) Seal(plain, _ string) string           { return plain }
func (plainSeal) Open(sealed, _ string) (string, error) { return sealed, nil }
func (plainSeal) Mark(plain, _ string) string           { return plain }

func encode(t testing.TB, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func token(text string) account.Tokens { return account.Tokens{Access: secret.Text(text)} }
