// Package api is the JSON API under /api, the webhook door under /webhook, and
// /health: one file a resource. It decodes, checks who is calling, calls the
// features, and turns their errors into problem documents at one place (errors.go).
//
// What it promises: every path under /api but those in open needs an identity;
// an error never repeats what was sent, and an error nobody foresaw is logged whole
// under a request id and shown as "internal error"; unknown body fields are refused;
// the OpenAPI document that the service answers is made from the handlers themselves.
package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"golang.org/x/time/rate"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/catalog/archive"
	"watchmark/internal/door/auth"
	"watchmark/internal/door/auth/oidc"
	"watchmark/internal/engine"
	"watchmark/internal/engine/queue"
	"watchmark/internal/engine/review"
	"watchmark/internal/match"
	"watchmark/internal/match/idmap"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/logs"
	"watchmark/internal/platform/metrics"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/settings"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/record/webhooklog"
	"watchmark/internal/source/device"
	"watchmark/internal/source/importer"
	"watchmark/internal/source/nas"
	"watchmark/internal/source/tracker"
	"watchmark/internal/tell/llm"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/summary"
	"watchmark/internal/upkeep/backup"
	"watchmark/internal/upkeep/diagnose"
	"watchmark/internal/watch"
)

// Engine takes events in and runs them; *engine.Engine is one.
type Engine interface {
	Accept(ctx context.Context, a engine.Arrival) (ids []int64, err error)
	Preview(ctx context.Context, event watch.Event) (match.Trace, error)
	Test(ctx context.Context, event watch.Event) (record.Record, error)
	Settled(ctx context.Context, id int64) (record.Record, error)
	AcceptTest(ctx context.Context, event watch.Event) (int64, error)
	Retry(ctx context.Context, id int64) (*task.Task, error)
	LastRetry(id int64) (*task.Task, error)
	RetryFailed(f record.Filter) (*task.Task, error)
	Correct(ctx context.Context, id int64, c engine.Correction) (engine.Corrected, error)
	PreviewCorrection(ctx context.Context, id int64, c engine.Correction) (engine.Preview, error)
	Unmark(ctx context.Context, id int64, message string) (record.Record, error)
	Rule(ctx context.Context, event watch.Event, rules *mapping.Rules) (engine.Ruled, error)
	Chosen(ctx context.Context, id catalog.SubjectID) (catalog.Subject, error)
	IgnoreUser(ctx context.Context, user string) error
	HeedUser(ctx context.Context, user string) error
	Confirm(ctx context.Context, questionID int64, c review.Choice) (engine.Answered, error)
	Reject(ctx context.Context, questionID int64) (engine.Answered, error)
	UndoAnswer(ctx context.Context, questionID int64) (engine.Answered, error)
}

// Keeper looks after the tokens of accounts; *account.Keeper is one.
type Keeper interface {
	Check(ctx context.Context, accountID int64) (account.Account, error)
	Probe(ctx context.Context) (account.Account, error)
	StartOAuth(ctx context.Context, redirectURI string, accountID int64) (authorizeURL string, err error)
	FinishOAuth(ctx context.Context, state, code string) (account.Account, error)
}

// Deps is what the API works with. Every field must be set.
type Deps struct {
	// Version is what /health and the OpenAPI document answer.
	Version string
	// Guard knows who is calling and makes session cookies. Its Authenticate must be
	// wrapped around the handler; its BasePath is where a proxy puts the service.
	Guard *auth.Guard
	// OIDC signs people in by a provider.
	OIDC     *oidc.Provider
	Settings *settings.Manager
	Engine   Engine
	Records  *record.Store
	Queue    *queue.Queue
	Replay   Replay
	// Reachability is what is known of the catalog without asking it.
	Reachability func() catalog.Reachability
	Tasks        *task.Registry
	// Backups makes and keeps backups.
	Backups *backup.Keeper
	// Problems are what keeps the service from taking webhooks, in words for everybody.
	Problems func(ctx context.Context) []string
	// Stopping is closed when the service stops, which ends streams.
	Stopping <-chan struct{}
	Webhooks *webhooklog.Log
	// Requests counts what came to the webhooks, by source, outcome and status.
	Requests *metrics.Counter
	Accounts *account.Store
	Keeper   Keeper
	// Archive is the offline archive, ArchiveKeeper imports it.
	Archive       *archive.Archive
	ArchiveKeeper *archive.Keeper
	// Dataset keeps the id table.
	Dataset *idmap.Keeper
	// NAS reads the library of a NAS.
	NAS *nas.Keeper
	// Device asks the TV boxes.
	Device *device.Keeper
	// Importer takes in what media servers remember.
	Importer *importer.Keeper
	// Tracker keeps the sign-ins at the tracker and reads histories.
	Tracker *tracker.Keeper
	// Notices tells people what happened.
	Notices   *notify.Notifier
	Mappings  *mapping.Store
	Questions *review.Store
	// Subjects are looked up in the catalog.
	Subjects Subjects
	// LLM is the language model that writes summaries.
	LLM *llm.Client
	// Summary keeps the summary jobs, Airing tells what airs today.
	Summary *summary.Keeper
	Airing  *summary.Airing
	// Doctor looks at the services outside.
	Doctor *diagnose.Doctor
	// Logs are the newest lines of the log.
	Logs *logs.Ring
	// Build says in one line what was built.
	Build string
	// Masker knows the service's secrets; bodies go through it before the webhook log keeps them.
	Masker *secret.Masker
	// PublicURL is the address that the request's sender reaches the service by, base path included.
	PublicURL func(context.Context) string
	// Stylesheet and Icon are the paths, base path included, of the style and the icon of /api/docs.
	Stylesheet, Icon string
	Log              *slog.Logger
}

type server struct {
	Deps
	mux *http.ServeMux
	api huma.API
	// forDocument is set where the schemas of answers are wanted. Serving needs them not, and they take a
	// megabyte: the document is made by a server of its own when somebody asks for it.
	forDocument bool
	started     time.Time
	strangers   *rate.Limiter
	trials      *rate.Limiter    // of hosts that a caller names
	bodies      *bodyRoom        // of webhooks
	openBodies  *bodyRoom        // of those that anybody may send
	openDoor    *auth.Allowances // for those, by address
	uploading   sync.Mutex       // held while a dump is uploaded: one at a time
}

// New is the handler of /api/, /webhook/, /health and what is below it, and of LegacyPaths. It sees paths without the
// base path and works behind auth.Clients and Guard.Authenticate. Requests without an
// identity get 401, but for the open paths; pages (/api/docs and the return from
// OAuth) lead to the login instead.
func New(deps Deps) http.Handler {
	return http.HandlerFunc(newServer(deps, false).serve)
}

// newServer makes the server, or with forDocument one whose document is complete.
func newServer(deps Deps, forDocument bool) *server {
	s := &server{Deps: deps, forDocument: forDocument, mux: http.NewServeMux(), started: time.Now(), trials: newTrials(), strangers: rate.NewLimiter(strangersPerSecond, strangersAtOnce), bodies: newBodyRoom(bodiesMost),
		openBodies: newBodyRoom(openBodiesMost), openDoor: auth.NewAllowances(openAtOnce, openPerSecond)}
	s.api = humago.New(s.mux, s.config())
	s.registerWebhooks()
	s.registerTrials()
	s.registerRecords()
	s.registerCorrections()
	s.registerTasks()
	s.registerReplay()
	s.registerAccounts()
	s.registerIgnored()
	s.registerOAuth()
	s.registerArchive()
	s.registerDataset()
	s.registerNAS()
	s.registerDevice()
	s.registerTracker()
	s.registerImport()
	s.registerChannels()
	s.registerNotificationRules()
	s.registerInbox()
	s.registerCandidates()
	s.registerSubjects()
	s.registerMappings()
	s.registerBlocked()
	s.registerSummaries()
	s.registerLLM()
	s.registerSettings()
	s.registerWebhookLog()
	s.registerStats()
	s.registerNetwork()
	s.registerLogs()
	s.registerDiagnostics()
	s.registerLogin()
	s.registerKeys()
	s.registerBackups()
	s.registerHealth()
	s.registerDocs()
	s.mux.HandleFunc("/", s.notFound)
	return s
}

// config is that of the library: JSON only, no pages of its own.
func (s *server) config() huma.Config {
	var servers []*huma.Server
	if s.Guard.BasePath != "" {
		servers = []*huma.Server{{URL: s.Guard.BasePath}}
	}
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title:       "Watchmark",
				Version:     s.Version,
				Description: "Media servers tell Watchmark what was watched; it marks the episode on the right person's list.",
			},
			Servers: servers,
			Components: &huma.Components{
				Schemas: huma.NewMapRegistry("#/components/schemas/", schemaName),
				SecuritySchemes: map[string]*huma.SecurityScheme{
					"apiKey":  {Type: "http", Scheme: "bearer", Description: "An API key: watchmark api-key create NAME"},
					"session": {Type: "apiKey", In: "cookie", Name: auth.CookieName, Description: "The cookie that POST /api/login sets."},
				},
			},
			Security: []map[string][]string{{"apiKey": {}}, {"session": {}}},
			Tags:     tags,
		},
		Formats:       map[string]huma.Format{"application/json": huma.DefaultJSONFormat, "json": huma.DefaultJSONFormat},
		DefaultFormat: "application/json",
	}
}

// open lists the operations that nobody needs to sign in for.
var open = map[string]bool{
	"GET /health":                 true,
	"GET /health/live":            true,
	"GET /health/ready":           true,
	"POST /api/setup":             true,
	"POST /api/login":             true,
	"POST " + providerPath:        true,
	"GET " + providerCallbackPath: true,
	"GET /api/session":            true,
}

// serve answers one request.
func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	defer s.recover(w, r)
	if under(r.URL.Path, "/api") {
		w.Header().Set("Cache-Control", "no-store")
		if _, known := auth.IdentityOf(r.Context()); !known && !open[r.Method+" "+r.URL.Path] {
			if r.Method == http.MethodGet && (r.URL.Path == docsPath || r.URL.Path == callbackPath || r.URL.Path == trackerCallbackPath) {
				s.Guard.ToLogin(w, r)
				return
			}
			auth.RefuseAPI(w, r)
			return
		}
	}
	s.mux.ServeHTTP(w, r)
}

func under(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

// recover answers a panic as an internal error, when nothing was answered yet.
func (s *server) recover(w http.ResponseWriter, r *http.Request) {
	cause := recover()
	if cause == nil {
		return
	}
	if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(cause)
	}
	s.internal(r.Context(), r.Method+" "+r.URL.Path, fmt.Errorf("panic: %v\n%s", cause, debug.Stack())).write(w)
}

// internal logs what went wrong and is the Problem to show instead of it.
func (s *server) internal(ctx context.Context, doing string, err error) *Problem {
	p := problem(http.StatusInternalServerError, internalError)
	p.RequestID = auth.ClientOf(ctx).RequestID
	s.Log.ErrorContext(ctx, "cannot answer a request", "request", doing, "error", err)
	return p
}

// notFound answers every path and method that nothing else does.
func (s *server) notFound(w http.ResponseWriter, r *http.Request) {
	if allowed := s.allowed(r); len(allowed) > 0 {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		problem(http.StatusMethodNotAllowed, fmt.Sprintf("This path takes %s, not %s.", strings.Join(allowed, " or "), short(r.Method))).write(w)
		return
	}
	problem(http.StatusNotFound, "There is nothing at this path. GET /api/docs lists what there is.").write(w)
}

// allowed lists the methods that the path of the request takes.
func (s *server) allowed(r *http.Request) []string {
	var methods []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := s.mux.Handler(other); pattern != "/" && pattern != "" {
			methods = append(methods, method)
		}
	}
	return methods
}

// short makes foreign text fit for a sentence.
func short(text string) string {
	const most = 40
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strings.ToValidUTF8(text, "")
}
