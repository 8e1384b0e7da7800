package catalogtest

import (
	"crypto/rand"
	"strconv"
	"strings"
	"sync"
	"time"
)

// people is who exists, and which tokens are theirs.
type people struct {
	mu     sync.Mutex
	users  map[int]User
	tokens map[string]grant
	oauth  oauthState
}

// grant is what a token stands for.
type grant struct {
	user    int
	expires time.Time // zero is never
}

func (p *people) init() {
	p.users = map[int]User{}
	p.tokens = map[string]grant{}
	p.oauth = oauthState{codes: map[string]grant{}, refresh: map[string]int{}}
}

// SetUser adds a user, or replaces the one with the same id (with the same name
// when the id is 0). The token of before stays valid until RevokeToken.
func (s *Server) SetUser(user User) {
	p := &s.people
	p.mu.Lock()
	defer p.mu.Unlock()
	if user.ID == 0 && user.Username != "" {
		known, _ := p.named(user.Username)
		user.ID = known.ID
	}
	if user.ID == 0 {
		user.ID = 1
		for p.users[user.ID].ID != 0 {
			user.ID++
		}
	}
	if user.Username == "" {
		user.Username = strconv.Itoa(user.ID)
	}
	if user.Nickname == "" {
		user.Nickname = user.Username
	}
	p.users[user.ID] = user
	if user.Token != "" {
		p.tokens[user.Token] = grant{user: user.ID}
	}
}

// RevokeToken makes an access token answer 401 from now on.
func (s *Server) RevokeToken(token string) {
	s.people.mu.Lock()
	defer s.people.mu.Unlock()
	delete(s.people.tokens, token)
}

// byToken is the owner of a token that is valid at now.
func (p *people) byToken(token string, now time.Time) (User, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	g, ok := p.tokens[token]
	if !ok || (!g.expires.IsZero() && !now.Before(g.expires)) {
		return User{}, false
	}
	user, ok := p.users[g.user]
	return user, ok
}

// byName finds a user by the name that user paths want, in whatever case.
func (p *people) byName(username string) (User, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.named(username)
}

// named is byName for a caller that holds mu.
func (p *people) named(username string) (User, bool) {
	for _, user := range p.users {
		if strings.EqualFold(user.Username, username) {
			return user, true
		}
	}
	return User{}, false
}

// names is every user name by id.
func (p *people) names() map[int]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	names := make(map[int]string, len(p.users))
	for id, user := range p.users {
		names[id] = user.Username
	}
	return names
}

// newToken is a random token of the length and alphabet of a real one, or near it.
func newToken() string { return rand.Text() + rand.Text()[:14] }
