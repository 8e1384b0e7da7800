package catalog

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// The kinds of failure a caller branches on, with errors.Is.
var (
	// ErrUnreachable is refused, DNS, timeout, TLS, 429, 5xx, or HTML where JSON was due. Trying later helps.
	// It is also the kind when the caller's own context ended; errors.Is(err, context.Canceled) tells them apart.
	ErrUnreachable = errors.New("catalog unreachable")
	// ErrUnauthorized is 401: the token is missing, wrong or expired.
	ErrUnauthorized = errors.New("catalog refused the token")
	// ErrForbidden is 403: the scope is missing, the account is banned, or the User-Agent is refused.
	ErrForbidden = errors.New("catalog forbids this")
	// ErrNotFound is 404: unknown, hidden from this caller, or not collected.
	ErrNotFound = errors.New("not in the catalog")
	// ErrRefused is every other 4xx: the catalog understood and said no.
	ErrRefused = errors.New("catalog refused the request")
)

// LacksScope reports whether a token was refused because it may not change collections. An account that
// may not is refused with the same status (upstreams/catalog.md section 3).
func LacksScope(err error) bool {
	var failure *Error
	return errors.As(err, &failure) && errors.Is(err, ErrForbidden) && strings.Contains(strings.ToLower(failure.Description), "scope")
}

// Error is what every failed call of this package returns.
type Error struct {
	// Op says what was being done, such as "mark episodes of subject 8".
	Op string
	// Kind is one of the sentinel errors above, or ErrGrantInvalid.
	Kind error
	// Status is the HTTP status; 0 when no answer came.
	Status int
	// Description is the catalog's own words, shortened; may be empty.
	Description string
	// RetryAfter is what the catalog asked for; 0 when it did not.
	RetryAfter time.Duration
	// Err is the cause below HTTP; may be nil.
	Err error
	// lost is set for a write that may have landed and is not seen on the list yet.
	lost bool
}

// Error says what was done, what went wrong, and the catalog's own words.
func (e *Error) Error() string {
	s := e.Op + ": " + e.Kind.Error()
	if e.Status != 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Description != "" {
		s += ": " + e.Description
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap gives the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}
