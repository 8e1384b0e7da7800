package api_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"watchmark/internal/door/auth"
	"watchmark/internal/testkit/oidctest"
	"watchmark/internal/testkit/totptest"
)

func TestTwoFactorIsSetUpBySessionsOnly(t *testing.T) {
	r := newRig(t)
	r.admin()
	right := map[string]any{"password": password}
	session := cookie(r.anonymous("POST", "/api/login", map[string]any{"name": "mira", "password": password}).want(200))
	for _, path := range []string{"start", "recovery-codes", "off"} {
		r.do("POST", "/api/two-factor/"+path, right).problem(403)
		r.anonymous("POST", "/api/two-factor/"+path, right).problem(401)
		r.anonymous("POST", "/api/two-factor/"+path, right, "Cookie", session, "Origin", "http://elsewhere.example").want(403)
	}
	r.do("POST", "/api/two-factor/confirm", map[string]any{"code": "123456"}).problem(403)
	r.do("POST", "/api/two-factor/cancel", nil).problem(403)
	r.do("GET", "/api/two-factor", nil).want(200, `"on":false`)
	r.anonymous("POST", "/api/two-factor/start", map[string]any{"password": "not the password"}, "Cookie", session).problem(422, "body.password")
	r.anonymous("POST", "/api/two-factor/off", right, "Cookie", session).problem(409)
	r.anonymous("POST", "/api/two-factor/confirm", map[string]any{"code": "123456"}, "Cookie", session).problem(409)

	secret := r.anonymous("POST", "/api/two-factor/start", right, "Cookie", session).want(200, "otpauth://totp/Watchmark:mira?").get("secret").(string)
	r.anonymous("POST", "/api/two-factor/confirm", map[string]any{"code": "000000"}, "Cookie", session).problem(422, "body.code")
	other := cookie(r.anonymous("POST", "/api/login", map[string]any{"name": "mira", "password": password}).want(200))
	made := r.anonymous("POST", "/api/two-factor/confirm", map[string]any{"code": totptest.Code(secret, time.Now())}, "Cookie", session).want(200)
	recovery := made.get("recovery_codes").([]any)
	r.anonymous("GET", "/api/records", nil, "Cookie", other).problem(401)
	r.anonymous("GET", "/api/two-factor", nil, "Cookie", session).want(200, `"on":true`, `"recovery_codes":10`)

	half := r.anonymous("POST", "/api/login", map[string]any{"name": "mira", "password": password}).want(200, `"authenticated":false`, `"needs_code":true`)
	if set := half.header.Get("Set-Cookie"); set != "" {
		t.Errorf("the password alone sets %q", set)
	}
	r.anonymous("POST", "/api/login", map[string]any{"name": "mira", "password": password, "code": "000000"}).problem(401)
	r.anonymous("POST", "/api/login", map[string]any{"name": "mira", "password": "wrong", "code": totptest.Code(secret, time.Now().Add(30*time.Second))}).problem(401)
	signedIn := cookie(r.anonymous("POST", "/api/login", map[string]any{"name": "mira", "password": password, "code": totptest.Code(secret, time.Now().Add(30*time.Second))}).want(200, `"authenticated":true`))
	r.anonymous("GET", "/api/records", nil, "Cookie", signedIn).want(200)
	r.anonymous("POST", "/api/login", map[string]any{"name": "mira", "password": password, "code": recovery[0]}).want(200, `"authenticated":true`)
	r.do("GET", "/api/records", nil).want(200) // an API key needs no code

	fresh := cookie(r.anonymous("POST", "/api/password", map[string]any{"old": password, "new": "another long password"}, "Cookie", signedIn).want(200))
	r.anonymous("POST", "/api/login", map[string]any{"name": "mira", "password": "another long password"}).want(200, `"needs_code":true`)
	r.anonymous("POST", "/api/two-factor/recovery-codes", map[string]any{"password": "another long password"}, "Cookie", fresh).want(200, "recovery_codes")
	r.anonymous("POST", "/api/two-factor/off", map[string]any{"password": "another long password"}, "Cookie", fresh).want(204)
	r.anonymous("POST", "/api/login", map[string]any{"name": "mira", "password": "another long password"}).want(200, `"authenticated":true`)
}

// A cookie that was known before somebody signed in is worthless afterwards.
func TestSigningInLeavesNothingOfTheSessionBefore(t *testing.T) {
	r := newRig(t)
	r.admin()
	credentials := map[string]any{"name": "mira", "password": password}
	chosen := auth.CookieName + "=" + strings.Repeat("A", 43)
	opened := cookie(r.anonymous("POST", "/api/login", credentials, "Cookie", chosen).want(200))
	if opened == chosen {
		t.Error("the session has the token that the browser brought")
	}
	r.anonymous("GET", "/api/records", nil, "Cookie", chosen).problem(401)
	again := cookie(r.anonymous("POST", "/api/login", credentials, "Cookie", opened).want(200))
	r.anonymous("GET", "/api/records", nil, "Cookie", opened).problem(401)
	r.anonymous("GET", "/api/records", nil, "Cookie", again).want(200)
}

// provided is the API with a provider that lets sub-of-mira in.
func provided(t *testing.T, change func(*oidctest.Config)) (*rig, *oidctest.Server) {
	t.Helper()
	config := oidctest.Config{ClientID: "watchmark", ClientSecret: "secret of the client", Account: oidctest.Account{Subject: "sub-of-mira"}}
	if change != nil {
		change(&config)
	}
	server := oidctest.Start(t, config)
	r := newRig(t, "WATCHMARK_AUTH_OIDC_ISSUER="+server.URL(), "WATCHMARK_AUTH_OIDC_CLIENT_ID=watchmark", "WATCHMARK_AUTH_OIDC_CLIENT_SECRET=secret of the client",
		"WATCHMARK_AUTH_OIDC_ALLOWED=sub-of-mira", "WATCHMARK_AUTH_OIDC_NAME=Home")
	server.Set(func(c *oidctest.Config) { c.RedirectURI = r.url + "/base/api/login/oidc/callback" })
	return r, server
}

// binding is the cookie that a sign-in by the provider began with.
func binding(t *testing.T, got reply) string {
	t.Helper()
	for _, c := range (&http.Response{Header: got.header}).Cookies() {
		if c.Name == "watchmark_oidc" {
			if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/base/api/login/oidc" || c.MaxAge != 600 {
				t.Errorf("the cookie is %v", c)
			}
			return c.Name + "=" + c.Value
		}
	}
	t.Fatalf("no cookie begins the sign-in: %v", got.header)
	return ""
}

// there goes to the provider, and answers the path of the way back.
func (r *rig) there(address string) (path string) {
	r.t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer := must(client.Get(address))(r.t)
	_ = answer.Body.Close()
	path, ours := strings.CutPrefix(answer.Header.Get("Location"), r.url+"/base")
	if !ours {
		r.t.Fatalf("the provider leads to %q", answer.Header.Get("Location"))
	}
	return path
}

func TestProviderSignsIn(t *testing.T) {
	r, _ := provided(t, nil)
	r.admin()
	begun := r.anonymous("POST", "/api/login/oidc", map[string]any{"next": "/records?status=error"}).want(200)
	cookies := binding(t, begun)
	back := r.there(begun.get("authorize_url").(string))
	old := cookie(r.anonymous("POST", "/api/login", map[string]any{"name": "mira", "password": password}).want(200))

	forged := r.anonymous("GET", back, nil).want(303) // another site leads somebody's browser here
	if to := forged.header.Get("Location"); to != "/base/login?problem=state" || cookie(forged) != "" {
		t.Errorf("without the cookie it leads to %s with %v", to, forged.header)
	}
	ended := r.anonymous("GET", back, nil, "Cookie", cookies+"; "+old).want(303)
	if to := ended.header.Get("Location"); to != "/base/records?status=error" {
		t.Errorf("it leads to %s", to)
	}
	session := cookie(ended)
	r.anonymous("GET", "/api/session", nil, "Cookie", session).want(200, `"authenticated":true`, `"name":"mira"`)
	r.anonymous("GET", "/api/records", nil, "Cookie", old).problem(401)
	if to := r.anonymous("GET", back, nil, "Cookie", cookies).want(303).header.Get("Location"); to != "/base/login?problem=state" {
		t.Errorf("the second time it leads to %s", to)
	}
	r.anonymous("POST", "/api/logout", nil, "Cookie", session).want(204)
	r.anonymous("GET", "/api/records", nil, "Cookie", session).problem(401)
	r.do("GET", "/api/login/oidc", nil).want(200, `"on":true`, `"name":"Home"`, `"subject":"sub-of-mira"`, `"allowed":true`, r.url+`/base/api/login/oidc/callback"`)
	r.anonymous("GET", "/api/login/oidc", nil).problem(401)
}

func TestProviderLeadsToPagesOfThisServiceOnly(t *testing.T) {
	r, _ := provided(t, nil)
	r.admin()
	for _, next := range []string{"https://elsewhere.example/", "//elsewhere.example/", "/\\elsewhere.example", "javascript:alert(1)", "/\t/elsewhere.example", ""} {
		begun := r.anonymous("POST", "/api/login/oidc", map[string]any{"next": next}).want(200)
		ended := r.anonymous("GET", r.there(begun.get("authorize_url").(string)), nil, "Cookie", binding(t, begun)).want(303)
		if to := ended.header.Get("Location"); to != "/base/" {
			t.Errorf("next %q leads to %s", next, to)
		}
	}
}

func TestProviderProblemsAreSaid(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*oidctest.Config)
		reason string
	}{
		{"a stranger", func(c *oidctest.Config) { c.Account.Subject = "sub-of-alex" }, "stranger"},
		{"denied", func(c *oidctest.Config) { c.Deny = "access_denied" }, "denied"},
		{"another error", func(c *oidctest.Config) { c.Deny = "server_error" }, "refused"},
		{"a forged token", func(c *oidctest.Config) { c.Token = func(map[string]any) string { return "HS256" } }, "refused"},
		{"keys out of reach", func(c *oidctest.Config) {
			c.Discovery = func(d map[string]any) int { d["jwks_uri"] = "http://127.0.0.1:1/"; return 200 }
		}, "unreachable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, _ := provided(t, c.change)
			r.admin()
			begun := r.anonymous("POST", "/api/login/oidc", nil).want(200)
			ended := r.anonymous("GET", r.there(begun.get("authorize_url").(string)), nil, "Cookie", binding(t, begun)).want(303)
			if to := ended.header.Get("Location"); to != "/base/login?problem="+c.reason || cookie(ended) != "" {
				t.Errorf("it leads to %s with %v", to, ended.header)
			}
		})
	}
	t.Run("nobody has set the service up", func(t *testing.T) {
		r, _ := provided(t, nil)
		begun := r.anonymous("POST", "/api/login/oidc", nil).want(200)
		ended := r.anonymous("GET", r.there(begun.get("authorize_url").(string)), nil, "Cookie", binding(t, begun)).want(303)
		if to := ended.header.Get("Location"); to != "/base/login?problem=no_admin" {
			t.Errorf("it leads to %s", to)
		}
	})
	t.Run("off", func(t *testing.T) { newRig(t).anonymous("POST", "/api/login/oidc", nil).problem(409) })
	t.Run("out of reach", func(t *testing.T) {
		r := newRig(t, "WATCHMARK_AUTH_OIDC_ISSUER=http://127.0.0.1:1", "WATCHMARK_AUTH_OIDC_CLIENT_ID=watchmark")
		r.anonymous("POST", "/api/login/oidc", nil).problem(502)
	})
	t.Run("who is signed in tries it out", func(t *testing.T) {
		r, _ := provided(t, func(c *oidctest.Config) { c.Account.Subject = "sub-of-alex" })
		r.admin()
		session := cookie(r.anonymous("POST", "/api/login", map[string]any{"name": "mira", "password": password}).want(200))
		begun := r.anonymous("POST", "/api/login/oidc", nil, "Cookie", session).want(200)
		ended := r.anonymous("GET", r.there(begun.get("authorize_url").(string)), nil, "Cookie", binding(t, begun)+"; "+session).want(303)
		if to := ended.header.Get("Location"); to != "/base/settings/access?problem=stranger" {
			t.Errorf("it leads to %s", to)
		}
		r.anonymous("GET", "/api/records", nil, "Cookie", session).want(200)
		r.do("PATCH", "/api/settings", map[string]any{"auth": map[string]any{"oidc_name": "Elsewhere"}}).problem(422) // set by the environment
	})
}

// The doors of the provider are open to everybody, so their attempts are counted as those of the password.
func TestProviderDoorsAreBounded(t *testing.T) {
	r, server := provided(t, func(c *oidctest.Config) { c.Account.Subject = "sub-of-alex" })
	r.admin()
	try := func() string {
		begun := r.anonymous("POST", "/api/login/oidc", nil).want(200)
		return r.anonymous("GET", r.there(begun.get("authorize_url").(string)), nil, "Cookie", binding(t, begun)).want(303).header.Get("Location")
	}
	for range 3 {
		if to := try(); to != "/base/login?problem=stranger" {
			t.Fatalf("it leads to %s", to)
		}
	}
	asked := server.Asked("token")
	if to := try(); to != "/base/login?problem=locked" || server.Asked("token") != asked {
		t.Errorf("the fourth time it leads to %s, with the provider asked %d times", to, server.Asked("token"))
	}
	r.anonymous("POST", "/api/login", map[string]any{"name": "mira", "password": password}).problem(429)
}

// TestProviderDoorsShutNobodyElseOut: what a stranger does there, or a page that drives the owner's browser, costs the owner nothing.
func TestProviderDoorsShutNobodyElseOut(t *testing.T) {
	credentials := map[string]any{"name": "mira", "password": password}
	t.Run("no provider", func(t *testing.T) {
		r := newRig(t)
		r.admin()
		for range 40 {
			r.anonymous("POST", "/api/login/oidc", nil).problem(409)
			if to := r.anonymous("GET", "/api/login/oidc/callback?state=x&code=y", nil).want(303).header.Get("Location"); to != "/base/login?problem=off" {
				t.Fatalf("it leads to %s", to)
			}
		}
		r.anonymous("POST", "/api/login", credentials).want(200)
	})
	t.Run("a flood", func(t *testing.T) {
		r, server := provided(t, nil)
		r.admin()
		begun := r.anonymous("POST", "/api/login/oidc", nil).want(200)
		owner := binding(t, begun)
		refused := 0
		for range 40 {
			if got := r.anonymous("POST", "/api/login/oidc", nil); got.status == http.StatusTooManyRequests {
				got.problem(429)
				refused++
			}
			forged := r.anonymous("GET", "/api/login/oidc/callback?state=x&code=y", nil, "Cookie", owner).want(303)
			if to, set := forged.header.Get("Location"), forged.header.Get("Set-Cookie"); to != "/base/login?problem=state" || set != "" {
				t.Fatalf("it leads to %s and sets %q", to, set)
			}
		}
		if refused == 0 || refused == 40 {
			t.Errorf("%d of 40 sign-ins are refused", refused)
		}
		r.anonymous("POST", "/api/login", map[string]any{"name": "mira", "password": "wrong password"}).problem(401)
		r.anonymous("POST", "/api/login", credentials).want(200)
		back := r.there(begun.get("authorize_url").(string))
		for _, headers := range [][]string{{"Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}, {"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, {"Sec-Fetch-Mode", "cors", "Sec-Fetch-Dest", "empty"}} {
			r.anonymous("GET", back, nil, append(headers, "Cookie", owner, "Sec-Fetch-Site", "cross-site")...).problem(403)
		}
		ended := r.anonymous("GET", back, nil, "Cookie", owner, "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document", "Sec-Fetch-Site", "cross-site").want(303)
		if to := ended.header.Get("Location"); to != "/base/" || server.Asked("token") != 1 {
			t.Errorf("it leads to %s", to)
		}
	})
}

// TestTheBrowserOfTheOwnerIsKept from a lock that strangers bring about.
func TestTheBrowserOfTheOwnerIsKept(t *testing.T) {
	r := newRig(t)
	r.admin()
	credentials := map[string]any{"name": "mira", "password": password}
	device := ""
	for _, c := range (&http.Response{Header: r.anonymous("POST", "/api/login", credentials).want(200).header}).Cookies() {
		if c.Name == auth.DeviceCookie {
			device = c.Name + "=" + c.Value
			if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/base/" || c.Expires.Before(time.Now().AddDate(1, 0, 0)) {
				t.Errorf("the cookie is %v", c)
			}
		}
	}
	for range 3 {
		r.anonymous("POST", "/api/login", map[string]any{"name": "mira", "password": "wrong password"}).problem(401)
	}
	r.anonymous("POST", "/api/login", credentials).problem(429)
	r.anonymous("GET", "/api/records", nil, "Cookie", device).problem(401) // it opens nothing
	session := cookie(r.anonymous("POST", "/api/login", credentials, "Cookie", device).want(200))
	r.anonymous("POST", "/api/password", map[string]any{"old": password, "new": "another long password"}, "Cookie", session+"; "+device).want(200)
}

// A provider leads to the public address, where the cookie of another one is not sent.
func TestProviderNeedsThePublicAddress(t *testing.T) {
	r, _ := provided(t, nil)
	r.publicURL = "https://watch.example/base"
	got := r.anonymous("POST", "/api/login/oidc", nil).problem(409)
	if !strings.Contains(got.body, "https://watch.example/base") {
		t.Errorf("it says %s", got.body)
	}
	begun := r.anonymous("POST", "/api/login/oidc", nil, "Host", "watch.example").want(200)
	u := must(url.Parse(begun.get("authorize_url").(string)))(t)
	if got := u.Query().Get("redirect_uri"); got != "https://watch.example/base/api/login/oidc/callback" {
		t.Errorf("the redirect URI is %s", got)
	}
}

// Every door that changes something refuses what a page of another site sends with the session.
func TestPagesOfOtherSitesChangeNothing(t *testing.T) {
	r := newRig(t)
	r.admin()
	session := cookie(r.anonymous("POST", "/api/login", map[string]any{"name": "mira", "password": password}).want(200))
	doors := 0
	for path, item := range r.doc.Paths {
		for method, operation := range map[string]bool{"POST": item.Post != nil, "PUT": item.Put != nil, "PATCH": item.Patch != nil, "DELETE": item.Delete != nil} {
			if !operation || strings.HasPrefix(path, "/webhook/") {
				continue
			}
			doors++
			path := strings.NewReplacer("{id}", "1", "{name}", "x").Replace(path)
			for _, headers := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://elsewhere.example"}, {"Origin", "null"}} {
				if got := r.anonymous(method, path, nil, append(headers, "Cookie", session)...); got.status != http.StatusForbidden {
					t.Errorf("%s %s with %v is answered %d", method, path, headers, got.status)
				}
			}
		}
	}
	if doors < 50 {
		t.Errorf("only %d doors were tried", doors)
	}
}

// Nothing of media servers is told or done without a sign-in.
func TestServersNeedASignIn(t *testing.T) {
	r := newRig(t)
	r.admin()
	doors := 0
	for path, item := range r.doc.Paths {
		if !strings.HasPrefix(path, "/api/servers") && !strings.HasPrefix(path, "/api/tasks/") {
			continue
		}
		for method := range methodsOf(item) {
			doors++
			r.anonymous(method, strings.ReplaceAll(path, "{id}", "1"), nil).want(http.StatusUnauthorized)
			r.anonymous(method, strings.ReplaceAll(path, "{id}", "1"), nil, "Authorization", "Bearer wrong").want(http.StatusUnauthorized)
		}
	}
	if doors < 14 {
		t.Errorf("only %d doors were tried", doors)
	}
}
