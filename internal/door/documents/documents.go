// Package documents makes pages of the documents for users, in both languages, and searches them.
//
// It promises: what a document holds becomes HTML without scripts and without tags of its own; a heading has the anchor
// that GitHub gives it, and in Chinese the anchor of the same heading in English, too; a link from a document to another
// one leads to its page.
package documents

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"image/png"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"

	"watchmark/internal/platform/bilingual"
)

// Path is the path of the contents of the documents. The page of the document sources/plex.md is sources/plex below it.
const Path = "/docs"

// contents is the name of the document that lists the others; its page is Path.
const contents = "README"

// reference is the name of the document that is not served: the pages of the API hold the same.
const reference = "api"

// Reference is the path of the pages of the API, which are another part of the service.
const Reference = "/api/docs"

// Document is a document in one language.
type Document struct {
	// Path is its path without the base path, such as "/docs/sources/plex".
	Path      string
	Title, ID string
	// HTML is all of it but the title.
	HTML template.HTML
	// Headings are those of the second and third level.
	Headings []Heading
}

// Several reports whether there are headings enough for a list of them.
func (d *Document) Several() bool { return len(d.Headings) > 2 }

// Heading is a heading of a document.
type Heading struct {
	Level    int
	Text, ID string
}

// Chapter is a group of documents in the contents.
type Chapter struct {
	Title string
	Pages []Entry
}

// Entry is a document in the contents.
type Entry struct{ Path, Title string }

// Library holds the documents of one language.
type Library struct {
	Chapters []Chapter
	byPath   map[string]*Document
	sections []section
}

// Options say how documents become pages.
type Options struct {
	// BasePath is the base path of the service.
	BasePath string
	// CopyButton stands behind each block of code.
	CopyButton template.HTML
}

// Load reads the documents of a language.
func Load(files fs.FS, language bilingual.Language, o Options) (*Library, error) {
	l := &Library{byPath: map[string]*Document{}}
	names, err := namesOf(files)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		d, err := parse(files, name, language)
		if err != nil {
			return nil, err
		}
		if language != bilingual.English {
			english, err := parse(files, name, bilingual.English)
			if err != nil {
				return nil, err
			}
			d.anchor(english)
		}
		if name == contents {
			l.Chapters = d.chapters()
		}
		d.lead(files, o.BasePath)
		sections := d.sections()
		page, err := d.render(o)
		if err != nil {
			return nil, err
		}
		l.byPath[page.Path] = page
		if name != contents { // a list of the others, which are found themselves
			l.sections = append(l.sections, sections...)
		}
	}
	place := map[string]int{}
	for i, e := range l.entries() {
		place[e.Path] = i
	}
	slices.SortStableFunc(l.sections, func(a, b section) int { return cmp.Compare(place[a.page], place[b.page]) })
	return l, nil
}

// entries are all documents in the order of the contents, which are the first.
func (l *Library) entries() []Entry {
	entries := []Entry{{Path: Path}}
	for _, c := range l.Chapters {
		entries = append(entries, c.Pages...)
	}
	return entries
}

// Document is the document of a path; nil without one.
func (l *Library) Document(path string) *Document { return l.byPath[path] }

// Beside returns the documents before and behind that of a path, in the order of the contents; nil where there is none.
func (l *Library) Beside(path string) (before, behind *Entry) {
	entries := l.entries()
	for i, e := range entries {
		if e.Path != path {
			continue
		}
		if i > 1 {
			before = &entries[i-1]
		}
		if i+1 < len(entries) {
			behind = &entries[i+1]
		}
	}
	return before, behind
}

// namesOf returns the names of all documents in English, without ".md".
func namesOf(files fs.FS) ([]string, error) {
	var names []string
	err := fs.WalkDir(files, ".", func(file string, entry fs.DirEntry, err error) error {
		name, isDocument := strings.CutSuffix(file, ".md")
		switch {
		case err != nil:
			return err
		case file == string(bilingual.Chinese):
			return fs.SkipDir
		case isDocument:
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

// Paths returns the paths of all documents, without the base path.
func Paths(files fs.FS) ([]string, error) {
	names, err := namesOf(files)
	for i, name := range names {
		names[i] = pathOf(name)
	}
	return names, err
}

// fileOf is the file of a document.
func fileOf(name string, language bilingual.Language) string {
	if language == bilingual.English {
		return name + ".md"
	}
	return string(language) + "/" + name + ".md"
}

// pathOf is the path of the page of a document.
func pathOf(name string) string {
	if name == contents {
		return Path
	}
	return Path + "/" + name
}

// lead makes the links and pictures of a document lead to pages of the service.
func (d *parsed) lead(files fs.FS, base string) {
	d.each(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Link:
			n.Destination = []byte(d.address(string(n.Destination), files, base))
		case *ast.Image:
			file := path.Join(path.Dir(d.file), string(n.Destination))
			n.Destination = []byte(base + Path + "/" + file)
			n.SetAttributeString("loading", []byte("lazy"))
			if picture, err := fs.ReadFile(files, file); err == nil {
				if size, err := png.DecodeConfig(bytes.NewReader(picture)); err == nil {
					n.SetAttributeString("width", []byte(strconv.Itoa(size.Width)))
					n.SetAttributeString("height", []byte(strconv.Itoa(size.Height)))
				}
			}
		}
	})
}

// address is where a link of the document leads on the pages. What is no document of the service stays as it is.
func (d *parsed) address(to string, files fs.FS, base string) string {
	file, anchor, anchored := strings.Cut(to, "#")
	if file == "" || strings.Contains(file, ":") {
		return to
	}
	if anchored {
		anchor = "#" + anchor
	}
	file = strings.TrimPrefix(path.Join(path.Dir(d.file), file), string(bilingual.Chinese)+"/")
	name, isDocument := strings.CutSuffix(file, ".md")
	if name == reference {
		return base + Reference
	}
	if _, err := fs.Stat(files, file); err != nil || !isDocument {
		return to
	}
	return base + pathOf(name) + anchor
}

// chapters reads the contents: each heading is a chapter, and the first link of each line below it a document.
func (d *parsed) chapters() []Chapter {
	var chapters []Chapter
	seen := map[ast.Node]bool{}
	d.each(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Heading:
			if n.Level == 2 {
				chapters = append(chapters, Chapter{Title: d.text(n)})
			}
		case *ast.Link:
			name, isDocument := strings.CutSuffix(string(n.Destination), ".md")
			if last := len(chapters) - 1; isDocument && last >= 0 && !seen[n.Parent()] {
				entry := Entry{pathOf(name), d.text(n)}
				if path.Base(name) == reference {
					entry.Path = Reference
				}
				chapters[last].Pages = append(chapters[last].Pages, entry)
			}
			seen[n.Parent()] = true
		}
	})
	return chapters
}

// render makes the page of a document.
func (d *parsed) render(o Options) (*Document, error) {
	page := &Document{Path: pathOf(d.name)}
	for _, h := range d.headings {
		if h.Level == 1 {
			page.Title, page.ID = h.Text, h.ID
			h.node.Parent().RemoveChild(h.node.Parent(), h.node)
		} else if h.Level <= 3 {
			page.Headings = append(page.Headings, h.Heading)
		}
	}
	if page.Title == "" {
		return nil, fmt.Errorf("the document %s has no title", d.file)
	}
	var out bytes.Buffer
	if err := markdown(o.CopyButton, d.language).Renderer().Render(&out, d.source, d.root); err != nil {
		return nil, fmt.Errorf("render the document %s: %w", d.file, err)
	}
	page.HTML = template.HTML(out.String()) //nolint:gosec // our own documents; tags in them are left out
	return page, nil
}
