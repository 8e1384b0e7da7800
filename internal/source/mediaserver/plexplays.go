package mediaserver

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"time"

	"watchmark/internal/source/payload"
)

// mostGone bounds the plays of items that are not there any more in one reading.
const mostGone = 5000

// Played reads the items by the date of the last play and, for what is not there any more, the history of plays
// (upstreams/watchers.md section 4.3). Everything is read from the items alone.
func (c *plexClient) Played(ctx context.Context, of []Library, since time.Time, page func(items []Item, left int) error) error {
	seen := map[string]time.Time{}
	give := func(items []Item, left int) error {
		items = slices.DeleteFunc(items, func(item Item) bool { return !item.State.Played })
		if !since.IsZero() {
			for _, item := range items {
				seen[item.Report.Event.ItemID] = item.State.At
			}
		}
		return page(items, left)
	}
	for _, l := range of {
		read := c.playedSince
		if since.IsZero() {
			read = c.playedEver
		}
		if err := c.library(ctx, l, func(kind string) error { return read(ctx, l.ID, kind, since, give) }); err != nil {
			return err
		}
	}
	if since.IsZero() {
		return nil
	}
	return c.history(ctx, of, since, seen, give)
}

// All reads every item.
func (c *plexClient) All(ctx context.Context, of []Library, page func(items []Item, left int) error) error {
	for _, l := range of {
		err := c.library(ctx, l, func(kind string) error {
			return c.rows(ctx, l.ID, url.Values{"type": {kind}, "sort": {"addedAt:asc"}}, fullPage, func(items []Item, left int) (bool, error) {
				return true, page(items, left)
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// library has read do with the kind of items of a library. One that is not there any more, or not for the person, has nothing.
func (c *plexClient) library(ctx context.Context, l Library, read func(kind string) error) error {
	if c.kinds[l.ID] == "" {
		if _, err := c.Libraries(ctx); err != nil {
			return err
		}
	}
	kind := c.kinds[l.ID]
	if kind == "" {
		return nil
	}
	err := read(kind)
	if errors.Is(err, errNotThere) {
		delete(c.kinds, l.ID)
		return nil
	}
	return err
}

// playedEver gives what was played of a library, in an order that nothing played meanwhile changes. Some servers answer nothing when
// only what was played is asked for: where one row is played nevertheless, everything is read.
func (c *plexClient) playedEver(ctx context.Context, library, kind string, _ time.Time, give func([]Item, int) error) error {
	query := url.Values{"type": {kind}, "unwatched": {"0"}, "sort": {"addedAt:asc"}}
	some := false
	each := func(items []Item, left int) (bool, error) {
		some = some || slices.ContainsFunc(items, func(item Item) bool { return item.State.Played })
		return true, give(items, left)
	}
	if err := c.rows(ctx, library, query, fullPage, each); err != nil || some {
		return err
	}
	newest := url.Values{"type": {kind}, "sort": {"lastViewedAt:desc"}}
	played := false
	err := c.rows(ctx, library, newest, 20, func(items []Item, _ int) (bool, error) {
		played = slices.ContainsFunc(items, func(item Item) bool { return item.State.Played })
		return false, nil
	})
	if err != nil || !played {
		return err
	}
	query.Del("unwatched")
	return c.rows(ctx, library, query, fullPage, each)
}

// playedSince gives what was played of a library since, the newest first. Some servers answer nothing when rows are filtered by their
// date: the newest rows of the library tell whether that is so.
func (c *plexClient) playedSince(ctx context.Context, library, kind string, since time.Time, give func([]Item, int) error) error {
	query := url.Values{"type": {kind}, "sort": {"lastViewedAt:desc"}}
	some := false
	each := func(items []Item, left int) (bool, error) {
		some = some || len(items) > 0
		if err := give(slices.Clone(items), left); err != nil {
			return false, err
		}
		// Only rows that are in order tell that all others are older.
		inOrder := slices.IsSortedFunc(items, func(a, b Item) int { return b.State.At.Compare(a.State.At) })
		return !inOrder || len(items) == 0 || !items[len(items)-1].State.At.Before(since), nil
	}
	works, known := c.filters[library]
	if works || !known {
		query.Set("lastViewedAt>>", strconv.FormatInt(since.Unix()-1, 10)) // >>= is "after"
		if err := c.rows(ctx, library, query, recentPage, each); err != nil {
			return err
		}
		if some {
			c.filters[library] = true
		}
		if works || some {
			return nil
		}
		query.Del("lastViewedAt>>")
	}
	found := false
	err := c.rows(ctx, library, query, recentPage/4, func(items []Item, left int) (bool, error) {
		found = found || slices.ContainsFunc(items, func(item Item) bool { return !item.State.At.Before(since) })
		return each(items, left)
	})
	if found {
		c.filters[library] = false
	}
	return err
}

// rows gives the items of a library that query asks for, until each wants no more.
func (c *plexClient) rows(ctx context.Context, library string, query url.Values, size int, each func(items []Item, left int) (bool, error)) error {
	query.Set("includeGuids", "1")
	return c.pages(ctx, "/library/sections/"+url.PathEscape(library)+"/all", query, size, func(metas []payload.Object, left int) (bool, error) {
		items := make([]Item, 0, len(metas))
		for _, meta := range metas {
			if item, ok := plexItem(meta, library); ok {
				items = append(items, item)
			}
		}
		return each(items, left)
	})
}

// pages asks for a list page by page until each wants no more. A server may give other pages than were asked for, or everything
// at once.
func (c *plexClient) pages(ctx context.Context, path string, query url.Values, size int, each func(metas []payload.Object, left int) (bool, error)) error {
	start, read, before := 0, 0, ""
	for page := range mostPages {
		if page > 0 && size == fullPage {
			if err := rest(ctx); err != nil {
				return err
			}
		}
		query.Set("X-Plex-Container-Start", strconv.Itoa(start))
		query.Set("X-Plex-Container-Size", strconv.Itoa(size))
		container, err := c.get(ctx, ask{path: path, query: query, list: true})
		if err != nil {
			return err
		}
		metas := container.Objects("Metadata")
		if len(metas) == 0 {
			return nil
		}
		first := metas[0].Line("historyKey", "ratingKey")
		total, _ := container.Int("totalSize")
		offset, placed := container.Int("offset")
		switch {
		case start > 0 && (placed && offset+len(metas) <= start || !placed && first == before): // the same again
			if total > start {
				return unreachable(endless.With(c.wire.product))
			}
			return nil
		case placed:
			start = offset
		}
		if read += len(metas); read > mostRows {
			break
		}
		start, before = start+len(metas), first
		if total <= 0 && len(metas) != size {
			total = start
		}
		more, err := each(metas, max(total-start, 0))
		if err != nil || !more || total > 0 && start >= total {
			return err
		}
	}
	return unreachable(endless.With(c.wire.product))
}

// history gives what the history of plays knows since and the items do not. seen are those that were given, with their dates. A play counts
// while its item still says that it was played; one of an item that is not there any more counts by its entry, when the entry
// is surely the person's.
func (c *plexClient) history(ctx context.Context, of []Library, since time.Time, seen map[string]time.Time, give func([]Item, int) error) error {
	query := url.Values{"sort": {"viewedAt:asc"}, "viewedAt>": {strconv.FormatInt(since.Unix(), 10)}}
	owner := c.server.UserID == plexOwner
	if owner {
		query.Set("accountID", plexOwner)
	}
	accounts := map[string]bool{}
	var gone []Item
	err := c.pages(ctx, "/status/sessions/history/all", query, recentPage, func(entries []payload.Object, left int) (bool, error) {
		there, err := c.played(ctx, entries, of, since, seen, owner)
		if err != nil {
			return false, err
		}
		if err := give(there.items, left); err != nil {
			return false, err
		}
		for account := range there.accounts {
			accounts[account] = true
		}
		gone = append(gone, there.gone...)
		return len(gone) < mostGone, nil
	})
	switch {
	case errors.Is(err, ErrRefused), errors.Is(err, errNotThere), errors.Is(err, fails): // the items tell enough
		return nil
	case err != nil || len(gone) == 0:
		return err
	}
	if !owner { // a server that answered the plays of several people is not to be believed
		if len(accounts) != 1 || !accounts[c.server.UserID] && !accounts[c.account] {
			return nil
		}
	}
	return give(gone, 0)
}

// plexEntries is what entries of the history of plays come to.
type plexEntries struct {
	items    []Item // that are there
	gone     []Item // that are not
	accounts map[string]bool
}

func (c *plexClient) played(ctx context.Context, entries []payload.Object, of []Library, since time.Time, seen map[string]time.Time, owner bool) (plexEntries, error) {
	all := plexEntries{accounts: map[string]bool{}}
	var ids []string
	entries = slices.DeleteFunc(entries, func(o payload.Object) bool {
		at, library := o.UnixTime("viewedAt"), o.Line("librarySectionID")
		return at.Before(since) || owner && o.Line("accountID") != plexOwner ||
			!slices.ContainsFunc(of, func(l Library) bool { return l.ID == library })
	})
	for _, o := range entries {
		if id := o.Line("ratingKey"); id != "" && seen[id].IsZero() {
			ids = append(ids, id)
		}
	}
	items, err := c.Items(ctx, ids)
	if err != nil {
		return plexEntries{}, err
	}
	exists := map[string]bool{}
	for _, item := range items {
		exists[item.Report.Event.ItemID] = true
		if item.State.Played {
			seen[item.Report.Event.ItemID] = item.State.At
		}
	}
	all.items = items
	for _, o := range entries {
		id, at, account := o.Line("ratingKey"), o.UnixTime("viewedAt"), o.Line("accountID")
		all.accounts[account] = true
		if last, ok := seen[id]; ok && id != "" {
			if last.Equal(at) {
				c.account = account
			}
			continue
		}
		if exists[id] { // un-marked since
			continue
		}
		if id == "" {
			o["ratingKey"] = o["historyKey"]
		}
		if item, ok := plexItem(o, ""); ok {
			item.State = State{Played: true, At: at}
			all.gone = append(all.gone, item)
		}
	}
	return all, nil
}
