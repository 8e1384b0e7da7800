package auth

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"watchmark/internal/door/problem"
	"watchmark/internal/platform/lan"
	"watchmark/internal/platform/listen"
	"watchmark/internal/platform/scope"
)

// CookieName is the cookie that carries a session's token.
const CookieName = "watchmark_session"

// Kind is how a caller showed who it is.
type Kind string

// The kinds of identities.
const (
	BySession Kind = "session"
	ByAPIKey  Kind = "apikey"
	// Open is everybody where the settings turn authentication off.
	Open Kind = "open"
)

// Identity is who is calling.
type Identity struct {
	Kind Kind
	// Name is the person's or the API key's; empty for Open.
	Name string
	// Person is who it is, or whose API key; 0 for Open, and where there is no owner yet.
	Person int64
	Role   Role
}

// scope is what the caller may reach.
func (id Identity) scope() scope.Scope {
	if id.Role == RoleOwner {
		return scope.Everything()
	}
	return scope.Of(id.Person)
}

// askEvery is how often it is asked who is calling while a request lasts, besides whenever somebody may have lost what let them in: for what
// the clock ends, and what the command line does.
const askEvery = 20 * time.Second

type identityKey struct{}

// IdentityOf is the caller that Guard.Authenticate found; false when it is nobody known.
func IdentityOf(ctx context.Context) (Identity, bool) {
	id, ok := ctx.Value(identityKey{}).(Identity)
	return id, ok
}

// Guard asks who is calling. It works behind Clients. All exported fields are needed. It must not be copied.
type Guard struct {
	Store *Store
	// Enabled is the setting auth.enabled; when false, everybody is the identity Open who
	// comes by an address, by a name of a home network, or by the host of PublicURL.
	Enabled func() bool
	// PublicURL is the setting server.public_url; empty when it is not set.
	PublicURL func() string
	// BasePath is where a proxy puts the service, such as "/watchmark"; empty at the root.
	BasePath string
	// Log gets failures of the database that the caller is not told.
	Log *slog.Logger
}

// Authenticate finds out who is calling, by "Authorization: Bearer <API key>" or else by the
// session cookie, for IdentityOf, and puts the scope of the caller into the context. A bad API key is answered 401, whatever else the request
// carries; a request without a good session passes as nobody's, for RefuseAPI and ToLogin. An address
// that asks too much without being known is answered 429. A session in use is prolonged, and its
// cookie with it. A request that lasts, such as a stream, is asked again when somebody may have lost what let them in, and from time
// to time: its context ends once its caller is not known any more. Webhooks, which carry keys of their own, and static files stay outside of it.
func (g *Guard) Authenticate(next http.Handler) http.Handler {
	return g.AuthenticateOr(next, func(w http.ResponseWriter, r *http.Request, err error) {
		g.complain(r, "check who is calling", err)
		refuse(w, r, databaseUnreadable)
	})
}

// AuthenticateOr is Authenticate, but unable answers while nobody can tell who is calling.
func (g *Guard) AuthenticateOr(next http.Handler, unable func(w http.ResponseWriter, r *http.Request, err error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		changed := g.Store.ended.wait()
		id, touch, err := g.identify(r)
		stranger := isStranger(err)
		switch {
		case err == nil:
			touch(w)
			if id.Kind != Open {
				listen.Known(r.Context())
			}
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			one := &served{}
			go g.askAgain(ctx, cancel, changed, one, r)
			ctx = context.WithValue(ctx, servedKey{}, one)
			ctx = scope.In(context.WithValue(ctx, identityKey{}, id), id.scope())
			next.ServeHTTP(w, r.WithContext(ctx))
		case stranger && !g.Store.strangers.allow(g.Store.callerKey(r), time.Now()):
			w.Header().Set("Retry-After", "1")
			refuse(w, r, tooManyRequests)
		case errors.Is(err, errNoSession):
			next.ServeHTTP(w, r.WithContext(scope.In(r.Context(), scope.Scope{})))
		case stranger:
			refuse(w, r, err)
		default:
			unable(w, r, err)
		}
	})
}

// AuthenticateKey is Authenticate by API keys alone, for programs: sessions do not count, and where sign-in is turned off, everybody still
// shows whose key it is. A bad key passes as nobody's.
func (g *Guard) AuthenticateKey(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		plain, _ := bearer(r)
		key, err := g.Store.key(r.Context(), plain)
		switch {
		case err == nil:
			listen.Known(r.Context())
			if err := g.Store.touchKey(r.Context(), key); err != nil {
				g.complain(r, "note the use of an API key", err)
			}
			next.ServeHTTP(w, r.WithContext(scope.In(context.WithValue(r.Context(), identityKey{}, key.who), key.who.scope())))
		case !errors.Is(err, keyUnknown):
			g.complain(r, "check whose API key it is", err)
			refuse(w, r, databaseUnreadable)
		case !g.Store.strangers.allow(g.Store.callerKey(r), time.Now()):
			w.Header().Set("Retry-After", "1")
			refuse(w, r, tooManyRequests)
		default:
			next.ServeHTTP(w, r.WithContext(scope.In(r.Context(), scope.Scope{})))
		}
	})
}

// isStranger reports whether an error of identify says that the caller is not known, and not that nobody could tell.
func isStranger(err error) bool {
	return errors.Is(err, errNoSession) || errors.Is(err, keyUnknown) || errors.Is(err, hostNotLocal)
}

// askAgain ends a request that lasts once its caller is not known any more; changed is closed by the first send since it was last asked. While the
// database cannot tell, it goes on.
func (g *Guard) askAgain(ctx context.Context, end context.CancelFunc, changed <-chan struct{}, one *served, r *http.Request) {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-changed:
			changed = g.Store.ended.wait()
			if one.ends.Load() {
				continue
			}
		}
		_, _, err := g.identify(r)
		switch {
		case isStranger(err):
			end()
			return
		case err != nil:
			g.complain(r, "check whether a caller is still known", err)
		}
	}
}

// identify is the caller, and notes with touch that the session or key is in use; or errNoSession, keyUnknown,
// hostNotLocal, or what is wrong with the database.
func (g *Guard) identify(r *http.Request) (id Identity, touch func(http.ResponseWriter), err error) {
	if !g.Enabled() {
		c := ClientOf(r.Context())
		if public := g.PublicURL(); !ownHost(c.Host, public) || !ownHost(c.Named, public) {
			return Identity{}, nil, hostNotLocal
		}
		return Identity{Kind: Open, Role: RoleOwner}, func(http.ResponseWriter) {}, nil
	}
	if plain, ok := bearer(r); ok {
		key, err := g.Store.key(r.Context(), plain)
		if err != nil {
			return Identity{}, nil, err
		}
		touch := func(http.ResponseWriter) {
			if err := g.Store.touchKey(r.Context(), key); err != nil {
				g.complain(r, "note the use of an API key", err)
			}
		}
		return key.who, touch, nil
	}
	cookie, err := r.Cookie(CookieName)
	if err != nil {
		return Identity{}, nil, errNoSession
	}
	used, err := g.Store.session(r.Context(), cookie.Value)
	if err != nil {
		return Identity{}, nil, err
	}
	touch = func(w http.ResponseWriter) {
		expires, err := g.Store.touchSession(r.Context(), used)
		if err != nil {
			g.complain(r, "prolong a session", err)
		}
		if !expires.IsZero() {
			http.SetCookie(w, g.SessionCookie(r.Context(), cookie.Value, expires))
			g.remember(w, r, used.who.Name)
		}
	}
	return used.who, touch, nil
}

// ownHost reports whether host can be meant for this service alone: an address, a name
// without a domain or of a home network, or the public address. Anybody may point another
// name here (DNS rebinding), and a strange page would then pass for one of ours.
func ownHost(host, publicURL string) bool {
	name := strings.ToLower((&url.URL{Host: host}).Hostname())
	if public, err := url.Parse(publicURL); err == nil && publicURL != "" && name == strings.ToLower(public.Hostname()) {
		return true
	}
	_, err := netip.ParseAddr(name)
	return err == nil || lan.IsHomeName(name)
}

// complain logs a failure, unless the caller went away.
func (g *Guard) complain(r *http.Request, doing string, err error) {
	if r.Context().Err() == nil {
		g.Log.ErrorContext(r.Context(), "cannot "+doing, "error", err)
	}
}

// bearer is the token of an Authorization header of that scheme. Other schemes are
// left alone: a proxy in front may use them for itself.
func bearer(r *http.Request) (string, bool) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimSpace(token), strings.EqualFold(scheme, "Bearer")
}

// RefuseAPI answers 401 with a problem document.
func RefuseAPI(w http.ResponseWriter, r *http.Request) { refuse(w, r, signInNeeded) }

// ToLogin redirects to BasePath + "/login", with the page asked for in the parameter next
// (without the base path; read it with LocalPath).
func (g *Guard) ToLogin(w http.ResponseWriter, r *http.Request) {
	login := g.BasePath + "/login"
	if wanted := LocalPath(r.URL.RequestURI()); wanted != "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		login += "?next=" + url.QueryEscape(wanted)
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, login, http.StatusSeeOther)
}

// LocalPath is next when it is a path of this service, with a query or without; otherwise
// it is "/". What it returns cannot lead to another host.
func LocalPath(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || len(next) > 2000 {
		return "/"
	}
	for _, c := range []byte(next) {
		// Browsers drop control characters and read a backslash as a slash.
		if c <= ' ' || c == 0x7f || c == '\\' {
			return "/"
		}
	}
	if u, err := url.Parse(next); err != nil || u.Host != "" || u.Scheme != "" {
		return "/"
	}
	return next
}

// SessionCookie carries the token of a session that ends at expires.
func (g *Guard) SessionCookie(ctx context.Context, token string, expires time.Time) *http.Cookie {
	return g.cookie(ctx, CookieName, token, expires)
}

// cookie is one of this service alone. It is Secure when ClientOf says HTTPS.
func (g *Guard) cookie(ctx context.Context, name, value string, expires time.Time) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // without HTTPS a Secure cookie would never come back
		Name:     name,
		Value:    value,
		Path:     g.BasePath + "/",
		Expires:  expires,
		HttpOnly: true,
		SameSite: http.SameSiteLaxMode,
		Secure:   ClientOf(ctx).HTTPS,
	}
}

// EndCookie makes the browser forget the session cookie.
func (g *Guard) EndCookie(ctx context.Context) *http.Cookie {
	cookie := g.SessionCookie(ctx, "", time.Time{}) //nolint:gosec // without HTTPS a Secure cookie would never come back
	cookie.MaxAge = -1
	return cookie
}

// refuse answers a problem document.
func refuse(w http.ResponseWriter, r *http.Request, why error) {
	d := problem.Of(why)
	if d.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="watchmark"`)
	}
	w.Header().Set("Cache-Control", "no-store")
	d.Write(w, r)
}
