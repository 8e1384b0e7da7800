// Package httpx is the one way out: every call to another service goes through a
// Client, which gives it the proxy, a timeout, a bound on the answer, a rate per
// host, quick retries of reads, and a debug log with every secret masked.
//
// What it promises: no request waits or answers without bound, but for the length
// of a Stream, which its reader bounds; a write is sent at most once; credentials never
// travel to another host or from https to http by a redirect; settings change while
// requests are under way.
package httpx

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/time/rate"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// ErrTooLarge is the cause of an *Error for an answer longer than Config.MaxBody.
var ErrTooLarge = reason.New("http_answer_too_large", "the answer is too large", "返回的内容过大")

const (
	maxRedirects = 5
	logBody      = 4 << 10
	retryWait    = 250 * time.Millisecond
	// idleConns is as many as usually talk to one host at once.
	idleConns = 16
	// limitersMost is how many hosts have a bucket before the full ones go.
	limitersMost = 256
)

// Config says how to reach other services. Zero values of Timeout, UserAgent,
// MaxBody and PerMinute take the defaults named beside them.
type Config struct {
	// Proxy is the address of an http, https or socks5 proxy; empty takes
	// HTTPS_PROXY, HTTP_PROXY and NO_PROXY of the environment.
	Proxy string
	// Direct uses no proxy, whatever Proxy and the environment say.
	Direct bool
	// Timeout bounds one attempt, from connecting to the last byte; 0 = 15 s.
	// Waiting for the rate limit does not count. For a Stream it bounds the way to
	// the answer's head, and then each wait for more bytes.
	Timeout time.Duration
	// UserAgent is sent where a request brings none; empty = "watchmark".
	UserAgent string
	// MaxBody bounds an answer of Do, in bytes after decompression; 0 = 8 MiB.
	MaxBody int64
	// PerMinute is the steady rate of requests to one host; 0 = 120.
	PerMinute int
	// Burst is how many requests to one host may go at once before the rate counts; at least 1.
	Burst int
	// Retries is how often a failed read is sent again at once; writes never are.
	Retries int
	// Allow is asked for the address of every connection, after its name was resolved and
	// before anything is sent; its error refuses the connection. When it is set no proxy is
	// used, which would resolve names itself. nil refuses none.
	Allow func(netip.Addr) error
	// Roots are the authorities that are trusted, of a proxy too; nil is those of the system.
	Roots *x509.CertPool
	// Pin is the SHA-256 of the one certificate that is taken, in hex, whoever has signed it; empty is the usual check.
	// With it a proxy cannot be one of https.
	Pin string
	// Ended is told of every attempt that was sent: to which host, its status or 0 when no whole
	// answer came (of a Stream, no head), and how long it took. nil is told nothing.
	Ended func(host string, status int, took time.Duration)
}

func (c Config) withDefaults() Config {
	if c.Timeout <= 0 {
		c.Timeout = 15 * time.Second
	}
	if c.UserAgent == "" {
		c.UserAgent = "watchmark"
	}
	if c.MaxBody <= 0 {
		c.MaxBody = 8 << 20
	}
	if c.PerMinute <= 0 {
		c.PerMinute = 120
	}
	c.Burst = max(c.Burst, 1)
	c.Retries = max(c.Retries, 0)
	return c
}

func (c Config) rate() rate.Limit { return rate.Limit(float64(c.PerMinute) / 60) }

// Request is what to send.
type Request struct {
	Method string // empty = GET
	URL    string
	Header http.Header
	Body   []byte
	// StayOnAddress gives a redirect back as the answer instead of following it.
	// Writes always do.
	StayOnAddress bool
	// Admit waits until this may be sent, before each sending and in place of the rate limit of the host; nil leaves it to that.
	// Unless it is that of the context, its error comes back as it is, and nothing was sent.
	Admit func(context.Context) error
	// Before is asked just before each sending, after the wait for the rate limit, and again when the connection takes the body; nil
	// never refuses. After its error, which comes back as it is the first time and within an *Error then, nothing whole was sent.
	Before func() error
	// Most bounds one attempt where Config.Timeout is longer; 0 does not.
	Most time.Duration
}

// Response is an answer, read whole.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// RetryAfter is what the answer's Retry-After header asks for, given in seconds
// or as a date; 0 when there is none or it has passed.
func (r *Response) RetryAfter() time.Duration {
	text := strings.TrimSpace(r.Header.Get("Retry-After"))
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(min(max(seconds, 0), 7*24*3600)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(time.Until(at), 0), 7*24*time.Hour)
	}
	return 0
}

// Client sends requests. It may be used by several goroutines.
type Client struct {
	masker *secret.Masker
	log    *slog.Logger
	now    atomic.Pointer[setup]

	mu       sync.Mutex
	limiters map[string]*rate.Limiter
}

// setup is a Config with what was made of it.
type setup struct {
	Config
	http *http.Client
	// sockets is for websockets, which begin as HTTP/1.1.
	sockets *http.Client
	proxy   func(*http.Request) (*url.URL, error) // nil where no proxy may be used
}

// New is a client with cfg. masker is applied to the debug log and to errors.
// The error says that cfg.Proxy cannot be used.
func New(cfg Config, masker *secret.Masker, logger *slog.Logger) (*Client, error) {
	c := &Client{masker: masker, log: logger, limiters: map[string]*rate.Limiter{}}
	if err := c.Apply(cfg); err != nil {
		return nil, err
	}
	return c, nil
}

// Apply changes the settings for the requests that come; those under way finish
// with the old ones. After an error, which says that cfg.Proxy cannot be used,
// the old settings stay.
func (c *Client) Apply(cfg Config) error {
	cfg = cfg.withDefaults()
	proxy := http.ProxyFromEnvironment
	if cfg.Proxy != "" {
		u, err := ParseProxy(cfg.Proxy)
		if err != nil {
			return err
		}
		proxy = http.ProxyURL(u)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = proxy
	if cfg.Direct || cfg.Allow != nil {
		transport.Proxy = nil
	}
	if cfg.Allow != nil {
		transport.DialContext = guarded(cfg.Allow).DialContext
	}
	transport.TLSClientConfig = &tls.Config{RootCAs: cfg.Roots, MinVersion: tls.VersionTLS12}
	if cfg.Pin != "" {
		transport.TLSClientConfig.InsecureSkipVerify = true // the pin is checked instead
		transport.TLSClientConfig.VerifyConnection = pinned(cfg.Pin)
	}
	transport.MaxIdleConnsPerHost = idleConns
	transport.MaxResponseHeaderBytes = 256 << 10
	upgrading := transport.Clone()
	upgrading.ForceAttemptHTTP2 = false
	upgrading.Protocols = new(http.Protocols)
	upgrading.Protocols.SetHTTP1(true)
	next := &setup{Config: cfg, proxy: transport.Proxy,
		http:    &http.Client{Transport: transport, CheckRedirect: checkRedirect},
		sockets: &http.Client{Transport: upgrading, CheckRedirect: stay}}
	if old := c.now.Swap(next); old != nil {
		old.http.CloseIdleConnections()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, limiter := range c.limiters {
		limiter.SetLimit(cfg.rate())
		limiter.SetBurst(cfg.Burst)
	}
	return nil
}

// guarded connects only where allow lets it.
func guarded(allow func(netip.Addr) error) *net.Dialer {
	return &net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("read the address to connect to: %w", err)
		}
		return allow(to.Addr())
	}}
}

// ParseProxy reads the address of an http, https or socks5 proxy. It never repeats the text in
// an error: it may hold a password.
func ParseProxy(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return nil, errProxyAddress
	}
	switch u.Scheme {
	case "http", "https", "socks5", "socks5h":
		return u, nil
	}
	return nil, badProxyScheme.With(u.Scheme)
}

// checkRedirect stops at a step from https to http, which then is the answer, and
// drops every credential before another host is asked. net/http alone would keep
// them for a subdomain.
func checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return tooManyRedirects
	}
	if via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return http.ErrUseLastResponse
	}
	req.Header.Del("Referer") // it would carry the query of the address before
	if req.URL.Host != via[0].URL.Host {
		for name := range req.Header {
			if secret.SensitiveField(name) {
				req.Header.Del(name)
			}
		}
	}
	return nil
}

// stay has a redirect be the answer.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// ProxyFor is the proxy that a request to target goes through; nil is none. The error says that the
// environment names a proxy that cannot be used.
func (c *Client) ProxyFor(target *url.URL) (*url.URL, error) {
	proxy := c.now.Load().proxy
	if proxy == nil {
		return nil, nil
	}
	return proxy(&http.Request{URL: target})
}

// Close gives up idle connections. Requests under way are not touched.
func (c *Client) Close() { c.now.Load().http.CloseIdleConnections() }

// Mask takes secrets out of text that came from a service, before it is kept.
func (c *Client) Mask(text string) string { return c.masker.Mask(text) }

// Do sends req and reads the answer, whatever its status. Reads (GET and HEAD)
// are tried again after a failed connection and after 502, 503 and 504 without
// Retry-After. An *Error comes back when there is no whole answer. What req sends
// as a bearer token is known to the masker from then on.
func (c *Client) Do(ctx context.Context, req Request) (*Response, error) {
	x, err := c.newCall(req)
	if err != nil {
		return nil, err
	}
	for attempt := 0; ; attempt++ {
		resp, err := x.attempt(ctx)
		if !x.isRead || attempt >= x.now.Retries || !worthRetrying(resp, err) {
			return resp, err
		}
		wait := retryWait << attempt
		select {
		case <-ctx.Done():
			return resp, err
		case <-time.After(wait/2 + rand.N(wait)):
		}
	}
}

// worthRetrying: a timeout is not, it has cost its time already; 429 and
// Retry-After are not, they ask for patience.
func worthRetrying(resp *Response, err error) bool {
	if err != nil {
		var failure *Error
		return errors.As(err, &failure) && failure.Kind == Connection
	}
	switch resp.Status {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return resp.RetryAfter() == 0
	}
	return false
}

// attempt sends once and reads the whole answer.
func (x *call) attempt(ctx context.Context) (*Response, error) {
	if err := x.admit(ctx); err != nil {
		return nil, err
	}
	most := x.now.Timeout
	if x.req.Most > 0 {
		most = min(most, x.req.Most)
	}
	bounded, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	start := time.Now()
	resp, err := x.read(bounded)
	if err != nil {
		x.ended(start, 0)
		return nil, x.failed(ctx, start, err)
	}
	x.ended(start, resp.Status)
	if x.debug(ctx) {
		x.answered(ctx, start, resp.Status, resp.Header, slog.String("body", x.client.masker.Body(resp.Header.Get("Content-Type"), resp.Body, logBody)))
	}
	return resp, nil
}

func (x *call) read(ctx context.Context) (*Response, error) {
	resp, err := x.send(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it was read to the end, or given up
	body, err := io.ReadAll(io.LimitReader(resp.Body, x.now.MaxBody+1))
	if err != nil {
		return nil, readAnswer.With(err)
	}
	if int64(len(body)) > x.now.MaxBody {
		return nil, answerTooLong.With(ErrTooLarge, x.now.MaxBody)
	}
	return &Response{Status: resp.StatusCode, Header: resp.Header, Body: body}, nil
}

// limiter is the bucket of host, shared by everybody who uses this client. When there are many, those that are full
// go: a new one would be the same.
func (c *Client) limiter(host string, now *setup) *rate.Limiter {
	c.mu.Lock()
	defer c.mu.Unlock()
	host = strings.ToLower(host)
	limiter := c.limiters[host]
	if limiter == nil {
		if len(c.limiters) >= limitersMost {
			maps.DeleteFunc(c.limiters, func(_ string, l *rate.Limiter) bool { return l.Tokens() >= float64(l.Burst()) })
		}
		limiter = rate.NewLimiter(now.rate(), now.Burst)
		c.limiters[host] = limiter
	}
	return limiter
}
