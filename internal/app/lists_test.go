package app_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/archive"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/devicetest"
	"watchmark/internal/testkit/mediaservertest"
	"watchmark/internal/testkit/nastest"
	"watchmark/internal/testkit/trackertest"
)

// listed looks for lists in answers of the API, by the document that it serves.
type listed struct {
	*service
	document struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Content map[string]struct{ Schema map[string]any }
			}
		}
		Components struct{ Schemas map[string]map[string]any }
	}
	// answered are the lists that were seen, "GET /api/records .items" for one.
	answered map[string]bool
}

func listsOf(s *service) *listed {
	l := &listed{service: s, answered: map[string]bool{}}
	s.api(http.MethodGet, "/api/openapi.json", "", http.StatusOK, &l.document)
	return l
}

// resolved is the schema that a reference leads to.
func (l *listed) resolved(schema map[string]any) map[string]any {
	if ref, is := schema["$ref"].(string); is {
		return l.document.Components.Schemas[ref[strings.LastIndexByte(ref, '/')+1:]]
	}
	return schema
}

// documented are the lists that an answer of a schema has.
func (l *listed) documented(at string, schema map[string]any, within []string, found map[string]bool) {
	if ref, is := schema["$ref"].(string); is {
		if slices.Contains(within, ref) {
			return
		}
		within = append(slices.Clone(within), ref)
	}
	schema = l.resolved(schema)
	if schema["type"] == "array" {
		found[at] = true
	}
	for name, inner := range fieldsOf(schema) {
		l.documented(at+name, inner, within, found)
	}
}

// fieldsOf are the schemas inside of one.
func fieldsOf(schema map[string]any) map[string]map[string]any {
	inner := map[string]map[string]any{}
	properties, _ := schema["properties"].(map[string]any)
	for name, property := range properties {
		inner["."+name] = property.(map[string]any)
	}
	if items, is := schema["items"].(map[string]any); is {
		inner["[]"] = items
	}
	if more, is := schema["additionalProperties"].(map[string]any); is {
		inner[".*"] = more
	}
	either, _ := schema["oneOf"].([]any)
	for _, one := range either {
		if one := one.(map[string]any); one["type"] != "null" {
			inner[""] = one
		}
	}
	return inner
}

// hold looks at a value by its schema: a list in it is one, also where it is empty.
func (l *listed) hold(at string, schema map[string]any, value any) {
	schema = l.resolved(schema)
	if schema["type"] == "array" {
		if _, is := value.([]any); !is {
			l.t.Errorf("%s is %v and no list", at, value)
		}
		l.answered[at] = true
	}
	for name, inner := range fieldsOf(schema) {
		switch value := value.(type) {
		case []any:
			for _, one := range value {
				l.hold(at+name, inner, one)
			}
		case map[string]any:
			if name == "" {
				l.hold(at, inner, value)
			} else if one, has := value[name[1:]]; has {
				l.hold(at+name, inner, one)
			} else if name == ".*" {
				for _, one := range value {
					l.hold(at+name, inner, one)
				}
			}
		}
	}
	if len(schema) == 0 || schema["type"] == nil && schema["oneOf"] == nil {
		l.holdUnknown(at, value)
	}
}

// mayBeNull are fields of what the document does not describe, results of tasks and facts of logs, that are no lists.
var mayBeNull = []string{"season", "date", "episode", "episode_sort", "started_at", "ended_at", "last_error"}

// holdUnknown looks at a value without a schema: what is null in it is known to be no list.
func (l *listed) holdUnknown(at string, value any) {
	switch value := value.(type) {
	case []any:
		for _, one := range value {
			l.holdUnknown(at+"[]", one)
		}
	case map[string]any:
		for name, one := range value {
			if one == nil && !slices.Contains(mayBeNull, name) {
				l.t.Errorf("%s.%s is null", at, name)
			}
			l.holdUnknown(at+"."+name, one)
		}
	}
}

// ask sends a request for an operation, whose path may have parts in braces, and looks at its answer.
func (l *listed) ask(method, template, path, body string) answer {
	l.t.Helper()
	request := l.request(method, path, "application/json", body)
	request.Header.Set("Authorization", "Bearer "+l.key)
	got := l.do(request)
	schema := l.document.Paths[template][strings.ToLower(method)].Responses[fmt.Sprint(got.status)].Content["application/json"].Schema
	if got.status < 300 && schema != nil {
		var value any
		if err := json.Unmarshal([]byte(got.body), &value); err != nil {
			l.t.Fatalf("%s %s: %v", method, path, err)
		}
		l.hold(method+" "+template+" ", schema, value)
	}
	return got
}

// everyRead asks for everything that can be read; of what has a name or an id, that of ids.
func (l *listed) everyRead(ids map[string]string) {
	l.t.Helper()
	for template, operations := range l.document.Paths {
		if _, reads := operations["get"]; !reads || strings.HasSuffix(template, "/stream") || strings.HasSuffix(template, "/progress") {
			continue
		}
		path := strings.NewReplacer("{id}", "1", "{name}", "week", "{record_id}", "1").Replace(template)
		if known, is := ids[template]; is {
			path = known
		}
		if got := l.ask(http.MethodGet, template, path, ""); got.status >= 500 {
			l.t.Errorf("%s answers %d: %s", path, got.status, got.body)
		}
	}
}

// call is a request for an operation; an empty path is the operation's own.
type call struct{ method, template, path, body string }

func (l *listed) calls(all ...call) {
	l.t.Helper()
	for _, c := range all {
		if got := l.ask(c.method, c.template, cmp.Or(c.path, c.template), c.body); got.status >= 400 {
			l.t.Errorf("%s %s answers %d: %s", c.method, c.template, got.status, got.body)
		}
	}
}

// elsewhere are operations whose lists tests of their own see: they need a phone, a download, TLS, a sign-in provider, Plex, many plays or a catalog that comes and goes.
var elsewhere = []string{"/api/catalog_replay/replay/{record_id}", "/api/two-factor/", "/api/nas/sync/manual", "/api/catalog_archive/progress_log", "/api/proxy/test-host .routes", ".chain[].names", "/api/dataset/status .moved[].examples",
	".choices.people", ".choices.servers", "held[].episodes", "/api/servers/{id}/choose", "/api/servers/{id}/held", "/api/login/oidc .last.groups"}

// lastTask is the id of the newest task.
func lastTask(s *service) (id int64) {
	s.t.Helper()
	var all struct{ Items []struct{ ID int64 } }
	if err := json.Unmarshal([]byte(s.get("/api/tasks").body), &all); err != nil || len(all.Items) == 0 {
		s.t.Fatal("there is no task", err)
	}
	return all.Items[0].ID
}

func TestListsInAnswersAreNeverNull(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	const mail = "mira@home.example"
	shows := nastest.Create(t, t.TempDir())
	shows.User("guid-of-mira", "Mira")
	remote, trackerURL := trackertest.Start(t, trackertest.Config{
		Clients: []trackertest.Client{{ID: "web-client", RedirectURI: "https://app.trakt.tv/callback"}},
		Users:   []trackertest.User{{Email: mail, Name: "Mira", UUID: "uuid-of-mira"}},
	})
	box := devicetest.Start(t, "127.0.0.1:0", "7c1de0aa55ab90f1", "Living Box")
	boxAt := fmt.Sprintf("localhost:%d", box.Port)
	history := library("jellyfin", "u1", "u2")
	history.Users = append(history.Users, mediaservertest.User{ID: "u3", Name: "bench"})
	jellyfin := mediaservertest.Start(t, history)
	bare := mediaservertest.Start(t, mediaservertest.Config{Kind: mediaservertest.Plex, Key: importToken, Users: []mediaservertest.User{{ID: "1", Name: "bench"}}})
	tables := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { // it leads a known show elsewhere
		_, _ = w.Write([]byte(strings.Replace(tableOf(9000), `"sites":[`, `"sites":[{"site":"tmdb","id":"tv/890"},`, 1)))
	}))
	t.Cleanup(tables.Close)
	s := startEmpty(t, "WATCHMARK_MATCHING_DATASET_URL="+tables.URL, "WATCHMARK_NAS_DATABASE_PATH="+shows.Path, "WATCHMARK_TRACKER_AUTH_URL="+trackerURL, "WATCHMARK_TRACKER_API_URL="+trackerURL,
		"WATCHMARK_TRACKER_CLIENT_ID=web-client", "WATCHMARK_DEVICE_ADDRESSES="+boxAt, "WATCHMARK_CATALOG_ARCHIVE_POINTER_URL=http://127.0.0.1:9/latest.json")
	l := listsOf(s)
	at := func(source string, remote *mediaservertest.Server) string {
		return fmt.Sprintf(`{"source":%q,"url":%q,"token":%q}`, source, remote.URL, importToken)
	}
	const post, put, patch = http.MethodPost, http.MethodPut, http.MethodPatch
	watched := `{"title":"灯塔守望者","season":1,"episode":5,"user_name":"Mira"}`

	// Nothing is there yet.
	l.everyRead(nil)
	l.calls(
		call{post, "/api/import/server", "", at("jellyfin", jellyfin)}, call{post, "/api/import/server", "", at("plex", bare)},
		call{post, "/api/test-match", "", watched}, call{post, "/api/test-sync", "", watched}, call{post, "/api/test-sync", "/api/test-sync?async_mode=true", watched},
		call{post, "/api/device/debug/scan", "", ""}, call{post, "/api/network/diagnose", "", `{}`},
		call{post, "/api/mappings/import/preview", "", `{}`}, call{post, "/api/proxy/test", "", ""},
	)

	// What is left out of what a person makes and changes.
	l.calls(call{post, "/api/accounts", "", `{"username":"mira","access_token":"` + miraToken + `"}`}, call{patch, "/api/accounts/{id}", "/api/accounts/1", `{"media_user_names":[]}`},
		call{http.MethodGet, "/api/unknown-users/preview", "/api/unknown-users/preview?name=nobody&account_id=1", ""},
		call{post, "/api/accounts/{id}/activate", "/api/accounts/1/activate", ""}, call{post, "/api/accounts/{id}/test", "/api/accounts/1/test", ""})
	l.calls(call{post, "/api/people", "", `{"name":"alex","role":"person"}`}, call{http.MethodGet, "/api/people", "", ""}, call{http.MethodGet, "/api/people/{id}", "/api/people/1", ""},
		call{patch, "/api/people/{id}", "/api/people/1", `{"media_user_names":[]}`})
	for id, c := range []call{
		{"", "webhooks", "", `"url":"http://127.0.0.1:9/x"`}, {"", "wecoms", "", `"url":"http://127.0.0.1:9/send","key":"5d1f7c3e-90ab-4c2d-8e6f-1a2b3c4d5e6f"`},
		{"", "dingtalks", "", `"url":"http://127.0.0.1:9/send","token":"5d1f7c3e"`}, {"", "emails", "", `"host":"127.0.0.1","port":9,"tls":"none","from":"mira@example.org","to":["mira@example.org"]`},
	} {
		path, body := "/api/notification/"+c.template, `{"name":"`+c.template+`","config":{`+c.body+`}}`
		l.calls(call{post, path, "", body}, call{put, path + "/{id}", fmt.Sprintf("%s/%d", path, id+1), body}, call{http.MethodGet, path + "/{id}", fmt.Sprintf("%s/%d", path, id+1), ""})
	}
	l.calls(call{post, "/api/notification/test", "", ""}, call{post, "/api/notification/rules", "", `{"name":"all"}`}, call{put, "/api/notification/rules/{id}", "/api/notification/rules/2", `{"name":"all"}`},
		call{post, "/api/summary/jobs", "", `{"name":"week","cron":"0 21 * * 5"}`}, call{put, "/api/summary/jobs/{name}", "/api/summary/jobs/week", `{"name":"week","cron":"0 21 * * 5"}`},
		call{post, "/api/summary/jobs/{name}/trigger", "/api/summary/jobs/week/trigger", ""},
		call{post, "/api/mappings", "", `{"title":"x","subject_id":900001}`}, call{post, "/api/blocked-keywords", "", `{"keyword":"y"}`},
		call{post, "/api/mappings/import/preview", "", `{"mappings":[{"title":"z","subject_id":900001}],"blocked_keywords":[{"keyword":"w"}]}`})

	// What happened.
	l.calls(call{post, "/api/catalog_replay/replay", "", ""}, call{post, "/api/accounts/{id}/media_user_names", "/api/accounts/1/media_user_names", `{"name":"bench"}`})
	l.calls(call{patch, "/api/accounts/{id}", "/api/accounts/1", `{"media_user_names":["Mira"]}`}, call{post, "/api/test-match", "", watched}, call{post, "/api/test-match", "", teahouse(1)}, call{post, "/api/test-sync", "", watched})
	marked, asked := s.custom(watched), []int64{s.custom(teahouse(1)), s.custom(teahouse(2))}
	s.settled(marked)
	s.become(asked, "review")
	question := fmt.Sprintf("/api/pending-candidates/%d", s.questions()[0].ID)
	s.settled(s.custom(`{"title":"x","season":1,"episode":1,"user_name":"nobody"}`))
	l.everyRead(map[string]string{"/api/pending-candidates/{id}": question})
	candidates := "/api/pending-candidates/{id}"
	l.calls(call{post, candidates + "/confirm", question + "/confirm", `{"subject_id":900014}`})
	s.become(asked, "success")
	l.calls(call{post, candidates + "/undo", question + "/undo", ""})
	s.become(asked, "review")
	l.calls(call{post, candidates + "/reject", question + "/reject", ""})
	s.become(asked, "ignored")
	of := fmt.Sprintf("/api/records/%d/", marked)
	l.calls(call{http.MethodGet, "/api/records/{id}/correction", of + "correction?subject_id=900002", ""}, call{http.MethodGet, "/api/records/{id}/arrival", of + "arrival", ""},
		call{post, "/api/records/{id}/retry", of + "retry", ""})
	s.wait("retry", func() bool { return !strings.Contains(s.get("/api/tasks").body, `"running"`) })
	l.calls(call{post, "/api/records/{id}/correct", of + "correct", `{"subject_id":900002}`})
	s.wait("correct", func() bool { return !strings.Contains(s.get("/api/tasks").body, `"running"`) })
	l.calls(call{post, "/api/records/{id}/correction/undo", of + "correction/undo", ""})

	// The list is kept twice, with a change between.
	for range 2 {
		l.calls(call{post, "/api/accounts/{id}/snapshots", "/api/accounts/1/snapshots", ""})
		s.wait("snapshot", func() bool { return !strings.Contains(s.get("/api/tasks").body, `"running"`) })
		if err := errors.Join(s.list.Collect("mira", 900003, catalog.Doing, false), s.list.Collect("mira", 900001, catalog.OnHold, false)); err != nil {
			t.Fatal(err)
		}
	}
	idle := func() bool { return !strings.Contains(s.get("/api/tasks").body, `"running"`) }
	for _, body := range []string{`{"entries":null,"dry_run":true}`, `{"entries":[900001],"lower":[900001]}`} {
		l.calls(call{post, "/api/snapshots/{id}/restore", "/api/snapshots/1/restore", body})
		s.wait("restore", idle)
	}
	restored := fmt.Sprintf("/api/restores/%d/undo", lastTask(s))
	l.calls(call{post, "/api/undo", "", fmt.Sprintf(`{"task_id":%d,"dry_run":true}`, lastTask(s))})
	s.wait("preview", idle)
	l.calls(call{post, "/api/restores/{id}/undo", restored, `{"dry_run":true}`})
	s.wait("preview", idle)
	l.calls(call{post, "/api/restores/{id}/undo", restored, `{}`})
	s.wait("undo", idle)
	l.calls(call{http.MethodGet, "/api/accounts/{id}/snapshots", "/api/accounts/1/snapshots", ""}, call{http.MethodGet, "/api/snapshots/{id}/diff", "/api/snapshots/1/diff?to=2", ""},
		call{http.MethodGet, "/api/accounts/{id}/entries/{subject_id}", "/api/accounts/1/entries/900001", ""})
	word, of900001 := "/api/accounts/{id}/entries/{subject_id}/word", "/api/accounts/1/entries/900001/word"
	l.calls(call{http.MethodGet, word, of900001, ""}, call{put, word, of900001, `{"rate":8,"comment":"","shown":{"rate":0,"comment":""}}`})

	// The polled sources and the archive.
	server := mediaServer(t, mediaservertest.Jellyfin)
	l.calls(call{post, "/api/servers", "", `{"kind":"jellyfin","url":"` + server.URL + `"}`}, call{post, "/api/servers", "", `{"kind":"jellyfin","url":"` + server.URL + `","username":"bench","password":"` + mediaPassword + `"}`},
		call{patch, "/api/servers/{id}", "/api/servers/1", `{"enabled":false}`}, call{post, "/api/servers/{id}/sign-in", "/api/servers/1/sign-in", `{}`}, call{post, "/api/servers/probe", "", `{"url":"` + server.URL + `"}`})
	dump := dumpOf(t, weekOld)
	if _, err := s.app.Archive.Import(t.Context(), archive.Dump{Data: bytes.NewReader(dump), Size: int64(len(dump))}, func(archive.Progress) {}); err != nil {
		t.Fatal(err)
	}
	l.calls(call{patch, "/api/settings", "", `{"nas":{"enabled":true},"tracker":{"enabled":true},"device":{"enabled":true},"catalog_archive":{"enabled":true}}`},
		call{post, "/api/tracker/email-login/start", "", `{"email":"` + mail + `"}`})
	l.calls(call{post, "/api/tracker/email-login/complete", "", `{"email":"` + mail + `","otp":"` + remote.LastCode(mail) + `"}`})
	for _, share := range []float64{0.4, 0.927, 0.93, 0.94} {
		box.Play(devicetest.Episode("灯塔守望者 第二季 1080P", "正在播放：第08集", share*1440, 1440))
		l.calls(call{post, "/api/device/debug/sync", "", `{"address":"` + boxAt + `"}`})
	}
	l.calls(call{post, "/api/device/debug/scan", "", ""})
	s.imports("preview", importBody("jellyfin", jellyfin.URL, "Mira"))
	s.refreshTable()
	l.everyRead(map[string]string{"/api/catalog_archive/search": "/api/catalog_archive/search?q=" + url.QueryEscape("雨中图书馆"), "/api/catalog_archive/subjects/{id}": "/api/catalog_archive/subjects/501",
		"/api/catalog_archive/airing": "/api/catalog_archive/airing?from=2026-04-05", "/api/calendar": "/api/calendar?from=2026-04-05", "/api/subjects": "/api/subjects?q=" + url.QueryEscape("灯塔守望者"),
		"/api/settings/schedule": "/api/settings/schedule?key=nas.cron&cron=" + url.QueryEscape("0 * * * *"), "/api/notification/rules/{id}": "/api/notification/rules/2",
		"/api/records/{id}/arrival": of + "arrival", "/api/match-records/{id}/trace": fmt.Sprintf("/api/match-records/%d/trace", marked)})

	// The catalog does not answer.
	if err := s.list.SetFault(catalogtest.Fault{Mode: catalogtest.Refuse}); err != nil {
		t.Fatal(err)
	}
	s.become([]int64{s.custom(`{"title":"深海电车","season":1,"episode":1,"user_name":"Mira"}`)}, "queued")
	l.calls(call{http.MethodGet, "/api/catalog_replay/queue", "", ""}, call{http.MethodGet, "/api/catalog_replay/status", "", ""})

	all := map[string]bool{}
	for template, operations := range l.document.Paths {
		for method, operation := range operations {
			for status, response := range operation.Responses {
				if schema := response.Content["application/json"].Schema; schema != nil && status < "3" && strings.HasPrefix(template, "/api/") {
					l.documented(strings.ToUpper(method)+" "+template+" ", schema, nil, all)
				}
			}
		}
	}
	var unseen []string
	for at := range all {
		if !l.answered[at] && !slices.ContainsFunc(elsewhere, func(part string) bool { return strings.Contains(at, part) }) {
			unseen = append(unseen, at)
		}
	}
	slices.Sort(unseen)
	for _, at := range unseen {
		t.Errorf("%s was not seen: ask for it", at)
	}
}
