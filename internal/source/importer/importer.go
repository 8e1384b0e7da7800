// Package importer takes in what a Plex, Emby or Jellyfin server remembers as watched, from
// before this service listened to it. It reads through the server's own API and goes
// through the same engine as what is watched now; a preview tells first what that would mark.
//
// What it promises: an item of a server becomes records once for each user, however often it
// is imported; what was taken in is stored in one transaction with the records it became; the
// server's token is kept in memory only, for as long as a task runs; and records wait for the
// engine a page at a time, so that what is watched meanwhile is marked meanwhile.
package importer

import (
	"context"
	"database/sql"
	"log/slog"
	"slices"
	"sync"

	"watchmark/internal/match/seriesid"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/source/payload"
	"watchmark/internal/source/preview"
	"watchmark/internal/watch"
)

// The kinds of the tasks.
const (
	PreviewTask = "import_preview"
	RunTask     = "import"
)

// Address is where a media server is and what opens it.
type Address struct {
	Source watch.Source // plex, emby or jellyfin
	URL    string
	Token  secret.Text
}

// Choice is whose history of a server is meant.
type Choice struct {
	// User is an id or a name; empty is the only user.
	User string
	// Libraries are ids or names; none means all.
	Libraries []string
}

// About is what a media server tells of itself.
type About struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Users     []User    `json:"users"`
	Libraries []Library `json:"libraries" doc:"Those that may hold episodes or films."`
}

// User is a user of a media server.
type User struct {
	ID       string   `json:"id"`
	Name     string   `json:"name" doc:"As webhooks of the server spell it."`
	Accounts []string `json:"accounts" doc:"The enabled accounts that name this user; without one nothing can be imported."`
}

// Library is a library of a media server.
type Library struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	kind string // plex only: show or movie
}

// Intake stores events in one transaction with what also writes; *engine.Engine is one.
type Intake interface {
	Take(ctx context.Context, events []watch.Event, also func(ctx context.Context, tx *sql.Tx, ids []int64) error) ([]int64, error)
}

// Config is what an Importer is made of; every field must be set.
type Config struct {
	DB     *db.DB
	HTTP   *httpx.Client
	Masker *secret.Masker
	Tasks  *task.Registry
	Intake Intake
	// Statuses is how records stand; one that is not there any more is missing.
	Statuses func(ctx context.Context, ids []int64) (map[int64]record.Status, error)
	// Routed is the accounts that name a media-server user, or what to do when none does.
	Routed func(ctx context.Context, user string) (accounts []string, problem reason.Reason, err error)
	// Forecast tells what would become of events; one function serves one preview.
	Forecast func() preview.Of
	// Remember keeps the ids of series for events that have none.
	Remember func(ctx context.Context, series []seriesid.Series) error
	Log      *slog.Logger
}

// Importer previews and runs imports, one at a time. It may be used by several goroutines.
type Importer struct {
	Config
	mu      sync.Mutex
	running bool
}

// NewImporter is an Importer.
func NewImporter(c Config) *Importer { return &Importer{Config: c} }

// About asks a server for its users and libraries. A *reason.FieldError says what is wrong with the
// address or the token, the server's silence included.
func (k *Importer) About(ctx context.Context, a Address) (About, error) {
	s, err := k.open(a)
	if err != nil {
		return About{}, err
	}
	about, err := s.about(ctx)
	if err != nil {
		return About{}, err
	}
	for i, u := range about.Users {
		accounts, _, err := k.Routed(ctx, u.Name)
		if err != nil {
			return About{}, err
		}
		about.Users[i].Accounts = append([]string{}, accounts...) // never nil: a list in an answer is one
	}
	return about, nil
}

// Preview starts a task that tells what an import would mark, and stores nothing. Its result is
// a Preview. Errors: *reason.FieldError, ErrRunning, task.ErrStopping.
func (k *Importer) Preview(ctx context.Context, a Address, c Choice) (*task.Task, error) {
	return k.start(ctx, PreviewTask, a, c, (*history).preview)
}

// Run starts a task that takes in a history. Its result is a Result. Errors as Preview's.
func (k *Importer) Run(ctx context.Context, a Address, c Choice) (*task.Task, error) {
	return k.start(ctx, RunTask, a, c, (*history).run)
}

// history is what one user of one server has watched.
type history struct {
	*Importer
	server    server
	source    watch.Source
	about     About
	user      User
	libraries []Library
}

// start asks the server who is meant, so that what is wrong is told at once, and starts work as
// a task.
func (k *Importer) start(ctx context.Context, kind string, a Address, c Choice, work func(*history, context.Context, *task.Task) error) (*task.Task, error) {
	k.mu.Lock()
	if k.running {
		k.mu.Unlock()
		return nil, ErrRunning
	}
	k.running = true
	k.mu.Unlock()
	done := func() {
		k.mu.Lock()
		k.running = false
		k.mu.Unlock()
	}
	h, err := k.choose(ctx, a, c)
	if err != nil {
		done()
		return nil, err
	}
	t, err := k.Tasks.Start(kind, 0, func(ctx context.Context, t *task.Task) error {
		defer done()
		return work(h, ctx, t)
	})
	if err != nil {
		done()
	}
	return t, err
}

// choose is the history that is meant.
func (k *Importer) choose(ctx context.Context, a Address, c Choice) (*history, error) {
	s, err := k.open(a)
	if err != nil {
		return nil, err
	}
	h := &history{Importer: k, server: s, source: a.Source}
	if h.about, err = s.about(ctx); err != nil {
		return nil, err
	}
	at := slices.IndexFunc(h.about.Users, func(u User) bool { return u.ID == c.User })
	if at < 0 {
		at = slices.IndexFunc(h.about.Users, func(u User) bool { return u.Name == c.User })
	}
	switch {
	case at < 0 && c.User == "" && len(h.about.Users) == 1:
		at = 0
	case at < 0 && c.User == "":
		return nil, reason.At("user", whichUser)
	case at < 0:
		return nil, reason.At("user", noUser)
	}
	h.user = h.about.Users[at]
	accounts, problem, err := k.Routed(ctx, h.user.Name)
	if err != nil {
		return nil, err
	}
	if len(accounts) == 0 {
		return nil, reason.At("user", problem)
	}
	h.libraries = h.about.Libraries
	if len(c.Libraries) > 0 {
		h.libraries = nil
	}
	for _, wanted := range c.Libraries {
		at := slices.IndexFunc(h.about.Libraries, func(l Library) bool { return l.ID == wanted || l.Name == wanted })
		if at < 0 {
			return nil, reason.At("libraries", noLibrary.With(payload.Clean(wanted, 60)))
		}
		if !slices.Contains(h.libraries, h.about.Libraries[at]) {
			h.libraries = append(h.libraries, h.about.Libraries[at])
		}
	}
	return h, nil
}

// watched is one item that was watched: its events, or why there are none.
type watched struct {
	id     string
	title  string
	events []watch.Event
	why    reason.Reason
}

// read gives the series of each library to shows, and each page of the history, an item once, to each. left is how many more
// the library has, as far as the server tells.
func (h *history) read(ctx context.Context, shows func([]seriesid.Series) error, each func(l Library, items []watched, left int) error) error {
	seen := map[string]bool{}
	for _, l := range h.libraries {
		err := h.server.watched(ctx, h.user, l, shows, func(reports []payload.Report, left int) error {
			var items []watched
			for _, r := range reports {
				if id := r.Event.ItemID; id != "" && len(id) <= watch.MaxText && !seen[id] {
					seen[id] = true
					items = append(items, h.item(l, r))
				}
			}
			return each(l, items, left)
		})
		if err != nil {
			return readLibrary.With(l.Name, err)
		}
	}
	return nil
}

// item judges what was read of an item.
func (h *history) item(l Library, r payload.Report) watched {
	e := &r.Event
	e.Source, e.RawEvent = h.source, RunTask
	e.UserName, e.UserID, e.ServerName, e.ServerID = h.user.Name, h.user.ID, h.about.Name, h.about.ID
	e.Library = l.Name
	item := watched{id: e.ItemID, title: e.Title}
	if item.title == "" {
		item.title = e.EpisodeTitle
	}
	d, err := r.Deliver(watch.Watched)
	if err != nil {
		item.why = reason.Of(err)
		return item
	}
	item.events, item.why = d.Events, d.Ignored
	return item
}
