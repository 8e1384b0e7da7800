package mediaserver

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"watchmark/internal/source/payload"
	"watchmark/internal/source/plex"
)

// plexOwned is a server with the token of its owner. What it keeps of items is the owner's; what others have played is in the history
// of plays alone.
type plexOwned struct {
	*plexClient
	account string // of another user; empty for the owner
}

func (p plexOwned) Who(ctx context.Context) (Login, error) {
	root, err := p.get(ctx, ask{path: "/"})
	if err != nil {
		return Login{}, err
	}
	l := Login{Server: p.server, Name: root.Line("friendlyName"), Version: root.Line("version")}
	if l.Server.ID = root.Line("machineIdentifier"); l.Server.ID == "" {
		return Login{}, unreachable(notThat.With(Plex.Product()))
	}
	return l, nil
}

func (p plexOwned) Users(ctx context.Context) ([]User, error) {
	container, err := p.get(ctx, ask{path: "/accounts"})
	var users []User
	for _, o := range container.Objects("Account") {
		if u := (User{ID: o.Line("id"), Name: o.Text("name")}); u.ID != "" && u.ID != "0" && strings.TrimSpace(u.Name) != "" {
			users = append(users, u)
		}
	}
	return users, err
}

func (p plexOwned) As(user string) Client {
	if user == plexOwner {
		return p.plexClient
	}
	return plexOwned{p.plexClient, user}
}

// Played gives the plays of another user, the oldest first. Their entries lack ids, so the items are asked for as well; what was deleted
// since is read from its entry.
func (p plexOwned) Played(ctx context.Context, of []Library, since time.Time, page func(items []Item, left int) error) error {
	for _, l := range of {
		query := url.Values{"accountID": {p.account}, "librarySectionID": {l.ID}, "sort": {"viewedAt:asc"}}
		err := p.pages(ctx, "/status/sessions/history/all", query, recentPage, func(entries []payload.Object, left int) (bool, error) {
			items, err := p.entries(ctx, l, entries, since)
			if err != nil {
				return false, err
			}
			return true, page(items, left)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (p plexOwned) entries(ctx context.Context, l Library, entries []payload.Object, since time.Time) ([]Item, error) {
	entries = slices.DeleteFunc(entries, func(o payload.Object) bool { // a filter that is not known answers everybody's
		library := cmp.Or(o.Line("librarySectionID"), l.ID)
		return o.Line("accountID") != p.account || library != l.ID || o.UnixTime("viewedAt").Before(since)
	})
	ids := make([]string, len(entries))
	for i, o := range entries {
		ids[i] = o.Line("ratingKey")
	}
	there := map[string]payload.Object{}
	err := p.metadata(ctx, ids, func(meta payload.Object) { there[meta.Line("ratingKey")] = meta })
	items := make([]Item, 0, len(entries))
	for _, o := range entries {
		at, meta := o.UnixTime("viewedAt"), there[o.Line("ratingKey")]
		if meta == nil {
			if meta = o; !meta.Has("ratingKey") {
				meta["ratingKey"] = meta["historyKey"]
			}
		}
		item, ok := plexItem(meta, l.ID)
		if !ok {
			continue
		}
		item.State = State{Played: true, At: at}
		items = append(items, item)
	}
	return items, err
}

func (c *plexClient) Series(ctx context.Context, of Library, page func(shows []Show) error) error {
	return c.library(ctx, of, func(kind string) error {
		if kind != plexEpisodes {
			return nil
		}
		query := url.Values{"type": {plexShows}, "includeGuids": {"1"}, "sort": {"addedAt:asc"}}
		return c.pages(ctx, "/library/sections/"+url.PathEscape(of.ID)+"/all", query, fullPage, func(metas []payload.Object, _ int) (bool, error) {
			shows := make([]Show, 0, len(metas))
			for _, meta := range metas {
				shows = append(shows, plexShow(meta))
			}
			return true, page(shows)
		})
	})
}

// plexShow reads the row of a series.
func plexShow(meta payload.Object) Show {
	return Show{ID: meta.Line("ratingKey"), Title: meta.Line("title"), Original: meta.Line("originalTitle"), Year: meta.Year("year").Year, IDs: plex.ShowIDs(meta)}
}
