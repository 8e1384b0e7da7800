// Package mediaservertest is a media server in a process: a Jellyfin, an Emby, a Plex or one of the NAS makers, as
// upstreams/watchers.md says each kind and version behaves, traps included, so that tests and `watchmark simulate` need
// no media server.
//
// The model (model.go) holds the library and what each person has played; rules.go says what a play writes. In front of it
// stand the API of Jellyfin, Emby and their likenesses (browser*.go) and that of Plex (plex*.go). /_sim/{kind}/…
// steers and inspects the server and is never subject to faults (control.go). Everything is kept in memory.
package mediaservertest

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"watchmark/internal/testkit/simulated"
)

// Kind is what a server is; the words are those of the service.
type Kind string

// The kinds.
const (
	Jellyfin Kind = "jellyfin"
	Emby     Kind = "emby"
	Plex     Kind = "plex"
	Ugreen   Kind = "ugreen"
	ZSpace   Kind = "zspace"
	FnOS     Kind = "fnos"
)

// versions are what a kind is when nothing else is asked for.
var versions = map[Kind]string{Jellyfin: "10.11.8", Emby: "4.9.1.0", Plex: "1.42.2.10156", Ugreen: "1.1.0", ZSpace: "4.7.0.0", FnOS: "1.0.0"}

// Config is what a server holds and how it behaves.
type Config struct {
	Kind Kind
	// Version is such as 10.8.13, 10.9.11, 10.10.7, 10.11.8, 12.0.0, 4.7.14.0 or 4.9.1.0; empty is a usual one.
	Version string
	// ID and Name are what the server calls itself; empty is made up.
	ID, Name string
	// Base is the path under which a Jellyfin is served, such as /jellyfin.
	Base string
	// Key is a key of the administrator; empty is none.
	Key       string
	Users     []User
	Libraries []Library
	Shows     []Show
	Items     []Item
	// Now is the true time; nil is time.Now. It must be safe for parallel use.
	Now func() time.Time
	// Quiet is how long the server waits for more changes before it pushes them; 0 is 500 ms.
	Quiet time.Duration
	// KeepAlive is after how much silence of the client a Jellyfin stops serving its socket; 0 is 60 s.
	KeepAlive time.Duration
	// PageMost caps pages below what is asked for; 0 does not.
	PageMost int
	// NoFilters is a server that ignores the filter of what was played.
	NoFilters bool
	// OldUsers is an Emby that has its users at /Users only.
	OldUsers bool
	// LegacyOff is a Jellyfin 10.11 whose owner switched the old headers off, or LegacyOn a 12 whose owner switched them on.
	LegacyOff, LegacyOn bool
	// NoQuickConnect is a Jellyfin whose owner switched Quick Connect off.
	NoQuickConnect bool
	// NoPush is a proxy before the server that lets no websocket pass: the handshake is 404.
	NoPush bool
	// SlowDates is how long a query sorted by date takes.
	SlowDates time.Duration
	// Zone has dates told as the wall time of a zone, with the Z of UTC all the same (section 8).
	Zone *time.Location
	// TLS serves https with a certificate that nobody has signed. A UGREEN always does.
	TLS bool
	// TV is the plex.tv of a Plex; nil is one of its own, on the same address. Quirks are how a Plex differs from another one.
	TV     *PlexTV
	Quirks PlexQuirks
	// Settle is how long a Plex needs to count a play that ended; 0 is 300 ms.
	Settle time.Duration
	// Writes lets a NAS kind know the routes that mark by hand, of which nothing is known.
	Writes bool
}

// Server is a running or prepared server. Its methods steer it; it is safe for parallel use.
type Server struct {
	Model
	// URL is set by Start: the base address as a person would enter it.
	URL string

	cfg     Config
	version version
	front   front
	faults  faults
	zone    atomic.Pointer[time.Location]

	logMu    sync.Mutex
	requests []string
}

// front is the API of a server before the model.
type front interface {
	http.Handler
	// cut closes the live connections; mute leaves them open and serves them no more.
	cut()
	mute()
	// revoke ends the sign-ins of a person, or of everybody where the id is empty.
	revoke(user string)
	// confirm lets a person in who signs in by a code.
	confirm(code string, user User) error
	// close ends everything in the background.
	close()
}

// New is a server that does not listen yet.
func New(cfg Config) *Server {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Version = cmp.Or(cfg.Version, versions[cfg.Kind])
	cfg.Quiet = cmp.Or(cfg.Quiet, 500*time.Millisecond)
	cfg.KeepAlive = cmp.Or(cfg.KeepAlive, time.Minute)
	cfg.Settle = cmp.Or(cfg.Settle, 300*time.Millisecond)
	cfg.Name = cmp.Or(cfg.Name, "Simulated "+string(cfg.Kind))
	s := &Server{cfg: cfg, version: parseVersion(cfg.Version)}
	s.SetZone(cfg.Zone)
	s.init(cfg.Kind, rulesOf(cfg.Kind, s.version), cfg.Now)
	for _, l := range cfg.Libraries {
		s.AddLibrary(l)
	}
	for _, u := range cfg.Users {
		s.AddUser(u)
	}
	for _, show := range cfg.Shows {
		s.AddShow(show)
	}
	for _, i := range cfg.Items {
		s.Add(i)
	}
	if cfg.Kind == Plex {
		s.front = newPlex(s)
	} else {
		s.front = newBrowser(s)
	}
	return s
}

// Start serves a server for one test on a free port of the loopback.
func Start(tb simulated.TB, cfg Config) *Server {
	tb.Helper()
	s := New(cfg)
	url, stop, err := s.Listen(tb.Context(), "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(stop)
	s.URL = url
	return s
}

// Listen serves s on addr, such as 127.0.0.1:0 for a free port, until stop is called; ctx bounds the opening alone. url is
// what a person would enter: without a slash at the end, with the base path.
func (s *Server) Listen(ctx context.Context, addr string) (url string, stop func(), err error) {
	listen := simulated.Listen
	if s.cfg.TLS || s.cfg.Kind == Ugreen {
		listen = simulated.ListenTLS
	}
	url, end, err := listen(ctx, s, addr)
	if err != nil {
		return "", nil, err
	}
	if p, ok := s.front.(*plexServer); ok {
		p.listens(url)
	}
	return url + s.cfg.Base, func() {
		end()
		s.front.close() // what the websockets took over
	}, nil
}

// maxBody bounds request bodies.
const maxBody = 1 << 20

// ServeHTTP answers one request as the server, or as the fault in force says.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		http.Error(w, "cannot read the body", http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if strings.HasPrefix(r.URL.Path, "/_sim/") {
		s.control(w, r)
		return
	}
	s.note(r)
	if tv := s.PlexTV(); tv != nil && tv != s.cfg.TV && plexTVPath(r.URL.Path) {
		tv.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Date", s.Now().Format(http.TimeFormat))
	s.faults.serve(w, r, s.front)
}

// maxNoted bounds what is kept of requests.
const maxNoted = 100_000

func (s *Server) note(r *http.Request) {
	s.logMu.Lock()
	defer s.logMu.Unlock()
	if len(s.requests) < maxNoted {
		s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI())
	}
}

// Requests are the methods with paths and queries that were asked for since the start or the last ForgetRequests, refused
// and faulted ones included.
func (s *Server) Requests() []string {
	s.logMu.Lock()
	defer s.logMu.Unlock()
	return append([]string(nil), s.requests...)
}

// ForgetRequests begins to note requests anew.
func (s *Server) ForgetRequests() {
	s.logMu.Lock()
	defer s.logMu.Unlock()
	s.requests = nil
}

// Cut closes the live connections.
func (s *Server) Cut() { s.front.cut() }

// Mute leaves the live connections open and serves them no more.
func (s *Server) Mute() { s.front.mute() }

// SetZone has dates told as the wall time of a zone, with the Z of UTC all the same; nil ends it.
func (s *Server) SetZone(zone *time.Location) { s.zone.Store(zone) }

// Revoke ends the sign-ins of a person, or of everybody where the name is empty.
func (s *Server) Revoke(user string) error {
	id := ""
	if user != "" {
		u, err := s.User(user)
		if err != nil {
			return err
		}
		id = u.ID
	}
	s.front.revoke(id)
	return nil
}

// Confirm types a code in for a person who signs in by it.
func (s *Server) Confirm(code, user string) error {
	u, err := s.User(user)
	if err != nil {
		return err
	}
	return s.front.confirm(code, u)
}

// version is a version as numbers.
type version [3]int

func parseVersion(text string) version {
	var v version
	for n, part := range strings.SplitN(text, ".", 4) {
		if n < len(v) {
			v[n], _ = strconv.Atoi(strings.TrimFunc(part, func(r rune) bool { return r < '0' || r > '9' })) // what is no number is 0
		}
	}
	return v
}

func (v version) before(major, minor, patch int) bool {
	o := version{major, minor, patch}
	for n := range v {
		if v[n] != o[n] {
			return v[n] < o[n]
		}
	}
	return false
}
