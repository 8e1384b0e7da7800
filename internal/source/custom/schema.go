package custom

import (
	"encoding/json"
	"strconv"
	"strings"
	"sync"

	"watchmark/internal/watch"
)

// SchemaVersion is that of the form of an event. It goes up when something that was accepted is accepted no more, or means another thing.
const SchemaVersion = 1

// Patterns of texts, in what ECMA 262 and Go read alike.
const (
	// blanks are the characters that are trimmed: white space and control characters.
	blanks = "\\x00-\\x20\\x7f-\\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
	spaces = "\\t-\\r\\x20\\x85\\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000" // without other control characters
	zeros  = `(?:\.0{1,15})?`
)

// kinds are the words of media_type, films apart: each may be in any case.
var (
	episodeKinds = []string{"episode", "series", "show", "tv", "ova", "oad", "real_action"}
	filmKinds    = []string{"movie", "film"}
)

// Schema is the JSON Schema (2020-12) of a body: what it accepts Parse accepts, and the other way round.
var Schema = sync.OnceValues(func() ([]byte, error) {
	type object = map[string]any
	number := func(kind, pattern, description string, most int) object {
		return object{"description": description, "anyOf": []object{
			{"type": kind, "minimum": 0, "maximum": most},
			{"type": "string", "pattern": pattern, "$comment": "The same as text."},
		}}
	}
	free := func(description string, examples ...any) object {
		return object{"description": description + " Never refused: what cannot be read is passed over.", "examples": examples}
	}
	readable := "[^" + blanks + "]"
	film := object{"properties": object{"media_type": object{"type": "string", "pattern": word(filmKinds)}}, "required": []string{"media_type"}}
	return json.MarshalIndent(object{
		"$schema":     "https://json-schema.org/draft/2020-12/schema",
		"$id":         "urn:watchmark:custom-event:" + strconv.Itoa(SchemaVersion),
		"title":       "An event for Watchmark, version " + strconv.Itoa(SchemaVersion),
		"description": "The body of POST /webhook/custom/KEY: somebody watched an episode or a film. Fields that are not listed are passed over.",
		"type":        "object",
		"required":    []string{"title"},
		"properties": object{
			"title": object{"description": "The title of the show or film. It needs a readable character.", "examples": []any{"灯塔守望者"}, "anyOf": []object{
				{"type": "string", "pattern": readable}, {"type": "number"},
			}},
			"media_type": object{"description": "What it is: an episode unless it says otherwise. Upper and lower case are the same.",
				"examples": []any{"episode", "movie"}, "anyOf": []object{
					{"type": "string", "pattern": word(append(episodeKinds, filmKinds...)), "$comment": "episode, series, show, tv; ova, oad; real_action; movie, film"},
					{"type": "string", "not": object{"pattern": readable}, "$comment": "Empty: an episode."},
					{"$comment": "Passed over: an episode.", "anyOf": []object{{"type": "null"}, {"type": "boolean"}, {"type": "object"}, {"type": "array"}}},
				}},
			"season":  object{"description": "Needed, except for films; 0 for specials.", "examples": []any{2}},
			"episode": object{"description": "Needed, except for films: the number inside the season.", "examples": []any{7}},
			"user_name": object{"description": "Who watched, as an account names it. Without it nothing is marked.", "examples": []any{"mira"}, "anyOf": []object{
				{"type": "string", "maxLength": maxUserName, "pattern": `^[^\x00]*$`}, {"type": "number"}, {"type": "null"},
			}},
			"release_date": free("The air date of this episode or film. It helps most.", "2025-02-19"),
			"ori_title":    free("The title in the original language. It helps.", "灯台守のうた"),
			"ids":          free("Ids of the show or film, by provider.", object{"tmdb": "209867"}),
			"watched_at":   free("When it was watched, in RFC 3339; otherwise it is now.", "2025-02-19T21:04:00+08:00"),
			"source":       free("A name of your own, shown with the record.", "my-script"),
			"sync_action":  free("mark_watching: a film was begun, not finished.", "mark_watching"),
		},
		"if": film,
		"else": object{
			"required": []string{"season", "episode"},
			"properties": object{
				"season": number("integer", `^[`+spaces+`]*(?:\+?0{0,12}[0-9]{1,3}|-0{1,15})`+zeros+`[`+spaces+`]*$`,
					"A whole number.", watch.MaxSeason),
				"episode": number("number",
					`^[`+spaces+`]*(?:\+?0{0,10}(?:[0-9]{1,4}|[0-8][0-9]{4}|9[0-8][0-9]{3}|99[0-8][0-9]{2}|999[0-8][0-9]|9999[0-8])(?:\.[0-9]{1,15})?|\+?0{0,10}99999`+zeros+`|-0{1,15}`+zeros+`)[`+spaces+`]*$`,
					"A number; it may have a fraction.", watch.MaxEpisode),
			},
		},
		"examples": []object{
			{"title": "灯塔守望者", "season": 2, "episode": 7, "release_date": "2025-02-19", "user_name": "mira"},
			{"media_type": "movie", "title": "灯塔守望者 北之光", "release_date": "2025-09-12", "user_name": "mira", "ids": object{"tmdb": "118340"}},
			{"title": "灯塔守望者", "season": "0", "episode": "1.5", "user_name": "mira", "source": "my-script", "watched_at": "2025-02-19T21:04:00+08:00"},
		},
	}, "", "  ")
})

// word is the pattern of one of some words in any case, with blanks around it.
func word(words []string) string {
	var all []string
	for _, one := range words {
		var pattern strings.Builder
		for _, c := range one {
			upper := strings.ToUpper(string(c))
			switch {
			case c == 'i':
				pattern.WriteString("[iI\u0130]") // whose lower case is i, too
			case upper != string(c):
				pattern.WriteString("[" + string(c) + upper + "]")
			default:
				pattern.WriteRune(c)
			}
		}
		all = append(all, pattern.String())
	}
	return "^[" + blanks + "]*(?:" + strings.Join(all, "|") + ")[" + blanks + "]*$"
}
