package api_test

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// served is the document as clients read it.
var served = sync.OnceValue(func() map[string]any {
	text, err := json.Marshal(described())
	if err != nil {
		panic(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		panic(err)
	}
	return doc
})

// checker holds a value against the schemas of the served document, to the letter of JSON Schema: the validator that
// comes with the library takes null for what need not be there, and names in any case.
type checker struct{ problems []string }

func (c *checker) wrong(at, format string, args ...any) {
	c.problems = append(c.problems, at+": "+fmt.Sprintf(format, args...))
}

// passedOver are words of a schema that limit no value.
var passedOver = []string{"description", "example", "examples", "default", "title", "readOnly", "writeOnly", "deprecated", "contentEncoding", "contentMediaType", "$schema"}

// check walks a value along its schema. A word of the schema that it does not know is a problem, too.
func (c *checker) check(at string, schema map[string]any, value any) {
	for word, limit := range schema {
		switch word {
		case "$ref":
			names := strings.Split(strings.TrimPrefix(limit.(string), "#/"), "/")
			var target any = served()
			for _, name := range names {
				target = target.(map[string]any)[name]
			}
			c.check(at, target.(map[string]any), value)
		case "type":
			kinds, several := limit.([]any)
			if !several {
				kinds = []any{limit}
			}
			if !slices.ContainsFunc(kinds, func(kind any) bool { return isKind(value, kind.(string)) }) {
				c.wrong(at, "%s is not of type %v", shown(value), limit)
			}
		case "enum":
			if !slices.Contains(limit.([]any), value) {
				c.wrong(at, "%s is none of %v", shown(value), limit)
			}
		case "oneOf", "anyOf", "allOf":
			c.choose(at, word, limit.([]any), value)
		case "properties", "required", "additionalProperties":
			if object, is := value.(map[string]any); is {
				c.object(at, word, schema, object)
			}
		case "items":
			list, _ := value.([]any)
			for i, item := range list {
				c.check(fmt.Sprintf("%s[%d]", at, i), limit.(map[string]any), item)
			}
		case "minItems", "maxItems":
			if list, is := value.([]any); is && beyond(word, len(list), limit) {
				c.wrong(at, "has %d items, %s is %v", len(list), word, limit)
			}
		case "minLength", "maxLength":
			if text, is := value.(string); is && beyond(word, utf8.RuneCountInString(text), limit) {
				c.wrong(at, "%s breaks %s %v", shown(value), word, limit)
			}
		case "minimum", "maximum":
			if n, is := value.(float64); is && (word == "minimum" && n < limit.(float64) || word == "maximum" && n > limit.(float64)) {
				c.wrong(at, "%s breaks %s %v", shown(value), word, limit)
			}
		case "pattern":
			if text, is := value.(string); is && !regexp.MustCompile(limit.(string)).MatchString(text) {
				c.wrong(at, "%s does not match %v", shown(value), limit)
			}
		case "format":
			if text, is := value.(string); is && limit == "date-time" {
				if _, err := time.Parse(time.RFC3339, text); err != nil {
					c.wrong(at, "%v", err)
				}
			}
		default:
			if !slices.Contains(passedOver, word) {
				c.wrong(at, "the schema says %q, which this test does not know", word)
			}
		}
	}
}

// choose holds a value against several schemas.
func (c *checker) choose(at, word string, schemas []any, value any) {
	fits := 0
	var why []string
	for _, schema := range schemas {
		one := &checker{}
		one.check(at, schema.(map[string]any), value)
		if len(one.problems) == 0 {
			fits++
		}
		why = append(why, one.problems...)
	}
	if word == "oneOf" && fits != 1 || word == "anyOf" && fits == 0 || word == "allOf" && fits != len(schemas) {
		c.wrong(at, "fits %d of %d in %s: %s", fits, len(schemas), word, strings.Join(why, "; "))
	}
}

// object holds an object against one word of its schema.
func (c *checker) object(at, word string, schema, object map[string]any) {
	properties, _ := schema["properties"].(map[string]any)
	switch word {
	case "properties":
		for name, of := range properties {
			if value, there := object[name]; there {
				c.check(at+"."+name, of.(map[string]any), value)
			}
		}
	case "required":
		for _, name := range schema["required"].([]any) {
			if _, there := object[name.(string)]; !there {
				c.wrong(at, "lacks %s", name)
			}
		}
	case "additionalProperties":
		for name, value := range object {
			if properties[name] != nil {
				continue
			}
			if of, is := schema[word].(map[string]any); is {
				c.check(at+"."+name, of, value)
			} else if schema[word] == false {
				c.wrong(at, "has %s, which is not documented", name)
			}
		}
	}
}

// beyond reports whether n is beyond a limit whose name begins with min or max.
func beyond(word string, n int, limit any) bool {
	if strings.HasPrefix(word, "min") {
		return float64(n) < limit.(float64)
	}
	return float64(n) > limit.(float64)
}

func isKind(value any, kind string) bool {
	switch v := value.(type) {
	case nil:
		return kind == "null"
	case bool:
		return kind == "boolean"
	case string:
		return kind == "string"
	case float64:
		return kind == "number" || kind == "integer" && v == math.Trunc(v)
	case []any:
		return kind == "array"
	}
	return kind == "object"
}

// shown is the beginning of a value.
func shown(value any) string {
	text, _ := json.Marshal(value) // it was read from JSON
	return string(text[:min(len(text), 200)])
}
