package mediaservertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// order is what POST /_sim/{kind}/… takes; each action reads its part.
type order struct {
	User    string  `json:"user"`
	Title   string  `json:"title"`
	Season  int     `json:"season"`
	Episode int     `json:"episode"`
	Percent float64 `json:"percent"`
	// PlayedAt is the date that an app sends with a mark by hand; zero for one that sends none.
	PlayedAt time.Time `json:"played_at"`
	On       *bool     `json:"on"`
	Code     string    `json:"code"`
	Seconds  int       `json:"seconds"`
	// Libraries are the names of those that a person may see; null is all.
	Libraries []string `json:"libraries"`
	// To are the numbers that a scan gives.
	ToSeason  int `json:"to_season"`
	ToEpisode int `json:"to_episode"`
	Count     int `json:"count"`
}

func (o order) on() bool { return o.On == nil || *o.On }

// actions are the paths of POST /_sim/{kind}/…; each answers an error that says what exists.
var actions = map[string]func(*Server, order) error{
	"play":     (*Server).orderWatch,
	"start":    withItem(func(s *Server, o order, id string) error { return s.Start(o.User, id) }),
	"progress": withItem(func(s *Server, o order, id string) error { return s.Progress(o.User, id, o.Percent) }),
	"stop":     withItem(func(s *Server, o order, id string) error { return s.Stop(o.User, id, o.Percent) }),
	"mark":     withItem(func(s *Server, o order, id string) error { return s.Mark(o.User, id, o.PlayedAt) }),
	"unmark":   withItem(func(s *Server, o order, id string) error { return s.Unmark(o.User, id) }),
	"import":   withItem(func(s *Server, o order, id string) error { return s.Import(o.User, id) }),
	"delete":   withItem(func(s *Server, _ order, id string) error { return s.Delete(id) }),
	"renumber": withItem(func(s *Server, o order, id string) error { return s.Renumber(id, o.ToSeason, o.ToEpisode) }),
	"replace": withItem(func(s *Server, _ order, id string) error {
		_, err := s.Replace(id)
		return err
	}),
	"season": (*Server).orderSeason,
	"generate": func(s *Server, o order) error {
		if _, err := s.User(o.User); err != nil {
			return err
		}
		s.Generate(min(o.Count, 200_000), o.User)
		return nil
	},
	"cut":      func(s *Server, _ order) error { s.Cut(); return nil },
	"mute":     func(s *Server, _ order) error { s.Mute(); return nil },
	"down":     func(s *Server, o order) error { s.Down(o.on()); return nil },
	"starting": func(s *Server, o order) error { s.Starting(o.on()); return nil },
	"revoke":   func(s *Server, o order) error { return s.Revoke(o.User) },
	"clock":    func(s *Server, o order) error { s.SetAhead(time.Duration(o.Seconds) * time.Second); return nil },
	"zone": func(s *Server, o order) error {
		s.SetZone(time.FixedZone("a zone", o.Seconds))
		return nil
	},
	"libraries": (*Server).orderLibraries,
	"confirm":   func(s *Server, o order) error { return s.Confirm(o.Code, o.User) },
	"refuse": func(s *Server, o order) error {
		return s.ChangeUser(o.User, func(u *User) { u.NotNow = o.on() })
	},
	"disable": func(s *Server, o order) error {
		return s.ChangeUser(o.User, func(u *User) { u.Disabled = o.on() })
	},
	"forget": func(s *Server, _ order) error { s.ForgetRequests(); return nil },
}

// withItem finds the item that an order names.
func withItem(do func(s *Server, o order, id string) error) func(*Server, order) error {
	return func(s *Server, o order) error {
		if _, err := s.User(o.User); o.User != "" && err != nil {
			return err
		}
		i, err := s.Find(o.Title, o.Season, o.Episode)
		if err != nil {
			return err
		}
		return do(s, o, i.ID)
	}
}

// orderWatch plays to the end, or to a part of it.
func (s *Server) orderWatch(o order) error {
	return withItem(func(s *Server, o order, id string) error {
		if o.Percent == 0 {
			return s.Watch(o.User, id)
		}
		if err := s.Start(o.User, id); err != nil {
			return err
		}
		return s.Stop(o.User, id, o.Percent)
	})(s, o)
}

func (s *Server) orderSeason(o order) error {
	s.mu.Lock()
	show, err := s.showOf(o.Title)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	return s.MarkSeason(o.User, show, o.Season, o.on())
}

// orderLibraries narrows what a person may see.
func (s *Server) orderLibraries(o order) error {
	var ids, names []string
	s.mu.Lock()
	all := slices.Clone(s.libraries)
	s.mu.Unlock()
	for _, l := range all {
		names = append(names, l.Name)
		if slices.Contains(o.Libraries, l.Name) {
			ids = append(ids, l.ID)
		}
	}
	if len(ids) < len(o.Libraries) {
		return fmt.Errorf("no such library: there are %s", some(names))
	}
	return s.ChangeUser(o.User, func(u *User) { u.Libraries = ids })
}

// control answers /_sim/{kind}/…, which steers and inspects the server.
func (s *Server) control(w http.ResponseWriter, r *http.Request) {
	kind, action, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/_sim/"), "/")
	plex, isPlex := s.front.(*plexServer)
	switch {
	case kind != string(s.cfg.Kind):
		http.Error(w, "this is a simulated "+string(s.cfg.Kind)+": its paths begin with /_sim/"+string(s.cfg.Kind)+"/", http.StatusNotFound)
	case isPlex && plex.control(w, r, action):
	case r.Method == http.MethodGet:
		s.inspect(w, action)
	case action == "fault":
		var f Fault
		if s.read(w, r, &f) {
			s.SetFault(&f)
			w.WriteHeader(http.StatusNoContent)
		}
	case r.Method == http.MethodPost && actions[action] != nil:
		var o order
		if !s.read(w, r, &o) {
			return
		}
		if err := actions[action](s, o); err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	default:
		http.NotFound(w, r)
	}
}

func (s *Server) read(w http.ResponseWriter, r *http.Request, into any) bool {
	if r.ContentLength == 0 {
		return true
	}
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		http.Error(w, "not what this path takes: "+err.Error(), http.StatusBadRequest)
		return false
	}
	return true
}

func (s *Server) inspect(w http.ResponseWriter, action string) {
	var v any
	switch action {
	case "played":
		v = object{"played": s.Played()}
	case "playing":
		v = object{"playing": s.Playing()}
	case "requests":
		list := s.Requests()
		v = object{"requests": list, "count": len(list)}
	case "library":
		s.mu.Lock()
		v = object{"titles": s.titles()}
		s.mu.Unlock()
	default:
		http.Error(w, "GET played, playing, requests or library", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(v) // a client that went away needs none
}
