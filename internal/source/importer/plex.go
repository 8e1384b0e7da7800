package importer

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"watchmark/internal/match/seriesid"
	"watchmark/internal/platform/reason"
	"watchmark/internal/source/payload"
	"watchmark/internal/source/plex"
)

// plexOwner is the id of the owner among the accounts of a server. The items of libraries bear
// the state of who owns the token only; what others have watched is in the history of plays.
const plexOwner = "1"

// plexServer is a Plex Media Server. Answers are XML unless JSON is asked for, and bear
// everything inside MediaContainer.
type plexServer struct {
	client
	shows map[string]seriesid.Series // by ratingKey
}

func (s *plexServer) container(ctx context.Context, path string, query url.Values) (payload.Object, error) {
	var answer payload.Object
	if err := s.get(ctx, path, query, &answer); err != nil {
		return nil, err
	}
	container := answer.Object("MediaContainer")
	if container == nil {
		return nil, reason.At("url", notThat.With("Plex"))
	}
	return container, nil
}

func (s *plexServer) about(ctx context.Context) (About, error) {
	root, err := s.container(ctx, "/", nil)
	if err != nil {
		return About{}, err
	}
	a := About{ID: root.Line("machineIdentifier"), Name: root.Line("friendlyName"), Users: []User{}, Libraries: []Library{}}
	if a.ID == "" {
		return About{}, reason.At("url", notThat.With("Plex"))
	}
	accounts, err := s.container(ctx, "/accounts", nil)
	if err != nil {
		return About{}, err
	}
	for _, o := range accounts.Objects("Account") {
		if u := (User{ID: o.Line("id"), Name: o.Text("name")}); u.ID != "" && u.ID != "0" && u.Name != "" {
			a.Users = append(a.Users, u)
		}
	}
	sections, err := s.container(ctx, "/library/sections", nil)
	if err != nil {
		return About{}, err
	}
	for _, o := range sections.Objects("Directory") {
		if l := (Library{ID: o.Line("key"), Name: o.Line("title"), kind: o.Line("type")}); l.ID != "" && (l.kind == "show" || l.kind == "movie") {
			a.Libraries = append(a.Libraries, l)
		}
	}
	return a, nil
}

// The numbers by which Plex asks for kinds of items.
const (
	plexMovies   = "1"
	plexShows    = "2"
	plexEpisodes = "4"
)

func (s *plexServer) watched(ctx context.Context, u User, l Library, shows func([]seriesid.Series) error, page func([]payload.Report, int) error) error {
	s.shows = map[string]seriesid.Series{}
	if l.kind == "show" {
		err := s.section(ctx, l, url.Values{"type": {plexShows}}, func(metas []payload.Object, _ int) error {
			if len(s.shows) >= mostShows {
				return reason.At("url", tooManyShows)
			}
			some := make([]seriesid.Series, len(metas))
			for i, meta := range metas {
				some[i] = seriesid.Series{ID: meta.Line("ratingKey"), Title: meta.Line("title"), Original: meta.Line("originalTitle"), Year: meta.Year("year").Year, IDs: plex.ShowIDs(meta)}
				s.shows[some[i].ID] = some[i]
			}
			return shows(some)
		})
		if err != nil {
			return err
		}
	}
	if u.ID != plexOwner {
		return s.plays(ctx, u, l, page)
	}
	kind := plexEpisodes
	if l.kind == "movie" {
		kind = plexMovies
	}
	return s.section(ctx, l, url.Values{"type": {kind}, "unwatched": {"0"}}, func(metas []payload.Object, left int) error {
		// A server that does not know the filter answers everything.
		metas = slices.DeleteFunc(metas, func(meta payload.Object) bool { n, _ := meta.Int("viewCount"); return n < 1 })
		return page(s.reports(metas), left)
	})
}

// section gives the items of a library that query names, in an order that nothing watched
// meanwhile changes.
func (s *plexServer) section(ctx context.Context, l Library, query url.Values, each func([]payload.Object, int) error) error {
	query.Set("includeGuids", "1")
	query.Set("sort", "addedAt:asc")
	return pages(func(start int) ([]payload.Object, int, error) {
		return s.list(ctx, "/library/sections/"+url.PathEscape(l.ID)+"/all", query, start)
	}, each)
}

func (s *plexServer) list(ctx context.Context, path string, query url.Values, start int) ([]payload.Object, int, error) {
	query.Set("X-Plex-Container-Start", strconv.Itoa(start))
	query.Set("X-Plex-Container-Size", strconv.Itoa(pageSize))
	c, err := s.container(ctx, path, query)
	if err != nil {
		return nil, 0, err
	}
	metas := c.Objects("Metadata")
	total, told := c.Int("totalSize")
	if !told && start == 0 && len(metas) != pageSize { // the server gave everything at once
		total = len(metas)
	}
	return metas, total, nil
}

// plays gives what a user played to the end, from the history of plays, the oldest first. The
// entries lack ids, so that the items are asked for as well; what was deleted since is read
// from its entry.
func (s *plexServer) plays(ctx context.Context, u User, l Library, page func([]payload.Report, int) error) error {
	query := url.Values{"accountID": {u.ID}, "librarySectionID": {l.ID}, "sort": {"viewedAt:asc"}}
	return pages(func(start int) ([]payload.Object, int, error) {
		return s.list(ctx, "/status/sessions/history/all", query, start)
	}, func(entries []payload.Object, left int) error {
		entries = slices.DeleteFunc(entries, func(o payload.Object) bool { // a filter that is not known answers everybody's
			return o.Line("accountID") != u.ID
		})
		var keys []string
		for _, entry := range entries {
			if key := entry.Line("ratingKey"); key != "" && strings.Trim(key, "0123456789") == "" && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
		items, err := s.items(ctx, keys)
		if err != nil {
			return err
		}
		for i, entry := range entries {
			item, there := items[entry.Line("ratingKey")]
			if !there {
				if entry["ratingKey"] == nil { // deleted: the entry itself is what remains
					entry["ratingKey"] = entry["historyKey"]
				}
				continue
			}
			item["lastViewedAt"] = entry["viewedAt"]
			entries[i] = item
		}
		return page(s.reports(entries), left)
	})
}

// items are those of some ratingKeys that are still there, asked for together.
func (s *plexServer) items(ctx context.Context, keys []string) (map[string]payload.Object, error) {
	items := map[string]payload.Object{}
	for some := range slices.Chunk(keys, 50) {
		c, err := s.container(ctx, "/library/metadata/"+strings.Join(some, ","), url.Values{"includeGuids": {"1"}})
		if errors.Is(err, errNotThere) { // none of them
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, meta := range c.Objects("Metadata") {
			items[meta.Line("ratingKey")] = meta
		}
	}
	return items, nil
}

func (s *plexServer) reports(metas []payload.Object) []payload.Report {
	reports := make([]payload.Report, 0, len(metas))
	for _, meta := range metas {
		r := plex.ReadItem(meta)
		e := &r.Event
		of := s.shows[cmp.Or(meta.Line("grandparentRatingKey"), path.Base(meta.Line("grandparentKey")))]
		if e.OriginalTitle == "" {
			e.OriginalTitle = of.Original
		}
		e.SeriesID = cmp.Or(e.SeriesID, of.ID)
		for provider, id := range of.IDs {
			e.SeriesIDs = payload.AddID(e.SeriesIDs, provider, id)
		}
		e.OccurredAt = meta.UnixTime("lastViewedAt", "viewedAt")
		reports = append(reports, r)
	}
	return reports
}
