package web

import (
	"context"

	"watchmark/internal/door/auth"
	"watchmark/internal/door/auth/oidc"
	"watchmark/internal/door/auth/servers"
	"watchmark/internal/source/mediaserver"
)

// SignIn are the pages for people who are not signed in.
type SignIn struct {
	// NeedsSetup reports that there is no owner yet.
	NeedsSetup func(context.Context) (bool, error)
	Provider   func(context.Context) (oidc.Status, error) // of OpenID Connect
	// ByGroup reports that groups of the provider make people.
	ByGroup func() bool
	// Servers are the media servers that are connected and could sign people in.
	Servers func(context.Context) ([]servers.Server, error)
	// Invited is the name of the person whom a token invites; false for one that is not good.
	Invited func(ctx context.Context, token string) (name string, good bool, err error)
}

type loginPage struct {
	otherWays
	NeedsSetup bool
}

// otherWays are those beside the password.
type otherWays struct {
	Next string // where to go after signing in, base path included
	Path string // the same without it
	// Token is that of the invitation that the way accepts; empty for none.
	Token string
	// ErrorKey is the text key of the error of the provider, and PlexKey that of Plex; empty without an error.
	ErrorKey, PlexKey string
	Provider          oidc.Status
	// Offered says that the provider is offered, and Plex that Plex is. PlexBegun says that this browser has begun a sign-in there.
	Offered, Plex, PlexBegun bool
	// Servers sign people in by a password.
	Servers []servers.Server
}

// plexCookie is the cookie of a browser that has begun a sign-in at Plex; package api sets it.
const plexCookie = "watchmark_plex"

// other are the ways beside the password that are open.
func (g SignIn) other(r *request, path, token string) (otherWays, error) {
	ways := otherWays{Next: r.BasePath + path, Path: path, Token: token, ErrorKey: providerProblem(r), PlexKey: plexProblems[r.URL.Query().Get("problem")]}
	all, err := g.Servers(r.Context())
	if err != nil {
		return ways, err
	}
	for _, s := range all {
		switch {
		case !s.Open:
		case s.Kind == mediaserver.Plex:
			ways.Plex = true
		default:
			ways.Servers = append(ways.Servers, s)
		}
	}
	_, err = r.Cookie(plexCookie)
	ways.PlexBegun = ways.Plex && err == nil
	ways.Provider, err = g.Provider(r.Context())
	ways.Offered = ways.Provider.On && (token == "" || g.ByGroup())
	return ways, err
}

// providerProblems are text keys by the value of ?problem=, which package api sets after the provider answered.
var providerProblems = map[string]string{
	"denied": "login.problem.denied", "state": "login.problem.state", "stranger": "login.problem.stranger", "refused": "login.problem.refused",
	"unreachable": "login.problem.unreachable", "off": "login.problem.off", "no_admin": "login.problem.no_admin",
	"locked": "login.problem.locked", "internal": "login.problem.internal", "no_groups": "login.problem.no_groups", "no_group": "login.problem.no_group",
	"many_roles": "login.problem.many_roles", "one_owner": "login.problem.one_owner", "owner_group": "login.problem.owner_group",
	"guest": "login.problem.guest", "taken": "login.problem.taken", "invitation": "login.problem.invitation",
}

// plexProblems are those after Plex answered.
var plexProblems = map[string]string{
	"plex_waiting": "login.plex.waiting", "plex_state": "login.plex.state", "plex_access": "login.plex.access", "plex_unknown": "login.plex.unknown",
	"plex_taken": "login.plex.taken", "plex_invitation": "login.plex.invitation", "plex_off": "login.plex.off", "plex_away": "login.plex.away",
	"plex_locked": "login.plex.locked", "plex_internal": "login.plex.internal",
}

// providerProblem is the text key of the error of the provider that a request names; empty without an error.
func providerProblem(r *request) string { return providerProblems[r.URL.Query().Get("problem")] }

// login is the sign-in page. It redirects readers who are signed in already.
func (g SignIn) login(r *request) (content, error) {
	path := auth.LocalPath(r.URL.Query().Get("next"))
	if r.signedIn {
		return content{Instead: r.BasePath + path}, nil // LocalPath never leaves this site
	}
	needs, err := g.NeedsSetup(r.Context())
	if err != nil {
		return content{}, err
	}
	ways, err := g.other(r, path, "")
	return content{Data: loginPage{ways, needs}}, err
}

type setupPage struct {
	Token string
	Done  bool // there is an owner already
}

// setup is the page of the one-time link that creates the owner.
func (g SignIn) setup(r *request) (content, error) {
	needs, err := g.NeedsSetup(r.Context())
	token := r.URL.Query().Get("token")
	if len(token) > 200 {
		token = ""
	}
	return content{Data: setupPage{Token: token, Done: !needs}}, err
}

type invitationPage struct {
	otherWays
	Name string
	Good bool
}

// invitation is the page behind the link by which a person sets a password, or comes in another way.
func (g SignIn) invitation(r *request) (content, error) {
	token := r.URL.Query().Get("token")
	name, good, err := g.Invited(r.Context(), token)
	page := invitationPage{Name: name, Good: good}
	if err == nil && good {
		page.otherWays, err = g.other(r, "/", token)
	}
	return content{Data: page}, err
}
