// Package importer takes in what was watched before this service listened: what a Plex, Emby or
// Jellyfin server remembers, read through the server's own API, and what a file holds that Trakt,
// Simkl or MyAnimeList gave out. It goes through the same engine as what is watched now; a preview
// tells first what that would mark.
//
// What it promises: an item of a server or file becomes records once for each user, however often
// it is imported; what was taken in is stored in one transaction with the records it became; the
// server's token is kept in memory only, for as long as a task runs, and so is a file on the disk;
// and records wait for the engine a page at a time, so that what is watched meanwhile is marked
// meanwhile.
package importer

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"watchmark/internal/match/seriesid"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/source/mediaserver"
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
}

// Intake stores events in one transaction with what also writes; *engine.Engine is one.
type Intake interface {
	Take(ctx context.Context, events []watch.Event, also func(ctx context.Context, tx *sql.Tx, ids []int64) error) ([]int64, error)
}

// Config is what an Importer is made of; every field must be set.
type Config struct {
	DB *db.DB
	// Own is a media server with the token of its owner; see mediaserver.Dialer.
	Own    func(s mediaserver.Server) (mediaserver.Owner, error)
	Tasks  *task.Registry
	Intake Intake
	// Taken are those of some items of a server that became records of a user already, in another way.
	Taken func(ctx context.Context, server, user string, items []string) (map[string]bool, error)
	// Statuses is how records stand; one that is not there any more is missing.
	Statuses func(ctx context.Context, ids []int64) (map[int64]record.Status, error)
	// Routed is the accounts that name a media-server user, or what to do when none does.
	Routed func(ctx context.Context, user string) (accounts []string, problem reason.Reason, err error)
	// Forecast tells what would become of events; one function serves one preview.
	Forecast func() preview.Of
	// Remember keeps the ids of series for events that have none.
	Remember func(ctx context.Context, series []seriesid.Series) error
	Files    Files
	Log      *slog.Logger
}

// Importer previews and runs imports, one at a time on all replicas, and one of each person. It may be used by several goroutines.
type Importer struct {
	Config
}

// NewImporter is an Importer.
func NewImporter(c Config) *Importer { return &Importer{Config: c} }

// About asks a server for its users and libraries. A *reason.FieldError says what is wrong with the
// address or the token, the server's silence included.
func (k *Importer) About(ctx context.Context, a Address) (About, error) {
	o, err := k.open(ctx, a)
	if err != nil {
		return About{}, err
	}
	about := About{ID: o.server.Server.ID, Name: o.server.Name, Users: []User{}, Libraries: []Library{}}
	for _, u := range o.users {
		accounts, _, err := k.Routed(ctx, u.Name)
		if err != nil {
			return About{}, err
		}
		about.Users = append(about.Users, User{u.ID, u.Name, append([]string{}, accounts...)}) // never nil: a list in an answer is one
	}
	for _, l := range o.libraries {
		about.Libraries = append(about.Libraries, Library{l.ID, l.Name})
	}
	return about, nil
}

// owned is what the owner of a server sees.
type owned struct {
	mediaserver.Owner
	server    mediaserver.Login
	users     []mediaserver.User
	libraries []mediaserver.Library
}

// open asks a server who is there.
func (k *Importer) open(ctx context.Context, a Address) (o owned, err error) {
	kind := mediaserver.Kind(a.Source)
	if kind.Experimental() || !slices.Contains(mediaserver.Kinds, kind) {
		return o, reason.At("source", wrongSource)
	}
	token := strings.TrimSpace(a.Token.Reveal())
	if token == "" || len(token) > watch.MaxText || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' }) {
		return o, reason.At("token", wrongToken)
	}
	if o.Owner, err = k.Own(mediaserver.Server{Kind: kind, URL: a.URL, Token: secret.Text(token)}); err != nil {
		return o, err
	}
	if o.server, err = o.Who(ctx); err == nil {
		o.users, err = o.Users(ctx)
	}
	if err == nil {
		o.libraries, err = o.Libraries(ctx)
	}
	if err != nil {
		return o, atField(kind, err)
	}
	o.libraries = slices.DeleteFunc(o.libraries, func(l mediaserver.Library) bool { return kind != mediaserver.Plex && !l.Usual() })
	return o, nil
}

// atField says what to enter otherwise.
func atField(kind mediaserver.Kind, err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, mediaserver.ErrSignedOut), errors.Is(err, mediaserver.ErrRefused):
		return reason.At("token", tokenRefused.With(kind.Product()))
	}
	return reason.At("url", err)
}

// Preview starts a task that tells what an import would mark, and stores nothing. Its result is
// a Preview. Errors: *reason.FieldError, ErrRunning, task.ErrStopping.
func (k *Importer) Preview(ctx context.Context, a Address, c Choice) (*task.Task, error) {
	return k.start(ctx, 0, true, func() (*history, error) { return k.choose(ctx, a, c) })
}

// Run starts a task that takes in a history. Its result is a Result. Errors as Preview's.
func (k *Importer) Run(ctx context.Context, a Address, c Choice) (*task.Task, error) {
	return k.start(ctx, 0, false, func() (*history, error) { return k.choose(ctx, a, c) })
}

// Start previews or takes in a history that is known already. id is that of the login that reads it. Errors as Preview's.
func (k *Importer) Start(ctx context.Context, id int64, h History, preview bool) (*task.Task, error) {
	return k.start(ctx, id, preview, func() (*history, error) { return k.ofServer(h), nil })
}

// History is what one user of one server has watched.
type History struct {
	Client mediaserver.Client
	// Kind is what the server is, and Source where its records come from.
	Kind                 watch.Source
	Source               watch.Source
	ServerID, ServerName string
	UserID, UserName     string
	Libraries            []mediaserver.Library
}

// history is what was watched, from a server or a file.
type history struct {
	*Importer
	// kind and server are where an item is from, and user whose it is, as imported_items keeps them.
	kind         watch.Source
	server, user string
	// serverName and userName are the same, as they are told to people.
	serverName, userName string
	// read gives the series of each library to shows, and each page of the history, an item once, to each. left is how many more
	// the library has, as far as it tells.
	read func(ctx context.Context, shows func([]mediaserver.Show) error, each func(library string, items []watched, left int) error) error
	// taken are those of some items that became records already, in another way.
	taken func(ctx context.Context, items []string) (map[string]bool, error)
	// ended is called when nothing more is read; nil where nothing is to be done then.
	ended func()
}

// ofServer is the history of a user of a server.
func (k *Importer) ofServer(h History) *history {
	return &history{
		Importer: k, kind: h.Kind, server: h.ServerID, user: h.UserID, serverName: h.ServerName, userName: h.UserName, read: h.read,
		taken: func(ctx context.Context, items []string) (map[string]bool, error) {
			return k.Taken(ctx, h.ServerID, h.UserID, items)
		},
	}
}

// start finds out who is meant, so that what is wrong is told at once, and starts the work as a task. While another runs it asks no
// server: that would answer only after what the other asks it.
func (k *Importer) start(ctx context.Context, id int64, preview bool, which func() (*history, error)) (*task.Task, error) {
	alone := task.OfEach(ctx, "import")
	switch runs, err := k.Tasks.IsDone(ctx, alone); {
	case err != nil:
		return nil, err
	case runs:
		return nil, ErrRunning
	}
	h, err := which()
	if err != nil {
		return nil, err
	}
	kind, work := RunTask, h.run
	if preview {
		kind, work = PreviewTask, h.preview
	}
	t, err := k.Tasks.Start(ctx, task.Spec{Kind: kind, About: id, Alone: alone}, func(ctx context.Context, t *task.Task) error {
		if h.ended != nil {
			defer h.ended()
		}
		return work(ctx, t)
	})
	if errors.Is(err, task.ErrRunning) {
		return nil, ErrRunning
	}
	return t, err
}

// choose is the history that is meant.
func (k *Importer) choose(ctx context.Context, a Address, c Choice) (*history, error) {
	o, err := k.open(ctx, a)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(o.users, func(u mediaserver.User) bool { return u.ID == c.User })
	if at < 0 {
		at = slices.IndexFunc(o.users, func(u mediaserver.User) bool { return u.Name == c.User })
	}
	switch {
	case at < 0 && c.User == "" && len(o.users) == 1:
		at = 0
	case at < 0 && c.User == "":
		return nil, reason.At("user", whichUser)
	case at < 0:
		return nil, reason.At("user", noUser)
	}
	h := History{
		Client: o.As(o.users[at].ID), Kind: a.Source, Source: a.Source, ServerID: o.server.Server.ID, ServerName: o.server.Name,
		UserID: o.users[at].ID, UserName: o.users[at].Name, Libraries: o.libraries,
	}
	if err := k.routed(ctx, h.UserName); err != nil {
		return nil, err
	}
	if len(c.Libraries) > 0 {
		h.Libraries = nil
	}
	for _, wanted := range c.Libraries {
		at := slices.IndexFunc(o.libraries, func(l mediaserver.Library) bool { return l.ID == wanted || l.Name == wanted })
		if at < 0 {
			return nil, reason.At("libraries", noLibrary.With(payload.Clean(wanted, 60)))
		}
		if !slices.Contains(h.Libraries, o.libraries[at]) {
			h.Libraries = append(h.Libraries, o.libraries[at])
		}
	}
	return k.ofServer(h), nil
}

// routed is what is wrong where no account names a user.
func (k *Importer) routed(ctx context.Context, user string) error {
	accounts, problem, err := k.Routed(ctx, user)
	if err == nil && len(accounts) == 0 {
		return reason.At("user", problem)
	}
	return err
}

// watched is one item that was watched: its events, or why there are none.
type watched struct {
	id     string
	title  string
	events []watch.Event
	why    reason.Reason
}

// mostShows is how many series a library may have.
const mostShows = 50000

// read is history.read.
func (h History) read(ctx context.Context, shows func([]mediaserver.Show) error, each func(library string, items []watched, left int) error) error {
	seen := map[string]bool{}
	for _, l := range h.Libraries {
		known := map[string]mediaserver.Show{}
		err := h.Client.Series(ctx, l, func(some []mediaserver.Show) error {
			if len(known) >= mostShows {
				return tooManyShows
			}
			for _, show := range some {
				known[show.ID] = show
			}
			return shows(some)
		})
		if err == nil {
			err = h.Client.Played(ctx, []mediaserver.Library{l}, time.Time{}, func(items []mediaserver.Item, left int) error {
				var fresh []watched
				for _, i := range items {
					if id := i.Report.Event.ItemID; id != "" && len(id) <= watch.MaxText && !seen[id] {
						seen[id] = true
						fresh = append(fresh, h.item(l, i, known))
					}
				}
				return each(l.Name, fresh, left)
			})
		}
		if err != nil {
			return readLibrary.With(l.Name, err)
		}
	}
	return nil
}

// item judges what was read of an item.
func (h History) item(l mediaserver.Library, i mediaserver.Item, shows map[string]mediaserver.Show) watched {
	e := &i.Report.Event
	e.Source, e.RawEvent = h.Source, watch.FromHistory
	e.UserName, e.UserID, e.ServerName, e.ServerID = h.UserName, h.UserID, h.ServerName, h.ServerID
	e.Library, e.OccurredAt = l.Name, i.State.At
	of := shows[e.SeriesID]
	if e.OriginalTitle == "" {
		e.OriginalTitle = of.Original
	}
	for provider, id := range of.IDs {
		e.SeriesIDs = payload.AddID(e.SeriesIDs, provider, id)
	}
	item := watched{id: e.ItemID, title: e.Title}
	if item.title == "" {
		item.title = e.EpisodeTitle
	}
	d, err := i.Report.Deliver(watch.Watched)
	if err != nil {
		item.why = reason.Of(err)
		return item
	}
	item.events, item.why = d.Events, d.Ignored
	return item
}
