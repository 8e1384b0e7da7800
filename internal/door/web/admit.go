package web

import (
	"net/http"
	"slices"
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
		switch {
		case !known || s.rightTo(pattern, who) != access.Nothing:
			mux.ServeHTTP(w, r)
		case pattern == "GET /{$}":
			http.Redirect(w, r, s.BasePath+minePath, http.StatusSeeOther)
		default:
			s.refuse(w, r)
		}
	})
}

// doorsFor is the menu of somebody: the owner has what is of everybody, and a person what is their own.
func (s *site) doorsFor(who auth.Identity) []door {
	return slices.DeleteFunc(slices.Clone(s.doors), func(d door) bool {
		right := s.rightTo(d.Pages[0].pattern(), who)
		return right == access.Nothing || d.Own && right == access.All
	})
}

// rightTo is the right of somebody who is signed in to what stands at a pattern of the mux.
func (s *site) rightTo(pattern string, who auth.Identity) access.Right {
	_, path, _ := strings.Cut(pattern, " ")
	rule, _ := access.Path(path)
	return rule.For(who, true)
}

// May reports whether the reader may see the page at a path.
func (f frame) May(path string) bool { return f.reader.may(path) }

// Can reports whether the reader may call an operation of the API.
func (f frame) Can(operation string) bool { return f.reader.can(operation) }

// may reports whether the reader may see the page at a path, which may have a query.
func (r *request) may(path string) bool {
	path, _, _ = strings.Cut(path, "?")
	return r.rightTo(r.pageAt(path), r.viewer) != access.Nothing
}

// can reports whether the reader may call an operation of the API.
func (r *request) can(operation string) bool {
	rule, _ := access.Operation(operation)
	return rule.For(r.viewer, r.signedIn) != access.Nothing
}

// tabs are those of rows that the reader may see; a single one needs no row.
func (r *request) tabs(rows []row) []row {
	var left []row
	for _, one := range rows {
		one.Tabs = slices.DeleteFunc(slices.Clone(one.Tabs), func(t tab) bool { return !r.may(t.Path) })
		if len(one.Tabs) > 1 {
			left = append(left, one)
		}
	}
	return left
}

// up is the page that the reader comes back to from a page: the one that it is below, and from behind a door that the reader does not have
// the first one of theirs.
func (r *request) up(at location, doors []door) *page {
	if at.Door == "" || len(doors) == 0 || slices.ContainsFunc(doors, func(d door) bool { return d.Key == at.Door }) {
		return at.Up
	}
	return &doors[0].Pages[0]
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
