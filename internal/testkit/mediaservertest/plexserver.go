package mediaservertest

import (
	"cmp"
	"crypto/rand"
	"net/http"
	"strings"
	"sync"
)

// PlexQuirks are how a Plex differs from another one, or from what is documented.
type PlexQuirks struct {
	// Seconds has pushes tell the position as `time`, in seconds, in place of viewOffset in ms.
	Seconds bool `json:"seconds"`
	// Everybody has every stream carry everybody's sessions, not only that of the owner.
	Everybody bool `json:"everybody"`
	// NoUnwatched is a server whose libraries of shows answer nothing where unwatched=0 is asked for.
	NoUnwatched bool `json:"no_unwatched"`
	// Unpaged answers everything, whatever page is asked for.
	Unpaged bool `json:"unpaged"`
	// NoSessions refuses /status/sessions to the owner, too, as while the server comes up.
	NoSessions bool `json:"no_sessions"`
	// MarksTold pushes a timeline entry for a mark by hand; usually none comes.
	MarksTold bool `json:"marks_told"`
}

// plexServer is the API of a Plex Media Server (upstreams/watchers.md section 4).
type plexServer struct {
	s   *Server
	id  string
	url string // where it listens
	tv  *PlexTV
	mux *http.ServeMux
	// list says what rows are: the last list that was asked for, for its other pages. The lock of the model guards them.
	list string
	rows []plexRow
	// tvToo says that plex.tv is served on the same address.
	tvToo bool

	mu       sync.Mutex
	tokens   map[string]string // of the server; whose name
	dead     map[string]int    // tokens that are refused, by status
	quirks   PlexQuirks
	streams  map[*plexStream]bool
	sessions map[string]string // session key by user id
	lastKey  int
	open     sync.WaitGroup // of streams
	sent     int            // pushes by event stream
}

func newPlex(s *Server) *plexServer {
	p := &plexServer{
		s: s, id: cmp.Or(s.cfg.ID, "546684a3d1"+plexHash(s.cfg.Name, 30)), quirks: s.cfg.Quirks, tv: s.cfg.TV, tvToo: s.cfg.TV == nil, mux: http.NewServeMux(),
		tokens: map[string]string{}, dead: map[string]int{}, streams: map[*plexStream]bool{}, sessions: map[string]string{},
	}
	if p.tvToo {
		p.tv = NewPlexTV(s.cfg.Now)
	}
	p.tv.mu.Lock()
	p.tv.servers = append(p.tv.servers, p)
	p.tv.mu.Unlock()
	p.route()
	s.listen(p.changed)
	s.stopping = p.stopping
	return p
}

// listens says where the server is reached before anybody asks.
func (p *plexServer) listens(url string) {
	p.url = url
	if p.tvToo {
		p.tv.URL = url
	}
}

// people are the users of the server.
func (p *plexServer) people() []User {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	people := make([]User, 0, len(p.s.users))
	for _, u := range p.s.users {
		people = append(people, *u)
	}
	return people
}

// owner is who claimed the server.
func (p *plexServer) owner() User {
	u, _ := p.s.User("1") // nobody has claimed it where there is none
	return u
}

// owns reports whether a user of a server owns it.
func (u User) owns() bool { return u.ID == "1" }

// token is the access token of a person for this server; it is the same until it is refused.
func (p *plexServer) token(name string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for token, who := range p.tokens {
		if strings.EqualFold(who, name) && p.dead[token] == 0 {
			return token
		}
	}
	token := rand.Text()[:20]
	p.tokens[token] = name
	return token
}

// who is the person with the token of a request; status is 0, or with what the request is refused. A token is good that
// plex.tv listed for this server, or that of the owner's account; one of another server or of a member of the Home is not.
func (p *plexServer) who(r *http.Request) (u User, status int) {
	token := plexParameter(r, "X-Plex-Token")
	owner := p.owner()
	if token != "" && token == p.s.cfg.Key {
		return owner, 0
	}
	p.mu.Lock()
	name, refused := p.tokens[token], p.dead[token]
	p.mu.Unlock()
	if refused != 0 {
		return User{}, refused
	}
	if name == "" {
		p.tv.mu.Lock()
		if account := p.tv.tokens[token]; account != nil && account.status == 0 && strings.EqualFold(account.name, owner.Name) {
			name = owner.Name
		}
		p.tv.mu.Unlock()
	}
	u, err := p.s.User(name)
	if err != nil || name == "" {
		return User{}, http.StatusUnauthorized
	}
	return u, 0
}

// route registers what the server answers.
func (p *plexServer) route() {
	p.mux.HandleFunc("GET /identity", func(w http.ResponseWriter, r *http.Request) {
		plexAnswer(w, r, http.StatusOK, "MediaContainer", object{"size": 0, "claimed": true, "machineIdentifier": p.id, "version": p.s.cfg.Version})
	})
	signed := func(pattern string, serve func(w http.ResponseWriter, r *http.Request, u User)) {
		p.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			u, status := p.who(r)
			if status != 0 {
				plexRefuse(w, status)
				return
			}
			serve(w, r, u)
		})
	}
	owned := func(pattern string, serve func(w http.ResponseWriter, r *http.Request)) {
		signed(pattern, func(w http.ResponseWriter, r *http.Request, u User) {
			if !u.owns() {
				plexRefuse(w, http.StatusForbidden)
				return
			}
			serve(w, r)
		})
	}
	signed("GET /{$}", func(w http.ResponseWriter, r *http.Request, _ User) {
		plexAnswer(w, r, http.StatusOK, "MediaContainer", object{"size": 20, "machineIdentifier": p.id, "friendlyName": p.s.cfg.Name, "version": p.s.cfg.Version, "myPlex": true})
	})
	owned("GET /accounts", p.accounts)
	signed("GET /library/sections", p.sections)
	signed("GET /library/sections/{id}/all", p.all)
	signed("GET /library/metadata/{ids}", p.metadata)
	owned("GET /status/sessions", p.nowPlaying)
	signed("GET /status/sessions/history/all", p.history)
	signed("GET /:/websockets/notifications", p.socket)
	signed("GET /:/eventsource/notifications", p.events)
	for _, method := range []string{"GET", "PUT"} {
		signed(method+" /:/scrobble", func(w http.ResponseWriter, r *http.Request, u User) { p.scrobble(w, r, u, true) })
		signed(method+" /:/unscrobble", func(w http.ResponseWriter, r *http.Request, u User) { p.scrobble(w, r, u, false) })
	}
	signed("/", func(w http.ResponseWriter, _ *http.Request, _ User) { plexRefuse(w, http.StatusNotFound) })
}

func (p *plexServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.tvToo && plexTVPath(r.URL.Path) {
		p.tv.ServeHTTP(w, r)
		return
	}
	w.Header().Set("X-Plex-Protocol", "1.0")
	p.mux.ServeHTTP(w, r)
}

func (p *plexServer) quirk() PlexQuirks {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.quirks
}

// accounts are the people of the server by their numbers; 1 is the owner, 0 nobody.
func (p *plexServer) accounts(w http.ResponseWriter, r *http.Request) {
	list := []object{{"id": 0, "key": "/accounts/0", "name": ""}}
	for _, u := range p.people() {
		list = append(list, object{"id": number(u.ID), "key": "/accounts/" + u.ID, "name": u.Name})
	}
	plexAnswer(w, r, http.StatusOK, "MediaContainer", object{"size": len(list), "identifier": "com.plexapp.system.accounts", "Account": list})
}

// nowPlaying is what everybody plays; only the owner may ask.
func (p *plexServer) nowPlaying(w http.ResponseWriter, r *http.Request) {
	if p.quirk().NoSessions {
		plexRefuse(w, http.StatusForbidden)
		return
	}
	list := []object{}
	for _, play := range p.s.Playing() {
		p.s.mu.Lock()
		u, _ := p.s.user(play.User) // they are of the model
		i, err := p.s.item(play.Item)
		if err != nil {
			p.s.mu.Unlock()
			continue
		}
		row := p.item(i, u, false)
		p.s.mu.Unlock()
		row["sessionKey"], row["viewOffset"] = p.sessionKey(play.User), play.Position.Milliseconds()
		row["librarySectionID"] = i.Library
		row["User"] = object{"id": u.ID, "title": u.Name, "thumb": ""}
		row["Player"] = object{"machineIdentifier": "pl-1", "state": "playing", "local": true, "title": "TV", "product": "Plex for Android (TV)"}
		row["Session"] = object{"id": "s-" + p.sessionKey(play.User), "location": "lan"}
		list = append(list, row)
	}
	plexAnswer(w, r, http.StatusOK, "MediaContainer", object{"size": len(list), "Metadata": list})
}

// scrobble marks an item by hand, or all below a season or a show. There is no date, no row of the history, and each call counts.
func (p *plexServer) scrobble(w http.ResponseWriter, r *http.Request, u User, played bool) {
	q := r.URL.Query()
	if q.Get("identifier") != "com.plexapp.plugins.library" || q.Get("key") == "" {
		plexRefuse(w, http.StatusBadRequest)
		return
	}
	if !p.markAll(u, q.Get("key"), played) {
		plexRefuse(w, http.StatusNotFound)
		return
	}
	w.WriteHeader(http.StatusOK)
}
