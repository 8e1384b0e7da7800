package app_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/dbtest"
)

// TestNoSecretIsSeen uses the service in every way, failures included, and then looks for
// its secrets in the log, on disk, in API answers and on the pages.
func TestNoSecretIsSeen(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	const clientSecret = "client-secret-9f2e7d41"
	s := start(t, "WATCHMARK_LOG_LEVEL=debug")
	s.list.SetApp(catalogtest.App{ClientID: "watchmark-app", ClientSecret: clientSecret, RedirectURI: s.url + "/api/accounts/oauth/callback", Username: "alex"})
	s.api(http.MethodPatch, "/api/settings", `{"catalog":{"oauth_client_id":"watchmark-app","oauth_client_secret":"`+clientSecret+`"}}`, http.StatusOK, nil)

	// A person signs in, by the setup link of the log.
	setup := regexp.MustCompile(`/setup\?token=(\S+)`).FindStringSubmatch(s.logs.String())
	if setup == nil {
		t.Fatalf("no setup link in %s", s.logs.String())
	}
	signedIn := s.do(s.request(http.MethodPost, "/api/setup", "application/json", `{"token":"`+setup[1]+`","name":"admin","password":"`+password+`"}`))
	cookies, err := http.ParseSetCookie(signedIn.header.Get("Set-Cookie"))
	if err != nil {
		t.Fatalf("setup answers %d: %s", signedIn.status, signedIn.body)
	}
	s.do(s.request(http.MethodPost, "/api/login", "application/json", `{"name":"admin","password":"wrong `+password+`"}`))

	// An account is connected by OAuth, and another tested with a token that is refused.
	var oauth struct {
		AuthorizeURL string `json:"authorize_url"`
	}
	s.api(http.MethodPost, "/api/accounts/oauth/start", `{}`, http.StatusOK, &oauth)
	at, err := url.Parse(oauth.AuthorizeURL)
	if err != nil {
		t.Fatal(err)
	}
	consent, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at.String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	back, err := url.Parse(s.do(consent).header.Get("Location"))
	if err != nil || back.Query().Get("code") == "" {
		t.Fatalf("the catalog leads back to %v: %v", back, err)
	}
	callback := s.request(http.MethodGet, "/api/accounts/oauth/callback?"+back.RawQuery, "", "")
	callback.AddCookie(&http.Cookie{Name: cookies.Name, Value: cookies.Value})
	if got := s.do(callback); !strings.Contains(got.header.Get("Location"), "connected=") {
		t.Fatalf("the way back answers %d to %q", got.status, got.header.Get("Location"))
	}
	s.list.RevokeToken(miraToken)
	for _, body := range []string{
		`{"title":"灯塔守望者","season":1,"episode":1,"user_name":"Mira"}`,
		`{"title":"灯塔守望者","season":1,"episode":1,"user_name":"alex","token":"` + alexToken + `"}`,
		`{"title":"灯塔守望者","season":1,"episode":2,"user_name":"alex","note":"` + miraToken + `"}`,
	} {
		s.settled(s.custom(body))
	}
	if err := s.list.SetFault(catalogtest.Fault{Mode: catalogtest.Refuse}); err != nil {
		t.Fatal(err)
	}
	s.settled(s.custom(`{"title":"深海电车","season":1,"episode":1,"user_name":"alex"}`))
	s.api(http.MethodPost, "/api/accounts/1/test", "", http.StatusOK, nil)
	s.do(s.request(http.MethodPost, "/webhook/custom?key="+s.hook[2:], "application/json", `{}`))
	s.do(s.request(http.MethodPost, "/webhook/plex/"+s.hook, "application/json", `{"token":"`+alexToken+`","broken`))

	// Messages go nowhere: each channel fails in its own way, and so does the language model.
	const hookSecret, wecomKey, dingSign, mailPassword, modelKey = "hook-7c1f-2e9a-44d0", "5d1f7c3e-90ab-4c2d-8e6f-1a2b3c4d5e6f", "SEC3f9a7d1c5b2e8f604a", "mail-pass-61c07e", "sk-model-8842aa17"
	for path, channel := range map[string]string{
		"webhooks":  `{"name":"hook","config":{"url":"http://127.0.0.1:9/` + hookSecret + `","headers":[{"name":"X-Key","value":"` + hookSecret + `"}]}}`,
		"wecoms":    `{"name":"group","config":{"url":"http://127.0.0.1:9/send","key":"` + wecomKey + `"}}`,
		"dingtalks": `{"name":"team","config":{"url":"http://127.0.0.1:9/send","token":"` + wecomKey + `","secret":"` + dingSign + `"}}`,
		"emails":    `{"name":"mail","config":{"host":"127.0.0.1","port":9,"tls":"none","user":"mira@example.org","password":"` + mailPassword + `","to":["mira@example.org"]}}`,
	} {
		s.api(http.MethodPost, "/api/notification/"+path, channel, http.StatusCreated, nil)
	}
	s.api(http.MethodPost, "/api/notification/test", "", http.StatusOK, nil)
	s.api(http.MethodPatch, "/api/settings", `{"llm":{"base_url":"http://127.0.0.1:9/v1","model":"m-1","api_key":"`+modelKey+`"}}`, http.StatusOK, nil)
	s.api(http.MethodPost, "/api/llm/test", "", http.StatusOK, nil)

	secrets := map[string]string{
		"key of a webhook": hookSecret, "key of a WeCom robot": wecomKey, "secret of a DingTalk robot": dingSign, "password of the mail": mailPassword, "key of the language model": modelKey,
		"mira's token": miraToken, "alex's token": alexToken, "client secret": clientSecret, "password": password,
		"API key": s.key, "session": cookies.Value, "OAuth code": back.Query().Get("code"),
	}
	renewable := false
	for _, a := range must(s.app.Accounts.List(t.Context()))(t) {
		tokens := must(s.app.Accounts.Tokens(t.Context(), a.ID))(t)
		secrets["access token of "+a.Username], secrets["refresh token of "+a.Username] = tokens.Access.Reveal(), tokens.Refresh.Reveal()
		renewable = renewable || tokens.Refresh != ""
	}
	if !renewable {
		t.Fatal("no account came by OAuth")
	}

	places := map[string]string{}
	for _, path := range []string{"/api/records?limit=50", "/api/records/1", "/api/match-records", "/api/match-records/1/trace", "/api/match-records/3/trace", "/api/match-records/4/trace",
		"/api/accounts", "/api/settings", "/api/settings/schema", "/api/webhook-log?limit=50", "/api/logs?limit=200&level=debug", "/api/diagnostics", "/api/api-keys", "/api/stats", "/api/notification/webhooks", "/api/notification/wecoms", "/api/notification/dingtalks", "/api/notification/emails", "/api/notification/inbox", "/api/summary/jobs", "/api/llm/usage", "/api/session", "/api/openapi.json"} {
		places["GET "+path] = s.api(http.MethodGet, path, "", http.StatusOK, nil).body
	}
	for _, path := range []string{"/", "/records", "/records/1", "/records/3", "/records/4", "/people", "/sources/webhooks", "/settings/tools/webhooks", "/settings/tools/log", "/api/docs"} {
		request := s.request(http.MethodGet, path, "", "")
		request.AddCookie(&http.Cookie{Name: cookies.Name, Value: cookies.Value})
		page := s.do(request)
		if page.status != http.StatusOK {
			t.Errorf("%s answers %d", path, page.status)
		}
		places["page "+path] = page.body
	}
	s.stop()
	places["log"] = s.logs.String()
	maps.Copy(places, dbtest.Kept(t, s.dir))
	for what, text := range secrets {
		if text == "" {
			continue
		}
		for place, content := range places {
			if strings.Contains(content, text) || strings.Contains(content, url.QueryEscape(text)) || strings.Contains(content, quoted(text)) {
				t.Errorf("%s: the %s is there in clear", place, what)
			}
		}
	}
	// The webhook key stands in the addresses of the page Webhooks, and nowhere else.
	for place, content := range places {
		if place != "page /sources/webhooks" && strings.Contains(content, s.hook) {
			t.Errorf("%s: the webhook key is there in clear", place)
		}
	}
	if !strings.Contains(places["log"], "/v0/me") {
		t.Error("the debug log tells of no request: nothing was looked at")
	}
}

// quoted is text as it stands in JSON, without the quotes.
func quoted(text string) string {
	q, _ := json.Marshal(text) // strings always encode
	return strings.Trim(string(q), `"`)
}

// must is v, or the end of the test.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
