package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/door/auth"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// setupInput creates the owner.
type setupInput struct {
	Token    secret.Text `json:"token" writeOnly:"true" doc:"The token of the setup link that the service printed when it started."`
	Name     string      `json:"name" doc:"The name to sign in with." example:"mira"`
	Password secret.Text `json:"password" writeOnly:"true" doc:"10 to 200 characters."`
}

type loginInput struct {
	Name     string      `json:"name" example:"mira"`
	Password secret.Text `json:"password" writeOnly:"true"`
	Code     digitCode   `json:"code,omitempty" writeOnly:"true" doc:"The code that the authenticator app shows now, as text or as a number, or a recovery code, where signing in asks for one." example:"\"123456\""`
}

type passwordInput struct {
	Old secret.Text `json:"old" writeOnly:"true" doc:"The password until now."`
	New secret.Text `json:"new" writeOnly:"true" doc:"10 to 200 characters."`
}

// session is who is signed in, if anybody.
type session struct {
	Authenticated bool      `json:"authenticated" doc:"Whether the caller may use the API."`
	Kind          auth.Kind `json:"kind" enum:",session,apikey,open" doc:"How the caller showed who it is; open where authentication is off; empty for nobody."`
	Name          string    `json:"name" doc:"The person's name, or the API key's."`
	NeedsSetup    bool      `json:"needs_setup" doc:"Whether there is no owner yet: open the setup link that the service printed."`
	NeedsCode     bool      `json:"needs_code,omitempty" doc:"Of a login: name and password are right, and a code is needed too. Send all three."`
}

// signedIn is the session that was opened, and its cookie; none where a code is needed first.
type signedIn struct {
	SetCookie []http.Cookie `header:"Set-Cookie"`
	Body      session
}

// Browser is what a request shows of the browser that sends it.
type Browser struct {
	UserAgent string `header:"User-Agent" hidden:"true"`
	Session   string `cookie:"watchmark_session" hidden:"true"`
	Device    string `cookie:"watchmark_device" hidden:"true"`
}

func (b Browser) visitor(ctx context.Context) auth.Visitor {
	return auth.Visitor{Addr: auth.ClientOf(ctx).Addr, UserAgent: b.UserAgent, Session: b.Session, Device: b.Device}
}

func (s *server) registerLogin() {
	const tag = "Login"
	registerOther(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/setup", OperationID: "setup", Tags: []string{tag},
		Summary:     "Create the owner",
		Description: "Works once, with the token of the setup link, and signs in.",
		Errors:      []int{http.StatusUnauthorized, http.StatusConflict, http.StatusTooManyRequests},
	}, func(ctx context.Context, in *struct {
		Browser
		Body setupInput
	}) (*signedIn, error) {
		b := in.Body
		if err := s.Guard.Store.Setup(ctx, b.Token.Reveal(), b.Name, b.Password.Reveal(), auth.ClientOf(ctx).Addr); err != nil {
			return nil, err
		}
		opened, err := s.Guard.Store.Login(ctx, b.Name, b.Password.Reveal(), "", in.visitor(ctx))
		return s.signedIn(ctx, opened, err)
	})
	registerOther(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/login", OperationID: "login", Tags: []string{tag},
		Summary:     "Sign in",
		Description: "Sets the session cookie. Where signing in asks for a code and none is sent, the answer says needs_code and sets none. Scripts need no login: they send an API key.",
		Errors:      []int{http.StatusUnauthorized, http.StatusTooManyRequests},
	}, s.login)
	registerOther(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/logout", OperationID: "logout", Tags: []string{tag},
		Summary:     "Sign out",
		Description: "Ends the session, and the notifications of the browser that names its subscription.",
	}, s.logout)
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/session", OperationID: "get-session", Tags: []string{tag},
		Summary: "Ask who is signed in",
	}, s.session)
	registerOther(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/password", OperationID: "change-password", Tags: []string{tag},
		Summary:     "Change the password",
		Description: "Ends every session but this one, and the notifications of all browsers. It needs a session: an API key cannot do it.",
		Errors:      []int{http.StatusTooManyRequests},
	}, s.changePassword)
	s.registerTwoFactor()
	s.registerKeys()
}

func (s *server) login(ctx context.Context, in *struct {
	Browser
	Body loginInput
}) (*signedIn, error) {
	opened, err := s.Guard.Store.Login(ctx, in.Body.Name, in.Body.Password.Reveal(), in.Body.Code.Reveal(), in.visitor(ctx))
	if errors.Is(err, auth.ErrCodeNeeded) {
		return &signedIn{Body: session{NeedsCode: true}}, nil
	}
	return s.signedIn(ctx, opened, err)
}

func (s *server) signedIn(ctx context.Context, opened auth.Opened, err error) (*signedIn, error) {
	if err != nil {
		return nil, err
	}
	return &signedIn{
		SetCookie: []http.Cookie{*s.Guard.SessionCookie(ctx, opened.Token, opened.Expires), *s.Guard.DeviceCookie(ctx, opened.Device)},
		Body:      session{Authenticated: true, Kind: auth.BySession, Name: opened.Name},
	}, nil
}

// signedOut makes a browser forget its session.
type signedOut struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
}

// logoutInput is what a browser tells that signs out.
type logoutInput struct {
	Endpoint string `json:"endpoint,omitempty" maxLength:"2048" doc:"The address of the push service by which this browser is notified, if it is."`
}

func (s *server) logout(ctx context.Context, in *struct {
	Token string `cookie:"watchmark_session" hidden:"true"`
	Body  *logoutInput
}) (*signedOut, error) {
	if in.Body != nil && in.Body.Endpoint != "" && s.endBrowser != nil {
		if err := s.endBrowser(ctx, in.Body.Endpoint); err != nil {
			return nil, err
		}
	}
	if err := s.Guard.Store.Logout(ctx, in.Token); err != nil {
		return nil, err
	}
	return &signedOut{*s.Guard.EndCookie(ctx)}, nil
}

func (s *server) session(ctx context.Context, _ *none) (*JSON[session], error) {
	identity, known := auth.IdentityOf(ctx)
	needsSetup, err := s.Guard.Store.NeedsSetup(ctx)
	return answer(session{Authenticated: known, Kind: identity.Kind, Name: identity.Name, NeedsSetup: needsSetup}, err)
}

func (s *server) changePassword(ctx context.Context, in *struct {
	Browser
	Body passwordInput
}) (*signedIn, error) {
	who, err := signedInBy(ctx)
	if err != nil {
		return nil, err
	}
	opened, err := s.Guard.Store.ChangePassword(ctx, who.Name, in.Body.Old.Reveal(), in.Body.New.Reveal(), in.visitor(ctx))
	var field *reason.FieldError
	switch {
	case errors.Is(err, auth.ErrBadCredentials):
		return nil, fieldProblem("body.old", wrongOldPassword)
	case errors.As(err, &field):
		return nil, fieldProblem("body.new", field.What)
	}
	return s.signedIn(ctx, opened, err)
}

// invites returns why a token invites nobody; an empty one asks for nothing.
func (s *server) invites(ctx context.Context, token string) error {
	if token == "" {
		return nil
	}
	_, good, err := s.Guard.Store.Invited(ctx, token)
	if err == nil && !good {
		err = auth.ErrBadInvitation
	}
	return err
}

// signedInBy is who is signed in; a Problem where a script or nobody is.
func signedInBy(ctx context.Context) (auth.Identity, error) {
	identity, _ := auth.IdentityOf(ctx)
	if identity.Kind != auth.BySession {
		return auth.Identity{}, sessionNeeded
	}
	return identity, nil
}
