package app_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"watchmark/internal/catalog/account"
	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/testkit/catalogtest"
)

// TestAWrongTokenIsToldWhenItIsSaved saves tokens by the API.
func TestAWrongTokenIsToldWhenItIsSaved(t *testing.T) {
	s := startEmpty(t, "WATCHMARK_AUTH_ENABLED=false", "WATCHMARK_SERVER_LISTEN=127.0.0.1:1")
	save := func(method, path, body string) account.Account {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		var saved account.Account
		if err := json.NewDecoder(response.Body).Decode(&saved); err != nil || response.StatusCode >= 300 {
			t.Fatalf("%s %s answers %d: %v", method, path, response.StatusCode, err)
		}
		return saved
	}
	for _, c := range []struct {
		name, method, path, body string
		problem                  string // part of it; empty for a token that works
	}{
		{"a wrong one", http.MethodPost, "/api/accounts", `{"username":"mira","access_token":"wrong"}`, "refuses the token"},
		{"the right one", http.MethodPatch, "/api/accounts/1", `{"access_token":"` + miraToken + `"}`, ""},
		{"a wrong one again", http.MethodPatch, "/api/accounts/1", `{"access_token":"wrong"}`, "refuses the token"},
		{"another change", http.MethodPatch, "/api/accounts/1", `{"private":true}`, "refuses the token"},
		{"that of somebody else", http.MethodPatch, "/api/accounts/1", `{"access_token":"` + miraToken + `"}`, ""},
		{"of a new account", http.MethodPost, "/api/accounts", `{"username":"alex","access_token":"` + alexToken + `"}`, ""},
	} {
		saved := save(c.method, c.path, c.body)
		if !strings.Contains(saved.Problem.Text, c.problem) || (saved.Problem.IsZero()) != (c.problem == "") {
			t.Errorf("%s: the problem is %q, want %q", c.name, saved.Problem, c.problem)
		}
		if works := saved.CheckedAt != nil; c.problem == "" && !works {
			t.Errorf("%s: it is not checked", c.name)
		}
	}
	// A catalog that does not answer keeps nobody from saving.
	if err := s.list.SetFault(catalogtest.Fault{Mode: catalogtest.Refuse}); err != nil {
		t.Fatal(err)
	}
	if saved := save(http.MethodPatch, "/api/accounts/1", `{"access_token":"`+miraToken+`"}`); !saved.Problem.IsZero() || !saved.HasToken {
		t.Errorf("while the catalog is away, it answers %+v", saved)
	}
}

func TestBrowserTellsOfAWrongTokenWhenItIsSaved(t *testing.T) {
	tab := browsertest.Start(t)
	s := startEmpty(t, "WATCHMARK_AUTH_ENABLED=false", "WATCHMARK_SERVER_LISTEN=127.0.0.1:1")
	browsertest.Run(t, tab, chromedp.Navigate(s.url+"/people"), browsertest.Until(browsertest.Listening),
		browsertest.Type("#username-new", "mira"), browsertest.Type("#token-new", "wrong"), browsertest.Click("#by-token .primary"),
		browsertest.Until(browsertest.Says("#toasts", "Saved, but the token does not work.")), browsertest.Until(browsertest.Says("#account-1", "Bangumi refuses the token")))
}
