package diagnose

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"watchmark/internal/platform/lan"
	"watchmark/internal/platform/reason"
)

const (
	// answerMost bounds the head of an answer.
	answerMost = 64 << 10
	// addressesMost is how many addresses of a host are tried.
	addressesMost = 4
	// clockMost is how far clocks may differ: what is beyond it breaks sign-ins sooner or later.
	clockMost = time.Minute
)

// ports are those of addresses that name none.
var ports = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080", "postgres": "5432"}

// address is the host and port of u.
func address(u *url.URL) (host, port string) {
	host, port = u.Hostname(), u.Port()
	if port == "" {
		port = ports[u.Scheme]
	}
	return host, port
}

// trip is what to ask for, and by which way.
type trip struct {
	target *url.URL
	proxy  *url.URL // nil for the direct way
	json   bool
	query  func(ctx context.Context) (detail string, ahead time.Duration, err error)
	// named is set when a caller named the host that is connected to first, which is not a setting.
	named bool
}

// walk goes the whole way.
func (d *Doctor) walk(ctx context.Context, t trip) Route {
	r := Route{Via: via(t.proxy), Stages: []Stage{}, Chain: []Certificate{}}
	start := time.Now()
	d.steps(ctx, &r, t)
	r.ElapsedMS = milliseconds(time.Since(start))
	return r
}

func (d *Doctor) steps(ctx context.Context, r *Route, t trip) {
	host, port := address(t.target)
	// A proxy is asked for pages of plain HTTP without a tunnel.
	tunnel := t.target.Scheme == "https" || t.proxy != nil && strings.HasPrefix(t.proxy.Scheme, "socks")
	conn, reached := d.reach(ctx, r, t.proxy, host, port, tunnel, t.named)
	if !reached {
		return
	}
	defer func() { _ = conn.Close() }() // nothing was left to be written
	if t.query != nil {
		d.inquire(ctx, r, t)
		return
	}
	if t.target.Scheme != "https" {
		d.ask(ctx, r, conn, t, !tunnel && t.proxy != nil)
		return
	}
	switch secured, verdict := d.secure(ctx, r, conn, host); verdict {
	case "":
		d.ask(ctx, r, secured, t, false)
	case Expired, NotYetValid:
		d.judgeByClock(ctx, r, secured, t)
	}
}

// inquire asks the target by the caller's own connections.
func (d *Doctor) inquire(ctx context.Context, r *Route, t trip) {
	var ahead time.Duration
	if !d.attempt(ctx, r, Query, func(ctx context.Context) (reason.Reason, Problem, error) {
		var detail string
		var err error
		if detail, ahead, err = t.query(ctx); err != nil {
			return reason.Reason{}, DatabaseFailed, err
		}
		return reason.Text(detail), "", nil
	}) {
		return
	}
	r.OK = true
	seconds := ahead.Seconds()
	r.ClockDifference = &seconds
	if ahead.Abs() > clockMost {
		r.Problem, r.Advice = ClockOff, ClockOff.Advice()
	}
}

// reach makes the connection to host and port, by the proxy if there is one, with a tunnel through it if asked. Where a
// caller named what is connected to first, forbidden addresses are not.
func (d *Doctor) reach(ctx context.Context, r *Route, proxy *url.URL, host, port string, tunnel, named bool) (net.Conn, bool) {
	first, firstPort := host, port
	if proxy != nil {
		first, firstPort = address(proxy)
	}
	var found []netip.Addr
	if !d.attempt(ctx, r, DNS, func(ctx context.Context) (detail reason.Reason, p Problem, err error) {
		found, p, err = d.lookUp(ctx, first)
		if named && slices.ContainsFunc(found, lan.Forbidden) {
			return reason.Reason{}, Forbidden, ErrForbidden
		}
		return reason.Text(list(found)), ofProxy(proxy, p), err
	}) {
		return nil, false
	}
	var conn net.Conn
	if !d.attempt(ctx, r, TCP, func(ctx context.Context) (reason.Reason, Problem, error) {
		var err error
		if conn, err = dial(ctx, found, firstPort); err != nil {
			return reason.Reason{}, ofProxy(proxy, connectProblem(err)), err
		}
		return reason.Text(conn.RemoteAddr().String()), "", nil
	}) {
		return nil, false
	}
	if proxy == nil || proxy.Scheme != "https" && !tunnel {
		return conn, true
	}
	plain := conn
	if !d.attempt(ctx, r, Proxy, func(ctx context.Context) (detail reason.Reason, p Problem, err error) {
		var seen string
		conn, seen, p, err = d.enter(ctx, plain, proxy, net.JoinHostPort(host, port), tunnel)
		return reason.Text(seen), p, err
	}) {
		_ = plain.Close() // the failure is told
		return nil, false
	}
	return conn, true
}

// ofProxy is the problem p on the way to a proxy.
func ofProxy(proxy *url.URL, p Problem) Problem {
	if proxy != nil && p != "" {
		return ProxyUnreachable
	}
	return p
}

func list(addresses []netip.Addr) string {
	texts := make([]string, len(addresses))
	for i, a := range addresses {
		texts[i] = a.String()
	}
	return strings.Join(texts, ", ")
}

// lookUp gives the first addresses of a host.
func (d *Doctor) lookUp(ctx context.Context, host string) ([]netip.Addr, Problem, error) {
	found, err := cmp.Or(d.Resolver, net.DefaultResolver).LookupNetIP(ctx, "ip", host)
	var failure *net.DNSError
	switch {
	case err == nil && len(found) > 0:
		for i, a := range found {
			found[i] = a.Unmap()
		}
		return found[:min(len(found), addressesMost)], "", nil
	case errors.As(err, &failure) && failure.IsNotFound:
		return nil, NameUnknown, err
	case err != nil && silent(err):
		return nil, DNSSilent, err
	}
	return nil, DNSFailed, err
}

// dial connects to the first address that answers.
func dial(ctx context.Context, addresses []netip.Addr, port string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type outcome struct {
		conn net.Conn
		err  error
	}
	outcomes := make(chan outcome, len(addresses))
	for _, a := range addresses {
		go func() {
			conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(a.String(), port))
			outcomes <- outcome{conn, err}
		}()
	}
	var first net.Conn
	var failures []error
	for range addresses {
		o := <-outcomes
		switch {
		case o.err != nil:
			failures = append(failures, o.err)
		case first == nil:
			first = o.conn
			cancel()
		default:
			_ = o.conn.Close() // it was not needed
		}
	}
	if first == nil {
		return nil, failed(failures)
	}
	return first, nil
}

// failed is several errors in one line.
type failed []error

func (f failed) Error() string {
	texts := make([]string, len(f))
	for i, err := range f {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

func (f failed) Unwrap() []error { return f }

func connectProblem(err error) Problem {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return Refused
	case silent(err):
		return ConnectSilent
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return NoRoute
	}
	return ConnectFailed
}

// ask sends the request and judges the answer.
func (d *Doctor) ask(ctx context.Context, r *Route, conn net.Conn, t trip, toProxy bool) {
	d.attempt(ctx, r, HTTP, func(ctx context.Context) (reason.Reason, Problem, error) {
		answer, difference, err := d.request(ctx, conn, t, t.target.RequestURI(), toProxy)
		if err != nil {
			return reason.Reason{}, requestProblem(err), err
		}
		r.Status, r.ClockDifference = answer.code, difference
		return reason.Text(answer.status), judge(answer, t, toProxy), nil
	})
	if r.Failed != "" {
		return
	}
	r.OK = true
	if r.ClockDifference != nil && (*r.ClockDifference > clockMost.Seconds() || *r.ClockDifference < -clockMost.Seconds()) {
		r.Problem, r.Advice = ClockOff, ClockOff.Advice()
	}
}

// head is that of an answer.
type head struct {
	status string // as "200 OK"
	code   int
	header http.Header
}

// readHead reads the head of the answer to req. The body is left unread: it ends with the connection.
func readHead(conn net.Conn, req *http.Request) (head, error) {
	answer, err := http.ReadResponse(bufio.NewReader(io.LimitReader(conn, answerMost)), req) //nolint:bodyclose // closing would read all of it
	if err != nil {
		return head{}, err
	}
	return head{answer.Status, answer.StatusCode, answer.Header}, nil
}

// request asks for path and gives the head of the answer, and how far our clock is ahead of the server's.
func (d *Doctor) request(ctx context.Context, conn net.Conn, t trip, path string, toProxy bool) (head, *float64, error) {
	defer limit(ctx, conn)()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.target.Scheme+"://"+t.target.Host+path, nil)
	if err != nil {
		return head{}, nil, err
	}
	req.Header.Set("User-Agent", d.UserAgent)
	req.Header.Set("Accept", "application/json, text/html;q=0.9, */*;q=0.8")
	req.Close = true
	write := req.Write
	if toProxy {
		write = req.WriteProxy
		if login := basic(t.proxy); login != "" {
			req.Header.Set("Proxy-Authorization", login)
		}
	}
	start := time.Now()
	if err := write(conn); err != nil {
		return head{}, nil, err
	}
	answer, err := readHead(conn, req)
	if err != nil {
		return head{}, nil, err
	}
	return answer, clockDifference(answer.header, start, time.Now()), nil
}

// limit ends what conn does when ctx ends, until the function that it gives is called.
func limit(ctx context.Context, conn net.Conn) (release func()) {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }) // a closed connection has ended already
	return func() { stop() }
}

// clockDifference is how many seconds our clock is ahead of the server's, which told its time
// somewhere between start and end. A cache tells how old its answer is.
func clockDifference(header http.Header, start, end time.Time) *float64 {
	told, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return nil
	}
	if age, err := strconv.Atoi(header.Get("Age")); err == nil && age > 0 {
		told = told.Add(time.Duration(min(age, 1<<30)) * time.Second)
	}
	seconds := 0.0 // the header has whole seconds, so what lies within the second is no difference
	switch {
	case told.Before(start.Add(-time.Second)):
		seconds = start.Sub(told).Round(time.Second).Seconds()
	case told.After(end):
		seconds = -told.Sub(end).Round(time.Second).Seconds()
	}
	return &seconds
}

func requestProblem(err error) Problem {
	switch {
	case silent(err):
		return HTTPSilent
	case cut(err):
		return HTTPCut
	}
	return HTTPBroken
}

func judge(answer head, t trip, toProxy bool) Problem {
	kind, _, _ := mime.ParseMediaType(answer.header.Get("Content-Type")) // what cannot be read is no JSON
	switch status := answer.code; {
	case status == http.StatusProxyAuthRequired && toProxy:
		return ProxyLogin
	case status == http.StatusTooManyRequests:
		return TooMany
	case status >= http.StatusInternalServerError:
		return ServerFailed
	case t.json && kind != "application/json" && !strings.HasSuffix(kind, "+json"):
		return NotJSON
	}
	return ""
}

// judgeByClock asks a server whose certificate has a date that does not fit for its time, for our own
// clock may be what is wrong. Only the root is asked for: who it is nobody knows.
func (d *Doctor) judgeByClock(ctx context.Context, r *Route, conn net.Conn, t trip) {
	ctx, cancel := context.WithTimeout(ctx, d.Timeout())
	defer cancel()
	_, difference, err := d.request(ctx, conn, t, "/", false)
	if err != nil || difference == nil {
		return
	}
	r.ClockDifference = difference
	there := time.Now().Add(-time.Duration(*difference * float64(time.Second)))
	for _, c := range r.Chain {
		if there.Before(c.NotBefore) || there.After(c.NotAfter) {
			return
		}
	}
	last := &r.Stages[len(r.Stages)-1]
	last.Problem = ClockWrong
	last.Detail = validByServers.With(last.Detail, fmt.Sprintf("%.0f", *difference))
	r.Problem, r.Advice = ClockWrong, ClockWrong.Advice()
}
