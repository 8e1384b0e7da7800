package channel

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
)

// maxTemplate bounds a template, in bytes.
const maxTemplate = 16 << 10

// DefaultTemplate is the body of a webhook without a template.
const DefaultTemplate = `{
  "service": "Watchmark",
  "id": "{id}",
  "type": "{type}",
  "type_name": "{type_name}",
  "title": "{title}",
  "text": "{text}",
  "link": "{link}",
  "timestamp": "{timestamp}",
  "count": "{count}",
  "user": "{user}",
  "anime": "{anime}",
  "season": "{season}",
  "episode": "{episode}",
  "source": "{source}",
  "error": "{error}"
}`

// Placeholders are those that a template can hold (docs/notifications.md).
var Placeholders = []string{"title", "text", "link", "type", "type_name", "timestamp", "count", "id", "user", "account", "source", "anime", "ori_title", "season", "episode",
	"subject_name", "subject_id", "episode_id", "error"}

// parseTemplate reads the JSON of a template.
func parseTemplate(text string) (any, error) {
	if text == "" {
		text = DefaultTemplate
	}
	if len(text) > maxTemplate {
		return nil, templateTooLong.With(maxTemplate)
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var template any
	if err := dec.Decode(&template); err != nil {
		var at *json.SyntaxError
		if errors.As(err, &at) {
			line := 1 + strings.Count(text[:min(int(at.Offset), len(text))], "\n")
			return nil, templateNotJSON.With(line, at)
		}
		return nil, templateIncomplete
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, templateGoesOn
	}
	switch template.(type) {
	case map[string]any, []any:
		return template, nil
	}
	return nil, templateNoObject
}

// render fills template with what m says and gives it to fits, with ever shorter values until
// that says that it fits; what the template itself holds is not cut.
func render(template any, m Message, fits func(filled any) bool) {
	values := map[string]string{}
	value := func(name string) string {
		if _, known := values[name]; !known {
			values[name] = clean(m.value(name))
		}
		return values[name]
	}
	for limit := 16 << 10; ; limit /= 4 {
		filled := mapStrings(template, func(s string) string {
			return Expand(s, func(name string) string { return cut(value(name), limit) })
		})
		if fits(filled) || limit == 0 {
			return
		}
	}
}

// mapStrings is a copy of JSON with every string, but the names of fields, replaced.
func mapStrings(v any, replace func(string) string) any {
	switch v := v.(type) {
	case string:
		return replace(v)
	case []any:
		list := make([]any, len(v))
		for i, one := range v {
			list[i] = mapStrings(one, replace)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, one := range v {
			object[name] = mapStrings(one, replace)
		}
		return object
	}
	return v
}

// flatten puts JSON into a query: a.b is field b of object a, a.0 the first of list a.
func flatten(name string, v any, into url.Values) {
	inner := func(part string) string {
		if name == "" {
			return part
		}
		return name + "." + part
	}
	switch v := v.(type) {
	case map[string]any:
		for part, one := range v {
			flatten(inner(part), one, into)
		}
	case []any:
		for i, one := range v {
			flatten(inner(strconv.Itoa(i)), one, into)
		}
	case nil:
	default:
		into.Set(name, fmt.Sprint(v))
	}
}
