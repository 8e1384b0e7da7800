package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"time"

	"watchmark/internal/platform/bilingual"
)

// What a browser asks for that installs the pages as an app, or that notifies (assets/app). Nothing of it needs a sign-in, and nothing of it
// tells of anybody.
const (
	manifestPath = "/manifest.webmanifest"
	workerPath   = "/worker.js"
	offlinePath  = "/offline"
)

// appIcons are pictures of assets/app: the icon of the service, with room around it for systems that cut a shape out, and its outline for the bar of
// a phone.
var appIcons = []string{"icon-192.png", "icon-512.png", "icon-full-180.png", "icon-full-512.png", "badge.png"}

// frameColour is that of the window of an app before its first page, as --bg of tokens.css where it is light.
const frameColour = "#f8f8fb"

// manifest is a web app manifest.
type manifest struct {
	ID         string         `json:"id"`
	Name       string         `json:"name"`
	ShortName  string         `json:"short_name"`
	StartURL   string         `json:"start_url"`
	Scope      string         `json:"scope"`
	Display    string         `json:"display"`
	Theme      string         `json:"theme_color"`
	Background string         `json:"background_color"`
	Icons      []manifestIcon `json:"icons"`
}

type manifestIcon struct {
	Source  string `json:"src"`
	Sizes   string `json:"sizes"`
	Type    string `json:"type"`
	Purpose string `json:"purpose"`
}

// installed is what there is for an installed app.
type installed struct {
	manifest []byte
	worker   []byte
	// version is that of the worker and of the page it keeps.
	version       string
	style, script []byte
}

func (s *site) loadInstalled() (*installed, error) {
	in := &installed{}
	for name, into := range map[string]*[]byte{"worker.js": &in.worker, "offline.css": &in.style, "offline.js": &in.script} {
		text, err := files.ReadFile("assets/app/" + name)
		if err != nil {
			return nil, err
		}
		*into = text
	}
	for _, name := range appIcons {
		in.worker = bytes.ReplaceAll(in.worker, []byte(`"`+name+`"`), []byte(`"`+strings.TrimPrefix(StaticPrefix, "/")+s.assets.names[name]+`"`))
	}
	page, err := files.ReadFile("templates/offline.html")
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(bytes.Join([][]byte{in.worker, in.style, in.script, page, []byte(s.Version)}, nil))
	in.version = hex.EncodeToString(sum[:5])
	icon := func(name, sizes, purpose string) manifestIcon {
		return manifestIcon{s.BasePath + StaticPrefix + s.assets.names[name], sizes, "image/png", purpose}
	}
	in.manifest, err = json.Marshal(manifest{
		ID: s.BasePath + "/", Name: "Watchmark", ShortName: "Watchmark", StartURL: s.BasePath + "/", Scope: s.BasePath + "/", Display: "standalone",
		Theme: frameColour, Background: frameColour,
		Icons: []manifestIcon{icon("icon-192.png", "192x192", "any"), icon("icon-512.png", "512x512", "any"), icon("icon-full-512.png", "512x512", "maskable")},
	})
	return in, err
}

// handleInstalled adds what an installed app asks for.
func (s *site) handleInstalled(mux *http.ServeMux) {
	serve := func(pattern, contentType string, content []byte) {
		mux.HandleFunc("GET "+pattern, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.Header().Set("Cache-Control", "no-cache")
			serveTagged(w, r, content)
		})
	}
	serve(manifestPath, "application/manifest+json", s.installed.manifest)
	serve(workerPath, contentTypes[".js"], s.installed.worker)
	mux.HandleFunc("GET "+offlinePath, s.offline)
}

// offline is the page that the worker keeps, for when the service cannot be reached. All of it is in one file, and it holds nothing of whoever
// reads it but the language, which the address of the worker names.
func (s *site) offline(w http.ResponseWriter, r *http.Request) {
	lang := string(bilingual.Asked(r))
	if asked := r.URL.Query().Get("lang"); s.templates[asked] != nil {
		lang = asked
	}
	set, err := s.templates[lang]()
	var page bytes.Buffer
	if err == nil {
		err = set.ExecuteTemplate(&page, "offline", struct {
			Lang   string
			Style  template.CSS
			Script template.JS
		}{lang, template.CSS(s.installed.style), template.JS(s.installed.script)}) //nolint:gosec // files of our own
	}
	if err != nil {
		s.fail(w, s.asked(r), err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Security-Policy", strings.Join([]string{
		"default-src 'none'", "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
		"style-src " + sourceOf(s.installed.style), "script-src " + sourceOf(s.installed.script),
	}, "; "))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(page.Bytes()))
}

// sourceOf is how a policy names the content of a style or script in a page.
func sourceOf(content []byte) string {
	sum := sha256.Sum256(content)
	return fmt.Sprintf("'sha256-%s'", base64.StdEncoding.EncodeToString(sum[:]))
}

// worker is the address of the worker for the pages of a language.
func (s *site) worker(lang string) string {
	return s.BasePath + workerPath + "?v=" + s.installed.version + "&lang=" + lang
}
