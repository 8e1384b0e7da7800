package web

import (
	"net/http"
	"strings"

	"watchmark/internal/door/access"
	"watchmark/internal/door/auth"
)

// admit has everything that mux serves run for those alone whom the table of package access lets in. Who is not signed in goes on to
// the page, which leads to the sign-in.
func (s *site) admit(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, pattern := mux.Handler(r)
		who, known := s.Viewer(r)
		if known && s.rightTo(pattern, who) == access.Nothing {
			s.refuse(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// rightTo is the right of somebody who is signed in to what stands at a pattern of the mux.
func (s *site) rightTo(pattern string, who auth.Identity) access.Right {
	_, path, _ := strings.Cut(pattern, " ")
	rule, _ := access.Path(path)
	return rule.For(who, true)
}

// refuse answers somebody who may not see a page.
func (s *site) refuse(w http.ResponseWriter, plain *http.Request) {
	if plain.Method != http.MethodGet && plain.Method != http.MethodHead {
		http.Error(w, auth.OwnerOnly.With().Text, http.StatusForbidden)
		return
	}
	r := s.requestOf(plain)
	s.write(w, r, http.StatusForbidden, errorPage, location{}, content{Title: "error.forbidden", Data: failure{Status: http.StatusForbidden}})
}
