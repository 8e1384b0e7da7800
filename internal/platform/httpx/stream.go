package httpx

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"time"
)

// Stream is an answer whose body is still to be read.
type Stream struct {
	Status int
	Header http.Header
	// URL is the address that answered, after redirects.
	URL string
	// Body is as the service sent it, never decompressed, and of any length: the reader
	// bounds it. Its Read fails with an *Error when the body is cut, when no byte came
	// for Config.Timeout, and when the context of the request ends. It must be closed.
	Body io.ReadCloser
}

// Stream sends req once, without retries, and gives the answer back as soon as its
// head is there, whatever its status. An *Error comes back when there is none in
// Config.Timeout. ctx bounds the body too. Proxy, rate, redirects and log are those of
// Do, but the body is not logged. Accept-Encoding is always identity, so that byte
// ranges are those of the file.
func (c *Client) Stream(ctx context.Context, req Request) (*Stream, error) {
	req.Header = maps.Clone(req.Header)
	if req.Header == nil {
		req.Header = http.Header{}
	}
	req.Header.Set("Accept-Encoding", "identity")
	x, err := c.newCall(req)
	if err != nil {
		return nil, err
	}
	if err := x.admit(ctx); err != nil {
		return nil, err
	}
	start := time.Now()
	p := startPatience(ctx, x.now.Timeout)
	resp, err := x.send(p.ctx) //nolint:bodyclose // the reader of the Stream closes it
	p.pause()
	if err != nil {
		p.end()
		x.ended(start, 0)
		return nil, x.failed(ctx, start, p.explain(ctx, err))
	}
	x.ended(start, resp.StatusCode)
	if x.debug(ctx) {
		x.answered(ctx, start, resp.StatusCode, resp.Header)
	}
	return &Stream{Status: resp.StatusCode, Header: resp.Header, URL: resp.Request.URL.String(), Body: &body{ctx: ctx, call: x, patience: p, from: resp.Body, start: start}}, nil
}

// patience ends its context when the service keeps the reader waiting for too long.
type patience struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	limit  time.Duration
	timer  *time.Timer
	spent  error // the cause of ctx when the service let it run out
}

// startPatience has its clock running.
func startPatience(ctx context.Context, limit time.Duration) *patience {
	p := &patience{limit: limit, spent: noDataFor.With(limit, context.DeadlineExceeded)}
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	p.timer = time.AfterFunc(limit, func() { p.cancel(p.spent) })
	return p
}

func (p *patience) resume() { p.timer.Reset(p.limit) }
func (p *patience) pause()  { p.timer.Stop() }

func (p *patience) end() {
	p.timer.Stop()
	p.cancel(nil)
}

// explain is what lies behind err: the end of the caller's ctx, or patience that ran
// out. Either shows in net/http as one of several errors.
func (p *patience) explain(ctx context.Context, err error) error {
	if cause := ctx.Err(); cause != nil {
		return cause
	}
	if errors.Is(context.Cause(p.ctx), p.spent) {
		return p.spent
	}
	return err
}

// body is the body of a Stream.
type body struct {
	ctx      context.Context // the caller's own
	call     *call
	patience *patience
	from     io.ReadCloser
	start    time.Time
	failed   error
}

func (b *body) Read(buf []byte) (int, error) {
	if b.failed != nil {
		return 0, b.failed
	}
	b.patience.resume()
	n, err := b.from.Read(buf)
	b.patience.pause()
	if err == nil || err == io.EOF { //nolint:errorlint // a wrapped EOF would be a failure below HTTP, not the end
		return n, err
	}
	err = readAnswer.With(b.patience.explain(b.ctx, err))
	b.failed = b.call.failed(b.ctx, b.start, err)
	return n, b.failed
}

func (b *body) Close() error {
	b.patience.end()
	return b.from.Close()
}
