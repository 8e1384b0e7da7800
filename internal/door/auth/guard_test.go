package auth_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/door/auth"
	"watchmark/internal/platform/db"
	"watchmark/internal/testkit/logtest"
)

// testGuard is a guard and what it let through last.
type testGuard struct {
	auth.Guard
	handler http.Handler
	seen    auth.Identity
}

func newGuard(store *auth.Store) *testGuard {
	g := &testGuard{Guard: auth.Guard{
		Store: store, Enabled: func() bool { return true }, Log: slog.New(slog.DiscardHandler),
	}}
	g.handler = g.Authenticate(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		g.seen, _ = auth.IdentityOf(r.Context())
	}))
	return g
}

// serve sends a request with the session cookie through Authenticate.
func (g *testGuard) serve(t *testing.T, token string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	r.AddCookie(&http.Cookie{Name: auth.CookieName, Value: token})
	g.seen = auth.Identity{}
	w := httptest.NewRecorder()
	g.handler.ServeHTTP(w, r)
	return w
}

// call is what the session cookie makes of the caller; empty for nobody.
func (g *testGuard) call(t *testing.T, token string) auth.Kind {
	t.Helper()
	g.serve(t, token)
	return g.seen.Kind
}

// bearer is what the API key makes of the caller.
func (g *testGuard) bearer(t *testing.T, key string) auth.Identity {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/x", nil)
	r.Header.Set("Authorization", "Bearer "+key)
	g.seen = auth.Identity{}
	g.handler.ServeHTTP(httptest.NewRecorder(), r)
	return g.seen
}

// service is a running server put together as the real one is.
func service(t *testing.T, store *auth.Store, enabled bool, basePath string) *httptest.Server {
	t.Helper()
	guard := &auth.Guard{
		Store: store, Enabled: func() bool { return enabled }, BasePath: basePath, Log: slog.New(slog.DiscardHandler),
		PublicURL: func() string { return "https://watch.example/here" },
	}
	hello := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, _ := auth.IdentityOf(r.Context())
		_, _ = io.WriteString(w, string(id.Kind)+" "+id.Name)
	})
	mux := http.NewServeMux()
	known := func(refuse http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if _, known := auth.IdentityOf(r.Context()); !known {
				refuse(w, r)
				return
			}
			hello(w, r)
		}
	}
	mux.HandleFunc("/api/", known(auth.RefuseAPI))
	mux.HandleFunc("/", known(guard.ToLogin))
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		opened, err := store.Login(r.Context(), r.FormValue("name"), r.FormValue("password"), "", auth.Visitor{Addr: auth.ClientOf(r.Context()).Addr, UserAgent: r.UserAgent()})
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		http.SetCookie(w, guard.SessionCookie(r.Context(), opened.Token, opened.Expires))
	})
	mux.HandleFunc("POST /logout", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, guard.EndCookie(r.Context()))
	})
	outer := http.NewServeMux()
	outer.Handle("/", guard.Authenticate(mux))
	outer.HandleFunc("/webhook/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) })
	proxies, err := auth.ParseProxies([]string{"127.0.0.0/8", "::1"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(auth.Clients(func() auth.Proxies { return proxies },
		auth.SecurityHeaders(auth.CrossOrigin(outer, "/webhook/"))))
	t.Cleanup(server.Close)
	server.Client().CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return server
}

// send sends a request with the headers and returns the answer with its body.
func send(t *testing.T, server *httptest.Server, method, path string, header http.Header, body string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		r.Header[name] = values
	}
	r.Host = header.Get("Host") // of the server's address when it is empty
	answer, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := answer.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return answer, string(content)
}

func headers(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

func TestGuard(t *testing.T) {
	store, _ := withAdmin(t, t.TempDir(), defaultPolicy)
	key, _, err := store.CreateKey(t.Context(), "script")
	if err != nil {
		t.Fatal(err)
	}
	token, _ := login(t, store)
	cookie := auth.CookieName + "=" + token
	server := service(t, store, true, "")
	tests := []struct {
		name, path string
		header     http.Header
		status     int
		body       string
	}{
		{"page for nobody goes to login", "/records?status=error", nil, http.StatusSeeOther, ""},
		{"API for nobody", "/api/records", nil, http.StatusUnauthorized, "problem"},
		{"API with session", "/api/records", headers("Cookie", cookie), http.StatusOK, "session mira"},
		{"page with session", "/records", headers("Cookie", cookie), http.StatusOK, "session mira"},
		{"API with key", "/api/records", headers("Authorization", "Bearer "+key), http.StatusOK, "apikey script"},
		{"scheme in lower case", "/api/records", headers("Authorization", "bearer "+key), http.StatusOK, "apikey script"},
		{"key wins over session", "/api/records", headers("Authorization", "Bearer "+key, "Cookie", cookie), http.StatusOK, "apikey script"},
		{"bad key with good session", "/api/records", headers("Authorization", "Bearer wm_bad", "Cookie", cookie), http.StatusUnauthorized, "problem"},
		{"bad key on a page", "/records", headers("Authorization", "Bearer "+strings.Replace(key, "wm_", "xx_", 1)), http.StatusUnauthorized, "problem"},
		{"empty key with good session", "/api/records", headers("Authorization", "Bearer", "Cookie", cookie), http.StatusUnauthorized, "problem"},
		{"session token as key", "/api/records", headers("Authorization", "Bearer "+token), http.StatusUnauthorized, "problem"},
		{"key as session", "/api/records", headers("Cookie", auth.CookieName+"="+key), http.StatusUnauthorized, "problem"},
		{"password of a proxy is none of ours", "/api/records", headers("Authorization", "Basic bWlyYTp4", "Cookie", cookie), http.StatusOK, "session mira"},
		{"unknown session", "/api/records", headers("Cookie", auth.CookieName+"="+strings.Repeat("A", 43)), http.StatusUnauthorized, "problem"},
		{"page still open to a session afterwards", "/records", headers("Cookie", cookie), http.StatusOK, "session mira"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			answer, body := send(t, server, http.MethodGet, test.path, test.header, "")
			if answer.StatusCode != test.status {
				t.Fatalf("status %d, want %d: %s", answer.StatusCode, test.status, body)
			}
			if test.body == "problem" {
				wantProblem(t, answer, body)
			} else if test.body != body && test.body != "" {
				t.Errorf("body %q, want %q", body, test.body)
			}
			if strings.Contains(body, key) || strings.Contains(body, token) {
				t.Error("the answer contains a secret")
			}
		})
	}
}

func wantProblem(t *testing.T, answer *http.Response, body string) {
	t.Helper()
	var got struct {
		Type, Title, Detail string
		Status              int
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	if answer.Header.Get("Content-Type") != "application/problem+json" || got.Status != answer.StatusCode ||
		got.Title == "" || got.Detail == "" || got.Type != "about:blank" {
		t.Errorf("not a problem document: %s", body)
	}
	if answer.StatusCode == http.StatusUnauthorized && answer.Header.Get("WWW-Authenticate") == "" {
		t.Error("401 without WWW-Authenticate")
	}
}

// TestARequestEndsWithWhatLetItIn: a stream of somebody who signed out elsewhere, or was removed, does not go on for a moment.
func TestARequestEndsWithWhatLetItIn(t *testing.T) {
	ways := map[string]func(ctx context.Context, store *auth.Store, d *db.DB, person int64, token string) error{
		"signed out": func(ctx context.Context, store *auth.Store, _ *db.DB, _ int64, token string) error {
			return store.Logout(ctx, token)
		},
		"a new password": func(ctx context.Context, store *auth.Store, _ *db.DB, _ int64, _ string) error {
			return store.SetPassword(ctx, "alex", "another long password")
		},
		"a guest": func(ctx context.Context, store *auth.Store, _ *db.DB, person int64, _ string) error {
			guest := auth.RoleGuest
			_, err := store.ChangePerson(ctx, person, auth.PersonChange{Role: &guest})
			return err
		},
		"removed": func(ctx context.Context, store *auth.Store, d *db.DB, person int64, _ string) error {
			err := d.Write(ctx, func(ctx context.Context, tx *sql.Tx) error { return store.RemovePersonTx(ctx, tx, person) })
			store.Ended(ctx)
			return err
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, d := withAdmin(t, t.TempDir(), defaultPolicy)
				alex, err := store.AddPerson(t.Context(), auth.PersonDraft{Name: "alex", Role: auth.RolePerson})
				if err != nil {
					t.Fatal(err)
				}
				invitation, _, err := store.Invite(t.Context(), alex.ID)
				if err != nil {
					t.Fatal(err)
				}
				opened, err := store.Accept(t.Context(), invitation, password, auth.Visitor{})
				if err != nil {
					t.Fatal(err)
				}
				began, ended := make(chan struct{}), make(chan time.Duration)
				g := newGuard(store)
				handler := g.Authenticate(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					start := time.Now()
					close(began)
					<-r.Context().Done()
					ended <- time.Since(start)
				}))
				r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/live", nil)
				r.AddCookie(&http.Cookie{Name: auth.CookieName, Value: opened.Token})
				go handler.ServeHTTP(httptest.NewRecorder(), r)
				<-began
				time.Sleep(time.Minute + time.Second) // it is not asked just now
				if err := way(t.Context(), store, d, alex.ID, opened.Token); err != nil {
					t.Fatal(err)
				}
				if after := <-ended; after != time.Minute+time.Second {
					t.Errorf("it ended after %v", after)
				}
			})
		})
	}
}

// TestWhoChangesThePasswordIsAnswered: the request that ends the session it came by goes on to its answer.
func TestWhoChangesThePasswordIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, _ := withAdmin(t, t.TempDir(), defaultPolicy)
		token, _ := login(t, store)
		g := newGuard(store)
		handler := g.Authenticate(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if _, err := store.ChangePassword(r.Context(), admin, password, "another long password", auth.Visitor{Session: token}); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			if err := r.Context().Err(); err != nil {
				t.Errorf("before the answer: %v", err)
			}
		}))
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/password", nil)
		r.AddCookie(&http.Cookie{Name: auth.CookieName, Value: token})
		handler.ServeHTTP(httptest.NewRecorder(), r)
	})
}

// TestAPassingErrorOfTheDatabaseEndsNoRequest: an upload that takes minutes goes on while nobody can tell who sends it,
// and ends once it is known that he is signed out.
func TestAPassingErrorOfTheDatabaseEndsNoRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, d := withAdmin(t, t.TempDir(), defaultPolicy)
		token, _ := login(t, store)
		rename := func(from, to string) {
			t.Helper()
			err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
				_, err := tx.ExecContext(ctx, "ALTER TABLE "+from+" RENAME TO "+to)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		began, ended := make(chan struct{}), make(chan struct{})
		g := newGuard(store)
		var log logtest.Buffer
		g.Log = slog.New(slog.NewTextHandler(&log, nil))
		handler := g.Authenticate(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			close(began)
			<-r.Context().Done()
			close(ended)
		}))
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/upload", nil)
		r.AddCookie(&http.Cookie{Name: auth.CookieName, Value: token})
		go handler.ServeHTTP(httptest.NewRecorder(), r)
		<-began
		rename("sessions", "away")
		time.Sleep(time.Minute)
		select {
		case <-ended:
			t.Fatal("the request was ended while the database could not tell who is calling")
		default:
		}
		if !strings.Contains(log.String(), "whether a caller is still known") {
			t.Errorf("log: %s", log.String())
		}
		rename("away", "sessions")
		if err := store.Logout(t.Context(), token); err != nil {
			t.Fatal(err)
		}
		<-ended
	})
}

func TestStrangersAreBoundedByAddress(t *testing.T) {
	store, _ := withAdmin(t, t.TempDir(), defaultPolicy)
	token, _ := login(t, store)
	known := newGuard(store)
	for range 200 {
		if w := known.serve(t, token); w.Code != http.StatusOK {
			t.Fatalf("who is signed in is answered %d", w.Code)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(store)
		handler := auth.Clients(func() auth.Proxies { return auth.Proxies{} }, g.handler)
		ask := func(address string) int {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			r.RemoteAddr = address
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			return w.Code
		}
		refused := func(address string) (n int) {
			for range 200 {
				if ask(address) == http.StatusTooManyRequests {
					n++
				}
			}
			return n
		}
		if got := refused("[2001:db8::1]:4000"); got != 50 {
			t.Errorf("%d of 200 requests at once are refused, want 50", got)
		}
		if got := ask("[2001:db8::2]:4000"); got != http.StatusTooManyRequests {
			t.Errorf("a neighbour of the same network is answered %d", got)
		}
		if got := ask("192.0.2.1:4000"); got != http.StatusOK {
			t.Errorf("another address is answered %d", got)
		}
		time.Sleep(5 * time.Second) // of the bubble
		if got := refused("[2001:db8::1]:4000"); got != 150 {
			t.Errorf("%d of 200 requests are refused after five seconds, want 150", got)
		}
	})
}

func TestToLogin(t *testing.T) {
	server := service(t, fresh(t), true, "/watchmark")
	tests := []struct {
		name, method, path string
		header             http.Header
		status             int
		location           string
	}{
		{"keeps the page", http.MethodGet, "/records?status=error&q=あ", nil, 303, "/watchmark/login?next=%2Frecords%3Fstatus%3Derror%26q%3D%E3%81%82"},
		{"start page needs no next", http.MethodGet, "/", nil, 303, "/watchmark/login"},
		{"form is not repeated", http.MethodPost, "/records", nil, 303, "/watchmark/login"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			answer, _ := send(t, server, test.method, test.path, test.header, "")
			location := answer.Header.Get("Location")
			if answer.StatusCode != test.status || location != test.location {
				t.Errorf("%d to %q, want %d to %q", answer.StatusCode, location, test.status, test.location)
			}
			if answer.Header.Get("Cache-Control") != "no-store" {
				t.Error("the redirect may be cached")
			}
		})
	}
}

func TestOpenServiceAsksNobody(t *testing.T) {
	server := service(t, fresh(t), false, "")
	for _, header := range []http.Header{nil, headers("Authorization", "Bearer wm_bad"), headers("Cookie", auth.CookieName+"=x")} {
		answer, body := send(t, server, http.MethodGet, "/api/records", header, "")
		if answer.StatusCode != http.StatusOK || body != "open " {
			t.Errorf("%v: %d %q", header, answer.StatusCode, body)
		}
	}
	for host, status := range map[string]int{
		"127.0.0.1:8787": 200, "[::1]:8787": 200, "192.168.1.5": 200, "nas": 200, "localhost:8787": 200, "NAS.local": 200, "watch.example": 200, "Watch.Example:443": 200,
		"evil.example": 403, "evil.example:8787": 403, "watch.example.evil.example": 403, "local.evil.example": 403, "127.0.0.1.evil.example": 403,
	} {
		for way, header := range map[string]http.Header{
			"asked for":                   headers("Host", host),
			"told by a proxy":             headers("X-Forwarded-Host", host),
			"asked for, and another told": headers("Host", host, "X-Forwarded-Host", "localhost"), // a page may send that header to itself
		} {
			answer, body := send(t, server, http.MethodGet, "/api/records", header, "")
			if answer.StatusCode != status {
				t.Errorf("%s, %s, is answered %d %q", host, way, answer.StatusCode, body)
			}
		}
	}
}

func TestLoginOverHTTP(t *testing.T) {
	store, d := withAdmin(t, t.TempDir(), defaultPolicy)
	form := url.Values{"name": {admin}, "password": {password}}.Encode()
	for _, test := range []struct {
		name, basePath, proto, path string
		secure                      bool
	}{
		{"plain", "", "", "/", false},
		{"behind a proxy with TLS", "/watchmark", "https", "/watchmark/", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := service(t, store, true, test.basePath)
			header := headers("Content-Type", "application/x-www-form-urlencoded", "User-Agent", "browser/1",
				"X-Forwarded-For", "192.0.2.44", "X-Forwarded-Proto", test.proto)
			answer, body := send(t, server, http.MethodPost, "/login", header, form)
			if answer.StatusCode != http.StatusOK || len(answer.Cookies()) != 1 {
				t.Fatalf("login answered %d: %s", answer.StatusCode, body)
			}
			cookie := answer.Cookies()[0]
			if !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Secure != test.secure || cookie.Path != test.path ||
				cookie.Domain != "" || cookie.Expires.Before(time.Now().Add(29*24*time.Hour)) {
				t.Errorf("cookie %s", cookie)
			}
			if _, body := send(t, server, http.MethodGet, "/api/x", headers("Cookie", auth.CookieName+"="+cookie.Value), ""); body != "session mira" {
				t.Errorf("with the cookie: %q", body)
			}
			var remote, agent string
			if err := d.Read().QueryRow(`SELECT remote, user_agent FROM sessions ORDER BY created_at DESC`).Scan(&remote, &agent); err != nil {
				t.Fatal(err)
			}
			if remote != "192.0.2.44" || agent != "browser/1" {
				t.Errorf("session of %q with %q", remote, agent)
			}
			answer, _ = send(t, server, http.MethodPost, "/logout", nil, "")
			if cookies := answer.Cookies(); len(cookies) != 1 || cookies[0].MaxAge >= 0 || cookies[0].Value != "" || cookies[0].Path != test.path {
				t.Errorf("logout sets %v", cookies)
			}
		})
	}
}

func TestUnreadableDatabaseLetsNobodyIn(t *testing.T) {
	store, d := withAdmin(t, t.TempDir(), defaultPolicy)
	token, _ := login(t, store)
	guard := newGuard(store)
	var log strings.Builder
	guard.Log = slog.New(slog.NewTextHandler(&log, nil))
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	w := guard.serve(t, token)
	wantProblem(t, w.Result(), w.Body.String())
	if w.Code != http.StatusServiceUnavailable || guard.seen.Kind != "" {
		t.Errorf("status %d, identity %+v", w.Code, guard.seen)
	}
	if !strings.Contains(log.String(), "check who is calling") || strings.Contains(log.String(), token) {
		t.Errorf("log: %s", log.String())
	}
}

func TestLocalPath(t *testing.T) {
	for next, want := range map[string]string{
		"/records?status=error":         "/records?status=error",
		"/":                             "/",
		"/?q=http://x.test/":            "/?q=http://x.test/",
		"":                              "/",
		"records":                       "/",
		"//evil.test":                   "/",
		"///evil.test":                  "/",
		`/\evil.test`:                   "/",
		"/\t/evil.test":                 "/",
		"/\n/evil.test":                 "/",
		"https://evil.test/":            "/",
		"javascript:alert(1)":           "/",
		" /records":                     "/",
		"/%zz":                          "/",
		"/" + strings.Repeat("x", 3000): "/",
	} {
		if got := auth.LocalPath(next); got != want {
			t.Errorf("LocalPath(%q) = %q, want %q", next, got, want)
		}
	}
}

func FuzzLocalPath(f *testing.F) {
	for _, seed := range []string{"/records?x=1", "//evil.test", `/\evil.test`, "/a/..//evil.test", "/%2f/evil.test", "/@evil.test", "/:80"} {
		f.Add(seed)
	}
	page, err := url.Parse("https://host.test/login")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, next string) {
		got := auth.LocalPath(next)
		// Browsers strip tabs and line breaks and take a backslash for a slash.
		seen := strings.NewReplacer("\t", "", "\n", "", "\r", "", `\`, "/").Replace(strings.TrimSpace(got))
		target, err := page.Parse(seen)
		if err != nil || target.Host != page.Host || target.Scheme != page.Scheme || !strings.HasPrefix(got, "/") {
			t.Errorf("LocalPath(%q) = %q leads to %v (%v)", next, got, target, err)
		}
	})
}

func TestIdentityOfNobody(t *testing.T) {
	if id, known := auth.IdentityOf(context.Background()); known {
		t.Errorf("identity %+v", id)
	}
}
