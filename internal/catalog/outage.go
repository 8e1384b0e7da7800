package catalog

import (
	"errors"
	"net/http"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
)

// Asked reports whether err comes from the catalog or the way to it: false for a
// request that was not sent because the catalog is known to be unreachable.
func Asked(err error) bool { return !errors.Is(err, errNotAsked) }

// unsent is errNotAsked with the failure for which nothing is sent.
type unsent struct{ last error }

// Error leaves the failure out: it was told when it happened.
func (u *unsent) Error() string { return errNotAsked.Error() }

// Reason is errNotAsked.
func (u *unsent) Reason() reason.Reason { return errNotAsked.With() }

// Is reports that it is errNotAsked; the failure before is not in the chain, for that is not what went wrong.
func (u *unsent) Is(target error) bool { return target == errNotAsked }

// Outage says for an ErrUnreachable what kind of outage it is.
func Outage(err error) reason.Reason {
	var before *unsent
	if errors.As(err, &before) && before.last != nil {
		err = before.last
	}
	var failure *Error
	var below *httpx.Error
	switch {
	case errors.Is(err, ErrSearchOff):
		return ErrSearchOff.With()
	case errors.Is(err, errNoRows):
		return outageNoRows.With()
	case errors.As(err, &below):
		switch below.Kind {
		case httpx.Connection:
			return outageConnection.With()
		case httpx.DNS:
			return outageDNS.With()
		case httpx.TLS:
			return outageTLS.With()
		case httpx.Timeout:
			return outageTimeout.With()
		case httpx.Proxy:
			return outageProxy.With()
		}
	case errors.As(err, &failure) && failure.Status == http.StatusTooManyRequests:
		return outageBusy.With()
	case errors.As(err, &failure) && failure.Status >= 500:
		return outageBroken.With(failure.Status)
	case errors.As(err, &failure) && failure.Status != 0:
		return outageStrange.With(failure.Status)
	}
	return outageOther.With()
}
