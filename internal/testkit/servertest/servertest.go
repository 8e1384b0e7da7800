// Package servertest simulates the part of Plex, Emby and Jellyfin servers by which the
// history of their users is read, over HTTP.
package servertest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// User is a user of the server; the one with id 1 owns a Plex server.
type User struct{ ID, Name string }

// Library holds shows ("show"), films ("movie") or something else.
type Library struct{ ID, Name, Kind string }

// Show is a show of a library.
type Show struct {
	ID, Library, Title, Original string
	IDs                          map[string]string // by provider: tmdb, …
}

// Item is an episode, or a film where Show is empty.
type Item struct {
	ID, Library, Show, Title string
	Season, Episode, Last    int // Last is the last episode of a file of several
	Date                     string
	Watched                  map[string]time.Time // by user id
	Deleted                  bool                 // Plex: gone from the library, still in the history
}

// Config is what a server holds and how it behaves.
type Config struct {
	Source    string // plex, emby or jellyfin
	Token     string
	Users     []User
	Libraries []Library
	Shows     []Show
	Items     []Item
	// PageMost caps pages below what is asked for; 0 does not.
	PageMost int
	// NoFilters is a server that does not know the filters of what was watched.
	NoFilters bool
	// OldUsers is an Emby that has its users at /Users only.
	OldUsers bool
}

// Server is a running server.
type Server struct {
	URL string

	mu       sync.Mutex
	cfg      Config
	requests []string
	fail     int // status of every answer; 0 is none
	after    int // requests until then
	// held is closed when requests for lists of items are answered again; nil when they are.
	held chan struct{}
}

// Start runs a server until the test ends.
func Start(t testing.TB, cfg Config) *Server {
	t.Helper()
	s := &Server{cfg: cfg}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	s.URL = web.URL
	return s
}

// Fail answers status to everything after some more requests; 0 ends it.
func (s *Server) Fail(status, after int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail, s.after = status, after
}

// Hold lets requests for items wait until release is called.
func (s *Server) Hold() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := make(chan struct{})
	s.held = held
	return sync.OnceFunc(func() { close(held) })
}

// Requests are the paths with queries that were asked for.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	held := s.held
	s.mu.Unlock()
	if held != nil && (strings.HasSuffix(r.URL.Path, "/all") || strings.HasSuffix(r.URL.Path, "Items")) {
		select {
		case <-held:
		case <-r.Context().Done():
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.URL.RequestURI())
	if s.fail != 0 {
		if s.after <= 0 {
			w.WriteHeader(s.fail)
			return
		}
		s.after--
	}
	if r.Method != http.MethodGet {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if !s.opens(r) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte("<html><head><title>Unauthorized</title></head></html>"))
		return
	}
	var answer any
	if s.cfg.Source == "plex" {
		answer = s.plex(r.URL)
		if answer != nil && !strings.Contains(r.Header.Get("Accept"), "application/json") {
			w.Header().Set("Content-Type", "text/xml;charset=utf-8")
			_, _ = w.Write([]byte(`<?xml version="1.0" encoding="UTF-8"?><MediaContainer size="0"/>`))
			return
		}
	} else {
		answer = s.browser(r.URL)
	}
	if answer == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(answer)
}

// opens reports whether the request bears the token where servers of this kind look for it.
func (s *Server) opens(r *http.Request) bool {
	switch s.cfg.Source {
	case "plex":
		return r.Header.Get("X-Plex-Token") == s.cfg.Token
	case "emby":
		return r.Header.Get("X-Emby-Token") == s.cfg.Token
	}
	return r.Header.Get("Authorization") == `MediaBrowser Token="`+s.cfg.Token+`"` // the older headers are switched off
}

type object = map[string]any

func (s *Server) plex(u *url.URL) any {
	in := func(o object) any { return object{"MediaContainer": o} }
	q := u.Query()
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	switch {
	case u.Path == "/":
		return in(object{"machineIdentifier": "machine-1", "friendlyName": "Home Plex", "size": 20})
	case u.Path == "/accounts":
		list := []any{object{"id": 0, "key": "/accounts/0", "name": ""}}
		for _, one := range s.cfg.Users {
			id, _ := strconv.Atoi(one.ID)
			list = append(list, object{"id": id, "key": "/accounts/" + one.ID, "name": one.Name})
		}
		return in(object{"size": len(list), "Account": list})
	case u.Path == "/library/sections":
		list := []any{}
		for _, l := range s.cfg.Libraries {
			list = append(list, object{"key": l.ID, "type": l.Kind, "title": l.Name})
		}
		return in(object{"size": len(list), "Directory": list})
	case len(parts) == 4 && parts[1] == "sections" && parts[3] == "all":
		return in(s.page(q, "X-Plex-Container-Start", "X-Plex-Container-Size", "totalSize", "Metadata", s.plexAll(parts[2], q)))
	case u.Path == "/status/sessions/history/all":
		return in(s.page(q, "X-Plex-Container-Start", "X-Plex-Container-Size", "totalSize", "Metadata", s.plexHistory(q)))
	case len(parts) == 3 && parts[1] == "metadata":
		list := []any{}
		for id := range strings.SplitSeq(parts[2], ",") {
			for _, i := range s.cfg.Items {
				if i.ID == id && !i.Deleted {
					list = append(list, s.plexItem(i))
				}
			}
		}
		if len(list) == 0 {
			return nil
		}
		return in(object{"size": len(list), "Metadata": list})
	}
	return nil
}

func (s *Server) plexAll(section string, q url.Values) []any {
	list := []any{}
	if q.Get("type") == "2" {
		for _, show := range s.cfg.Shows {
			if show.Library == section {
				list = append(list, object{"ratingKey": show.ID, "type": "show", "title": show.Title, "originalTitle": show.Original, "Guid": guids(show.IDs)})
			}
		}
		return list
	}
	for _, i := range s.cfg.Items {
		_, watched := i.Watched["1"]
		if i.Library != section || i.Deleted || (i.Show == "") != (q.Get("type") == "1") || q.Get("unwatched") == "0" && !s.cfg.NoFilters && !watched {
			continue
		}
		item := s.plexItem(i)
		if watched {
			item["viewCount"], item["lastViewedAt"] = 1, i.Watched["1"].Unix()
		}
		list = append(list, item)
	}
	return list
}

func (s *Server) plexHistory(q url.Values) []any {
	type play struct {
		at   time.Time
		user string
		item Item
	}
	var plays []play
	for _, i := range s.cfg.Items {
		for user, at := range i.Watched {
			if (s.cfg.NoFilters || user == q.Get("accountID")) && i.Library == q.Get("librarySectionID") {
				plays = append(plays, play{at, user, i})
			}
		}
	}
	slices.SortFunc(plays, func(a, b play) int { return a.at.Compare(b.at) })
	list := []any{}
	for n, p := range plays {
		entry := s.plexItem(p.item)
		delete(entry, "Guid")
		delete(entry, "grandparentRatingKey")
		id, _ := strconv.Atoi(p.user)
		entry["historyKey"], entry["viewedAt"], entry["accountID"] = fmt.Sprintf("/status/sessions/history/%d", n+1), p.at.Unix(), id
		if p.item.Show != "" {
			entry["grandparentKey"] = "/library/metadata/" + p.item.Show
		}
		if p.item.Deleted {
			delete(entry, "ratingKey")
			delete(entry, "grandparentKey")
		}
		list = append(list, entry)
	}
	return list
}

func (s *Server) plexItem(i Item) object {
	item := object{"ratingKey": i.ID, "key": "/library/metadata/" + i.ID, "title": i.Title, "originallyAvailableAt": i.Date, "guid": "plex://episode/" + i.ID, "duration": 1440000}
	if i.Show == "" {
		item["type"] = "movie"
		return item
	}
	show := s.show(i.Show)
	item["type"], item["grandparentTitle"], item["grandparentRatingKey"] = "episode", show.Title, show.ID
	item["parentIndex"], item["index"] = i.Season, i.Episode
	item["Guid"] = guids(map[string]string{"tvdb": "9" + i.ID})
	return item
}

func guids(ids map[string]string) []any {
	list := []any{}
	for provider, id := range ids {
		list = append(list, object{"id": provider + "://" + id})
	}
	return list
}

func (s *Server) show(id string) Show {
	at := slices.IndexFunc(s.cfg.Shows, func(show Show) bool { return show.ID == id })
	return s.cfg.Shows[at]
}

// page is the part of a list that the query asks for.
func (s *Server) page(q url.Values, startName, sizeName, totalName, listName string, all []any) object {
	start, _ := strconv.Atoi(q.Get(startName))
	size, err := strconv.Atoi(q.Get(sizeName))
	if err != nil {
		size = len(all)
	}
	if s.cfg.PageMost > 0 {
		size = min(size, s.cfg.PageMost)
	}
	start = min(start, len(all))
	part := all[start:min(start+size, len(all))]
	return object{listName: part, totalName: len(all), "size": len(part)}
}

func (s *Server) browser(u *url.URL) any {
	q := url.Values{}
	for name, values := range u.Query() { // the names are matched in any case
		q[strings.ToLower(name)] = values
	}
	user := q.Get("userid")
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	switch {
	case u.Path == "/System/Info":
		return object{"Id": "server-1", "ServerName": "Home " + s.cfg.Source, "Version": "10.11.0"}
	case u.Path == "/Users", u.Path == "/Users/Query" && s.cfg.Source == "emby" && !s.cfg.OldUsers:
		list := []any{}
		for _, one := range s.cfg.Users {
			list = append(list, object{"Id": one.ID, "Name": one.Name, "Policy": object{"IsAdministrator": false}})
		}
		if u.Path == "/Users" {
			return list
		}
		return object{"Items": list, "TotalRecordCount": len(list)}
	case u.Path == "/Library/MediaFolders":
		list := []any{}
		for _, l := range s.cfg.Libraries {
			item := object{"Id": l.ID, "Name": l.Name, "Type": "CollectionFolder"}
			if kind := cmp.Or(map[string]string{"show": "tvshows", "movie": "movies"}[l.Kind], l.Kind); kind != "" {
				item["CollectionType"] = kind
			}
			list = append(list, item)
		}
		return object{"Items": list, "TotalRecordCount": len(list)}
	case u.Path == "/Items" && s.cfg.Source == "jellyfin":
	case len(parts) == 3 && parts[0] == "Users" && parts[2] == "Items" && s.cfg.Source == "emby":
		user = parts[1]
	default:
		return nil
	}
	return s.page(q, "startindex", "limit", "TotalRecordCount", "Items", s.browserItems(user, q))
}

func (s *Server) browserItems(user string, q url.Values) []any {
	types := strings.Split(q.Get("includeitemtypes"), ",")
	list := []any{}
	if slices.Contains(types, "Series") {
		for _, show := range s.cfg.Shows {
			if show.Library == q.Get("parentid") {
				list = append(list, object{"Id": show.ID, "Name": show.Title, "OriginalTitle": show.Original, "Type": "Series", "ProviderIds": show.IDs})
			}
		}
		return list
	}
	for _, i := range s.cfg.Items {
		at, played := i.Watched[user]
		if i.Library != q.Get("parentid") || q.Get("filters") == "IsPlayed" && !s.cfg.NoFilters && !played {
			continue
		}
		state := object{"Played": played, "PlayCount": 0, "IsFavorite": false}
		if played {
			state["PlayCount"], state["LastPlayedDate"] = 1, at.UTC().Format("2006-01-02T15:04:05.0000000Z")
		}
		item := object{"Id": i.ID, "Name": i.Title, "UserData": state, "PremiereDate": i.Date + "T00:00:00.0000000Z", "ProviderIds": object{"Tvdb": "9" + i.ID}, "Type": "Movie"}
		if i.Show != "" {
			show := s.show(i.Show)
			item["Type"], item["SeriesName"], item["SeriesId"] = "Episode", show.Title, show.ID
			item["ParentIndexNumber"], item["IndexNumber"] = i.Season, i.Episode
			if i.Episode == 0 {
				delete(item, "IndexNumber")
			}
			if i.Last > 0 {
				item["IndexNumberEnd"] = i.Last
			}
		}
		list = append(list, item)
	}
	return list
}
