package llm

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// Kind is what kind of failure an Error is.
type Kind string

// The kinds.
const (
	Unreachable  Kind = "unreachable"   // no answer
	TimedOut     Kind = "timeout"       // no answer in time
	WrongAddress Kind = "wrong_address" // something answers that is no such service
	BadKey       Kind = "bad_key"       // the key, the region or a permission
	NoCredit     Kind = "no_credit"
	UnknownModel Kind = "unknown_model" // or the path
	TooLong      Kind = "too_long"      // what was sent is longer than the model can read
	BadRequest   Kind = "bad_request"
	Busy         Kind = "busy"
	Refused      Kind = "refused" // the model, or a filter before it, does not want to answer
	NoText       Kind = "no_text" // the answer holds none
	TooLarge     Kind = "too_large"
)

// Error is why there is no answer. It holds no secret.
type Error struct {
	Kind Kind
	// Status is that of the answer; 0 when there was none.
	Status int
	// Detail is what the service said about it, one line, masked and cut, or what is wrong with its answer; may be empty.
	Detail reason.Reason
	// RetryAfter is how long the service wants to be left alone; 0 when it did not say.
	RetryAfter time.Duration

	again bool   // it is worth another try at once
	empty bool   // the service answered with a completion that holds no text
	code  string // what the service calls the failure
	param string // which parameter it is about
	cause error
}

// Problem is one sentence that says what happened, and what the service said of it.
func (e *Error) Problem() reason.Reason {
	problem := problems[e.Kind].With()
	if e.Detail.IsZero() {
		return problem
	}
	return reason.WithDetail.With(problem, e.Detail)
}

// Advice is one sentence that says what to do.
func (e *Error) Advice() reason.Reason { return advices[e.Kind].With() }

// Reason is problem and advice.
func (e *Error) Reason() reason.Reason { return problemAndAdvice.With(e.Problem(), e.Advice()) }

func (e *Error) Error() string { return e.Reason().Text }

// Unwrap is the error of the HTTP client, when there was no answer.
func (e *Error) Unwrap() error { return e.cause }

// refuses reports whether the service does not support a parameter.
func (e *Error) refuses(param string) bool {
	if e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity {
		return false
	}
	detail := strings.ToLower(e.Detail.Text)
	unsupported := e.code == "unsupported_parameter" || e.code == "unsupported_value" ||
		slices.ContainsFunc([]string{"unsupported", "not support", "not allowed", "not permitted"}, func(text string) bool { return strings.Contains(detail, text) })
	return unsupported && (e.param == param || e.param == "" && strings.Contains(detail, param))
}

// unanswered is the error for a request that brought no whole answer.
func (c *Client) unanswered(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	failure := &Error{Kind: Unreachable, Detail: reason.Of(err), cause: err}
	var outside *httpx.Error
	switch {
	case errors.Is(err, httpx.ErrTooLarge):
		failure.Kind, failure.Detail = TooLarge, reason.Reason{}
	case errors.As(err, &outside) && outside.Kind == httpx.Timeout:
		failure.Kind, failure.Detail = TimedOut, reason.Reason{} // another try would cost the same time again
	case errors.As(err, &outside) && outside.Kind == httpx.Connection:
		failure.again = true
	}
	return failure
}

// kindOf is what an answer with an error is about, and whether it is worth another try
// (upstreams/channels.md section 6).
func kindOf(status int, code, text string) (kind Kind, again bool) {
	text = strings.ToLower(text)
	switch {
	case code == "insufficient_quota" || status == http.StatusPaymentRequired:
		return NoCredit, false
	case code == "context_length_exceeded" || strings.Contains(text, "context length") || strings.Contains(text, "context window") || status == http.StatusRequestEntityTooLarge:
		return TooLong, false
	case code == "content_filter" || code == "content_policy_violation":
		return Refused, false
	case code == "invalid_api_key":
		return BadKey, false
	case code == "model_not_found":
		return UnknownModel, false
	}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return BadKey, false
	case http.StatusNotFound:
		return UnknownModel, false
	case http.StatusMethodNotAllowed:
		return WrongAddress, false
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, overloaded:
		return Busy, true
	}
	switch {
	case status >= 500:
		return Busy, false
	case status >= 300 && status < 400:
		return WrongAddress, false
	}
	return BadRequest, false
}

// overloaded is the status of some services for too much at once.
const overloaded = 529

// longestDetail is how much of what a service says is kept, in runes.
const longestDetail = 300

// clean makes the answer of the service fit for people: one line, without the key. Services repeat a
// wrong key with its middle starred out, so what shares a part with it goes too.
func (c *Client) clean(text string, key secret.Text) string {
	text = c.HTTP.Mask(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " "))
	words := strings.Split(text, " ")
	for i, word := range words {
		if isOfKey(word, key.Reveal()) {
			words[i] = secret.Shown
		}
	}
	text = strings.Join(words, " ")
	if runes := []rune(text); len(runes) > longestDetail {
		text = string(runes[:longestDetail]) + "…"
	}
	return text
}

// isOfKey reports whether word shows a part of key, or is starred out.
func isOfKey(word, key string) bool {
	const tells = 4
	if strings.Contains(word, "**") {
		return true
	}
	if len(key) < tells {
		return key != "" && word == key
	}
	hidden := strings.ContainsAny(word, "*…") || strings.Contains(word, "...")
	if hidden && (strings.Contains(word, key[:tells]) || strings.Contains(word, key[len(key)-tells:])) {
		return true
	}
	const part = 8
	for i := 0; i+part <= len(key); i++ {
		if strings.Contains(word, key[i:i+part]) {
			return true
		}
	}
	return strings.Contains(word, key)
}
