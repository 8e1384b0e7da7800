package diagnose

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"watchmark/internal/platform/reason"
)

// Via is the way a request goes.
type Via string

// The ways.
const (
	Direct  Via = "direct"
	ByProxy Via = "proxy"
)

// StageName names a stage of the way.
type StageName string

// The stages, in their order. By a proxy the first two are the way to the proxy.
const (
	DNS   StageName = "dns"
	TCP   StageName = "tcp"
	Proxy StageName = "proxy"
	TLS   StageName = "tls"
	HTTP  StageName = "http"
	Query StageName = "query"
)

// StageNames are all of them.
var StageNames = []StageName{DNS, TCP, Proxy, TLS, HTTP, Query}

// Stage is how a stage went.
type Stage struct {
	Name      StageName `json:"name" enum:"dns,tcp,proxy,tls,http,query"`
	OK        bool      `json:"ok"`
	ElapsedMS float64   `json:"elapsed_ms"`
	Problem   Problem   `json:"problem" doc:"What failed, in one word; empty when nothing did."`
	// Detail is what was seen, in words of the machine: addresses, a status, the text of an error.
	Detail reason.Reason `json:"detail_value,omitzero" doc:"What was seen there, in words of the machine."`
}

// MarshalJSON has the texts of its reasons beside them.
func (s Stage) MarshalJSON() ([]byte, error) {
	type plain Stage
	return reason.MarshalBeside((*plain)(&s))
}

// Certificate is one of those that a server sent, its own first.
type Certificate struct {
	Subject   string    `json:"subject"`
	Issuer    string    `json:"issuer"`
	Names     []string  `json:"names" doc:"The hosts it is for; at most twenty."`
	NotBefore time.Time `json:"not_before"`
	NotAfter  time.Time `json:"not_after"`
	// Fingerprint is the SHA-256 of the certificate in hex.
	Fingerprint string `json:"fingerprint" doc:"SHA-256."`
}

// Route is one way to a target, gone stage by stage.
type Route struct {
	Via  Via  `json:"via" enum:"direct,proxy"`
	Used bool `json:"used" doc:"Whether requests of this service go this way."`
	OK   bool `json:"ok"`
	// Failed is the stage that failed; empty when none did.
	Failed StageName `json:"failed" enum:",dns,tcp,proxy,tls,http,query" doc:"The stage that failed; empty when none did."`
	// Problem is that of the failed stage, or clock_off where all went well but the clock differs.
	Problem   Problem       `json:"problem" doc:"What failed, in one word; clock_off where all went well but the clock of this machine differs."`
	Advice    reason.Reason `json:"advice_value,omitzero" doc:"What that means and what to do; empty when there is nothing to do."`
	ElapsedMS float64       `json:"elapsed_ms"`
	Stages    []Stage       `json:"stages" doc:"The stages that were reached."`
	// Chain is what the server showed of itself, trusted or not; empty without TLS.
	Chain      []Certificate `json:"chain" doc:"The certificates that the server sent, its own first."`
	TLSVersion string        `json:"tls_version" example:"TLS 1.3"`
	// Status is that of the answer; 0 when there was none.
	Status int `json:"status" doc:"The HTTP status of the answer; 0 for none."`
	// ClockDifference is how many seconds this machine's clock is ahead of the server's; nil when it did not tell its time.
	ClockDifference *float64 `json:"clock_difference_seconds" doc:"How far the clock of this machine is ahead of the server's; null when it did not tell."`
}

// MarshalJSON has the texts of its reasons beside them.
func (r Route) MarshalJSON() ([]byte, error) {
	type plain Route
	return reason.MarshalBeside((*plain)(&r))
}

func (r *Route) fail(s Stage) {
	r.Stages = append(r.Stages, s)
	r.OK, r.Failed, r.Problem, r.Advice = false, s.Name, s.Problem, s.Problem.Advice()
}

// attempt does a stage in time, and notes how it went. It reports whether the way goes on.
func (d *Doctor) attempt(ctx context.Context, r *Route, name StageName, do func(ctx context.Context) (detail reason.Reason, problem Problem, err error)) bool {
	ctx, cancel := context.WithTimeout(ctx, d.Timeout())
	defer cancel()
	start := time.Now()
	detail, problem, err := do(ctx)
	s := Stage{Name: name, OK: problem == "", ElapsedMS: milliseconds(time.Since(start)), Problem: problem, Detail: detail}
	if err != nil {
		s.Detail = reason.Of(err)
	}
	s.Detail = s.Detail.Masked(d.Masker.Mask)
	if s.OK {
		r.Stages = append(r.Stages, s)
		return true
	}
	r.fail(s)
	return false
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// silent reports whether err is that no answer came in time.
func silent(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// cut reports whether err is that the other side, or something between, ended the connection.
func cut(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
