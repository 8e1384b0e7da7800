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
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	upstream "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

const (
	// flowLife is how long a person may take at the provider, and flowsMost how many may be there.
	flowLife  = 10 * time.Minute
	flowsMost = 1000
	// patience bounds all requests of one step together.
	patience = 30 * time.Second
)

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
	Last     *Attempt `json:"last"` // nil before the first
	// Problem is why the last sign-in got stuck; empty when it did not.
	Problem reason.Reason `json:"problem_value,omitzero" doc:"Why the last sign-in got stuck on the way; empty when it did not."`
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
	problem reason.Reason
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
		settings: settings, http: &http.Client{Transport: transport{client}, CheckRedirect: stay}, asking: make(chan struct{}, 1),
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
// to go. It returns ErrOff, ErrState, ErrDenied, ErrNotAllowed, or an error that wraps ErrRefused or ErrUnreachable. admit is asked after
// the first two, when the answer belongs to a sign-in that this browser began; its error comes back.
func (p *Provider) Finish(ctx context.Context, a Answer, admit func() error) (entry, next string, err error) {
	if !p.settings().on() {
		return "", "", ErrOff
	}
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
	if err := admit(); err != nil {
		return "", "", err
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
		return "", "", ErrNotAllowed
	}
	return now.entry(item), f.next, nil
}

// note keeps why a sign-in got stuck, for who sets it up.
func (p *Provider) note(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problem = reason.Of(err)
}
