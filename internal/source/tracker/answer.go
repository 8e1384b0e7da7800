package tracker

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"watchmark/internal/platform/httpx"
)

// The kinds of *Error: what the tracker has against a request (upstreams/tracker.md section 5).
var (
	ErrUnreachable  = errors.New("the tracker cannot be reached")
	ErrBusy         = errors.New("the tracker asks for patience")
	ErrUnauthorized = errors.New("the tracker does not accept the token")
	ErrForbidden    = errors.New("the tracker does not accept the client")
	ErrGone         = errors.New("the tracker does not know what was asked for")
	ErrLimit        = errors.New("a limit of the tracker account is reached")
	ErrLocked       = errors.New("the tracker account is locked")
	ErrVIP          = errors.New("the tracker keeps this for paying members")
	ErrRefused      = errors.New("the tracker refused the request")
	// ErrWrongCode: the code of the mail is wrong or has expired.
	ErrWrongCode = errors.New("the code is wrong or has expired")
	// ErrGrantInvalid: the code or refresh token is used up, expired or revoked.
	ErrGrantInvalid = errors.New("the authorisation is no longer valid")
)

// Error says what the tracker answered, in plain words and without anything it quoted.
type Error struct {
	Op     string // what was being done
	Kind   error  // one of the kinds
	Status int    // 0 when there was no answer
	Detail string // what it means and what to do
	// RetryAfter is what the tracker asks for; 0 when it does not.
	RetryAfter time.Duration
	Err        error // the cause, when there was no answer
}

// Error is a sentence.
func (e *Error) Error() string { return e.Op + ": " + e.Detail }

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
func (k *Keeper) send(ctx context.Context, op string, req httpx.Request) (*httpx.Response, error) {
	req.StayOnAddress = true
	resp, err := k.HTTP.Do(ctx, req)
	if err != nil {
		return nil, &Error{Op: op, Kind: ErrUnreachable, Detail: err.Error(), Err: err}
	}
	return resp, nil
}

// refusal is what an answer that is not a success means.
func refusal(op string, resp *httpx.Response) *Error {
	e := &Error{Op: op, Status: resp.Status, RetryAfter: resp.RetryAfter()}
	is := func(kind error, detail string) *Error {
		e.Kind, e.Detail = kind, detail
		return e
	}
	switch s := resp.Status; {
	case s == http.StatusUnauthorized:
		return is(ErrUnauthorized, "the tracker does not accept the sign-in: sign in again")
	case s == http.StatusForbidden && isPage(resp):
		return is(ErrForbidden, "the firewall of the tracker turned this service away (403 with a page): try another network or network.proxy")
	case s == http.StatusForbidden:
		return is(ErrForbidden, "the tracker does not accept the client id. Applications of people without VIP were deleted in July 2026, and one goes when its owner's VIP ends: check the client ids in the section tracker of the settings")
	case s == http.StatusNotFound:
		return is(ErrGone, "the tracker does not know what was asked for: check the addresses in the section tracker of the settings")
	case s == http.StatusPreconditionFailed:
		return is(ErrRefused, "the tracker refused the form of the request (412): this is a fault of this service, please report it")
	case s == 420:
		return is(ErrLimit, "a limit of the tracker account is reached (420): remove something there, or upgrade the account")
	case s == http.StatusLocked && resp.Header.Get("X-Account-Deactivated") != "":
		return is(ErrLocked, "the tracker account is deactivated (423): its owner has to ask the tracker's support")
	case s == http.StatusLocked:
		return is(ErrLocked, "the tracker account is locked (423): its owner has to ask the tracker's support")
	case s == http.StatusUpgradeRequired:
		return is(ErrVIP, "the tracker keeps this for VIP members (426). Free accounts may connect one application only: disconnect another one on its website")
	case s == http.StatusTooManyRequests:
		if e.RetryAfter == 0 {
			e.RetryAfter = firewallPatience
		}
		return is(ErrBusy, "the tracker had too many requests (429) and wants to be left alone for "+e.RetryAfter.String())
	case s >= 500:
		if e.RetryAfter == 0 {
			e.RetryAfter = overload
		}
		return is(ErrUnreachable, "the tracker is overloaded or broken ("+strconv.Itoa(s)+"): that passes by itself, try again later")
	case s >= 300 && s < 400:
		return is(ErrRefused, "the tracker answered with a redirect, which is not followed: check the addresses in the section tracker of the settings")
	}
	return is(ErrRefused, "the tracker refused the request ("+strconv.Itoa(resp.Status)+" "+http.StatusText(resp.Status)+"): try again later, and report it if that does not help")
}

// isPage reports whether the answer is a page for people, such as a firewall's.
func isPage(resp *httpx.Response) bool {
	return strings.Contains(resp.Header.Get("Content-Type"), "html")
}
