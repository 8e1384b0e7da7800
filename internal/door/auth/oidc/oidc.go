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
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	upstream "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"watchmark/internal/door/auth"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// Bounds of what is kept: FlowLife is how long a person may take at the provider, and FlowsMost how many may be there. EndLife is
// how long it is known how the last sign-in ended.
const (
	FlowLife  = 10 * time.Minute
	FlowsMost = 1000
	EndLife   = 30 * 24 * time.Hour
	// patience bounds all requests of one step together.
	patience = 30 * time.Second
)

// Settings name the provider, and whom it may send.
type Settings struct {
	Name         string // for people; "" = the host of the issuer
	Issuer       string
	ClientID     string
	ClientSecret secret.Text // "" for a public client
	// Allowed are subjects, and e-mail addresses in lower case, which hold an @. They are the owner's.
	Allowed []string
	// Groups are the names of the groups that give a role; empty without any. GroupsClaim is where the provider lists those of an account.
	Groups      map[auth.Role]string
	GroupsClaim string
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
	var entries []string
	for _, allowed := range s.Allowed {
		entries = append(entries, s.entry(allowed))
	}
	for role := range s.Groups {
		entries = append(entries, s.groupEntry(role))
	}
	return entries
}

func (s Settings) entry(allowed string) string { return s.Issuer + " " + s.ClientID + " " + allowed }

// groupEntry is the entry of a group. No item of Allowed has a space.
func (s Settings) groupEntry(role auth.Role) string {
	return s.entry(string(role) + " group " + s.Groups[role])
}

// role is what somebody may do, and the entry that says so. It returns ErrNotAllowed, ErrNoGroups, ErrNoGroup or ErrManyRoles.
func (s Settings) role(p Person) (role auth.Role, entry string, err error) {
	item, allowed := p.allowed(s.Allowed)
	switch {
	case allowed:
		return auth.RoleOwner, s.entry(item), nil
	case len(s.Groups) == 0:
		return "", "", ErrNotAllowed
	case p.Groups == nil:
		return "", "", ErrNoGroups.With(s.GroupsClaim)
	}
	for _, one := range []auth.Role{auth.RoleOwner, auth.RolePerson, auth.RoleGuest} {
		if group, set := s.Groups[one]; set && slices.Contains(p.Groups, group) {
			if role != "" {
				return "", "", ErrManyRoles
			}
			role = one
		}
	}
	if role == "" {
		return "", "", ErrNoGroup
	}
	return role, s.groupEntry(role), nil
}

// Person is whom the provider vouches for.
type Person struct {
	Subject       string `json:"subject"`
	Email         string `json:"email"`
	EmailVerified bool   `json:"email_verified"`
	Name          string `json:"name" doc:"What the provider calls the account; empty when it does not tell."`
	// Groups is nil where the provider does not tell them as a list of texts.
	Groups []string `json:"groups,omitempty" doc:"The groups of the account, where groups are set."`
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
	Somebody bool     `json:"somebody" doc:"Whether auth.oidc_allowed names anybody, or a group is set."`
	Last     *Attempt `json:"last"` // nil before the first
	// Problem is why the last sign-in got stuck; empty when it did not.
	Problem reason.Reason `json:"problem_value,omitzero" doc:"Why the last sign-in got stuck on the way; empty when it did not."`
}

// Flows keep the sign-ins under way, whatever replica they end at; *tickets.Kind[Flow] is one.
type Flows interface {
	Give(ctx context.Context, f Flow) (state string, err error)
	Take(ctx context.Context, state string, mine func(Flow) bool) (f Flow, found bool, err error)
}

// Ends keep how the last sign-in ended, by a name; *tickets.Kind[End] is one.
type Ends interface {
	Put(ctx context.Context, name string, e End) error
	Find(ctx context.Context, name string) (e End, found bool, err error)
}

// Config is what a Provider needs; every field must be set.
type Config struct {
	// Settings name the provider at each use.
	Settings func() Settings
	// HTTP asks it.
	HTTP  *httpx.Client
	Flows Flows
	Ends  Ends
	Log   *slog.Logger
}

// Provider signs people in. It may be used by several goroutines.
type Provider struct {
	Config
	http *http.Client
	// asking is held by whoever asks for the endpoints.
	asking chan struct{}

	mu    sync.Mutex
	found *endpoints // what discovery said last, or why it failed
}

// Flow is one sign-in under way.
type Flow struct {
	Issuer, ClientID string // of the settings
	Browser          string // the secret in the cookie of the browser that began it
	Nonce            string
	Verifier         string // of PKCE
	RedirectURI      string
	Next             string
	// Invitation is the token of the invitation that it accepts; empty for none.
	Invitation string
}

// End is how sign-ins ended.
type End struct {
	Last    *Attempt      // nil before the first that came back with an account
	Problem reason.Reason // why the last one got stuck
}

// New is a provider.
func New(c Config) *Provider {
	return &Provider{Config: c, http: &http.Client{Transport: transport{c.HTTP}, CheckRedirect: stay}, asking: make(chan struct{}, 1)}
}

// On reports whether the settings name a provider.
func (p *Provider) On() bool { return p.Settings().on() }

// Name is what people call the provider of the settings.
func (p *Provider) Name() string { return p.Settings().label() }

// Status is how it stands.
func (p *Provider) Status(ctx context.Context) (Status, error) {
	now := p.Settings()
	end, _, err := p.Ends.Find(ctx, ended)
	return Status{On: now.on(), Name: now.label(), Somebody: len(now.Allowed)+len(now.Groups) > 0, Last: end.Last, Problem: end.Problem}, err
}

// Start is the address at the provider where a person signs in, and the secret that the browser must
// bring to Finish in a cookie. next is where to go afterwards, and invitation the token of one that is accepted so; empty for none. It
// returns ErrOff, an error that wraps ErrRefused or ErrUnreachable, or one of the database.
func (p *Provider) Start(ctx context.Context, redirectURI, next, invitation string) (address, browser string, err error) {
	now := p.Settings()
	if !now.on() {
		return "", "", ErrOff
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	e, err := p.endpoints(ctx, now.Issuer)
	if err != nil {
		p.note(ctx, func(end *End) { end.Problem = reason.Of(err) })
		return "", "", err
	}
	f := Flow{
		Issuer: now.Issuer, ClientID: now.ClientID,
		Browser: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), RedirectURI: redirectURI, Next: next, Invitation: invitation,
	}
	state, err := p.Flows.Give(ctx, f)
	if err != nil {
		return "", "", err
	}
	var more []string
	if len(now.Groups) > 0 {
		more = slices.DeleteFunc([]string{"profile", "groups"}, func(scope string) bool { return !slices.Contains(e.scopes, scope) })
	}
	return e.oauth(f, now.ClientSecret, more...).AuthCodeURL(state, upstream.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier)), f.Browser, nil
}

// Answer is what the provider sent the browser back with.
type Answer struct {
	State, Code string
	// Error is the provider's word for why there is no code.
	Error string
	// Browser is the secret of the cookie.
	Browser string
}

// Result is how a sign-in ended at the provider.
type Result struct {
	// Person is there once the provider has vouched for somebody, whatever else is wrong; Issuer and Subject name them for ever.
	Person
	Issuer string
	// Service is what people call the provider.
	Service string
	// Role is what the person may do. ByGroup says that groups gave it, and not auth.oidc_allowed, whose people are the owner.
	Role    auth.Role
	ByGroup bool
	// Entry is what the session is to be noted by, and Next where to go.
	Entry, Next string
	Invitation  string
}

// Finish checks what the provider sent back. It returns ErrOff, ErrState, ErrDenied, ErrNotAllowed, ErrNoGroups, ErrNoGroup, ErrManyRoles,
// an error that wraps ErrRefused or ErrUnreachable, or one of the database. admit is asked after
// the first two, when the answer belongs to a sign-in that this browser began; its error comes back.
func (p *Provider) Finish(ctx context.Context, a Answer, admit func() error) (r Result, err error) {
	if !p.On() {
		return r, ErrOff
	}
	f, found, err := p.Flows.Take(ctx, a.State, func(f Flow) bool { return subtle.ConstantTimeCompare([]byte(f.Browser), []byte(a.Browser)) == 1 })
	if err != nil {
		return r, err
	}
	if !found {
		return r, ErrState
	}
	now := p.Settings()
	r.Issuer, r.Service, r.Next, r.Invitation = now.Issuer, now.label(), f.Next, f.Invitation
	switch {
	case !now.on():
		return r, ErrOff
	case now.Issuer != f.Issuer || now.ClientID != f.ClientID:
		return r, ErrState // another provider was set meanwhile
	case a.Error == "access_denied":
		return r, ErrDenied
	}
	if err := admit(); err != nil {
		return r, err
	}
	r.Person, err = p.person(ctx, f, now, a)
	if err != nil {
		p.note(ctx, func(end *End) { end.Problem = reason.Of(err) })
		return r, err
	}
	r.Role, r.Entry, err = now.role(r.Person)
	_, named := r.allowed(now.Allowed)
	r.ByGroup = err == nil && !named
	p.note(ctx, func(end *End) {
		*end = End{Last: &Attempt{At: time.Now(), Person: r.Person, Allowed: err == nil && r.Role != auth.RoleGuest, Item: r.Item()}}
		if err != nil && len(now.Groups) > 0 {
			end.Problem = reason.Of(err)
		}
	})
	return r, err
}

// ended is the name of the one End there is.
const ended = "last"

// note keeps how a sign-in ended, for who sets it up. One that ends at the same time may be forgotten.
func (p *Provider) note(ctx context.Context, change func(*End)) {
	ctx = context.WithoutCancel(ctx) // the end is there, whoever left
	end, _, err := p.Ends.Find(ctx, ended)
	before := end
	change(&end)
	if err == nil && (end.Last != before.Last || !end.Problem.Equal(before.Problem)) {
		err = p.Ends.Put(ctx, ended, end)
	}
	if err != nil {
		p.Log.ErrorContext(ctx, "cannot note how a sign-in by the provider ended", "error", err)
	}
}
