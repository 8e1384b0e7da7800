// Package web serves the pages: HTML made on the server, the static files it needs,
// and live updates. It reads through small interfaces and changes nothing itself:
// every change a person makes is a call of the JSON API by the page's script.
//
// What it promises: New fails when a template, a translation or an icon is missing,
// so no page can lack one later; every page is complete in every language; pages
// can be read without JavaScript; no page needs an inline script or style.
package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/catalog/archive"
	"watchmark/internal/catalog/cover"
	"watchmark/internal/door/auth"
	"watchmark/internal/door/auth/oidc"
	"watchmark/internal/engine/queue"
	"watchmark/internal/engine/review"
	"watchmark/internal/match"
	"watchmark/internal/match/idmap"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/logs"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/record/webhooklog"
	"watchmark/internal/source/device"
	"watchmark/internal/tell/llm"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/summary"
	"watchmark/internal/upkeep/backup"
	"watchmark/internal/upkeep/diagnose"
	"watchmark/internal/upkeep/update"
	"watchmark/internal/watch"
)

// Records is what the pages read of records; *record.Store is one.
type Records interface {
	List(ctx context.Context, f record.Filter) (records []record.Record, next int64, err error)
	// Some are those records of ids that are there.
	Some(ctx context.Context, ids []int64) (map[int64]record.Record, error)
	// Work is a record with the event that it was made of.
	Work(ctx context.Context, id int64) (record.Work, error)
	Trace(ctx context.Context, id int64) (json.RawMessage, error)
	Activity(ctx context.Context, first, now time.Time, detailed int) (record.Activity, error)
	Heard(ctx context.Context, sources []watch.Source) (map[watch.Source]record.Heard, error)
	FailedLately(ctx context.Context, now time.Time) (failed, unrouted int, err error)
	Unrouted(ctx context.Context, most int) ([]record.Unrouted, error)
	UserNames(ctx context.Context) ([]string, error)
}

// Questions is what the pages read of what waits for a person; *candidate.Store is one.
type Questions interface {
	List(ctx context.Context, f review.Filter) (questions []review.Question, next int64, err error)
	Open(ctx context.Context) (int, error)
	OfRecord(ctx context.Context, recordID int64) (int64, error)
}

// Feed tells which records change; *record.Feed is one.
type Feed interface {
	Subscribe() (ids <-chan int64, cancel func())
}

// Accounts is what the pages read of accounts; *account.Store is one.
type Accounts interface {
	List(ctx context.Context) ([]account.Account, error)
	Ignored(ctx context.Context) ([]account.IgnoredUser, error)
}

// WebhookLog is what the pages read of the requests that arrived; *webhook.Log is one.
type WebhookLog interface {
	List(ctx context.Context, f webhooklog.Filter) (entries []webhooklog.Entry, next int64, err error)
	LastSeen(ctx context.Context) (map[watch.Source]webhooklog.Entry, error)
	OfRecord(ctx context.Context, recordID int64, at time.Time) (webhooklog.Entry, error)
}

// Deps is what the pages need. Every field is needed but Demo and Modules.
type Deps struct {
	Records    Records
	Feed       Feed
	Questions  Questions
	Mappings   Mappings
	Accounts   Accounts
	WebhookLog WebhookLog
	Notices    Notices
	Settings   Settings
	// SilentAfter is how long nothing may come from a source before it counts as silent; 0 is for ever.
	SilentAfter func() time.Duration
	// APIKeys lists the API keys, without the keys themselves.
	APIKeys func(context.Context) ([]auth.Key, error)
	// ArchiveStatus is where the offline archive stands; FindInArchive looks for a title in it.
	ArchiveStatus func() archive.Status
	FindInArchive func(context.Context, archive.Query) ([]archive.Found, error)
	// DatasetStatus is where the id table stands.
	DatasetStatus func() idmap.Status
	// NAS, Device and Tracker are the sources that are asked.
	NAS     NAS
	Device  func() device.Status
	Tracker Tracker
	// Reachability is what is known of the catalog without asking it.
	Reachability func() catalog.Reachability
	// Cover is the cover of a subject; errors are those of package cover, or of the disk.
	Cover func(context.Context, catalog.SubjectID) (cover.Image, error)
	// Queue is the marks that wait for the catalog, Scheduler how what sends them again stands,
	// and MaxRetries after how many failed tries one is given up.
	Queue      Queue
	Scheduler  func() queue.Standing
	MaxRetries func() int
	// Tasks is the work that takes longer.
	Tasks Tasks
	// Summaries are the jobs that tell what was watched, Airing is how telling what airs stands, and Channels
	// are where messages go.
	Summaries Summaries
	Airing    func(context.Context) (summary.AiringStatus, error)
	// ModelUsage is what the language model was used for in the last days, today included.
	ModelUsage func(ctx context.Context, now time.Time, days int) (llm.Report, error)
	// TestMatch matches an event and writes nothing.
	TestMatch func(context.Context, watch.Event) (match.Trace, error)
	// Backups is how backups stand, Update what is known of newer versions.
	Backups func() backup.Status
	Update  func() update.Status
	// Integrity tells whether the check of the database that began with the start is under way, or has found it damaged.
	Integrity func() (checking, damaged bool)
	// Network is how the services outside were found last.
	Network func() []diagnose.Result
	// Logs are the newest lines of the log, LogLevel is the least important level that it keeps.
	Logs     *logs.Ring
	LogLevel func() slog.Level
	// WebhookKey is the last path segment of webhook addresses; empty when none is asked for.
	WebhookKey func() string
	// PublicURL is the address people reach the service by, base path included, without a slash at the end.
	PublicURL func(*http.Request) string
	// BasePath is where a proxy puts the service, such as "/watchmark"; empty at the root.
	// Requests arrive here without it.
	BasePath func() string
	// Viewer is the name of who is signed in; the name is empty where sign-in is turned off.
	Viewer func(*http.Request) (name string, signedIn bool)
	// ToLogin leads to the sign-in page, and from there back to the page asked for.
	ToLogin http.HandlerFunc
	// NeedsSetup reports that no administrator exists yet.
	NeedsSetup func(context.Context) (bool, error)
	// Provider is how signing in by an OpenID Connect provider stands, TwoFactor how codes at sign-in
	// stand, and Enrolment the one that the viewer is setting up, if any.
	Provider  func() oidc.Status
	TwoFactor func(context.Context) (auth.TwoFactor, error)
	Enrolment func(*http.Request) (auth.Enrolment, bool)
	// SubjectURL is the catalog's page of a subject; empty when it has none.
	SubjectURL func(catalog.SubjectID) string
	// TokenURL is the catalog's page where people make a token by hand; empty when unknown.
	TokenURL func() string
	// OAuthReady reports that accounts can be connected by OAuth.
	OAuthReady func() bool
	// Demo is the login that the sign-in page offers; nil outside of the demo.
	Demo    *DemoLogin
	Version string
	// Modules are the Go modules that are linked into the program; none where the build does not tell.
	Modules []Module
	// Shutdown is closed when the service stops; live connections end then.
	Shutdown <-chan struct{}
	Log      *slog.Logger
}

// DemoLogin is a login that everybody may know.
type DemoLogin struct{ Name, Password string }

// Module is a Go module.
type Module struct{ Path, Version string }

// site is the handler behind New.
type site struct {
	Deps
	menu      []section
	assets    *assets
	words     catalogue
	phrases   map[string]*phrases                           // by language
	templates map[string]func() (*template.Template, error) // by language; parsed when first needed, for most homes read one
}

// Pages is the handler of every page, of the static files and of GET /live.
type Pages struct {
	http.Handler
	// Stylesheet and Icon are the paths of the style and the icon of all pages, base path included.
	Stylesheet, Icon string
	// Say says in a language of the pages what the service says of itself in English; what nobody has translated stays.
	Say func(lang, said string) string
}

// New makes the pages. It fails when a translation or an asset is missing or broken.
func New(d Deps) (Pages, error) {
	s := &site{Deps: d}
	sections := s.sections()
	s.menu = menu(sections)
	var err error
	if s.words, err = loadCatalogue(); err != nil {
		return Pages{}, fmt.Errorf("load translations: %w", err)
	}
	if s.assets, err = loadAssets(s.words, pages(sections)); err != nil {
		return Pages{}, fmt.Errorf("load assets of the pages: %w", err)
	}
	s.phrases, s.templates = map[string]*phrases{}, map[string]func() (*template.Template, error){}
	for _, lang := range languages {
		s.templates[lang.Tag] = sync.OnceValues(func() (*template.Template, error) { return s.parseTemplates(lang.Tag, pages(sections)) })
		if s.phrases[lang.Tag], err = loadPhrases(s.words, lang.Tag); err != nil {
			return Pages{}, fmt.Errorf("load translations: %w", err)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+StaticPrefix+"{file}", s.assets.serve)
	mux.HandleFunc("POST /preferences", s.preferences)
	mux.HandleFunc("POST /phrases", s.retellings)
	mux.HandleFunc("GET /live", s.live)
	mux.HandleFunc("GET /cover/{subject}", s.cover)
	for _, p := range pages(sections) {
		mux.HandleFunc(p.pattern(), s.page(p))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(&http.Request{Method: http.MethodGet, Host: r.Host, URL: r.URL}); pattern != "GET /" {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "This is a page: it takes GET alone. What changes something is a call of the API, below /api.", http.StatusMethodNotAllowed)
			return
		}
		// A media server that was led to the sign-in page would take that for success.
		http.Error(w, "There is nothing to send to at this address. The page Connect shows the address of each source.", http.StatusNotFound)
	})
	stylesheet, err := s.assetURL("app.css")
	if err != nil {
		return Pages{}, err
	}
	icon, err := s.assetURL("icon.svg")
	return Pages{mux, stylesheet, icon, s.say}, err
}

// content is what a page shows: Title is a key of the catalogue, or Heading a text of the
// reader's own world, such as the title of a film.
type content struct {
	Title   string
	Heading string
	Data    any
	// Instead is where the reader is sent instead of being shown the page; empty for the page.
	Instead string
}

// frame is what the layout shows around a page.
type frame struct {
	content
	Page     page
	Path     string
	Lang     string
	Theme    string
	Here     string // where the preferences lead back to, without the base path
	SignedIn bool
	User     string
	// Badges are how many things of a kind wait for a person.
	Badges map[string]int
	// Content is what stands in the layout, once it is made.
	Content template.HTML
}

// badge is how many things of a kind wait for a person.
type badge struct {
	Kind  string
	Count int
}

// Badge is that of a kind; its Count is 0 where nothing waits.
func (f frame) Badge(kind string) badge { return badge{kind, f.Badges[kind]} }

// page serves a page by its template, to people who are signed in unless its path is open.
func (s *site) page(p page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if _, signedIn := s.Viewer(r); !signedIn && !p.open {
			s.ToLogin(w, r)
			return
		}
		c, err := p.show(r)
		switch {
		case err != nil:
			s.fail(w, r, err)
		case c.Instead != "":
			http.Redirect(w, r, c.Instead, http.StatusSeeOther)
		default:
			s.write(w, r, http.StatusOK, p, c)
		}
	}
}

// write renders a page whole before it sends anything.
func (s *site) write(w http.ResponseWriter, r *http.Request, status int, p page, c content) {
	f := frame{content: c, Page: p, Path: r.URL.Path, Lang: s.language(r), Theme: themeOf(r), Here: r.URL.RequestURI()}
	f.User, f.SignedIn = s.Viewer(r)
	if f.SignedIn {
		f.Badges = s.badges(r.Context())
	}
	page, err := s.render(f)
	if err != nil {
		s.Log.ErrorContext(r.Context(), "cannot render a page", "page", p.template, "error", err)
		http.Error(w, "This page could not be made. Look into the log of the service.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = page.WriteTo(w) // a reader that went away needs no answer
}

// badges counts by its kind what waits for a person.
func (s *site) badges(ctx context.Context) map[string]int {
	counts := map[string]int{}
	for _, one := range s.menu {
		for _, p := range one.Pages {
			if p.count == nil {
				continue
			}
			n, err := p.count(ctx)
			if err != nil && ctx.Err() == nil {
				s.Log.ErrorContext(ctx, "cannot count what waits for a person", "page", p.Path, "error", err)
			}
			counts[p.Badge] = n
		}
	}
	return counts
}

// Scripts are those that the page has beside those of all pages.
func (f frame) Scripts() []string {
	names := make([]string, len(f.Page.scripts))
	for i, name := range f.Page.scripts {
		names[i] = name + ".js"
	}
	return names
}

// render makes the page of a frame: its content, then the layout around it.
func (s *site) render(f frame) (*bytes.Buffer, error) {
	set, err := s.templates[f.Lang]()
	if err != nil {
		return nil, err
	}
	inside, page := new(bytes.Buffer), new(bytes.Buffer)
	if err := set.ExecuteTemplate(inside, "content-"+f.Page.template, f); err != nil {
		return nil, err
	}
	f.Content = template.HTML(inside.String()) //nolint:gosec // it was escaped when it was made
	err = set.ExecuteTemplate(page, "layout", f)
	return bytes.NewBuffer(visible(page.Bytes())), err
}

// errNoPage is returned by pages that do not exist.
var errNoPage = errors.New("no such page")

// goneErrors say that there is nothing at the address of a page.
var goneErrors = []error{errNoPage, record.ErrNotFound, mapping.ErrNotFound, notify.ErrNotFound, summary.ErrNotFound, task.ErrNotFound}

// idOf is the id in the path of a request; what is no number has no page.
func idOf(r *http.Request) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return 0, errNoPage
	}
	return id, nil
}

// fail answers the page that says what went wrong; only failures of the service are logged.
func (s *site) fail(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case slices.ContainsFunc(goneErrors, func(gone error) bool { return errors.Is(err, gone) }):
		s.write(w, r, http.StatusNotFound, errorPage, content{Title: "error.not_found", Data: http.StatusNotFound})
	case r.Context().Err() != nil:
		return
	default:
		s.Log.ErrorContext(r.Context(), "cannot make a page", "path", r.URL.Path, "error", err)
		s.write(w, r, http.StatusInternalServerError, errorPage, content{Title: "error.failed", Data: http.StatusInternalServerError})
	}
}
