package api_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"watchmark/contrib"
	"watchmark/internal/engine"
)

// Other programs read the form of an event without a key.
func TestTheSchemaIsPublished(t *testing.T) {
	r := newRig(t)
	schema := r.anonymous("GET", "/api/custom-event.schema.json", nil).want(200, "https://json-schema.org/draft/2020-12/schema")
	var said map[string]any
	if err := json.Unmarshal([]byte(schema.body), &said); err != nil || said["$id"] != "urn:watchmark:custom-event:1" || schema.header.Get("Content-Type") != "application/schema+json" {
		t.Errorf("the schema is %s as %s: %v", schema.body, schema.header.Get("Content-Type"), err)
	}
	r.do("POST", "/api/custom-event.schema.json", nil).problem(405)
}

// A box with Kodi gets the add-on without a key: it has none yet.
func TestTheAddonForKodiIsGivenOut(t *testing.T) {
	r := newRig(t)
	got := r.anonymous("GET", "/api/kodi-addon.zip", nil).want(200)
	if addon := must(contrib.KodiAddon())(t); got.body != string(addon) {
		t.Errorf("%d bytes are given out, not %d", len(got.body), len(addon))
	}
	for name, want := range map[string]string{
		"Content-Type": "application/zip", "Content-Disposition": `attachment; filename="service.watchmark.zip"`, "Content-Length": strconv.Itoa(len(got.body)),
	} {
		if said := got.header.Get(name); said != want {
			t.Errorf("%s is %q", name, said)
		}
	}
}

// errorRows are rows of the table of errors: statuses, and codes.
var errorRows = regexp.MustCompile("(?m)^\\| (\\d{3}(?:[,、] ?\\d{3})*) \\| ((?:`[a-z_]+`(?:, |、)?)+) \\|")

// errorsTold are the errors that a page of the documents tells, by code. A row with as many statuses as codes has one for each.
func errorsTold(t *testing.T, path string) map[string]int {
	t.Helper()
	page := string(must(os.ReadFile(path))(t))
	told := map[string]int{}
	for _, row := range errorRows.FindAllStringSubmatch(page, -1) {
		statuses := regexp.MustCompile(`\d+`).FindAllString(row[1], -1)
		for i, code := range regexp.MustCompile(`[a-z_]+`).FindAllString(row[2], -1) {
			told[code] = must(strconv.Atoi(statuses[min(i, len(statuses)-1)]))(t)
		}
	}
	return told
}

// Every error that the documents tell of is answered so, with its code and its status, and there is no test of one that they do not tell.
func TestEveryErrorOfTheCustomWebhookIsAnswered(t *testing.T) {
	const jsonType, formType = "application/json", "application/x-www-form-urlencoded"
	r := newRig(t, "WATCHMARK_SERVER_MAX_BODY_MB=1")
	of := func(field, value string) string {
		all := map[string]string{"title": `"x"`, "season": "1", "episode": "1", "user_name": `"mira"`}
		all[field] = value
		var parts []string
		for name, value := range all {
			if value != "" {
				parts = append(parts, fmt.Sprintf("%q:%s", name, value))
			}
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	var manyFields strings.Builder
	for n := range 501 {
		fmt.Fprintf(&manyFields, "a%d=1&", n)
	}
	answered := map[string]struct {
		contentType, body string
		field             string // what errors names; empty for none
	}{
		"custom_missing":             {jsonType, `{"user_name":"mira"}`, "episode"},
		"custom_unknown_kind":        {jsonType, of("media_type", `"song"`), "media_type"},
		"custom_not_text":            {jsonType, of("title", `["x"]`), "title"},
		"custom_title_unreadable":    {jsonType, of("title", `" \u0001"`), "title"},
		"custom_wrong_season":        {jsonType, of("season", "1000"), "season"},
		"custom_wrong_episode":       {jsonType, of("episode", `"seven"`), "episode"},
		"custom_user_name_too_long":  {jsonType, of("user_name", `"`+strings.Repeat("灯", 126)+`"`), "user_name"},
		"webhook_user_name_with_nul": {jsonType, of("user_name", `"a\u0000b"`), "user_name"},
		"webhook_empty_body":         {jsonType, "", ""},
		"webhook_not_json":           {jsonType, `{"title":`, ""},
		"webhook_no_json_object":     {jsonType, `[1]`, ""},
		"webhook_form_encoding":      {formType, "payload=%zz", ""},
		"webhook_too_many_fields":    {formType, manyFields.String(), ""},
		"webhook_empty_form":         {formType, "payload=", "payload"},
		"webhook_media_type":         {"text/plain", "hello", ""},
		"webhook_body_large":         {jsonType, of("title", `"`+strings.Repeat("a", 1<<20)+`"`), ""},
		"webhook_body_late":          {},
		"webhook_key":                {},
		"api_busy":                   {},
		"webhook_not_stored":         {},
		"internal_error":             {},
	}
	told := errorsTold(t, "../../../docs/sources/script.md")
	if chinese := errorsTold(t, "../../../docs/zh-CN/sources/script.md"); fmt.Sprint(told) != fmt.Sprint(chinese) {
		t.Errorf("the pages tell of %v and %v", told, chinese)
	}
	for code := range answered {
		if told[code] == 0 {
			t.Errorf("the documents do not tell of %s", code)
		}
	}
	at := "/webhook/custom/" + hookKey
	for code, status := range told {
		c, known := answered[code]
		if !known {
			t.Errorf("nothing shows that %s is answered", code)
			continue
		}
		var got reply
		switch code {
		case "webhook_key":
			got = r.anonymous("POST", "/webhook/custom/wrong", event("x", 1, 1))
		case "webhook_body_late":
			got = r.late(at)
		case "api_busy", "webhook_not_stored", "internal_error":
			r.engine.failing(map[string]error{"api_busy": engine.ErrBusy, "webhook_not_stored": engine.ErrNotStored, "internal_error": errors.New("broken")}[code])
			got = r.anonymous("POST", at, event("x", 1, 1))
			r.engine.failing(nil)
		default:
			got = r.anonymous("POST", at, c.body, "Content-Type", c.contentType)
		}
		got.problem(status)
		if said := got.get("reason", "code"); said != code {
			t.Errorf("%s is answered with %v: %s", code, said, got.body)
		}
		if c.field != "" && !strings.Contains(got.body, fmt.Sprintf(`"location":%q`, "body."+c.field)) {
			t.Errorf("%s: errors does not name %s: %s", code, c.field, got.body)
		}
	}
	if events := r.engine.events; len(events) != 0 {
		t.Errorf("events: %+v", events)
	}
}

// late sends a body that the server has waited for too long.
func (r *rig) late(path string) reply {
	r.t.Helper()
	request := httptest.NewRequest(http.MethodPost, path, lateBody{})
	w := httptest.NewRecorder()
	r.handler.ServeHTTP(w, request)
	answer := w.Result()
	body := must(io.ReadAll(answer.Body))(r.t)
	return reply{t: r.t, what: "late", status: answer.StatusCode, header: answer.Header, body: string(body)}
}

// lateBody is what the server reads when the time for a body is over.
type lateBody struct{}

func (lateBody) Read([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }
