package catalog_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/secret"
	"watchmark/internal/testkit/catalogtest"
)

// authorize does what the person's browser does, and gives the code.
func authorize(t *testing.T, c *catalog.Client, app catalog.App) secret.Text {
	t.Helper()
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := browser.Get(c.AuthorizeURL(app, "state 1"))
	must(t, err)
	must(t, resp.Body.Close())
	back, err := url.Parse(resp.Header.Get("Location"))
	must(t, err)
	if back.Query().Get("state") != "state 1" || !strings.HasPrefix(back.String(), app.RedirectURL) {
		t.Fatalf("sent back to %s", back)
	}
	return secret.Text(back.Query().Get("code"))
}

func TestOAuth(t *testing.T) {
	for _, c := range []struct {
		name   string
		asText bool
		newer  bool
	}{{"older server", false, false}, {"newer server", true, true}} {
		t.Run(c.name, func(t *testing.T) {
			s, client := house(t, catalogtest.Config{})
			app := catalog.App{ClientID: "app1", ClientSecret: "the-client-secret", RedirectURL: "https://home.example/cb"}
			s.SetApp(catalogtest.App{
				ClientID: "app1", ClientSecret: "the-client-secret", RedirectURI: app.RedirectURL, Username: "mira",
				ExpiresIn: time.Hour, UserIDAsText: c.asText, NewerErrors: c.newer,
			})
			code := authorize(t, client, app)
			first, err := client.Exchange(t.Context(), app, code)
			if err != nil || first.Refresh == "" || time.Until(first.ExpiresAt) < 50*time.Minute || time.Until(first.ExpiresAt) > time.Hour {
				t.Fatalf("%+v, %v", first, err)
			}
			if me, err := client.As(first.Access).Me(t.Context()); err != nil || me.Username != "mira" {
				t.Error(me, err)
			}
			if _, err := client.Exchange(t.Context(), app, code); !errors.Is(err, catalog.ErrGrantInvalid) {
				t.Errorf("a used code: %v", err)
			}
			second, err := client.Refresh(t.Context(), app, first.Refresh)
			if err != nil || second.Refresh == first.Refresh {
				t.Fatal(err)
			}
			if _, err := client.Refresh(t.Context(), app, first.Refresh); !errors.Is(err, catalog.ErrGrantInvalid) {
				t.Errorf("a used refresh token: %v", err)
			}
			wrong := app
			wrong.ClientSecret = "another"
			if _, err := client.Refresh(t.Context(), wrong, second.Refresh); !errors.Is(err, catalog.ErrRefused) || errors.Is(err, catalog.ErrGrantInvalid) {
				t.Errorf("a wrong secret: %v", err)
			}
		})
	}
}

func TestOAuthFailures(t *testing.T) {
	elsewhere := httptest.NewServer(say(200, asJSON, `{"access_token":"x"}`))
	t.Cleanup(elsewhere.Close)
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		want   error
	}{
		{"invalid grant, older", say(400, asJSON, `{"error":"invalid_grant","error_description":"Invalid refresh token"}`), catalog.ErrGrantInvalid},
		{"invalid grant, newer", say(400, asJSON, `{"code":"INVALID_REFRESH_TOKEN","message":"x"}`), catalog.ErrGrantInvalid},
		{"invalid grant, nested", say(400, asJSON, `{"error":{"type":"invalid_grant"},"message":["x"]}`), catalog.ErrGrantInvalid},
		{"invalid grant, in a description", say(400, asJSON, `{"title":"Bad Request","description":"invalid_grant: used"}`), catalog.ErrGrantInvalid},
		{"invalid grant, as a form", say(400, "text/plain", `error=invalid_grant&error_description=used`), catalog.ErrGrantInvalid},
		{"invalid grant, on a page", say(400, asPage, `<p>invalid_grant</p>`), catalog.ErrGrantInvalid},
		{"unknown app", say(404, asJSON, `{"code":"APP_NONEXISTENCE"}`), catalog.ErrRefused},
		{"wrong redirect", say(400, asJSON, `{"code":"REDIRECT_URI_MISMATCH"}`), catalog.ErrRefused},
		{"client", say(401, asJSON, `{"error":"invalid_client","code":3}`), catalog.ErrRefused},
		{"down", say(502, asPage, `<html>`), catalog.ErrUnreachable},
		{"500", say(500, asJSON, `{"error":"invalid_grant"}`), catalog.ErrUnreachable},
		{"page", say(200, asPage, `<html>`), catalog.ErrUnreachable},
		{"no token", say(200, asJSON, `{}`), catalog.ErrUnreachable},
		{"redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		}, catalog.ErrUnreachable},
	} {
		if _, err := answering(t, c.answer).Refresh(t.Context(), catalog.App{}, "old"); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
