package web_test

import (
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"watchmark/docs"
	"watchmark/internal/door/documents"
	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/settings"
	"watchmark/internal/source"
)

var (
	manualHeading = regexp.MustCompile(`(?m)^(#+) +\S.*$`)
	manualBlock   = regexp.MustCompile("(?ms)^[ ]*```(\\w*)\n(.*?)^[ ]*```$")
	variable      = regexp.MustCompile(`WATCHMARK_[A-Z_0-9]+`)
	remark        = regexp.MustCompile(`(^|\s)(#|//|::|rem )\s.*$`)
	address       = regexp.MustCompile(` (?:href|src)="([^"]*)"`)
	anchorID      = regexp.MustCompile(` id="([^"]+)"`)
	codeTag       = regexp.MustCompile(`(?s)<code>.*?</code>`)
)

// manual are the documents by name, English and Chinese.
func manual(t *testing.T) map[string][2]string {
	t.Helper()
	all := map[string][2]string{}
	err := fs.WalkDir(docs.Files, ".", func(file string, _ fs.DirEntry, err error) error {
		name, isDocument := strings.CutSuffix(file, ".md")
		if err != nil || !isDocument {
			return err
		}
		text, err := docs.Files.ReadFile(file)
		name, chinese := strings.CutPrefix(name, string(bilingual.Chinese)+"/")
		pair := all[name]
		if chinese {
			pair[1] = string(text)
		} else {
			pair[0] = string(text)
		}
		all[name] = pair
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestDocumentsAreInBothLanguages holds that each document for users is there in English and Chinese, with the same headings,
// settings and commands.
func TestDocumentsAreInBothLanguages(t *testing.T) {
	keys := map[string]bool{}
	for _, section := range settings.Describe() {
		for _, key := range section.Keys {
			keys[key.Path] = true
		}
	}
	for name, pair := range manual(t) {
		t.Run(name, func(t *testing.T) {
			if pair[0] == "" || pair[1] == "" {
				t.Fatal("it is not there in English or not in Chinese")
			}
			for what, of := range map[string]func(string) []string{
				"headings": func(text string) []string {
					var levels []string
					for _, h := range manualHeading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
						levels = append(levels, h[1])
					}
					return levels
				},
				"settings": func(text string) []string {
					var named []string
					for _, q := range quote.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
						key, _, _ := strings.Cut(q[1], " ")
						if keys[key] {
							named = append(named, key)
						}
					}
					return unique(append(named, variable.FindAllString(text, -1)...))
				},
				"commands": commands,
				"pictures": func(text string) []string { return regexp.MustCompile(`pictures/\w+\.png`).FindAllString(text, -1) },
			} {
				if diff := cmp.Diff(of(pair[0]), of(pair[1])); diff != "" {
					t.Errorf("the Chinese document has other %s (-English +Chinese):\n%s", what, diff)
				}
			}
			if titles := regexp.MustCompile(`(?m)^# `).FindAllString(fence.ReplaceAllString(pair[0], ""), -1); len(titles) != 1 {
				t.Errorf("%d titles", len(titles))
			}
		})
	}
}

func unique(words []string) []string {
	slices.Sort(words)
	return slices.Compact(words)
}

// commands are the lines of all blocks of code but those of texts, without remarks.
func commands(text string) []string {
	var lines []string
	for _, block := range manualBlock.FindAllStringSubmatch(text, -1) {
		if block[1] == "text" { // what is shown to a reader, in the reader's language
			continue
		}
		for line := range strings.Lines(block[2]) {
			if line = strings.TrimSpace(remark.ReplaceAllString(strings.TrimRight(line, "\n"), "")); line != "" {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// TestDocumentsLead follows every link and picture of the documents as the service shows them. They may lead to another document
// of the service, to its API reference, or into the world: who has the program alone can open nothing else.
func TestDocumentsLead(t *testing.T) {
	for _, language := range []bilingual.Language{bilingual.English, bilingual.Chinese} {
		library, err := documents.Load(docs.Files, language, documents.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for name, pair := range manual(t) {
			page := documents.Path
			if name != "README" {
				page += "/" + name
			}
			d := library.Document(page)
			if d == nil {
				t.Errorf("%s: the document %s is not shown", language, name)
				continue
			}
			if text := codeTag.ReplaceAllString(string(d.HTML), ""); strings.Contains(text, "**") || strings.Count(text, "raw HTML omitted") > strings.Count(pair[0], "<!--") {
				t.Errorf("%s: %s has ** that makes nothing bold (a space before or after it helps), or tags, which are left out", language, name)
			}
			for _, found := range address.FindAllStringSubmatch(string(d.HTML), -1) {
				if problem := leads(library, page, found[1]); problem != "" {
					t.Errorf("%s: %s links to %s: %s", language, name, found[1], problem)
				}
			}
		}
		// Who reads from page to page sees all of them.
		var listed []string
		for _, c := range library.Chapters {
			for _, e := range c.Pages {
				listed = append(listed, strings.TrimPrefix(e.Path, documents.Path+"/"))
			}
		}
		for name := range manual(t) {
			if name != "README" && !slices.Contains(listed, name) {
				t.Errorf("%s: the contents lack %s", language, name)
			}
		}
	}
}

// leads says what is wrong with an address on a page of the documents; nothing when it leads somewhere.
func leads(library *documents.Library, from, to string) string {
	if strings.HasPrefix(to, "https://") || strings.HasPrefix(to, "http://") || to == documents.Reference {
		return ""
	}
	if path.Ext(to) == ".png" {
		if _, err := fs.Stat(docs.Files, strings.TrimPrefix(to, documents.Path+"/")); err != nil {
			return "there is no such picture"
		}
		return ""
	}
	page, anchor, anchored := strings.Cut(to, "#")
	if page == "" {
		page = from
	}
	d := library.Document(page)
	if d == nil {
		return "that is no document of the service"
	}
	anchor, err := url.PathUnescape(anchor)
	if err != nil {
		return err.Error()
	}
	ids := []string{d.ID}
	for _, id := range anchorID.FindAllStringSubmatch(string(d.HTML), -1) {
		ids = append(ids, id[1])
	}
	if anchored && !slices.Contains(ids, anchor) {
		return "it has no such heading: " + strings.Join(ids, " ")
	}
	return ""
}

// TestPicturesAreSmall holds the size of the program: its documents are in it.
func TestPicturesAreSmall(t *testing.T) {
	sum := 0
	err := fs.WalkDir(docs.Files, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		sum += int(info.Size())
		if path.Ext(file) == ".png" && info.Size() > 60<<10 {
			t.Errorf("%s has %d bytes: write it as a palette PNG", file, info.Size())
		}
		return nil
	})
	if err != nil || sum > 2<<20 {
		t.Errorf("the documents have %d bytes (%v)", sum, err)
	}
	t.Logf("%d bytes of documents", sum)
}

// textsOf are the texts of pages, settings and reasons, by where they stand.
func textsOf(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, language := range []string{"en", "zh-CN"} {
		for key, text := range catalogueOf(t, language) {
			all[language+" "+key] = text
		}
	}
	for _, kind := range reason.Kinds() {
		all["the reason "+kind.Code()] = kind.Texts().English + " " + kind.Texts().Chinese
	}
	for _, section := range settings.Describe() {
		all["the section "+section.Name] = section.Help + " " + section.HelpZH
		for _, key := range section.Keys {
			all["the setting "+key.Path] = key.Help + " " + key.HelpZH
		}
	}
	for _, adapter := range source.Adapters {
		all["the guide of "+string(adapter.Source)] = documents.Path + "/" + adapter.Guide.Document
	}
	return all
}

// TestTextsNameDocuments holds that each document a text names exists with its heading, in both languages, and that no text names
// a file of the repository, which somebody with the program alone cannot open.
func TestTextsNameDocuments(t *testing.T) {
	chapter, file, count := regexp.MustCompile(`/docs/[a-z][a-z/-]*(?:#[a-z0-9-]+)?`), regexp.MustCompile(`[\w/-]+\.md\b`), 0
	for _, language := range []bilingual.Language{bilingual.English, bilingual.Chinese} {
		library, err := documents.Load(docs.Files, language, documents.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for where, text := range textsOf(t) {
			for _, to := range chapter.FindAllString(text, -1) {
				count++
				if problem := leads(library, "", to); problem != "" {
					t.Errorf("%s: %s names %s: %s", language, where, to, problem)
				}
			}
			if name := file.FindString(text); name != "" {
				t.Errorf("%s names the file %s: name /docs/…", where, name)
			}
		}
	}
	if count < 20 {
		t.Errorf("%d documents are named: are they written in another way now?", count)
	}
}

// TestPagesHaveHelp holds that each page for people who are signed in leads to its chapter of the documents.
func TestPagesHaveHelp(t *testing.T) {
	help := regexp.MustCompile(`<a class="page-help" href="([^"]+)"`)
	libraries := map[bilingual.Language]*documents.Library{}
	for _, language := range []bilingual.Language{bilingual.English, bilingual.Chinese} {
		library, err := documents.Load(docs.Files, language, documents.Options{})
		if err != nil {
			t.Fatal(err)
		}
		libraries[language] = library
	}
	for _, s := range shots(t) {
		if !s.signedIn || strings.HasPrefix(s.path, documents.Path) || s.isError() {
			continue
		}
		found := help.FindStringSubmatch(s.rig.get(t, s.rig.client(t, true), s.path, "en").body)
		if found == nil {
			t.Errorf("%s has no help", s.path)
			continue
		}
		if s.path == "/sources/webhooks?source=custom" && found[1] != "/docs/sources/script" {
			t.Errorf("the help of the script is %s", found[1])
		}
		for language, library := range libraries {
			if problem := leads(library, "", found[1]); problem != "" {
				t.Errorf("%s, %s: help is %s: %s", language, s.path, found[1], problem)
			}
		}
	}
}
