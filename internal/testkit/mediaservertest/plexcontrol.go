package mediaservertest

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
)

// PlexTV is the plex.tv that a Plex is known to; nil for other kinds.
func (s *Server) PlexTV() *PlexTV {
	if p, ok := s.front.(*plexServer); ok {
		return p.tv
	}
	return nil
}

// SetQuirks changes how a Plex differs from another one.
func (s *Server) SetQuirks(q PlexQuirks) {
	if p, ok := s.front.(*plexServer); ok {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.quirks = q
	}
}

// RefuseToken has the token of a person at a Plex answer a status; plex.tv lists another one from then on.
func (s *Server) RefuseToken(name string, status int) error {
	u, err := s.User(name)
	if p, ok := s.front.(*plexServer); ok && err == nil {
		p.refuse(u.ID, status)
	}
	return err
}

// revoke ends the sign-ins of a person at plex.tv and the tokens at this server.
func (p *plexServer) revoke(user string) {
	p.tv.mu.Lock()
	p.tv.forget(func(one *plexToken) bool {
		u, err := p.s.User(one.name)
		return user == "" || err == nil && u.ID == user
	})
	p.tv.mu.Unlock()
	p.refuse(user, http.StatusUnauthorized)
}

// refuse has the token of a person at this server answer a status; plex.tv lists another one from then on. No user is everybody.
func (p *plexServer) refuse(user string, status int) {
	name := ""
	if u, err := p.s.User(user); err == nil {
		name = u.Name
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for token, who := range p.tokens {
		if user == "" || strings.EqualFold(who, name) {
			p.dead[token] = status
		}
	}
	for stream := range p.streams {
		if user == "" || stream.user.ID == user {
			stream.cut()
		}
	}
}

// confirm lets a person sign in by a code, as the page does.
func (p *plexServer) confirm(code string, user User) error { return p.tv.Approve(code, user.Name) }

// plexOrder is what the paths of POST /_sim/plex/… take that no other kind has.
type plexOrder struct {
	User      string   `json:"user"`
	Password  string   `json:"password"`
	Libraries []string `json:"libraries"`
	Home      bool     `json:"home"`
	Managed   bool     `json:"managed"`
	PIN       string   `json:"pin"`
	Of        string   `json:"of"`
	Status    int      `json:"status"`
}

// control takes what steers a Plex alone; it is false where the action is none of that.
func (p *plexServer) control(w http.ResponseWriter, r *http.Request, action string) bool {
	var o plexOrder
	var quirks PlexQuirks
	var fault Fault
	into, known := map[string]any{"quirks": &quirks, "tv": &fault, "user": &o, "tokens": &o, "expire": &o}[action]
	if !known || r.Method != http.MethodPost {
		return false
	}
	if !p.s.read(w, r, into) {
		return true
	}
	var err error
	switch action {
	case "quirks":
		p.s.SetQuirks(quirks)
	case "tv":
		p.tv.SetFault(&fault)
	case "user":
		if known, err := p.s.User(o.User); err == nil {
			o.Password = cmp.Or(o.Password, known.Password)
		}
		p.s.AddUser(User{Name: o.User, Password: o.Password, Libraries: o.Libraries, Home: o.Home, Managed: o.Managed, PIN: o.PIN})
	case "tokens":
		err = p.orderTokens(o)
	case "expire":
		p.tv.ExpirePins(cmp.Or(o.Status, http.StatusNotFound))
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return true
	}
	w.WriteHeader(http.StatusNoContent)
	return true
}

// orderTokens has the tokens of a person answer a status: those of the account, or that of the server.
func (p *plexServer) orderTokens(o plexOrder) error {
	u, err := p.s.User(o.User)
	switch {
	case err != nil:
		return err
	case o.Of == "account":
		p.tv.Refuse(u.Name, o.Status)
	case o.Of == "server":
		p.refuse(u.ID, o.Status)
	default:
		return errors.New("of: account or server")
	}
	return nil
}
