package mediaserver

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"watchmark/internal/source/payload"
)

const (
	// recentPage and fullPage are how many rows are asked for at once (upstreams/watchers.md section 2.5).
	recentPage, fullPage = 200, 500
	// betweenPages is left to the server between two pages of a full read (section 7).
	betweenPages = 200 * time.Millisecond
	// mostPages bounds a list that never ends.
	mostPages = 5000
	// mostRemembered bounds of how many series and films the library is remembered.
	mostRemembered = 100_000
)

// mostRows bounds one list: the largest library that was told of has a fifth of that. Tests set it.
var mostRows = 300_000

// list is what is asked of one library.
type list struct {
	path    string
	library Library
	query   url.Values
	size    int
	// counted has the first page tell how many rows there are.
	counted bool
	// pause has the server rest between two pages.
	pause bool
}

// read gives the rows of a list page by page, with how many are left as far as the server tells, until there are no more or each is
// enough for its reader.
func (b *browser) read(ctx context.Context, l list, each func(rows []payload.Object, left int) (enough bool, err error)) error {
	query := maps.Clone(l.query)
	query.Set("ParentId", l.library.ID)
	query.Set("Limit", strconv.Itoa(l.size))
	query.Set("EnableImages", "false")
	start, total, before := 0, 0, ""
	for page := range mostPages {
		if page > 0 && l.pause {
			if err := rest(ctx); err != nil {
				return err
			}
		}
		query.Set("StartIndex", strconv.Itoa(start))
		query.Set("EnableTotalRecordCount", "false")
		if l.counted && page == 0 { // it costs the server a query of its own
			query.Set("EnableTotalRecordCount", "true")
		}
		var answer payload.Object
		if err := b.wire.get(ctx, ask{path: l.path, query: query, list: true}, &answer); err != nil {
			return err
		}
		if answer["Items"] == nil {
			return unreachable(notThat.With(b.traits.product))
		}
		rows := answer.Objects("Items")
		if n, ok := answer.Int("TotalRecordCount"); ok && l.counted && page == 0 {
			total = max(n, 0)
		}
		if len(rows) == 0 {
			return nil
		}
		first := rows[0].Line("Id")
		if first != "" && first == before {
			return unreachable(endless.With(b.traits.product))
		}
		before = first
		if start += len(rows); start > mostRows {
			break
		}
		enough, err := each(rows, max(total-start, 0))
		switch {
		case err != nil || enough:
			return err
		case len(rows) > l.size, total > 0 && start >= total:
			return nil // a server that knows no pages answers everything
		}
	}
	return unreachable(endless.With(b.traits.product))
}

// played is the query for what a person has played.
func (b *browser) played(fields string) url.Values {
	return url.Values{
		"Recursive": {"true"}, "IncludeItemTypes": {"Episode,Movie"}, "Filters": {"IsPlayed"}, "Fields": {fields}, "EnableUserData": {"true"},
		"CollapseBoxSetItems": {"false"}, "GroupItemsIntoCollections": {"false"}, "ExcludeLocationTypes": {"Virtual"},
	}
}

func (b *browser) Played(ctx context.Context, of []Library, since time.Time, page func(items []Item, left int) error) error {
	if !since.IsZero() && !b.Quirks().SlowDates {
		err := b.recent(ctx, of, since, page)
		if err == nil || !isTimeout(err) || ctx.Err() != nil {
			return err
		}
		b.learn(func(q *Quirks) { q.SlowDates = true })
	}
	count := 0 // 0 is not known
	if b.Quirks().SlowDates {
		var err error
		if count, err = b.Count(ctx); err != nil && !errors.Is(err, ErrCannot) {
			return err
		}
		b.mu.Lock()
		same := count > 0 && count == b.count
		b.mu.Unlock()
		if same && !since.IsZero() {
			return nil // a server that is slow is not asked for everything again while there is nothing new
		}
	}
	for _, l := range of {
		query := b.played(b.traits.fields)
		query.Set("SortBy", "SeriesSortName,SortName")
		query.Set("SortOrder", "Ascending")
		at := list{path: b.listed(query), library: l, query: query, size: fullPage, counted: true, pause: true}
		err := b.read(ctx, at, func(rows []payload.Object, left int) (bool, error) {
			items, err := b.onlyPlayed(ctx, rows, l.ID)
			if err != nil {
				return false, err
			}
			return false, page(items, left)
		})
		if err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count = count
	return nil
}

// recent reads each library, what was played last first, until a page ends with what is older than since. Rows without a date come last:
// only a full read finds them.
func (b *browser) recent(ctx context.Context, of []Library, since time.Time, page func(items []Item, left int) error) error {
	for _, l := range of {
		query := b.played(b.traits.fields)
		query.Set("SortBy", "DatePlayed,SortName")
		query.Set("SortOrder", "Descending,Ascending")
		at := list{path: b.listed(query), library: l, query: query, size: recentPage}
		err := b.read(ctx, at, func(rows []payload.Object, left int) (bool, error) {
			items, err := b.onlyPlayed(ctx, rows, l.ID)
			if err != nil {
				return false, err
			}
			last := rows[len(rows)-1].Object("UserData").Time("LastPlayedDate")
			return last.Before(since), page(items, left)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// onlyPlayed are the items of rows that were asked for as played. Of Jellyfin 10.11 the filter and the row may look at different
// data of one item, so rows that disagree are read again; a server of which most do has no filter (upstreams/watchers.md
// sections 2.5 and 5).
func (b *browser) onlyPlayed(ctx context.Context, rows []payload.Object, library string) ([]Item, error) {
	items, unplayed := b.items(rows, library)
	played := slices.DeleteFunc(items, func(i Item) bool { return !i.State.Played })
	if len(unplayed) == 0 || b.Quirks().NoFilter {
		return played, nil
	}
	if len(unplayed) > len(rows)/2 {
		b.learn(func(q *Quirks) { q.NoFilter = true })
		return played, nil
	}
	again, err := b.Items(ctx, unplayed)
	if err != nil {
		return nil, err
	}
	for _, item := range again {
		if item.State.Played {
			item.Library = library
			played = append(played, item)
		}
	}
	return played, nil
}

// items are the episodes and films of rows, whose library is remembered, and the ids of those that were not played.
func (b *browser) items(rows []payload.Object, library string) (items []Item, unplayed []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, o := range rows {
		item, ok := readItem(o, library)
		if !ok {
			continue
		}
		items = append(items, item)
		if !item.State.Played {
			unplayed = append(unplayed, item.Report.Event.ItemID)
		}
		if of := item.Report.Event.SeriesID; len(b.libraries) < mostRemembered {
			if of == "" {
				of = item.Report.Event.ItemID
			}
			b.libraries[of] = library
		}
	}
	return items, unplayed
}

func (b *browser) Count(ctx context.Context) (int, error) {
	if b.Quirks().NoFilter {
		return 0, ErrCannot
	}
	query := b.played("")
	query.Del("Fields")
	query.Set("Limit", "0")
	query.Set("EnableTotalRecordCount", "true")
	query.Set("EnableImages", "false")
	var answer payload.Object
	if err := b.wire.get(ctx, ask{path: b.listed(query), query: query, list: true}, &answer); err != nil {
		return 0, err
	}
	count, ok := answer.Int("TotalRecordCount")
	if !ok || count < 0 {
		return 0, ErrCannot
	}
	return count, nil
}

func (b *browser) All(ctx context.Context, of []Library, page func(items []Item, left int) error) error {
	for _, l := range of {
		query := b.played(b.traits.fields)
		query.Del("Filters")
		query.Set("SortBy", "SeriesSortName,SortName")
		query.Set("SortOrder", "Ascending")
		at := list{path: b.listed(query), library: l, query: query, size: fullPage, counted: true, pause: true}
		err := b.read(ctx, at, func(rows []payload.Object, left int) (bool, error) {
			items, _ := b.items(rows, l.ID)
			return false, page(items, left)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// learn changes what is known of the server.
func (b *browser) learn(change func(*Quirks)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.server.Quirks)
}

// rest leaves the server to others between two pages.
func rest(ctx context.Context) error {
	select {
	case <-time.After(betweenPages):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
