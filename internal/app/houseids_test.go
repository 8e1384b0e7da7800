package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"watchmark/internal/door/access"
	"watchmark/internal/door/auth"
)

// idKinds are the kinds of things that have ids, with where whoever may see some of them lists them: what the owner, or any person, finds
// there is an id that exists. A new kind is one line.
var idKinds = map[string]string{
	"accounts":  "/api/accounts?limit=200",
	"records":   "/api/records?limit=200",
	"people":    "/api/people?limit=200",
	"keys":      "/api/api-keys",
	"notices":   "/api/notification/inbox?limit=200",
	"tasks":     "/api/tasks",
	"snapshots": "/api/accounts/%d/snapshots",
	"mappings":  "/api/mappings?limit=200",
	"blocked":   "/api/blocked-keywords?limit=200",
	"questions": "/api/pending-candidates?limit=200",
	"servers":   "/api/servers",
	"channels":  "/api/notification/webhooks",
	"rules":     "/api/notification/rules",
	"summaries": "/api/summary/jobs",
}

// operation is one of the OpenAPI document.
type operation struct {
	id, method, path string
	streams          bool
	query            []string // names of parameters that are ids
	body             map[string]any
	idFields         []string // of the body
}

// idField names what holds an id of something that belongs to somebody; entries and episodes of Bangumi are everybody's.
var idField = regexp.MustCompile(`^(id|ids|up_to|channels|.*_ids?)$`)

func isIDField(name string) bool {
	return idField.MatchString(name) && name != "subject_id" && name != "episode_id" && name != "catalog_user_id" && name != "client_id" && name != "server_id"
}

// operations are all of the document.
func (s *service) operations() (all []operation) {
	s.t.Helper()
	var doc struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct{ Schemas map[string]map[string]any }
	}
	into(s.t, s.get("/api/openapi.json").body, &doc)
	for path, item := range doc.Paths {
		for method, text := range item {
			var d struct {
				OperationID string `json:"operationId"`
				Parameters  []struct {
					Name, In string
				}
				RequestBody struct {
					Content map[string]struct{ Schema map[string]any }
				} `json:"requestBody"`
				Responses map[string]struct{ Content map[string]any }
			}
			if !slices.Contains([]string{"get", "put", "post", "patch", "delete"}, method) {
				continue
			}
			into(s.t, string(text), &d)
			op := operation{id: d.OperationID, method: strings.ToUpper(method), path: path}
			_, op.streams = d.Responses["200"].Content["text/event-stream"]
			for _, p := range d.Parameters {
				if p.In == "query" && isIDField(p.Name) {
					op.query = append(op.query, p.Name)
				}
			}
			if schema := d.RequestBody.Content["application/json"].Schema; schema != nil {
				op.body, op.idFields = sampleBody(doc.Components.Schemas, schema)
			}
			all = append(all, op)
		}
	}
	slices.SortFunc(all, func(a, b operation) int { return strings.Compare(a.id, b.id) })
	return all
}

// sampleBody is a body that a schema takes, with what it needs alone, and the names of the fields that are ids.
func sampleBody(schemas map[string]map[string]any, schema map[string]any) (body map[string]any, ids []string) {
	schema = resolved(schemas, schema)
	body = map[string]any{}
	needed, _ := schema["required"].([]any)
	properties, _ := schema["properties"].(map[string]any)
	for name, raw := range properties {
		property, _ := raw.(map[string]any)
		property = resolved(schemas, property)
		if isIDField(name) {
			ids = append(ids, name)
		}
		if slices.Contains(needed, any(name)) {
			body[name] = sampleOf(schemas, property)
		}
		if isIDField(name) && property["type"] == "array" {
			body[name] = []any{1}
		}
	}
	slices.Sort(ids)
	return body, ids
}

func resolved(schemas map[string]map[string]any, schema map[string]any) map[string]any {
	if ref, is := schema["$ref"].(string); is {
		return schemas[ref[strings.LastIndexByte(ref, '/')+1:]]
	}
	return schema
}

func sampleOf(schemas map[string]map[string]any, schema map[string]any) any {
	if all, is := schema["examples"].([]any); is && len(all) > 0 {
		return all[0]
	}
	if all, is := schema["enum"].([]any); is && len(all) > 0 {
		return all[0]
	}
	switch schema["type"] {
	case "integer", "number":
		return 1
	case "boolean":
		return true
	case "array":
		return []any{}
	case "object":
		body, _ := sampleBody(schemas, schema)
		return body
	}
	return "x"
}

func into(t testing.TB, text string, value any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), value); err != nil {
		t.Fatalf("%v in %.300s", err, text)
	}
}

// idsFor are the ids that somebody finds, by kind; nothing where they may not look.
func (h *house) idsFor(get func(path string) answer) map[string]map[int64]bool {
	h.t.Helper()
	found := map[string]map[int64]bool{}
	add := func(kind, path string) {
		var page struct {
			Items []struct {
				ID   int64  `json:"id"`
				Name string `json:"name"` // by which summaries are asked for
			} `json:"items"`
		}
		if got := get(path); got.status == http.StatusOK {
			into(h.t, got.body, &page)
		}
		if found[kind] == nil {
			found[kind] = map[int64]bool{}
		}
		for _, one := range page.Items {
			found[kind][one.ID] = true
			if named, err := strconv.ParseInt(one.Name, 10, 64); err == nil {
				found[kind][named] = true
			}
		}
	}
	add("accounts", idKinds["accounts"])
	for kind, path := range idKinds {
		if !strings.Contains(path, "%d") {
			add(kind, path)
			continue
		}
		for id := range found["accounts"] {
			add(kind, fmt.Sprintf(path, id))
		}
	}
	return found
}

// missing is an id of nothing.
const missing = int64(987654321)

// documents are the operations that answer one, which has names in its examples.
var documents = []string{"get-openapi", "get-docs", "get-custom-event-schema"}

// Whatever exists, of whatever kind, stands in every place of every operation as what does not exist: by status and by body. Nothing of
// another is changed by that, and nothing of another is in what somebody lists, exports or follows.
func TestIDsOfOthersAreAsIfTheyDidNotExist(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	h := startHouse(t)
	for i, m := range h.people {
		h.watch("custom", m.user, houseShow, houseSeason, i+1)
		m.want(http.MethodPost, "/api/api-keys", `{"name":"script"}`, http.StatusCreated)
		m.want(http.MethodPost, "/api/summary/jobs", fmt.Sprintf(`{"name":"%d"}`, 70001+i), http.StatusCreated)
	}
	h.custom(`{"title":"无人知晓的节目","season":1,"episode":1,"user_name":"alex-oidc"}`) // which is asked about, or not found: a notice
	h.fills()
	owners := h.idsFor(h.get)
	own := make([]map[string]map[int64]bool, len(h.people))
	exists := map[int64]bool{}
	for i, m := range h.people {
		own[i] = h.idsFor(func(path string) answer { return m.as(http.MethodGet, path, "") })
	}
	for _, found := range append(slices.Clone(own), owners) {
		for _, ids := range found {
			for id := range ids {
				exists[id] = true
			}
		}
	}
	for kind := range idKinds {
		if len(owners[kind]) == 0 && kind != "questions" && kind != "servers" {
			t.Errorf("there is nothing among the %s: the test shows nothing of them", kind)
		}
	}
	ops := h.operations()
	random := rand.New(rand.NewPCG(27, 4))
	asked := 0
	for _, who := range []int{2, len(h.people) - 1} {
		me := h.people[who]
		mine := map[int64]bool{}
		for _, ids := range own[who] {
			maps.Copy(mine, ids)
		}
		var foreign []int64
		for _, id := range slices.Sorted(maps.Keys(exists)) {
			if !mine[id] {
				foreign = append(foreign, id)
			}
		}
		random.Shuffle(len(foreign), func(i, j int) { foreign[i], foreign[j] = foreign[j], foreign[i] })
		foreign = foreign[:min(len(foreign), 12)]
		before := h.ofOthers(h.names[who])
		for _, op := range ops {
			if rule, _ := access.Operation(op.id); rule.Person == access.Nothing || op.id == "logout" {
				continue
			}
			for place, ask := range op.places() {
				nothing := me.asks(ask(missing))
				for _, id := range foreign {
					asked++
					theirs := me.asks(ask(id))
					if theirs.status != nothing.status || plain(theirs.body, id) != plain(nothing.body, id) {
						t.Errorf("%s of %s with %d in %s tells that it exists: %d %.400s, and %d %.400s of what does not", op.id, h.names[who], id, place,
							theirs.status, theirs.body, nothing.status, nothing.body)
						break
					}
				}
			}
			if op.method == http.MethodGet && !strings.Contains(op.path, "{") {
				got := me.asks(asking{op.method, op.path, nil})
				for i, name := range h.names {
					if i != who && (strings.Contains(got.body, `"`+name+`"`) || strings.Contains(got.body, tokenIn(name))) && !slices.Contains(documents, op.id) {
						t.Errorf("%s of %s tells of %s: %.600s", op.id, h.names[who], name, got.body)
					}
				}
			}
		}
		for _, path := range access.Paths() {
			if rule, _ := access.Path(path); rule.Person == access.Nothing || !strings.Contains(path, "{") {
				continue
			}
			at := func(id int64) string { return regexp.MustCompile(`\{[^}]+\}`).ReplaceAllString(path, fmt.Sprint(id)) }
			nothing := me.asks(asking{http.MethodGet, at(missing), nil})
			for _, id := range foreign {
				if theirs := me.asks(asking{http.MethodGet, at(id), nil}); theirs.status != nothing.status || plain(theirs.body, id) != plain(nothing.body, id) {
					t.Errorf("%s of %s answers %d, and %d of what does not exist: %s", at(id), h.names[who], theirs.status, nothing.status, differing(plain(theirs.body, id), plain(nothing.body, id)))
				}
			}
		}
		if after := h.ofOthers(h.names[who]); after != before {
			t.Errorf("%s changed what is of others:\n%s\nwas\n%s", h.names[who], after, before)
		}
	}
	t.Logf("%d requests with ids of others", asked)
	if asked < 300 {
		t.Errorf("only %d requests: the test shows little", asked)
	}
}

// fills makes one of the other kinds of things.
func (h *house) fills() {
	h.t.Helper()
	h.api(http.MethodPost, "/api/mappings", `{"title":"某节目","subject_id":900001}`, http.StatusCreated, nil)
	h.api(http.MethodPost, "/api/summary/jobs", `{"name":"70000"}`, http.StatusCreated, nil)
	h.api(http.MethodPost, "/api/blocked-keywords", `{"keyword":"屏蔽","kind":"exact"}`, http.StatusCreated, nil)
	h.api(http.MethodPost, "/api/notification/webhooks", `{"name":"hook","enabled":false,"config":{"url":"http://127.0.0.1:9/"}}`, http.StatusCreated, nil)
	for _, a := range list[struct{ ID int64 }](h.service, "/api/accounts") {
		var started struct {
			TaskID int64 `json:"task_id"`
		}
		h.api(http.MethodPost, fmt.Sprintf("/api/accounts/%d/snapshots", a.ID), "", http.StatusAccepted, &started)
		h.taskEnds(started.TaskID)
	}
	h.wait("all is settled", func() bool {
		return !slices.ContainsFunc(list[recordView](h.service, "/api/records?limit=200"), func(r recordView) bool { return r.Status == "received" || r.Status == "processing" })
	})
}

// ofOthers is what the owner sees of everybody but one.
func (h *house) ofOthers(name string) string {
	h.t.Helper()
	var all []string
	for _, kind := range []string{"accounts", "records", "people", "mappings", "blocked", "channels", "rules", "summaries"} {
		var page struct{ Items []json.RawMessage }
		into(h.t, h.get(idKinds[kind]).body, &page)
		for _, one := range page.Items {
			if !strings.Contains(string(one), `"`+name+`"`) {
				all = append(all, string(one))
			}
		}
	}
	return strings.Join(all, "\n")
}

// asking is a request.
type asking struct {
	method, path string
	body         map[string]any
}

// places are the places of an operation where an id stands, each with the request that has one there.
func (op operation) places() map[string]func(id int64) asking {
	all := map[string]func(id int64) asking{}
	part := regexp.MustCompile(`\{[^}]+\}`)
	at := func(id int64) string { return part.ReplaceAllString(op.path, fmt.Sprint(id)) }
	if strings.Contains(op.path, "{") {
		all["the path"] = func(id int64) asking { return asking{op.method, at(id), op.body} }
	}
	for _, name := range op.query {
		all["the query "+name] = func(id int64) asking {
			return asking{op.method, at(missing) + "?" + url.Values{name: {fmt.Sprint(id)}}.Encode(), op.body}
		}
	}
	for _, name := range op.idFields {
		all["the field "+name] = func(id int64) asking {
			body := maps.Clone(op.body)
			body[name] = any(id)
			if _, list := op.body[name].([]any); list {
				body[name] = []any{id}
			}
			return asking{op.method, at(missing), body}
		}
	}
	return all
}

// asks sends a request, and reads no longer than a stream says its first words.
func (m member) asks(c asking) answer {
	m.s.t.Helper()
	body := ""
	if c.method != http.MethodGet && c.body != nil {
		text, err := json.Marshal(c.body)
		if err != nil {
			m.s.t.Fatal(err)
		}
		body = string(text)
	}
	ctx, cancel := context.WithTimeout(m.s.t.Context(), 5*time.Minute)
	defer cancel()
	request := m.s.request(c.method, c.path, "application/json", body).WithContext(ctx)
	request.Header.Set("Cookie", auth.CookieName+"="+m.cookie)
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		m.s.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	got := answer{status: response.StatusCode, header: response.Header}
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		return got // which goes on
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		m.s.t.Fatal(err)
	}
	got.body = string(text)
	return got
}

// differing is where two texts part.
func differing(a, b string) string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	from := max(0, n-80)
	return fmt.Sprintf("%q, and %q", a[from:min(len(a), n+200)], b[from:min(len(b), n+200)])
}

// plain is a body without an id, and without that of nothing: an answer may tell what it was asked for.
func plain(body string, id int64) string {
	return regexp.MustCompile(fmt.Sprintf(`\b(%d|%d)\b`, id, missing)).ReplaceAllString(body, "#")
}
