package api

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/door/problem"
	"watchmark/internal/match"
	"watchmark/internal/platform/reason"
	"watchmark/internal/record"
	"watchmark/internal/source"
)

// customEvent documents the body of the custom webhook, which package custom reads.
type customEvent struct {
	_             struct{}          `additionalProperties:"true"`
	MediaType     string            `json:"media_type,omitempty" enum:"episode,series,show,tv,movie,film,ova,oad,real_action" default:"episode" doc:"What was watched, in any case; series, show and tv are an episode, film is a movie."`
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
	if _, is := v.(*problem.Document); is {
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

// orNull documents that fields of a schema, which are references, may be null, which the library does not do.
func (s *server) orNull(schema string, fields ...string) {
	if !s.forDocument {
		return
	}
	properties := s.api.OpenAPI().Components.Schemas.Map()[schema].Properties
	for _, field := range fields {
		one := properties[field]
		properties[field] = &huma.Schema{Description: one.Description, OneOf: []*huma.Schema{{Ref: one.Ref}, {Type: "null"}}}
	}
}

func oneOf[T ~string](values []T) *huma.Schema {
	schema := &huma.Schema{Type: huma.TypeString}
	for _, value := range values {
		schema.Enum = append(schema.Enum, string(value))
	}
	return schema
}

// schemaNames are those of types whose own name says too little outside of their package.
var schemaNames = map[string]string{
	"watchmark/internal/door/api.nasUsers":          "NASUsers",
	"watchmark/internal/door/api.nasSync":           "NASSync",
	"watchmark/internal/door/api.llmTest":           "LLMTest",
	"watchmark/internal/door/auth.Key":              "APIKey",
	"watchmark/internal/door/problem.Document":      "Problem",
	"watchmark/internal/door/problem.Field":         "FieldProblem",
	"watchmark/internal/platform/settings.Key":      "SettingsKey",
	"watchmark/internal/platform/settings.Section":  "SettingsSection",
	"watchmark/internal/record/webhooklog.Entry":    "WebhookLogEntry",
	"watchmark/internal/match.Result":               "TraceResult",
	"watchmark/internal/match.Step":                 "TraceStep",
	"watchmark/internal/match/mapping.Blocked":      "BlockedKeyword",
	"watchmark/internal/match/mapping.Tally":        "ImportTally",
	"watchmark/internal/engine/review.Question":     "PendingCandidate",
	"watchmark/internal/engine/queue.Entry":         "QueueTask",
	"watchmark/internal/platform/task.Status":       "Task",
	"watchmark/internal/catalog/archive.Progress":   "ArchiveProgress",
	"watchmark/internal/match/idmap.Status":         "DatasetStatus",
	"watchmark/internal/source/nas.Status":          "NASStatus",
	"watchmark/internal/source/nas.Reason":          "NASReason",
	"watchmark/internal/source/nas.User":            "NASUser",
	"watchmark/internal/source/device.Status":       "DeviceStatus",
	"watchmark/internal/source/device.Scanned":      "DeviceScan",
	"watchmark/internal/source/device.Synced":       "DeviceSync",
	"watchmark/internal/source/device.Event":        "DeviceEvent",
	"watchmark/internal/source/device.Now":          "DevicePlayback",
	"watchmark/internal/source/device.Reading":      "DeviceReading",
	"watchmark/internal/tell/notify.Rule":           "NotificationRule",
	"watchmark/internal/tell/notify/channel.Header": "WebhookHeader",
	"watchmark/internal/source/importer.About":      "MediaServer",
	"watchmark/internal/source/importer.User":       "MediaServerUser",
	"watchmark/internal/source/importer.Library":    "MediaServerLibrary",
	"watchmark/internal/upkeep/backup.Status":       "Backups",
	"watchmark/internal/upkeep/backup.File":         "BackupFile",
	"watchmark/internal/upkeep/diagnose.Result":     "NetworkResult",
	"watchmark/internal/upkeep/diagnose.Route":      "NetworkRoute",
	"watchmark/internal/upkeep/diagnose.Stage":      "NetworkStage",
	"watchmark/internal/upkeep/diagnose.Reach":      "HostRoute",
	"watchmark/internal/platform/logs.Entry":        "LogLine",
	"watchmark/internal/source/tracker.Status":      "TrackerStatus",
	"watchmark/internal/source/tracker.SyncStatus":  "TrackerSyncStatus",
	"watchmark/internal/source/tracker.User":        "TrackerUser",
	"watchmark/internal/source/tracker.UserSync":    "TrackerUserSync",
	"watchmark/internal/source/tracker.Device":      "TrackerDevice",
	"watchmark/internal/source/mediaserver.Found":   "ServerFound",
	"watchmark/internal/source/watcher.Login":       "ServerLogin",
	"watchmark/internal/source/watcher.SignIn":      "ServerSignIn",
	"watchmark/internal/source/watcher.Choices":     "PlexChoices",
	"watchmark/internal/source/watcher.Choice":      "PlexOffer",
	"watchmark/internal/source/watcher.Library":     "ServerLibrary",
	"watchmark/internal/source/watcher.CatchUp":     "ServerCatchUp",
	"watchmark/internal/source/watcher.Held":        "ServerHeld",
	"watchmark/internal/tell/llm.Report":            "LLMUsage",
	"watchmark/internal/tell/llm.Used":              "LLMUsed",
	"watchmark/internal/tell/llm.Count":             "LLMCount",
	"watchmark/internal/tell/summary.Job":           "SummaryJob",
	"watchmark/internal/tell/summary.Last":          "SummaryLast",
	"watchmark/internal/tell/summary.Result":        "SummaryResult",
	"watchmark/internal/tell/summary.AiringDay":     "AiringTold",
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

// fieldDocs describe fields of types that belong to the features, by schema and field.
var fieldDocs = map[string]map[string]string{
	"Record": {
		"status":         "Where the record stands. received and processing are on their way, queued waits for Bangumi, review waits for a person.",
		"source_label":   "What a script called itself; empty for media servers.",
		"test":           "Whether it came from the test endpoint.",
		"season":         "0 is specials; null is not told.",
		"episode":        "null for films.",
		"release_date":   "As 2024-05-19, or shorter; empty when not told.",
		"account_id":     "The account that is marked; 0 for none.",
		"subject_id":     "Bangumi's entry; 0 for none.",
		"episode_id":     "Bangumi's episode; 0 for none.",
		"episode_sort":   "The number viewers know the episode by.",
		"method":         "The layer that found the entry; empty for none.",
		"confidence":     "How sure the match is, 0 to 1.",
		"message":        "What became of it, in plain words, and what to do about it.",
		"error_kind":     "Why it failed; empty when it did not.",
		"attempts":       "How often it was worked on.",
		"original_title": "The title in its original language; empty when not told.",
	},
	"Account": {
		"username":         "Bangumi's user name.",
		"catalog_user_id":  "0 until Bangumi told it.",
		"auth_method":      "How the token came: token (pasted) or oauth.",
		"has_token":        "Whether there is a token. The token itself is never answered.",
		"expires_at":       "When the token dies; null when Bangumi did not tell.",
		"media_user_names": "The media-server users whose events go here; compared exactly.",
		"checked_at":       "When Bangumi last accepted the token.",
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
		"label":      "Season and episode, such as S2 E7; empty when the request tells none.",
		"body":       "Masked and cut.",
	},
	"SettingsKey": {
		"locked_by":       "The file, variable or flag that sets it.",
		"pending_restart": "Whether a change waits for a restart.",
	},
}

// besides adds the texts that stand beside reasons, which the types have as values alone; see reason.MarshalBeside.
func besides(schemas map[string]*huma.Schema) {
	for _, schema := range schemas {
		for value, field := range schema.Properties {
			name, is := strings.CutSuffix(value, reason.ValueSuffix)
			if !is || !strings.HasSuffix(field.Ref, "/Reason") || schema.Properties[name] != nil {
				continue
			}
			schema.Properties[name] = &huma.Schema{Type: huma.TypeString, Description: field.Description}
			schema.Required = append(schema.Required, name)
			field.Description = "The same as a value: its code, its arguments, and the text."
		}
	}
}

// describe adds to the schemas what their Go types do not say.
func (s *server) describe() {
	schemas := s.api.OpenAPI().Components.Schemas.Map()
	besides(schemas)
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
