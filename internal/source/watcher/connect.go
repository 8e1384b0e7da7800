package watcher

import (
	"cmp"
	"context"
	"slices"

	"watchmark/internal/platform/reason"
	"watchmark/internal/source/mediaserver"
)

// connect asks who the person is and which libraries they may see, and stores it.
func (s *Service) connect(ctx context.Context, client mediaserver.Client, k *known) error {
	who, err := client.Who(ctx)
	if err != nil {
		return err
	}
	if k.ServerID != "" && who.Server.ID != "" && who.Server.ID != k.ServerID {
		return mediaserver.ErrOther
	}
	libraries, err := client.Libraries(ctx)
	if err != nil {
		return err
	}
	l := &k.Login
	if at := who.Server; at.URL != k.URL || at.Pin != k.pin || at.Token != k.token { // Plex tells where a server has moved to
		k.URL, k.pin, k.token = at.URL, at.Pin, at.Token
		if err := s.store.lead(ctx, *k); err != nil {
			return err
		}
	}
	l.Version, l.ServerName, l.UserName = cmp.Or(who.Version, l.Version), cmp.Or(who.Name, l.ServerName), cmp.Or(who.UserName, l.UserName)
	l.libraries, l.quirks = merge(l.libraries, libraries), client.Quirks()
	if err := s.store.learn(ctx, *l); err != nil {
		return err
	}
	if err := s.settleLeft(ctx, l.ID, client); err != nil {
		return err
	}
	return s.store.stand(ctx, *l, Connected, reason.Reason{})
}

// librariesMost bounds the libraries of a login with those that are gone.
const librariesMost = 400

// merge is the libraries of before with those that the person may see now. One that is new is picked when it usually is; one that is
// gone is kept, for it may come back.
func merge(before []library, now []mediaserver.Library) []library {
	all := make([]library, 0, len(now))
	for _, l := range now {
		one := library{Library: l, Picked: l.Usual()}
		if at := slices.IndexFunc(before, func(b library) bool { return b.ID == l.ID }); at >= 0 {
			one.Picked, one.Seen = before[at].Picked, before[at].Seen
		}
		all = append(all, one)
	}
	for _, b := range before {
		if len(all) < librariesMost && !slices.ContainsFunc(now, func(l mediaserver.Library) bool { return l.ID == b.ID }) {
			b.Gone = true
			all = append(all, b)
		}
	}
	return all
}

// picked reports whether plays of an item are taken, by its library. Where the server does not tell that, it is told only when all are.
func (l Login) picked(i mediaserver.Item) answer {
	all := true
	for _, one := range l.libraries {
		if one.ID == i.Library && i.Library != "" {
			if one.Picked && one.Seen {
				return yes
			}
			return no
		}
		all = all && (one.Picked && one.Seen || one.Gone)
	}
	if all {
		return yes
	}
	return untold
}
