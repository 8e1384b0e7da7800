package mediaserver

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// Proof is who somebody has shown to be, with a sign-in that was for nothing else and has ended.
type Proof struct {
	// Server is the one of those asked for that knows the user.
	Server Server
	// UserID is the user's at the server, or that of the account at Plex: it never changes, and nobody else gets it.
	UserID string
	// Name is what the server calls the user. Unique says that nobody else there can have it at the same time.
	Name   string
	Unique bool
}

// endTime bounds how long the end of a sign-in may take that nobody waits for.
const endTime = 10 * time.Second

// Prove finds out by password who somebody is at a Jellyfin or an Emby; s is the server, with its ID. The sign-in is one of its own, which
// ends no other of the same user, and is ended at once. An empty password proves nothing. Errors are ErrWrongPassword, ErrUserRefused,
// and those of SignIn.
func (d *Dialer) Prove(ctx context.Context, s Server, username string, password secret.Text) (Proof, error) {
	username = strings.TrimSpace(username)
	switch {
	case s.Kind != Jellyfin && s.Kind != Emby || s.ID == "":
		return Proof{}, ErrCannot
	case username == "" || password == "" || len(username) > mostCredential || len(password) > mostCredential:
		return Proof{}, reason.At("password", ErrWrongPassword.With(s.Kind.Product()))
	}
	s.Token, s.UserID, s.Account, s.Device = "", "", "", "wm-"+rand.Text()
	// The password is not noted for the log: whoever guesses could have any word taken out of it.
	got, err := d.byPassword(ctx, s, username, password)
	if err != nil {
		return Proof{}, err
	}
	d.end(ctx, got.Server)
	if got.Server.ID != s.ID {
		return Proof{}, reason.At("url", ErrOther)
	}
	return Proof{Server: s, UserID: got.Server.UserID, Name: got.UserName, Unique: true}, nil
}

// end ends a sign-in, whoever went away meanwhile.
func (d *Dialer) end(ctx context.Context, s Server) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	client, err := d.Open(s)
	if err == nil {
		err = client.SignOut(ctx)
	}
	if err != nil {
		d.Log.WarnContext(ctx, "a sign-in at a media server could not be ended", "kind", string(s.Kind), "error", err)
	}
}

// visitor is d for one sign-in of somebody at Plex: a device of its own, so that its end ends no other sign-in.
func (d *Dialer) visitor(device string) *Dialer {
	own := *d
	own.Installation += "-" + device
	return &own
}

// StartProof begins to find out who somebody is at Plex. forward is where Plex sends the browser afterwards; not all of its versions do.
func (d *Dialer) StartProof(ctx context.Context, forward string) (Code, error) {
	device := strings.ToLower(rand.Text()[:12])
	c, err := d.visitor(device).startPlex(ctx)
	if err != nil {
		return Code{}, err
	}
	c.Address += "&forwardUrl=" + url.QueryEscape(forward)
	c.Secret = secret.Text(device + " " + c.Secret.Reveal())
	return c, nil
}

// FinishProof tells who has confirmed a sign-in that StartProof began, and may use one of servers, each with the Account of who connected
// it; done is false while nobody has confirmed it. The id of a server is no secret, and anybody can run one with the same: that the account
// may use it counts only where its owner is the same for both. Errors are ErrCodeExpired, ErrNoAccess, ErrOwnerSignedOut and those
// named at Client.
func (d *Dialer) FinishProof(ctx context.Context, c Code, servers []Server) (proof Proof, done bool, err error) {
	device, pin, _ := strings.Cut(c.Secret.Reveal(), " ")
	own := d.visitor(device)
	c.Secret = secret.Text(pin)
	got, done, err := own.finishPlex(ctx, c)
	if err != nil || !done {
		return Proof{}, false, err
	}
	tv, err := own.plexTV(got.Server.Token)
	if err != nil {
		return Proof{}, false, err
	}
	defer tv.close()
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
		defer cancel()
		if err := tv.signOut(ctx); err != nil && !errors.Is(err, ErrSignedOut) {
			d.Log.WarnContext(ctx, "a sign-in at Plex could not be ended", "error", err)
		}
	}()
	user, err := tv.user(ctx)
	if err != nil {
		return Proof{}, false, err
	}
	listed, err := tv.servers(ctx)
	if err != nil {
		return Proof{}, false, err
	}
	at, err := d.shared(ctx, user, listed, servers)
	if err != nil {
		return Proof{}, false, err
	}
	return Proof{Server: at, UserID: user.id, Name: user.name, Unique: user.username != "" && strings.EqualFold(user.username, user.name)}, true, nil
}

// shared is the first of servers that somebody may use: it is on the list of the account, with the owner that it has on the list of who
// connected it.
func (d *Dialer) shared(ctx context.Context, user plexUser, listed []plexResource, servers []Server) (Server, error) {
	why := error(ErrNoAccess)
	for _, s := range servers {
		at := slices.IndexFunc(listed, func(r plexResource) bool { return r.ID == s.ID })
		if at < 0 {
			continue
		}
		owner, err := d.plexOwnerOf(ctx, s)
		if err != nil {
			why = err
			continue
		}
		if owner != "" && owner == listed[at].owner(user) {
			return s, nil
		}
	}
	return Server{}, why
}

// owner is the account whose server it is; empty where plex.tv does not tell.
func (r plexResource) owner(user plexUser) string {
	if r.owned {
		return user.id
	}
	return r.ownerID
}

// plexOwnerOf is the account whose server s is, for who connected it.
func (d *Dialer) plexOwnerOf(ctx context.Context, s Server) (string, error) {
	if s.Account == "" {
		return "", ErrOwnerSignedOut
	}
	tv, err := d.plexTV(s.Account)
	if err != nil {
		return "", err
	}
	defer tv.close()
	user, err := tv.user(ctx)
	if err == nil {
		var listed []plexResource
		if listed, err = tv.servers(ctx); err == nil {
			if at := slices.IndexFunc(listed, func(r plexResource) bool { return r.ID == s.ID }); at >= 0 {
				return listed[at].owner(user), nil
			}
			return "", nil
		}
	}
	if errors.Is(err, ErrSignedOut) {
		err = ErrOwnerSignedOut
	}
	return "", err
}
