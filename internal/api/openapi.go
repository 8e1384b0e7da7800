package api

import (
	"encoding/json"
	"net/http"
	"reflect"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/match"
	"watchmark/internal/record"
	"watchmark/internal/source"
	"watchmark/internal/watch"
)

// tags are the chapters of the document, in their order.
var tags = []*huma.Tag{
	{Name: "Webhooks", Description: "The door for media servers, its key, and the log of what came in."},
	{Name: "Tests", Description: "Try an event without a media server."},
	{Name: "Records", Description: "What became of every event."},
	{Name: "Queue", Description: "The marks that wait for the catalog, and the scheduler that sends them."},
	{Name: "Tasks", Description: "Work that takes longer: its progress, its log, and cancel."},
	{Name: "Archive", Description: "The local copy of the catalog: its imports, and what it holds."},
	{Name: "NAS", Description: "The media library of a NAS, which is read by schedule."},
	{Name: "Id table", Description: "The community table that leads from ids of other sites to subjects."},
	{Name: "TV boxes", Description: "The boxes whose player is asked what it plays."},
	{Name: "Import", Description: "What media servers remember as watched, from before this service listened to them."},
	{Name: "Tracker", Description: "The watch tracker: signing in there, and reading what was watched."},
	{Name: "Accounts", Description: "Whose lists are marked, for which media-server users."},
	{Name: "Candidates", Description: "The titles that wait for a person to say what they are."},
	{Name: "Subjects", Description: "The entries of the catalog, to choose one."},
	{Name: "Mappings", Description: "Which title is which subject, decided beforehand."},
	{Name: "Blocked keywords", Description: "Which titles are left alone."},
	{Name: "Notifications", Description: "Telling people: channels, the rules of what goes to them, and the inbox that keeps everything."},
	{Name: "Summaries", Description: "Short texts of what was watched, made by schedule, and what airs today."},
	{Name: "Language model", Description: "The service that writes the summaries: whether it answers, and what it was used for."},
	{Name: "Backups", Description: "Copies of everything that cannot be made anew."},
	{Name: "Settings", Description: "What the settings page shows and changes."},
	{Name: "Diagnostics", Description: "Why something does not work: the network, the log, and a file for bug reports."},
	{Name: "Login", Description: "The administrator, sessions of browsers, API keys of scripts."},
	{Name: "Service", Description: "The service itself."},
}

// customEvent documents the body of the custom webhook, which package custom reads.
type customEvent struct {
	_             struct{}          `additionalProperties:"true"`
	MediaType     string            `json:"media_type,omitempty" enum:"episode,movie,ova,oad,real_action" default:"episode" doc:"What was watched."`
	Title         string            `json:"title" doc:"The title of the show or film." example:"灯塔守望者"`
	OriginalTitle string            `json:"ori_title,omitempty" doc:"The title in its original language."`
	Season        numberText        `json:"season,omitempty" doc:"The season; 0 for specials. Required but for films." example:"2"`
	Episode       numberText        `json:"episode,omitempty" doc:"The number inside the season. Required but for films." example:"7"`
	ReleaseDate   string            `json:"release_date,omitempty" doc:"When the episode or film first was shown, as 2024-05-19." example:"2024-05-19"`
	IDs           map[string]string `json:"ids,omitempty" doc:"Ids of the show, or of the film, on other sites: tmdb, anidb, anilist, mal, bangumi (of season 1)." example:"{\"tmdb\":\"209867\"}"`
	UserName      string            `json:"user_name,omitempty" doc:"The media-server user, exactly as an account lists it." example:"mira"`
	Source        string            `json:"source,omitempty" doc:"A label of your own." example:"script"`
}

// numberText is a number that may come as a text.
type numberText struct{}

// Schema describes it.
func (numberText) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeNumber}, {Type: huma.TypeString}}}
}

// schemaOf is a reference to the schema of v's type.
func (s *server) schemaOf(v any) *huma.Schema {
	if !s.forDocument {
		return &huma.Schema{}
	}
	return s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeOf(v), true, "")
}

// response documents an answer with v as its JSON body.
func (s *server) response(description string, v any) *huma.Response {
	contentType := "application/json"
	if _, is := v.(*Problem); is {
		contentType = "application/problem+json"
	}
	return &huma.Response{Description: description, Content: map[string]*huma.MediaType{contentType: {Schema: s.schemaOf(v)}}}
}

// customBody documents the body of the custom webhook.
func (s *server) customBody() *huma.RequestBody {
	return &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: s.schemaOf(customEvent{})}}}
}

// pushSource is a source that delivers by webhook, in a query.
type pushSource string

// Schema lists the sources that there are.
func (pushSource) Schema(huma.Registry) *huma.Schema { return oneOf(source.Push) }

// anySource is any source, in a query.
type anySource string

// Schema lists the sources that there are.
func (anySource) Schema(huma.Registry) *huma.Schema { return oneOf(source.All) }

func oneOf(sources []watch.Source) *huma.Schema {
	schema := &huma.Schema{Type: huma.TypeString}
	for _, src := range sources {
		schema.Enum = append(schema.Enum, string(src))
	}
	return schema
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
				{Name: "source", In: "path", Required: true, Description: "Who sends.", Schema: oneOf(source.Push)},
				{Name: "key", In: "query", Description: "The webhook key.", Schema: text},
				{Name: "X-Webhook-Key", In: "header", Description: "The webhook key.", Schema: text},
			},
			RequestBody: s.customBody(),
			Responses: map[string]*huma.Response{
				"200": s.response("The event is not a watch.", webhookIgnored{}),
				"202": s.response("Accepted: these records are on their way.", acceptedRecords{}),
				"400": s.response("The body is broken or lacks something.", &Problem{}),
				"401": s.response("The key is missing or wrong.", &Problem{}),
				"404": s.response("There is no such source.", &Problem{}),
				"413": s.response("The body is too large.", &Problem{}),
				"408": s.response("The body did not arrive in time.", &Problem{}),
				"415": s.response("The body is neither JSON nor a form.", &Problem{}),
				"500": s.response("Something went wrong inside.", &Problem{}),
				"503": s.response("The service is busy: send it again after Retry-After seconds.", &Problem{}),
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

// fieldDocs describe fields of types that belong to the features, by schema and field.
var fieldDocs = map[string]map[string]string{
	"Record": {
		"status":         "Where the record stands. received and processing are on their way, queued waits for the catalog, review waits for a person.",
		"test":           "Whether it came from the test endpoint.",
		"season":         "0 is specials; null is not told.",
		"episode":        "null for films.",
		"release_date":   "As 2024-05-19, or shorter; empty when not told.",
		"account_id":     "The account that is marked; 0 for none.",
		"subject_id":     "The catalog's entry; 0 for none.",
		"episode_id":     "The catalog's chapter; 0 for none.",
		"episode_sort":   "The number viewers know the chapter by.",
		"method":         "The layer that found the subject; empty for none.",
		"confidence":     "How sure the match is, 0 to 1.",
		"message":        "What became of it, in plain words, and what to do about it.",
		"error_kind":     "Why it failed; empty when it did not.",
		"attempts":       "How often it was worked on.",
		"original_title": "The title in its original language; empty when not told.",
	},
	"Account": {
		"username":         "The catalog's user name.",
		"catalog_user_id":  "0 until the catalog told it.",
		"auth_method":      "How the token came: token (pasted) or oauth.",
		"has_token":        "Whether there is a token. The token itself is never answered.",
		"expires_at":       "When the token dies; null when the catalog did not tell.",
		"media_user_names": "The media-server users whose events go here; compared exactly.",
		"checked_at":       "When the catalog last accepted the token.",
		"problem":          "Why the token does not work, in plain words; empty when it does.",
	},
	"Trace": {
		"result":     "The decision.",
		"steps":      "What each layer did, in order.",
		"elapsed_ms": "In milliseconds.",
	},
	"TraceResult": {
		"status":     "matched would mark, review is left to a person.",
		"method":     "The layer whose candidate won.",
		"confidence": "How sure the match is, 0 to 1.",
		"reason":     "Why, in one sentence.",
	},
	"TraceStep": {
		"status": "hit, miss, skipped or error.",
	},
	"Candidate": {
		"score": "How sure the layer is, 0 to 1.",
		"parts": "What the score was made of.",
	},
	"Mapping": {
		"is_regex": "Whether title is a regular expression.",
		"season":   "null for every season.",
		"origin":   "Who made it: person or import.",
	},
	"APIKey": {
		"hint":    "The last four characters of the key.",
		"used_at": "The last use, up to a minute late; null for never.",
	},
	"WebhookLogEntry": {
		"source":     "Empty for a path that names no source.",
		"status":     "The HTTP status that was answered.",
		"reason":     "What became of the request.",
		"record_ids": "The records it became.",
		"body":       "Masked and cut.",
	},
	"SettingsKey": {
		"locked_by":       "The file, variable or flag that sets it.",
		"pending_restart": "Whether a change waits for a restart.",
	},
}

// describe adds to the schemas what their Go types do not say.
func (s *server) describe() {
	schemas := s.api.OpenAPI().Components.Schemas.Map()
	for name, fields := range fieldDocs {
		for field, text := range fields {
			schemas[name].Properties[field].Description = text
		}
	}
	statuses := make([]any, len(record.Statuses))
	for i, status := range record.Statuses {
		statuses[i] = string(status)
	}
	schemas["Record"].Properties["status"].Enum = statuses
	schemas["TestedRecord"].Properties["status"].Enum = statuses
	schemas["TraceResult"].Properties["status"].Enum = []any{string(match.Matched), string(match.Review), string(match.NotFound),
		string(match.EpisodeNotFound), string(match.Blocked), string(match.NoAccount), string(match.Unreachable)}
}

const (
	openapiPath = "/api/openapi.json"
	docsPath    = "/api/docs"
)

// document is the OpenAPI document of an API over deps.
func document(deps Deps) *huma.OpenAPI { return newServer(deps, true).api.OpenAPI() }

// registerDocs serves the document and its page. It comes last: the document is complete then.
func (s *server) registerDocs() {
	answers := func(description, contentType, stranger string) map[string]*huma.Response {
		refused := s.response("Sign in first.", &Problem{})
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
	served := sync.OnceValues(func() ([]byte, error) { return json.Marshal(document(s.Deps)) })
	s.mux.HandleFunc("GET "+openapiPath, func(w http.ResponseWriter, r *http.Request) {
		text, err := served()
		if err != nil {
			s.internal(r.Context(), "GET "+openapiPath, err).write(w)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text) // a client that went away needs none
	})
	page := sync.OnceValues(s.docsPage)
	s.mux.HandleFunc("GET "+docsPath, func(w http.ResponseWriter, r *http.Request) {
		text, err := page()
		if err != nil {
			s.internal(r.Context(), "GET "+docsPath, err).write(w)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(text) // a client that went away needs none
	})
}
