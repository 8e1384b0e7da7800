package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/archive"
	"watchmark/internal/door/auth"
	"watchmark/internal/door/auth/oidc"
	"watchmark/internal/engine"
	"watchmark/internal/engine/queue"
	"watchmark/internal/engine/review"
	"watchmark/internal/match/idmap"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/settings"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/source"
	"watchmark/internal/source/device"
	"watchmark/internal/source/importer"
	"watchmark/internal/source/nas"
	"watchmark/internal/tell/llm"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/summary"
	"watchmark/internal/upkeep/backup"
	"watchmark/internal/upkeep/diagnose"
)

// classStatuses are the statuses that reasons are answered with, by their class.
var classStatuses = map[reason.Class]int{
	reason.Invalid: http.StatusBadRequest, reason.NotFound: http.StatusNotFound, reason.Conflict: http.StatusConflict,
	reason.Unauthorized: http.StatusUnauthorized, reason.Forbidden: http.StatusForbidden, reason.TooMany: http.StatusTooManyRequests,
	reason.Unavailable: http.StatusServiceUnavailable, reason.Upstream: http.StatusBadGateway, reason.NoSpace: http.StatusInsufficientStorage,
}

// statuses are the errors of the features that are not reasons yet and whose text is for the caller, and the
// status each is answered with.
var statuses = []struct {
	err    error
	status int
}{
	{record.ErrNotFound, http.StatusNotFound},
	{mapping.ErrNotFound, http.StatusNotFound},
	{review.ErrNotFound, http.StatusNotFound},
	{review.ErrAnswered, http.StatusConflict},
	{review.ErrUnanswered, http.StatusConflict},
	{review.ErrInWork, http.StatusConflict},
	{auth.ErrKeyNotFound, http.StatusNotFound},
	{mapping.ErrTaken, http.StatusConflict},
	{mapping.ErrBlockedTaken, http.StatusConflict},
	{mapping.ErrFull, http.StatusConflict},
	{mapping.ErrExpressions, http.StatusConflict},
	{auth.ErrKeyTaken, http.StatusConflict},
	{auth.ErrSetupDone, http.StatusConflict},
	{auth.ErrTwoFactorOn, http.StatusConflict},
	{auth.ErrTwoFactorOff, http.StatusConflict},
	{auth.ErrNoEnrolment, http.StatusConflict},
	{oidc.ErrOff, http.StatusConflict},
	{notify.ErrNotFound, http.StatusNotFound},
	{notify.ErrFull, http.StatusConflict},
	{notify.ErrNotFailed, http.StatusConflict},
	{notify.ErrOff, http.StatusConflict},
	{engine.ErrInProgress, http.StatusConflict},
	{engine.ErrRetrying, http.StatusConflict},
	{review.ErrNothingMarked, http.StatusConflict},
	{review.ErrCorrecting, http.StatusConflict},
	{engine.ErrNotRetried, http.StatusNotFound},
	{queue.ErrNotFound, http.StatusNotFound},
	{queue.ErrSynced, http.StatusConflict},
	{queue.ErrHeld, http.StatusConflict},
	{queue.ErrNoProbe, http.StatusConflict},
	{queue.ErrInWork, http.StatusConflict},
	{queue.ErrPending, http.StatusConflict},
	{task.ErrNotFound, http.StatusNotFound},
	{task.ErrEnded, http.StatusConflict},
	{task.ErrStopping, http.StatusServiceUnavailable},
	{archive.ErrBusy, http.StatusConflict},
	{archive.ErrNone, http.StatusConflict},
	{idmap.ErrOff, http.StatusConflict},
	{idmap.ErrRunning, http.StatusConflict},
	{device.ErrOff, http.StatusConflict},
	{device.ErrScanning, http.StatusConflict},
	{device.ErrUnknown, http.StatusNotFound},
	{importer.ErrRunning, http.StatusConflict},
	{diagnose.ErrRunning, http.StatusConflict},
	{backup.ErrNotFound, http.StatusNotFound},
	{backup.ErrRunning, http.StatusConflict},
	{llm.ErrOff, http.StatusConflict},
	{summary.ErrNotFound, http.StatusNotFound},
	{summary.ErrTaken, http.StatusConflict},
	{summary.ErrFull, http.StatusConflict},
	{summary.ErrStopping, http.StatusServiceUnavailable},
	{auth.ErrBadSetupToken, http.StatusUnauthorized},
	{auth.ErrBadCredentials, http.StatusUnauthorized},
	{auth.ErrBadCode, http.StatusUnauthorized},
}

// problemOf is the one place where errors get their status. What it does not know
// is logged and shown as an internal error.
func (s *server) problemOf(ctx context.Context, doing string, err error) *Problem {
	var known *Problem
	if errors.As(err, &known) {
		return known
	}
	if fields := fieldsOf(err); len(fields) > 0 {
		return fieldProblems(fields)
	}
	if p := trackerProblem(err); p != nil {
		return p
	}
	if r := reason.Of(err); r.Class() != reason.Internal {
		return problem(classStatuses[r.Class()], asSentence(r.Text))
	}
	for _, known := range statuses {
		if errors.Is(err, known.err) {
			return problem(known.status, asSentence(known.err.Error()))
		}
	}
	var bad *source.BadRequest
	var locked *auth.LockedError
	var upstream *catalog.Error
	var library *nas.Problem
	switch {
	case errors.As(err, &bad):
		p := problem(http.StatusBadRequest, bad.Detail.Text)
		for field := range strings.SplitSeq(bad.Field, ", ") {
			p.Errors = append(p.Errors, FieldProblem{strings.TrimSuffix("body."+field, "."), bad.Detail.Text})
		}
		return p
	case errors.Is(err, source.ErrUnsupportedMedia):
		return problem(http.StatusUnsupportedMediaType, "The body is neither JSON nor a form: send JSON.")
	case errors.As(err, &locked):
		return problem(http.StatusTooManyRequests, asSentence(locked.Error())).after(seconds(locked.RetryAfter))
	case errors.Is(err, archive.ErrNoSpace):
		return problem(http.StatusInsufficientStorage, asSentence(err.Error()))
	case errors.As(err, &upstream):
		return problem(http.StatusBadGateway, catalogProblem(upstream))
	case errors.Is(err, engine.ErrNotStored):
		s.Log.ErrorContext(ctx, "an event could not be stored and was not accepted", "request", doing, "error", err)
		return problem(http.StatusServiceUnavailable, "The event could not be stored: look at the log of this service and at the space on its disk, and send it again.").after(30)
	case errors.Is(err, nas.ErrNoUser):
		return fieldProblem("query.user", nas.ErrNoUser.Error())
	case errors.As(err, &library):
		return problem(http.StatusConflict, asSentence(library.Detail.Text))
	case errors.Is(err, engine.ErrBusy), errors.Is(err, context.DeadlineExceeded):
		return problem(http.StatusServiceUnavailable, "The service is busy: try again in a second.").after(1)
	case ctx.Err() != nil:
		// The caller went away: nobody reads this, and nothing is wrong with the service.
		return problem(http.StatusServiceUnavailable, "The request was given up.")
	}
	return s.internal(ctx, doing, err)
}

// fieldsOf are the fields that the features find fault with, as places in the body.
func fieldsOf(err error) []FieldProblem {
	var fields []FieldProblem
	for _, one := range leaves(err) {
		switch e := one.(type) { //nolint:errorlint // leaves unwrapped it already
		case *reason.FieldError:
			fields = append(fields, FieldProblem{"body." + e.Field, e.What.Text})
		case *mapping.FieldError:
			fields = append(fields, FieldProblem{"body." + e.Field, e.Problem})
		case *importer.FieldError:
			fields = append(fields, FieldProblem{"body." + e.Field, e.Problem})
		case *notify.FieldError:
			fields = append(fields, FieldProblem{"body." + e.Field, e.Problem})
		case *auth.FieldError:
			fields = append(fields, FieldProblem{"body." + e.Field, e.Problem})
		case *summary.FieldError:
			fields = append(fields, FieldProblem{"body." + e.Field, e.Problem})
		case *settings.FieldError:
			fields = append(fields, FieldProblem{"body." + e.Key, e.Problem})
		}
	}
	return fields
}

// leaves are the errors at the ends of the tree that err is, a field with what is wrong with it as one.
func leaves(err error) []error {
	switch e := err.(type) { //nolint:errorlint // this is the unwrapping
	case *reason.FieldError:
		return []error{err}
	case interface{ Unwrap() []error }:
		var all []error
		for _, one := range e.Unwrap() {
			all = append(all, leaves(one)...)
		}
		return all
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return leaves(inner)
		}
	}
	return []error{err}
}

// catalogProblem says in plain words what the catalog has against a request.
func catalogProblem(err *catalog.Error) string {
	switch {
	case errors.Is(err, catalog.ErrUnreachable):
		return "The catalog could not be reached: try again later, and check catalog.api_url and network.proxy in the settings."
	case errors.Is(err, catalog.ErrUnauthorized):
		return "The catalog refused the token: connect the account again or enter a new token."
	case errors.Is(err, catalog.ErrForbidden):
		return "The catalog forbids this: the token lacks a permission, or the account may not do it."
	case errors.Is(err, catalog.ErrNotFound):
		return "The catalog does not know what was asked for."
	}
	return "The catalog refused the request."
}

// asSentence gives the text of an error a capital letter and a full stop.
func asSentence(text string) string {
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// seconds is d as Retry-After tells it, at least 1.
func seconds(d time.Duration) int { return max(1, int((d+time.Second-1)/time.Second)) }
