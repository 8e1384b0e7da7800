package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"watchmark/internal/catalog/budget"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/replica"
	"watchmark/internal/platform/secret"
)

// The public catalog, for settings that name no other.
const (
	publicAPI = "https://api.bgm.tv"
	publicWeb = "https://bgm.tv"
)

// Config says where the catalog is and how to introduce ourselves.
type Config struct {
	// APIURL is the base of /v0 and of the legacy search; WebURL the base of OAuth.
	// Neither ends in a slash; empty is the public catalog.
	APIURL string
	WebURL string
	// UserAgent is what UserAgent gives; it must be set: the default of net/http is refused (upstreams/catalog.md section 2).
	UserAgent string
	// Types are the kinds of subject a search without Types asks for; empty is Anime.
	Types []SubjectType
}

// UserAgent is the form the catalog asks for (upstreams/catalog.md section 2):
// developer/app/version (platform). The homepage that may follow is left out.
func UserAgent(version string) string {
	return "watchmark/watchmark/" + version + " (" + runtime.GOOS + ")"
}

// Client talks to the catalog. Its look-ups are anonymous: an invalid token would
// make even public reads fail. It may be used by several goroutines.
type Client struct {
	http *httpx.Client
	cfg  atomic.Pointer[Config]
	api  *reach // of Config.APIURL
	web  *reach // of Config.WebURL
	// budget is what may be sent; nil leaves that to http.
	budget *budget.Budget
	// ahead is how far the API's clock is ahead of this machine's, in ns, as its last answer had it.
	ahead atomic.Int64
}

// New is a client of the catalog that cfg names. The error says which address
// cannot be used.
func New(cfg Config, out *httpx.Client, log *slog.Logger) (*Client, error) {
	c := &Client{http: out, api: &reach{log: log}, web: &reach{log: log}}
	if err := c.Apply(cfg); err != nil {
		return nil, err
	}
	return c, nil
}

// Apply changes where the calls that come will go. After an error, which says
// which address cannot be used, nothing is changed.
func (c *Client) Apply(cfg Config) error {
	var err error
	if cfg.APIURL, err = base(cfg.APIURL, publicAPI); err != nil {
		return forAPIAddress.With(err)
	}
	if cfg.WebURL, err = base(cfg.WebURL, publicWeb); err != nil {
		return forWebsiteAddress.With(err)
	}
	if len(cfg.Types) == 0 {
		cfg.Types = []SubjectType{Anime}
	}
	c.cfg.Store(&cfg)
	c.api.moved(host(cfg.APIURL))
	c.web.moved(host(cfg.WebURL))
	return nil
}

// host is the host of an address that base accepted.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Host
}

// OnReturn has fn called whenever the API answers again after it was unreachable.
// Call it before the client is used.
func (c *Client) OnReturn(fn func()) { c.api.returned = fn }

// Keep has every request keep to b. Call it before the client is used.
func (c *Client) Keep(b *budget.Budget) {
	c.budget = b
	b.OnLift(func(host string) {
		for _, reach := range []*reach{c.api, c.web} {
			reach.lifted(host)
		}
	})
}

// Reachability is what is known of the API's host.
func (c *Client) Reachability() Reachability { return c.api.state() }

func base(text, public string) (string, error) {
	if text == "" {
		return public, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.User != nil {
		return "", badAddress
	}
	return strings.TrimRight(text, "/"), nil
}

// call is one request to the API.
type call struct {
	op     reason.Reason // for the error
	method string        // empty = GET
	path   string        // from /v0 on, escaped
	query  url.Values
	body   any         // sent as JSON; nil = none
	token  secret.Text // empty = anonymous
	// may is asked before a write is sent; nil never refuses.
	may func(most time.Duration) error
	// account is whose token it is; 0 is not known.
	account int64
}

// writeTime bounds a write, whatever the settings allow: as long as one is under way nobody else may write to its list entry.
const writeTime = 15 * time.Second

// read sends one call that asks for something, and decodes the answer into into. fits says whether that
// is what was asked for.
func (c *Client) read(ctx context.Context, k call, into any, fits func() bool) error {
	_, err := c.send(ctx, k, c.reading(into, fits))
	return err
}

// send sends one call to the API and gives the answer that problem finds nothing wrong with.
func (c *Client) send(ctx context.Context, k call, problem judge) (*httpx.Response, error) {
	cfg := c.cfg.Load()
	req := httpx.Request{
		Method: k.method, URL: cfg.APIURL + k.path, Header: http.Header{"User-Agent": {cfg.UserAgent}, "Accept": {"application/json"}},
		StayOnAddress: true, // what another address says is not believed
	}
	if len(k.query) > 0 {
		req.URL += "?" + k.query.Encode()
	}
	if k.token != "" {
		req.Header.Set("Authorization", "Bearer "+k.token.Reveal())
	}
	if k.body != nil {
		body, err := json.Marshal(k.body)
		if err != nil {
			return nil, &Error{Op: k.op, Kind: ErrRefused, Err: err}
		}
		req.Body = body
		req.Header.Set("Content-Type", "application/json") // exactly this, else 415 (upstreams/catalog.md section 4)
	}
	if req.Method != "" && req.Method != http.MethodGet {
		req.Most = writeTime
	}
	if k.may != nil {
		req.Before = func() error { return k.may(writeTime) }
	}
	return c.roundTrip(ctx, c.api, k.op, k.account, req, problem)
}

// roundTrip sends a request unless the host is known to be unreachable or bans us, and gives the answer that
// problem finds nothing wrong with. How it ended is told to the host's breaker, and to the budget.
func (c *Client) roundTrip(ctx context.Context, host *reach, op reason.Reason, account int64, req httpx.Request, problem judge) (*httpx.Response, error) {
	var leave func(error)
	may := req.Before
	// It is asked again after the wait for the rate limit, which may have been long, and once more when the body is sent.
	req.Before = func() (err error) {
		if may != nil {
			err = may()
		}
		if err == nil && leave == nil {
			leave, err = host.enter(ctx)
		}
		return err
	}
	draw := budget.Draw{Host: host.name(), Account: account, Turn: turnOf(ctx), Class: classOf(ctx), Probe: probes(ctx)}
	trial := false
	if c.budget != nil {
		req.Admit = func(ctx context.Context) (err error) {
			trial, err = c.budget.Wait(ctx, draw)
			return err
		}
	}
	if host.refuses(ctx) {
		return nil, host.notAsked(op)
	}
	resp, err := c.http.Do(ctx, req)
	var banned *budget.Banned
	switch {
	case errors.Is(err, errNotAsked):
		return nil, host.notAsked(op)
	case may != nil && errors.Is(err, replica.ErrNotLive):
		err = replica.ErrNotLive
	case errors.As(err, &banned):
		err = host.closed(op, banned)
	case err != nil:
		err = &Error{Op: op, Kind: ErrUnreachable, Err: err}
	default:
		if host == c.api {
			c.setClock(resp.Header.Get("Date"))
		}
		err = problem(op, resp)
	}
	alone := false // it is only the account that may send nothing
	if c.budget != nil {
		alone = c.tell(ctx, draw, trial && resp != nil, err)
	}
	if leave != nil {
		if alone {
			leave(nil) // the host has answered
		} else {
			leave(err)
		}
	}
	return resp, err
}

// setClock notes what the API's clock shows by the header Date, which is to the second. Clocks that agree as far as that tells are one.
func (c *Client) setClock(date string) {
	shows, err := http.ParseTime(date)
	if err != nil {
		return
	}
	ahead := time.Until(shows.Add(time.Second / 2))
	if ahead.Abs() <= clockError {
		ahead = 0
	}
	c.ahead.Store(int64(ahead))
}

// isAhead is how far the API's clock is ahead of this machine's.
func (c *Client) isAhead() time.Duration { return time.Duration(c.ahead.Load()) }

// now is the time by the API's clock.
func (c *Client) now() time.Time { return time.Now().Add(c.isAhead()) }

// tell has the budget know how a request ended, and whether it was a trial that was answered, and reports whether an account was banned that others share no ban with.
func (c *Client) tell(ctx context.Context, draw budget.Draw, trial bool, err error) (account bool) {
	var failure *Error
	switch {
	case errors.As(err, &failure) && failure.Status == http.StatusTooManyRequests:
		return c.budget.Refused(ctx, draw, failure.RetryAfter)
	case trial && !errors.Is(err, ErrUnreachable):
		c.budget.Answered(ctx, draw)
	}
	return false
}

type turnKey struct{}

// InTurn has the requests made with ctx take their turn among those for an account. Those in the background go when nobody waits.
func InTurn(ctx context.Context, account int64, background bool) context.Context {
	return context.WithValue(ctx, turnKey{}, budget.Turn{Whose: account, Background: background})
}

func turnOf(ctx context.Context) budget.Turn {
	turn, _ := ctx.Value(turnKey{}).(budget.Turn)
	return turn
}

type classKey struct{}

// forMark has the requests made with ctx go before look-ups: a mark waits for them.
func forMark(ctx context.Context) context.Context {
	return context.WithValue(ctx, classKey{}, budget.Mark)
}

func classOf(ctx context.Context) budget.Class {
	if class, ok := ctx.Value(classKey{}).(budget.Class); ok {
		return class
	}
	return budget.LookUp
}

// maxRows bounds a list that the catalog sends page by page; the longest subject has some thousands.
const maxRows = 100_000

// all reads every page of a list, whose rows known tells from others.
func all[T any](ctx context.Context, c *Client, k call, limit int, known func(T) bool) ([]T, error) {
	rows := []T{}
	if k.query == nil {
		k.query = url.Values{}
	}
	k.query.Set("limit", strconv.Itoa(limit))
	for {
		k.query.Set("offset", strconv.Itoa(len(rows)))
		var p page[T]
		err := c.read(ctx, k, &p, func() bool {
			return p.fits(len(rows), known) && (len(p.Data.all) > 0 || len(rows) >= *p.Total) // it must not end before its total
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, p.Data.all...)
		// An offset beyond the total would be refused.
		if len(rows) >= *p.Total {
			return rows, nil
		}
		if len(rows) > maxRows {
			return nil, &Error{Op: k.op, Kind: ErrUnreachable, Description: tooManyRows.With(maxRows)}
		}
	}
}
