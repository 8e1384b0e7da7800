package catalogtest

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// infoboxField is one field of the parsed wiki text: a text, or a list.
type infoboxField struct {
	key   string
	text  string
	items []infoboxItem // nil when the value is text
}

type infoboxItem struct {
	Key   string `json:"k,omitempty"`
	Value string `json:"v"`
}

// MarshalJSON writes {"key":…,"value":…} as GET /v0/subjects/{id} does.
func (f infoboxField) MarshalJSON() ([]byte, error) {
	var value any = f.text
	if f.items != nil {
		value = f.items
	}
	return json.Marshal(map[string]any{"key": f.key, "value": value})
}

var errInfobox = errors.New("the infobox does not follow the grammar")

// parseInfobox reads the wiki text (upstreams/archive.md section 8). It is as
// strict as the real API, which shows no infobox at all after one mistake.
// Empty fields are left out; the list is never nil.
func parseInfobox(text string) ([]infoboxField, error) {
	fields := []infoboxField{}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	last := len(lines) - 1
	if last < 1 || !strings.HasPrefix(lines[0], "{{Infobox") || strings.TrimSpace(lines[last]) != "}}" {
		return fields, errInfobox
	}
	var list *infoboxField // the open list
	for _, line := range lines[1:last] {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case list != nil && line == "}":
			if len(list.items) > 0 {
				fields = append(fields, *list)
			}
			list = nil
		case list != nil:
			if !strings.HasPrefix(line, "[") || !strings.HasSuffix(line, "]") {
				return []infoboxField{}, errInfobox
			}
			if item := parseInfoboxItem(line[1 : len(line)-1]); item.Value != "" {
				list.items = append(list.items, item)
			}
		case strings.HasPrefix(line, "|"):
			key, value, found := strings.Cut(line[1:], "=")
			if !found {
				return []infoboxField{}, errInfobox
			}
			field := infoboxField{key: strings.TrimSpace(key), text: strings.TrimSpace(value)}
			switch field.text {
			case "":
			case "{":
				field.text = ""
				list = &field
			default:
				fields = append(fields, field)
			}
		default:
			return []infoboxField{}, errInfobox
		}
	}
	if list != nil {
		return []infoboxField{}, errInfobox
	}
	return fields, nil
}

func parseInfoboxItem(text string) infoboxItem {
	key, value, found := strings.Cut(text, "|")
	if !found {
		return infoboxItem{Value: strings.TrimSpace(text)}
	}
	return infoboxItem{Key: strings.TrimSpace(key), Value: strings.TrimSpace(value)}
}

// infoboxAliases is every value of 别名; none when the infobox has a mistake.
func infoboxAliases(text string) []string {
	fields, _ := parseInfobox(text) // a mistake leaves no fields, which is what the API has then
	var aliases []string
	for _, field := range fields {
		if field.key != "别名" {
			continue
		}
		if field.text != "" {
			aliases = append(aliases, field.text)
		}
		for _, item := range field.items {
			aliases = append(aliases, item.Value)
		}
	}
	return aliases
}

// infoboxEps is the wiki's episode count, 0 when it gives none.
func infoboxEps(text string) int {
	fields, _ := parseInfobox(text)
	for _, field := range fields {
		if field.key == "话数" || field.key == "集数" {
			digits := field.text[:len(field.text)-len(strings.TrimLeft(field.text, "0123456789"))]
			if n, err := strconv.Atoi(digits); err == nil {
				return n
			}
		}
	}
	return 0
}
