package web

import (
	"context"

	"watchmark/internal/door/auth"
	"watchmark/internal/door/auth/oidc"
)

// SignIn are the pages for people who are not signed in.
type SignIn struct {
	// NeedsSetup reports that no administrator exists yet.
	NeedsSetup func(context.Context) (bool, error)
	Provider   func(context.Context) (oidc.Status, error) // of OpenID Connect
	// Invited is the name of the person whom a token invites; false for one that is not good.
	Invited func(ctx context.Context, token string) (name string, good bool, err error)
}

type loginPage struct {
	Next string // where to go after signing in, base path included
	Path string // the same without it
	// ErrorKey is the text key of the error of the provider; empty without an error.
	ErrorKey   string
	Provider   oidc.Status
	NeedsSetup bool
}

// providerProblems are text keys by the value of ?problem=, which package api sets after the provider answered.
var providerProblems = map[string]string{
	"denied": "login.problem.denied", "state": "login.problem.state", "stranger": "login.problem.stranger", "refused": "login.problem.refused",
	"unreachable": "login.problem.unreachable", "off": "login.problem.off", "no_admin": "login.problem.no_admin",
	"locked": "login.problem.locked", "internal": "login.problem.internal",
}

// providerProblem is the text key of the error of the provider that a request names; empty without an error.
func providerProblem(r *request) string { return providerProblems[r.URL.Query().Get("problem")] }

// login is the sign-in page. It redirects readers who are signed in already.
func (g SignIn) login(r *request) (content, error) {
	path := auth.LocalPath(r.URL.Query().Get("next"))
	next := r.BasePath + path
	if r.signedIn {
		return content{Instead: next}, nil // LocalPath never leaves this site
	}
	needs, err := g.NeedsSetup(r.Context())
	if err != nil {
		return content{}, err
	}
	provider, err := g.Provider(r.Context())
	return content{Data: loginPage{Next: next, Path: path, ErrorKey: providerProblem(r), Provider: provider, NeedsSetup: needs}}, err
}

type setupPage struct {
	Token string
	Done  bool // an administrator exists already
}

// setup is the page of the one-time link that creates the administrator.
func (g SignIn) setup(r *request) (content, error) {
	needs, err := g.NeedsSetup(r.Context())
	token := r.URL.Query().Get("token")
	if len(token) > 200 {
		token = ""
	}
	return content{Data: setupPage{Token: token, Done: !needs}}, err
}

type invitationPage struct {
	Token, Name string
	Good        bool
}

// invitation is the page behind the link by which a person sets a password.
func (g SignIn) invitation(r *request) (content, error) {
	page := invitationPage{Token: r.URL.Query().Get("token")}
	var err error
	page.Name, page.Good, err = g.Invited(r.Context(), page.Token)
	return content{Data: page}, err
}
