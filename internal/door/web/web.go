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
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/cover"
	"watchmark/internal/door/auth"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/summary"
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
	// ToLogin leads to the sign-in page, and from there back to the page asked for.
	ToLogin http.HandlerFunc
	// SubjectURL is the catalog's page of a subject; empty when it has none.
	SubjectURL func(catalog.SubjectID) string
	// Cover is the cover of a subject; errors are those of package cover, or of the disk.
	Cover func(context.Context, catalog.SubjectID) (cover.Image, error)
	// Changes tells which records change.
	Changes *record.Feed
	// Demo is the login that the sign-in page offers; nil outside of the demo.
	Demo    *DemoLogin
	Version string
	// Stopping is closed when the service stops; live connections end then.
	Stopping <-chan struct{}
	Log      *slog.Logger
}

// DemoLogin is a login that everybody may know.
type DemoLogin struct{ Name, Password string }

// site is the handler behind New.
type site struct {
	Config
	menu      []section
	assets    *assets
	texts     catalogue
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
func New(c Config, g Groups) (Pages, error) {
	s := &site{Config: c}
	sections := g.sections()
	s.menu = menu(sections)
	var err error
	if s.texts, err = loadCatalogue(); err != nil {
		return Pages{}, fmt.Errorf("load translations: %w", err)
	}
	if s.assets, err = loadAssets(s.texts, pages(sections)); err != nil {
		return Pages{}, fmt.Errorf("load assets of the pages: %w", err)
	}
	s.phrases, s.templates = map[string]*phrases{}, map[string]func() (*template.Template, error){}
	for _, lang := range languages {
		s.templates[lang.Tag] = sync.OnceValues(func() (*template.Template, error) { return s.parseTemplates(lang.Tag, pages(sections)) })
		if s.phrases[lang.Tag], err = loadPhrases(s.texts, lang.Tag); err != nil {
			return Pages{}, fmt.Errorf("load translations: %w", err)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+StaticPrefix+"{file}", s.assets.serve)
	mux.HandleFunc("POST /preferences", s.preferences)
	mux.HandleFunc("POST /reasons", s.reasons)
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

// request is what the reader of a page asks for.
type request struct {
	*http.Request
	*site
	words // in the reader's language
	// viewer is who is signed in; its name is empty where sign-in is turned off.
	viewer   auth.Identity
	signedIn bool
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
	return func(w http.ResponseWriter, plain *http.Request) {
		r := &request{Request: plain, site: s, words: s.texts.in(s.language(plain))}
		if r.viewer, r.signedIn = s.Viewer(plain); !r.signedIn && !p.open {
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
			s.write(w, r, http.StatusOK, p, c)
		}
	}
}

// write renders a page whole before it sends anything.
func (s *site) write(w http.ResponseWriter, r *request, status int, p page, c content) {
	f := frame{content: c, Page: p, Path: r.URL.Path, Lang: r.lang, Theme: themeOf(r.Request), Here: r.URL.RequestURI(), SignedIn: r.signedIn, User: r.viewer.Name}
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
func idOf(r *request) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return 0, errNoPage
	}
	return id, nil
}

// fail answers the page that says what went wrong; only failures of the service are logged.
func (s *site) fail(w http.ResponseWriter, r *request, err error) {
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
