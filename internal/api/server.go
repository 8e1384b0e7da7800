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
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"watchmark/internal/account"
	"watchmark/internal/archive"
	"watchmark/internal/auth"
	"watchmark/internal/auth/oidc"
	"watchmark/internal/backup"
	"watchmark/internal/candidate"
	"watchmark/internal/catalog"
	"watchmark/internal/dataset"
	"watchmark/internal/diagnose"
	"watchmark/internal/engine"
	"watchmark/internal/importer"
	"watchmark/internal/llm"
	"watchmark/internal/logring"
	"watchmark/internal/mapping"
	"watchmark/internal/match"
	"watchmark/internal/metrics"
	"watchmark/internal/notify"
	"watchmark/internal/record"
	"watchmark/internal/replay"
	"watchmark/internal/secret"
	"watchmark/internal/settings"
	"watchmark/internal/source/device"
	"watchmark/internal/source/nas"
	"watchmark/internal/summary"
	"watchmark/internal/task"
	"watchmark/internal/tracker"
	"watchmark/internal/watch"
	"watchmark/internal/webhook"
)

// Engine takes events in and runs them; *engine.Engine is one.
type Engine interface {
	Accept(ctx context.Context, a engine.Arrival) (ids []int64, err error)
	Preview(ctx context.Context, event watch.Event) (match.Trace, error)
	Test(ctx context.Context, event watch.Event) (record.Record, error)
	AcceptTest(ctx context.Context, event watch.Event) (int64, error)
	Retry(ctx context.Context, id int64) (*task.Task, error)
	LastRetry(id int64) (*task.Task, error)
	RetryFailed(f record.Filter) (*task.Task, error)
	Correct(ctx context.Context, id int64, c engine.Correction) (engine.Corrected, error)
	PreviewCorrection(ctx context.Context, id int64, c engine.Correction) (engine.Preview, error)
	Unmark(ctx context.Context, id int64, message string) (record.Record, error)
	Rule(ctx context.Context, event watch.Event, rules *mapping.Rules) (engine.Ruled, error)
	Chosen(ctx context.Context, id catalog.SubjectID) (catalog.Subject, error)
	Confirm(ctx context.Context, questionID int64, c candidate.Choice) (engine.Answered, error)
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
	Queue    *replay.Queue
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
	Webhooks *webhook.Log
	// Requests counts what came to the webhooks, by source, outcome and status.
	Requests *metrics.Counter
	Accounts *account.Store
	Keeper   Keeper
	// Archive is the offline archive, ArchiveKeeper imports it.
	Archive       *archive.Archive
	ArchiveKeeper *archive.Keeper
	// Dataset keeps the id table.
	Dataset *dataset.Keeper
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
	Questions *candidate.Store
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
	Logs *logring.Ring
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
	trials      *rate.Limiter       // of hosts that a caller names
	bodies      *semaphore.Weighted // bytes of webhook bodies
	uploading   sync.Mutex          // held while a dump is uploaded: one at a time
}

// New is the handler of /api/, /webhook/, /health and what is below it. It sees paths without the base
// path and works behind auth.Clients and Guard.Authenticate. Requests without an
// identity get 401, but for the open paths; pages (/api/docs and the return from
// OAuth) lead to the login instead.
func New(deps Deps) http.Handler {
	return http.HandlerFunc(newServer(deps, false).serve)
}

// newServer makes the server, or with forDocument one whose document is complete.
func newServer(deps Deps, forDocument bool) *server {
	s := &server{Deps: deps, forDocument: forDocument, mux: http.NewServeMux(), started: time.Now(), trials: newTrials(), strangers: rate.NewLimiter(strangersPerSecond, strangersAtOnce), bodies: semaphore.NewWeighted(bodiesMost)}
	s.api = humago.New(s.mux, s.config())
	s.registerWebhooks()
	s.registerTrials()
	s.registerRecords()
	s.registerCorrections()
	s.registerTasks()
	s.registerReplay()
	s.registerAccounts()
	s.registerOAuth()
	s.registerArchive()
	s.registerDataset()
	s.registerNAS()
	s.registerDevice()
	s.registerTracker()
	s.registerImport()
	s.registerNotifications()
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

// call is what a handler may need of its request beyond the input.
type call struct {
	controller *http.ResponseController
}

type callKey struct{}

// serve answers one request.
func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	c := &call{controller: http.NewResponseController(w)}
	r = r.WithContext(context.WithValue(r.Context(), callKey{}, c))
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

// bodyTime is how long a request may take to send its body.
const bodyTime = 15 * time.Second

// register adds an operation that answers JSON. To the library all of these answer the same type, for it makes
// twenty kilobytes of code for each pair of types that it is given; what T is stands in the document.
func register[I, T any](s *server, op huma.Operation, fn func(context.Context, *I) (*JSON[T], error)) {
	said := reflect.TypeFor[JSON[T]]()
	body, _ := said.FieldByName("Body") // JSON has it
	status := strconv.Itoa(cmp.Or(op.DefaultStatus, http.StatusOK))
	if op.Responses == nil {
		op.Responses = map[string]*huma.Response{}
	}
	if op.Responses[status] == nil {
		op.Responses[status] = &huma.Response{}
	}
	if s.forDocument && op.Responses[status].Content == nil {
		schema := huma.SchemaFromField(s.api.OpenAPI().Components.Schemas, body, said.Name()+"Body")
		op.Responses[status].Content = map[string]*huma.MediaType{"application/json": {Schema: schema}}
	}
	registerOther(s, op, func(ctx context.Context, in *I) (*JSON[any], error) {
		out, err := fn(ctx, in)
		if err != nil {
			return nil, err
		}
		return &JSON[any]{out.Body}, nil
	})
}

// registerOther adds an operation whatever it answers: its errors become Problems, and the document gets the
// answers that every operation of its kind can give.
func registerOther[I, O any](s *server, op huma.Operation, fn func(context.Context, *I) (*O, error)) {
	doing := op.Method + " " + op.Path
	if open[doing] {
		op.Security = []map[string][]string{}
	} else {
		op.Errors = append(op.Errors, http.StatusUnauthorized)
	}
	if op.Method != http.MethodGet {
		op.Errors = append(op.Errors, http.StatusForbidden) // a page of another site, see auth.CrossOrigin
	}
	for _, name := range []string{"Body", "RawBody"} {
		if _, has := reflect.TypeFor[I]().FieldByName(name); has {
			op.Errors = append(op.Errors, http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
			break
		}
	}
	if op.MaxBodyBytes == 0 {
		op.MaxBodyBytes = 1 << 20
	}
	op.BodyReadTimeout = bodyTime
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*O, error) {
		if c, ok := ctx.Value(callKey{}).(*call); ok {
			// The deadline for the body must not end the request while it is worked on.
			// A writer without deadlines had none set either.
			_ = c.controller.SetReadDeadline(time.Time{})
		}
		out, err := fn(ctx, in)
		if err != nil {
			return nil, s.problemOf(ctx, doing, err)
		}
		return out, nil
	})
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

// schemaNames are those of types whose own name says too little outside of their package.
var schemaNames = map[string]string{
	"watchmark/internal/auth.Key":                "APIKey",
	"watchmark/internal/settings.Key":            "SettingsKey",
	"watchmark/internal/settings.Section":        "SettingsSection",
	"watchmark/internal/webhook.Entry":           "WebhookLogEntry",
	"watchmark/internal/match.Result":            "TraceResult",
	"watchmark/internal/match.Step":              "TraceStep",
	"watchmark/internal/mapping.Blocked":         "BlockedKeyword",
	"watchmark/internal/mapping.Tally":           "ImportTally",
	"watchmark/internal/candidate.Question":      "PendingCandidate",
	"watchmark/internal/replay.Entry":            "QueueTask",
	"watchmark/internal/task.Status":             "Task",
	"watchmark/internal/archive.Progress":        "ArchiveProgress",
	"watchmark/internal/dataset.Status":          "DatasetStatus",
	"watchmark/internal/source/nas.Status":       "NASStatus",
	"watchmark/internal/source/nas.Reason":       "NASReason",
	"watchmark/internal/source/nas.User":         "NASUser",
	"watchmark/internal/source/device.Status":    "DeviceStatus",
	"watchmark/internal/source/device.Scanned":   "DeviceScan",
	"watchmark/internal/source/device.Synced":    "DeviceSync",
	"watchmark/internal/source/device.Event":     "DeviceEvent",
	"watchmark/internal/source/device.Now":       "DevicePlayback",
	"watchmark/internal/source/device.Reading":   "DeviceReading",
	"watchmark/internal/notify.Rule":             "NotificationRule",
	"watchmark/internal/notify/channel.Webhook":  "WebhookConfig",
	"watchmark/internal/notify/channel.Email":    "EmailConfig",
	"watchmark/internal/notify/channel.WeCom":    "WeComConfig",
	"watchmark/internal/notify/channel.DingTalk": "DingTalkConfig",
	"watchmark/internal/notify/channel.Header":   "WebhookHeader",
	"watchmark/internal/importer.About":          "MediaServer",
	"watchmark/internal/importer.User":           "MediaServerUser",
	"watchmark/internal/importer.Library":        "MediaServerLibrary",
	"watchmark/internal/backup.Status":           "Backups",
	"watchmark/internal/backup.File":             "BackupFile",
	"watchmark/internal/diagnose.Result":         "NetworkResult",
	"watchmark/internal/diagnose.Route":          "NetworkRoute",
	"watchmark/internal/diagnose.Stage":          "NetworkStage",
	"watchmark/internal/diagnose.Reach":          "HostRoute",
	"watchmark/internal/logring.Entry":           "LogLine",
	"watchmark/internal/tracker.Status":          "TrackerStatus",
	"watchmark/internal/tracker.SyncStatus":      "TrackerSyncStatus",
	"watchmark/internal/tracker.User":            "TrackerUser",
	"watchmark/internal/tracker.UserSync":        "TrackerUserSync",
	"watchmark/internal/tracker.Device":          "TrackerDevice",
	"watchmark/internal/llm.Report":              "LLMUsage",
	"watchmark/internal/llm.Used":                "LLMUsed",
	"watchmark/internal/llm.Count":               "LLMCount",
	"watchmark/internal/summary.Job":             "SummaryJob",
	"watchmark/internal/summary.Last":            "SummaryLast",
	"watchmark/internal/summary.Result":          "SummaryResult",
	"watchmark/internal/summary.Told":            "AiringTold",
}

// schemaName names a schema after its Go type, such as Record, and a page of them RecordPage.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name := t.Name()
	if name == "" {
		return hint
	}
	return typeName(t.PkgPath() + "." + name)
}

// typeName is the name for a type given with its package; of a generic one, those of what it is of and its own.
func typeName(path string) string {
	if generic, of, ok := strings.Cut(strings.TrimSuffix(path, "]"), "["); ok {
		return typeName(of) + typeName(generic)
	}
	if name, ok := schemaNames[path]; ok {
		return name
	}
	name := path[strings.LastIndexByte(path, '.')+1:]
	return strings.ToUpper(name[:1]) + name[1:]
}
