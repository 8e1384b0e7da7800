// Package problem is how every door of the service says what is wrong: problem documents (RFC 9457), with the reason as
// a value. It is the one place that maps what is wrong to an HTTP status.
//
// What it promises: a problem never repeats what the caller sent, so that a refused password stays out of logs; its
// code and status can be branched on, and its reason is in the language of the caller.
package problem

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/reason"
)

// Document is the body of every error answer.
type Document struct {
	Type   string `json:"type" doc:"Always about:blank: the status says what kind of problem it is." example:"about:blank"`
	Title  string `json:"title" doc:"The name of the HTTP status." example:"Not Found"`
	Status int    `json:"status" doc:"The HTTP status." example:"404"`
	Detail string `json:"detail" doc:"What is wrong and what to do about it, in plain words." example:"There is no record 12."`
	// Reason is what is wrong, as a value.
	Reason reason.Reason `json:"reason,omitzero" doc:"The same as a value: a code for programs, its arguments, and the text in the language that the request asks for."`
	// Errors name the fields at fault.
	Errors []Field `json:"errors,omitempty" doc:"The fields at fault, when it is about fields."`
	// RequestID is set for internal errors only: the log has the whole story under it.
	RequestID string `json:"request_id,omitempty" doc:"For internal errors: look for this id in the service's log."`
	// RetryAfter is in seconds; 0 for none.
	RetryAfter int `json:"retry_after,omitempty" doc:"Seconds after which it may be tried again, as in the header Retry-After."`
}

// Field says what is wrong with one field.
type Field struct {
	Location string        `json:"location" doc:"Where the field is, such as body.title or query.limit." example:"query.limit"`
	Message  string        `json:"message" doc:"What is wrong with it." example:"expected number <= 200"`
	Reason   reason.Reason `json:"reason,omitzero" doc:"The same as a value, as that of the whole."`
}

var (
	fields = reason.New("fields_invalid", "{fields}", "{fields}").For(reason.Invalid)
	field  = reason.New("field_invalid", "{location}: {what}", "{location}：{what}").For(reason.Invalid)
	// Internal is all that a caller is told of a fault of the service.
	Internal = reason.New("internal_error", "internal error", "服务内部出错")
)

// statuses are what a problem is answered with, by the class of its reason.
var statuses = map[reason.Class]int{
	reason.Internal: http.StatusInternalServerError, reason.Invalid: http.StatusBadRequest, reason.NotFound: http.StatusNotFound,
	reason.Conflict: http.StatusConflict, reason.Unauthorized: http.StatusUnauthorized, reason.Forbidden: http.StatusForbidden,
	reason.TooMany: http.StatusTooManyRequests, reason.Unavailable: http.StatusServiceUnavailable, reason.Upstream: http.StatusBadGateway,
	reason.NoSpace: http.StatusInsufficientStorage,
}

// Of is the problem that an error says, with the status of its class.
func Of(err error) *Document {
	r := reason.Of(err)
	return With(statuses[r.Class()], r)
}

// With is a problem with a status of its own.
func With(status int, r reason.Reason) *Document {
	d := &Document{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: r.Text, Reason: r}
	if !r.Is(Internal) {
		d.Detail = sentence(r.Text)
	}
	return d
}

// At is what is wrong with the field at location.
func At(location string, what error) Field {
	r := reason.Of(what)
	return Field{location, r.Text, r}
}

// OfFields is the problem of a request that is read, and cannot be carried out for what its fields hold.
func OfFields(at ...Field) *Document {
	d := With(http.StatusUnprocessableEntity, reason.Reason{})
	d.AddFields(at...)
	return d
}

// AddFields makes d the problem of these fields.
func (d *Document) AddFields(at ...Field) {
	texts, reasons := make([]string, len(at)), make([]reason.Reason, len(at))
	for i, f := range at {
		texts[i], reasons[i] = f.Location+": "+f.Message, field.With(f.Location, f.Reason)
	}
	d.Errors, d.Detail, d.Reason = at, strings.Join(texts, "; "), fields.With(reasons)
}

// After is d, which may be tried again after some seconds.
func (d *Document) After(seconds int) *Document {
	d.RetryAfter = seconds
	return d
}

// In is d with its reasons in a language.
func (d *Document) In(l bilingual.Language) *Document {
	told := *d
	told.Reason.Text, told.Errors = d.Reason.In(l), append([]Field(nil), d.Errors...)
	for i := range told.Errors {
		told.Errors[i].Reason.Text = told.Errors[i].Reason.In(l)
	}
	return &told
}

// Error is the detail.
func (d *Document) Error() string { return d.Detail }

// GetStatus is the HTTP status; huma asks for it.
func (d *Document) GetStatus() int { return d.Status }

// ContentType is that of problem documents; huma asks for it.
func (d *Document) ContentType(string) string { return "application/problem+json" }

// GetHeaders are the headers that go with the problem; huma asks for them.
func (d *Document) GetHeaders() http.Header {
	if d.RetryAfter == 0 {
		return nil
	}
	return http.Header{"Retry-After": {strconv.Itoa(d.RetryAfter)}}
}

// Write answers a request with the problem, in its language.
func (d *Document) Write(w http.ResponseWriter, r *http.Request) {
	for name, values := range d.GetHeaders() {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", d.ContentType(""))
	w.WriteHeader(d.Status)
	_ = json.NewEncoder(w).Encode(d.In(bilingual.Asked(r))) // a caller that went away needs no answer
}

// sentence gives a text a capital letter and a full stop.
func sentence(text string) string {
	if text == "" || strings.HasSuffix(text, ".") {
		return text
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:] + "."
}
