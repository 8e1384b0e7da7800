package mediaservertest

import (
	"context"
	"crypto/rand"
	"hash/crc32"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"watchmark/internal/testkit/simulated"
)

// PlexTV is what Plex runs: the accounts, their devices, and the page on which people confirm a sign-in. It answers as
// plex.tv and as clients.plex.tv, and at /auth as the page of app.plex.tv. The accounts are the users of its servers.
type PlexTV struct {
	// URL is where it listens.
	URL string
	// PollEvery is how often a PIN may be polled.
	PollEvery time.Duration
	// Stranger is host:port of a machine to which the local addresses of shared servers lead; a closed port at first.
	Stranger string

	now    func() time.Time
	mux    *http.ServeMux
	faults faults

	mu       sync.Mutex
	servers  []*plexServer
	pins     map[int64]*plexPin
	tokens   map[string]*plexToken
	lastPin  int64
	expired  int         // status that an expired PIN answers
	switches []time.Time // of the last minute
	requests []string
}

// plexToken is an account token or that of a member of the Home; server tokens are with their server.
type plexToken struct {
	name   string
	client string // the client identifier that it was made for
	status int    // with which it is refused; 0 is a good one
}

// NewPlexTV is a plex.tv that knows no server; now is its clock, nil time.Now.
func NewPlexTV(now func() time.Time) *PlexTV {
	if now == nil {
		now = time.Now
	}
	tv := &PlexTV{
		PollEvery: time.Second, Stranger: "127.0.0.1:9", now: now, mux: http.NewServeMux(),
		pins: map[int64]*plexPin{}, tokens: map[string]*plexToken{}, lastPin: 564964750, expired: http.StatusNotFound,
	}
	tv.route()
	return tv
}

// StartPlexTV serves a plex.tv for one test on an address of its own; Config.TV makes it that of a server.
func StartPlexTV(tb simulated.TB) *PlexTV {
	tb.Helper()
	tv := NewPlexTV(nil)
	tv.URL = simulated.Start(tb, tv)
	return tv
}

// Listen serves tv on addr until stop is called; ctx bounds the opening alone.
func (tv *PlexTV) Listen(ctx context.Context, addr string) (stop func(), err error) {
	tv.URL, stop, err = simulated.Listen(ctx, tv, addr)
	return stop, err
}

// SetFault puts f in force in place of the one before; nil ends it.
func (tv *PlexTV) SetFault(f *Fault) { tv.faults.set(f) }

// Requests are the methods with paths and queries that were asked for.
func (tv *PlexTV) Requests() []string {
	tv.mu.Lock()
	defer tv.mu.Unlock()
	return slices.Clone(tv.requests)
}

// plexTVPath reports whether a path is one of plex.tv, where it shares its address with a media server.
func plexTVPath(path string) bool {
	return strings.HasPrefix(path, "/api/v2/") || path == "/auth" || strings.HasPrefix(path, "/auth/")
}

// ServeHTTP answers one request as plex.tv, or as the fault in force says.
func (tv *PlexTV) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	tv.mu.Lock()
	if len(tv.requests) < maxNoted {
		tv.requests = append(tv.requests, r.Method+" "+r.URL.RequestURI())
	}
	tv.mu.Unlock()
	tv.faults.serve(w, r, tv.mux)
}

// route registers what plex.tv answers (upstreams/watchers.md section 4.1).
func (tv *PlexTV) route() {
	api := func(pattern string, serve func(w http.ResponseWriter, r *http.Request, client string)) {
		tv.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			client := plexParameter(r, "X-Plex-Client-Identifier")
			if client == "" {
				plexFail(w, r, http.StatusBadRequest, 1000, "X-Plex-Client-Identifier is missing")
				return
			}
			tv.mu.Lock()
			defer tv.mu.Unlock()
			serve(w, r, client)
		})
	}
	// signed takes only an account token, or that of a member of the Home: one of a media server is unknown here.
	signed := func(pattern string, serve func(w http.ResponseWriter, r *http.Request, token *plexToken)) {
		api(pattern, func(w http.ResponseWriter, r *http.Request, _ string) {
			token := tv.tokens[plexParameter(r, "X-Plex-Token")]
			switch {
			case token == nil:
				plexFail(w, r, http.StatusUnauthorized, 1001, "User could not be authenticated")
			case token.status != 0:
				plexFail(w, r, token.status, 1001, "User could not be authenticated")
			default:
				serve(w, r, token)
			}
		})
	}
	api("POST /api/v2/pins", tv.newPin)
	api("GET /api/v2/pins/{id}", tv.pollPin)
	signed("GET /api/v2/user", tv.user)
	signed("GET /api/v2/ping", func(w http.ResponseWriter, r *http.Request, _ *plexToken) {
		plexAnswer(w, r, http.StatusOK, "pong", object{"pong": ""})
	})
	signed("GET /api/v2/resources", tv.resources)
	signed("GET /api/v2/home/users", tv.homeUsers)
	signed("POST /api/v2/home/users/{uuid}/switch", tv.switchUser)
	signed("DELETE /api/v2/users/signout", func(w http.ResponseWriter, _ *http.Request, token *plexToken) {
		tv.forget(func(one *plexToken) bool { return one.client == token.client })
		w.WriteHeader(http.StatusNoContent)
	})
	tv.mux.HandleFunc("GET /auth", tv.page)
	tv.mux.HandleFunc("GET /auth/pin", tv.pageAsks)
	tv.mux.HandleFunc("POST /auth/allow", tv.pageAllows)
	tv.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { plexFail(w, r, http.StatusNotFound, 1002, "Not found") })
}

// plexParameter is what Plex takes from a header or from the query.
func plexParameter(r *http.Request, name string) string {
	if value := r.Header.Get(name); value != "" {
		return value
	}
	return r.URL.Query().Get(name)
}

func plexFail(w http.ResponseWriter, r *http.Request, status, code int, message string) {
	plexAnswer(w, r, status, "errors", object{"errors": []object{{"code": code, "message": message, "status": status}}})
}

// token makes an account token for a person on a device; tv.mu is held.
func (tv *PlexTV) token(name, client string) string {
	token := rand.Text()[:20]
	tv.tokens[token] = &plexToken{name: name, client: client}
	return token
}

// forget ends tokens, as when the person removes the device; tv.mu is held.
func (tv *PlexTV) forget(which func(*plexToken) bool) {
	for token, one := range tv.tokens {
		if which(one) {
			delete(tv.tokens, token)
		}
	}
}

// RemoveDevices ends every account token of a person, as when they remove the devices of the account.
func (tv *PlexTV) RemoveDevices(name string) {
	tv.mu.Lock()
	defer tv.mu.Unlock()
	tv.forget(func(one *plexToken) bool { return strings.EqualFold(one.name, name) })
}

// Refuse has every account token of a person answer a status, such as 498; 0 lets them pass again.
func (tv *PlexTV) Refuse(name string, status int) {
	tv.mu.Lock()
	defer tv.mu.Unlock()
	for _, one := range tv.tokens {
		if strings.EqualFold(one.name, name) {
			one.status = status
		}
	}
}

// people are the users of all servers, each once; tv.mu is held.
func (tv *PlexTV) people() []User {
	var people []User
	for _, one := range tv.servers {
		for _, u := range one.people() {
			if !slices.ContainsFunc(people, func(o User) bool { return strings.EqualFold(o.Name, u.Name) }) {
				people = append(people, u)
			}
		}
	}
	return people
}

// person is somebody with an account; ok is false when there is none. tv.mu is held.
func (tv *PlexTV) person(name string) (u User, ok bool) {
	people := tv.people()
	if at := slices.IndexFunc(people, func(o User) bool { return strings.EqualFold(o.Name, name) }); at >= 0 {
		return people[at], true
	}
	return User{}, false
}

// plexNumber is the number of the account of a name.
func plexNumber(name string) int {
	return 4400000 + int(crc32.ChecksumIEEE([]byte(strings.ToLower(name)))%90000)
}

// plexAccount is the number of somebody's account: the owner of a server has another one there.
func plexAccount(u User) int {
	if u.owns() {
		return plexNumber(u.Name)
	}
	return number(u.ID)
}

func plexUUID(name string) string {
	return "9f31c0aa" + strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(strings.ToLower(name))))|1<<31, 16)
}
