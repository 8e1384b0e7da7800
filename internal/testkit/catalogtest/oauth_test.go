package catalogtest_test

import (
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"watchmark/internal/testkit/catalogtest"
)

const (
	formType = "application/x-www-form-urlencoded"
	callback = "http://127.0.0.1:8787/oauth/callback?x=1"
)

type tokens struct {
	AccessToken  string  `json:"access_token"`
	RefreshToken string  `json:"refresh_token"`
	ExpiresIn    int     `json:"expires_in"`
	TokenType    string  `json:"token_type"`
	Scope        *string `json:"scope"`
	UserID       any     `json:"user_id"`
}

// website is a catalog with an application and a clock of the test.
type website struct {
	server *catalogtest.Server
	base   string
	now    atomic.Int64 // unix seconds
}

func newWebsite(t *testing.T, app catalogtest.App) *website {
	site := &website{}
	site.now.Store(1_800_000_000)
	site.server, site.base = sample(t, catalogtest.Config{Now: func() time.Time { return time.Unix(site.now.Load(), 0) }})
	app.ClientID, app.ClientSecret, app.RedirectURI, app.Username = "app1", "hush", callback, "mira"
	site.server.SetApp(app)
	return site
}

// approve gets a code.
func (site *website) approve(t *testing.T) string {
	t.Helper()
	query := url.Values{"client_id": {"app1"}, "response_type": {"code"}, "redirect_uri": {callback}, "state": {"s p"}}
	status, header, body, err := exchange{call: "GET /oauth/authorize?" + query.Encode()}.send(t, site.base)
	if err != nil || status != http.StatusFound {
		t.Fatalf("authorize: status %d, %v, %s", status, err, body)
	}
	back, err := url.Parse(header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	got := back.Query()
	if back.Host != "127.0.0.1:8787" || got.Get("x") != "1" || got.Get("state") != "s p" || got.Get("code") == "" {
		t.Fatalf("sent back to %s", back)
	}
	return got.Get("code")
}

// trade posts a form of the usual values, changed by pairs of name and value; "-" leaves a name out.
func (site *website) trade(t *testing.T, status int, holds string, pairs ...string) tokens {
	t.Helper()
	form := url.Values{"client_id": {"app1"}, "client_secret": {"hush"}, "redirect_uri": {callback}}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == "-" {
			form.Del(pairs[i])
			continue
		}
		form.Set(pairs[i], pairs[i+1])
	}
	x := exchange{call: "POST /oauth/access_token", contentType: formType, body: form.Encode(), status: status, holds: []string{holds}}
	return decode[tokens](t, x.do(t, site.base))
}

func TestOAuthGrants(t *testing.T) {
	site := newWebsite(t, catalogtest.App{})
	code := site.approve(t)
	got := site.trade(t, 200, `"scope":null`, "grant_type", "authorization_code", "code", code)
	if got.ExpiresIn != 604800 || got.TokenType != "Bearer" || got.UserID != float64(11) || len(got.AccessToken) != 40 {
		t.Errorf("got %+v", got)
	}
	exchange{call: "GET /v0/me", token: got.AccessToken, status: 200, holds: []string{`"username":"mira"`}}.do(t, site.base)

	site.trade(t, 400, `"error":"invalid_grant"`, "grant_type", "authorization_code", "code", code)

	fresh := site.trade(t, 200, "", "grant_type", "refresh_token", "refresh_token", got.RefreshToken, "redirect_uri", "-")
	if fresh.AccessToken == got.AccessToken || fresh.RefreshToken == got.RefreshToken {
		t.Error("the refreshed pair is not new")
	}
	site.trade(t, 400, `{"error":"invalid_grant","error_description":"Invalid refresh token"}`, "grant_type", "refresh_token", "refresh_token", got.RefreshToken)

	exchange{call: "GET /v0/me", token: got.AccessToken, status: 200}.do(t, site.base)
	site.now.Add(604800)
	exchange{call: "GET /v0/me", token: fresh.AccessToken, status: 401}.do(t, site.base)
}

func TestOAuthRefusals(t *testing.T) {
	site := newWebsite(t, catalogtest.App{ExpiresIn: time.Hour})
	old := site.approve(t)
	site.now.Add(60)
	site.trade(t, 400, "invalid_grant", "grant_type", "authorization_code", "code", old)

	code := site.approve(t)
	site.trade(t, 400, "redirect_uri_mismatch", "grant_type", "authorization_code", "code", code, "redirect_uri", callback+"/")
	site.trade(t, 400, "redirect_uri_mismatch", "grant_type", "authorization_code", "code", code, "redirect_uri", "-")
	site.trade(t, 400, "invalid_client", "grant_type", "authorization_code", "code", code, "client_secret", "x")
	site.trade(t, 400, "invalid_client", "grant_type", "authorization_code", "code", code, "client_id", "x")
	site.trade(t, 400, "unsupported_grant_type", "grant_type", "password")
	exchange{call: "POST /oauth/access_token", body: `{"grant_type":"authorization_code"}`, status: 400, holds: []string{"invalid_request"}}.do(t, site.base)
	if got := site.trade(t, 200, "", "grant_type", "authorization_code", "code", code); got.ExpiresIn != 3600 {
		t.Errorf("expires in %d", got.ExpiresIn)
	}

	for name, query := range map[string]url.Values{
		"unknown application": {"client_id": {"x"}, "response_type": {"code"}, "redirect_uri": {callback}},
		"other redirect":      {"client_id": {"app1"}, "response_type": {"code"}, "redirect_uri": {"http://example.org/"}},
		"other response type": {"client_id": {"app1"}, "response_type": {"token"}, "redirect_uri": {callback}},
	} {
		t.Run(name, func(t *testing.T) {
			exchange{call: "GET /oauth/authorize?" + query.Encode(), status: 400, header: map[string]string{"Location": ""}}.do(t, site.base)
		})
	}
}

func TestNewerOAuth(t *testing.T) {
	site := newWebsite(t, catalogtest.App{UserIDAsText: true, NewerErrors: true})
	got := site.trade(t, 200, "", "grant_type", "authorization_code", "code", site.approve(t))
	if got.UserID != "11" {
		t.Errorf("user_id is %#v", got.UserID)
	}
	site.trade(t, 400, `"code":"INVALID_REFRESH_TOKEN"`, "grant_type", "refresh_token", "refresh_token", "x")
	site.trade(t, 404, `"code":"APP_NONEXISTENCE"`, "grant_type", "refresh_token", "client_id", "x")
}

func TestOAuthWithoutAnApplication(t *testing.T) {
	_, base := sample(t, catalogtest.Config{})
	exchange{call: "GET /oauth/authorize?client_id=&response_type=code&redirect_uri=", status: 400}.do(t, base)
	exchange{call: "POST /oauth/access_token", contentType: formType, body: "grant_type=refresh_token", status: 400}.do(t, base)
}
