// Package trackertest is a tracker in a process: it answers as upstreams/tracker.md
// says the real one does, traps included, so that tests and `watchmark simulate` need
// no network and no account.
//
// A Server is an http.Handler for both of its hosts: the sign-in (/auth/…, /api/auth/…,
// /oauth/…) and the data (/sync/…, /users/…, /shows/…, /movies/…) share one address.
// Refresh tokens work once, access tokens expire, a new mail voids the old code. It
// counts every request and misbehaves on command (SetFault, SetAnswer, SetPaging). /_sim/… steers
// and inspects it. Everything is kept in memory.
package trackertest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"time"

	"watchmark/internal/testkit/simulated"
)

// Config says who uses the tracker and which clients it knows.
type Config struct {
	// Clients may ask for tokens; without any, nobody can sign in.
	Clients []Client
	Users   []User
	// AccessLife is the life of access tokens; 0 is 7 days.
	AccessLife time.Duration
	// Now is the clock of codes, tokens and stamps; nil is time.Now. It must be safe for parallel use.
	Now func() time.Time
}

// Client is one that tokens are given to.
type Client struct {
	ID string
	// Secret is empty for a public client, which proves itself by a verifier.
	Secret string
	// RedirectURI is compared exactly.
	RedirectURI string
}

// User is a person with an account.
type User struct {
	Email string
	Name  string
	UUID  string
}

// Server is the tracker. It is safe for parallel use.
type Server struct {
	cfg    Config
	mux    *http.ServeMux
	faults faults

	mu       sync.Mutex
	answer   Answer
	paging   Paging
	logins   map[string]login  // by address
	cookies  map[string]string // of who is signed in; whose address
	codes    map[string]grant
	access   map[string]grant
	refresh  map[string]grant
	devices  map[string]device
	plays    map[string][]Play // by address, newest first
	titles   map[string]Title  // by kind and id
	stamps   map[string]time.Time
	requests map[string]int
}

// New is a tracker with the users and clients of cfg.
func New(cfg Config) *Server {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.AccessLife == 0 {
		cfg.AccessLife = 7 * 24 * time.Hour
	}
	s := &Server{
		cfg: cfg, mux: http.NewServeMux(), logins: map[string]login{}, cookies: map[string]string{}, codes: map[string]grant{},
		access: map[string]grant{}, refresh: map[string]grant{}, devices: map[string]device{}, plays: map[string][]Play{},
		titles: map[string]Title{}, stamps: map[string]time.Time{}, requests: map[string]int{},
	}
	s.mux.HandleFunc("POST /auth/magic", s.sendMail)
	s.mux.HandleFunc("POST /auth/magic/submit", s.submit)
	s.mux.HandleFunc("GET /api/auth/oauth2/authorize", s.authorizeByCookie)
	s.mux.HandleFunc("GET /oauth/authorize", s.authorizeApp)
	s.mux.HandleFunc("POST /oauth/token", s.token)
	s.mux.HandleFunc("POST /oauth/revoke", s.revoke)
	s.mux.HandleFunc("POST /oauth/device/code", s.deviceCode)
	s.mux.HandleFunc("POST /oauth/device/token", s.deviceToken)
	s.data("GET /users/settings", s.settings)
	s.data("GET /sync/last_activities", s.lastActivities)
	s.data("GET /sync/history", s.history)
	s.data("GET /shows/{id}", s.summary)
	s.data("GET /movies/{id}", s.summary)
	s.data("GET /shows/{id}/translations/{lang}", s.translations)
	s.data("GET /movies/{id}/translations/{lang}", s.translations)
	s.mux.HandleFunc("GET /_sim/mail", func(w http.ResponseWriter, r *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"otp": s.LastCode(r.URL.Query().Get("email"))})
	})
	s.mux.HandleFunc("POST /_sim/plays", s.takePlays)
	s.mux.HandleFunc("POST /_sim/fault", s.takeFault)
	s.mux.HandleFunc("POST /_sim/answer", s.takeAnswer)
	s.mux.HandleFunc("POST /_sim/approve", s.takeApproval)
	s.mux.HandleFunc("POST /_sim/expire", func(w http.ResponseWriter, _ *http.Request) {
		s.ExpireAccess()
		w.WriteHeader(http.StatusNoContent)
	})
	s.mux.HandleFunc("POST /_sim/revoke", func(w http.ResponseWriter, _ *http.Request) {
		s.RevokeAll()
		w.WriteHeader(http.StatusNoContent)
	})
	return s
}

// maxBody bounds request bodies.
const maxBody = 4 << 20

// ServeHTTP answers one request as the tracker, or as the fault in force says.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		http.Error(w, "cannot read the body", http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	_, pattern := s.mux.Handler(r)
	s.mu.Lock()
	s.requests[pattern]++
	s.mu.Unlock()
	s.faults.serve(w, r, s.mux)
}

// Requests counts what arrived, refused and faulted requests included, by method and
// path pattern such as "POST /oauth/token".
func (s *Server) Requests() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := make(map[string]int, len(s.requests))
	for pattern, n := range s.requests {
		counts[pattern] = n
	}
	return counts
}

// Listen serves s on addr, such as 127.0.0.1:0 for a free port, until stop is called; ctx
// bounds the opening alone. url has no slash at the end.
func (s *Server) Listen(ctx context.Context, addr string) (url string, stop func(), err error) {
	return simulated.Listen(ctx, s, addr)
}

// Start serves a tracker for one test on a free port of the loopback.
func Start(tb simulated.TB, cfg Config) (s *Server, baseURL string) {
	tb.Helper()
	s = New(cfg)
	return s, simulated.Start(tb, s)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that went away needs none
}

func fail(w http.ResponseWriter, status int, kind, description string) {
	writeJSON(w, status, map[string]string{"error": kind, "error_description": description})
}
