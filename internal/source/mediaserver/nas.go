package mediaserver

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"watchmark/internal/source/payload"
)

// nasPage is how many rows of a NAS kind are asked for at once.
const nasPage = 100

// nas asks the media service of a NAS with as few parts of Emby's language as can be: library by library, one type of item at a
// time, and with no trust in any filter or order (upstreams/watchers.md section 5).
type nas struct {
	*browser
	shows map[string]Show // those that were read lately
	// unplayed is how many episodes of a series were not, where the server tells.
	unplayed map[string]int
}

// Played reads everything when since is zero, else without the series of which as many episodes are left as before.
func (n *nas) Played(ctx context.Context, of []Library, since time.Time, page func(items []Item, left int) error) error {
	return n.each(ctx, of, reading{brief: !since.IsZero(), noted: true}, func(items []Item, left int) error {
		var played []Item
		for _, item := range items {
			if item.State.Played {
				played = append(played, item)
			}
		}
		if len(played) == 0 {
			return nil
		}
		return page(played, left)
	})
}

// Who is the person as far as a server tells that answers for its libraries: all have these, and not all know the path of a person.
func (n *nas) Who(ctx context.Context) (Login, error) {
	if _, err := n.Libraries(ctx); err != nil {
		return Login{}, err
	}
	l := Login{Server: n.snapshot()}
	for _, path := range []string{"/System/Info", "/System/Info/Public"} {
		var info payload.Object
		if n.wire.get(ctx, ask{path: path}, &info) == nil { // it has but the name and the version
			n.describe(&l, info)
			break
		}
	}
	return l, nil
}

// Quirks have it that no filter is trusted.
func (n *nas) Quirks() Quirks {
	q := n.browser.Quirks()
	q.NoFilter = true
	return q
}

// Count is not asked for: no filter can be trusted.
func (n *nas) Count(context.Context) (int, error) { return 0, ErrCannot }

// Playing is not known of these kinds.
func (n *nas) Playing(context.Context) ([]string, error) { return nil, ErrCannot }

func (n *nas) All(ctx context.Context, of []Library, page func(items []Item, left int) error) error {
	return n.each(ctx, of, reading{}, page)
}

// reading is how libraries are read: brief leaves out the series in which nothing seems to have changed since what was noted by a
// reading before.
type reading struct{ brief, noted bool }

// each reads the libraries one after the other.
func (n *nas) each(ctx context.Context, of []Library, how reading, page func(items []Item, left int) error) error {
	for _, l := range of {
		if err := n.library(ctx, l, how, page); err != nil {
			return err
		}
	}
	return nil
}

// library reads one library. Types are asked for one by one, since a list of them gives nothing on some; a server that does not look at the
// type answers the same each time, and then the rest is not asked for.
func (n *nas) library(ctx context.Context, l Library, how reading, page func(items []Item, left int) error) error {
	seen, withEpisodes := map[string]bool{}, map[string]bool{}
	left := map[string]int{} // episodes of a series that were not played
	var series []string
	for _, kind := range []string{"Series", "Movie", "Episode"} {
		query := url.Values{"Recursive": {"true"}, "IncludeItemTypes": {kind}, "Fields": {n.traits.fields}, "EnableUserData": {"true"}, "SortBy": {"SortName"}, "SortOrder": {"Ascending"}}
		foreign := false
		at := list{path: n.user() + "/Items", library: l, query: query, size: nasPage, counted: true, pause: true}
		err := n.read(ctx, at, func(rows []payload.Object, remaining int) (bool, error) {
			var fresh []payload.Object
			for _, o := range rows {
				foreign = foreign || !strings.EqualFold(o.Line("Type"), kind)
				id := o.Line("Id")
				if !validID(id) || seen[id] {
					continue
				}
				seen[id] = true
				if strings.EqualFold(o.Line("Type"), "Series") {
					series = append(series, id)
					n.remember(readShow(o))
					if count, told := o.Object("UserData").Int("UnplayedItemCount"); told {
						left[id] = count
					}
				}
				fresh = append(fresh, o)
			}
			items, _ := n.items(fresh, l.ID)
			for _, item := range items {
				withEpisodes[item.Report.Event.SeriesID] = true
			}
			if len(items) == 0 {
				return false, nil
			}
			return false, page(items, remaining)
		})
		if err != nil {
			return err
		}
		if foreign {
			break // the type was not looked at: everything was there
		}
	}
	for i, id := range series {
		if count, told := left[id]; withEpisodes[id] || how.brief && told && n.unplayedOf(id) == count {
			continue
		}
		if err := rest(ctx); err != nil {
			return err
		}
		if err := n.episodes(ctx, id, l, len(series)-i-1, page); err != nil {
			return err
		}
		if count, told := left[id]; told && how.noted {
			n.noteUnplayed(id, count)
		}
	}
	return nil
}

// episodes reads those of a series of which the library gave only the series itself.
func (n *nas) episodes(ctx context.Context, series string, l Library, left int, page func(items []Item, left int) error) error {
	var answer payload.Object
	query := url.Values{"UserId": {n.snapshot().UserID}, "Fields": {n.traits.fields}, "EnableUserData": {"true"}}
	err := n.wire.get(ctx, ask{path: "/Shows/" + url.PathEscape(series) + "/Episodes", query: query, list: true}, &answer)
	if errors.Is(err, errNotThere) {
		return nil // it went meanwhile
	}
	if err != nil {
		return err
	}
	var fresh []payload.Object
	for _, o := range answer.Objects("Items") {
		if !o.Has("SeriesId") {
			o["SeriesId"] = []byte(`"` + series + `"`)
		}
		if !o.Has("Type") {
			o["Type"] = []byte(`"Episode"`)
		}
		fresh = append(fresh, o)
	}
	items, _ := n.items(fresh, l.ID)
	if len(items) == 0 {
		return nil
	}
	return page(items, left)
}

// Items asks for each by itself, as these servers do not know lists of ids.
func (n *nas) Items(ctx context.Context, ids []string) ([]Item, error) {
	var items []Item
	err := n.one(ctx, ids, func(o payload.Object) {
		if item, ok := readItem(o, n.libraryOf(o)); ok {
			items = append(items, item)
		}
	})
	return items, err
}

// Shows are taken from what was read before, and else asked for one by one.
func (n *nas) Shows(ctx context.Context, ids []string) ([]Show, error) {
	var shows []Show
	var others []string
	for _, id := range ids {
		n.mu.Lock()
		show, known := n.shows[id]
		n.mu.Unlock()
		if known {
			shows = append(shows, show)
		} else {
			others = append(others, id)
		}
	}
	err := n.one(ctx, others, func(o payload.Object) {
		if strings.EqualFold(o.Line("Type"), "Series") {
			show := readShow(o)
			n.remember(show)
			shows = append(shows, show)
		}
	})
	return shows, err
}

// one asks for items one by one; those that are not there are left out.
func (n *nas) one(ctx context.Context, ids []string, found func(payload.Object)) error {
	for _, id := range ids {
		if !validID(id) {
			continue
		}
		path := n.user() + "/Items/" + url.PathEscape(id)
		if n.traits.bare {
			path = "/Items/" + url.PathEscape(id)
		}
		var o payload.Object
		err := n.wire.get(ctx, ask{path: path, list: true}, &o)
		switch {
		case errors.Is(err, errNotThere):
			continue
		case err != nil:
			return err
		}
		if o.Line("Id") == id {
			found(o)
		}
	}
	return nil
}

func (n *nas) remember(s Show) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.shows) < mostRemembered {
		n.shows[s.ID] = s
	}
}

// unplayedOf is how many episodes of a series were not played when it was last read; -1 when that is not known.
func (n *nas) unplayedOf(series string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if count, known := n.unplayed[series]; known {
		return count
	}
	return -1
}

func (n *nas) noteUnplayed(series string, count int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.unplayed) < mostRemembered {
		n.unplayed[series] = count
	}
}
