package payload

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"watchmark/internal/watch"
)

// Object is a JSON object whose fields are read leniently: a field that is
// missing, null or of the wrong type is absent, and numbers and booleans may be
// written as text. Keys are exact, because Plex has guid and Guid side by side.
// A nil Object has no fields.
type Object map[string]json.RawMessage

// ParseObject decodes text, also where only its quotes are wrong (see repaired). It returns a *BadRequest when text is
// not one JSON object.
func ParseObject(text []byte) (Object, error) {
	var o Object
	err := json.Unmarshal(text, &o)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		if made, ok := repaired(text); ok {
			o = nil
			err = json.Unmarshal(made, &o)
		}
	}
	switch {
	case err != nil && errors.As(err, &syntax):
		return nil, &BadRequest{"", notJSON.With(syntax.Offset)}
	case err != nil || o == nil:
		return nil, &BadRequest{"", notObject.With()}
	}
	return o, nil
}

// Lower is a copy of o with lower-case keys. Of two keys that differ by case only,
// the first in byte order that Has a value stays.
func (o Object) Lower() Object {
	lower := make(Object, len(o))
	for _, key := range slices.Sorted(maps.Keys(o)) {
		name := strings.ToLower(key)
		if !lower.Has(name) {
			lower[name] = o[key]
		}
	}
	return lower
}

// Has reports whether any of keys is there and neither null nor an empty or blank text.
func (o Object) Has(keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool {
		raw := strings.TrimSpace(string(o[key]))
		if raw == "" || raw == "null" {
			return false
		}
		return raw[0] != '"' || strings.TrimSpace(o.Text(key)) != ""
	})
}

// Object is the object at key, nil when absent.
func (o Object) Object(key string) Object {
	var inner Object
	if json.Unmarshal(o[key], &inner) != nil {
		return nil
	}
	return inner
}

// Objects are the objects of the list at key; other elements are left out.
func (o Object) Objects(key string) []Object {
	var raw []json.RawMessage
	if json.Unmarshal(o[key], &raw) != nil {
		return nil
	}
	var list []Object
	for _, element := range raw {
		var inner Object
		if json.Unmarshal(element, &inner) == nil && inner != nil {
			list = append(list, inner)
		}
	}
	return list
}

// Text is the first of keys that holds a text or a number, exactly as sent.
// Empty texts are passed over; it is empty when all are.
func (o Object) Text(keys ...string) string {
	for _, key := range keys {
		var value any
		raw := o[key]
		if len(raw) == 0 || raw[0] == '{' || raw[0] == '[' || json.Unmarshal(raw, &value) != nil {
			// A number beyond float64 lands here: it is no useful text either.
			continue
		}
		switch v := value.(type) {
		case string:
			if v != "" {
				return v
			}
		case float64:
			return string(raw)
		}
	}
	return ""
}

// Line is the first of keys with a text that is not blank, as one clean line:
// trimmed, without control characters, cut to watch.MaxText bytes.
func (o Object) Line(keys ...string) string {
	for _, key := range keys {
		if text := Clean(o.Text(key), watch.MaxText); text != "" {
			return text
		}
	}
	return ""
}

// Clean is text trimmed, valid UTF-8, with control characters as spaces, cut at a
// rune boundary to at most limit bytes. Of a longer text nothing stays in memory.
func Clean(text string, limit int) string {
	given := len(text)
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text))
	if len(text) > limit {
		for limit > 0 && !utf8.RuneStart(text[limit]) {
			limit--
		}
		text = strings.TrimSpace(text[:limit])
	}
	if len(text) < given {
		return strings.Clone(text)
	}
	return text
}

const (
	maxEventName = 64
	maxPath      = 4096 // bytes; longer than any file system allows
)

// EventName is the sender's name of the event at key, short enough to be shown.
func (o Object) EventName(keys ...string) string { return Clean(o.Line(keys...), maxEventName) }

// Path is the file path at key exactly as sent; empty when it cannot be one.
func (o Object) Path(key string) string {
	path := o.Text(key)
	if len(path) > maxPath || strings.ContainsRune(path, 0) {
		return ""
	}
	return path
}

// IDs reads o as a map of provider names to ids; nil when there is no usable one.
func (o Object) IDs() watch.IDs {
	var ids watch.IDs
	for _, provider := range slices.Sorted(maps.Keys(o)) {
		ids = AddID(ids, provider, o.Text(provider))
	}
	return ids
}

// Limits of the provider ids kept of one item.
const (
	maxIDs     = 40
	maxIDName  = 40
	maxIDValue = 100
)

// AddID is ids with the id of one provider, the map made when nil. Names become
// lower case; blank and zero ids and those beyond the limits are left out, and
// the first id of a provider stays.
func AddID(ids watch.IDs, provider, id string) watch.IDs {
	provider, id = strings.ToLower(Clean(provider, watch.MaxText)), Clean(id, watch.MaxText)
	if provider == "" || id == "" || id == "0" || len(provider) > maxIDName || len(id) > maxIDValue || len(ids) >= maxIDs {
		return ids
	}
	if ids == nil {
		ids = watch.IDs{}
	}
	if _, taken := ids[provider]; !taken {
		ids[provider] = id
	}
	return ids
}

// plainNumber is a number as people and templates write it: 7, 7.0, 07, -1.
var plainNumber = regexp.MustCompile(`^[+-]?\d{1,15}(?:\.\d{1,15})?$`)

// Number is the first of keys that holds a finite number, also one written as
// text ("07", "7.0"). ok is false when none does.
func (o Object) Number(keys ...string) (n float64, ok bool) {
	for _, key := range keys {
		raw := string(o[key])
		text := raw
		if strings.HasPrefix(raw, `"`) {
			text = strings.TrimSpace(o.Text(key))
			if !plainNumber.MatchString(text) {
				continue
			}
		}
		// Other JSON values are no numbers to ParseFloat: JSON has no NaN, Inf or hexadecimal.
		n, err := strconv.ParseFloat(text, 64)
		if err == nil && !math.IsInf(n, 0) && !math.IsNaN(n) {
			return n, true
		}
	}
	return 0, false
}

// Int64 is the first of keys that holds a whole number, also as 7.0 or as text.
// Numbers beyond 15 digits are absent.
func (o Object) Int64(keys ...string) (n int64, ok bool) {
	for _, key := range keys {
		if f, ok := o.Number(key); ok && f == math.Trunc(f) && math.Abs(f) < 1e15 {
			return int64(f), true
		}
	}
	return 0, false
}

// Int is Int64 for numbers that an int holds on every machine; others are absent.
func (o Object) Int(keys ...string) (n int, ok bool) {
	long, ok := o.Int64(keys...)
	if !ok || long < math.MinInt32 || long > math.MaxInt32 {
		return 0, false
	}
	return int(long), true
}

// Season is the first of keys that holds a possible season number, nil when none does.
// Season 0 is present: it means specials.
func (o Object) Season(keys ...string) *int {
	if n, ok := o.Int(keys...); ok && n >= 0 && n <= watch.MaxSeason {
		return &n
	}
	return nil
}

// Episode is the first of keys that holds a possible episode number, nil when none does.
func (o Object) Episode(keys ...string) *float64 {
	if n, ok := o.Number(keys...); ok && n >= 0 && n <= watch.MaxEpisode {
		return &n
	}
	return nil
}

// Year is a date known to the year only, from the first of keys that holds a year.
func (o Object) Year(keys ...string) watch.Date {
	if n, ok := o.Int(keys...); ok && n >= 1900 && n <= 2200 {
		return watch.Date{Year: n}
	}
	return watch.Date{}
}

// Bool is the truth value at key: true, "True", "1" or 1 and their opposites.
// known is false for anything else.
func (o Object) Bool(key string) (value, known bool) {
	text := strings.TrimSpace(string(o[key]))
	if strings.HasPrefix(text, `"`) {
		text = strings.TrimSpace(o.Text(key))
	}
	switch strings.ToLower(text) {
	case "true", "1":
		return true, true
	case "false", "0":
		return false, true
	}
	return false, false
}

// Time is the instant at key, written as RFC 3339 with any fraction, in UTC;
// zero when it is absent or out of any sense.
func (o Object) Time(key string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(o.Text(key)))
	if err != nil {
		return time.Time{}
	}
	return sensible(t)
}

// UnixTime is the instant at the first of keys that holds a number, in seconds since 1970, in UTC;
// zero when it is absent or out of any sense.
func (o Object) UnixTime(keys ...string) time.Time {
	n, ok := o.Int64(keys...)
	if !ok {
		return time.Time{}
	}
	return sensible(time.Unix(n, 0))
}

// sensible is t in UTC; zero when nothing can have been played then. A year of five digits could not be stored.
func sensible(t time.Time) time.Time {
	if t.Year() < 2000 || t.Year() > 2200 {
		return time.Time{}
	}
	return t.UTC()
}
