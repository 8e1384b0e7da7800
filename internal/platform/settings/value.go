package settings

import (
	"fmt"
	"log/slog"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// Type is the JSON type of a key's value.
type Type string

// The types of values. A list is a list of strings.
const (
	String  Type = "string"
	Boolean Type = "boolean"
	Integer Type = "integer"
	Number  Type = "number"
	List    Type = "list"
)

// longestText and mostItems bound what a person may enter.
const (
	longestText = 2000
	mostItems   = 100
)

// kind is the type of o's value, read from the field it is bound to.
func (o *option) kind() Type {
	switch o.at.(type) {
	case *bool:
		return Boolean
	case *int, *int64, *time.Duration:
		return Integer
	case *float64:
		return Number
	case *[]netip.Prefix, *[]string:
		return List
	default:
		return String
	}
}

// secret reports whether o's value must never be shown.
func (o *option) secret() bool {
	_, is := o.at.(*secret.Text)
	return is
}

// parse turns a value decoded from TOML or JSON, or a default, into the form in
// which it is kept: string, bool, int64, float64 or []string. The error says
// what is allowed.
func (o *option) parse(raw any) (any, error) {
	switch o.kind() {
	case Boolean:
		if b, ok := raw.(bool); ok {
			return b, nil
		}
		return nil, wrongType(raw, aBoolean)
	case Integer:
		n, ok := wholeNumber(raw)
		if !ok {
			return nil, wrongType(raw, aWholeNumber)
		}
		return n, o.within(float64(n))
	case Number:
		n, ok := raw.(float64)
		if !ok {
			var whole int64
			if whole, ok = wholeNumber(raw); !ok {
				return nil, wrongType(raw, aNumber)
			}
			n = float64(whole)
		}
		return n, o.within(n)
	case List:
		return o.parseList(raw)
	default:
		text, ok := raw.(string)
		if !ok {
			return nil, wrongType(raw, quotedText)
		}
		return o.parseString(text)
	}
}

// parseText is parse for a value written as plain text, as in the environment;
// the items of a list are parted by commas.
func (o *option) parseText(text string) (any, error) {
	switch o.kind() {
	case Boolean:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return nil, notBoolean.With(shown(text))
		}
		return b, nil
	case Integer:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, notWholeNumber.With(shown(text), o.min, o.max)
		}
		return o.parse(n)
	case Number:
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, notNumber.With(shown(text), o.min, o.max)
		}
		return o.parse(n)
	case List:
		items := []string{}
		for item := range strings.SplitSeq(text, ",") {
			if item = strings.TrimSpace(item); item != "" {
				items = append(items, item)
			}
		}
		return o.parse(items)
	default:
		return o.parseString(text)
	}
}

// within checks the bounds of a number; not-a-number is outside of them.
func (o *option) within(n float64) error {
	if n >= o.min && n <= o.max {
		return nil
	}
	return notBetween.With(n, o.min, o.max)
}

// parseString checks and normalises one text.
func (o *option) parseString(text string) (any, error) {
	switch {
	case len(text) > longestText:
		return nil, tooManyBytes.With(longestText)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return nil, hasControl
	case o.choices != nil:
		var allowed []string
		for _, choice := range o.choices {
			if strings.EqualFold(text, choice.Value) {
				return choice.Value, nil
			}
			allowed = append(allowed, choice.Value)
		}
		return nil, notAChoice.With(shown(text), strings.Join(allowed, ", "))
	case o.check != nil:
		return o.check(text)
	}
	return text, nil
}

// parseList checks and normalises the items of a list.
func (o *option) parseList(raw any) (any, error) {
	var items []any
	switch list := raw.(type) {
	case []any:
		items = list
	case []string:
		for _, item := range list {
			items = append(items, item)
		}
	default:
		return nil, wrongType(raw, aListOfTexts)
	}
	if len(items) > mostItems {
		return nil, tooManyItems.With(mostItems)
	}
	checked := make([]string, len(items))
	for i, item := range items {
		text, ok := item.(string)
		if !ok {
			return nil, inItem.With(i+1, wrongType(item, quotedText))
		}
		value, err := o.parseString(text)
		if err != nil {
			return nil, inItem.With(i+1, err)
		}
		checked[i] = value.(string)
	}
	return checked, nil
}

// assign puts a value that parse returned into the field o is bound to.
func (o *option) assign(value any) {
	switch at := o.at.(type) {
	case *bool:
		*at = value.(bool)
	case *int:
		*at = int(value.(int64))
	case *int64:
		*at = value.(int64) * o.unit.size
	case *time.Duration:
		*at = time.Duration(value.(int64) * o.unit.size)
	case *float64:
		*at = value.(float64)
	case *string:
		*at = value.(string)
	case *secret.Text:
		*at = secret.Text(value.(string))
	case *slog.Level:
		if err := at.UnmarshalText([]byte(value.(string))); err != nil {
			panic("settings: a choice of " + o.path + " is no log level: " + err.Error())
		}
	case *[]string:
		*at = value.([]string)
	case *[]netip.Prefix:
		texts := value.([]string)
		*at = make([]netip.Prefix, len(texts))
		for i, text := range texts {
			(*at)[i] = netip.MustParsePrefix(text)
		}
	default:
		panic(fmt.Sprintf("settings: %s is bound to a %T, which no code can set", o.path, o.at))
	}
}

// standardValue is o's default in the form parse returns; the table's defaults
// are valid, which a test holds.
func (o *option) standardValue() any {
	value, err := o.parse(o.standard)
	if err != nil {
		panic("settings: the default of " + o.path + ": " + err.Error())
	}
	return value
}

// wholeNumber reads an integer of Go, TOML or JSON. JSON has floats only: one
// without a fraction counts, as far as a float is exact.
func wholeNumber(raw any) (int64, bool) {
	const exact = 1 << 53
	switch n := raw.(type) {
	case int:
		return int64(n), true
	case int64:
		return n, true
	case float64:
		return int64(n), n == math.Trunc(n) && math.Abs(n) <= exact
	}
	return 0, false
}

// wrongType says what was given and what is needed, without the value itself.
func wrongType(raw any, needed *reason.Kind) error {
	given := aDate
	switch raw.(type) {
	case nil:
		given = nothing
	case string:
		given = aText
	case bool:
		given = aBoolean
	case int64, int:
		given = aNumber
	case float64:
		given = aNumber
		if needed == aWholeNumber {
			given = aFraction
		}
	case []any, []string:
		given = aList
	case map[string]any, []map[string]any:
		given = aSection
	}
	return otherTypeGiven.With(given, needed)
}
