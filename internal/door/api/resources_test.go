package api_test

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/engine"
	"watchmark/internal/record"
)

func TestHealthNeedsNoLogin(t *testing.T) {
	r := newRig(t)
	for _, path := range []string{"/health", "/health/ready", "/health/live"} {
		if got := r.anonymous("GET", path, nil).want(200).body; strings.TrimSpace(got) != `{"status":"ok","version":"1.2.3","problems":[]}` {
			t.Errorf("%s answers %s", path, got)
		}
	}
	r.problems = []string{"the disk is full"}
	r.anonymous("GET", "/health", nil).want(503, `"status":"not_ready"`, "the disk is full")
	r.anonymous("GET", "/health/ready", nil).want(503)
	r.anonymous("GET", "/health/live", nil).want(200)
}

func TestEveryPathButTheOpenOnesNeedsAnIdentity(t *testing.T) {
	r := newRig(t)
	for _, path := range []string{"/api/records", "/api/accounts", "/api/settings", "/api/stats", "/api/webhook-key", "/api/openapi.json", "/api/nothing", "/api", "/api/"} {
		r.anonymous("GET", path, nil).problem(401)
	}
	r.anonymous("POST", "/api/test-match", map[string]any{}).problem(401)
	r.anonymous("POST", "/api/logout", nil).problem(401)
	for _, path := range []string{"/api/docs", "/api/accounts/oauth/callback?code=a&state=b"} {
		if got := r.anonymous("GET", path, nil).want(303).header.Get("Location"); !strings.HasPrefix(got, "/base/login?next=") {
			t.Errorf("%s leads to %q", path, got)
		}
	}
	r.anonymous("GET", "/api/session", nil).want(200, `"authenticated":false`, `"needs_setup":true`)
}

func TestUnknownPathsAndMethodsAreProblems(t *testing.T) {
	r := newRig(t)
	r.do("GET", "/api/nothing", nil).problem(404, "/api/docs")
	r.do("GET", "/api/records/", nil).problem(404)
	if allow := r.do("DELETE", "/api/records", nil).problem(405, "GET").header.Get("Allow"); allow != "GET" {
		t.Errorf("Allow %q", allow)
	}
	r.do("PATCH", "/api/accounts", nil).problem(405, "GET or POST")
}

func TestBadInputIsNamedAndNeverRepeated(t *testing.T) {
	r := newRig(t)
	for name, c := range map[string]struct {
		method, path string
		body         any
		status       int
		texts        []string
	}{
		"unknown field":      {"POST", "/api/accounts", `{"username":"mira","colour":"hunter2secret"}`, 422, []string{"body.colour"}},
		"wrong type":         {"POST", "/api/accounts", `{"username":["hunter2secret"]}`, 422, []string{"body.username"}},
		"missing field":      {"POST", "/api/accounts", `{}`, 422, []string{"username"}},
		"broken JSON":        {"POST", "/api/accounts", `{"access_token":"hunter2secret`, 400, []string{"body"}},
		"no body":            {"POST", "/api/accounts", nil, 400, []string{"body"}},
		"bad limit":          {"GET", "/api/records?limit=0", nil, 422, []string{"query.limit"}},
		"limit is no number": {"GET", "/api/records?limit=hunter2secret", nil, 422, []string{"query.limit"}},
		"bad cursor":         {"GET", "/api/records?cursor=hunter2secret", nil, 422, []string{"query.cursor"}},
		"bad status":         {"GET", "/api/records?status=hunter2secret", nil, 422, []string{"query.status"}},
		"bad source":         {"GET", "/api/webhook-log?source=hunter2secret", nil, 422, []string{"query.source"}},
		"bad id":             {"GET", "/api/records/hunter2secret", nil, 422, []string{"path.id"}},
		"bad password":       {"POST", "/api/setup", `{"token":"hunter2secret","name":"mira","password":17}`, 422, []string{"body.password"}},
		"list of settings":   {"PATCH", "/api/settings", `{"sync":["hunter2secret"]}`, 422, []string{"body.sync"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := r.do(c.method, c.path, c.body).problem(c.status, c.texts...)
			if strings.Contains(got.body, "hunter2secret") {
				t.Errorf("the answer repeats what was sent: %s", got.body)
			}
		})
	}
	r.do("POST", "/api/accounts", "username=mira", "Content-Type", "text/csv").problem(415)
	r.do("POST", "/api/accounts", `{"username":"`+strings.Repeat("a", 2<<20)+`"}`).problem(413)
}

func TestUnknownErrorsAreLoggedWholeAndShownAsInternal(t *testing.T) {
	r := newRig(t)
	r.engine.failing(errors.New("the disk burns"))
	got := r.do("POST", "/api/test-sync", event("灯塔守望者", 2, 7)).problem(500, "internal error")
	if strings.Contains(got.body, "burns") {
		t.Errorf("the cause leaks: %s", got.body)
	}
	id := fmt.Sprint(got.get("request_id"))
	if log := r.log.String(); !strings.Contains(log, "the disk burns") || !strings.Contains(log, id) {
		t.Errorf("the log lacks the cause or the request id %s: %s", id, log)
	}
}

// event is the body of a custom event of mira.
func event(title string, season, episode any) map[string]any {
	return map[string]any{"title": title, "season": season, "episode": episode, "user_name": "mira", "release_date": "2024-05-19"}
}

func TestMatchAnswersTheTraceAndWritesNothing(t *testing.T) {
	r := newRig(t)
	r.do("POST", "/api/test-match", event("灯塔守望者", 2, 7)).want(200, `"status":"no_account"`)
	r.mira()
	got := r.do("POST", "/api/test-match", event("灯塔守望者", "02", "7")).want(200)
	if got.get("result", "status") != "matched" || got.get("result", "subject_id") != 265.0 {
		t.Errorf("trace: %s", got.body)
	}
	if items := r.do("GET", "/api/records", nil).want(200).get("items").([]any); len(items) != 0 {
		t.Errorf("records were written: %v", items)
	}
	r.do("POST", "/api/test-match", map[string]any{"ori_title": "x"}).problem(400, "title", "season", "episode")
	r.do("POST", "/api/test-match", event("x", 1, "many")).problem(400, "episode")
	r.do("POST", "/api/test-match", "certainly not", "Content-Type", "text/plain").problem(415)
	r.do("POST", "/api/test-match", event("x", 1, 1), "Content-Type", "application/x-www-form-urlencoded").want(200)
}

func TestTheKindMayBeCalledByOtherWords(t *testing.T) {
	r := newRig(t)
	r.mira()
	for word, want := range map[string]string{"Series": "episode", "SHOW": "episode", "tv": "episode", "Film": "movie", "OAD": "ova"} {
		body := event("灯塔守望者", 2, 7)
		body["media_type"] = word
		r.do("POST", "/api/test-match", body).want(200, `"status":"matched"`)
		r.do("POST", "/api/test-sync", body).want(200, fmt.Sprintf(`"media_type":%q`, want))
	}
	body := event("灯塔守望者", 2, 7)
	body["media_type"] = "podcast"
	for _, path := range []string{"/api/test-match", "/api/test-sync", "/webhook/custom/" + hookKey} {
		r.do("POST", path, body).problem(400, "media_type")
	}
}

func TestSyncAnswersTheRecordWithItsTrace(t *testing.T) {
	r := newRig(t)
	r.do("POST", "/api/test-sync", event("灯塔守望者", 2, 7)).want(200, `"error_kind":"no_account"`, `"steps":[{"name":"route"`)
	r.mira()
	got := r.do("POST", "/api/test-sync", event("灯塔守望者", 2, 7)).want(200)
	if got.get("status") != "success" || got.get("test") != true || got.get("trace", "result", "episode_id") != 1027.0 {
		t.Errorf("record: %s", got.body)
	}
	got = r.do("POST", "/api/test-sync?async_mode=true", event("灯塔守望者", 2, 8)).want(202)
	if ids := got.get("record_ids").([]any); len(ids) != 1 || ids[0] != 3.0 {
		t.Errorf("answer: %s", got.body)
	}
	r.do("POST", "/api/test-sync?async_mode=perhaps", event("x", 1, 1)).problem(422, "query.async_mode")
}

func TestRecordsArePagedAndFiltered(t *testing.T) {
	r := newRig(t)
	if got := r.do("GET", "/api/records", nil).want(200).body; strings.TrimSpace(got) != `{"items":[],"next_cursor":""}` {
		t.Errorf("empty list: %s", got)
	}
	for i := range 5 {
		r.record(fmt.Sprintf("Show %d", i), record.Success, true)
	}
	r.record("Show 5", record.Review, true)
	var seen []float64
	cursor := ""
	for pages := 0; ; pages++ {
		page := r.do("GET", "/api/records?limit=4&cursor="+cursor, nil).want(200)
		for _, item := range page.get("items").([]any) {
			seen = append(seen, item.(map[string]any)["id"].(float64))
		}
		if cursor = page.get("next_cursor").(string); cursor == "" || pages > 5 {
			break
		}
	}
	if fmt.Sprint(seen) != "[6 5 4 3 2 1]" {
		t.Errorf("pages gave %v", seen)
	}
	hourAgo, tomorrow := url.QueryEscape(time.Now().Add(-time.Hour).Format(time.RFC3339)), url.QueryEscape(time.Now().Add(24*time.Hour).Format(time.RFC3339))
	for query, want := range map[string]int{
		"status=success": 5, "status=review": 1, "source=custom": 6, "source=plex": 0, "user=mira": 6, "user=Mira": 0, "q=how+3": 1, "q=%25": 0,
		"source=nas": 0, "since=" + hourAgo: 6, "until=" + hourAgo: 0, "since=" + tomorrow: 0, "since=" + hourAgo + "&until=" + tomorrow + "&status=review": 1,
	} {
		if got := len(r.do("GET", "/api/records?"+query, nil).want(200).get("items").([]any)); got != want {
			t.Errorf("%s: %d records, want %d", query, got, want)
		}
	}
	r.do("GET", "/api/records?since=yesterday", nil).problem(422, "query.since")
	r.do("GET", "/api/records/3", nil).want(200, `"Show 2"`)
	r.do("GET", "/api/records/77", nil).problem(404)
	r.do("POST", "/api/records/3/retry", nil).want(202, `"record_ids":[3]`)
	r.do("POST", "/api/records/77/retry", nil).problem(404)
	r.engine.failing(fmt.Errorf("retry record 3: %w", engine.ErrInProgress))
	r.do("POST", "/api/records/3/retry", nil).problem(409)
}

func TestArrivalTellsWhatCameIn(t *testing.T) {
	r := newRig(t)
	r.anonymous("POST", "/webhook/custom/"+hookKey, `{"media_type":"episode","title":"灯塔守望者","season":1,"episode":2,"user_name":"mira","token":"a-secret"}`).want(202)
	got := r.do("GET", "/api/records/1/arrival", nil).want(200, `\"title\":\"灯塔守望者\"`)
	if got.get("event", "title") != "灯塔守望者" || got.get("event", "episode") != 2.0 || got.get("request", "status") != 202.0 || strings.Contains(got.body, "a-secret") {
		t.Errorf("arrival: %s", got.body)
	}
	polled := r.record("Polled", record.Success, true)
	if got := r.do("GET", fmt.Sprintf("/api/records/%d/arrival", polled), nil).want(200, `"title":"Polled"`); strings.Contains(got.body, `"request"`) {
		t.Errorf("arrival of a polled record: %s", got.body)
	}
	r.do("GET", "/api/records/77/arrival", nil).problem(404)
}

func TestMatchRecordsAreThoseWithATrace(t *testing.T) {
	r := newRig(t)
	for i := range 3 {
		r.record(fmt.Sprintf("Show %d", i), record.Success, true)
		r.record("Broken", record.Failed, false)
	}
	page := r.do("GET", "/api/match-records?limit=2", nil).want(200, `"match_status":"matched"`, `"method":"api"`, `"confidence":0.98`)
	if items := page.get("items").([]any); len(items) != 2 || items[0].(map[string]any)["id"] != 5.0 {
		t.Fatalf("first page: %s", page.body)
	}
	page = r.do("GET", "/api/match-records?limit=2&cursor="+page.get("next_cursor").(string), nil).want(200)
	if items := page.get("items").([]any); len(items) != 1 || items[0].(map[string]any)["id"] != 1.0 || page.get("next_cursor") != "" {
		t.Fatalf("second page: %s", page.body)
	}
	trace := r.do("GET", "/api/match-records/5/trace", nil).want(200)
	if trace.get("result", "reason") != "the title is the same" {
		t.Errorf("trace: %s", trace.body)
	}
	r.do("GET", "/api/match-records/6/trace", nil).problem(404)
}

func TestAccountsNeverShowTheirToken(t *testing.T) {
	r := newRig(t)
	got := r.do("POST", "/api/accounts", map[string]any{"username": "mira", "access_token": token,
		"media_user_names": []string{"mira", "Mira TV"}, "enabled": true, "preferred": true, "private": false}).want(201, `"has_token":true`, `"Mira TV"`)
	if got.get("complete_films") != true || got.get("complete_series") != false || got.get("auth_method") != "token" {
		t.Errorf("defaults: %s", got.body)
	}
	bare := r.do("POST", "/api/accounts", map[string]any{"username": "alex"}).want(201)
	if bare.get("enabled") != true || bare.get("preferred") != false || bare.get("has_token") != false || bare.get("auth_method") != "oauth" {
		t.Errorf("defaults: %s", bare.body)
	}
	if names, ok := bare.get("media_user_names").([]any); !ok || len(names) != 0 {
		t.Errorf("media_user_names is %v", bare.get("media_user_names"))
	}
	r.do("POST", "/api/accounts", map[string]any{"username": "mira"}).problem(409)
	r.do("POST", "/api/accounts", map[string]any{"username": " ", "media_user_names": []string{""}}).problem(422, "body.username", "body.media_user_names")
	r.do("PATCH", "/api/accounts/1", map[string]any{"enabled": false, "media_user_names": []string{}}).want(200, `"enabled":false`, `"media_user_names":[]`, `"has_token":true`)
	r.do("PATCH", "/api/accounts/9", map[string]any{}).problem(404)
	r.do("POST", "/api/accounts/2/activate", nil).want(200, `"preferred":true`)
	list := r.do("GET", "/api/accounts", nil).want(200)
	if items := list.get("items").([]any); len(items) != 2 || items[0].(map[string]any)["username"] != "alex" {
		t.Errorf("list: %s", list.body)
	}
	page := r.do("GET", "/api/accounts?limit=1", nil).want(200)
	r.do("GET", "/api/accounts?limit=1&cursor="+page.get("next_cursor").(string), nil).want(200, `"mira"`, `"next_cursor":""`)
	r.do("GET", "/api/accounts/1", nil).want(200, `"mira"`)
	if strings.Contains(got.body+list.body, token) {
		t.Error("the token is answered")
	}
	if strings.Contains(r.log.String(), token) {
		t.Error("the token is logged")
	}
	r.do("DELETE", "/api/accounts/1", nil).want(204)
	r.do("DELETE", "/api/accounts/1", nil).problem(404)
}

func TestAMediaServerUserIsAddedToAnAccount(t *testing.T) {
	r := newRig(t)
	r.mira()
	for range 2 { // the second time changes nothing
		got := r.do("POST", "/api/accounts/1/media_user_names", `{"name":" Mira TV"}`).want(200).get("media_user_names").([]any)
		if len(got) != 2 || !slices.Contains(got, any("mira")) || !slices.Contains(got, any(" Mira TV")) {
			t.Errorf("the account names %q", got)
		}
	}
	r.do("POST", "/api/accounts/1/media_user_names", `{"name":" "}`).problem(422, "body.name", "a name is empty")
	r.do("POST", "/api/accounts/1/media_user_names", map[string]any{"name": strings.Repeat("a", 501)}).problem(422, "body.name", "longer than 500 bytes")
	r.do("POST", "/api/accounts/9/media_user_names", `{"name":"x"}`).problem(404)
}

func TestAccountTestTellsWhatTheCatalogSays(t *testing.T) {
	r := newRig(t)
	r.do("POST", "/api/accounts", map[string]any{"username": "mira", "access_token": token}).want(201)
	r.do("POST", "/api/accounts/1/test", nil).want(200, `"ok":true`, "mira")
	for name, c := range map[string]struct {
		err  error
		text string
	}{
		"refused":     {&catalog.Error{Kind: catalog.ErrUnauthorized, Status: 401}, "api_catalog_unauthorized"},
		"unreachable": {&catalog.Error{Kind: catalog.ErrUnreachable}, "api_catalog_unreachable"},
		"no token":    {account.ErrNoToken, "no access token"},
	} {
		t.Run(name, func(t *testing.T) {
			r.lists.err = fmt.Errorf("check: %w", c.err)
			r.do("POST", "/api/accounts/1/test", nil).want(200, `"ok":false`, c.text, `"username":"mira"`)
		})
	}
	r.do("POST", "/api/accounts/9/test", nil).problem(404)
}

func TestOAuthLeadsThereAndBack(t *testing.T) {
	r := newRig(t)
	r.do("POST", "/api/accounts", map[string]any{"username": "mira"}).want(201)
	r.do("POST", "/api/accounts/oauth/start", nil).want(200, `"authorize_url":"http://127.0.0.1/oauth/authorize?state=abc"`)
	if want := r.url + "/base/api/accounts/oauth/callback"; r.lists.redirect != want {
		t.Errorf("redirect URI %q, want %q", r.lists.redirect, want)
	}
	r.do("POST", "/api/accounts/oauth/start", map[string]any{"account_id": 1}).want(200)
	back := func(query, want string) {
		t.Helper()
		if got := r.do("GET", "/api/accounts/oauth/callback?"+query, nil).want(303).header.Get("Location"); got != "/base/people?"+want {
			t.Errorf("%s leads to %q", query, got)
		}
	}
	back("code=c&state=s", "connected=1")
	if r.lists.state != "s" || r.lists.code != "c" {
		t.Errorf("state %q, code %q", r.lists.state, r.lists.code)
	}
	back("error=access_denied", "oauth_error=denied")
	for err, want := range map[error]string{
		account.ErrState: "state", account.ErrOAuthNotConfigured: "not_configured", account.ErrTaken: "taken",
		fmt.Errorf("%w: x", account.ErrOtherUser): "other_user", account.ErrNotFound: "state",
		error(&catalog.Error{Kind: catalog.ErrUnreachable}): "unreachable", error(&catalog.Error{Kind: catalog.ErrRefused}): "refused",
		errors.New("odd"): "internal",
	} {
		r.lists.err = err
		back("code=c&state=s", "oauth_error="+want)
	}
	r.lists.err = account.ErrOAuthNotConfigured
	r.do("POST", "/api/accounts/oauth/start", nil).problem(409)
}

func TestSettingsShowNoSecretAndNameLockedKeys(t *testing.T) {
	r := newRig(t, "WATCHMARK_SYNC_WORKERS=3")
	got := r.do("GET", "/api/settings", nil).want(200)
	if got.get("auth", "webhook_key") != "***" || got.get("sync", "workers") != 3.0 {
		t.Errorf("settings: %s", got.body)
	}
	r.do("PATCH", "/api/settings", map[string]any{"sync": map[string]any{"film_start_marks_doing": true}}).want(200, `"film_start_marks_doing":true`)
	r.do("PATCH", "/api/settings", map[string]any{"sync": map[string]any{"workers": 4}}).problem(422, "body.sync.workers", "WATCHMARK_SYNC_WORKERS")
	r.do("PATCH", "/api/settings", map[string]any{"sync": map[string]any{"coalesce": 4}}).problem(422, "body.sync.coalesce", "coalesce_ms")
	schema := r.do("GET", "/api/settings/schema", nil).want(200, `"path":"sync.workers"`, `"locked":true`)
	if strings.Contains(got.body+schema.body, hookKey) {
		t.Error("the webhook key is shown among the settings")
	}
}

func TestScheduleIsPreviewed(t *testing.T) {
	r := newRig(t)
	ask := func(key, cron string) reply {
		return r.do("GET", "/api/settings/schedule?"+url.Values{"key": {key}, "cron": {cron}}.Encode(), nil)
	}
	next := ask("nas.cron", "*/5 * * * *").want(200).get("next").([]any)
	if len(next) != 3 {
		t.Errorf("the next runs are %v, want three", next)
	}
	ask("tracker.cron", "").want(200, `"next":[]`)
	ask("nas.cron", "").problem(422, "query.cron", "is not a cron expression")
	ask("", "0 21 * * *").want(200, `"next":["`)
	ask("", "").problem(422, "query.cron", "is not a cron expression")
	ask("nas.cron", "every day").problem(422, "query.cron", "is not a cron expression")
	ask("nas.limit", "* * * * *").problem(422, "query.key", "is not a setting that holds a cron expression")
	ask("nas.no", "* * * * *").problem(422, "query.key")
}

func TestWebhookKeyIsShownAndRotated(t *testing.T) {
	r := newRig(t)
	r.do("GET", "/api/webhook-key", nil).want(200, `"key":"`+hookKey+`"`, `"auth_enabled":true`, `"locked_by":""`)
	fresh := r.do("POST", "/api/webhook-key/rotate", nil).want(200).get("key").(string)
	r.anonymous("POST", "/webhook/custom/"+hookKey, event("x", 1, 1)).problem(401)
	r.anonymous("POST", "/webhook/custom/"+url.PathEscape(fresh), event("x", 1, 1)).want(202)

	locked := newRig(t, "WATCHMARK_AUTH_WEBHOOK_KEY=a-key-of-the-operator")
	locked.do("POST", "/api/webhook-key/rotate", nil).problem(409, "WATCHMARK_AUTH_WEBHOOK_KEY")
}

func TestStatsCountRecordsAndTellWhatCame(t *testing.T) {
	r := newRig(t)
	r.record("x", record.Success, true)
	r.record("y", record.Review, true)
	r.anonymous("POST", "/webhook/custom/wrong", event("x", 1, 1)).problem(401)
	got := r.do("GET", "/api/stats", nil).want(200)
	if got.get("today", "success") != 1.0 || got.get("week", "review") != 1.0 || got.get("total", "error") != 0.0 || got.get("queue", "pending") != 0.0 {
		t.Errorf("counts: %s", got.body)
	}
	for _, s := range got.get("sources").([]any) {
		source := s.(map[string]any)
		if seen := source["last_seen"] != nil; seen != (source["source"] == "custom") {
			t.Errorf("source %v", source)
		}
	}
}
