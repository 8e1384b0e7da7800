package catalogtest_test

import (
	"testing"

	"watchmark/internal/testkit/catalogtest"
)

func TestEveryCallIsChecked(t *testing.T) {
	read := "GET /v0/subjects/900001"
	var refused []exchange
	for _, name := range []string{
		"-", "undici", "database", "node-fetch", "Go-http-client/1.1", "python-requests/2.31", "axios/1.6", "okhttp/4.9",
		"go-resty/2.7 (x)", "Java/17", "node-fetch/1.0", "Faraday v2.7", "Apache-HttpClient/4.5",
	} {
		refused = append(refused, exchange{call: read, agent: name, status: 403, holds: []string{`"title":"Forbidden"`}})
	}
	run(t, catalogtest.Config{}, []trap{
		{"default User-Agents are refused", refused},
		{"the legacy search refuses them too", []exchange{{call: "GET /search/subject/x", agent: "Go-http-client/1.1", status: 403}}},
		{"a bad token is refused on public reads", []exchange{
			{call: read, token: "nobody", status: 401, holds: []string{`"title":"Unauthorized"`, "expired"}},
			{call: read, status: 200},
			{call: read, token: "mira-token", status: 200},
		}},
		{"the scheme is Bearer, in this case, with a blank", []exchange{
			{call: read, auth: "bearer mira-token", status: 401},
			{call: read, auth: "Bearermira-token", status: 401},
			{call: read, auth: "Basic mira-token", status: 401},
		}},
		{"no token in the query", []exchange{{call: "GET /v0/me?access_token=mira-token", status: 401}}},
		{"errors have the catalog's shape", []exchange{
			{call: "GET /v0/subjects/9?a=1", status: 404, holds: []string{
				`"title":"Not Found"`, `"description":"resource can't be found in the database or has been removed"`,
				`"details":{"path":"/v0/subjects/9","method":"GET","query_string":"a=1"}`, `"request_id":"`,
			}},
			{call: "GET /v0/nothing", status: 404, holds: []string{`"title":"Not Found"`}},
		}},
		{"ids are 32 bits, unsigned, above 0", []exchange{
			{call: "GET /v0/subjects/0", status: 400},
			{call: "GET /v0/subjects/-1", status: 400},
			{call: "GET /v0/subjects/x", status: 400},
			{call: "GET /v0/subjects/4294967296", status: 400},
			{call: "GET /v0/subjects/4294967295", status: 404},
		}},
		{"collection writes want the exact content type", []exchange{
			{call: "POST /v0/users/-/collections/900001", token: "mira-token", contentType: "application/json; charset=utf-8", body: `{}`, status: 415},
			{call: "POST /v0/users/-/collections/900001", token: "mira-token", contentType: "application/json;charset=UTF-8", body: `{}`, status: 415},
			{call: "POST /v0/users/-/collections/900001", token: "mira-token", contentType: "-", body: `{}`, status: 415},
			{call: "POST /v0/users/-/collections/900001", token: "mira-token", contentType: "application/json; charset=UTF-8", body: `{}`, status: 202},
			{call: "PUT /v0/users/-/collections/-/episodes/90000101", token: "mira-token", contentType: "text/plain", body: `{"type":2}`, status: 415},
			{call: "PATCH /v0/users/-/collections/900001/episodes", token: "mira-token", contentType: "text/plain", body: `{}`, status: 415},
		}},
		{"writes check content type, then login, then scope, then body", []exchange{
			{call: "POST /v0/users/-/collections/900001", contentType: "text/plain", body: `{`, status: 415},
			{call: "POST /v0/users/-/collections/900001", body: `{`, status: 401},
			{call: "POST /v0/users/-/collections/900001", token: "noscope-token", body: `{`, status: 403, holds: []string{"insufficient token scope"}},
			{call: "POST /v0/users/-/collections/900001", token: "mira-token", body: `{`, status: 400, holds: []string{`"title":"JSON Error"`}},
		}},
		{"a token without the scope still reads", []exchange{{call: "GET /v0/me", token: "noscope-token", status: 200}}},
		{"me tells the name that user paths want", []exchange{
			{call: "GET /v0/me", token: "mira-token", status: 200, holds: []string{`"id":11`, `"username":"mira"`}},
			{call: "GET /v0/me", token: "unnamed-token", status: 200, holds: []string{`"id":15`, `"username":"15"`}},
			{call: "GET /v0/me", status: 401},
		}},
	})
}

func TestUsersChange(t *testing.T) {
	s, base := sample(t, catalogtest.Config{})
	exchange{call: "GET /v0/users/15/collections", status: 200}.do(t, base)
	s.SetUser(catalogtest.User{ID: 15, Username: "alex"})
	exchange{call: "GET /v0/users/15/collections", status: 404}.do(t, base)
	exchange{call: "GET /v0/users/alex/collections", status: 200}.do(t, base)
	exchange{call: "GET /v0/me", token: "unnamed-token", status: 200, holds: []string{`"username":"alex"`}}.do(t, base)
	s.RevokeToken("unnamed-token")
	exchange{call: "GET /v0/me", token: "unnamed-token", status: 401}.do(t, base)

	s.SetUser(catalogtest.User{Username: "bench", Token: "bench-token"})
	exchange{call: "GET /v0/me", token: "bench-token", status: 200, holds: []string{`"id":1,`}}.do(t, base)
	if got := s.Requests()["GET /v0/me"]; got != 3 {
		t.Errorf("counted %d calls of /v0/me, want 3", got)
	}
}
