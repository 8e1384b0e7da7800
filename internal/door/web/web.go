// Package web serves the pages: HTML made on the server, the static files it needs,
// and live updates. It changes nothing itself: every change is a call of the JSON
// API by a form or a script of a page.
//
// pages.go lists all pages. Each group of pages, such as Records, is a struct that
// holds the features it shows and nothing else.
//
// It promises: New fails when a translation, a script or a style is missing; every
// page is complete in every language; pages can be read without JavaScript; no page
// needs an inline script or style.
package web

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"sync"

	"watchmark/docs"
	"watchmark/internal/catalog"
	"watchmark/internal/catalog/cover"
	"watchmark/internal/door/access"
	"watchmark/internal/door/auth"
	"watchmark/internal/door/documents"
	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/record"
)

// Config is what every page needs. Every field is needed but Demo.
type Config struct {
	// PublicURL is the address people reach the service by, base path included, without a slash at the end.
	PublicURL func(context.Context) string
	// BasePath is where a proxy puts the service, such as "/watchmark"; empty at the root.
	// Requests arrive here without it.
	BasePath string
	// Viewer is who is signed in; the name is empty where sign-in is turned off.
	Viewer func(*http.Request) (viewer auth.Identity, signedIn bool)
	// ToLogin redirects to the sign-in page, which redirects back to the page that was requested.
	ToLogin http.HandlerFunc
	// SubjectURL is the catalog's page of a subject; empty when it has none.
	SubjectURL func(catalog.SubjectID) string
	// Cover is the cover of a subject; errors are those of package cover, or of the disk.
	Cover func(context.Context, catalog.SubjectID) (cover.Image, error)
	// Changes sends the ids of records that change.
	Changes *record.Feed
	// Demo is the login that the sign-in page offers; nil outside of the demo.
	Demo    *DemoLogin
	Version string
	// Stopping is closed when the service stops; live connections end then.
	Stopping <-chan struct{}
	Log      *slog.Logger
}

// DemoLogin is a login that is no secret.
type DemoLogin struct{ Name, Password string }

// site is the handler behind New.
type site struct {
	Config
	doors     []door
	assets    *assets
	texts     catalogue
	templates map[string]func() (*template.Template, error) // by language; parsed when first needed, because most installations use one
	documents map[string]func() (*documents.Library, error) // by language; read when first needed
	installed *installed
	// documentPaths are the paths of all documents.
	documentPaths []string
	// records tells which changes are a person's own, and pageAt the pattern of the page at a path.
	records ownRecords
	pageAt  func(path string) (pattern string)
}

// Pages is the handler of every page, of the static files and of GET /live.
type Pages struct {
	http.Handler
	// Fail answers the page of an error, for who could not be asked who it is.
	Fail func(w http.ResponseWriter, r *http.Request, err error)
	// Stylesheet and Icon are the paths of the style and the icon of all pages, base path included.
	Stylesheet, Icon string
}

// New makes the pages. It fails when a translation or an asset is missing or broken.
func New(c Config, g Groups) (Pages, error) {
	s := &site{Config: c, records: g.Mine.Records}
	s.doors = g.doors()
	var err error
	if s.documentPaths, err = documents.Paths(docs.Files); err != nil {
		return Pages{}, fmt.Errorf("list the documents: %w", err)
	}
	if s.texts, err = loadCatalogue(); err != nil {
		return Pages{}, fmt.Errorf("load translations: %w", err)
	}
	if s.assets, err = loadAssets(s.texts, pages(s.doors), s.documentPaths); err != nil {
		return Pages{}, fmt.Errorf("load assets of the pages: %w", err)
	}
	if s.installed, err = s.loadInstalled(); err != nil {
		return Pages{}, fmt.Errorf("load what an installed app needs: %w", err)
	}
	s.templates, s.documents = map[string]func() (*template.Template, error){}, map[string]func() (*documents.Library, error){}
	for _, lang := range languages {
		s.templates[lang.Tag] = sync.OnceValues(func() (*template.Template, error) { return s.parseTemplates(lang.Tag, pages(s.doors)) })
		s.documents[lang.Tag] = sync.OnceValues(func() (*documents.Library, error) { return s.loadDocuments(lang.Tag) })
	}
	mux := http.NewServeMux()
	s.pageAt = func(path string) string {
		_, pattern := mux.Handler(&http.Request{Method: http.MethodGet, URL: &url.URL{Path: path}})
		return pattern
	}
	mux.HandleFunc("GET "+StaticPrefix+"{file}", s.assets.serve)
	s.handleInstalled(mux)
	mux.HandleFunc("POST /preferences", s.preferences)
	mux.HandleFunc("POST /reasons", s.reasons)
	mux.HandleFunc("GET "+livePath, s.live)
	mux.HandleFunc("GET /cover/{subject}", s.cover)
	mux.HandleFunc("GET "+calendarPath+"/{file}", func(w http.ResponseWriter, r *http.Request) { g.Calendar.file(s, w, r) })
	mux.HandleFunc("GET "+documents.Path+"/pictures/{file}", s.picture)
	mux.HandleFunc("GET "+documents.Path+"/"+string(bilingual.Chinese)+"/pictures/{file}", s.picture)
	mux.HandleFunc(errorPage.pattern(), s.page(errorPage, location{}))
	for _, d := range s.doors {
		for _, p := range d.Pages {
			mux.HandleFunc(p.pattern(), s.page(p, d.locationOf(p)))
		}
	}
	for old := range moved {
		mux.HandleFunc("GET "+old, s.toMoved(old))
		mux.HandleFunc("GET "+old+"/", s.toMoved(old))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(&http.Request{Method: http.MethodGet, Host: r.Host, URL: r.URL}); pattern != "GET /" {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "This is a page: it takes GET alone. What changes something is a call of the API, below /api.", http.StatusMethodNotAllowed)
			return
		}
		// A media server would take a redirect to the sign-in page for success.
		http.Error(w, "There is nothing to send to at this address. The page Webhooks, behind Sources, shows the address of each source.", http.StatusNotFound)
	})
	stylesheet, err := s.assetURL("app.css")
	if err != nil {
		return Pages{}, err
	}
	icon, err := s.assetURL("icon.svg")
	fail := func(w http.ResponseWriter, r *http.Request, err error) { s.fail(w, s.asked(r), err) }
	return Pages{s.admit(mux), fail, stylesheet, icon}, err
}

// request is the request for a page.
type request struct {
	*http.Request
	*site
	words // the texts in the reader's language
	// viewer is who is signed in; its name is empty where sign-in is turned off.
	viewer   auth.Identity
	signedIn bool
}

// content is the content of a page. Its title is Heading, such as the title of a film, or else the text of the key Title;
// empty for that of the list of pages.
type content struct {
	Title   string
	Heading string
	Data    any
	// Doc is its chapter of the documents, where that is another one than for the page.
	Doc string
	// Instead is the address to redirect to; empty to show the page.
	Instead string
}

// frame is the data of the layout around a page.
type frame struct {
	content
	location
	Page     page
	Lang     string
	Theme    string
	Here     string // where a change of the preferences redirects back to, without the base path
	SignedIn bool
	User     string
	// Badges are how many things of a kind wait for a person.
	Badges map[string]int
	// Doors are the menu, as far as the reader may go.
	Doors []door
	// Live is set when the page is told of changes.
	Live bool
	// Wide is set for whom the pages about the service are.
	Wide bool
	// reader is who reads it.
	reader *request
	// Content is the rendered content; empty before.
	Content template.HTML
}

// entry is a door in the menu.
type entry struct {
	door
	// Path is where it leads to.
	Path string
	// Current is "page" on that page, "true" on another one behind the door, otherwise empty.
	Current string
	// Count is how many things behind it wait for a person.
	Count int
}

// Entry is the entry of a door.
func (f frame) Entry(d door) entry {
	e := entry{door: d, Path: d.Pages[0].Path, Count: f.Badges[d.Badge]}
	switch {
	case d.Pages[0].Path == f.Page.Path:
		e.Current = "page"
	case d.Key == f.Door:
		e.Current = "true"
	}
	return e
}

// asked is a request in the language of its reader.
func (s *site) asked(plain *http.Request) *request {
	return &request{Request: plain, site: s, words: s.texts.in(string(bilingual.Asked(plain)))}
}

// requestOf is a request with who sends it.
func (s *site) requestOf(plain *http.Request) *request {
	r := s.asked(plain)
	r.viewer, r.signedIn = s.Viewer(plain)
	return r
}

// page is the handler of a page.
func (s *site) page(p page, at location) http.HandlerFunc {
	return func(w http.ResponseWriter, plain *http.Request) {
		r := s.requestOf(plain)
		if !r.signedIn && !p.open && !p.Document {
			s.ToLogin(w, plain)
			return
		}
		c, err := p.show(r)
		switch {
		case err != nil:
			s.fail(w, r, err)
		case c.Instead != "":
			http.Redirect(w, plain, c.Instead, http.StatusSeeOther)
		default:
			s.write(w, r, http.StatusOK, p, at, c)
		}
	}
}

// write renders the whole page before it sends anything.
func (s *site) write(w http.ResponseWriter, r *request, status int, p page, at location, c content) {
	c.Title = cmp.Or(c.Title, p.Title)
	f := frame{content: c, location: at, Page: p, Lang: r.lang, Theme: themeOf(r.Request), Here: r.URL.RequestURI(), SignedIn: r.signedIn, User: r.viewer.Name, reader: r}
	if f.SignedIn {
		f.Doors = s.doorsFor(r.viewer)
		f.Tabs, f.Up = r.tabs(f.Tabs), r.up(at, f.Doors)
		f.Badges = s.badges(r.Context(), f.Doors)
		f.Live = s.rightTo("GET "+livePath, r.viewer) != access.Nothing
		f.Wide = s.rightTo("GET /settings/about", r.viewer) != access.Nothing
	}
	page, err := s.render(f)
	if err != nil {
		s.Log.ErrorContext(r.Context(), "cannot render a page", "page", p.template, "error", err)
		http.Error(w, "This page could not be made. Look into the log of the service.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	if p.Document {
		h.Set("Cache-Control", "private, no-cache")
		serveTagged(w, r.Request, page.Bytes())
		return
	}
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = page.WriteTo(w) // a reader that went away needs no answer
}

// badges counts what waits for a person behind doors, by kind.
func (s *site) badges(ctx context.Context, doors []door) map[string]int {
	counts := map[string]int{}
	for _, d := range doors {
		if d.count == nil {
			continue
		}
		n, err := d.count(ctx)
		if err != nil && ctx.Err() == nil {
			s.Log.ErrorContext(ctx, "cannot count what waits for a person", "of", d.Badge, "error", err)
		}
		counts[d.Badge] = n
	}
	return counts
}

// Help is the path of the page's chapter of the documents; empty without one.
func (f frame) Help() string {
	if doc := cmp.Or(f.Doc, f.Page.Doc); doc != "" {
		return documents.Path + "/" + doc
	}
	return ""
}

// Scripts are the scripts of this page, without those of all pages.
func (f frame) Scripts() []string {
	names := make([]string, len(f.Page.scripts))
	for i, name := range f.Page.scripts {
		names[i] = name + ".js"
	}
	return names
}

// render renders the content of a frame, and then the layout around it.
func (s *site) render(f frame) (*bytes.Buffer, error) {
	set, err := s.templates[f.Lang]()
	if err != nil {
		return nil, err
	}
	inside, page := new(bytes.Buffer), new(bytes.Buffer)
	if err := set.ExecuteTemplate(inside, "content-"+f.Page.template, f); err != nil {
		return nil, err
	}
	f.Content = template.HTML(inside.String()) //nolint:gosec // it was escaped when it was rendered
	err = set.ExecuteTemplate(page, "layout", f)
	return bytes.NewBuffer(visible(page.Bytes())), err
}

// idOf is the id in the path of a request. It returns errNoPage when that is no number.
func idOf(r *request) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return 0, errNoPage
	}
	return id, nil
}

// fail answers the page of an error. It logs errors of the service, but not that a page does not exist.
func (s *site) fail(w http.ResponseWriter, r *request, err error) {
	switch {
	case reason.Of(err).Class() == reason.NotFound:
		s.write(w, r, http.StatusNotFound, errorPage, location{}, content{Title: "error.not_found", Data: failure{Status: http.StatusNotFound}})
	case r.Context().Err() != nil:
		return
	case errors.Is(err, db.ErrStorage):
		s.Log.ErrorContext(r.Context(), "cannot make a page while the database fails", "path", r.URL.Path, "error", err)
		w.Header().Set("Retry-After", "5")
		s.write(w, r, http.StatusServiceUnavailable, errorPage, location{}, content{Title: "error.storage", Data: failure{http.StatusServiceUnavailable, reason.Of(err)}})
	default:
		s.Log.ErrorContext(r.Context(), "cannot make a page", "path", r.URL.Path, "error", err)
		s.write(w, r, http.StatusInternalServerError, errorPage, location{}, content{Title: "error.failed", Data: failure{Status: http.StatusInternalServerError}})
	}
}

// failure is why a page is not shown.
type failure struct {
	Status int
	// Why is what the database needs, where that is the cause.
	Why reason.Reason
}
