package importer

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"watchmark/internal/match/seriesid"
	"watchmark/internal/platform/reason"
	"watchmark/internal/source/mediabrowser"
	"watchmark/internal/source/payload"
)

// browserServer is an Emby or Jellyfin server, which share the API of their ancestor.
type browserServer struct {
	client
	emby bool
}

func (s *browserServer) about(ctx context.Context) (About, error) {
	var info, folders payload.Object
	if err := s.get(ctx, "/System/Info", nil, &info); err != nil {
		return About{}, err
	}
	a := About{ID: info.Line("Id"), Name: info.Line("ServerName"), Users: []User{}, Libraries: []Library{}}
	if a.ID == "" {
		return About{}, reason.At("url", notThat.With(s.product))
	}
	users, err := s.users(ctx)
	if err != nil {
		return About{}, err
	}
	for _, o := range users {
		if u := (User{ID: o.Line("Id"), Name: o.Text("Name")}); u.ID != "" && u.Name != "" {
			a.Users = append(a.Users, u)
		}
	}
	if err := s.get(ctx, "/Library/MediaFolders", nil, &folders); err != nil {
		return About{}, err
	}
	for _, o := range folders.Objects("Items") {
		// A library without a kind holds both.
		kind := strings.ToLower(o.Line("CollectionType"))
		if l := (Library{ID: o.Line("Id"), Name: o.Line("Name")}); l.ID != "" && slices.Contains([]string{"", "mixed", "tvshows", "movies"}, kind) {
			a.Libraries = append(a.Libraries, l)
		}
	}
	return a, nil
}

// users are all users. Emby has its list at one of two paths, by its version.
func (s *browserServer) users(ctx context.Context) ([]payload.Object, error) {
	if s.emby {
		var answer payload.Object
		err := s.get(ctx, "/Users/Query", nil, &answer)
		if !errors.Is(err, errNotThere) {
			return answer.Objects("Items"), err
		}
	}
	var list json.RawMessage
	err := s.get(ctx, "/Users", nil, &list)
	return payload.Object{"Items": list}.Objects("Items"), err
}

func (s *browserServer) watched(ctx context.Context, u User, l Library, shows func([]seriesid.Series) error, page func([]payload.Report, int) error) error {
	known := map[string]seriesid.Series{}
	err := s.items(ctx, u, l, url.Values{"IncludeItemTypes": {"Series"}, "EnableUserData": {"false"}}, func(items []payload.Object, _ int) error {
		if len(known) >= mostShows {
			return reason.At("url", tooManyShows)
		}
		some := make([]seriesid.Series, len(items))
		for i, item := range items {
			some[i] = seriesid.Series{ID: item.Line("Id"), Title: item.Line("Name"), Original: item.Line("OriginalTitle"), Year: item.Year("ProductionYear").Year, IDs: item.Object("ProviderIds").IDs()}
			known[some[i].ID] = some[i]
		}
		return shows(some)
	})
	if err != nil {
		return err
	}
	return s.items(ctx, u, l, url.Values{"IncludeItemTypes": {"Episode,Movie"}, "Filters": {"IsPlayed"}}, func(items []payload.Object, left int) error {
		reports := make([]payload.Report, 0, len(items))
		for _, item := range items {
			state := item.Object("UserData")
			// A server that does not know the filter answers everything.
			if played, _ := state.Bool("Played"); !played {
				continue
			}
			r := mediabrowser.Read(item)
			e := &r.Event
			e.OccurredAt = state.Time("LastPlayedDate")
			of := known[item.Line("SeriesId")]
			if e.OriginalTitle == "" {
				e.OriginalTitle = of.Original
			}
			for provider, id := range of.IDs {
				e.SeriesIDs = payload.AddID(e.SeriesIDs, provider, id)
			}
			reports = append(reports, r)
		}
		return page(reports, left)
	})
}

// items gives the items of a library as a user sees them, in an order that nothing watched
// meanwhile changes.
func (s *browserServer) items(ctx context.Context, u User, l Library, query url.Values, each func([]payload.Object, int) error) error {
	path := "/Items"
	if s.emby {
		path = "/Users/" + url.PathEscape(u.ID) + "/Items"
	}
	for name, value := range map[string]string{
		"UserId": u.ID, "ParentId": l.ID, "Recursive": "true", "SortBy": "SeriesSortName,SortName", "SortOrder": "Ascending",
		"Fields": "ProviderIds,OriginalTitle,Path,PremiereDate,ProductionYear", "EnableImages": "false", "CollapseBoxSetItems": "false",
		"Limit": strconv.Itoa(pageSize),
	} {
		query.Set(name, value)
	}
	return pages(func(start int) ([]payload.Object, int, error) {
		query.Set("StartIndex", strconv.Itoa(start))
		var answer payload.Object
		if err := s.get(ctx, path, query, &answer); err != nil {
			return nil, 0, err
		}
		if answer["Items"] == nil {
			return nil, 0, reason.At("url", notThat.With(s.product))
		}
		total, _ := answer.Int("TotalRecordCount")
		return answer.Objects("Items"), total, nil
	}, each)
}
