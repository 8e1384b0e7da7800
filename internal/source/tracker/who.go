package tracker

import (
	"cmp"
	"context"
)

// identify asks the tracker who a user is and stores it (upstreams/tracker.md section 4).
// Somebody who was connected before keeps their id, which is returned.
func (k *Service) identify(ctx context.Context, id int64) (kept int64, err error) {
	resp, err := k.get(ctx, opAskWho, id, "/users/settings")
	if err != nil {
		return 0, err
	}
	var said struct {
		User struct {
			Username string `json:"username"`
			IDs      struct {
				Slug string `json:"slug"`
				UUID string `json:"uuid"`
			} `json:"ids"`
		} `json:"user"`
	}
	if err := resp.JSON(&said, mostValues); err != nil {
		return 0, &Error{Op: opAskWho, Kind: ErrRefused, Status: resp.Status, Detail: unreadable.With()}
	}
	u := said.User
	name := cmp.Or(u.Username, u.IDs.Slug)
	uid := cmp.Or(u.IDs.UUID, u.IDs.Slug, name) // a slug can change, it is the last resort
	if name == "" || len(name) > maxName || len(uid) > maxName {
		return 0, &Error{Op: opAskWho, Kind: ErrRefused, Status: resp.Status, Detail: nobodyNamed.With()}
	}
	return k.store.learn(ctx, id, uid, name)
}

// named is a user whose name is known: it is asked for when the tracker did not tell it at the sign-in.
func (k *Service) named(ctx context.Context, u User) (User, error) {
	if u.Name != "" {
		return u, nil
	}
	id, err := k.identify(ctx, u.ID)
	if err != nil {
		return u, err
	}
	u, _, err = k.store.get(ctx, id)
	return u, err
}

// maxName bounds what is stored of a name, in bytes.
const maxName = 200
