package account_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/secret"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/jobtest"
	"watchmark/internal/testkit/logtest"
)

const (
	callback     = "https://home.example/api/accounts/oauth/callback"
	clientSecret = "the-secret-of-the-application"

	refreshes = "POST /oauth/access_token"
)

// The people of the catalog. Their tokens by hand are "by-hand-of-" and the name.
const (
	miraID = 7
	alexID = 8
)

// rig is a client on a real database and a simulated catalog.
type rig struct {
	t        *testing.T
	list     *catalogtest.Server
	store    *account.Store
	db       *db.DB
	dir      string
	client   *catalog.Client
	accounts *account.Client
	logs     *logtest.Buffer

	// known is set when what an account's list has is known of before.
	known bool

	mu     sync.Mutex
	app    catalog.App
	before func(w http.ResponseWriter, r *http.Request) (answered bool)
}

// newRig starts everything; an application is registered, and mira is signed in at the catalog.
func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, logs: new(logtest.Buffer), app: catalog.App{ClientID: "app1", ClientSecret: clientSecret}}
	r.store, r.db, r.dir = newStore(t)
	r.list = catalogtest.New(catalogtest.Config{AtomicMarks: true, Users: []catalogtest.User{
		{ID: miraID, Username: "mira", Nickname: "Mira", Token: "by-hand-of-mira"},
		{ID: alexID, Username: "alex", Nickname: "Alex", Token: "by-hand-of-alex"},
	}})
	must(t, r.list.LoadSample())
	r.signIn("mira", 7*24*time.Hour)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		before := r.before
		r.mu.Unlock()
		if before == nil || !before(w, req) {
			r.list.ServeHTTP(w, req)
		}
	}))
	t.Cleanup(server.Close)
	masker := &secret.Masker{}
	// The log is not masked by its handler here, unlike the service's: what is written must be clean by itself.
	log := slog.New(slog.NewJSONHandler(r.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	out, err := httpx.New(httpx.Config{PerMinute: 1e6, Burst: 1e6}, masker, log)
	must(t, err)
	t.Cleanup(out.Close)
	r.client, err = catalog.New(catalog.Config{APIURL: server.URL, WebURL: server.URL, UserAgent: catalog.UserAgent("test")}, out, slog.New(slog.DiscardHandler))
	must(t, err)
	_, _, holds := jobtest.New(r.db, slog.New(slog.DiscardHandler))
	r.accounts = account.NewClient(account.ClientConfig{
		Store: r.store, Catalog: r.client, Holds: holds, Subjects: catalog.NewCached(r.client), Marker: catalog.NewMarker(), Known: func(context.Context, int64, catalog.SubjectID) (bool, error) { return r.known, nil }, Left: func(context.Context, int64, catalog.SubjectID) (bool, error) { return false, nil }, Rewatching: func(context.Context, account.Account, catalog.SubjectID) (bool, error) { return false, nil }, Masker: masker, Log: log,
		App: func() catalog.App {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.app
		},
	})
	return r
}

// signIn makes username the one who is signed in at the catalog's website, and access
// tokens that are given out from now on live as long as told.
func (r *rig) signIn(username string, life time.Duration) {
	r.list.SetApp(catalogtest.App{ClientID: "app1", ClientSecret: clientSecret, RedirectURI: callback, Username: username, ExpiresIn: life})
}

// registeredAs changes what the service knows of its registration with the catalog.
func (r *rig) registeredAs(app catalog.App) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.app = app
}

// intercept lets f see each request before the catalog does; nil ends that.
func (r *rig) intercept(f func(w http.ResponseWriter, req *http.Request) (answered bool)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.before = f
}

// count is how many requests of a kind the catalog got.
func (r *rig) count(pattern string) int { return r.list.Requests()[pattern] }

// agree starts the sign-in for the account and does what the person's browser does.
func (r *rig) agree(accountID int64) (state, code string) {
	r.t.Helper()
	address, err := r.accounts.StartOAuth(r.t.Context(), callback, accountID)
	must(r.t, err)
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := browser.Get(address)
	must(r.t, err)
	must(r.t, resp.Body.Close())
	back, err := url.Parse(resp.Header.Get("Location"))
	must(r.t, err)
	if back.Query().Get("code") == "" {
		r.t.Fatalf("the catalog answers %s and leads to %q", resp.Status, back)
	}
	return back.Query().Get("state"), back.Query().Get("code")
}

// connect connects the account, 0 for a new one, by OAuth.
func (r *rig) connect(accountID int64) account.Account {
	r.t.Helper()
	state, code := r.agree(accountID)
	a, err := r.accounts.FinishOAuth(r.t.Context(), state, code)
	must(r.t, err)
	return a
}

// connectFor is a new account of mira whose access token ends after life; tokens that
// come later live a week.
func (r *rig) connectFor(life time.Duration) account.Account {
	r.t.Helper()
	r.signIn("mira", life)
	a := r.connect(0)
	r.signIn("mira", 7*24*time.Hour)
	return a
}

// byHand is an account with the token that username made on the catalog's website.
func (r *rig) byHand(username string, change func(*account.Draft)) account.Account {
	r.t.Helper()
	d := account.Draft{Username: username, Method: account.ByToken, Tokens: account.Tokens{Access: secret.Text("by-hand-of-" + username)}, Enabled: true, CompleteFilms: true}
	if change != nil {
		change(&d)
	}
	a, err := r.store.Create(r.t.Context(), d)
	must(r.t, err)
	return a
}

func (r *rig) account(id int64) account.Account {
	r.t.Helper()
	a, err := r.store.Get(r.t.Context(), id)
	must(r.t, err)
	return a
}

func (r *rig) tokens(id int64) account.Tokens {
	r.t.Helper()
	tokens, err := r.store.Tokens(r.t.Context(), id)
	must(r.t, err)
	return tokens
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
