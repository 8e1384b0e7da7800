package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/door/auth"
	"watchmark/internal/door/problem"
	"watchmark/internal/engine"
	"watchmark/internal/platform/reason"
	"watchmark/internal/source"
	"watchmark/internal/source/nas"
)

// problemOf is the one place where errors become problems. What it does not know
// is logged and shown as an internal error.
func (s *server) problemOf(ctx context.Context, doing string, err error) *problem.Document {
	var known *problem.Document
	if errors.As(err, &known) {
		return known
	}
	if fields := fieldsOf(err); len(fields) > 0 {
		return problem.OfFields(fields...)
	}
	if p := trackerProblem(err); p != nil {
		return p
	}
	var locked *auth.LockedError
	if errors.As(err, &locked) {
		return problem.Of(locked).After(seconds(locked.RetryAfter))
	}
	if r := reason.Of(err); r.Class() != reason.Internal {
		return problem.Of(r)
	}
	var bad *source.BadRequest
	var upstream *catalog.Error
	var library *nas.Problem
	switch {
	case errors.As(err, &bad):
		p := problem.With(http.StatusBadRequest, bad.Detail)
		for field := range strings.SplitSeq(bad.Field, ", ") {
			p.Errors = append(p.Errors, problem.At(strings.TrimSuffix("body."+field, "."), bad.Detail))
		}
		return p
	case errors.Is(err, source.ErrUnsupportedMedia):
		return problem.With(http.StatusUnsupportedMediaType, otherMedia.With())
	case errors.As(err, &upstream):
		return problem.Of(catalogProblem(upstream))
	case errors.Is(err, engine.ErrNotStored):
		s.Log.ErrorContext(ctx, "an event could not be stored and was not accepted", "request", doing, "error", err)
		return problem.Of(notStored).After(30)
	case errors.Is(err, nas.ErrNoUser):
		return problem.OfFields(problem.At("query.user", nas.ErrNoUser))
	case errors.As(err, &library):
		return problem.With(http.StatusConflict, library.Detail)
	case errors.Is(err, engine.ErrBusy), errors.Is(err, context.DeadlineExceeded):
		return problem.Of(serviceBusy).After(1)
	case ctx.Err() != nil:
		// The caller went away: nobody reads this, and nothing is wrong with the service.
		return problem.Of(requestEnded)
	}
	return s.internal(ctx, doing, err)
}

// fieldProblem is the problem of one field.
func fieldProblem(location string, what error) error {
	return problem.OfFields(problem.At(location, what))
}

// fieldsOf are the fields that the features find fault with, as places in the body.
func fieldsOf(err error) (fields []problem.Field) {
	switch e := err.(type) { //nolint:errorlint // this is the unwrapping
	case *reason.FieldError:
		return []problem.Field{problem.At("body."+e.Field, e.What)}
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			fields = append(fields, fieldsOf(one)...)
		}
	case interface{ Unwrap() error }:
		return fieldsOf(e.Unwrap())
	}
	return fields
}

// catalogProblem is what the catalog has against a request.
func catalogProblem(err *catalog.Error) *reason.Kind {
	switch {
	case errors.Is(err, catalog.ErrUnreachable):
		return catalogUnreachable
	case errors.Is(err, catalog.ErrUnauthorized):
		return catalogUnauthorized
	case errors.Is(err, catalog.ErrForbidden):
		return catalogForbids
	case errors.Is(err, catalog.ErrNotFound):
		return catalogUnknown
	}
	return catalogRefused
}

// seconds is d as Retry-After tells it, at least 1.
func seconds(d time.Duration) int { return max(1, int((d+time.Second-1)/time.Second)) }
