package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/door/auth"
	"watchmark/internal/door/auth/oidc"
	"watchmark/internal/platform/secret"
)

const (
	providerPath         = "/api/login/oidc"
	providerCallbackPath = providerPath + "/callback"
	// providerCookie binds a sign-in that is at the provider to the browser that began it.
	providerCookie     = "watchmark_oidc"
	providerCookieLife = 10 * time.Minute
)

// providerStatus is how signing in by a provider stands.
type providerStatus struct {
	oidc.Status
	Problem     string               `json:"problem" doc:"Why the last sign-in got stuck on the way; empty when it did not."`
	Last        orNull[oidc.Attempt] `json:"last" doc:"The last account that came back from the provider within 30 days; null when none did."`
	RedirectURI string               `json:"redirect_uri" doc:"The redirect URI to register at the provider."`
}

type providerStart struct {
	Next       string      `json:"next,omitempty" maxLength:"2000" doc:"The page of this service to go to afterwards, without the base path." example:"/records"`
	Invitation secret.Text `json:"invitation,omitempty" writeOnly:"true" doc:"The token of an invitation that this accepts, where the provider's groups make people."`
}

// startedProvider is where to go, and the cookie that must come back with the browser.
type startedProvider struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
	Body      oauthAddress
}

// provided sends a browser on from the provider.
type provided struct {
	Location  string        `header:"Location"`
	SetCookie []http.Cookie `header:"Set-Cookie"`
}

// Provider is signing in by an OpenID Connect provider.
type Provider struct {
	OIDC *oidc.Provider
	// People sees to what follows from a role that has changed.
	People People
}

// provider is Provider at its server.
type provider struct {
	*server
	oidc   *oidc.Provider
	people People
}

func (pr Provider) register(s *server) {
	p := provider{s, pr.OIDC, pr.People}
	const tag = "Login"
	register(s, huma.Operation{
		Method: http.MethodGet, Path: providerPath, OperationID: "get-login-provider", Tags: []string{tag},
		Summary: "See how signing in by a provider stands",
	}, func(ctx context.Context, _ *none) (*JSON[providerStatus], error) {
		status, err := p.oidc.Status(ctx)
		return answer(providerStatus{status, status.Problem.Text, orNull[oidc.Attempt]{status.Last}, p.PublicURL(ctx) + providerCallbackPath}, err)
	})
	registerOther(s, huma.Operation{
		Method: http.MethodPost, Path: providerPath, OperationID: "start-login-provider", Tags: []string{tag},
		Summary:     "Begin to sign in by the OpenID Connect provider",
		Description: "Answers the address of the provider where the person signs in, which leads back to the callback, and sets a cookie that must come along. Good for ten minutes.",
		Errors:      []int{http.StatusUnauthorized, http.StatusConflict, http.StatusTooManyRequests, http.StatusBadGateway},
	}, p.start)
	registerOther(s, huma.Operation{
		Method: http.MethodGet, Path: providerCallbackPath, OperationID: "finish-login-provider", Tags: []string{tag},
		Summary: "The way back from the provider",
		Description: "Browsers come here from the provider and are sent on signed in, or to the sign-in page, with problem=" +
			"denied, state (too late, or begun in another browser), stranger (not in auth.oidc_allowed), no_groups, no_group, many_roles, one_owner, owner_group, guest (what the groups of the account say), taken or invitation (why an invitation was not accepted), refused (the answer cannot be used; the log says why), unreachable, off, no_admin, locked or internal. A browser that is signed in already is sent to the page Access instead.",
		DefaultStatus: http.StatusSeeOther, Errors: []int{http.StatusForbidden},
	}, p.finish)
}

func (p provider) start(ctx context.Context, in *struct {
	Browser
	Body *providerStart
}) (*startedProvider, error) {
	if !p.oidc.On() {
		return nil, oidc.ErrOff
	}
	if err := p.Guard.Store.Begin(in.visitor(ctx)); err != nil {
		return nil, err
	}
	// The cookie is of the host that the browser shows, and the provider leads to that of the setting.
	public, err := url.Parse(p.PublicURL(ctx))
	if err == nil && !strings.EqualFold(public.Host, auth.ClientOf(ctx).Host) {
		return nil, publicAddress.With(p.PublicURL(ctx))
	}
	next, token := "/", ""
	if in.Body != nil {
		next, token = auth.LocalPath(in.Body.Next), in.Body.Invitation.Reveal()
	}
	if err := p.invites(ctx, token); err != nil {
		return nil, err
	}
	address, browser, err := p.oidc.Start(ctx, p.PublicURL(ctx)+providerCallbackPath, next, token)
	if err != nil {
		p.Log.WarnContext(ctx, "signing in by the provider cannot begin", "error", err)
		return nil, err
	}
	return &startedProvider{SetCookie: p.cookie(ctx, browser, int(providerCookieLife/time.Second)), Body: oauthAddress{address}}, nil
}

// cookie is Lax, not Strict: the way back begins at another site.
func (p provider) cookie(ctx context.Context, value string, maxAge int) http.Cookie {
	return http.Cookie{ //nolint:gosec // without HTTPS a Secure cookie would never come back
		Name: providerCookie, Value: value, Path: p.Guard.BasePath + providerPath, MaxAge: maxAge,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: auth.ClientOf(ctx).HTTPS,
	}
}

func (p provider) finish(ctx context.Context, in *struct {
	Browser
	State   string `query:"state" maxLength:"200" doc:"What start gave the provider to bring back."`
	Code    string `query:"code" maxLength:"4000" doc:"The code to be exchanged for tokens."`
	Error   string `query:"error" maxLength:"200" doc:"Set when the provider gives no code."`
	Started string `cookie:"watchmark_oidc" hidden:"true"`
	Mode    string `header:"Sec-Fetch-Mode" hidden:"true"`
	Dest    string `header:"Sec-Fetch-Dest" hidden:"true"`
}) (*provided, error) {
	if in.Mode != "" && (in.Mode != "navigate" || in.Dest != "document") {
		return nil, oidcReturnOnly
	}
	out := &provided{}
	opened, result, err := p.enter(ctx, oidc.Answer{State: in.State, Code: in.Code, Error: in.Error, Browser: in.Started}, in.visitor(ctx))
	if !errors.Is(err, oidc.ErrState) && !errors.Is(err, oidc.ErrOff) {
		// Any page can lead a browser here, which must not end a sign-in that is under way.
		out.SetCookie = []http.Cookie{p.cookie(ctx, "", -1)}
	}
	if err == nil {
		out.Location = p.Guard.BasePath + result.Next
		out.SetCookie = append(out.SetCookie, *p.Guard.SessionCookie(ctx, opened.Token, opened.Expires), *p.Guard.DeviceCookie(ctx, opened.Device))
		return out, nil
	}
	reason := providerReason(err)
	p.logWayBack(ctx, providerCallbackPath, "nobody came in by the provider", reason, err)
	page := "/login"
	if _, known := auth.IdentityOf(ctx); known { // who tries it out while setting it up
		page = "/settings/access"
	}
	query := url.Values{"problem": {reason}}
	if result.Invitation != "" && page == "/login" {
		page = "/invitation"
		query.Set("token", result.Invitation)
	}
	out.Location = p.Guard.BasePath + page + "?" + query.Encode()
	return out, nil
}

// enter counts the attempt once it belongs to a sign-in that began here, and takes it back where nothing can have been guessed.
func (p provider) enter(ctx context.Context, a oidc.Answer, v auth.Visitor) (opened auth.Opened, result oidc.Result, err error) {
	counted := false
	result, err = p.oidc.Finish(ctx, a, func() error {
		err := p.Guard.Store.Knock(ctx, v)
		counted = err == nil
		return err
	})
	if err == nil {
		opened, err = p.admit(ctx, result, v)
	}
	stranger := noRole(err)
	if stranger && result.Subject != "" {
		if failed := p.Guard.Store.Unvouch(ctx, vouchedBy(result)); failed != nil {
			err = errors.Join(failed, err)
		}
	}
	if counted && err != nil && !errors.Is(err, oidc.ErrRefused) && !stranger {
		err = errors.Join(err, p.Guard.Store.Withdraw(ctx, v))
	}
	return opened, result, err
}

// noRole reports whether an error says that the provider gives somebody no role here.
func noRole(err error) bool {
	return errors.Is(err, oidc.ErrNotAllowed) || errors.Is(err, oidc.ErrNoGroups) || errors.Is(err, oidc.ErrNoGroup) || errors.Is(err, oidc.ErrManyRoles) ||
		errors.Is(err, auth.ErrOneOwner) || errors.Is(err, auth.ErrOwnerGroup) || errors.Is(err, auth.ErrGuest)
}

// vouchedBy is whom the provider names.
func vouchedBy(r oidc.Result) auth.Vouched {
	name := r.Name
	if name == "" {
		name = r.Email
	}
	return auth.Vouched{Issuer: "oidc " + r.Issuer, Subject: r.Subject, Service: r.Service, Name: name, Via: r.Entry}
}

// admit opens the session of whom the provider vouches for. Those of auth.oidc_allowed are the owner.
func (p provider) admit(ctx context.Context, r oidc.Result, v auth.Visitor) (auth.Opened, error) {
	switch {
	case r.Invitation != "" && r.Role == auth.RolePerson:
		e, err := p.Guard.Store.AcceptVouched(ctx, r.Invitation, vouchedBy(r), v)
		return e.Opened, err
	case r.Invitation != "":
		return auth.Opened{}, auth.ErrSignInTaken
	case !r.ByGroup:
		return p.Guard.Store.Enter(ctx, r.Entry, v)
	}
	in, err := p.Guard.Store.EnterProvided(ctx, vouchedBy(r), r.Role, v)
	if in.After.ID != 0 {
		if failed := p.people.heed(ctx, in.Before, in.After); failed != nil {
			p.Log.ErrorContext(ctx, "what a guest watches cannot be ignored, or heeded again", "error", failed) // the role has changed
		}
	}
	return in.Opened, err
}

// providerReason is the word by which the pages know what went wrong.
func providerReason(err error) string {
	var locked *auth.LockedError
	switch {
	case errors.Is(err, oidc.ErrState):
		return "state"
	case errors.Is(err, oidc.ErrOff):
		return "off"
	case errors.Is(err, oidc.ErrDenied):
		return "denied"
	case errors.Is(err, oidc.ErrNotAllowed):
		return "stranger"
	case errors.Is(err, oidc.ErrNoGroups):
		return "no_groups"
	case errors.Is(err, oidc.ErrNoGroup):
		return "no_group"
	case errors.Is(err, oidc.ErrManyRoles):
		return "many_roles"
	case errors.Is(err, auth.ErrOneOwner):
		return "one_owner"
	case errors.Is(err, auth.ErrOwnerGroup):
		return "owner_group"
	case errors.Is(err, auth.ErrGuest):
		return "guest"
	case errors.Is(err, auth.ErrSignInTaken):
		return "taken"
	case errors.Is(err, auth.ErrBadInvitation):
		return "invitation"
	case errors.Is(err, oidc.ErrRefused):
		return "refused"
	case errors.Is(err, auth.ErrNoAdmin):
		return "no_admin"
	case errors.As(err, &locked):
		return "locked"
	case errors.Is(err, oidc.ErrUnreachable), errors.Is(err, context.DeadlineExceeded):
		return "unreachable"
	}
	return unforeseen
}
