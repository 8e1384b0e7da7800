package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

//go:embed assets templates locales
var files embed.FS

// StaticPrefix is the path below which static files are served; they need no sign-in.
const StaticPrefix = "/static/"

// assets are the static files. Their names hold the hash of their content: browsers may keep a file for ever, and
// load another one after an upgrade.
type assets struct {
	names map[string]string // app.css → app-1a2b3c4d5e.css
	files map[string]asset  // by hashed name
	icons map[string]template.HTML
	logo  template.HTML
}

// asset is a static file, plain and compressed with gzip. Pages are not compressed: they hold secrets beside text of
// the request, and their compressed size would tell whether the two are equal.
type asset struct{ plain, packed []byte }

func loadAssets(words catalogue, pages []page, documentPaths []string) (*assets, error) {
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
	app, err := joinScripts()
	if err != nil {
		return nil, err
	}
	if err := a.add("app.js", app); err != nil {
		return nil, err
	}
	for _, name := range scriptsOf(pages) {
		text, err := files.ReadFile("assets/js/" + name + ".js")
		if err != nil {
			return nil, err
		}
		text = importLine.ReplaceAll(text, []byte(`import $1 from "./`+a.names["app.js"]+`";`))
		if err := a.add(name+".js", text); err != nil {
			return nil, err
		}
	}
	for _, lang := range languages {
		text, err := scriptWords(words[lang.Tag], documentPaths)
		if err != nil {
			return nil, err
		}
		if err := a.add("words-"+lang.Tag+".js", text); err != nil {
			return nil, err
		}
	}
	for _, name := range appIcons {
		picture, err := files.ReadFile("assets/app/" + name)
		if err != nil {
			return nil, err
		}
		if err := a.add(name, picture); err != nil {
			return nil, err
		}
	}
	icon, err := files.ReadFile("assets/icon.svg")
	if err != nil {
		return nil, err
	}
	if err := a.add("icon.svg", icon); err != nil {
		return nil, err
	}
	a.logo = template.HTML(strings.Replace(string(icon), "<svg ", `<svg class="logo" aria-hidden="true" `, 1)) //nolint:gosec // a drawing of our own
	a.icons, err = loadIcons()
	return a, err
}

// scriptsOf returns the scripts of single pages, each once.
func scriptsOf(pages []page) []string {
	var all []string
	for _, p := range pages {
		all = append(all, p.scripts...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// The forms of import and export that the scripts use. joinScripts refuses any other.
var (
	importLine = regexp.MustCompile(`(?m)^import (?:(\{.*\}) from )?"\./([a-z]+)\.js";$`)
	exportLine = regexp.MustCompile(`(?m)^export ((?:async )?function (\w+))`)
	otherForm  = regexp.MustCompile(`(?m)^(?:import|export)\b.*`)
)

// joinScripts makes one module of the scripts of all pages. Each script becomes a function that is called at once, so
// that its names are private. What it exports is visible to the scripts after it, and exported by the module.
func joinScripts() ([]byte, error) {
	var joined bytes.Buffer
	for i, name := range scripts {
		text, err := files.ReadFile("assets/js/" + name + ".js")
		if err != nil {
			return nil, err
		}
		var exports []string
		for _, m := range exportLine.FindAllSubmatch(text, -1) {
			exports = append(exports, string(m[2]))
		}
		text = exportLine.ReplaceAll(text, []byte("$1"))
		text = importLine.ReplaceAllFunc(text, func(line []byte) []byte {
			if slices.Contains(scripts[:i], string(importLine.FindSubmatch(line)[2])) {
				return nil
			}
			return line
		})
		if line := otherForm.Find(text); line != nil {
			return nil, fmt.Errorf("script %s.js cannot be joined because of %q: import what is declared before it, export functions", name, line)
		}
		if len(exports) > 0 {
			fmt.Fprintf(&joined, "export const { %s } = ", strings.Join(exports, ", "))
		}
		fmt.Fprintf(&joined, "(() => {\n%s\nreturn { %s };\n})();\n", text, strings.Join(exports, ", "))
	}
	return joined.Bytes(), nil
}

// scriptWords is a script that holds the texts of the other scripts, whose keys begin with "script.". Browsers cache
// it, so pages do not repeat these texts. The paths of the documents are beside them: texts that name one become links.
func scriptWords(texts map[string]string, documentPaths []string) ([]byte, error) {
	words := map[string]string{}
	for key, text := range texts {
		if name, ours := strings.CutPrefix(key, "script."); ours {
			words[name] = text
		}
	}
	text, err := json.Marshal(words)
	return fmt.Appendf(nil, "globalThis.words = %s;\nglobalThis.documents = %q;\n", text, strings.Join(documentPaths, " ")), err
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

// contentTypes are set here because the table of the machine may differ.
var contentTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
	".png": "image/png",
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

// drawing is the content of the svg element of an icon.
var drawing = regexp.MustCompile(`(?s)<svg[^>]*>(.*)</svg>`)

// loadIcons reads the icons. They are decoration: a text beside each says the same, so they are hidden from screen
// readers.
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
		icon := `<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">` + inner + `</svg>`
		icons[strings.TrimSuffix(path.Base(p), ".svg")] = template.HTML(icon) //nolint:gosec // drawings of our own
	}
	return icons, nil
}
