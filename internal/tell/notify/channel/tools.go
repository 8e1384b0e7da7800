package channel

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/lan"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
	"watchmark/internal/tell/notify/webpush"
)

const (
	// maxAnswer is how much of an answer is read.
	maxAnswer = 64 << 10
	// maxExcerpt is how much of an answer, in bytes, is told.
	maxExcerpt = 300
)

// Tools are what channels send with. They may be used by several goroutines.
type Tools struct {
	*clients
	// anywhere reports whether messages may go to the home network; nil is always.
	anywhere func() bool
}

// clients are what all tools share.
type clients struct {
	// routed goes where the settings say, maybe through a proxy; direct and outside never use one and judge
	// every connection: outside lets messages reach the internet alone.
	routed, direct, outside *httpx.Client
	// roots are the authorities that a mail server's certificate must come from; nil is those of the system.
	roots  atomic.Pointer[x509.CertPool]
	masker *secret.Masker
	now    func() time.Time
	// pushKey is the key that browsers subscribed to; without one they are sent nothing.
	pushKey webpush.Key
	// patience bounds the sending of one message, from connecting to the last byte.
	patience time.Duration
}

// NewTools are tools with the proxy, timeout and user agent of cfg. now is the clock that
// messages are signed by. The error says that the proxy cannot be used.
func NewTools(cfg httpx.Config, now func() time.Time, masker *secret.Masker, logger *slog.Logger) (*Tools, error) {
	t := &Tools{clients: &clients{masker: masker, now: now, patience: time.Minute}}
	var err error
	if t.routed, err = httpx.New(routed(cfg), masker, logger); err != nil {
		return nil, err
	}
	if t.direct, err = httpx.New(direct(cfg, allow), masker, logger); err != nil {
		return nil, err
	}
	if t.outside, err = httpx.New(direct(cfg, allowOutside), masker, logger); err != nil {
		return nil, err
	}
	t.roots.Store(cfg.Roots)
	return t, nil
}

// SignPushes has what goes to browsers signed with a key. It is for before the first message.
func (t *Tools) SignPushes(key webpush.Key) { t.pushKey = key }

// Apply changes the settings for the messages that come. After an error the old ones stay.
func (t *Tools) Apply(cfg httpx.Config) error {
	if err := t.routed.Apply(routed(cfg)); err != nil {
		return err
	}
	if err := t.direct.Apply(direct(cfg, allow)); err != nil {
		return err
	}
	if err := t.outside.Apply(direct(cfg, allowOutside)); err != nil {
		return err
	}
	t.roots.Store(cfg.Roots)
	return nil
}

// Close gives up idle connections.
func (t *Tools) Close() {
	t.routed.Close()
	t.direct.Close()
	t.outside.Close()
}

// ForPeople are tools for messages of people who sign in by themselves: unless anywhere, which is asked each time, they reach machines of
// the internet alone, without a proxy, which could reach others.
func (t *Tools) ForPeople(anywhere func() bool) *Tools {
	return &Tools{clients: t.clients, anywhere: anywhere}
}

// leavesHome reports whether messages may reach the internet alone.
func (t *Tools) leavesHome() bool { return t.anywhere != nil && !t.anywhere() }

// Check returns what is wrong with where a config sends, which the config itself cannot know.
func (t *Tools) Check(c Config) error {
	if t.anywhere == nil {
		return nil
	}
	to, has := c.(interface{ host() string })
	switch {
	case !has: // such as a mail server of one's own
		return reason.At("config", typeNotForPeople.With())
	case !t.leavesHome():
		return nil
	}
	host := to.host()
	if addr, err := netip.ParseAddr(host); err == nil {
		if err := allowOutside(addr); err != nil {
			return reason.At("config.url", err)
		}
	} else if lan.IsHomeName(host) {
		return reason.At("config.url", homeAddress.With(host, errHome))
	}
	return nil
}

// routed leaves limits to the caller, who has one for each channel: many may share a host.
func routed(cfg httpx.Config) httpx.Config {
	cfg.PerMinute, cfg.Burst, cfg.Allow = 600, 60, nil
	return cfg
}

func direct(cfg httpx.Config, allow func(netip.Addr) error) httpx.Config {
	cfg = routed(cfg)
	cfg.Proxy, cfg.Allow = "", allow
	return cfg
}

// allow refuses what is forbidden to everybody. The home network is allowed: most receivers
// of webhooks stand there.
func allow(addr netip.Addr) error {
	if lan.Forbidden(addr) {
		return metadataAddress.With(addr.Unmap().WithZone(""), errMetadata)
	}
	return nil
}

// allowOutside refuses all but machines of the internet.
func allowOutside(addr netip.Addr) error {
	near, err := lan.Near()
	if err != nil || !lan.IsOutside(addr, near) {
		return homeAddress.With(addr.Unmap().WithZone(""), errHome)
	}
	return nil
}

// client is the one that asks target. An address that a proxy would connect to is judged here.
func (t *Tools) client(target *url.URL) (*httpx.Client, error) {
	if t.leavesHome() {
		return t.outside, nil
	}
	if lan.IsHome(target.Hostname()) {
		return t.direct, nil
	}
	if proxy, err := t.routed.ProxyFor(target); err == nil && proxy == nil {
		return t.direct, nil
	}
	if addr, err := netip.ParseAddr(target.Hostname()); err == nil {
		if err := allow(addr); err != nil {
			return nil, err
		}
	}
	return t.routed, nil
}

// answer is what a receiver said.
type answer struct {
	status     int
	location   string
	retryAfter time.Duration
	// body is the beginning of what it said. It is whole unless reading failed.
	body  []byte
	whole bool
}

// do sends req once, without following redirects. The error is a *Failure or that of ctx: one that is Unsure when all of req
// was sent and no answer came.
func (t *Tools) do(ctx context.Context, req httpx.Request) (answer, error) {
	target, err := url.Parse(req.URL)
	if err != nil {
		return answer{}, &Failure{Blame: OfChannel, Problem: addressUnreadable.With(), Advice: enterAgain.With()}
	}
	client, err := t.client(target)
	if err != nil {
		return answer{}, t.unsent(ctx, err)
	}
	var written atomic.Bool
	bounded, cancel := context.WithTimeout(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(info httptrace.WroteRequestInfo) { written.Store(info.Err == nil) },
	}), t.patience)
	defer cancel()
	req.StayOnAddress = true
	stream, err := client.Stream(bounded, req)
	if err != nil {
		err := t.unsent(ctx, err)
		var f *Failure
		switch {
		case !written.Load():
		case errors.Is(err, context.DeadlineExceeded):
			return answer{}, answerLost(target.Hostname())
		case errors.As(err, &f) && f.Blame == Temporary:
			f.Blame = Unsure
		}
		return answer{}, err
	}
	defer func() { _ = stream.Body.Close() }() // what is of interest was read
	// The status tells most receivers' verdict; who needs the body sees whether it is cut.
	body, err := io.ReadAll(io.LimitReader(stream.Body, maxAnswer))
	head := httpx.Response{Header: stream.Header}
	return answer{status: stream.Status, location: stream.Header.Get("Location"), retryAfter: head.RetryAfter(), body: body, whole: err == nil}, nil
}

// repeatable is err for a message that a receiver takes only once, however often it is sent: when its answer was lost, a further
// try does no harm.
func repeatable(err error) error {
	var f *Failure
	if errors.As(err, &f) && f.Blame == Unsure {
		f.Blame = Temporary
	}
	return err
}

// unsent is what to say of a request that was not answered.
func (t *Tools) unsent(ctx context.Context, err error) error {
	if cause := ctx.Err(); cause != nil {
		return cause
	}
	if errors.Is(err, errMetadata) {
		return &Failure{Blame: OfChannel, Problem: addressForbidden.With(errMetadata), Advice: enterAnotherAddress.With()}
	}
	if errors.Is(err, errHome) {
		return &Failure{Blame: OfChannel, Problem: addressForbidden.With(errHome), Advice: enterAnotherAddress.With()}
	}
	return &Failure{Problem: reason.Of(err).Masked(t.masker.Mask)}
}

// redirected is what to say of a receiver that wants the message elsewhere. A redirect is never
// followed: it would carry the message and its keys to wherever it says.
func (a answer) redirected(from string) *Failure {
	f := &Failure{Blame: OfChannel, Problem: receiverRedirects.With(a.status), Advice: enterRedirectTarget.With()}
	base, err := url.Parse(from)
	if err != nil {
		return f
	}
	if to, err := base.Parse(a.location); a.location != "" && err == nil && to.Host != "" {
		f.Problem = receiverRedirectsTo.With(a.status, to.Scheme+"://"+cut(clean(to.Host), 100))
	}
	return f
}

// excerpt is the beginning of the answer in one line, fit to be shown; empty for a page.
func (t *Tools) excerpt(a answer) string {
	text := strings.Join(strings.Fields(clean(string(a.body))), " ")
	if text == "" || text[0] == '<' {
		return ""
	}
	return cut(t.masker.Mask(text), maxExcerpt)
}

// hostOf is the host of an address.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// temporary reports a status after which another try is worth it.
func temporary(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return status >= 500
}
