package web

import (
	"net/http"

	"watchmark/internal/door/auth"
	"watchmark/internal/door/auth/oidc"
)

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
func providerProblem(r *http.Request) string { return providerProblems[r.URL.Query().Get("problem")] }

// login is the sign-in page; who is signed in already is led on.
func (s *site) login(r *http.Request) (content, error) {
	path := auth.LocalPath(r.URL.Query().Get("next"))
	next := s.BasePath() + path
	if _, signedIn := s.Viewer(r); signedIn {
		return content{Instead: next}, nil // LocalPath never leaves this site
	}
	needs, err := s.NeedsSetup(r.Context())
	return content{Title: "login.title", Data: loginPage{Next: next, Path: path, Problem: providerProblem(r), Provider: s.Provider(), NeedsSetup: needs}}, err
}

type setupPage struct {
	Token string
	Done  bool // an administrator exists already
}

// setup is the page of the one-time link that creates the administrator.
func (s *site) setup(r *http.Request) (content, error) {
	needs, err := s.NeedsSetup(r.Context())
	token := r.URL.Query().Get("token")
	if len(token) > 200 {
		token = ""
	}
	return content{Title: "setup.title", Data: setupPage{Token: token, Done: !needs}}, err
}
