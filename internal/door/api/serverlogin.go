package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/catalog/account"
	"watchmark/internal/door/auth"
	"watchmark/internal/door/auth/oidc"
	"watchmark/internal/door/auth/servers"
	"watchmark/internal/platform/secret"
	"watchmark/internal/source/mediaserver"
)

const (
	plexLoginPath    = "/api/login/plex"
	plexCallbackPath = plexLoginPath + "/callback"
	// PlexCookie binds a sign-in that is at Plex to the browser that began it.
	PlexCookie = "watchmark_plex"
)

// ServerLogin is signing in by media servers.
type ServerLogin struct {
	Door     *servers.Door
	OIDC     *oidc.Provider
	Accounts *account.Store
}

// loginWays are the ways to sign in that are open.
type loginWays struct {
	Password bool          `json:"password" doc:"Always true: who has set a password signs in with it."`
	Provider string        `json:"provider" doc:"What people call the OpenID Connect provider; empty without one."`
	Plex     bool          `json:"plex" doc:"Whether people sign in on the page of Plex."`
	Servers  []loginServer `json:"servers" doc:"The media servers by whose user name and password people sign in."`
}

type loginServer struct {
	ID   int64            `json:"id"`
	Kind mediaserver.Kind `json:"kind" enum:"jellyfin,emby"`
	Name string           `json:"name" doc:"What people call the server."`
}

type serverLoginInput struct {
	Server     int64       `json:"server" doc:"The id of one of the servers of GET /api/login/ways." example:"1"`
	Name       string      `json:"name" doc:"The user name at the server." example:"mira"`
	Password   secret.Text `json:"password" writeOnly:"true" doc:"The password at the server. It is sent there once, and not kept."`
	Invitation secret.Text `json:"invitation,omitempty" writeOnly:"true" doc:"The token of an invitation that this accepts."`
}

type plexLoginInput struct {
	Next       string      `json:"next,omitempty" maxLength:"2000" doc:"The page of this service to go to afterwards, without the base path." example:"/mine"`
	Invitation secret.Text `json:"invitation,omitempty" writeOnly:"true" doc:"The token of an invitation that this accepts."`
}

// serverLogin is ServerLogin at its server.
type serverLogin struct {
	*server
	ServerLogin
}

func (l ServerLogin) register(s *server) {
	at := serverLogin{s, l}
	const tag = "Login"
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/login/ways", OperationID: "list-login-ways", Tags: []string{tag},
		Summary: "List the ways to sign in that are open",
	}, at.ways)
	registerOther(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/login/server", OperationID: "login-server", Tags: []string{tag},
		Summary: "Sign in by a media server",
		Description: "Asks a Jellyfin or an Emby that the owner has connected and opened for it whether the password is right, and signs in the person who is this user; no code is asked for. " +
			"With the token of an invitation the user becomes the invited person's, and the invitation is used up.",
		Errors: []int{http.StatusUnauthorized, http.StatusConflict, http.StatusTooManyRequests, http.StatusBadGateway},
	}, at.byPassword)
	registerOther(s, huma.Operation{
		Method: http.MethodPost, Path: plexLoginPath, OperationID: "start-login-plex", Tags: []string{tag},
		Summary:     "Begin to sign in by Plex",
		Description: "Answers the address of Plex where the person signs in, which leads back to the callback, and sets a cookie that must come along. Good for fifteen minutes.",
		Errors:      []int{http.StatusUnauthorized, http.StatusConflict, http.StatusTooManyRequests, http.StatusBadGateway},
	}, at.startPlex)
	registerOther(s, huma.Operation{
		Method: http.MethodGet, Path: plexCallbackPath, OperationID: "finish-login-plex", Tags: []string{tag},
		Summary: "The way back from Plex",
		Description: "Browsers come here from Plex and are sent on signed in, or to the sign-in page or that of the invitation, with problem=" +
			"plex_waiting (not confirmed yet), plex_state (too late, or begun in another browser), plex_access (the account may not use the server), plex_unknown (nobody here is this user), plex_taken (this user is another person), plex_invitation (not valid any more), plex_off, plex_away, plex_locked or plex_internal.",
		DefaultStatus: http.StatusSeeOther,
	}, at.finishPlex)
}

func (l serverLogin) ways(ctx context.Context, _ *none) (*JSON[loginWays], error) {
	all, err := l.Door.Servers(ctx)
	ways := loginWays{Password: true, Servers: []loginServer{}}
	for _, s := range all {
		switch {
		case !s.Open:
		case s.Kind == mediaserver.Plex:
			ways.Plex = true
		default:
			ways.Servers = append(ways.Servers, loginServer{s.ID, s.Kind, s.Label()})
		}
	}
	if l.OIDC.On() {
		ways.Provider = l.OIDC.Name()
	}
	return answer(ways, err)
}

func (l serverLogin) byPassword(ctx context.Context, in *struct {
	Browser
	Body serverLoginInput
}) (*signedIn, error) {
	v := in.visitor(ctx)
	v.Name = in.Body.Name
	if err := l.Guard.Store.Knock(ctx, v); err != nil {
		return nil, err
	}
	token := in.Body.Invitation.Reveal()
	if err := l.invites(ctx, token); err != nil {
		return nil, err
	}
	by, err := l.Door.Password(ctx, in.Body.Server, in.Body.Name, in.Body.Password)
	if err == nil {
		var e auth.Entered
		if e, err = l.enter(ctx, by, token, v); err == nil {
			return l.signedIn(ctx, e.Opened, nil)
		}
	}
	switch {
	case errors.Is(err, auth.ErrNotKnown):
		return nil, servers.ErrWrong.With(by.Service)
	case errors.Is(err, servers.ErrWrong):
		return nil, err
	}
	return nil, l.withdraw(ctx, v, err) // nothing was guessed
}

// withdraw takes an attempt back that said nothing of a guess.
func (l serverLogin) withdraw(ctx context.Context, v auth.Visitor, err error) error {
	if failed := l.Guard.Store.Withdraw(ctx, v); failed != nil {
		l.Log.ErrorContext(ctx, "cannot take an attempt to sign in back", "error", failed)
	}
	return err
}

// enter signs in whom a server vouches for, or accepts the invitation of a token for them.
func (l serverLogin) enter(ctx context.Context, by auth.Vouched, token string, v auth.Visitor) (e auth.Entered, err error) {
	if token == "" {
		e, err = l.Guard.Store.EnterVouched(ctx, by, v)
	} else {
		e, err = l.Guard.Store.AcceptVouched(ctx, token, by, v)
	}
	if err == nil && e.Named != "" {
		if err := l.Accounts.MoveUserNames(ctx, e.Person, nil, []string{e.Named}); err != nil {
			l.Log.ErrorContext(ctx, "an account does not name a new media-server user", "error", err) // the person is in, and can add it
		}
	}
	return e, err
}

func (l serverLogin) startPlex(ctx context.Context, in *struct {
	Browser
	Body *plexLoginInput
}) (*startedProvider, error) {
	if err := l.Guard.Store.Begin(in.visitor(ctx)); err != nil {
		return nil, err
	}
	next, token := "/", ""
	if in.Body != nil {
		next, token = auth.LocalPath(in.Body.Next), in.Body.Invitation.Reveal()
	}
	if err := l.invites(ctx, token); err != nil {
		return nil, err
	}
	// The way back is the address that the browser shows, for the cookie is of its host.
	client := auth.ClientOf(ctx)
	back := url.URL{Scheme: "http", Host: client.Host, Path: l.Guard.BasePath + plexCallbackPath}
	if client.HTTPS {
		back.Scheme = "https"
	}
	address, browser, err := l.Door.Start(ctx, back.String(), next, token)
	if err != nil {
		return nil, err
	}
	return &startedProvider{SetCookie: l.plexCookie(ctx, browser, int(servers.FlowLife/time.Second)), Body: oauthAddress{address}}, nil
}

// plexCookie is Lax, not Strict: the way back begins at another site. The sign-in page looks whether it is there, to offer the way on.
func (l serverLogin) plexCookie(ctx context.Context, value string, maxAge int) http.Cookie {
	return http.Cookie{ //nolint:gosec // without HTTPS a Secure cookie would never come back
		Name: PlexCookie, Value: value, Path: l.Guard.BasePath + "/", MaxAge: maxAge,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: auth.ClientOf(ctx).HTTPS,
	}
}

func (l serverLogin) finishPlex(ctx context.Context, in *struct {
	Browser
	Started string `cookie:"watchmark_plex" hidden:"true"`
	Mode    string `header:"Sec-Fetch-Mode" hidden:"true"`
	Dest    string `header:"Sec-Fetch-Dest" hidden:"true"`
}) (*provided, error) {
	if in.Mode != "" && (in.Mode != "navigate" || in.Dest != "document") {
		return nil, oidcReturnOnly
	}
	v := in.visitor(ctx)
	by, f, err := l.Door.Finish(ctx, in.Started)
	if err == nil || errors.Is(err, mediaserver.ErrNoAccess) {
		if locked := l.Guard.Store.Knock(ctx, v); locked != nil {
			err = locked
		}
	}
	var e auth.Entered
	if err == nil {
		e, err = l.enter(ctx, by, f.Invitation, v)
	}
	out := &provided{}
	if err == nil {
		out.Location = l.Guard.BasePath + f.Next
		out.SetCookie = []http.Cookie{l.plexCookie(ctx, "", -1), *l.Guard.SessionCookie(ctx, e.Token, e.Expires), *l.Guard.DeviceCookie(ctx, e.Device)}
		return out, nil
	}
	word := plexReason(err)
	if word != "waiting" && word != "away" { // those may be tried again
		out.SetCookie = []http.Cookie{l.plexCookie(ctx, "", -1)}
	}
	l.logWayBack(ctx, plexCallbackPath, "nobody came in by Plex", word, err)
	query := url.Values{"problem": {"plex_" + word}}
	page := "/login"
	if f.Invitation != "" {
		page = "/invitation"
		query.Set("token", f.Invitation)
	} else if f.Next != "" && f.Next != "/" {
		query.Set("next", f.Next)
	}
	out.Location = l.Guard.BasePath + page + "?" + query.Encode()
	return out, nil
}

// plexReason is the word by which the pages know what went wrong.
func plexReason(err error) string {
	var locked *auth.LockedError
	switch {
	case errors.As(err, &locked):
		return "locked"
	case errors.Is(err, servers.ErrWaiting):
		return "waiting"
	case errors.Is(err, servers.ErrState):
		return "state"
	case errors.Is(err, servers.ErrOff):
		return "off"
	case errors.Is(err, servers.ErrAway), errors.Is(err, context.DeadlineExceeded):
		return "away"
	case errors.Is(err, mediaserver.ErrNoAccess):
		return "access"
	case errors.Is(err, auth.ErrNotKnown):
		return "unknown"
	case errors.Is(err, auth.ErrSignInTaken), errors.Is(err, auth.ErrMediaUserTaken):
		return "taken"
	case errors.Is(err, auth.ErrBadInvitation):
		return "invitation"
	}
	return unforeseen
}
