package mediaservertest

import (
	"cmp"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// browser is the API of Jellyfin and Emby, and the parts of it that the NAS makers have.
type browser struct {
	s      *Server
	routes []route

	mu      sync.Mutex
	tokens  map[string]*token
	codes   map[string]*quickConnect // by secret
	wrong   map[string]int           // passwords, by user id
	sockets map[*socket]bool
	pending map[string][]string // ids of items to push, by user id
	timer   *time.Timer
	open    sync.WaitGroup // of sockets
	cache   page
}

// token is a sign-in.
type token struct {
	value, user                     string // user is an id; empty for the key of the administrator
	client, device, deviceID, agent string
	made                            time.Time
}

func newBrowser(s *Server) *browser {
	b := &browser{
		s: s, tokens: map[string]*token{}, codes: map[string]*quickConnect{}, wrong: map[string]int{},
		sockets: map[*socket]bool{}, pending: map[string][]string{},
	}
	if s.cfg.Key != "" {
		b.tokens[s.cfg.Key] = &token{value: s.cfg.Key}
	}
	b.routes = b.allRoutes()
	s.listen(b.changed)
	return b
}

// Who may call a route.
const (
	anyone = iota
	users
	admins
)

// route is a path of the API; a part * stands for an id.
type route struct {
	method, path string
	on           bool // this kind and version has it
	who          int
	do           func(*call)
}

// call is a request to a route.
type call struct {
	b    *browser
	w    http.ResponseWriter
	r    *http.Request
	q    url.Values // names in lower case
	ids  []string   // of the path
	user *User      // nil for the key of the administrator and for strangers
	key  bool       // the key of the administrator
	tok  *token
}

type object = map[string]any

func (b *browser) is(kinds ...Kind) bool { return slices.Contains(kinds, b.s.cfg.Kind) }

// from reports whether this is a Jellyfin of the version or a later one.
func (b *browser) from(major, minor int) bool {
	return b.is(Jellyfin) && !b.s.version.before(major, minor, 0)
}

// path is the path without what stands before the API, false when the API is not there (section 1).
func (b *browser) path(full string) (string, bool) {
	path, ok := strings.CutPrefix(full, b.s.cfg.Base)
	if !ok {
		return "", false
	}
	first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	first = strings.ToLower(first)
	switch {
	case b.is(Ugreen, ZSpace):
		return "/" + rest, first == "emby"
	case b.is(Emby) && first == "emby",
		b.is(Jellyfin) && !b.from(12, 0) && (first == "emby" || first == "mediabrowser"):
		return "/" + rest, true
	}
	return path, true
}

func (b *browser) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, ok := b.path(r.URL.Path)
	if !ok {
		b.unknown(w)
		return
	}
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") && b.upgrades(path) {
		b.socket(w, r)
		return
	}
	found, ids, other := b.find(r.Method, path)
	if found == nil {
		if other && b.is(Jellyfin) {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		b.unknown(w)
		return
	}
	c := &call{b: b, w: w, r: r, q: url.Values{}, ids: ids}
	for name, values := range r.URL.Query() { // the names are matched in any case
		c.q[strings.ToLower(name)] = values
	}
	if b.is(FnOS) && r.Header.Get("X-Emby-Authorization") == "" && !strings.HasSuffix(found.path, "/Public") {
		c.answer(http.StatusBadRequest, object{"error": "X-Emby-Authorization is missing"})
		return
	}
	if found.who != anyone && !c.admitted(found.who) {
		return
	}
	found.do(c)
}

// find is the route of a path; other reports that the path exists for another method.
func (b *browser) find(method, path string) (found *route, ids []string, other bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	for n := range b.routes {
		rt := &b.routes[n]
		want := strings.Split(strings.Trim(rt.path, "/"), "/")
		if !rt.on || len(want) != len(parts) {
			continue
		}
		ids = nil
		fits := true
		for k := range want {
			switch {
			case want[k] == "*":
				ids = append(ids, parts[k])
			case !strings.EqualFold(want[k], parts[k]):
				fits = false
			}
		}
		if fits && rt.method == method {
			return rt, ids, false
		}
		other = other || fits
	}
	return nil, nil, other
}

// unknown answers a path that the server does not have: fnOS shows its web page.
func (b *browser) unknown(w http.ResponseWriter) {
	if b.is(FnOS) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte("<!DOCTYPE html><html><head><title>飞牛影视</title></head><body><div id=\"root\"></div></body></html>"))
		return
	}
	w.WriteHeader(http.StatusNotFound)
}

// admitted finds out who calls, and answers when they may not.
func (c *call) admitted(who int) bool {
	b := c.b
	tok := b.tokenOf(c.r)
	if tok == nil {
		c.fail(http.StatusUnauthorized, "Access token is invalid or expired.")
		return false
	}
	c.tok, c.key = tok, tok.user == ""
	if !c.key {
		u, err := b.s.User(tok.user)
		if err != nil || u.Disabled {
			c.fail(http.StatusUnauthorized, "Access token is invalid or expired.")
			return false
		}
		c.user = &u
		if u.NotNow || who == admins && !u.Admin {
			c.fail(http.StatusForbidden, "User is not allowed.")
			return false
		}
	}
	return true
}

// tokenOf reads the token where servers of this kind and version look for it: the table of section 1.
func (b *browser) tokenOf(r *http.Request) *token {
	value := ""
	for _, form := range b.forms(r) {
		if value = form(r); value != "" {
			break
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tokens[value]
}

func (b *browser) forms(*http.Request) []func(*http.Request) string {
	header := func(name string) func(*http.Request) string {
		return func(r *http.Request) string { return b.client(r.Header.Get(name))["Token"] }
	}
	plain := func(name string) func(*http.Request) string {
		return func(r *http.Request) string { return r.Header.Get(name) }
	}
	query := func(name string) func(*http.Request) string {
		return func(r *http.Request) string { return r.URL.Query().Get(name) }
	}
	authorization, old := header("Authorization"), header("X-Emby-Authorization")
	switch b.s.cfg.Kind {
	case Jellyfin:
		switch {
		case !b.legacy():
			return []func(*http.Request) string{authorization, query("ApiKey")}
		case b.from(10, 11):
			return []func(*http.Request) string{authorization, old, plain("X-Emby-Token"), plain("X-MediaBrowser-Token"), query("ApiKey"), query("api_key")}
		}
		return []func(*http.Request) string{old, authorization, plain("X-Emby-Token"), plain("X-MediaBrowser-Token"), query("ApiKey"), query("api_key")}
	case Emby:
		return []func(*http.Request) string{authorization, old, plain("X-Emby-Token"), plain("X-MediaBrowser-Token"), query("api_key")}
	case ZSpace:
		return []func(*http.Request) string{old, plain("X-Emby-Token")}
	case Ugreen:
		return []func(*http.Request) string{old, query("api_key")}
	}
	return []func(*http.Request) string{old}
}

// legacy reports whether a Jellyfin takes the old headers.
func (b *browser) legacy() bool {
	if b.from(12, 0) {
		return b.s.cfg.LegacyOn
	}
	return !b.s.cfg.LegacyOff
}

// client reads the parts of a header of the scheme MediaBrowser: their names are case-sensitive, their values URL-decoded.
func (b *browser) client(header string) map[string]string {
	scheme, rest, _ := strings.Cut(header, " ")
	emby := scheme == "Emby" && !b.is(ZSpace, FnOS) && (!b.is(Jellyfin) || b.legacy())
	if scheme != "MediaBrowser" && !emby {
		return nil
	}
	parts := map[string]string{}
	for part := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		value = strings.Trim(value, `"`)
		if decoded, err := url.QueryUnescape(value); err == nil && b.is(Jellyfin) {
			value = decoded
		}
		parts[name] = value
	}
	return parts
}

// answer answers JSON.
func (c *call) answer(status int, v any) {
	c.w.Header().Set("Content-Type", "application/json; charset=utf-8")
	c.w.WriteHeader(status)
	_ = json.NewEncoder(c.w).Encode(v) // a client that went away needs none
}

func (c *call) ok(v any) { c.answer(http.StatusOK, v) }

// fail answers an error, which is text with these servers.
func (c *call) fail(status int, text string) {
	c.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	c.w.WriteHeader(status)
	_, _ = c.w.Write([]byte(text)) // a client that went away needs none
}

// serverID is the id of the server: 32 hex digits, and a word of its own on UGREEN.
func (b *browser) serverID() string {
	if b.is(Ugreen) {
		return cmp.Or(b.s.cfg.ID, "ugreen-video-serv")
	}
	sum := md5.Sum([]byte(b.s.cfg.Name))
	return cmp.Or(b.s.cfg.ID, hex.EncodeToString(sum[:]))
}

func (b *browser) revoke(user string) {
	b.mu.Lock()
	for value, t := range b.tokens {
		if t.user != "" && (user == "" || t.user == user) {
			delete(b.tokens, value)
		}
	}
	b.mu.Unlock()
	b.each(func(s *socket) bool { return user == "" || s.user == user }, func(s *socket) { s.close() })
}

// each does something with some sockets.
func (b *browser) each(which func(*socket) bool, do func(*socket)) {
	b.mu.Lock()
	all := slices.Collect(maps.Keys(b.sockets))
	b.mu.Unlock()
	for _, s := range all {
		if which == nil || which(s) {
			do(s)
		}
	}
}

// date is what a time is written as: 7 fractional digits and Z, whatever the zone of a server that lies.
func (b *browser) date(t time.Time) string {
	zone := b.s.zone.Load()
	if zone == nil {
		zone = time.UTC
	}
	return t.In(zone).Format("2006-01-02T15:04:05.0000000") + "Z"
}
