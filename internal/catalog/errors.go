package catalog

import (
	"errors"
	"strings"
	"time"

	"watchmark/internal/platform/reason"
)

// LacksScope reports whether a token was refused because it may not change collections. An account that
// may not is refused with the same status (upstreams/catalog.md section 3).
func LacksScope(err error) bool {
	var failure *Error
	return errors.As(err, &failure) && errors.Is(err, ErrForbidden) && strings.Contains(strings.ToLower(failure.Description.Text), "scope")
}

// Error is what every failed call of this package returns.
type Error struct {
	// Op says what was being done, such as "mark entry 8".
	Op reason.Reason
	// Kind is one of the kinds of failure.
	Kind *reason.Kind
	// Status is the HTTP status; 0 when no answer came.
	Status int
	// Description is the catalog's own words, shortened, or what is wrong with its answer; may be empty.
	Description reason.Reason
	// RetryAfter is what the catalog asked for; 0 when it did not.
	RetryAfter time.Duration
	// Err is the cause below HTTP; may be nil.
	Err error
	// lost is set for a write that may have landed and is not seen on the list yet.
	lost bool
}

// Error says what was done, what went wrong, and the catalog's own words.
func (e *Error) Error() string { return e.Reason().Text }

// Reason is what Error says.
func (e *Error) Reason() reason.Reason {
	r := failed.With(e.Op, e.Kind)
	if e.Status != 0 {
		r = failedWithStatus.With(e.Op, e.Kind, e.Status)
	}
	if !e.Description.IsZero() {
		r = reason.Because.With(r, e.Description)
	}
	if e.Err != nil {
		r = reason.Because.With(r, e.Err)
	}
	return r
}

// Unwrap gives the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}
