// Package api is the JSON API under /api, the webhook door under /webhook, and /health.
//
// Each file is a resource: a struct of the features it works with, which adds its operations to
// the server. Handlers decode, call the features, and return their errors, which become
// problem documents at one place (errors.go). Begin reading at backups.go, which is short.
//
// What it promises: what comes in under /api reaches a handler where the table of package access lets it (admit.go);
// an error never repeats what was sent, and an error nobody foresaw is logged whole
// under a request id and shown as "internal error"; unknown body fields are refused;
// the OpenAPI document that the service answers is made from the handlers themselves.
package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"watchmark/internal/door/access"
	"watchmark/internal/door/auth"
	"watchmark/internal/door/problem"
	"watchmark/internal/platform/bilingual"
)

// Config is what every resource works with. Every field must be set.
type Config struct {
	// Version is what /health and the OpenAPI document answer.
	Version string
	// Guard knows who is calling and makes session cookies. Its Authenticate must be
	// wrapped around the handler; its BasePath is where a proxy puts the service.
	Guard *auth.Guard
	// PublicURL is the address that the request's sender reaches the service by, base path included.
	PublicURL func(context.Context) string
	// Stylesheet and Icon are the paths, base path included, of the style and the icon of /api/docs.
	Stylesheet, Icon string
	// Stopping is closed when the service stops, which ends streams.
	Stopping <-chan struct{}
	Log      *slog.Logger
}

// Resource is a part of the API, such as Records: it adds its operations to a server.
type Resource interface{ register(s *server) }

type server struct {
	Config
	resources []Resource
	mux       admitting
	// endBrowser ends the notifications of who asks in the browser with a subscription; nil for nothing.
	endBrowser func(ctx context.Context, endpoint string) error
	// operations are the ids of the operations by their patterns, and owned finds what ids in paths name.
	operations map[string]string
	owned      map[access.Thing]func(ctx context.Context, id int64) error
	named      map[access.Thing]func(ctx context.Context, name string) error // the same of what a name stands for
	api        huma.API
	// forDocument is set where the schemas of answers are wanted. Serving needs them not, and they take a
	// megabyte: the document is made by a server of its own when somebody asks for it.
	forDocument bool
}

// New is the handler of /api/, /webhook/, /health and what is below it, and of LegacyPaths: the resources, the
// login and the reference. It sees paths without the base path and works behind auth.Clients and
// Guard.Authenticate. Requests without an identity get 401 where the table does not let everybody in; pages (/api/docs and the
// return from OAuth) lead to the login instead.
func New(c Config, resources ...Resource) http.Handler {
	return http.HandlerFunc(newServer(c, resources, false).serve)
}

// newServer makes the server, or with forDocument one whose document is complete.
func newServer(c Config, resources []Resource, forDocument bool) *server {
	s := &server{Config: c, resources: resources, forDocument: forDocument, owned: map[access.Thing]func(context.Context, int64) error{}, named: map[access.Thing]func(context.Context, string) error{}}
	s.mux = admitting{http.NewServeMux(), s}
	s.api = humago.New(s.mux, s.config())
	for _, r := range resources {
		r.register(s)
	}
	s.registerLogin()
	s.registerMe()
	s.registerDocs()
	s.mux.HandleFunc(anyPath, s.notFound)
	s.operations = operationIDs(s.api.OpenAPI())
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

// languageKey is where the context of a request keeps its language.
type languageKey struct{}

func languageOf(ctx context.Context) bilingual.Language {
	language, _ := ctx.Value(languageKey{}).(bilingual.Language)
	return language
}

// serve answers one request.
func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	defer s.recover(w, r)
	r = r.WithContext(context.WithValue(r.Context(), languageKey{}, bilingual.Asked(r)))
	if under(r.URL.Path, "/api") {
		w.Header().Set("Cache-Control", "no-store")
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
	s.internal(r.Context(), r.Method+" "+r.URL.Path, fmt.Errorf("panic: %v\n%s", cause, debug.Stack())).Write(w, r)
}

// internal logs what went wrong and is the problem to show instead of it.
func (s *server) internal(ctx context.Context, doing string, err error) *problem.Document {
	p := problem.Of(problem.Internal)
	p.RequestID = auth.ClientOf(ctx).RequestID
	s.Log.ErrorContext(ctx, "cannot answer a request", "request", doing, "error", err)
	return p
}

// notFound answers every path and method that nothing else does.
func (s *server) notFound(w http.ResponseWriter, r *http.Request) {
	if allowed := s.allowed(r); len(allowed) > 0 {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		problem.With(http.StatusMethodNotAllowed, otherMethod.With(strings.Join(allowed, " or "), short(r.Method))).Write(w, r)
		return
	}
	problem.Of(noSuchPath).Write(w, r)
}

// allowed lists the methods that the path of the request takes.
func (s *server) allowed(r *http.Request) []string {
	var methods []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := s.mux.Handler(other); pattern != anyPath && pattern != "" {
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

// writeJSON answers v as JSON. The status is sent before an error can be known, and
// what then remains is a client that went away.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
