package trackertest

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Answer says how the authorisation of a sign-in by mail comes back (upstreams/tracker.md section 8).
type Answer struct {
	// AsJSON answers 200 with the address in a body in place of a redirect.
	AsJSON bool `json:"as_json"`
	// Redirect is the status of a redirect; 0 is 302.
	Redirect int `json:"redirect"`
	// State is "" for the right one, "wrong", "missing", or "twice" for one right and one wrong.
	State string `json:"state"`
	// NoCode leaves the code out; NoCookie lets the accepted code set no cookie.
	NoCode   bool `json:"no_code"`
	NoCookie bool `json:"no_cookie"`
	// NoRefresh gives no refresh token and no id token: the one that was traded stays good.
	NoRefresh bool `json:"no_refresh"`
	// CookieName is that of the session; empty is __Secure-better-auth.session_token.
	CookieName string `json:"cookie_name"`
}

// SetAnswer says how sign-ins by mail are answered from now on.
func (s *Server) SetAnswer(a Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = a
}

func (s *Server) takeAnswer(w http.ResponseWriter, r *http.Request) {
	var a Answer
	if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
		http.Error(w, "not an answer: "+err.Error(), http.StatusBadRequest)
		return
	}
	s.SetAnswer(a)
	w.WriteHeader(http.StatusNoContent)
}

const (
	otpLife    = 5 * time.Minute
	codeLife   = time.Minute
	cookieKey  = "__Secure-better-auth.session_token"
	loginScope = "public openid profile email offline_access"
)

// login is a mail that was sent.
type login struct {
	otp   string
	until time.Time
}

// grant is what a code or a token stands for.
type grant struct {
	email     string
	client    string
	redirect  string
	challenge string
	until     time.Time
	chain     string // one for all tokens that come from one authorisation
}

// device is a device code; email is empty until a person approved.
type device struct {
	client, user, email string
	until               time.Time
}

// asPage reports whether a form came with the headers of the sign-in page (upstreams/tracker.md section 8).
func asPage(r *http.Request) bool {
	own := "http://" + r.Host
	return r.Header.Get("Content-Type") == "application/x-www-form-urlencoded" && r.Header.Get("Accept") == "*/*" &&
		r.Header.Get("Origin") == own && r.Header.Get("Referer") == own+"/signin"
}

// LastCode is the code of the newest mail to an address; empty when there was none.
func (s *Server) LastCode(email string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logins[email].otp
}

func (s *Server) sendMail(w http.ResponseWriter, r *http.Request) {
	email := r.PostFormValue("email")
	if !asPage(r) {
		fail(w, http.StatusForbidden, "invalid_origin", "not from the sign-in page")
		return
	}
	if !s.isUser(email) {
		fail(w, http.StatusBadRequest, "invalid_request", "no such address")
		return
	}
	n, err := rand.Int(rand.Reader, big.NewInt(900_000))
	if err != nil {
		fail(w, http.StatusInternalServerError, "server_error", "no random number")
		return
	}
	s.mu.Lock()
	s.logins[email] = login{n.Add(n, big.NewInt(100_000)).String(), s.cfg.Now().Add(otpLife)}
	s.mu.Unlock()
	// This session is nobody's: only the one of the second step is signed in.
	w.Header().Set("Set-Cookie", cookieKey+"="+rand.Text()+"; Path=/; HttpOnly; Secure")
	writeJSON(w, http.StatusOK, map[string]bool{"success": true})
}

func (s *Server) isUser(email string) bool {
	return slices.ContainsFunc(s.cfg.Users, func(u User) bool { return u.Email == email })
}

func (s *Server) submit(w http.ResponseWriter, r *http.Request) {
	email := r.PostFormValue("email")
	if !asPage(r) {
		fail(w, http.StatusForbidden, "invalid_origin", "not from the sign-in page")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sent, found := s.logins[email]
	if !found || sent.otp != r.PostFormValue("otp") || !s.cfg.Now().Before(sent.until) {
		fail(w, http.StatusUnauthorized, "invalid_otp", "wrong or expired")
		return
	}
	delete(s.logins, email)
	if !s.answer.NoCookie {
		name := cmp.Or(s.answer.CookieName, cookieKey)
		value := rand.Text() + "." + url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(rand.Text()))) // escapes that must come back as they are
		s.cookies[name+"="+value] = email
		w.Header().Add("Set-Cookie", "__Secure-better-auth.dont_remember=1; Path=/")
		w.Header().Add("Set-Cookie", name+"="+value+"; Path=/; HttpOnly; Secure; SameSite=Lax")
	}
	writeJSON(w, http.StatusOK, map[string]bool{"success": true})
}

func (s *Server) authorizeByCookie(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s.mu.Lock()
	defer s.mu.Unlock()
	email, signedIn := s.cookies[r.Header.Get("Cookie")]
	c, known := s.client(q.Get("client_id"))
	switch {
	case r.Header.Get("Accept") != "text/html,application/json" || r.Header.Get("Origin") != "":
		fail(w, http.StatusForbidden, "invalid_origin", "not as the sign-in page asks")
		return
	case !signedIn:
		http.Redirect(w, r, "/signin?"+q.Encode(), http.StatusFound)
		return
	case !known || c.RedirectURI != q.Get("redirect_uri") || q.Get("response_type") != "code":
		fail(w, http.StatusBadRequest, "invalid_client", "unknown client or redirect")
		return
	case q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" || q.Get("scope") != loginScope:
		fail(w, http.StatusBadRequest, "invalid_request", "pkce and scope are required")
		return
	}
	back := url.Values{}
	if !s.answer.NoCode {
		back.Set("code", s.newCode(grant{email: email, client: c.ID, redirect: c.RedirectURI, challenge: q.Get("code_challenge")}))
	}
	switch s.answer.State {
	case "":
		back.Set("state", q.Get("state"))
	case "wrong":
		back.Set("state", rand.Text())
	case "twice":
		back["state"] = []string{q.Get("state"), rand.Text()}
	}
	address := c.RedirectURI + "?" + back.Encode()
	if s.answer.AsJSON {
		writeJSON(w, http.StatusOK, map[string]any{"redirect": true, "url": address})
		return
	}
	w.Header().Set("Location", address)
	w.WriteHeader(cmp.Or(s.answer.Redirect, http.StatusFound))
}

// newCode is a code for g. The caller holds mu.
func (s *Server) newCode(g grant) string {
	g.until, g.chain = s.cfg.Now().Add(codeLife), rand.Text()
	code := rand.Text()
	s.codes[code] = g
	return code
}

func (s *Server) client(id string) (Client, bool) {
	i := slices.IndexFunc(s.cfg.Clients, func(c Client) bool { return c.ID == id })
	if i < 0 {
		return Client{}, false
	}
	return s.cfg.Clients[i], true
}

// authorizeApp is the page where the first user would approve an application.
func (s *Server) authorizeApp(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s.mu.Lock()
	defer s.mu.Unlock()
	c, known := s.client(q.Get("client_id"))
	if !known || c.RedirectURI != q.Get("redirect_uri") || q.Get("response_type") != "code" {
		http.Error(w, "unknown client or redirect", http.StatusBadRequest)
		return
	}
	code := s.newCode(grant{email: s.cfg.Users[0].Email, client: c.ID, redirect: c.RedirectURI})
	http.Redirect(w, r, c.RedirectURI+"?"+url.Values{"code": {code}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
}

// tokenRequest is the body of every call for tokens.
type tokenRequest struct {
	Grant    string `json:"grant_type"`
	Code     string `json:"code"`
	Refresh  string `json:"refresh_token"`
	Redirect string `json:"redirect_uri"`
	Client   string `json:"client_id"`
	Secret   string `json:"client_secret"`
	Verifier string `json:"code_verifier"`
	Token    string `json:"token"`
}

func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	var in tokenRequest
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") || json.NewDecoder(r.Body).Decode(&in) != nil {
		fail(w, http.StatusPreconditionFailed, "invalid_request", "send json")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c, known := s.client(in.Client)
	if !known || c.Secret != in.Secret {
		fail(w, http.StatusUnauthorized, "invalid_client", "unknown client")
		return
	}
	var g grant
	var found bool
	switch in.Grant {
	case "authorization_code":
		g, found = s.codes[in.Code]
		delete(s.codes, in.Code)
		if found && g.challenge != "" {
			sum := sha256.Sum256([]byte(in.Verifier))
			found = len(in.Verifier) == 43 && base64.RawURLEncoding.EncodeToString(sum[:]) == g.challenge
		}
		found = found && g.client == c.ID && g.redirect == in.Redirect && s.cfg.Now().Before(g.until)
	case "refresh_token":
		g, found = s.refresh[in.Refresh]
		found = found && g.client == c.ID
		if found && !s.answer.NoRefresh {
			delete(s.refresh, in.Refresh)
		}
	}
	if !found {
		fail(w, http.StatusBadRequest, "invalid_grant", "used, expired or revoked: "+in.Refresh+in.Code)
		return
	}
	writeJSON(w, http.StatusOK, s.newTokens(g))
}

// newTokens gives tokens out; those that were given before of the same authorisation die.
// The caller holds mu.
func (s *Server) newTokens(g grant) map[string]any {
	now := s.cfg.Now()
	g.until = now.Add(s.cfg.AccessLife)
	access, refresh, id := "acc-"+rand.Text(), "ref-"+rand.Text(), "id-"+rand.Text()
	tokens := map[string]any{"access_token": access, "expires_in": int64(s.cfg.AccessLife / time.Second), "token_type": "bearer", "scope": "public"}
	if g.challenge == "" {
		tokens["created_at"] = now.Unix()
	} else {
		tokens["expires_at"], tokens["scope"], tokens["id_token"] = g.until.Unix(), loginScope, id
	}
	if s.answer.NoRefresh {
		delete(tokens, "id_token")
	} else {
		s.endChain(g.chain)
		tokens["refresh_token"] = refresh
		s.refresh[refresh] = g
	}
	s.access[access] = g
	return tokens
}

func (s *Server) endChain(chain string) {
	for _, held := range []map[string]grant{s.access, s.refresh} {
		for token, g := range held {
			if g.chain == chain {
				delete(held, token)
			}
		}
	}
}

func (s *Server) revoke(w http.ResponseWriter, r *http.Request) {
	var in tokenRequest
	if json.NewDecoder(r.Body).Decode(&in) != nil {
		fail(w, http.StatusBadRequest, "invalid_request", "send json")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if g, found := s.access[in.Token]; found {
		s.endChain(g.chain)
	}
	writeJSON(w, http.StatusOK, struct{}{})
}

func (s *Server) deviceCode(w http.ResponseWriter, r *http.Request) {
	var in tokenRequest
	if json.NewDecoder(r.Body).Decode(&in) != nil {
		fail(w, http.StatusBadRequest, "invalid_request", "send json")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.client(in.Client); !known {
		fail(w, http.StatusForbidden, "invalid_client", "unknown client")
		return
	}
	code, user := rand.Text(), rand.Text()[:8]
	s.devices[code] = device{client: in.Client, user: user, until: s.cfg.Now().Add(10 * time.Minute)}
	writeJSON(w, http.StatusOK, map[string]any{
		"device_code": code, "user_code": user, "verification_url": "https://" + r.Host + "/activate", "expires_in": 600, "interval": 5,
	})
}

func (s *Server) deviceToken(w http.ResponseWriter, r *http.Request) {
	var in tokenRequest
	if json.NewDecoder(r.Body).Decode(&in) != nil {
		fail(w, http.StatusBadRequest, "invalid_request", "send json")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d, found := s.devices[in.Code]
	switch {
	case !found:
		w.WriteHeader(http.StatusNotFound)
	case !s.cfg.Now().Before(d.until):
		w.WriteHeader(http.StatusGone)
	case d.email == refused:
		w.WriteHeader(http.StatusTeapot)
	case d.email == "":
		w.WriteHeader(http.StatusBadRequest)
	default:
		delete(s.devices, in.Code)
		writeJSON(w, http.StatusOK, s.newTokens(grant{email: d.email, client: d.client, chain: rand.Text()}))
	}
}

const refused = "refused"

// Approve answers the device code that a person was shown, in the name of the user with
// an address; an empty address refuses. It reports whether there is such a code.
func (s *Server) Approve(userCode, email string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for code, d := range s.devices {
		if d.user == userCode {
			d.email = email
			if email == "" {
				d.email = refused
			}
			s.devices[code] = d
			return true
		}
	}
	return false
}

func (s *Server) takeApproval(w http.ResponseWriter, r *http.Request) {
	var in struct {
		UserCode string `json:"user_code"`
		Email    string `json:"email"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, "not an approval: "+err.Error(), http.StatusBadRequest)
		return
	}
	if in.Email != "" && !s.isUser(in.Email) || !s.Approve(in.UserCode, in.Email) {
		http.Error(w, "no such user or code", http.StatusNotFound)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// Live reports whether both tokens are good now.
func (s *Server) Live(access, refresh string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, hasAccess := s.access[access]
	_, hasRefresh := s.refresh[refresh]
	return hasAccess && hasRefresh && s.cfg.Now().Before(a.until)
}

// Pairs counts the sign-ins that can be renewed.
func (s *Server) Pairs() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.refresh)
}

// ExpireAccess ends every access token, whatever its holder was told of its life.
func (s *Server) ExpireAccess() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.access)
}

// RevokeAll ends every token.
func (s *Server) RevokeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.access)
	clear(s.refresh)
}
