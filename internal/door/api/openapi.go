package api

import (
	"encoding/json"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/door/problem"
	"watchmark/internal/source"
)

// tags are the chapters of the document, in their order.
var tags = []*huma.Tag{
	{Name: "Webhooks", Description: "The door for media servers, its key, and the log of what came in."},
	{Name: "Tests", Description: "Try an event without a media server."},
	{Name: "Records", Description: "What became of every event."},
	{Name: "Queue", Description: "The marks that wait for Bangumi, and the scheduler that sends them."},
	{Name: "Tasks", Description: "Work that takes longer: its progress, its log, and cancel."},
	{Name: "Archive", Description: "The local copy of Bangumi: its imports, and what it holds."},
	{Name: "NAS", Description: "The media library of a NAS, which is read by schedule."},
	{Name: "ID table", Description: "The community table that leads from ids of other sites to entries."},
	{Name: "TV boxes", Description: "The boxes whose player is asked what it plays."},
	{Name: "Servers", Description: "Media servers that are watched with a person's own login, without webhooks."},
	{Name: "Import", Description: "What media servers remember as watched, and what files of other services hold, from before this service listened."},
	{Name: "Snapshots", Description: "Whole lists as they were at a time: what has changed in them, and how they are taken out."},
	{Name: "Tracker", Description: "The watch tracker: signing in there, and reading what was watched."},
	{Name: "Accounts", Description: "Whose lists are marked, for which media-server users."},
	{Name: "People", Description: "Who signs in, and who is known only by what they watch."},
	{Name: "Candidates", Description: "The titles that wait for a person to say what they are."},
	{Name: "Subjects", Description: "The entries of Bangumi, to choose one."},
	{Name: "Mappings", Description: "Which title is which entry, decided beforehand."},
	{Name: "Blocked keywords", Description: "Which titles are left alone."},
	{Name: "Notifications", Description: "Telling people: channels, the rules of what goes to them, and the inbox that keeps everything."},
	{Name: "Calendar", Description: "What airs, and the address by which calendar programs get it."},
	{Name: "Summaries", Description: "Short texts of what was watched, made by schedule, and what airs today."},
	{Name: "Language model", Description: "The service that writes the summaries: whether it answers, and what it was used for."},
	{Name: "Backups", Description: "Copies of everything that cannot be made anew."},
	{Name: "Settings", Description: "What the settings page shows and changes."},
	{Name: "Diagnostics", Description: "Why something does not work: the network, the log, and a file for bug reports."},
	{Name: "Login", Description: "Signing in, sessions of browsers, API keys of scripts."},
	{Name: "Service", Description: "The service itself."},
}

// describeWebhooks documents the webhook door, which stands beside the library.
func (s *server) describeWebhooks() {
	text := &huma.Schema{Type: huma.TypeString}
	for _, path := range []string{"/webhook/{source}", "/webhook/{source}/{key}"} {
		op := &huma.Operation{
			Method: http.MethodPost, Path: path, OperationID: "webhook", Tags: []string{"Webhooks"},
			Summary: "Tell what was watched",
			Description: "For media servers and scripts. The key is the last part of the path, the parameter key or the header X-Webhook-Key. " +
				"What is accepted is stored before the answer. Each source sends its own form; the body shown is that of custom, where unknown fields are passed over.",
			Security: []map[string][]string{},
			Parameters: []*huma.Param{
				{Name: "source", In: "path", Required: true, Description: "Who sends.", Schema: oneOf(source.Webhooks)},
				{Name: "key", In: "query", Description: "The webhook key.", Schema: text},
				{Name: "X-Webhook-Key", In: "header", Description: "The webhook key.", Schema: text},
			},
			RequestBody: s.customBody(),
			Responses: map[string]*huma.Response{
				"200": s.response("The event is not a watch.", webhookIgnored{}),
				"202": s.response("Accepted: these records are on their way.", acceptedRecords{}),
				"400": s.response("The body is broken or lacks something.", &problem.Document{}),
				"401": s.response("The key is missing or wrong.", &problem.Document{}),
				"404": s.response("There is no such source.", &problem.Document{}),
				"413": s.response("The body is too large.", &problem.Document{}),
				"408": s.response("The body did not arrive in time.", &problem.Document{}),
				"415": s.response("The body is neither JSON nor a form.", &problem.Document{}),
				"500": s.response("Something went wrong inside.", &problem.Document{}),
				"503": s.response("The service is busy: send it again after Retry-After seconds.", &problem.Document{}),
			},
		}
		if path == "/webhook/{source}/{key}" {
			op.OperationID = "webhook-with-key"
			op.Parameters = []*huma.Param{op.Parameters[0],
				{Name: "key", In: "path", Required: true, Description: "The webhook key.", Schema: text}}
		}
		s.api.OpenAPI().AddOperation(op)
	}
}

const (
	openapiPath = "/api/openapi.json"
	docsPath    = "/api/docs"
)

// document is the OpenAPI document of an API.
func document(c Config, resources ...Resource) *huma.OpenAPI {
	return newServer(c, resources, true).api.OpenAPI()
}

// registerDocs serves the document and its page. It comes last: the document is complete then.
func (s *server) registerDocs() {
	answers := func(description, contentType, stranger string) map[string]*huma.Response {
		refused := s.response("Sign in first.", &problem.Document{})
		if stranger == "303" {
			refused = &huma.Response{Description: "To the login."}
		}
		return map[string]*huma.Response{
			"200":    {Description: description, Content: map[string]*huma.MediaType{contentType: {}}},
			stranger: refused,
		}
	}
	s.api.OpenAPI().AddOperation(&huma.Operation{
		Method: http.MethodGet, Path: openapiPath, OperationID: "get-openapi", Tags: []string{"Service"},
		Summary: "Get the OpenAPI document", Responses: answers("An OpenAPI 3.1 document.", "application/json", "401"),
	})
	s.api.OpenAPI().AddOperation(&huma.Operation{
		Method: http.MethodGet, Path: docsPath, OperationID: "get-docs", Tags: []string{"Service"},
		Summary: "Read this reference in a browser", Responses: answers("A page.", "text/html", "303"),
	})
	if s.forDocument {
		s.describe()
	}
	served := sync.OnceValues(func() ([]byte, error) { return json.Marshal(document(s.Config, s.resources...)) })
	s.mux.HandleFunc("GET "+openapiPath, func(w http.ResponseWriter, r *http.Request) {
		text, err := served()
		if err != nil {
			s.internal(r.Context(), "GET "+openapiPath, err).Write(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text) // a client that went away needs none
	})
	page := sync.OnceValues(s.docsPage)
	s.mux.HandleFunc("GET "+docsPath, func(w http.ResponseWriter, r *http.Request) {
		text, err := page()
		if err != nil {
			s.internal(r.Context(), "GET "+docsPath, err).Write(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(text) // a client that went away needs none
	})
}
