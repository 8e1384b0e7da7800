// Package oidctest is an OpenID Connect provider for tests, on the loopback, that behaves as real
// ones do and can be told to misbehave.
package oidctest

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"io"
	"maps"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"watchmark/internal/testkit/simulated"
)

// Account is who signs in at the provider.
type Account struct {
	Subject       string
	Email         string
	EmailVerified any // true, false, "true", or nil, which leaves the claim away
	// Username is preferred_username, and Groups the claim groups, which is a list of texts at a good provider; empty and nil leave
	// the claims away.
	Username string
	Groups   any
}

// Config says how the provider behaves. The zero value of each field is how a good one does.
type Config struct {
	ClientID     string
	ClientSecret string // "" = a public client
	// RedirectURI is the only one registered; "" takes all.
	RedirectURI string
	Account     Account
	// Methods are the token_endpoint_auth_methods_supported; nil is not to tell.
	Methods []string
	// EmailByUserInfo keeps the e-mail address out of the ID token, as Authelia does.
	EmailByUserInfo bool
	// Scopes are the scopes_supported; nil is not to tell. Where they are told, another one is refused (OpenID Connect Core, 3.1.2.6).
	Scopes []string
	// Deny is the error with which every sign-in is sent back.
	Deny string
	// Token changes the claims of an ID token, and says how it is signed: "RS256" when empty, else
	// "none", "HS256" with the public key as the secret, or "strange" with a key that nobody published.
	Token func(claims map[string]any) (how string)
	// UserInfo changes the answer of the userinfo endpoint.
	UserInfo func(claims map[string]any)
	// Discovery changes the document, or answers a status in its place.
	Discovery func(document map[string]any) (status int)
}

// Server is the provider.
type Server struct {
	url string

	mu     sync.Mutex
	config Config
	key    *rsa.PrivateKey
	kid    int // of the key; each new one has the next
	codes  map[string]grant
	tokens map[string]Account
	count  map[string]int
}

// grant is a code that was given out.
type grant struct {
	redirectURI, nonce, challenge string
	account                       Account
}

// Start runs a provider for one test; URL is its issuer.
func Start(tb simulated.TB, c Config) *Server {
	tb.Helper()
	key, err := firstKey()
	if err != nil {
		tb.Fatal(err)
	}
	s := &Server{config: c, key: key, codes: map[string]grant{}, tokens: map[string]Account{}, count: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", s.discovery)
	mux.HandleFunc("GET /authorize", s.authorize)
	mux.HandleFunc("POST /token", s.token)
	mux.HandleFunc("GET /userinfo", s.userInfo)
	mux.HandleFunc("GET /keys", s.jwks)
	s.url = simulated.Start(tb, mux)
	return s
}

// URL is the issuer, without a slash at the end.
func (s *Server) URL() string { return s.url }

// Set changes how it behaves.
func (s *Server) Set(change func(*Config)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.config)
}

// Asked is how often a door was asked: discovery, authorize, token, userinfo, keys.
func (s *Server) Asked(door string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count[door]
}

func (s *Server) asked(door string) Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count[door]++
	return s.config
}

func newKey() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) }

// firstKey is that of every provider until it rotates, strangeKey one that none publishes: to make them
// takes most of the time of a test.
var firstKey, strangeKey = sync.OnceValues(newKey), sync.OnceValues(newKey)

// Rotate makes a new key and forgets the old one.
func (s *Server) Rotate(tb simulated.TB) {
	tb.Helper()
	key, err := newKey()
	if err != nil {
		tb.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = key
	s.kid++
}

func (s *Server) discovery(w http.ResponseWriter, _ *http.Request) {
	c := s.asked("discovery")
	document := map[string]any{
		"issuer": s.url, "authorization_endpoint": s.url + "/authorize", "token_endpoint": s.url + "/token",
		"userinfo_endpoint": s.url + "/userinfo", "jwks_uri": s.url + "/keys",
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"}, "code_challenge_methods_supported": []string{"S256"},
	}
	if c.Methods != nil {
		document["token_endpoint_auth_methods_supported"] = c.Methods
	}
	if c.Scopes != nil {
		document["scopes_supported"] = c.Scopes
	}
	status := http.StatusOK
	if c.Discovery != nil {
		status = c.Discovery(document)
	}
	answer(w, status, document)
}

// authorize signs the account in at once, and sends the browser back. Who shows the wrong client
// or redirect URI is not sent anywhere (RFC 6749, 4.1.2.1).
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	c := s.asked("authorize")
	q := r.URL.Query()
	if q.Get("client_id") != c.ClientID || c.RedirectURI != "" && q.Get("redirect_uri") != c.RedirectURI {
		http.Error(w, "unknown client or redirect URI "+html.EscapeString(q.Get("redirect_uri")), http.StatusBadRequest)
		return
	}
	back := url.Values{"state": {q.Get("state")}}
	switch {
	case c.Deny != "":
		back.Set("error", c.Deny)
	case c.Scopes != nil && slices.ContainsFunc(strings.Fields(q.Get("scope")), func(scope string) bool { return !slices.Contains(c.Scopes, scope) }):
		back.Set("error", "invalid_scope")
	case q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("nonce") == "" || q.Get("scope") == "":
		back.Set("error", "invalid_request")
	default:
		code := rand.Text()
		s.mu.Lock()
		s.codes[code] = grant{q.Get("redirect_uri"), q.Get("nonce"), q.Get("code_challenge"), c.Account}
		s.mu.Unlock()
		back.Set("code", code)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusSeeOther)
}

func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	c := s.asked("token")
	id, secret, basic := r.BasicAuth()
	if basic {
		id, _ = url.QueryUnescape(id) // RFC 6749, 2.3.1
		secret, _ = url.QueryUnescape(secret)
	} else {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	method := "client_secret_post"
	if basic {
		method = "client_secret_basic"
	}
	methods := c.Methods
	if methods == nil {
		methods = []string{"client_secret_basic"}
	}
	if id != c.ClientID || secret != c.ClientSecret || c.ClientSecret != "" && !slices.Contains(methods, method) {
		answer(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
		return
	}
	s.mu.Lock()
	g, known := s.codes[r.PostFormValue("code")]
	delete(s.codes, r.PostFormValue("code")) // a code is good once
	s.mu.Unlock()
	challenge := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if !known || r.PostFormValue("grant_type") != "authorization_code" || r.PostFormValue("redirect_uri") != g.redirectURI || encode(challenge[:]) != g.challenge {
		answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
		return
	}
	now := time.Now()
	claims := map[string]any{"iss": s.url, "sub": g.account.Subject, "aud": c.ClientID, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(), "nonce": g.nonce}
	if !c.EmailByUserInfo {
		maps.Copy(claims, g.account.claims())
	}
	how := ""
	if c.Token != nil {
		how = c.Token(claims)
	}
	access := rand.Text()
	s.mu.Lock()
	s.tokens[access] = g.account
	s.mu.Unlock()
	answer(w, http.StatusOK, map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": 3600, "id_token": s.sign(claims, how)})
}

func (a Account) claims() map[string]any {
	claims := map[string]any{}
	if a.Email != "" {
		claims["email"] = a.Email
	}
	if a.EmailVerified != nil {
		claims["email_verified"] = a.EmailVerified
	}
	if a.Username != "" {
		claims["preferred_username"] = a.Username
	}
	if a.Groups != nil {
		claims["groups"] = a.Groups
	}
	return claims
}

func (s *Server) userInfo(w http.ResponseWriter, r *http.Request) {
	c := s.asked("userinfo")
	s.mu.Lock()
	account, known := s.tokens[r.Header.Get("Authorization")[min(len("Bearer "), len(r.Header.Get("Authorization"))):]]
	s.mu.Unlock()
	if !known {
		answer(w, http.StatusUnauthorized, map[string]any{"error": "invalid_token"})
		return
	}
	claims := account.claims()
	claims["sub"] = account.Subject
	if c.UserInfo != nil {
		c.UserInfo(claims)
	}
	answer(w, http.StatusOK, claims)
}

func (s *Server) jwks(w http.ResponseWriter, _ *http.Request) {
	s.asked("keys")
	s.mu.Lock()
	defer s.mu.Unlock()
	public := s.key.PublicKey
	answer(w, http.StatusOK, map[string]any{"keys": []map[string]any{{
		"kty": "RSA", "use": "sig", "alg": "RS256", "kid": kid(s.kid), "n": encode(public.N.Bytes()), "e": encode(big.NewInt(int64(public.E)).Bytes()),
	}}})
}

func kid(n int) string { return "key-" + string(rune('a'+n)) }

// sign makes a token of the claims (RFC 7515).
func (s *Server) sign(claims map[string]any, how string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, header := s.key, map[string]any{"alg": "RS256", "typ": "JWT", "kid": kid(s.kid)}
	switch how {
	case "none", "HS256":
		header["alg"] = how
	case "strange":
		var err error
		if key, err = strangeKey(); err != nil {
			panic(err) // the generator does not fail
		}
	}
	signed := encode(mustJSON(header)) + "." + encode(mustJSON(claims))
	switch how {
	case "none":
		return signed + "."
	case "HS256":
		mac := hmac.New(sha256.New, s.key.N.Bytes())
		_, _ = io.WriteString(mac, signed)
		return signed + "." + encode(mac.Sum(nil))
	}
	sum := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		panic(err) // the key is ours
	}
	return signed + "." + encode(signature)
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func mustJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // claims are what JSON can say
	}
	return text
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(mustJSON(v))
}
