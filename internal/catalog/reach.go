package catalog

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"watchmark/internal/catalog/budget"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/replica"
)

const (
	// doubtful is how many bad answers in a row mean that the catalog is down. A request
	// that got no answer, and 429, mean it at once.
	doubtful = 3
	// firstTrial is how long after the catalog went down it is tried again; the wait doubles up to lastTrial.
	firstTrial = time.Second
	lastTrial  = time.Minute
	// longestPause bounds what a Retry-After may ask for: the catalog bans for an hour (upstreams/catalog.md section 2).
	longestPause = time.Hour
)

// Reachability is what is known of one host of the catalog.
type Reachability struct {
	Reachable bool
	// Since is when it became unreachable; zero while it is reachable.
	Since time.Time
	// Answered is when it answered last; zero when it has not since the start.
	Answered time.Time
	// NextTrial is from when on one request is let through to see whether it answers
	// again; zero while it is reachable.
	NextTrial time.Time
	// Problem is the last failure; empty while it is reachable.
	Problem reason.Reason
}

// reach is the breaker of one host, shared by every account. Closed, it lets
// everything through. A host that does not answer opens it: requests fail at once,
// unsent, until NextTrial; then one request at a time is let through, and the first
// answer closes it.
type reach struct {
	log *slog.Logger
	// returned is called, when set, after the host answered again.
	returned func()

	mu         sync.Mutex
	open       bool
	host       string
	since      time.Time
	answeredAt time.Time
	nextTrial  time.Time
	trying     bool
	trials     int   // failed ones since it opened
	bad        int   // bad answers in a row while closed
	last       error // the last failure while it is open
}

type passKey struct{}

// Probing lets the requests made with ctx through to a host that is known to be
// unreachable. Their answers count: the first good one ends the outage.
func Probing(ctx context.Context) context.Context {
	return context.WithValue(ctx, passKey{}, true)
}

func probes(ctx context.Context) bool { return ctx.Value(passKey{}) != nil }

// refuses reports whether a request would not be sent now.
func (r *reach) refuses(ctx context.Context) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.open && !probes(ctx) && (r.trying || time.Now().Before(r.nextTrial))
}

// enter asks whether a request may be sent. leave must be told how it ended.
func (r *reach) enter(ctx context.Context) (leave func(error), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !r.open:
		return func(err error) { r.learn(ctx, err, false) }, nil
	case probes(ctx):
	case r.trying || time.Now().Before(r.nextTrial):
		return nil, errNotAsked
	}
	r.trying = true
	return func(err error) { r.learn(ctx, err, true) }, nil
}

// learn takes in how a request ended. While the host is unreachable only trials count:
// what was sent before it went down says nothing about now.
func (r *reach) learn(ctx context.Context, err error, trial bool) {
	r.mu.Lock()
	if trial {
		r.trying = false
	}
	ended := false
	var failure *Error
	switch {
	case r.open && !trial, ctx.Err() != nil, errors.Is(err, replica.ErrNotLive): // which says nothing about it
	case errors.As(err, &failure) && errors.Is(err, ErrUnreachable):
		r.failed(failure)
	default:
		ended = r.answered()
	}
	r.mu.Unlock()
	if ended && r.returned != nil {
		r.returned()
	}
}

// failed counts a failure. The caller holds mu.
func (r *reach) failed(failure *Error) {
	r.bad++
	silent := failure.Status == 0 || failure.Status == http.StatusTooManyRequests || failure.RetryAfter > 0
	if !r.open && !silent && r.bad < doubtful {
		return
	}
	wait := lastTrial
	if r.trials < 6 {
		wait = firstTrial << r.trials
	}
	wait = max(wait+rand.N(wait/4), min(failure.RetryAfter, longestPause))
	r.trials++
	r.shut(failure, wait)
}

// shut holds requests back for some time, because of a failure. The caller holds mu.
func (r *reach) shut(failure *Error, wait time.Duration) {
	now := time.Now()
	if !r.open {
		r.open, r.since = true, now
		r.log.Warn("Bangumi cannot be reached: it is asked again from time to time", "host", r.host, "error", failure, "next_trial_in", wait)
	}
	r.nextTrial = now.Add(wait)
	r.last = failure
}

// closed is the error of a request that was not sent because of a ban. One of the egress holds every request back.
func (r *reach) closed(op reason.Reason, ban *budget.Banned) error {
	wait := max(0, time.Until(ban.Trial))
	failure := &Error{Op: op, Kind: ErrUnreachable, Status: http.StatusTooManyRequests, RetryAfter: wait}
	if !ban.Account {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.shut(failure, wait+rand.N(wait/4+time.Millisecond))
	}
	return &Error{Op: op, Kind: ErrUnreachable, RetryAfter: wait, Err: &unsent{failure}}
}

// lifted tells that somebody else was answered again by host, which had banned us.
func (r *reach) lifted(host string) {
	r.mu.Lock()
	var last *Error
	over := r.open && strings.EqualFold(host, r.host) && errors.As(r.last, &last) && last.Status == http.StatusTooManyRequests
	if over {
		r.nextTrial = time.Now()
	}
	r.mu.Unlock()
	if over && r.returned != nil {
		r.returned()
	}
}

// name is the host that is asked now.
func (r *reach) name() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.host
}

// answered counts an answer and reports whether it ended an outage. The caller holds mu.
func (r *reach) answered() bool {
	ended := r.open
	if ended {
		r.log.Info("Bangumi can be reached again", "host", r.host, "after", time.Since(r.since).Round(time.Millisecond))
	}
	r.reset()
	r.answeredAt = time.Now()
	return ended
}

// reset forgets what is known of the host. The caller holds mu.
func (r *reach) reset() {
	r.open, r.trying, r.trials, r.bad, r.last = false, false, 0, 0, nil
	r.since, r.nextTrial, r.answeredAt = time.Time{}, time.Time{}, time.Time{}
}

// notAsked is the error of a request that was not sent.
func (r *reach) notAsked(op reason.Reason) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &Error{Op: op, Kind: ErrUnreachable, RetryAfter: max(0, time.Until(r.nextTrial)), Err: &unsent{r.last}}
}

// moved tells that the host is another one now.
func (r *reach) moved(host string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.host != host {
		r.host = host
		r.reset()
	}
}

func (r *reach) state() Reachability {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Reachability{Reachable: !r.open, Since: r.since, Answered: r.answeredAt, NextTrial: r.nextTrial, Problem: reason.Of(r.last)}
}
