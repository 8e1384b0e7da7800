package api_test

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"watchmark/internal/door/auth"
)

const password = "a long enough password"

// admin makes the administrator.
func (r *rig) admin() {
	r.t.Helper()
	setup := must(r.store.SetupToken(r.t.Context()))(r.t)
	if err := r.store.Setup(r.t.Context(), setup, "mira", password, netip.Addr{}); err != nil {
		r.t.Fatal(err)
	}
}

// cookie takes over the session cookie, which a browser would send below the base path only.
func cookie(got reply) string {
	for _, c := range (&http.Response{Header: got.header}).Cookies() {
		if c.Name == auth.CookieName {
			return c.Name + "=" + c.Value
		}
	}
	return ""
}

func TestSetupLoginAndLogout(t *testing.T) {
	r := newRig(t)
	setup := must(r.store.SetupToken(t.Context()))(t)
	account := map[string]any{"token": setup, "name": "mira", "password": "short"}
	r.anonymous("POST", "/api/setup", account).problem(422, "body.password")
	account["password"], account["token"] = password, "wrong"
	r.anonymous("POST", "/api/setup", account).problem(401)
	account["token"] = setup
	first := r.anonymous("POST", "/api/setup", account).want(200, `"authenticated":true`, `"name":"mira"`)
	if set := first.header.Get("Set-Cookie"); !strings.Contains(set, "Path=/base/") || !strings.Contains(set, "HttpOnly") || !strings.Contains(set, "SameSite=Lax") {
		t.Errorf("Set-Cookie %q", set)
	}
	r.anonymous("POST", "/api/setup", account).problem(409)

	r.anonymous("POST", "/api/login", map[string]any{"name": "mira", "password": "not the password"}).problem(401)
	session := cookie(r.anonymous("POST", "/api/login", map[string]any{"name": "mira", "password": password}).want(200))
	r.anonymous("GET", "/api/session", nil, "Cookie", session).want(200, `"authenticated":true`, `"kind":"session"`, `"needs_setup":false`)
	r.anonymous("GET", "/api/records", nil, "Cookie", session).want(200)
	r.anonymous("POST", "/api/records/1/retry", nil, "Cookie", session, "Origin", "http://elsewhere.example").want(403)
	ended := r.anonymous("POST", "/api/logout", nil, "Cookie", session).want(204)
	if set := ended.header.Get("Set-Cookie"); !strings.Contains(set, "Max-Age=0") {
		t.Errorf("Set-Cookie %q", set)
	}
	r.anonymous("GET", "/api/records", nil, "Cookie", session).problem(401)
	r.do("GET", "/api/session", nil).want(200, `"kind":"apikey"`, `"name":"tests"`)
}

func TestTooManyFailuresLockTheLogin(t *testing.T) {
	r := newRig(t)
	r.admin()
	for range 3 {
		r.anonymous("POST", "/api/login", map[string]any{"name": "mira", "password": "not the password"}).problem(401)
	}
	got := r.anonymous("POST", "/api/login", map[string]any{"name": "mira", "password": password}).problem(429)
	if got.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}

func TestPasswordIsChangedBySessionsOnly(t *testing.T) {
	r := newRig(t)
	r.admin()
	session := cookie(r.anonymous("POST", "/api/login", map[string]any{"name": "mira", "password": password}).want(200))
	change := map[string]any{"old": password, "new": "another long password"}
	r.do("POST", "/api/password", change).problem(403)
	r.anonymous("POST", "/api/password", map[string]any{"old": "not the password", "new": "another long password"}, "Cookie", session).problem(422, "body.old")
	r.anonymous("POST", "/api/password", map[string]any{"old": password, "new": "short"}, "Cookie", session).problem(422, "body.new")
	fresh := cookie(r.anonymous("POST", "/api/password", change, "Cookie", session).want(200))
	r.anonymous("GET", "/api/records", nil, "Cookie", session).problem(401)
	r.anonymous("GET", "/api/records", nil, "Cookie", fresh).want(200)
	r.anonymous("POST", "/api/login", map[string]any{"name": "mira", "password": password}).problem(401)
}

func TestAPIKeysAreShownOnce(t *testing.T) {
	r := newRig(t)
	made := r.do("POST", "/api/api-keys", map[string]any{"name": "nightly"}).want(201, `"name":"nightly"`)
	plain := made.get("key").(string)
	r.anonymous("GET", "/api/records", nil, "Authorization", "Bearer "+plain).want(200)
	r.do("POST", "/api/api-keys", map[string]any{"name": "nightly"}).problem(409)
	r.do("POST", "/api/api-keys", map[string]any{"name": " "}).problem(422, "body.name")
	list := r.do("GET", "/api/api-keys", nil).want(200, `"nightly"`, `"tests"`)
	if strings.Contains(list.body, plain) {
		t.Error("the key is listed")
	}
	r.do("DELETE", "/api/api-keys/2", nil).want(204)
	r.do("DELETE", "/api/api-keys/2", nil).problem(404)
	r.anonymous("GET", "/api/records", nil, "Authorization", "Bearer "+plain).problem(401)
}

func TestEverybodyMayComeWhereAuthenticationIsOff(t *testing.T) {
	r := newRig(t, "WATCHMARK_AUTH_ENABLED=false")
	r.anonymous("GET", "/api/records", nil).want(200)
	r.anonymous("GET", "/api/docs", nil).want(200)
	r.anonymous("GET", "/api/session", nil).want(200, `"authenticated":true`, `"kind":"open"`)
	r.anonymous("POST", "/api/password", map[string]any{"old": password, "new": password}).problem(403)
	r.anonymous("POST", "/webhook/custom", event("x", 1, 1)).problem(401)
}
