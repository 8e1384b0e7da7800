package trackertest

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Paging says how a history comes in pages (upstreams/tracker.md section 3).
type Paging struct {
	// Most is what larger limits are clamped to without an error; 0 is 250.
	Most int
	// NoHeaders leaves the headers out that tell how many pages and items there are.
	NoHeaders bool
}

// SetPaging says how histories are paged from now on.
func (s *Server) SetPaging(p Paging) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paging = p
}

// Play is one time that somebody watched something.
type Play struct {
	ID        int64     `json:"id"`
	WatchedAt time.Time `json:"watched_at"`
	// Kind is show or movie, Title the key of a Title of that kind.
	Kind    string `json:"kind"`
	Title   int    `json:"title"`
	Season  int    `json:"season"`
	Episode int    `json:"episode"`
	Aired   string `json:"aired"` // first_aired of the episode; empty is null
	Tmdb    int    `json:"tmdb"`  // of the episode
	// Raw, when it is there, is listed as it is in place of all this; ID, WatchedAt and Kind still place it.
	Raw json.RawMessage `json:"raw"`
}

// Title is a show or a film.
type Title struct {
	Kind     string            `json:"kind"`
	ID       int               `json:"id"`
	Name     string            `json:"name"`
	Original string            `json:"original"`
	Year     int               `json:"year"`
	Tmdb     int               `json:"tmdb"`
	Genres   []string          `json:"genres"`
	Timezone string            `json:"timezone"`
	Released string            `json:"released"`
	In       map[string]string `json:"in"` // titles in other languages, by country
}

// AddTitle adds or replaces a show or film.
func (s *Server) AddTitle(t Title) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.titles[t.Kind+"/"+strconv.Itoa(t.ID)] = t
}

// AddPlays adds plays of the user with an address, and moves the stamps of last_activities.
func (s *Server) AddPlays(email string, plays ...Play) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plays[email] = append(s.plays[email], plays...)
	slices.SortStableFunc(s.plays[email], func(a, b Play) int { return b.WatchedAt.Compare(a.WatchedAt) })
	for _, p := range plays {
		s.touch(email, p.Kind)
	}
}

// touch moves the stamp for a kind; it never stands still. The caller holds mu.
func (s *Server) touch(email, kind string) {
	key := email + "/" + kind
	now := s.cfg.Now()
	if !now.After(s.stamps[key]) {
		now = s.stamps[key].Add(time.Millisecond)
	}
	s.stamps[key] = now
}

// RemovePlay takes a play away, which moves the stamp and is told in no other way.
func (s *Server) RemovePlay(email string, id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plays[email] = slices.DeleteFunc(s.plays[email], func(p Play) bool {
		if p.ID != id {
			return false
		}
		s.touch(email, p.Kind)
		return true
	})
}

func (s *Server) takePlays(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Email  string  `json:"email"`
		Titles []Title `json:"titles"`
		Plays  []Play  `json:"plays"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, "not plays: "+err.Error(), http.StatusBadRequest)
		return
	}
	for _, t := range in.Titles {
		s.AddTitle(t)
	}
	s.AddPlays(in.Email, in.Plays...)
	w.WriteHeader(http.StatusNoContent)
}

// data registers a path of the data host behind its checks (upstreams/tracker.md sections 2 and 5).
func (s *Server) data(pattern string, next func(w http.ResponseWriter, r *http.Request, email string)) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		agent := r.UserAgent()
		if agent == "" || strings.HasPrefix(agent, "Go-http-client/") {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte("error code: 1010")) // a client that went away needs none
			return
		}
		if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") || r.Header.Get("trakt-api-version") != "2" {
			w.WriteHeader(http.StatusPreconditionFailed)
			return
		}
		s.mu.Lock()
		_, known := s.client(r.Header.Get("trakt-api-key"))
		g, found := s.access[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		good := found && g.client == r.Header.Get("trakt-api-key") && s.cfg.Now().Before(g.until)
		s.mu.Unlock()
		switch {
		case !known:
			fail(w, http.StatusForbidden, "invalid_client", "no such application")
		case !good:
			w.Header().Set("WWW-Authenticate", `Bearer realm="trakt", error="invalid_token"`)
			fail(w, http.StatusUnauthorized, "invalid_token", "the token is not good")
		default:
			next(w, r, g.email)
		}
	})
}

func (s *Server) settings(w http.ResponseWriter, _ *http.Request, email string) {
	u := s.cfg.Users[slices.IndexFunc(s.cfg.Users, func(u User) bool { return u.Email == email })]
	writeJSON(w, http.StatusOK, map[string]any{
		"user":    map[string]any{"username": u.Name, "name": u.Name, "vip": false, "ids": map[string]any{"slug": strings.ToLower(u.Name), "uuid": u.UUID}},
		"account": map[string]any{"timezone": "UTC"},
	})
}

const stamp = "2006-01-02T15:04:05.000Z"

func (s *Server) lastActivities(w http.ResponseWriter, _ *http.Request, email string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := func(kind string) map[string]string {
		return map[string]string{"watched_at": s.stamps[email+"/"+kind].UTC().Format(stamp)}
	}
	writeJSON(w, http.StatusOK, map[string]any{"episodes": at("show"), "movies": at("movie")})
}

// history is newest first, in pages whose number is in the header. Nobody asks for a part by start_at and end_at.
func (s *Server) history(w http.ResponseWriter, r *http.Request, email string) {
	q := r.URL.Query()
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(q.Get(name)); err == nil && n > 0 {
			return n
		}
		return otherwise
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	plays := s.plays[email]
	page, limit := number("page", 1), min(number("limit", 100), cmp.Or(s.paging.Most, 250))
	if header := w.Header(); !s.paging.NoHeaders {
		header.Set("X-Pagination-Page", strconv.Itoa(page))
		header.Set("X-Pagination-Limit", strconv.Itoa(limit))
		header.Set("X-Pagination-Page-Count", strconv.Itoa((len(plays)+limit-1)/limit))
		header.Set("X-Pagination-Item-Count", strconv.Itoa(len(plays)))
	}
	from, to := min((page-1)*limit, len(plays)), min(page*limit, len(plays))
	items := make([]any, 0, limit)
	for _, p := range plays[from:to] {
		items = append(items, s.item(p, q.Get("extended") == "full"))
	}
	writeJSON(w, http.StatusOK, items)
}

// item is a play as history lists it. The caller holds mu.
func (s *Server) item(p Play, full bool) any {
	if p.Raw != nil {
		return p.Raw
	}
	item := map[string]any{"id": p.ID, "watched_at": p.WatchedAt.UTC().Format(stamp), "action": "scrobble", "type": "episode"}
	title := s.titles[p.Kind+"/"+strconv.Itoa(p.Title)]
	if p.Kind == "movie" {
		item["type"], item["movie"] = "movie", s.object(title, full)
		return item
	}
	item["show"] = s.object(title, full)
	episode := map[string]any{"season": p.Season, "number": p.Episode, "title": nil,
		"ids": map[string]any{"trakt": p.ID, "tvdb": nil, "imdb": "", "tmdb": p.Tmdb}}
	if full && p.Aired != "" {
		episode["first_aired"] = p.Aired
	}
	item["episode"] = episode
	return item
}

func (s *Server) object(t Title, full bool) map[string]any {
	object := map[string]any{"title": t.Name, "year": t.Year, "ids": map[string]any{"trakt": t.ID, "slug": t.Name, "tvdb": 0, "imdb": nil, "tmdb": t.Tmdb}}
	if t.Year == 0 {
		object["year"] = nil
	}
	if full {
		object["original_title"], object["genres"] = t.Original, t.Genres
		object["airs"] = map[string]any{"timezone": t.Timezone}
		if t.Kind == "movie" {
			object["released"] = t.Released
		}
	}
	return object
}

// find is the title that a path names.
func (s *Server) find(r *http.Request) (Title, bool) {
	kind := "show"
	if strings.HasPrefix(r.URL.Path, "/movies/") {
		kind = "movie"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t, found := s.titles[kind+"/"+r.PathValue("id")]
	return t, found
}

func (s *Server) summary(w http.ResponseWriter, r *http.Request, _ string) {
	t, found := s.find(r)
	if !found {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	writeJSON(w, http.StatusOK, s.object(t, r.URL.Query().Get("extended") == "full"))
}

func (s *Server) translations(w http.ResponseWriter, r *http.Request, _ string) {
	t, found := s.find(r)
	if !found {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	rows := []map[string]any{{"title": nil, "language": "zh", "country": "sg"}}
	for _, country := range []string{"hk", "tw", "cn"} {
		if title := t.In[country]; title != "" {
			rows = append(rows, map[string]any{"title": title, "overview": "", "language": "zh", "country": country})
		}
	}
	writeJSON(w, http.StatusOK, rows)
}
