package catalog

import (
	"errors"
	"fmt"
	"net/http"

	"watchmark/internal/platform/httpx"
)

// errNotAsked is the cause of an *Error for a request that was not sent.
var errNotAsked = errors.New("it did not answer before and is asked again in a while")

// Asked reports whether err comes from the catalog or the way to it: false for a
// request that was not sent because the catalog is known to be unreachable.
func Asked(err error) bool { return !errors.Is(err, errNotAsked) }

// unsent is errNotAsked with the failure for which nothing is sent.
type unsent struct{ last error }

// Error leaves the failure out: it was told when it happened.
func (u *unsent) Error() string { return errNotAsked.Error() }

// Is reports that it is errNotAsked; the failure before is not in the chain, for that is not what went wrong.
func (u *unsent) Is(target error) bool { return target == errNotAsked }

// Outage says for an ErrUnreachable in plain words what kind of outage it is.
func Outage(err error) string {
	var before *unsent
	if errors.As(err, &before) && before.last != nil {
		err = before.last
	}
	var failure *Error
	var below *httpx.Error
	switch {
	case errors.Is(err, ErrSearchOff):
		return "the catalog's search is switched off"
	case errors.Is(err, errNoRows):
		return "the catalog shows no episodes of a subject that should have some"
	case errors.As(err, &below):
		switch below.Kind {
		case httpx.Connection:
			return "the catalog cannot be reached, the connection was refused or cut"
		case httpx.DNS:
			return "the catalog cannot be reached, its name cannot be resolved"
		case httpx.TLS:
			return "the catalog cannot be reached, there is no secure connection to it"
		case httpx.Timeout:
			return "the catalog cannot be reached, it did not answer in time"
		case httpx.Proxy:
			return "the catalog cannot be reached, the proxy did not let the request pass"
		}
	case errors.As(err, &failure) && failure.Status == http.StatusTooManyRequests:
		return "the catalog takes no requests for a while, for too many came (HTTP 429)"
	case errors.As(err, &failure) && failure.Status >= 500:
		return fmt.Sprintf("the catalog is out of order (HTTP %d)", failure.Status)
	case errors.As(err, &failure) && failure.Status != 0:
		return fmt.Sprintf("the catalog's answer is not one of those it gives (HTTP %d)", failure.Status)
	}
	return "the catalog cannot be reached"
}
