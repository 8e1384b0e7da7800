package mediaserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
	"watchmark/internal/source/payload"
)

// PlexAddresses are where the services of Plex are; without a slash at their ends.
type PlexAddresses struct {
	Account string // signs accounts in
	Clients string // lists the servers and the Home members of an account
	Page    string // where a person confirms a sign-in
}

// PlexServer is a server that a Plex account may use.
type PlexServer struct {
	ID, Name, Version string
	Owner             string // who shares it; empty for an own one
}

// PlexPerson is a member of a Plex Home.
type PlexPerson struct {
	ID, Name string
	PIN      bool // whether a PIN is asked for
}

const (
	// plexProduct is what Plex shows people of us, and plexServices what people are told of plex.tv.
	plexProduct, plexServices = "Watchmark", "plex.tv"
	// mostPlexServers and mostPlexPeople bound what an account lists; a Plex Home has 15 members at most.
	mostPlexServers, mostPlexPeople = 200, 100
	// plexWrongPIN is the code of the error for a wrong PIN of a member.
	plexWrongPIN = "1041"
)

// plexTV asks the services of Plex in the name of an account, or of nobody (upstreams/watchers.md section 4.1).
type plexTV struct {
	masker *secret.Masker
	at     PlexAddresses
	// account and clients ask the two services.
	account, clients *wire
	http             *httpx.Client
}

// plexTV asks the services of Plex with the token of an account; empty is nobody's. It must be closed.
func (d *Dialer) plexTV(token secret.Text) (*plexTV, error) {
	at := d.Plex()
	client, brief, err := d.client(at.Account, "", maxBody)
	if err != nil {
		return nil, err
	}
	p := &plexTV{masker: d.Masker, at: at, http: client, account: newWire(client, plexServices, at.Account, brief), clients: newWire(client, plexServices, at.Clients, brief)}
	p.become(d.plexHeader(token), token)
	return p, nil
}

func (p *plexTV) close() { p.http.Close() }

// become has p ask in the name of who has a token.
func (p *plexTV) become(header http.Header, token secret.Text) {
	p.masker.Add(token.Reveal())
	if token != "" {
		header.Set("X-Plex-Token", token.Reveal())
	}
	p.account.header, p.clients.header = header, header
}

// plexHeader is what every request to Plex bears.
func (d *Dialer) plexHeader(token secret.Text) http.Header {
	header := http.Header{
		"X-Plex-Product": {plexProduct}, "X-Plex-Device-Name": {plexProduct},
		"X-Plex-Client-Identifier": {plainValue(d.Installation)}, "X-Plex-Version": {plainValue(d.Version)},
	}
	if token != "" {
		header.Set("X-Plex-Token", token.Reveal())
	}
	return header
}

// ask sends a request and decodes the answer into to, unless that is nil. It gives a status back that is neither a success nor
// said by an error, such as 400, 403, 404 and 410, with what the answer says. The error is ErrSignedOut for a dead token, and
// ErrUnreachable for whatever says nothing about it.
func (p *plexTV) ask(ctx context.Context, w *wire, a ask, to any) (status int, err error) {
	resp, err := w.do(ctx, a)
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case resp == nil:
		return 0, fmt.Errorf("%w: %w", plexAway.With(requestFailure(err)), ErrUnreachable)
	case resp.Status == http.StatusUnauthorized || resp.Status == statusTokenExpired:
		return resp.Status, fmt.Errorf("%w: %w", plexSignedOut, ErrSignedOut)
	case resp.Status >= 500 || resp.Status >= 300 && resp.Status < 400 || resp.Status == http.StatusTooManyRequests:
		return resp.Status, plexFailed(resp.Status)
	case resp.Status >= 400:
		_ = resp.JSON(to, mostValues) // it need not say anything
		return resp.Status, nil
	}
	if to != nil && w.decode(resp, to) != nil {
		return resp.Status, plexFailed(resp.Status)
	}
	return resp.Status, nil
}

// requestFailure is what went wrong with a request, without what a person is told to do about the address of a server.
func requestFailure(err error) error {
	if failure := (*httpx.Error)(nil); errors.As(err, &failure) {
		return failure
	}
	return err
}

// statusTokenExpired is what Plex answers for a token that lives for some days and is too old.
const statusTokenExpired = 498

// plexFailed says that plex.tv cannot help for now.
func plexFailed(status int) error {
	if status == http.StatusTooManyRequests {
		return fmt.Errorf("%w: %w", plexTooMany, ErrUnreachable)
	}
	return fmt.Errorf("%w: %w", plexFails.With(status), ErrUnreachable)
}

// must is ask where only a success will do.
func (p *plexTV) must(ctx context.Context, w *wire, a ask, to any) error {
	status, err := p.ask(ctx, w, a, to)
	if err == nil && status >= 400 {
		err = plexFailed(status)
	}
	return err
}

// startPlex begins a sign-in that a person confirms in a browser.
func (d *Dialer) startPlex(ctx context.Context) (Code, error) {
	p, err := d.plexTV("")
	if err != nil {
		return Code{}, err
	}
	defer p.close()
	var o payload.Object
	if err := p.must(ctx, p.account, ask{method: http.MethodPost, path: "/api/v2/pins", query: url.Values{"strong": {"true"}}}, &o); err != nil {
		return Code{}, err
	}
	id, code := o.Line("id"), o.Line("code")
	if !validID(id) || code == "" {
		return Code{}, plexFailed(http.StatusOK)
	}
	seconds, _ := o.Int("expiresIn")
	if seconds <= 0 || seconds > 24*3600 {
		seconds = 900
	}
	// Not url.Values, which would order the parameters: what stands behind the # is the page's own to read.
	address := p.at.Page + "#?clientID=" + url.QueryEscape(p.account.header.Get("X-Plex-Client-Identifier")) + "&code=" + url.QueryEscape(code) +
		"&context%5Bdevice%5D%5Bproduct%5D=" + plexProduct
	return Code{Text: code, Address: address, ExpiresAt: time.Now().Add(time.Duration(seconds) * time.Second), Secret: secret.Text(id)}, nil
}

// finishPlex asks whether it was confirmed. That plex.tv asks to wait says nothing about the sign-in.
func (d *Dialer) finishPlex(ctx context.Context, c Code) (l Login, done bool, err error) {
	id := c.Secret.Reveal()
	if !validID(id) {
		return Login{}, false, reason.At("kind", ErrCodeExpired)
	}
	p, err := d.plexTV("")
	if err != nil {
		return Login{}, false, err
	}
	defer p.close()
	var o payload.Object
	status, err := p.ask(ctx, p.account, ask{path: "/api/v2/pins/" + id}, &o)
	switch {
	case status == http.StatusTooManyRequests:
		return Login{}, false, nil
	case err != nil:
		return Login{}, false, err
	case status == http.StatusNotFound || status == http.StatusGone:
		return Login{}, false, reason.At("kind", ErrCodeExpired)
	case status >= 400:
		return Login{}, false, plexFailed(status)
	}
	token := plexToken(o, "authToken")
	d.Masker.Add(token.Reveal())
	if token == "" && time.Now().After(c.ExpiresAt) {
		return Login{}, false, reason.At("kind", ErrCodeExpired)
	}
	return Login{Server: Server{Kind: Plex, Token: token}}, token != "", nil
}

// plexToken is the token at key; empty when there is none that fits into a header.
func plexToken(o payload.Object, key string) secret.Text {
	token := o.Text(key)
	if len(token) > 4096 || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) { // one of seven days is a long one
		return ""
	}
	return secret.Text(token)
}

// plexUser is whose token it is at plex.tv.
type plexUser struct {
	id, uuid, name string
	// username is the account's at Plex, where no two are the same; a name is what a person likes, and empty where they have no login.
	username string
	home     bool
}

func (p *plexTV) user(ctx context.Context) (plexUser, error) {
	var o payload.Object
	if err := p.must(ctx, p.account, ask{path: "/api/v2/user"}, &o); err != nil {
		return plexUser{}, err
	}
	u := plexUser{id: o.Line("id"), uuid: o.Line("uuid"), name: o.Line("title", "username"), username: o.Line("username")}
	if u.id == "" {
		return plexUser{}, plexFailed(http.StatusOK)
	}
	u.home, _ = o.Bool("home")
	return u, nil
}

// people are the members of the account's Home.
func (p *plexTV) people(ctx context.Context) ([]PlexPerson, error) {
	var o payload.Object
	if err := p.must(ctx, p.clients, ask{path: "/api/v2/home/users"}, &o); err != nil {
		return nil, err
	}
	var people []PlexPerson
	for _, one := range o.Objects("users") {
		person := PlexPerson{ID: one.Line("uuid"), Name: one.Line("title", "friendlyName", "username")}
		person.PIN, _ = one.Bool("protected")
		if person.ID != "" && person.Name != "" && len(people) < mostPlexPeople {
			people = append(people, person)
		}
	}
	return people, nil
}

// switchTo signs in as a member of the Home, whom p is from then on.
func (p *plexTV) switchTo(ctx context.Context, person, pin string) (secret.Text, error) {
	a := ask{method: http.MethodPost, path: "/api/v2/home/users/" + url.PathEscape(person) + "/switch"}
	if pin != "" {
		a.query = url.Values{"pin": {pin}}
	}
	var o payload.Object
	status, err := p.ask(ctx, p.clients, a, &o)
	switch {
	case err != nil:
		return "", err
	case status == http.StatusNotFound:
		return "", reason.At("person", noPlexPerson)
	case slices.ContainsFunc(o.Objects("errors"), func(e payload.Object) bool { return e.Line("code") == plexWrongPIN }):
		return "", reason.At("pin", wrongPlexPIN)
	case status >= 400:
		return "", fmt.Errorf("%w: %w", plexFails.With(status), ErrRefused)
	}
	token := plexToken(o, "authToken")
	if token == "" {
		return "", plexFailed(status)
	}
	p.become(p.account.header.Clone(), token)
	return token, nil
}

// plexResource is a server as plex.tv lists it. All of it but the token may be what the owner of the server made it.
type plexResource struct {
	PlexServer
	token secret.Text
	owned bool
	// ownerID is the account whose server it is; empty for an own one.
	ownerID string
	// near says that the server is behind the same public address as this machine.
	near        bool
	tlsOnly     bool
	connections []payload.Object
}

// servers are those that the account may use.
func (p *plexTV) servers(ctx context.Context) ([]plexResource, error) {
	var list []payload.Object
	if err := p.must(ctx, p.clients, ask{path: "/api/v2/resources", query: url.Values{"includeHttps": {"1"}, "includeRelay": {"1"}, "includeIPv6": {"1"}}}, &list); err != nil {
		return nil, err
	}
	var servers []plexResource
	for _, o := range list {
		r := plexResource{token: plexToken(o, "accessToken"), connections: o.Objects("connections")}
		r.ID, r.Name, r.Version = o.Line("clientIdentifier"), o.Line("name"), o.Line("productVersion")
		provides := strings.FieldsFunc(o.Text("provides"), func(c rune) bool { return c == ',' || c == ' ' })
		if !slices.Contains(provides, "server") || r.ID == "" || r.token == "" || len(servers) >= mostPlexServers {
			continue
		}
		p.masker.Add(r.token.Reveal())
		r.owned, _ = o.Bool("owned")
		r.near, _ = o.Bool("publicAddressMatches")
		r.tlsOnly, _ = o.Bool("httpsRequired")
		if !r.owned {
			r.ownerID = o.Line("ownerId")
			r.Owner = o.Line("sourceTitle", "ownerId")
			if r.Owner == "" {
				r.Owner = plexHome
			}
		}
		servers = append(servers, r)
	}
	return servers, nil
}

// plexHome is who shares a server within a Home.
const plexHome = "Plex Home"

// signOut ends the token.
func (p *plexTV) signOut(ctx context.Context) error {
	return p.must(ctx, p.account, ask{method: http.MethodDelete, path: "/api/v2/users/signout"}, nil)
}

// ping keeps the token alive.
func (p *plexTV) ping(ctx context.Context) error {
	return p.must(ctx, p.account, ask{path: "/api/v2/ping"}, nil)
}
