// Package oidc signs people in by an OpenID Connect provider: the authorization code flow with
// PKCE, state and nonce (OpenID Connect Core 1.0, section 3.1; RFC 7636), endpoints by discovery.
//
// What it promises: nobody comes in who is not allowed by name, whatever the provider says of
// them; a sign-in ends in the browser that began it, once, within ten minutes; a token counts only
// when the provider signed it with a public key, for us, now, and for this sign-in; every
// request has a bound in time and size and goes the way that the settings say.
package oidc

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	upstream "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"watchmark/internal/httpx"
	"watchmark/internal/secret"
)

// The errors a caller branches on.
var (
	// ErrOff is returned while the settings name no provider.
	ErrOff = errors.New("signing in by a provider is not set up: set auth.oidc_issuer and auth.oidc_client_id")
	// ErrState is returned for a sign-in that was not begun by this browser, is over, or too old.
	ErrState = errors.New("this sign-in was not begun in this browser, or too long ago: begin again")
	// ErrDenied is returned when the person, or the provider's own rules, said no.
	ErrDenied = errors.New("the provider did not let this account sign in here")
	// ErrRefused is wrapped when what the provider sent cannot be trusted or used. The error that wraps
	// it says why.
	ErrRefused = errors.New("the provider's answer cannot be used")
	// ErrUnreachable is wrapped when the provider does not answer, with the *httpx.Error that says why.
	ErrUnreachable = errors.New("the provider cannot be reached")
	// ErrStranger is returned for an account that auth.oidc_allowed does not name.
	ErrStranger = errors.New("this account of the provider is not in auth.oidc_allowed")
)

const (
	// flowLife is how long a person may take at the provider, and flowsMost how many may be there.
	flowLife  = 10 * time.Minute
	flowsMost = 1000
	// patience bounds all requests of one step together.
	patience = 30 * time.Second
	// freshFor is how long what discovery said holds; failedFor how long its failure is not asked again.
	freshFor  = time.Hour
	failedFor = 5 * time.Second
	// skew is how far the clocks of provider and service may be apart.
	skew = 2 * time.Minute
)

// algorithms are the signatures that count: those with a key that only the provider has. "none" and
// those with a shared secret are not among them, whatever discovery lists.
var algorithms = []string{upstream.RS256, upstream.RS384, upstream.RS512, upstream.ES256, upstream.ES384, upstream.ES512,
	upstream.PS256, upstream.PS384, upstream.PS512, upstream.EdDSA}

// Settings name the provider, and whom it may send.
type Settings struct {
	Name         string // for people; "" = the host of the issuer
	Issuer       string
	ClientID     string
	ClientSecret secret.Text // "" for a public client
	// Allowed are subjects, and e-mail addresses in lower case, which hold an @.
	Allowed []string
}

func (s Settings) on() bool { return s.Issuer != "" && s.ClientID != "" }

// label is what people call the provider.
func (s Settings) label() string {
	if s.Name != "" {
		return s.Name
	}
	if u, err := url.Parse(s.Issuer); err == nil {
		return u.Host
	}
	return s.Issuer
}

// Entries are what sessions are noted by, of those that may be opened; see auth.Policy.
func (s Settings) Entries() []string {
	if !s.on() {
		return nil
	}
	entries := make([]string, len(s.Allowed))
	for i, allowed := range s.Allowed {
		entries[i] = s.entry(allowed)
	}
	return entries
}

func (s Settings) entry(allowed string) string { return s.Issuer + " " + s.ClientID + " " + allowed }

// Person is whom the provider vouches for.
type Person struct {
	Subject       string `json:"subject"`
	Email         string `json:"email"`
	EmailVerified bool   `json:"email_verified"`
}

// allowed is the item of the list that lets the person in; false when none does.
func (p Person) allowed(list []string) (string, bool) {
	for _, item := range list {
		if strings.Contains(item, "@") {
			if p.EmailVerified && strings.EqualFold(item, p.Email) {
				return item, true
			}
		} else if item == p.Subject {
			return item, true
		}
	}
	return "", false
}

// Item is what names the person in the list best: the subject, which nobody can take over. Empty
// when nothing of them can stand there.
func (p Person) Item() string {
	switch {
	case p.Subject != "" && !strings.Contains(p.Subject, "@"):
		return p.Subject
	case p.EmailVerified:
		return p.Email
	}
	return ""
}

// Attempt is the last sign-in that came back with an account.
type Attempt struct {
	At time.Time `json:"at"`
	Person
	Allowed bool `json:"allowed"`
	// Item is what to put into auth.oidc_allowed to let the account in; empty when nothing of it can stand there.
	Item string `json:"item"`
}

// Status is how signing in by the provider stands.
type Status struct {
	On   bool   `json:"on"`
	Name string `json:"name" doc:"What people call the provider."`
	// Somebody reports that the list names anybody.
	Somebody bool     `json:"somebody" doc:"Whether auth.oidc_allowed names anybody."`
	Last     *Attempt `json:"last" doc:"The last account that came back from the provider since the start of the service."`
	// Problem is why the last sign-in got stuck; empty when it did not.
	Problem string `json:"problem" doc:"Why the last sign-in got stuck on the way; empty when it did not."`
}

// Provider signs people in. It may be used by several goroutines.
type Provider struct {
	settings func() Settings
	http     *http.Client
	flows    *secret.Tickets[flow]
	// asking is held by whoever asks for the endpoints.
	asking chan struct{}

	mu    sync.Mutex
	found *endpoints // what discovery said last, or why it failed
	last  *Attempt
	// problem is why the last sign-in got stuck.
	problem string
}

// flow is one sign-in under way.
type flow struct {
	settings    Settings
	browser     string // the secret in the cookie of the browser that began it
	nonce       string
	verifier    string // of PKCE
	redirectURI string
	next        string
}

// New is the provider that the settings name at each use, asked by client.
func New(settings func() Settings, client *httpx.Client) *Provider {
	return &Provider{
		settings: settings, http: &http.Client{Transport: transport{client}}, asking: make(chan struct{}, 1),
		flows: secret.NewTickets[flow](flowLife, flowsMost),
	}
}

// Status is how it stands.
func (p *Provider) Status() Status {
	now := p.settings()
	p.mu.Lock()
	defer p.mu.Unlock()
	return Status{On: now.on(), Name: now.label(), Somebody: len(now.Allowed) > 0, Last: p.last, Problem: p.problem}
}

// Start is the address at the provider where a person signs in, and the secret that the browser must
// bring to Finish in a cookie. next is where to go afterwards. It returns ErrOff, or an error that wraps
// ErrRefused or ErrUnreachable.
func (p *Provider) Start(ctx context.Context, redirectURI, next string) (address, browser string, err error) {
	now := p.settings()
	if !now.on() {
		return "", "", ErrOff
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	e, err := p.endpoints(ctx, now.Issuer)
	if err != nil {
		p.note(err)
		return "", "", err
	}
	f := flow{settings: now, browser: rand.Text(), nonce: rand.Text(), verifier: oauth2.GenerateVerifier(), redirectURI: redirectURI, next: next}
	state := p.flows.Give(f)
	return e.oauth(f).AuthCodeURL(state, upstream.Nonce(f.nonce), oauth2.S256ChallengeOption(f.verifier)), f.browser, nil
}

// Answer is what the provider sent the browser back with.
type Answer struct {
	State, Code string
	// Error is the provider's word for why there is no code.
	Error string
	// Browser is the secret of the cookie.
	Browser string
}

// Finish checks what the provider sent back. entry is what the session is to be noted by, next where
// to go. It returns ErrState, ErrOff, ErrDenied, ErrStranger, or an error that wraps ErrRefused or ErrUnreachable.
func (p *Provider) Finish(ctx context.Context, a Answer) (entry, next string, err error) {
	f, found := p.flows.Take(a.State, func(f flow) bool { return subtle.ConstantTimeCompare([]byte(f.browser), []byte(a.Browser)) == 1 })
	if !found {
		return "", "", ErrState
	}
	now := p.settings()
	switch {
	case !now.on():
		return "", "", ErrOff
	case now.Issuer != f.settings.Issuer || now.ClientID != f.settings.ClientID:
		return "", "", ErrState // another provider was set meanwhile
	case a.Error == "access_denied":
		return "", "", ErrDenied
	}
	person, err := p.person(ctx, f, a)
	p.note(err)
	if err != nil {
		return "", "", err
	}
	item, allowed := person.allowed(now.Allowed)
	p.mu.Lock()
	p.last = &Attempt{At: time.Now(), Person: person, Allowed: allowed, Item: person.Item()}
	p.mu.Unlock()
	if !allowed {
		return "", "", ErrStranger
	}
	return now.entry(item), f.next, nil
}

// note keeps why a sign-in got stuck, for who sets it up.
func (p *Provider) note(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problem = ""
	if err != nil {
		p.problem = err.Error()
	}
}

// person trades the code for tokens and reads whose they are.
func (p *Provider) person(ctx context.Context, f flow, a Answer) (Person, error) {
	if a.Error != "" {
		return Person{}, fmt.Errorf("%w: it says %s", ErrRefused, word(a.Error))
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	e, err := p.endpoints(ctx, f.settings.Issuer)
	if err != nil {
		return Person{}, err
	}
	ctx = upstream.ClientContext(ctx, p.http)
	tokens, err := e.oauth(f).Exchange(ctx, a.Code, oauth2.VerifierOption(f.verifier))
	if err != nil {
		return Person{}, exchangeError(err)
	}
	raw, ok := tokens.Extra("id_token").(string)
	if !ok {
		return Person{}, fmt.Errorf("%w: it sent no ID token; let the client use the scope openid", ErrRefused)
	}
	keys := &noting{KeySet: e.keys}
	verifier := upstream.NewVerifier(e.issuer, keys, &upstream.Config{
		ClientID: f.settings.ClientID, SupportedSigningAlgs: algorithms, Now: func() time.Time { return time.Now().Add(-skew) },
	})
	token, err := verifier.Verify(ctx, raw)
	if failure := reach(keys.err); failure != nil {
		return Person{}, failure
	}
	if err != nil {
		return Person{}, fmt.Errorf("%w: %s", ErrRefused, tokenProblem(err))
	}
	var claims struct {
		Email         string `json:"email"`
		EmailVerified truth  `json:"email_verified"`
		Authorized    string `json:"azp"`
	}
	if err := token.Claims(&claims); err != nil {
		return Person{}, fmt.Errorf("%w: its claims cannot be read", ErrRefused)
	}
	switch {
	case subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(f.nonce)) != 1:
		return Person{}, fmt.Errorf("%w: the token is of another sign-in", ErrRefused)
	case len(token.Audience) > 1 && claims.Authorized != f.settings.ClientID:
		return Person{}, fmt.Errorf("%w: the token is for another client", ErrRefused)
	case token.Subject == "":
		return Person{}, fmt.Errorf("%w: the token names nobody", ErrRefused)
	}
	person := Person{Subject: token.Subject, Email: claims.Email, EmailVerified: bool(claims.EmailVerified)}
	if person.Email == "" && e.UserInfoURL != "" {
		return p.askEmail(ctx, e, tokens, person)
	}
	return person, nil
}

// askEmail asks for the e-mail address where the token does not tell it, as some providers do.
func (p *Provider) askEmail(ctx context.Context, e *endpoints, tokens *oauth2.Token, person Person) (Person, error) {
	info, err := e.provider.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	if failure := reach(err); failure != nil {
		return Person{}, failure
	}
	if err != nil {
		return person, nil //nolint:nilerr // the subject is known, and that is enough for many
	}
	if info.Subject != person.Subject { // OpenID Connect Core 1.0, section 5.3.2
		return Person{}, fmt.Errorf("%w: it tells of another account than the one that signed in", ErrRefused)
	}
	person.Email, person.EmailVerified = info.Email, info.EmailVerified
	return person, nil
}

// truth is a boolean, which some providers send as text.
type truth bool

// UnmarshalJSON takes true and "true" for true, and all else for false.
func (t *truth) UnmarshalJSON(text []byte) error {
	*t = string(text) == "true" || string(text) == `"true"`
	return nil
}

// noting is a set of keys that keeps the error of the last use, which the library makes a text of.
type noting struct {
	upstream.KeySet
	err error
}

// VerifySignature is that of the set.
func (n *noting) VerifySignature(ctx context.Context, jwt string) ([]byte, error) {
	var payload []byte
	payload, n.err = n.KeySet.VerifySignature(ctx, jwt)
	return payload, n.err
}

// reach wraps ErrUnreachable around the *httpx.Error in the chain of err; nil when there is none.
func reach(err error) error {
	var failure *httpx.Error
	if errors.As(err, &failure) {
		return fmt.Errorf("%w: %w", ErrUnreachable, failure)
	}
	return nil
}

// exchangeError is what went wrong with the code.
func exchangeError(err error) error {
	if failure := reach(err); failure != nil {
		return failure
	}
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) {
		switch refused.ErrorCode {
		case "invalid_client", "unauthorized_client":
			return fmt.Errorf("%w: it does not know the client: check auth.oidc_client_id and auth.oidc_client_secret", ErrRefused)
		case "":
			return fmt.Errorf("%w: it answered %d to the code", ErrRefused, refused.Response.StatusCode)
		}
		return fmt.Errorf("%w: it says %s", ErrRefused, word(refused.ErrorCode))
	}
	return fmt.Errorf("%w: it sent no tokens for the code", ErrRefused)
}

// tokenProblem says what is wrong with a token.
func tokenProblem(err error) string {
	var expired *upstream.TokenExpiredError
	text := err.Error()
	switch {
	case errors.As(err, &expired), strings.Contains(text, "nbf"):
		return "the token is of another time: check the clocks of this machine and of the provider"
	case strings.Contains(text, "audience"):
		return "the token is for another client"
	case strings.Contains(text, "issued by a different provider"):
		return "the token is of another issuer: set auth.oidc_issuer to the one that the provider calls itself"
	}
	return "the token is not signed as it should be"
}

// word is a code of the protocol (RFC 6749, 4.1.2.1), which is all that is shown of what came.
func word(code string) string {
	const longest = 60
	if len(code) > longest || strings.ContainsFunc(code, func(r rune) bool { return (r < 'a' || r > 'z') && r != '_' }) {
		return "what it should not"
	}
	return code
}

// endpoints are what discovery said of an issuer, or its failure.
type endpoints struct {
	upstream.ProviderConfig
	asked    string // the issuer of the settings
	at       time.Time
	err      error
	issuer   string   // as the provider writes it
	methods  []string // by which a client shows its secret; none where nothing is said
	provider *upstream.Provider
	keys     upstream.KeySet
}

func (e *endpoints) fresh(issuer string) bool {
	if e == nil || e.asked != issuer {
		return false
	}
	if e.err != nil {
		return time.Since(e.at) < failedFor
	}
	return time.Since(e.at) < freshFor
}

func (e *endpoints) oauth(f flow) *oauth2.Config {
	endpoint := e.provider.Endpoint()
	endpoint.AuthStyle = oauth2.AuthStyleInHeader // holds where nothing is said
	if f.settings.ClientSecret == "" || len(e.methods) > 0 && !slices.Contains(e.methods, "client_secret_basic") {
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	return &oauth2.Config{
		ClientID: f.settings.ClientID, ClientSecret: f.settings.ClientSecret.Reveal(), RedirectURL: f.redirectURI,
		Endpoint: endpoint, Scopes: []string{upstream.ScopeOpenID, "email"},
	}
}

// endpoints asks the issuer where its doors are, or remembers. One asks at a time.
func (p *Provider) endpoints(ctx context.Context, issuer string) (*endpoints, error) {
	select {
	case p.asking <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for the provider: %w", ctx.Err())
	}
	defer func() { <-p.asking }()
	p.mu.Lock()
	known := p.found
	p.mu.Unlock()
	if known.fresh(issuer) {
		return known, known.err
	}
	e := &endpoints{asked: issuer, at: time.Now()}
	e.err = p.discover(ctx, e)
	if e.err == nil && known != nil && known.JWKSURL == e.JWKSURL && known.err == nil {
		e.keys = known.keys
	}
	if e.err == nil || ctx.Err() == nil { // a person who left says nothing of the provider
		p.mu.Lock()
		p.found = e
		p.mu.Unlock()
	}
	return e, e.err
}

// DiscoveryURL is where an issuer says how it is reached (OpenID Connect Discovery 1.0, section 4).
func DiscoveryURL(issuer string) string {
	return strings.TrimRight(issuer, "/") + "/.well-known/openid-configuration"
}

// discover reads that document.
func (p *Provider) discover(ctx context.Context, e *endpoints) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, DiscoveryURL(e.asked), nil)
	if err != nil {
		return fmt.Errorf("%w: auth.oidc_issuer is no address", ErrRefused)
	}
	answer, err := p.http.Do(req)
	if failure := reach(err); failure != nil {
		return failure
	}
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }() // it is in memory
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: it answered %d when it was asked for its addresses: check auth.oidc_issuer", ErrRefused, answer.StatusCode)
	}
	var document struct {
		upstream.ProviderConfig
		Methods []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&document); err != nil {
		return fmt.Errorf("%w: there is no OpenID Connect provider at auth.oidc_issuer", ErrRefused)
	}
	// A slash at the end is easily lost on the way from one page to another, and leads to the same document.
	if strings.TrimRight(document.IssuerURL, "/") != strings.TrimRight(e.asked, "/") {
		return fmt.Errorf("%w: it calls itself %q: set auth.oidc_issuer to that if it is yours", ErrRefused, document.IssuerURL)
	}
	for _, address := range []string{document.AuthURL, document.TokenURL, document.JWKSURL} {
		if u, err := url.Parse(address); err != nil || u.Host == "" || u.Scheme != "https" && !strings.HasPrefix(e.asked, "http://") {
			return fmt.Errorf("%w: it names no usable addresses for signing in", ErrRefused)
		}
	}
	e.ProviderConfig, e.issuer, e.methods = document.ProviderConfig, document.IssuerURL, document.Methods
	outlives := upstream.ClientContext(context.Background(), p.http)
	e.provider, e.keys = e.NewProvider(outlives), upstream.NewRemoteKeySet(outlives, e.JWKSURL)
	return nil
}
