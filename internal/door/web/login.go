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
	Provider   func() oidc.Status // of OpenID Connect
}

type loginPage struct {
	Next string // where to go after, base path included
	Path string // the same without it
	// Problem is the key of why the provider signed nobody in; empty for none.
	Problem    string
	Provider   oidc.Status
	NeedsSetup bool
}

// providerProblems are the texts for the words that the way back from the provider brings, see package api.
var providerProblems = map[string]string{
	"denied": "login.problem.denied", "state": "login.problem.state", "stranger": "login.problem.stranger", "refused": "login.problem.refused",
	"unreachable": "login.problem.unreachable", "off": "login.problem.off", "no_admin": "login.problem.no_admin",
	"locked": "login.problem.locked", "internal": "login.problem.internal",
}

// providerProblem is the key of what a request says that went wrong with the provider; empty for nothing.
func providerProblem(r *request) string { return providerProblems[r.URL.Query().Get("problem")] }

// login is the sign-in page; who is signed in already is led on.
func (g SignIn) login(r *request) (content, error) {
	path := auth.LocalPath(r.URL.Query().Get("next"))
	next := r.BasePath + path
	if r.signedIn {
		return content{Instead: next}, nil // LocalPath never leaves this site
	}
	needs, err := g.NeedsSetup(r.Context())
	return content{Title: "login.title", Data: loginPage{Next: next, Path: path, Problem: providerProblem(r), Provider: g.Provider(), NeedsSetup: needs}}, err
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
	return content{Title: "setup.title", Data: setupPage{Token: token, Done: !needs}}, err
}
