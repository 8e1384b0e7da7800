// Package servers signs people in by the media servers that the owner has connected and opened for it: by the password of a Jellyfin or an
// Emby, or on the page of Plex.
//
// What it promises: only a server counts that is connected in Sources and named in the settings, by its own id; the password goes to it
// once and is kept nowhere; the sign-in there is ended at once; a user is known by the id that the server gave. Strangers are not told
// whether a user exists.
package servers

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"watchmark/internal/door/auth"
	"watchmark/internal/platform/secret"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/source/watcher"
)

// Bounds of what is kept: FlowLife is how long a person may take at Plex, and FlowsMost how many may be there.
const (
	FlowLife  = 15 * time.Minute
	FlowsMost = 1000
	// asksMost is how often it may be asked whether a sign-in at Plex was confirmed.
	asksMost = 100
	// patience bounds all requests of one step together.
	patience = 30 * time.Second
)

// Flow is a sign-in under way at Plex.
type Flow struct {
	Secret     string    // of mediaserver.Code
	ExpiresAt  time.Time // of mediaserver.Code
	Next       string    // where to go afterwards
	Invitation string    // the token of the invitation that it accepts; empty for none
}

// Flows keep the sign-ins under way, whatever replica they end at; *tickets.Kind[Flow] is one.
type Flows interface {
	Give(ctx context.Context, f Flow) (browser string, err error)
	Find(ctx context.Context, browser string) (f Flow, found bool, err error)
	Try(ctx context.Context, browser string, most int) (tries int, found bool, err error)
	Take(ctx context.Context, browser string, mine func(Flow) bool) (f Flow, found bool, err error)
	Drop(ctx context.Context, browser string) error
}

// Dialer asks media servers and Plex; *mediaserver.Dialer is one.
type Dialer interface {
	Prove(ctx context.Context, s mediaserver.Server, username string, password secret.Text) (mediaserver.Proof, error)
	StartProof(ctx context.Context, forward string) (mediaserver.Code, error)
	FinishProof(ctx context.Context, c mediaserver.Code, servers []mediaserver.Server) (p mediaserver.Proof, done bool, err error)
}

// Config is what a Door needs; every field must be set.
type Config struct {
	// Open are the ids of the servers that the settings name, at each use.
	Open func() []string
	// Connected are the servers of Sources.
	Connected func(ctx context.Context) ([]watcher.Connection, error)
	Dialer    Dialer
	Flows     Flows
	Log       *slog.Logger
}

// Door signs people in. It may be used by several goroutines.
type Door struct{ Config }

// Entries are what sessions are noted by that servers opened; see auth.Policy.
func Entries(open []string) []string {
	entries := make([]string, len(open))
	for i, id := range open {
		entries[i] = "server " + id
	}
	return entries
}

// Server is a media server that may sign people in.
type Server struct {
	ID       int64            `json:"id" doc:"The id of its login in Sources."`
	Kind     mediaserver.Kind `json:"kind" enum:"jellyfin,emby,plex"`
	Name     string           `json:"name" doc:"What the server calls itself."`
	ServerID string           `json:"server_id" doc:"What auth.media_servers names it by."`
	Open     bool             `json:"open" doc:"Whether auth.media_servers names it."`
}

// Product is what people call the kind of server.
func (s Server) Product() string { return s.Kind.Product() }

// Label is what people call the server.
func (s Server) Label() string {
	if s.Name == "" || s.Kind == mediaserver.Plex {
		return s.Kind.Product()
	}
	return s.Kind.Product() + " (" + s.Name + ")"
}

// Servers are those that are connected and could sign people in, each once.
func (d *Door) Servers(ctx context.Context) ([]Server, error) {
	connected, err := d.connected(ctx)
	open, all := d.Open(), []Server{}
	for _, c := range connected {
		all = append(all, serverOf(c, open))
	}
	return all, err
}

func serverOf(c watcher.Connection, open []string) Server {
	return Server{ID: c.Login, Kind: c.Server.Kind, Name: c.Name, ServerID: c.Server.ID, Open: slices.Contains(open, c.Server.ID)}
}

// connected are the servers of Sources of the kinds that can, each once.
func (d *Door) connected(ctx context.Context) ([]watcher.Connection, error) {
	all, err := d.Connected(ctx)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(c watcher.Connection) bool {
		key := string(c.Server.Kind) + " " + c.Server.ID
		switch c.Server.Kind {
		case mediaserver.Jellyfin, mediaserver.Emby:
		case mediaserver.Plex:
			if c.Server.Account == "" { // signed out, or not chosen yet: another login may do
				return true
			}
		default:
			return true
		}
		if seen[key] {
			return true
		}
		seen[key] = true
		return false
	}), nil
}

// open are the connected servers that the settings name.
func (d *Door) open(ctx context.Context) ([]watcher.Connection, error) {
	all, err := d.connected(ctx)
	named := d.Open()
	return slices.DeleteFunc(all, func(c watcher.Connection) bool { return !slices.Contains(named, c.Server.ID) }), err
}

// vouched is whom a proof names.
func vouched(p mediaserver.Proof, name string) auth.Vouched {
	issuer := string(p.Server.Kind)
	if p.Server.Kind != mediaserver.Plex { // whose accounts are the same everywhere
		issuer += " " + p.Server.ID
	}
	return auth.Vouched{
		Issuer: issuer, Subject: p.UserID, Name: p.Name, Introduces: p.Unique, Via: Entries([]string{p.Server.ID})[0],
		Service: Server{Kind: p.Server.Kind, Name: name}.Label(),
	}
}

// Password finds out who somebody is at the server of a login. It returns ErrOff, ErrWrong, ErrAway, or an error of the database.
func (d *Door) Password(ctx context.Context, login int64, user string, password secret.Text) (auth.Vouched, error) {
	open, err := d.open(ctx)
	if err != nil {
		return auth.Vouched{}, err
	}
	at := slices.IndexFunc(open, func(c watcher.Connection) bool { return c.Login == login && c.Server.Kind != mediaserver.Plex })
	if at < 0 {
		return auth.Vouched{}, ErrOff
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	proof, err := d.Dialer.Prove(ctx, open[at].Server, user, password)
	switch {
	case err == nil:
		return vouched(proof, open[at].Name), nil
	case errors.Is(err, mediaserver.ErrWrongPassword), errors.Is(err, mediaserver.ErrUserRefused):
		return auth.Vouched{}, ErrWrong.With(serverOf(open[at], nil).Label())
	}
	// What is wrong with the server names addresses of the house, which are not for strangers.
	d.Log.WarnContext(ctx, "a media server could not be asked who signs in", "server", open[at].Name, "error", err)
	return auth.Vouched{}, ErrAway.With(open[at].Server.Kind.Product())
}

// Start is the address at Plex where a person signs in, and the secret that the browser must bring to Finish in a cookie. back is where
// Plex leads the browser. It returns ErrOff or ErrAway.
func (d *Door) Start(ctx context.Context, back, next, invitation string) (address, browser string, err error) {
	open, err := d.open(ctx)
	if err != nil {
		return "", "", err
	}
	if !slices.ContainsFunc(open, isPlex) {
		return "", "", ErrOff
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	code, err := d.Dialer.StartProof(ctx, back)
	if err != nil {
		d.Log.WarnContext(ctx, "signing in at Plex cannot begin", "error", err)
		return "", "", ErrAway.With(mediaserver.Plex.Product())
	}
	browser, err = d.Flows.Give(ctx, Flow{Secret: code.Secret.Reveal(), ExpiresAt: code.ExpiresAt, Next: next, Invitation: invitation})
	return code.Address, browser, err
}

func isPlex(c watcher.Connection) bool { return c.Server.Kind == mediaserver.Plex }

// Finish is who has signed in at Plex, in the browser that brings the secret of Start; once. The flow is there with an error, too, where it
// is known. It returns ErrState, ErrWaiting while nobody has confirmed it, ErrOff, ErrAway, mediaserver.ErrNoAccess, or an error of the
// database.
func (d *Door) Finish(ctx context.Context, browser string) (auth.Vouched, Flow, error) {
	f, found, err := d.Flows.Find(ctx, browser)
	if err == nil && found {
		_, found, err = d.Flows.Try(ctx, browser, asksMost)
	}
	if err != nil {
		return auth.Vouched{}, f, err
	}
	if !found {
		return auth.Vouched{}, f, ErrState
	}
	open, err := d.open(ctx)
	if err != nil {
		return auth.Vouched{}, f, err
	}
	servers := []mediaserver.Server{}
	for _, c := range open {
		if isPlex(c) {
			servers = append(servers, c.Server)
		}
	}
	if len(servers) == 0 {
		return auth.Vouched{}, f, errors.Join(ErrOff, d.Flows.Drop(ctx, browser))
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	proof, done, err := d.Dialer.FinishProof(ctx, mediaserver.Code{Secret: secret.Text(f.Secret), ExpiresAt: f.ExpiresAt}, servers)
	switch {
	case err == nil && !done:
		return auth.Vouched{}, f, ErrWaiting
	case errors.Is(err, mediaserver.ErrNoAccess):
		return auth.Vouched{}, f, errors.Join(err, d.Flows.Drop(ctx, browser))
	case errors.Is(err, mediaserver.ErrCodeExpired):
		return auth.Vouched{}, f, errors.Join(ErrState, d.Flows.Drop(ctx, browser))
	case err != nil:
		d.Log.WarnContext(ctx, "Plex could not be asked who signs in", "error", err)
		return auth.Vouched{}, f, ErrAway.With(mediaserver.Plex.Product())
	}
	if _, mine, err := d.Flows.Take(ctx, browser, func(Flow) bool { return true }); err != nil || !mine {
		return auth.Vouched{}, f, errors.Join(err, ErrState) // another request was faster
	}
	return vouched(proof, ""), f, nil
}
