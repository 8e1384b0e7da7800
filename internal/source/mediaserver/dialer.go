package mediaserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/lan"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// Dialer finds media servers, signs people in, and opens Clients. It may be used by several goroutines.
type Dialer struct {
	// HTTP is how other services are reached, by the settings of now. A Client keeps what held when it was opened.
	HTTP   func() httpx.Config
	Masker *secret.Masker
	// Plex is where the services of Plex are, by the settings of now.
	Plex func() PlexAddresses
	// Installation tells this installation from others, for ever; names of devices are made of it.
	Installation string
	Version      string
	Log          *slog.Logger
}

const (
	// perMinute and burst let a full read go on: one page after the other, with a pause between them.
	perMinute, burst = 1200, 30
	// maxBody bounds an answer in bytes; a page of 500 items has half a MiB. probeBody bounds what is told without a sign-in: many
	// addresses are asked at once.
	maxBody   = 32 << 20
	probeBody = 256 << 10
	// mostCredential bounds a user name and a password, in bytes.
	mostCredential = 512
)

// client is what asks the server at base, whose answers have at most so many bytes. A proxy is used for hosts outside of the home network alone, as elsewhere.
func (d *Dialer) client(base, pin string, most int64) (client *httpx.Client, brief time.Duration, err error) {
	target, err := url.Parse(base)
	if err != nil {
		return nil, 0, reason.At("url", wrongAddress)
	}
	cfg := d.HTTP()
	brief = cfg.Timeout
	if brief <= 0 {
		brief = 15 * time.Second
	}
	cfg.Pin, cfg.Timeout, cfg.MaxBody, cfg.PerMinute, cfg.Burst, cfg.Retries = pin, longest, most, perMinute, burst, 1
	client, err = httpx.New(cfg, d.Masker, d.Log)
	if err != nil {
		return nil, 0, fmt.Errorf("reach media servers: %w", err)
	}
	if proxy, err := client.ProxyFor(target); lan.IsHome(target.Hostname()) || err == nil && proxy == nil {
		cfg.Proxy, cfg.Direct, cfg.Allow = "", true, allow
		if err := client.Apply(cfg); err != nil {
			return nil, 0, fmt.Errorf("reach media servers: %w", err)
		}
	}
	return client, brief, nil
}

// Open is a Client of a server that a person has signed in at, or with the key of an administrator. It sends nothing yet.
func (d *Dialer) Open(s Server) (Client, error) {
	if s.Kind == Plex {
		return d.openPlex(s)
	}
	if traits[s.Kind] == nil {
		return nil, ErrCannot
	}
	b, err := d.open(s)
	if err != nil {
		return nil, err
	}
	if s.Kind.Experimental() {
		return &nas{browser: b, shows: map[string]Show{}, unplayed: map[string]int{}}, nil
	}
	return b, nil
}

// open is what asks a server of the browser's family; without a token it can sign in.
func (d *Dialer) open(s Server) (*browser, error) {
	base, err := CheckURL(s.URL)
	if err != nil {
		return nil, err
	}
	client, brief, err := d.client(base, s.Pin, maxBody)
	if err != nil {
		return nil, err
	}
	if s.UserID != "" && !validID(s.UserID) {
		return nil, unreachable(notThat.With(traits[s.Kind].product))
	}
	s.URL = base
	t := traits[s.Kind]
	d.Masker.Add(s.Token.Reveal())
	if s.Device == "" { // of a key there is none
		s.Device = d.device(base, s.UserID)
	}
	api := base
	if !strings.HasSuffix(base, s.Quirks.Prefix) {
		api += s.Quirks.Prefix
	}
	b := &browser{server: s, traits: t, wire: newWire(client, t.product, api, brief), libraries: map[string]string{}}
	b.wire.header = t.header(d.identity(s.Device), s.Token.Reveal())
	b.wire.verify, b.wire.secret = b.verify, s.Token
	return b, nil
}

// identity is how this service names itself, always in the same way for a token (upstreams/watchers.md section 1).
func (d *Dialer) identity(device string) string {
	return `MediaBrowser Client="Watchmark", Device="Watchmark", DeviceId="` + plainValue(device) + `", Version="` + plainValue(d.Version) + `"`
}

// plainValue is text with nothing in it that a server would decode or take for the end of the value.
func plainValue(text string) string {
	text = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, text)
	if text == "" {
		return "0"
	}
	return text
}

// device names a login: the same for the same person at the same server, so that signing in again ends what was before.
func (d *Dialer) device(serverID, userName string) string {
	sum := sha256.Sum256([]byte(d.Installation + "\n" + serverID + "\n" + strings.ToLower(userName)))
	return "wm-" + hex.EncodeToString(sum[:8])
}

// SignIn signs a person in by password. The error is a *reason.FieldError for url, kind, certificate_sha256, username or password,
// or that of ctx.
func (d *Dialer) SignIn(ctx context.Context, s Server, username string, password secret.Text) (Login, error) {
	username = strings.TrimSpace(username)
	switch {
	case traits[s.Kind] == nil:
		return Login{}, reason.At("kind", ErrCannot)
	case username == "":
		return Login{}, reason.At("username", noUserName)
	case len(username) > mostCredential || len(password) > mostCredential:
		return Login{}, reason.At("password", longAnswers)
	}
	d.Masker.Add(password.Reveal())
	return d.byPassword(ctx, s, username, password)
}

// byPassword is SignIn for what was looked at.
func (d *Dialer) byPassword(ctx context.Context, s Server, username string, password secret.Text) (Login, error) {
	s, found, err := d.meet(ctx, s)
	if err != nil {
		return Login{}, err
	}
	if s.Device == "" {
		s.Device = d.device(found.ID+found.URL, username)
	}
	b, err := d.open(s)
	if err != nil {
		return Login{}, err
	}
	return d.admitted(ctx, b, found, ask{
		method: "POST", path: "/Users/AuthenticateByName",
		body: map[string]string{"Username": username, "Pw": password.Reveal()},
	})
}

// meet makes sure, before anything secret is sent, that a server of the kind is at the address, and completes s. Its errors are those
// of a form.
func (d *Dialer) meet(ctx context.Context, s Server) (Server, Found, error) {
	base, err := CheckURL(s.URL)
	if err != nil {
		return s, Found{}, err
	}
	found, err := d.identify(ctx, strings.TrimSuffix(base, "/emby"), s.Pin)
	switch {
	case err != nil:
		return s, Found{}, atURL(err)
	case !s.Kind.mayBe(found):
		return s, Found{}, reason.At("kind", isOther.With(found.Kind.Product()))
	case s.ID != "" && found.ID != "" && s.ID != found.ID:
		return s, Found{}, reason.At("url", ErrOther)
	}
	s.URL, s.ID, s.Quirks = found.URL, found.ID, Quirks{Prefix: found.prefix}
	s.Token, s.UserID = "", ""
	return s, found.Found, nil
}

// mayBe reports whether a server that a person calls k can be what was found. The NAS kinds are told from Emby, and from each
// other, by little or by nothing.
func (k Kind) mayBe(f found) bool {
	like := func(k Kind) bool { return k == Emby || k.Experimental() }
	return f.Kind == k || like(f.Kind) && like(k)
}
