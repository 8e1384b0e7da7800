package mediaserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/turn"
)

const (
	// mostValues bounds the members and elements of an answer; a page of items has some 50 000.
	mostValues = 400_000
	// trusted is how long a server that answered is believed to be still there.
	trusted = 30 * time.Second
	// noticed is the difference between two clocks that is told.
	noticed = 5 * time.Minute
	// mostPatience is how long a server can ask not to be asked.
	mostPatience = time.Hour
)

// longest is how long the reading of a list may take: sorting by date needs more than a minute on some
// (upstreams/watchers.md section 2.5). Tests set it.
var longest = 120 * time.Second

// errNotThere is wrapped for a path that a server does not know: 404, or a web page where JSON is expected.
var errNotThere = errors.New("the server does not know this path")

// turns has one request at a time be under way to a host, whoever asks there: several people may be signed in at one server, and
// a history be imported from it meanwhile.
var turns turn.Keys[string]

// wire sends requests to one server, one after the other.
type wire struct {
	http    *httpx.Client
	product string
	base    string      // with the prefix of the API
	header  http.Header // with the token; nil is none yet
	brief   time.Duration
	// secret is the token, which is taken out of answers.
	secret secret.Text
	// verify makes sure, without the token, that the server at the address is still the same one; nil is never done.
	verify func(ctx context.Context) error

	mu       sync.Mutex
	requests int
	skew     time.Duration
	answered time.Time // the last answer; zero when what answers must be verified first
	until    time.Time // not to be asked before
}

func newWire(client *httpx.Client, product, base string, brief time.Duration) *wire {
	return &wire{http: client, product: product, base: base, brief: brief}
}

// ask is a request to a server.
type ask struct {
	method string // empty = GET
	path   string
	query  url.Values
	body   any // sent as JSON; nil sends nothing
	// list gives the answer the time that reading a list may take.
	list bool
}

// do sends a request and gives a good answer back. The error is that of ctx, or one of those named at Client; a 404 wraps
// errNotThere, too.
func (w *wire) do(ctx context.Context, a ask) (*httpx.Response, error) {
	end, err := turns.Take(ctx, hostOf(w.base))
	if err != nil {
		return nil, err
	}
	defer end()
	if err := w.ready(ctx); err != nil {
		return nil, err
	}
	return w.send(ctx, a, w.header)
}

// ready reports whether the token can be sent: the server wants to be asked, and it is the one that the token is for.
func (w *wire) ready(ctx context.Context) error {
	w.mu.Lock()
	wait, fresh := time.Until(w.until), time.Since(w.answered) < trusted
	w.mu.Unlock()
	if wait > 0 {
		return unreachable(busy.With(w.product, wait.Round(time.Second)))
	}
	if fresh || w.verify == nil {
		return nil
	}
	return w.verify(ctx)
}

// send sends a request with the given header, whoever answers.
func (w *wire) send(ctx context.Context, a ask, header http.Header) (*httpx.Response, error) {
	limit := w.brief
	if a.list {
		limit = longest
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	req := httpx.Request{Method: a.method, URL: w.base + a.path, Header: header.Clone(), StayOnAddress: true}
	if len(a.query) > 0 {
		req.URL += "?" + a.query.Encode()
	}
	if req.Header == nil {
		req.Header = http.Header{}
	}
	req.Header.Set("Accept", "application/json")
	if a.body != nil {
		body, err := json.Marshal(a.body)
		if err != nil {
			return nil, fmt.Errorf("write a request: %w", err)
		}
		req.Body = body
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := w.http.Do(bounded, req)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests++
	if err != nil {
		w.answered = time.Time{}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, noAnswerFor(err)
	}
	w.answered = time.Now()
	w.look(resp)
	return resp, w.judge(resp)
}

// look learns from the head of an answer: what time it is there, and when the server wants to be asked again. The caller holds mu.
func (w *wire) look(resp *httpx.Response) {
	if at, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		if w.skew = at.Sub(w.answered).Round(time.Second); w.skew.Abs() < noticed {
			w.skew = 0
		}
	}
	if resp.Status == http.StatusTooManyRequests || resp.Status == http.StatusServiceUnavailable {
		w.until = w.answered.Add(min(resp.RetryAfter(), mostPatience))
	}
}

// judge says what the status of an answer means (upstreams/watchers.md section 6).
func (w *wire) judge(resp *httpx.Response) error {
	switch {
	case resp.Status >= 200 && resp.Status < 300:
		return nil
	case resp.Status == http.StatusUnauthorized:
		return ErrSignedOut
	case resp.Status == http.StatusForbidden:
		return ErrRefused
	case resp.Status == http.StatusNotFound:
		return w.notThere()
	case resp.Status >= 300 && resp.Status < 400:
		return unreachable(sentOn)
	}
	return unreachable(fails.With(w.product, resp.Status))
}

// get asks for a path and decodes the JSON of the answer.
func (w *wire) get(ctx context.Context, a ask, to any) error {
	resp, err := w.do(ctx, a)
	if err != nil {
		return err
	}
	return w.decode(resp, to)
}

// decode reads JSON. A web page where JSON is expected is what some servers answer for paths that they do not know
// (upstreams/watchers.md section 5).
func (w *wire) decode(resp *httpx.Response, to any) error {
	if isPage(resp) {
		return w.notThere()
	}
	if httpx.JSON(w.concealed(resp.Body), to, mostValues) != nil {
		return unreachable(notThat.With(w.product))
	}
	return nil
}

// shortest is the length in bytes from which a token is looked for: a shorter one may stand in an id by chance.
const shortest = 16

// concealed is what a server says without the token, which must get neither into records nor onto pages.
func (w *wire) concealed(text []byte) []byte {
	token := []byte(w.secret.Reveal())
	if len(token) < shortest || !bytes.Contains(text, token) {
		return text
	}
	return bytes.ReplaceAll(text, token, []byte(secret.Shown))
}

func isPage(resp *httpx.Response) bool {
	return strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") || strings.HasPrefix(strings.TrimSpace(string(resp.Body[:min(len(resp.Body), 64)])), "<")
}

func (w *wire) notThere() error {
	return fmt.Errorf("%w: %w", unreachable(notThere.With(w.product)), errNotThere)
}

// facts are how many requests were sent, and by how much the clock of the server is ahead.
func (w *wire) facts() (requests int, skew time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.requests, w.skew
}

// unreachable is why a server cannot be used for now; it wraps ErrUnreachable.
func unreachable(why error) error { return fmt.Errorf("%w: %w", why, ErrUnreachable) }

// noAnswerFor is what the error of a request means to people.
func noAnswerFor(err error) error {
	if pin := httpx.Fingerprint(err); pin != "" {
		why := ErrUntrusted
		if errors.Is(err, httpx.ErrWrongPin) {
			why = otherCertificate
		}
		return fmt.Errorf("%w: %w", unreachable(why.With(pin)), err)
	}
	return unreachable(noAnswer.With(err))
}

// isTimeout reports whether there was no answer in time.
func isTimeout(err error) bool {
	var failure *httpx.Error
	return errors.As(err, &failure) && failure.Kind == httpx.Timeout
}

// atURL is an error of a form: at the field for the certificate when the certificate is what is wrong, else at that for the address.
func atURL(err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, ErrUntrusted), errors.Is(err, otherCertificate):
		return reason.At("certificate_sha256", err)
	}
	return reason.At("url", err)
}

// distrust has the server be verified before the next request.
func (w *wire) distrust() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answered = time.Time{}
}
