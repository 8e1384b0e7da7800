package httpx

import (
	"encoding/json"

	"watchmark/internal/platform/reason"
)

// ErrTooMany is the error for an answer of more values than were allowed.
var ErrTooMany = reason.New("http_answer_too_many_values", "the answer has too many values", "响应中的数据项过多")

// JSON decodes the answer as JSON does.
func (r *Response) JSON(v any, most int) error { return JSON(r.Body, v, most) }

// JSON decodes the body of an answer into v, unless it has more than most values: members of objects and
// elements of lists, however deep. A body that is bounded in bytes alone may hold millions of empty
// rows, which take a hundred times its length in memory.
func JSON(body []byte, v any, most int) error {
	if !hasAtMost(body, most) {
		return ErrTooMany
	}
	return json.Unmarshal(body, v)
}

// hasAtMost reports whether JSON has at most so many values. Each but the first of its object or list has
// a comma before it, and each first one an opening bracket.
func hasAtMost(text []byte, most int) bool {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case c == ',' || c == '[' || c == '{':
			if most--; most < 0 {
				return false
			}
		}
	}
	return true
}
