package custom_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"watchmark/internal/platform/reason"
	"watchmark/internal/source/custom"
	"watchmark/internal/source/payload"
)

// schema compiles the published schema, with a library that is not ours.
func schema(tb testing.TB) *jsonschema.Schema {
	tb.Helper()
	text, err := custom.Schema()
	if err != nil {
		tb.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		tb.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("schema.json", document); err != nil {
		tb.Fatal(err)
	}
	compiled, err := compiler.Compile("schema.json")
	if err != nil {
		tb.Fatal(err)
	}
	return compiled
}

// agree holds that the schema and the parser say the same of a body, and reports what they say.
func agree(tb testing.TB, s *jsonschema.Schema, body []byte) bool {
	tb.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		tb.Fatalf("%s: %v", body, err)
	}
	bySchema := s.Validate(value)
	_, byParser := custom.Parse(payload.Request{Body: body})
	if (bySchema == nil) != (byParser == nil) {
		tb.Errorf("of %s the schema says %v, the parser %v", body, bySchema, byParser)
	}
	return byParser == nil
}

// keywords are the words of JSON Schema that the published one uses.
var keywords = []string{"$schema", "$id", "$comment", "title", "description", "examples", "type", "required", "properties", "anyOf", "if", "else", "not", "pattern", "minimum", "maximum", "maxLength"}

// strictly fails for a keyword that there is not, and for a list of types: strict validators, such as Ajv, refuse a schema with one.
func strictly(t *testing.T, schema any) {
	t.Helper()
	of, is := schema.(map[string]any)
	if !is {
		return
	}
	for name, value := range of {
		if !slices.Contains(keywords, name) {
			t.Errorf("the schema has the keyword %q", name)
		}
		switch name {
		case "type":
			if _, one := value.(string); !one {
				t.Errorf("the schema has the types %v", value)
			}
		case "properties":
			for _, one := range value.(map[string]any) {
				strictly(t, one)
			}
		case "anyOf":
			for _, one := range value.([]any) {
				strictly(t, one)
			}
		case "if", "else", "not":
			strictly(t, value)
		}
	}
}

func TestExamplesOfTheSchemaAreAccepted(t *testing.T) {
	text, err := custom.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var said struct {
		Schema   string            `json:"$schema"`
		ID       string            `json:"$id"`
		Examples []json.RawMessage `json:"examples"`
	}
	if err := json.Unmarshal(text, &said); err != nil || said.ID != "urn:watchmark:custom-event:1" || len(said.Examples) < 3 ||
		said.Schema != "https://json-schema.org/draft/2020-12/schema" {
		t.Fatalf("the schema is %+v: %v", said, err)
	}
	var whole any
	if err := json.Unmarshal(text, &whole); err != nil {
		t.Fatal(err)
	}
	strictly(t, whole)
	s := schema(t)
	for _, example := range append(said.Examples, json.RawMessage(custom.Adapter.Guide.Body)) {
		if !agree(t, s, example) {
			t.Errorf("the example %s is refused", example)
		}
	}
}

// The payloads of the tests of all sources, as far as they are JSON objects.
func TestTheSchemaAgreesOnPayloads(t *testing.T) {
	files, err := filepath.Glob("../testdata/custom/*.json")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d payloads: %v", len(files), err)
	}
	s := schema(t)
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if json.Valid(body) {
			agree(t, s, body)
		}
	}
}

// values are what generated bodies hold: what is right, what is nearly so, and what is not. They are JSON.
var values = []string{
	`null`, `true`, `false`, `[]`, `{}`, `[1]`, `{"tmdb":1}`, `""`, `" "`, `"\t\n"`, `"\u0000"`, `"\u0001"`, `"\u00a0\u3000"`, `"\u200b"`, `"a\u0000b"`, `" x "`, `"灯塔"`, `"\ud800"`,
	`0`, `-0`, `1`, `-1`, `7`, `2.0`, `2.5`, `1e2`, `1E-3`, `998`, `999`, `999.5`, `1000`, `99998.5`, `99999`, `99999.5`, `100000`, `1e15`, `1e300`, `-1e300`,
	`"0"`, `"-0"`, `"-0.0"`, `"+7"`, `"07"`, `"7."`, `".7"`, `" 7 "`, `"\u30007\u00a0"`, `"7.0"`, `"7.50"`, `"7,5"`, `"1e2"`, `"0x7"`, `"NaN"`, `"Infinity"`, `"999"`, `"0000999"`, `"999.000"`, `"999.5"`,
	`"1000"`, `"00000000000000000007"`, `"000000000000999"`, `"0000000000000999"`, `"99998.999"`, `"99999"`, `"99999.0"`, `"99999.1"`, `"099999"`, `"100000"`, `"-1"`, `"--1"`, `"7 8"`, `"７"`, `"\u00017"`,
	`"episode"`, `"Episode"`, `" MOVIE "`, `"film"`, `"FILM\u0000"`, `"Movies"`, `"ova"`, `"OAD"`, `"real_action"`, `"real action"`, `"tv"`, `"Series"`, `"show"`, `"mov\u0130e"`, `"movie film"`, `"song"`,
	`"2025-02-19"`, `"19.02.2025"`, `"2025-02-19T21:04:00Z"`, `"mark_watching"`,
}

func TestTheSchemaAcceptsWhatTheParserAccepts(t *testing.T) {
	s := schema(t)
	long := func(n int, of string) string { return `"` + strings.Repeat(of, n) + `"` }
	all := append([]string{long(125, "x"), long(126, "x"), long(125, "灯"), long(126, "灯"), long(600, "x"), long(125, "😀"), long(126, "😀")}, values...)
	fields := []string{"title", "media_type", "season", "episode", "user_name", "release_date", "ori_title", "ids", "source", "sync_action", "watched_at", "other", "Title"}
	good := map[string]string{"title": `"x"`, "season": `2`, "episode": `7`, "media_type": `"episode"`, "user_name": `"mira"`}
	body := func(of map[string]string) []byte {
		var parts []string
		for name, value := range of {
			parts = append(parts, `"`+name+`":`+value)
		}
		return []byte("{" + strings.Join(parts, ",") + "}")
	}
	accepted, refused := 0, 0
	look := func(of map[string]string) {
		if agree(t, s, body(of)) {
			accepted++
		} else {
			refused++
		}
	}
	for _, kind := range []string{`"episode"`, `"movie"`, `"ova"`} { // every value in every field
		for _, field := range fields {
			for _, value := range all {
				one := map[string]string{}
				for name, right := range good {
					one[name] = right
				}
				one["media_type"], one[field] = kind, value
				look(one)
			}
		}
	}
	random := rand.New(rand.NewPCG(28, 4))
	for range 20_000 {
		one := map[string]string{}
		for _, field := range fields {
			switch random.IntN(4) {
			case 0:
				one[field] = all[random.IntN(len(all))]
			case 1, 2:
				if right := good[field]; right != "" {
					one[field] = right
				}
			}
		}
		look(one)
	}
	if accepted < 1000 || refused < 1000 {
		t.Errorf("%d bodies were accepted, %d refused: the test shows little", accepted, refused)
	}
}

var (
	blocks = regexp.MustCompile("(?s)```json\n(\\{\"(?:title|media_type).*?)```")
	codes  = regexp.MustCompile("`((?:custom|webhook|api)_[a-z_]+)`")
)

// The documents tell every field and every error of the parser, and their examples are accepted.
func TestTheDocumentsTellTheSchema(t *testing.T) {
	text, err := custom.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var said struct{ Properties map[string]any }
	if err := json.Unmarshal(text, &said); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, kind := range reason.Kinds() {
		known[kind.Code()] = true
	}
	for _, path := range []string{"../../../docs/sources/script.md", "../../../docs/zh-CN/sources/script.md"} {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for name := range said.Properties {
			if !strings.Contains(string(page), "| `"+name+"` |") {
				t.Errorf("%s does not tell of the field %s", path, name)
			}
		}
		for code := range known {
			if strings.HasPrefix(code, "custom_") && !strings.Contains(string(page), "`"+code+"`") {
				t.Errorf("%s does not tell of the error %s", path, code)
			}
		}
		for _, code := range codes.FindAllStringSubmatch(string(page), -1) {
			if strings.HasPrefix(code[1], "custom_") && !known[code[1]] {
				t.Errorf("%s tells of the error %s, which there is not", path, code[1])
			}
		}
		examples := blocks.FindAllStringSubmatch(string(page), -1)
		if len(examples) != 3 {
			t.Errorf("%s has %d examples", path, len(examples))
		}
		for _, example := range examples {
			if !agree(t, schema(t), []byte(example[1])) {
				t.Errorf("%s: the example %s is refused", path, example[1])
			}
		}
	}
}
