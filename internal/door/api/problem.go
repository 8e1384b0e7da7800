package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Problem is the body of every error answer: an RFC 9457 problem document. It
// never repeats what the caller sent, so that a refused password stays out of logs.
type Problem struct {
	Type   string `json:"type" doc:"Always about:blank: the status says what kind of problem it is." example:"about:blank"`
	Title  string `json:"title" doc:"The name of the HTTP status." example:"Not Found"`
	Status int    `json:"status" doc:"The HTTP status." example:"404"`
	Detail string `json:"detail" doc:"What is wrong and what to do about it, in plain words." example:"There is no record 12."`
	// Errors name the fields at fault.
	Errors []FieldProblem `json:"errors,omitempty" doc:"The fields at fault, when it is about fields."`
	// RequestID is set for internal errors only: the log has the whole story under it.
	RequestID string `json:"request_id,omitempty" doc:"For internal errors: look for this id in the service's log."`
	// RetryAfter is in seconds; 0 for none.
	RetryAfter int `json:"retry_after,omitempty" doc:"Seconds after which it may be tried again, as in the header Retry-After."`
}

// FieldProblem says what is wrong with one field.
type FieldProblem struct {
	Location string `json:"location" doc:"Where the field is, such as body.title or query.limit." example:"query.limit"`
	Message  string `json:"message" doc:"What is wrong with it." example:"expected number <= 200"`
}

// Error is the detail.
func (p *Problem) Error() string { return p.Detail }

// GetStatus is the HTTP status; huma asks for it.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType is that of problem documents; huma asks for it.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// GetHeaders are the headers that go with the problem; huma asks for them.
func (p *Problem) GetHeaders() http.Header {
	if p.RetryAfter == 0 {
		return nil
	}
	return http.Header{"Retry-After": {strconv.Itoa(p.RetryAfter)}}
}

// The library keeps these as variables of its package. All APIs of a process share
// them, and they are set before any is built: errors are Problems, lists are never null.
func init() {
	huma.DefaultArrayNullable = false
	huma.NewError = func(status int, detail string, errs ...error) huma.StatusError {
		return libraryProblem(status, detail, errs)
	}
	huma.NewErrorWithContext = func(_ huma.Context, status int, detail string, errs ...error) huma.StatusError {
		return libraryProblem(status, detail, errs)
	}
}

// libraryProblem turns what huma found wrong with a request into a Problem. Only
// location and message are taken over: the detail of a plain error may hold anything,
// and the offending value may be a password.
func libraryProblem(status int, detail string, errs []error) *Problem {
	if status >= http.StatusInternalServerError {
		return problem(status, internalError)
	}
	p := problem(status, detail)
	for _, err := range errs {
		var field *huma.ErrorDetail
		if errors.As(err, &field) {
			p.Errors = append(p.Errors, FieldProblem{field.Location, field.Message})
		}
	}
	if len(p.Errors) > 0 {
		p.Detail = sentence(p.Errors)
	}
	return p
}

const internalError = "internal error"

// problem is a Problem with the status and detail.
func problem(status int, detail string) *Problem {
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail}
}

// after is p, which may be tried again after some seconds.
func (p *Problem) after(seconds int) *Problem {
	p.RetryAfter = seconds
	return p
}

// fieldProblem is a 422 about one field.
func fieldProblem(location, message string) *Problem {
	return fieldProblems([]FieldProblem{{location, message}})
}

// fieldProblems is a 422 about several fields.
func fieldProblems(fields []FieldProblem) *Problem {
	p := problem(http.StatusUnprocessableEntity, sentence(fields))
	p.Errors = fields
	return p
}

// sentence is the detail for problems of fields: each field and what is wrong with it.
func sentence(fields []FieldProblem) string {
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = f.Location + ": " + f.Message
	}
	return strings.Join(parts, "; ")
}

// write answers the problem outside of huma.
func (p *Problem) write(w http.ResponseWriter) {
	for name, values := range p.GetHeaders() {
		w.Header()[name] = values
	}
	writeJSON(w, p.Status, p.ContentType(""), p)
}

// writeJSON answers v as JSON. The status is sent before an error can be known, and
// what then remains is a client that went away.
func writeJSON(w http.ResponseWriter, status int, contentType string, v any) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
