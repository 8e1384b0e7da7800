package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"watchmark/docs"
	"watchmark/internal/door/documents"
	"watchmark/internal/platform/bilingual"
)

// loadDocuments reads the documents of a language, when the first of them is asked for.
func (s *site) loadDocuments(lang string) (*documents.Library, error) {
	set, err := s.templates[lang]()
	if err != nil {
		return nil, err
	}
	var button bytes.Buffer
	if err := set.ExecuteTemplate(&button, "copy-button", nil); err != nil {
		return nil, err
	}
	return documents.Load(docs.Files, bilingual.Language(lang), documents.Options{
		BasePath: s.BasePath, CopyButton: template.HTML(button.String()), //nolint:gosec // a template of ours
	})
}

// documentPage is a document, or what a search in all of them found.
type documentPage struct {
	*documents.Document
	Chapters      []documents.Chapter
	Before, After *documents.Entry
	Query         string
	Found         []documents.Found
	// Other is the language to switch to.
	Other struct{ Tag, Name string }
}

// document is the page of a document.
func document(r *request) (content, error) {
	library, err := r.documents[r.lang]()
	if err != nil {
		return content{}, err
	}
	path := strings.TrimSuffix(r.URL.Path, "/")
	if path == documents.Path+"/api" {
		return content{Instead: r.BasePath + documents.Reference}, nil
	}
	page := documentPage{Document: library.Document(path), Chapters: library.Chapters, Other: languages[0]}
	if page.Document == nil {
		return content{}, errNoPage
	}
	if r.lang == languages[0].Tag {
		page.Other = languages[1]
	}
	page.Before, page.After = library.Beside(path)
	if path != documents.Path {
		return content{Heading: page.Title, Data: page}, nil
	}
	if page.Query = strings.TrimSpace(r.URL.Query().Get("q")); page.Query != "" {
		page.Found = library.Search(page.Query)
	}
	return content{Heading: page.Title, Data: page}, nil
}

// address finds the addresses of documents in a text; what stands before one keeps those of other sites out.
var address = regexp.MustCompile(`(^|[^\w./:-])(/docs(?:/[a-z-]+)+)(#[a-z0-9-]+)?`)

// linked escapes a text, and makes links of the addresses of documents in it.
func (s *site) linked(text string) template.HTML {
	return s.linkedHTML(template.HTML(template.HTMLEscapeString(text))) //nolint:gosec // just escaped
}

// linkedHTML is linked for a text that is HTML already, without attributes.
func (s *site) linkedHTML(text template.HTML) template.HTML {
	if !strings.Contains(string(text), documents.Path+"/") {
		return text
	}
	return template.HTML(address.ReplaceAllStringFunc(string(text), func(found string) string { //nolint:gosec // paths of our own
		part := address.FindStringSubmatch(found)
		if !slices.Contains(s.documentPaths, part[2]) {
			return found
		}
		return fmt.Sprintf(`%s<a href="%s">%s</a>`, part[1], s.BasePath+part[2]+part[3], part[2]+part[3])
	}))
}

// picture answers a picture of the documents.
func (s *site) picture(w http.ResponseWriter, r *http.Request) {
	file, err := docs.Files.ReadFile(strings.TrimPrefix(r.URL.Path, documents.Path+"/"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "image/png")
	w.Header().Set("Cache-Control", "public, no-cache")
	serveTagged(w, r, file)
}

// serveTagged answers a content that browsers keep, and ask for again only to hear whether it changed.
func serveTagged(w http.ResponseWriter, r *http.Request, body []byte) {
	sum := sha256.Sum256(body)
	w.Header().Set("ETag", fmt.Sprintf("%q", hex.EncodeToString(sum[:10])))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}
