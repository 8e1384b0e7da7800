// Package catalogtest is a catalog in a process: it answers as
// upstreams/catalog.md says the real one does, traps included, so that tests,
// `watchmark demo` and `watchmark simulate` need no network and touch nobody's list.
//
// A Server is an http.Handler. Its data comes from a weekly dump (LoadDump), from
// the embedded sample (LoadSample) or from Go values (AddSubject, AddEpisodes,
// AddRelation). It counts every request, records every write that was applied,
// and breaks down on command (SetFault). Everything is kept in memory.
//
// The API (/v0/…), the legacy search (/search/subject/…), the website's OAuth (/oauth/…)
// and the image host (/pic/…, /r/…) share one address here. /_sim/… steers and inspects the simulator
// and is never subject to faults.
package catalogtest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/simulated"
)

// Config says who may use the catalog and which of its habits are switched.
type Config struct {
	// Users own the tokens that are valid from the start; SetUser adds more.
	Users []User
	// AtomicMarks makes parallel episode writes of one user and subject safe. The
	// real catalog loses some of them (upstreams/catalog.md section 12), so the
	// zero value does too.
	AtomicMarks bool
	// WriteTime is how long a write takes from what it has read to what it replaces; nil is 2 ms for episodes and nothing
	// for the entry.
	WriteTime func() time.Duration
	// Linger is how much longer a write takes whose client went in that time: the real catalog goes on without it for up to
	// a minute (upstreams/catalog.md section 4). nil is no longer.
	Linger func() time.Duration
	// Filter are words that have an entry whose comment or tags hold one seen by its owner only.
	Filter []string
	// SearchOff makes the new search answer 200 with plain text (upstreams/catalog.md section 6).
	SearchOff bool
	// Now is the clock of tokens, codes and time stamps; nil is time.Now. It must be safe for parallel use.
	Now func() time.Time
}

// User is a person with an account. The zero flags describe an ordinary old account.
type User struct {
	// ID is given out from 1 when 0.
	ID int
	// Username is the ID as text when empty, as for people who never picked one.
	Username string
	Nickname string
	// Token is a personal access token that never expires; empty for none.
	Token string
	// Young is an account of less than 60 days: NSFW subjects do not exist for it.
	Young bool
	// NoWriteScope makes every collection write answer 403.
	NoWriteScope bool
	// Banned makes collection writes answer 403; episode marks still pass.
	Banned bool
}

// seesNSFW reports whether NSFW subjects exist for u, who is nil for an anonymous caller.
func (u *User) seesNSFW() bool { return u != nil && !u.Young }

// Server is the catalog. It is safe for parallel use.
type Server struct {
	cfg     Config
	mux     *http.ServeMux
	control *http.ServeMux
	faults  faults
	data    data
	people  people
	lists   lists

	countMu  sync.Mutex
	requests map[string]int
}

// New makes an empty catalog with the users of cfg.
func New(cfg Config) *Server {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Server{cfg: cfg, mux: http.NewServeMux(), control: http.NewServeMux(), requests: map[string]int{}}
	s.data.init()
	s.people.init()
	s.lists.clear()
	for _, user := range cfg.Users {
		s.SetUser(user)
	}

	s.api("POST /v0/search/subjects", s.searchSubjects)
	s.api("GET /search/subject/{keywords}", s.legacySearch)
	s.api("GET /v0/subjects/{id}", s.getSubject)
	s.api("GET /v0/subjects/{id}/subjects", s.getRelations)
	s.api("GET /v0/episodes", s.listEpisodes)
	s.api("GET /v0/episodes/{id}", s.getEpisode)
	s.api("GET /v0/me", s.getMe)
	s.api("GET /v0/users/{username}/collections", s.listCollections)
	s.api("GET /v0/users/{username}/collections/{id}", s.getCollection)
	s.api("POST /v0/users/-/collections/{id}", s.write(s.writeCollection))
	s.api("PATCH /v0/users/-/collections/{id}", s.write(s.writeCollection))
	s.api("GET /v0/users/-/collections/{id}/episodes", s.listMarks)
	s.api("PATCH /v0/users/-/collections/{id}/episodes", s.write(s.patchMarks))
	s.api("GET /v0/users/-/collections/-/episodes/{id}", s.getMark)
	s.api("PUT /v0/users/-/collections/-/episodes/{id}", s.write(s.putMark))
	s.api("/", func(w http.ResponseWriter, r *http.Request, _ *User) {
		fail(w, r, http.StatusNotFound, "this is the default answer: no such path")
	})
	s.mux.HandleFunc("GET /oauth/authorize", s.authorize)
	s.mux.HandleFunc("POST /oauth/access_token", s.accessToken)
	s.routeImages()
	s.routeControl()
	return s
}

// maxBody bounds request bodies; the largest honest one is a batch of episode ids.
const maxBody = 1 << 20

// ServeHTTP answers one request as the catalog, or as the fault in force says.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The body is read first: net/http notices that a client is gone only after
	// that, and a hanging answer has to notice.
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		fail(w, r, http.StatusBadRequest, "can't read the request body")
		return
	}
	if len(body) > maxBody {
		fail(w, r, http.StatusRequestEntityTooLarge, "request body too large")
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))

	if strings.HasPrefix(r.URL.Path, "/_sim/") {
		s.control.ServeHTTP(w, r)
		return
	}
	_, pattern := s.mux.Handler(r)
	s.countMu.Lock()
	s.requests[pattern]++
	s.countMu.Unlock()
	s.faults.serve(w, r, pattern, s.mux)
}

// Listen serves s on addr, such as 127.0.0.1:0 for a free port, until stop is called, which ends
// when all requests in hand have; ctx bounds the opening alone. url is the base address of the API and
// of the website alike, without a slash at the end.
func (s *Server) Listen(ctx context.Context, addr string) (url string, stop func(), err error) {
	return simulated.Listen(ctx, s, addr)
}

// Start makes a catalog for one test, served on a free port of the loopback until the test ends.
func Start(tb simulated.TB, cfg Config) (s *Server, baseURL string) {
	tb.Helper()
	s = New(cfg)
	return s, simulated.Start(tb, s)
}

// Requests counts what arrived since the start or the last Reset, refused and
// faulted requests included, by method and path pattern such as
// "GET /v0/subjects/{id}" or "POST /v0/search/subjects".
func (s *Server) Requests() map[string]int {
	s.countMu.Lock()
	defer s.countMu.Unlock()
	counts := make(map[string]int, len(s.requests))
	for pattern, n := range s.requests {
		counts[pattern] = n
	}
	return counts
}

// Reset forgets lists, marks, counters and the fault in force. Subjects, users and tokens stay.
func (s *Server) Reset() {
	s.faults.clear()
	s.lists.clear()
	s.data.forgetPermittedReads()
	s.countMu.Lock()
	defer s.countMu.Unlock()
	clear(s.requests)
}

// handler answers a call of who, nil for an anonymous caller.
type handler func(w http.ResponseWriter, r *http.Request, who *User)

// api registers a path behind the checks that every API call passes: the
// User-Agent, then the token (upstreams/catalog.md sections 2 and 3).
func (s *Server) api(pattern string, next handler) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Server-Version", "catalogtest")
		w.Header().Set("X-Process-Time-Ms", "1")
		if refusal := refusedAgent(r.UserAgent()); refusal != "" {
			fail(w, r, http.StatusForbidden, refusal)
			return
		}
		who, problem := s.caller(r)
		if problem != "" {
			fail(w, r, http.StatusUnauthorized, problem)
			return
		}
		next(w, r, who)
	})
}

// write adds the checks of collection writes in the real order: content type,
// login, scope; the body comes after (upstreams/catalog.md section 3).
func (s *Server) write(next handler) handler {
	return func(w http.ResponseWriter, r *http.Request, who *User) {
		switch r.Header.Get("Content-Type") {
		case "application/json", "application/json; charset=UTF-8":
		default:
			fail(w, r, http.StatusUnsupportedMediaType, "need content-type to be application/json")
			return
		}
		if who == nil {
			fail(w, r, http.StatusUnauthorized, "this API need authorization")
			return
		}
		if who.NoWriteScope {
			fail(w, r, http.StatusForbidden, "insufficient token scope")
			return
		}
		next(w, r, who)
	}
}

// caller is who the token belongs to, nil without an Authorization header;
// problem is why the header is refused, empty when it is not.
func (s *Server) caller(r *http.Request) (who *User, problem string) {
	headers := r.Header.Values("Authorization")
	if len(headers) == 0 || !strings.HasPrefix(r.URL.Path, "/v0/") {
		return nil, ""
	}
	scheme, token, found := strings.Cut(headers[0], " ")
	if !found || scheme != "Bearer" {
		return nil, "invalid http Authorization header, missing scope or scope is not Bearer"
	}
	user, ok := s.people.byToken(token, s.cfg.Now())
	if !ok {
		return nil, "access token has been expired or doesn't exist"
	}
	return &user, ""
}

// refusedAgent is why a User-Agent is refused, empty when it is not.
func refusedAgent(agent string) string {
	switch agent {
	case "":
		return "Please set a 'User-Agent'"
	case "undici", "database", "node-fetch":
		return "using the default User-Agent of an HTTP library is forbidden"
	}
	for _, prefix := range []string{
		"Go-http-client/", "python-requests/", "axios/", "okhttp/", "go-resty/",
		"Java/", "node-fetch/", "Faraday v", "Apache-HttpClient/",
	} {
		if strings.HasPrefix(agent, prefix) {
			return "using the default User-Agent of an HTTP library is forbidden"
		}
	}
	return ""
}

// pathID reads the {id} of the path: 32 bits, unsigned, above 0. It answers the 400 itself.
func pathID(w http.ResponseWriter, r *http.Request) (id int, ok bool) {
	n, err := strconv.ParseUint(r.PathValue("id"), 10, 32)
	if err != nil || n == 0 {
		fail(w, r, http.StatusBadRequest, strconv.Quote(r.PathValue("id"))+" is not a valid ID")
		return 0, false
	}
	return int(n), true
}

func pathSubject(w http.ResponseWriter, r *http.Request) (catalog.SubjectID, bool) {
	id, ok := pathID(w, r)
	return catalog.SubjectID(id), ok
}

func pathEpisode(w http.ResponseWriter, r *http.Request) (catalog.EpisodeID, bool) {
	id, ok := pathID(w, r)
	return catalog.EpisodeID(id), ok
}
