package tracker

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/task"
)

const (
	// useEarly is how long before its end an access token is renewed when it is needed.
	useEarly = 5 * time.Minute
	// heartbeat is how often credentials that nobody uses are looked at, and beatEarly how
	// long before their end they are renewed then.
	heartbeat = 24 * time.Hour
	beatEarly = 24 * time.Hour
	// askMost is how long asking the tracker may take, and renewMost that and storing the answer.
	askMost   = 30 * time.Second
	renewMost = 3 * time.Minute
	// storeTries is how often a renewed credential is stored again, a second apart: the old one is dead.
	storeTries = 30
)

// alone runs fn while nobody else, here or at another replica, renews the credential.
func (k *Service) alone(ctx context.Context, id int64, fn func() error) error {
	return k.Holds.Alone(ctx, "tracker user "+strconv.FormatInt(id, 10), fn)
}

// credential is what a request in the name of a user is made with, renewed when it ends
// within early. With a refused token it is renewed whatever it says of its end, unless
// somebody did so meanwhile. Errors: those of load, and *Error.
func (k *Service) credential(ctx context.Context, id int64, early time.Duration, refused secret.Text) (User, Credential, error) {
	good := func(c Credential) bool {
		return c.Access != refused && time.Until(c.ExpiresAt) > early
	}
	u, c, err := k.load(ctx, id)
	if err != nil || good(c) {
		return u, c, err
	}
	var freshUser User
	var fresh Credential
	err = task.Outlive(ctx, renewMost, func(whole context.Context) error {
		return k.alone(ctx, id, func() (err error) {
			// What was read before may be of the past: another one may have renewed it.
			if freshUser, fresh, err = k.load(ctx, id); err != nil || good(fresh) {
				return err
			}
			old := fresh
			if freshUser, fresh, err = k.renew(whole, freshUser, old); err != nil && old.Access != refused && time.Until(old.ExpiresAt) > 0 && passing(err) {
				k.Log.WarnContext(ctx, "cannot renew the sign-in at Trakt now; the old one is still good", "tracker_user", freshUser.Name, "error", err)
				return nil
			}
			return err
		})
	})
	if err != nil {
		return u, c, err
	}
	return freshUser, fresh, nil
}

// load reads a credential that may be used. Errors: ErrNotFound, ErrDisconnected, ErrDead, and
// those of package secret, after which nothing is lost: the key may come back.
func (k *Service) load(ctx context.Context, id int64) (User, Credential, error) {
	u, c, err := k.store.get(ctx, id)
	if err != nil {
		return u, c, err
	}
	for _, text := range []secret.Text{c.Access, c.Refresh, c.ID} {
		k.Masker.Add(text.Reveal())
	}
	if u.State == Dead {
		return u, c, ErrDead
	}
	return u, c, nil
}

// renew trades the refresh token, which dies with that, and stores the new pair before anybody
// uses it. Only invalid_grant is the end of a sign-in (upstreams/tracker.md section 6). The
// caller is alone with it; ctx does not end with the one who asked.
func (k *Service) renew(ctx context.Context, u User, c Credential) (User, Credential, error) {
	body := map[string]string{"grant_type": "refresh_token", "refresh_token": c.Refresh.Reveal(), "client_id": u.clientID}
	o := k.Options()
	if u.Method != ByMail {
		body["client_secret"], body["redirect_uri"] = o.AppClientSecret.Reveal(), u.redirectURI
	}
	bounded, cancel := context.WithTimeout(ctx, askMost)
	defer cancel()
	fresh, err := k.trade(bounded, opRenew, o.AuthURL+"/oauth/token", body)
	if errors.Is(err, ErrGrantInvalid) {
		first, killed := k.store.kill(ctx, u.ID, u.version, ErrDead.With())
		if first {
			k.Log.WarnContext(ctx, "Trakt does not renew a sign-in any more: sign in again", "tracker_user", u.Name)
		} else if now, c, gone := k.load(ctx, u.ID); gone == nil && now.version != u.version {
			return now, c, nil // what was refused is not what is stored any more
		}
		return u, c, errors.Join(ErrDead, err, killed)
	}
	if err != nil {
		return u, c, err
	}
	if fresh.Refresh == "" {
		fresh.Refresh = c.Refresh
	}
	if fresh.ID == "" {
		fresh.ID = c.ID
	}
	for try := 1; ; try++ {
		// When it is not stored, somebody signed in again, or out, meanwhile, and that is what counts.
		if err = k.store.renew(ctx, u.ID, u.version, fresh); err == nil {
			return k.load(ctx, u.ID)
		}
		if try == storeTries || errors.Is(err, db.ErrClosed) {
			return u, c, err
		}
		time.Sleep(time.Second)
	}
}

// get asks the data host in the name of a user (upstreams/tracker.md sections 2 and 5). A
// token that is refused is renewed and the request repeated once; when that is refused too, the user's state says so. Every answer but 200 is an error.
func (k *Service) get(ctx context.Context, op *reason.Kind, id int64, path string) (*httpx.Response, error) {
	var refused secret.Text
	for {
		u, c, err := k.credential(ctx, id, useEarly, refused)
		if err != nil {
			return nil, err
		}
		o := k.Options()
		host := o.APIURL
		if u.Method != ByMail {
			host = o.AppAPIURL
		}
		resp, err := k.send(ctx, op, httpx.Request{URL: host + path, Header: http.Header{
			"Content-Type": {"application/json"}, "Accept": {"application/json"}, "Trakt-Api-Version": {"2"}, "Trakt-Api-Key": {u.clientID},
			"Authorization": {"Bearer " + c.Access.Reveal()},
		}})
		switch {
		case err != nil:
			return nil, err
		case resp.Status == http.StatusUnauthorized && refused == "":
			refused = c.Access
			continue
		case resp.Status == http.StatusUnauthorized:
			return nil, errors.Join(refusal(op, resp), k.store.take(context.WithoutCancel(ctx), id, u.version, ErrRefusedAgain.With()))
		case resp.Status == http.StatusOK && isPage(resp):
			return nil, &Error{Op: op, Kind: ErrUnreachable, Status: resp.Status, Detail: pageInstead.With()}
		case resp.Status != http.StatusOK:
			return nil, refusal(op, resp)
		}
		if u.State == Refused {
			err = k.store.take(context.WithoutCancel(ctx), id, u.version, reason.Reason{})
		}
		return resp, err
	}
}

// renewTokens renews what ends within a day, used or not. A dead one was told when it died.
func (k *Service) renewTokens(ctx context.Context, _ *schedule.Run) error {
	users, err := k.store.users(ctx)
	if err != nil {
		return fmt.Errorf("list Trakt users: %w", err)
	}
	var problems []error
	for _, u := range users {
		if !u.State.Usable() {
			continue
		}
		if _, _, err := k.credential(ctx, u.ID, beatEarly, ""); err != nil && !errors.Is(err, ErrDead) {
			problems = append(problems, reason.Because.With(u.Name, err))
		}
	}
	return errors.Join(problems...)
}

// pick is the user with id, or with 0 the only one who is connected.
func (k *Service) pick(ctx context.Context, id int64) (User, error) {
	users, err := k.store.users(ctx)
	if err != nil {
		return User{}, err
	}
	var found []User
	for _, u := range users {
		if u.ID == id || id == 0 && u.State != Disconnected {
			found = append(found, u)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return User{}, ErrWhich
	}
	return User{}, ErrNotFound
}

// Disconnect revokes the sign-in of a user at the tracker and forgets it; what is known of their
// history stays, so that a later sign-in doubles nothing. With id 0 it is the only one there
// is. revoked tells whether the tracker agreed. It returns ErrNotFound and ErrWhich.
func (k *Service) Disconnect(ctx context.Context, id int64) (revoked bool, err error) {
	u, err := k.pick(ctx, id)
	if err != nil {
		return false, err
	}
	err = k.alone(ctx, u.ID, func() error {
		if _, c, err := k.store.get(ctx, u.ID); err == nil {
			err = k.revoke(ctx, u, c)
			if revoked = err == nil; !revoked {
				k.Log.WarnContext(ctx, "Trakt did not revoke a sign-in; it is forgotten here all the same", "tracker_user", u.Name, "error", err)
			}
		}
		return k.store.clear(context.WithoutCancel(ctx), u.ID)
	})
	return revoked, err
}

// revoke is upstreams/tracker.md section 6.
func (k *Service) revoke(ctx context.Context, u User, c Credential) error {
	o := k.Options()
	body := map[string]string{"token": c.Access.Reveal(), "client_id": u.clientID}
	if u.Method != ByMail {
		body["client_secret"] = o.AppClientSecret.Reveal()
	}
	bounded, cancel := context.WithTimeout(ctx, askMost)
	defer cancel()
	resp, err := k.postJSON(bounded, opRevoke, o.AuthURL+"/oauth/revoke", body)
	if err == nil && resp.Status/100 != 2 {
		err = tokenRefusal(opRevoke, resp)
	}
	return err
}

// connect stores a sign-in, which must hold both tokens, then asks the tracker whose it is. When
// it does not tell, the sign-in stays and it is asked again before the first use.
func (k *Service) connect(ctx context.Context, m Method, clientID, redirectURI string, c Credential) (User, error) {
	if c.Refresh == "" {
		return User{}, &Error{Op: opSignIn, Kind: ErrRefused, Detail: noRefreshToken.With()}
	}
	ctx = context.WithoutCancel(ctx) // the code is used up: what it brought must not get lost
	id, err := k.store.add(ctx, m, clientID, redirectURI, c, time.Now())
	if err != nil {
		return User{}, err
	}
	if kept, err := k.identify(ctx, id); err != nil {
		k.Log.WarnContext(ctx, "Trakt did not tell who signed in; it is asked again later", "error", err)
	} else {
		id = kept
	}
	u, _, err := k.store.get(ctx, id)
	if err != nil {
		return User{}, fmt.Errorf("read who signed in at Trakt: %w", err)
	}
	return u, nil
}

// Adopt stores a sign-in that another program got for an application and gave up: what was played since a time is
// taken in. Whose it is, is asked of the tracker at the first use.
func (k *Service) Adopt(ctx context.Context, clientID, redirectURI string, c Credential, since time.Time) error {
	_, err := k.store.add(ctx, ByCode, clientID, redirectURI, c, since)
	return err
}
