package httpx

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"watchmark/internal/platform/reason"
)

// Kind says at which step a request failed.
type Kind string

// The steps a request can fail at.
const (
	DNS        Kind = "dns"        // the host name is not known
	Connection Kind = "connection" // refused, no route, reset, cut
	TLS        Kind = "tls"        // the certificate or the handshake
	Timeout    Kind = "timeout"    // no whole answer in time
	Proxy      Kind = "proxy"      // the proxy, not the service
	ProxyTLS   Kind = "proxy_tls"  // the certificate of the proxy
	Cancelled  Kind = "cancelled"  // the caller gave up
	Other      Kind = "other"
)

// Error says that no whole answer came, and why. Its text shows neither the path
// nor the query of the request, and nothing secret.
type Error struct {
	Host string // empty when the address names none
	Kind Kind
	// Detail is the cause in its own words, masked.
	Detail reason.Reason
	// Err is the cause, for errors.Is and errors.As; its text may hold secrets.
	Err error
}

// Error is a sentence that says what failed and what to look at.
func (e *Error) Error() string {
	return e.Reason().Text
}

// Reason is a sentence that says what failed and what to look at.
func (e *Error) Reason() reason.Reason {
	switch {
	case e.Host == "": // nothing was sent
		return e.Detail
	case e.Detail.IsZero():
		return e.Kind.Explain(e.Host)
	}
	return reason.WithDetail.With(e.Kind.Explain(e.Host), e.Detail)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Explain says in plain words what a failure of this kind with host means.
func (k Kind) Explain(host string) reason.Reason {
	if kind := explained[k]; kind != nil {
		return kind.With(host)
	}
	return requestFailed.With(host)
}

// Classify says at which step err, an error of net/http, happened.
func Classify(err error) Kind {
	var failure *Error
	var dns *net.DNSError
	var op *net.OpError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var unknown x509.UnknownAuthorityError
	var hostname x509.HostnameError
	var invalid x509.CertificateInvalidError
	var timeout net.Error
	switch {
	case errors.As(err, &failure):
		return failure.Kind
	case errors.Is(err, context.Canceled):
		return Cancelled
	case errors.As(err, &op) && op.Op == "proxyconnect" && errors.As(err, &certificate):
		return ProxyTLS
	case errors.As(err, &op) && (op.Op == "proxyconnect" || strings.HasPrefix(op.Op, "socks")):
		return Proxy
	case errors.As(err, &dns):
		return DNS
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return Timeout
	case errors.As(err, &certificate), errors.As(err, &record), errors.As(err, &alert), errors.As(err, &unknown),
		errors.As(err, &hostname), errors.As(err, &invalid), errors.Is(err, http.ErrSchemeMismatch):
		return TLS
	case errors.As(err, &op), errors.Is(err, net.ErrClosed), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return Connection
	}
	return Other
}

// failure wraps err without the URL that net/http puts into its errors.
func (c *Client) failure(ctx context.Context, target *url.URL, err error) *Error {
	var inURL *url.Error
	if errors.As(err, &inURL) {
		err = inURL.Err
	}
	kind := Classify(err)
	if kind == Cancelled && ctx.Err() == nil {
		kind = Timeout
	}
	return &Error{Host: target.Host, Kind: kind, Detail: reason.Of(err).Masked(c.masker.Mask), Err: err}
}
