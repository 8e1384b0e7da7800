package tracker

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
)

// The kinds of *Error: what the tracker has against a request (upstreams/tracker.md section 5).
var (
	ErrUnreachable  = errors.New("cannot reach Trakt")
	ErrBusy         = errors.New("told by Trakt to wait")
	ErrUnauthorized = errors.New("token refused by Trakt")
	ErrForbidden    = errors.New("client refused by Trakt")
	ErrGone         = errors.New("unknown to Trakt")
	ErrLimit        = errors.New("a limit of the Trakt account is reached")
	ErrLocked       = errors.New("the Trakt account is locked")
	ErrVIP          = errors.New("kept by Trakt for paying members")
	ErrRefused      = errors.New("request refused by Trakt")

	// ErrGrantInvalid: the code or refresh token is used up, expired or revoked.
	ErrGrantInvalid = errors.New("the authorisation is no longer valid")
)

// Error says what the tracker answered, in plain words and without anything it quoted.
type Error struct {
	Op     *reason.Kind  // what was being done
	Kind   error         // one of the kinds
	Status int           // 0 when there was no answer
	Detail reason.Reason // what it means and what to do
	// RetryAfter is what the tracker asks for; 0 when it does not.
	RetryAfter time.Duration
	Err        error // the cause, when there was no answer
}

// Error is the reason in English.
func (e *Error) Error() string { return e.Reason().Text }

// Reason is what was being done, and the detail.
func (e *Error) Reason() reason.Reason { return failed.With(e.Op, e.Detail) }

// Unwrap gives kind and cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// passing reports whether the same request may succeed later without anybody doing anything.
func passing(err error) bool { return errors.Is(err, ErrUnreachable) || errors.Is(err, ErrBusy) }

const (
	// firewallPatience is for a 429 that does not say how long (upstreams/tracker.md section 5).
	firewallPatience = 60 * time.Second
	// overload is how long the tracker wants to be left alone after 5xx.
	overload = 30 * time.Second
)

// send sends a request and answers every redirect as it is: following one would use the
// code up, or carry a token elsewhere.
func (k *Service) send(ctx context.Context, op *reason.Kind, req httpx.Request) (*httpx.Response, error) {
	req.StayOnAddress = true
	resp, err := k.HTTP.Do(ctx, req)
	if err != nil {
		return nil, &Error{Op: op, Kind: ErrUnreachable, Detail: reason.Of(err), Err: err}
	}
	return resp, nil
}

// refusal is what an answer that is not a success means.
func refusal(op *reason.Kind, resp *httpx.Response) *Error {
	e := &Error{Op: op, Status: resp.Status, RetryAfter: resp.RetryAfter()}
	is := func(kind error, detail reason.Reason) *Error {
		e.Kind, e.Detail = kind, detail
		return e
	}
	switch s := resp.Status; {
	case s == http.StatusUnauthorized:
		return is(ErrUnauthorized, signInRefused.With())
	case s == http.StatusForbidden && isPage(resp):
		return is(ErrForbidden, firewall.With())
	case s == http.StatusForbidden:
		return is(ErrForbidden, clientRefused.With())
	case s == http.StatusNotFound:
		return is(ErrGone, pathUnknown.With())
	case s == http.StatusPreconditionFailed:
		return is(ErrRefused, formRefused.With())
	case s == 420:
		return is(ErrLimit, limitReached.With())
	case s == http.StatusLocked && resp.Header.Get("X-Account-Deactivated") != "":
		return is(ErrLocked, deactivated.With())
	case s == http.StatusLocked:
		return is(ErrLocked, locked.With())
	case s == http.StatusUpgradeRequired:
		return is(ErrVIP, onlyVIP.With())
	case s == http.StatusTooManyRequests:
		if e.RetryAfter == 0 {
			e.RetryAfter = firewallPatience
		}
		return is(ErrBusy, tooManyRequests.With(e.RetryAfter))
	case s >= 500:
		if e.RetryAfter == 0 {
			e.RetryAfter = overload
		}
		return is(ErrUnreachable, overloaded.With(s))
	case s >= 300 && s < 400:
		return is(ErrRefused, redirected.With())
	}
	return is(ErrRefused, refused.With(resp.Status, http.StatusText(resp.Status)))
}

// isPage reports whether the answer is a page for people, such as a firewall's.
func isPage(resp *httpx.Response) bool {
	return strings.Contains(resp.Header.Get("Content-Type"), "html")
}
