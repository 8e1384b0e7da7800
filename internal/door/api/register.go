package api

import (
	"cmp"
	"context"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/door/access"
)

// register adds an operation that answers JSON. To the library all of these answer the same type, for it makes
// twenty kilobytes of code for each pair of types that it is given; what T is stands in the document.
func register[I, T any](s *server, op huma.Operation, fn func(context.Context, *I) (*JSON[T], error)) {
	said := reflect.TypeFor[JSON[T]]()
	body, _ := said.FieldByName("Body") // JSON has it
	status := strconv.Itoa(cmp.Or(op.DefaultStatus, http.StatusOK))
	if op.Responses == nil {
		op.Responses = map[string]*huma.Response{}
	}
	if op.Responses[status] == nil {
		op.Responses[status] = &huma.Response{}
	}
	if s.forDocument && op.Responses[status].Content == nil {
		schema := huma.SchemaFromField(s.api.OpenAPI().Components.Schemas, body, said.Name()+"Body")
		op.Responses[status].Content = map[string]*huma.MediaType{"application/json": {Schema: schema}}
	}
	registerOther(s, op, func(ctx context.Context, in *I) (*JSON[any], error) {
		out, err := fn(ctx, in)
		if err != nil {
			return nil, err
		}
		return &JSON[any]{out.Body}, nil
	})
}

// handle adds an operation that goes beside the library, such as a stream or a file of any size. After an error the answer is a problem, and
// cut off where it had begun: so nobody takes a part for the whole.
func (s *server) handle(op huma.Operation, fn func(http.ResponseWriter, *http.Request) error) {
	doing := op.Method + " " + op.Path
	s.mux.HandleFunc(doing, func(w http.ResponseWriter, r *http.Request) {
		said := &begun{ResponseWriter: w}
		err := fn(said, r)
		if err == nil {
			return
		}
		if said.yes {
			s.Log.WarnContext(r.Context(), "an answer was cut off", "request", doing, "error", err)
			panic(http.ErrAbortHandler)
		}
		for _, name := range []string{"Content-Disposition", "Content-Type"} {
			w.Header().Del(name)
		}
		s.problemOf(r.Context(), doing, err).Write(w, r)
	})
	if rule, _ := access.Operation(op.OperationID); rule.Person == access.Nothing && op.Responses["401"] != nil {
		op.Responses["403"] = op.Responses["401"]
	}
	s.api.OpenAPI().AddOperation(&op)
}

// begun knows whether an answer has begun.
type begun struct {
	http.ResponseWriter
	yes bool
}

// Unwrap lets http.ResponseController reach what is behind it.
func (b *begun) Unwrap() http.ResponseWriter { return b.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (b *begun) WriteHeader(status int) {
	b.yes = true
	b.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (b *begun) Write(text []byte) (int, error) {
	b.yes = true
	return b.ResponseWriter.Write(text)
}

// registerOther adds an operation whatever it answers: its errors become Problems, and the document gets the
// answers that every operation of its kind can give.
func registerOther[I, O any](s *server, op huma.Operation, fn func(context.Context, *I) (*O, error)) {
	doing := op.Method + " " + op.Path
	rule, _ := access.Operation(op.OperationID)
	if rule.Nobody == access.All {
		op.Security = []map[string][]string{}
	} else {
		op.Errors = append(op.Errors, http.StatusUnauthorized)
	}
	if op.Method != http.MethodGet || rule.Person == access.Nothing {
		op.Errors = append(op.Errors, http.StatusForbidden) // a page of another site, see auth.CrossOrigin, or somebody who may not do it
	}
	for _, name := range []string{"Body", "RawBody"} {
		if _, has := reflect.TypeFor[I]().FieldByName(name); has {
			op.Errors = append(op.Errors, http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
			break
		}
	}
	if !s.forDocument {
		op.Errors = nil // only the document tells them
	}
	if op.MaxBodyBytes == 0 {
		op.MaxBodyBytes = 1 << 20
	}
	op.BodyReadTimeout = -1 // listen.Handler bounds it
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := fn(ctx, in)
		if err != nil {
			return nil, s.problemOf(ctx, doing, err).In(languageOf(ctx))
		}
		return out, nil
	})
}
