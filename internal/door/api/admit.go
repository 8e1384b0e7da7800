package api

import (
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/door/access"
	"watchmark/internal/door/auth"
	"watchmark/internal/door/problem"
)

// admitting is a mux whose handlers under /api run for those alone whom the table of package access lets in.
type admitting struct {
	*http.ServeMux
	s *server
}

// HandleFunc adds a handler behind the table.
func (m admitting) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	m.ServeMux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if !under(r.URL.Path, "/api") || m.s.admits(w, r, pattern) {
			handler(w, r)
		}
	})
}

// admits reports whether the caller may go on to what stands at a pattern; otherwise it has answered. Somebody else's thing is answered
// as one that does not exist: both are looked for in the same way, in the scope of the caller.
func (s *server) admits(w http.ResponseWriter, r *http.Request, pattern string) bool {
	who, known := auth.IdentityOf(r.Context())
	if pattern == anyPath && known {
		return true // to be told that there is nothing
	}
	rule, _ := access.Operation(s.operations[pattern])
	switch right := rule.For(who, known); {
	case right == access.All, right == access.Own && rule.Of == "":
		return true
	case right == access.Own:
		if err := s.owns(r, rule.Of); err != nil {
			s.problemOf(r.Context(), pattern, err).In(languageOf(r.Context())).Write(w, r)
			return false
		}
		return true
	case known:
		problem.Of(auth.OwnerOnly).Write(w, r)
	case r.Method == http.MethodGet && (r.URL.Path == docsPath || r.URL.Path == callbackPath || r.URL.Path == trackerCallbackPath):
		s.Guard.ToLogin(w, r)
	default:
		auth.RefuseAPI(w, r)
	}
	return false
}

// anyPath is the pattern of what nothing else answers.
const anyPath = "/"

// operationIDs are the ids of the operations of a document, by the patterns that they are served at.
func operationIDs(doc *huma.OpenAPI) map[string]string {
	ids := map[string]string{}
	for path, item := range doc.Paths {
		for _, op := range operationsOf(item) {
			ids[op.Method+" "+path] = op.OperationID
		}
	}
	return ids
}

// owns returns why the thing that a request names is not in its scope: the error of one that does not exist, for one of somebody else too.
func (s *server) owns(r *http.Request, thing access.Thing) error {
	if find := s.named[thing]; find != nil {
		return find(r.Context(), r.PathValue("name"))
	}
	find := s.owned[thing]
	number, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if find == nil || err != nil {
		return noSuchPath
	}
	return find(r.Context(), number)
}
