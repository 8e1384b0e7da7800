package mediaserver

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
	"watchmark/internal/source/payload"
)

// jellyfin takes one header alone: 12 switched off the others, and two that differ have no defined meaning
// (upstreams/watchers.md section 1).
var jellyfin = trait{
	product: "Jellyfin",
	header: func(identity, token string) http.Header {
		return http.Header{"Authorization": {withToken(identity, token)}}
	},
	fields: "ProviderIds,OriginalTitle,Path",
	me:     "/Users/Me",
	public: true,
	socket: "/socket",
	dated:  "datePlayed", layout: time.RFC3339,
	sessions: url.Values{"activeWithinSeconds": {"960"}},
	exact: func(user, item string) (string, url.Values) {
		return "/UserItems/" + url.PathEscape(item) + "/UserData", url.Values{"userId": {user}}
	},
}

// codeTime is how long a code of Quick Connect is good for (upstreams/watchers.md section 2.1).
const codeTime = 10 * time.Minute

// StartCode begins a sign-in that a person confirms elsewhere; for Plex no address is needed. The error is a *reason.FieldError for url, kind or
// certificate_sha256, or that of ctx.
func (d *Dialer) StartCode(ctx context.Context, s Server) (Code, error) {
	if s.Kind == Plex {
		return d.startPlex(ctx)
	}
	if s.Kind != Jellyfin {
		return Code{}, reason.At("kind", noCodes.With(s.Kind.Product()))
	}
	b, _, err := d.forCode(ctx, s)
	if err != nil {
		return Code{}, err
	}
	// 10.8 knows GET alone, 12 POST alone.
	resp, err := b.wire.do(ctx, ask{method: http.MethodPost, path: "/QuickConnect/Initiate"})
	if resp != nil && (resp.Status == http.StatusMethodNotAllowed || resp.Status == http.StatusNotFound) {
		resp, err = b.wire.do(ctx, ask{path: "/QuickConnect/Initiate"})
	}
	if resp != nil && (resp.Status == http.StatusUnauthorized || resp.Status == http.StatusForbidden) {
		return Code{}, reason.At("kind", noCodes.With(b.traits.product))
	}
	var answer payload.Object
	if err == nil {
		err = b.wire.decode(resp, &answer)
	}
	if err != nil {
		return Code{}, atURL(err)
	}
	token := answer.Text("Secret")
	if !validToken(token) || answer.Line("Code") == "" {
		return Code{}, reason.At("url", notThat.With(b.traits.product))
	}
	d.Masker.Add(token)
	// The sign-in must name the same device again.
	return Code{Text: answer.Line("Code"), ExpiresAt: time.Now().Add(codeTime), Secret: secret.Text(b.server.Device + " " + token)}, nil
}

// FinishCode asks whether a sign-in was confirmed; done is false while it was not. Of Plex the Login has nothing but the token of
// the account, which PlexChoose takes. Errors are those of StartCode; a code that has
// expired is one for kind.
func (d *Dialer) FinishCode(ctx context.Context, s Server, c Code) (l Login, done bool, err error) {
	if s.Kind == Plex {
		return d.finishPlex(ctx, c)
	}
	device, token, ok := strings.Cut(c.Secret.Reveal(), " ")
	if s.Kind != Jellyfin || !ok {
		return Login{}, false, reason.At("kind", noCodes.With(s.Kind.Product()))
	}
	s.Device = device
	b, at, err := d.forCode(ctx, s)
	if err != nil {
		return Login{}, false, err
	}
	d.Masker.Add(token)
	var answer payload.Object
	err = b.wire.get(ctx, ask{path: "/QuickConnect/Connect", query: url.Values{"secret": {token}}}, &answer)
	switch {
	case errors.Is(err, errNotThere):
		return Login{}, false, reason.At("kind", ErrCodeExpired)
	case err != nil:
		return Login{}, false, atURL(err)
	}
	if confirmed, _ := answer.Bool("Authenticated"); !confirmed {
		return Login{}, false, nil
	}
	l, err = d.admitted(ctx, b, at, ask{method: http.MethodPost, path: "/Users/AuthenticateWithQuickConnect", body: map[string]string{"Secret": token}})
	return l, err == nil, err
}

// forCode is what asks a Jellyfin before anybody has signed in.
func (d *Dialer) forCode(ctx context.Context, s Server) (*browser, Found, error) {
	device := s.Device
	s, at, err := d.meet(ctx, s)
	if err != nil {
		return nil, Found{}, err
	}
	if s.Device = device; device == "" {
		s.Device = "wm-" + rand.Text()
	}
	b, err := d.open(s)
	if err == nil {
		b.wire.verify = nil // it was just asked
	}
	return b, at, err
}
