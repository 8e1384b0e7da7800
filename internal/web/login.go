package web

import (
	"net/http"

	"watchmark/internal/auth"
)

type loginPage struct {
	Next       string // where to go after, base path included
	NeedsSetup bool
}

// login is the sign-in page; who is signed in already is led on.
func (s *site) login(w http.ResponseWriter, r *http.Request) {
	next := s.BasePath() + auth.LocalPath(r.URL.Query().Get("next"))
	if _, signedIn := s.Viewer(r); signedIn {
		http.Redirect(w, r, next, http.StatusSeeOther) //nolint:gosec // LocalPath leaves this site never
		return
	}
	s.page("login", func(r *http.Request) (content, error) {
		needs, err := s.NeedsSetup(r.Context())
		return content{Title: "login.title", Data: loginPage{Next: next, NeedsSetup: needs}}, err
	})(w, r)
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
