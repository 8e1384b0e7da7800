package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"watchmark/internal/catalog/account"
	"watchmark/internal/door/api"
	"watchmark/internal/platform/logs"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
	"watchmark/internal/upkeep/diagnose"
)

// outside is a service that answers, and one where nobody listens.
func outside(t *testing.T) (up, down string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	t.Cleanup(server.Close)
	gone := httptest.NewServer(nil)
	gone.Close()
	return server.URL, gone.URL
}

func TestNetworkDiagnosis(t *testing.T) {
	r := newRig(t)
	up, down := outside(t)
	r.targets = []diagnose.Target{{Kind: diagnose.CatalogAPI, URL: up + "/x?token=hidden-in-the-path", InUse: true}, {Kind: diagnose.TrackerAPI, URL: down}}
	got := r.do("POST", "/api/network/diagnose", nil).want(200, `"kind":"catalog_api"`, `"failed":"tcp"`, `"problem":"refused"`, "nothing listens on this port", `"clock_difference_seconds":0`)
	if ok := got.get("ok"); ok != true {
		t.Errorf("what is not in use counts: %s", got.body)
	}
	one := r.do("POST", "/api/network/diagnose", map[string]any{"url": up}).want(200, `"kind":"catalog_api"`)
	if strings.Contains(one.body, "tracker_api") {
		t.Errorf("all is looked at: %s", one.body)
	}
	r.do("POST", "/api/network/diagnose", map[string]any{"url": down + "/else"}).want(200, `"kind":"tracker_api"`)
	r.do("POST", "/api/network/diagnose", map[string]any{"url": "http://169.254.169.254/latest"}).problem(422, "body.url")
	r.do("POST", "/api/network/diagnose", map[string]any{"url": "api"}).problem(422, "body.url")
	if strings.Contains(got.body, "hidden-in-the-path") {
		t.Errorf("the path is told: %s", got.body)
	}
	r.targets[0], r.targets[1] = r.targets[1], r.targets[0]
	r.targets[0].InUse = true
	if ok := r.do("POST", "/api/network/diagnose", nil).want(200).get("ok"); ok != false {
		t.Error("what is in use does not count")
	}
	r.anonymous("POST", "/api/network/diagnose", nil).problem(401)
}

func TestADiagnosisGoesOnWhenItsCallerLeaves(t *testing.T) {
	r := newRig(t)
	asked, release := make(chan bool), make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- true
		<-release
	}))
	t.Cleanup(server.Close)
	r.targets = []diagnose.Target{{Kind: diagnose.CatalogAPI, URL: server.URL, InUse: true}}
	ctx, leave := context.WithCancel(t.Context())
	req := httptest.NewRequestWithContext(ctx, http.MethodPost, "/api/network/diagnose", nil)
	req.Header.Set("Authorization", "Bearer "+r.key)
	ended := make(chan bool)
	go func() {
		r.handler.ServeHTTP(httptest.NewRecorder(), req)
		close(ended)
	}()
	<-asked
	r.do("POST", "/api/network/diagnose", nil).problem(409, "under way")
	leave()
	close(release)
	<-ended
	s := r.doctor.State()[0]
	if !s.OK {
		t.Errorf("it came to %+v", s)
	}
}

func TestHostsAreTriedAtAGentleRate(t *testing.T) {
	r := newRig(t)
	up, down := outside(t)
	at := func(address string) map[string]any {
		u := must(url.Parse(address))(t)
		return map[string]any{"host": u.Hostname(), "port": must(net.LookupPort("tcp", u.Port()))(t)}
	}
	r.do("POST", "/api/proxy/test-host", at(up)).want(200, `"reachable":true`, `"via":"direct"`)
	if body := r.do("POST", "/api/proxy/test-host", at(down)).want(200, `"reachable":false`, `"problem":"refused"`).body; strings.Contains(body, "127.0.0.1") {
		t.Errorf("more than the reachability is told: %s", body)
	}
	for _, bad := range []map[string]any{{"host": ""}, {"host": "a/b"}, {"host": "a b"}, {"host": "mira:pw@host"}, {"host": "a", "port": 70000}, {"host": "a", "port": 0}, {}} {
		r.do("POST", "/api/proxy/test-host", bad).problem(422)
	}
	r.do("POST", "/api/proxy/test-host", map[string]any{"host": "169.254.169.254", "port": 80}).problem(422, "body.host", "network link")
	in := at(up)
	in["timeout"] = 5
	r.do("POST", "/api/proxy/test-host", in).want(200, `"reachable":true`)
	in["timeout"] = 0
	r.do("POST", "/api/proxy/test-host", in).problem(422)
	var last reply
	for range 12 {
		if last = r.do("POST", "/api/proxy/test-host", at(up)); last.status != 200 {
			break
		}
	}
	if last.problem(429, "wait a moment").header.Get("Retry-After") == "" {
		t.Error("nobody says when to come back")
	}
	r.anonymous("POST", "/api/proxy/test-host", at(up)).problem(401)
}

func TestProxyTest(t *testing.T) {
	r := newRig(t)
	up, down := outside(t)
	r.targets = []diagnose.Target{{Kind: diagnose.CatalogAPI, URL: up}}
	r.do("POST", "/api/proxy/test", nil).want(200, `"ok":false`, "No proxy is set")
	r.do("POST", "/api/proxy/test", map[string]any{}).want(200, "No proxy is set")
	secretly := strings.Replace(down, "://", "://mira:pa55phrase@", 1)
	got := r.do("POST", "/api/proxy/test", map[string]any{"proxy": secretly}).want(200, `"ok":false`, "and answers in", `"problem":"proxy_unreachable"`, `"proxy":"`+down+`"`)
	if strings.Contains(got.body, "pa55phrase") {
		t.Errorf("the password is told: %s", got.body)
	}
	r.do("POST", "/api/proxy/test", map[string]any{"proxy": "ftp://mira:pa55phrase@x"}).problem(422, "body.proxy", "socks5://")
}

func TestLogsAreRead(t *testing.T) {
	r := newRig(t)
	r.slog.Debug("a quiet one")
	r.slog.Info("the first", "part", "Engine")
	r.slog.Error("the second", "token", "token-of-mira-77")
	var page api.Page[logs.Entry]
	got := r.do("GET", "/api/logs?limit=1", nil).want(200)
	got.into(&page)
	if len(page.Items) != 1 || page.Items[0].Message != "the second" || page.Items[0].Level != "ERROR" || page.Items[0].Facts["token"] != secret.Shown {
		t.Fatalf("the first page is %s", got.body)
	}
	r.do("GET", "/api/logs?limit=1&cursor="+page.NextCursor, nil).want(200, "the first", `"next_cursor":""`)
	for query, want := range map[string]string{"level=debug": "a quiet one", "q=ENGINE": "the first", "level=error": "the second"} {
		r.do("GET", "/api/logs?"+query, nil).want(200, want)
	}
	if body := r.do("GET", "/api/logs?q=engine&level=warn", nil).want(200).body; strings.Contains(body, "the first") {
		t.Errorf("the level is not kept: %s", body)
	}
	r.do("GET", "/api/logs?level=loud", nil).problem(422)
	r.anonymous("GET", "/api/logs", nil).problem(401)
	r.anonymous("GET", "/api/logs/stream", nil).problem(401)
}

func TestLogsAreFollowed(t *testing.T) {
	r := newRig(t)
	r.slog.Warn("before")
	follow := func(query string, header ...string) (next func() logs.Entry) {
		req := must(http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/api/logs/stream?"+query, nil))(t)
		req.Header.Set("Authorization", "Bearer "+r.key)
		if len(header) > 0 {
			req.Header.Set("Last-Event-ID", header[0])
		}
		res := must(http.DefaultClient.Do(req))(t)
		t.Cleanup(func() { _ = res.Body.Close() })
		lines := bufio.NewScanner(res.Body)
		return func() logs.Entry {
			for lines.Scan() {
				if text, is := strings.CutPrefix(lines.Text(), "data: "); is {
					var e logs.Entry
					if err := json.Unmarshal([]byte(text), &e); err != nil {
						t.Fatal(err)
					}
					return e
				}
			}
			t.Fatal("the stream ended")
			return logs.Entry{}
		}
	}
	all := follow("level=warn")
	if e := all(); e.Message != "before" {
		t.Errorf("it begins with %+v", e)
	}
	newer := follow("level=debug&q=deep&after=" + "1")
	again := follow("level=debug&after=0", "1")
	r.slog.Debug("unseen")
	r.slog.Debug("DEEP below")
	r.slog.Error("broken")
	if e := all(); e.Message != "broken" || e.ID != 4 {
		t.Errorf("then comes %+v", e)
	}
	if e := newer(); e.Message != "DEEP below" {
		t.Errorf("filtered by text: %+v", e)
	}
	if e := again(); e.Message != "unseen" {
		t.Errorf("who comes back gets %+v", e)
	}
}

// TestDiagnosticsHoldNoSecret plants secrets wherever a bundle takes something from.
func TestDiagnosticsHoldNoSecret(t *testing.T) {
	planted := map[string]string{
		"proxy password":     "pr0xy-passw0rd-x1",
		"webhook key":        hookKey,
		"app secret":         "app-secret-93ab22",
		"tracker secret":     "tracker-secret-5521",
		"account token":      "token-of-mira-abcdef",
		"mirror token":       "mirror-token-8812",
		"logged by name":     "named-in-the-log-1",
		"logged by value":    "known-value-in-a-log-77",
		"in a log message":   "bearer-of-a-message-3",
		"in a record":        "bearer-in-a-record-4",
		"in an address":      "pw-in-an-address-5",
		"mail address":       "mira@home.example",
		"webhook in a text":  "hook-of-another-9",
		"in a path of hosts": "secret-of-a-path-6",
	}
	r := newRig(t,
		"WATCHMARK_NETWORK_PROXY=http://mira:"+planted["proxy password"]+"@127.0.0.1:1",
		"WATCHMARK_CATALOG_OAUTH_CLIENT_SECRET="+planted["app secret"], "WATCHMARK_TRACKER_APP_CLIENT_SECRET="+planted["tracker secret"],
		"WATCHMARK_CATALOG_ARCHIVE_MIRRORS=https://mirror.example/"+"token="+planted["mirror token"]+"/",
	)
	// Real settings are given to the masker by package app, as are tokens when they are sent.
	for _, known := range []string{planted["proxy password"], planted["logged by value"], planted["account token"]} {
		r.masker.Add(known)
	}
	a := must(r.accounts.Create(t.Context(), account.Draft{Username: "mira", Method: account.ByToken, Tokens: account.Tokens{Access: secret.Text(planted["account token"])}, MediaUserNames: []string{planted["mail address"]}, Enabled: true}))(t)
	if err := r.accounts.SetProblem(t.Context(), a.ID, reason.Text("refused: Bearer "+planted["in a record"])); err != nil {
		t.Fatal(err)
	}
	up, _ := outside(t)
	r.targets = []diagnose.Target{{Kind: diagnose.CatalogAPI, URL: strings.Replace(up, "://", "://mira:"+planted["in an address"]+"@", 1) + "/" + planted["in a path of hosts"], InUse: true}}
	r.do("POST", "/api/network/diagnose", nil).want(200)
	r.slog.Error("cannot do it", "token", planted["logged by name"], "note", planted["logged by value"], "error", "GET https://mira:"+planted["in an address"]+"@host/x")
	r.slog.Info("sent Authorization: Bearer " + planted["in a log message"] + " of " + planted["mail address"] + " to /webhook/plex/" + planted["webhook in a text"])
	r.do("POST", "/webhook/custom/"+hookKey, map[string]any{"title": "灯塔守望者 for " + planted["mail address"], "season": 1, "episode": 1, "user_name": planted["account token"]}).want(202)
	r.anonymous("POST", "/webhook/plex/"+planted["webhook in a text"], "{}")

	got := r.do("GET", "/api/diagnostics", nil).want(200, "cannot do it", "1.2.3 abc go linux", `"catalog_api"`, `"has_token": true`, "mirror.example", `"network.proxy": "environment"`)
	for what, value := range planted {
		if strings.Contains(got.body, value) {
			t.Errorf("it holds the %s: %s", what, value)
		}
	}
	if name := got.header.Get("Content-Disposition"); !strings.Contains(name, `attachment; filename="watchmark-diagnostics-`) {
		t.Errorf("a browser saves it as %q", name)
	}
	if !strings.HasPrefix(got.body, "{\n  \"made_at\"") {
		t.Errorf("it is not for people: %.80s", got.body)
	}
	r.anonymous("GET", "/api/diagnostics", nil).problem(401)
}
