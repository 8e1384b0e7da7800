package auth_test

import (
	"net/http"
	"strings"
	"testing"

	"watchmark/internal/door/auth"
)

func TestCrossOrigin(t *testing.T) {
	store, _ := withAdmin(t, t.TempDir(), defaultPolicy)
	key, _, err := store.CreateKey(t.Context(), "script")
	if err != nil {
		t.Fatal(err)
	}
	token, _ := login(t, store)
	cookie := auth.CookieName + "=" + token
	server := service(t, store, true, "")
	tests := []struct {
		name, method, path string
		header             http.Header
		status             int
	}{
		{"same origin", http.MethodPost, "/api/x", headers("Cookie", cookie, "Sec-Fetch-Site", "same-origin"), 200},
		{"other site", http.MethodPost, "/api/x", headers("Cookie", cookie, "Sec-Fetch-Site", "cross-site"), 403},
		{"other port of the host", http.MethodDelete, "/api/x", headers("Cookie", cookie, "Sec-Fetch-Site", "same-site"), 403},
		{"other origin, old browser", http.MethodPost, "/api/x", headers("Cookie", cookie, "Origin", "http://evil.test"), 403},
		{"same origin, old browser", http.MethodPost, "/api/x", headers("Cookie", cookie, "Origin", server.URL), 200},
		{"proxy that changes the host", http.MethodPost, "/api/x", headers("Cookie", cookie, "Origin", "http://nas.test", "X-Forwarded-Host", "nas.test"), 200},
		{"login from another site", http.MethodPost, "/login", headers("Sec-Fetch-Site", "cross-site"), 403},
		{"reading", http.MethodGet, "/api/x", headers("Cookie", cookie, "Sec-Fetch-Site", "cross-site"), 200},
		{"script with a key", http.MethodPost, "/api/x", headers("Authorization", "Bearer "+key, "Origin", "http://evil.test"), 200},
		{"bad key with a session", http.MethodPost, "/api/x", headers("Authorization", "Bearer x", "Cookie", cookie, "Origin", "http://evil.test"), 401},
		{"other scheme with a session", http.MethodPost, "/api/x", headers("Authorization", "Basic x", "Cookie", cookie, "Origin", "http://evil.test"), 403},
		{"webhook", http.MethodPost, "/webhook/plex/key", headers("Origin", "http://evil.test", "Sec-Fetch-Site", "cross-site"), 202},
		{"tool without browser headers", http.MethodPost, "/api/x", headers("Cookie", cookie), 200},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			answer, body := send(t, server, test.method, test.path, test.header, "")
			if answer.StatusCode != test.status {
				t.Fatalf("status %d, want %d: %s", answer.StatusCode, test.status, body)
			}
			if test.status == http.StatusForbidden {
				wantProblem(t, answer, body)
			}
		})
	}
}

func TestSecurityHeaders(t *testing.T) {
	server := service(t, fresh(t), true, "")
	for _, path := range []string{"/", "/api/x", "/webhook/x"} {
		answer, _ := send(t, server, http.MethodGet, path, nil, "")
		for header, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
				"connect-src 'self'; font-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; manifest-src 'self'",
			"X-Content-Type-Options":     "nosniff",
			"Referrer-Policy":            "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin",
		} {
			if got := answer.Header.Get(header); got != want {
				t.Errorf("%s: %s is %q, want %q", path, header, got, want)
			}
		}
		if got := answer.Header.Get("Permissions-Policy"); !strings.Contains(got, "camera=()") {
			t.Errorf("%s: Permissions-Policy is %q", path, got)
		}
	}
}
