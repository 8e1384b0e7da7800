package httpx

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// call is a request on its way, with the settings that held when it began.
type call struct {
	client *Client
	now    *setup
	target *url.URL
	req    Request
	// isRead: GET and HEAD may be repeated, and follow redirects.
	isRead bool
}

// newCall checks the address of req and makes its bearer token known to the masker.
func (c *Client) newCall(req Request) (*call, error) {
	if req.Method == "" {
		req.Method = http.MethodGet
	}
	target, err := url.Parse(req.URL)
	if err != nil || target.Host == "" || target.Scheme != "http" && target.Scheme != "https" {
		return nil, &Error{Kind: Other, Detail: errBadAddress.With(), Err: errBadAddress}
	}
	if token, ok := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer "); ok {
		c.masker.Add(token)
	}
	isRead := req.Method == http.MethodGet || req.Method == http.MethodHead
	return &call{client: c, now: c.now.Load(), target: target, req: req, isRead: isRead}, nil
}

// admit waits for the rate limit, then asks the caller's Before.
func (x *call) admit(ctx context.Context) error {
	err := x.mayGo(ctx)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return x.client.failure(ctx, x.target, waitForRate.With(err))
	}
	if err != nil {
		return err
	}
	if x.req.Before != nil {
		return x.req.Before()
	}
	return nil
}

// mayGo waits for Request.Admit, or for the rate limit of the host.
func (x *call) mayGo(ctx context.Context) error {
	if x.req.Admit != nil {
		return x.req.Admit(ctx)
	}
	if err := x.client.limiter(x.target.Host, x.now).Wait(ctx); err != nil {
		if cause := ctx.Err(); cause != nil {
			return cause
		}
		return context.DeadlineExceeded // Wait foresees that it would pass
	}
	return nil
}

// send sends the request once; ctx bounds it until the answer's body is closed. The
// caller hands an error to failed.
func (x *call) send(ctx context.Context) (*http.Response, error) {
	out, err := http.NewRequestWithContext(ctx, x.req.Method, x.req.URL, bytes.NewReader(x.req.Body))
	if err != nil {
		return nil, errBadAddress
	}
	if x.req.Before != nil && len(x.req.Body) > 0 {
		out.GetBody = func() (io.ReadCloser, error) {
			return io.NopCloser(&asked{bytes.NewReader(x.req.Body), x.req.Before}), nil
		}
		if out.Body, err = out.GetBody(); err != nil {
			return nil, err
		}
	}
	for name, values := range x.req.Header {
		out.Header[name] = values
	}
	if out.Header.Get("User-Agent") == "" {
		out.Header.Set("User-Agent", x.now.UserAgent)
	}
	if x.debug(ctx) {
		x.log(ctx, "request sent", slog.Any("headers", x.client.masker.Header(out.Header)),
			slog.String("body", x.client.masker.Body(out.Header.Get("Content-Type"), x.req.Body, logBody)))
	}
	client := *x.now.http
	if x.req.StayOnAddress || !x.isRead {
		client.CheckRedirect = stay
	}
	return client.Do(out)
}

// asked is a body that asks before it is read.
type asked struct {
	io.Reader
	before func() error
}

func (b *asked) Read(p []byte) (int, error) {
	if b.before != nil {
		if err := b.before(); err != nil {
			return 0, err
		}
		b.before = nil
	}
	return b.Reader.Read(p)
}

// ended tells Config.Ended.
func (x *call) ended(start time.Time, status int) {
	if x.now.Ended != nil {
		x.now.Ended(x.target.Host, status, time.Since(start))
	}
}

func (x *call) debug(ctx context.Context) bool { return x.client.log.Enabled(ctx, slog.LevelDebug) }

func (x *call) log(ctx context.Context, message string, more ...slog.Attr) {
	attrs := []slog.Attr{slog.String("method", x.req.Method), slog.String("url", x.client.masker.URL(x.target))}
	x.client.log.LogAttrs(ctx, slog.LevelDebug, message, append(attrs, more...)...)
}

// failed is the *Error for what went wrong since start. ctx is the caller's own.
func (x *call) failed(ctx context.Context, start time.Time, err error) *Error {
	failure := x.client.failure(ctx, x.target, err)
	if x.debug(ctx) {
		x.log(ctx, "request failed", slog.Duration("elapsed", time.Since(start)), slog.String("error", failure.Error()))
	}
	return failure
}

// answered logs the head of an answer, and what more is to be said of it.
func (x *call) answered(ctx context.Context, start time.Time, status int, header http.Header, more ...slog.Attr) {
	attrs := []slog.Attr{slog.Int("status", status), slog.Duration("elapsed", time.Since(start)),
		slog.Any("headers", x.client.masker.Header(header))}
	x.log(ctx, "answer received", append(attrs, more...)...)
}
