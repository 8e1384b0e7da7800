package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"
	"time"
)

//go:embed assets templates locales
var files embed.FS

const staticPrefix = "/static/"

// stylesheets are joined in this order into app.css.
var stylesheets = []string{"tokens", "base", "layout", "components", "pages", "queue", "settings", "dashboard", "mappings", "sources", "debug", "reference"}

// modules are the scripts, each after those it imports. What app.js does not import is of one
// room only, whose template asks for it.
var modules = []string{"words", "ui", "time", "live", "run", "forms", "find", "upload", "correct", "review", "settings", "mappings", "sources", "tracker", "import", "debug", "app"}

// assets are the static files, each under a name with the hash of its content, so that
// browsers may keep them for ever and never show a stale one after an upgrade.
type assets struct {
	names map[string]string // app.css → app-1a2b3c4d5e.css
	files map[string]asset  // by hashed name
	icons map[string]template.HTML
}

// asset is a static file as it is, and packed with gzip. Pages themselves are not packed: they
// hold secrets beside what a request can put into them.
type asset struct{ plain, packed []byte }

// importOf finds the modules that a module imports.
var importOf = regexp.MustCompile(`(from|import) "\./([a-z]+\.js)"`)

func loadAssets() (*assets, error) {
	a := &assets{names: map[string]string{}, files: map[string]asset{}}
	var css bytes.Buffer
	for _, name := range stylesheets {
		text, err := files.ReadFile("assets/css/" + name + ".css")
		if err != nil {
			return nil, err
		}
		css.Write(text)
	}
	if err := a.add("app.css", css.Bytes()); err != nil {
		return nil, err
	}
	for _, name := range modules {
		text, err := files.ReadFile("assets/js/" + name + ".js")
		if err != nil {
			return nil, err
		}
		var missing string
		text = importOf.ReplaceAllFunc(text, func(statement []byte) []byte {
			m := importOf.FindSubmatch(statement)
			hashed, known := a.names[string(m[2])]
			if !known {
				missing = string(m[2])
			}
			return fmt.Appendf(nil, `%s "./%s"`, m[1], hashed)
		})
		if missing != "" {
			return nil, fmt.Errorf("script %s.js imports %s, which is not declared before it", name, missing)
		}
		if err := a.add(name+".js", text); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"icon.svg"} {
		text, err := files.ReadFile("assets/" + name)
		if err != nil {
			return nil, err
		}
		if err := a.add(name, text); err != nil {
			return nil, err
		}
	}
	var err error
	a.icons, err = loadIcons()
	return a, err
}

func (a *assets) add(name string, content []byte) error {
	sum := sha256.Sum256(content)
	ext := path.Ext(name)
	hashed := strings.TrimSuffix(name, ext) + "-" + hex.EncodeToString(sum[:5]) + ext
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write(content)
	if err = errors.Join(err, w.Close()); err != nil {
		return fmt.Errorf("pack %s: %w", name, err)
	}
	a.names[name], a.files[hashed] = hashed, asset{content, packed.Bytes()}
	return nil
}

// contentTypes are set by us: what the machine's own table says may differ.
var contentTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

func (a *assets) serve(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	file, found := a.files[name]
	if !found {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", contentTypes[path.Ext(name)])
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Vary", "Accept-Encoding")
	content := file.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		content = file.packed
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
}

// drawing is what stands between the svg tags of an icon.
var drawing = regexp.MustCompile(`(?s)<svg[^>]*>(.*)</svg>`)

// loadIcons makes every icon ready to stand in a page. Icons are decoration: the words
// beside them say the same, so they are hidden from screen readers.
func loadIcons() (map[string]template.HTML, error) {
	paths, err := fs.Glob(files, "assets/icons/*.svg")
	if err != nil {
		return nil, err
	}
	icons := make(map[string]template.HTML, len(paths))
	for _, p := range paths {
		text, err := files.ReadFile(p)
		if err != nil {
			return nil, err
		}
		m := drawing.FindSubmatch(text)
		if m == nil {
			return nil, fmt.Errorf("%s is not an SVG drawing", p)
		}
		inner := strings.Join(strings.Fields(string(m[1])), " ")
		icons[strings.TrimSuffix(path.Base(p), ".svg")] = template.HTML(`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">` + inner + `</svg>`)
	}
	return icons, nil
}
