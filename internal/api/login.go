package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/auth"
	"watchmark/internal/secret"
)

// setupInput creates the administrator.
type setupInput struct {
	Token    secret.Text `json:"token" writeOnly:"true" doc:"The token of the setup link that the service printed when it started."`
	Name     string      `json:"name" doc:"The name to sign in with." example:"mira"`
	Password secret.Text `json:"password" writeOnly:"true" doc:"10 to 200 characters."`
}

type loginInput struct {
	Name     string      `json:"name" example:"mira"`
	Password secret.Text `json:"password" writeOnly:"true"`
}

type passwordInput struct {
	Old secret.Text `json:"old" writeOnly:"true" doc:"The password until now."`
	New secret.Text `json:"new" writeOnly:"true" doc:"10 to 200 characters."`
}

// Session is who is signed in, if anybody.
type Session struct {
	Authenticated bool      `json:"authenticated" doc:"Whether the caller may use the API."`
	Kind          auth.Kind `json:"kind" enum:",session,apikey,open" doc:"How the caller showed who it is; open where authentication is off; empty for nobody."`
	Name          string    `json:"name" doc:"The administrator's name, or the API key's."`
	NeedsSetup    bool      `json:"needs_setup" doc:"Whether there is no administrator yet: open the setup link that the service printed."`
}

// signedIn is the session that was opened, and its cookie.
type signedIn struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
	Body      Session
}

func (s *server) registerLogin() {
	const tag = "Login"
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/setup", OperationID: "setup", Tags: []string{tag},
		Summary:     "Create the administrator",
		Description: "Works once, with the token of the setup link, and signs in.",
		Errors:      []int{http.StatusUnauthorized, http.StatusConflict, http.StatusTooManyRequests},
	}, func(ctx context.Context, in *struct {
		UserAgent string `header:"User-Agent" hidden:"true"`
		Body      setupInput
	}) (*signedIn, error) {
		b := in.Body
		if err := s.Guard.Store.Setup(ctx, b.Token.Reveal(), b.Name, b.Password.Reveal(), auth.ClientOf(ctx).Addr); err != nil {
			return nil, err
		}
		return s.signIn(ctx, b.Name, b.Password, in.UserAgent)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/login", OperationID: "login", Tags: []string{tag},
		Summary:     "Sign in",
		Description: "Sets the session cookie. Scripts need no login: they send an API key.",
		Errors:      []int{http.StatusUnauthorized, http.StatusTooManyRequests},
	}, func(ctx context.Context, in *struct {
		UserAgent string `header:"User-Agent" hidden:"true"`
		Body      loginInput
	}) (*signedIn, error) {
		return s.signIn(ctx, in.Body.Name, in.Body.Password, in.UserAgent)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/logout", OperationID: "logout", Tags: []string{tag},
		Summary: "Sign out",
	}, s.logout)
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/session", OperationID: "get-session", Tags: []string{tag},
		Summary: "Ask who is signed in",
	}, s.session)
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/password", OperationID: "change-password", Tags: []string{tag},
		Summary:     "Change the password",
		Description: "Ends every session but this one. It needs a session: an API key cannot do it.",
		Errors:      []int{http.StatusTooManyRequests},
	}, s.changePassword)
}

func (s *server) signIn(ctx context.Context, name string, password secret.Text, userAgent string) (*signedIn, error) {
	token, expires, err := s.Guard.Store.Login(ctx, name, password.Reveal(), userAgent, auth.ClientOf(ctx).Addr)
	if err != nil {
		return nil, err
	}
	return &signedIn{
		SetCookie: *s.Guard.Cookie(ctx, token, expires),
		Body:      Session{Authenticated: true, Kind: auth.BySession, Name: name},
	}, nil
}

// signedOut makes a browser forget its session.
type signedOut struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
}

func (s *server) logout(ctx context.Context, in *struct {
	Token string `cookie:"watchmark_session" hidden:"true"`
}) (*signedOut, error) {
	if err := s.Guard.Store.Logout(ctx, in.Token); err != nil {
		return nil, err
	}
	return &signedOut{*s.Guard.EndCookie(ctx)}, nil
}

func (s *server) session(ctx context.Context, _ *none) (*JSON[Session], error) {
	identity, known := auth.IdentityOf(ctx)
	needsSetup, err := s.Guard.Store.NeedsSetup(ctx)
	return answer(Session{Authenticated: known, Kind: identity.Kind, Name: identity.Name, NeedsSetup: needsSetup}, err)
}

func (s *server) changePassword(ctx context.Context, in *struct {
	UserAgent string `header:"User-Agent" hidden:"true"`
	Body      passwordInput
}) (*signedIn, error) {
	identity, _ := auth.IdentityOf(ctx)
	if identity.Kind != auth.BySession {
		return nil, problem(http.StatusForbidden, "Sign in with the old password first: only a session can change it.")
	}
	// Signing in is what checks the old password, with the lockout that guards it.
	if _, err := s.signIn(ctx, identity.Name, in.Body.Old, in.UserAgent); err != nil {
		if p := s.problemOf(ctx, "POST /api/password", err); p.Status != http.StatusUnauthorized {
			return nil, p
		}
		return nil, fieldProblem("body.old", "this is not the password until now")
	}
	err := s.Guard.Store.SetPassword(ctx, identity.Name, in.Body.New.Reveal())
	var field *auth.FieldError
	if errors.As(err, &field) {
		return nil, fieldProblem("body.new", field.Problem)
	}
	if err != nil {
		return nil, err
	}
	return s.signIn(ctx, identity.Name, in.Body.New, in.UserAgent)
}
