package web_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../../.." // of the project, seen from here

var (
	quote     = regexp.MustCompile("`([^`]+)`")
	spoken    = regexp.MustCompile("“([^”]+)”")
	code      = regexp.MustCompile("(?ms)^[ ]*```.*?^[ ]*```$|`[^`\\n]*`")
	fence     = regexp.MustCompile("(?ms)^[ ]*```.*?^[ ]*```$")
	heading   = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	link      = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	unslugged = regexp.MustCompile(`[^\p{L}\p{N}\s_-]`)
	goFile    = regexp.MustCompile("`([a-z][\\w/.-]*/[\\w/.-]*\\.go)`")
)

// TestTroubleshootingQuotes holds the “words of the page” in the first column of a table of the document against the
// texts of the pages, in either language.
func TestTroubleshootingQuotes(t *testing.T) {
	for language, name := range map[string]string{"en": "docs/troubleshooting.md", "zh-CN": "docs/zh-CN/troubleshooting.md"} {
		page, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		said, quotes := strings.Join(slices.Collect(maps.Values(catalogueOf(t, language))), "\n"), 0
		for line := range strings.Lines(string(page)) {
			row, inTable := strings.CutPrefix(line, "| ")
			first, _, _ := strings.Cut(row, " | ")
			for _, quoted := range spoken.FindAllStringSubmatch(first, -1) {
				if inTable && !strings.Contains(said, quoted[1]) {
					t.Errorf("%s: no page says “%s”", name, quoted[1])
				}
				quotes++
			}
		}
		if quotes < 15 {
			t.Errorf("%s: %d quotes found: is the page built in another way now?", name, quotes)
		}
	}
}

// TestLinksOfDocumentsLead follows every link from a document to a file or heading of the project.
func TestLinksOfDocumentsLead(t *testing.T) {
	texts, anchors := map[string]string{}, map[string]bool{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "docs/*/*/*.md"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			texts[path] = code.ReplaceAllString(string(text), "")
			for _, found := range heading.FindAllStringSubmatch(fence.ReplaceAllString(string(text), ""), -1) {
				anchors[path+"#"+strings.ReplaceAll(strings.ToLower(unslugged.ReplaceAllString(found[1], "")), " ", "-")] = true
			}
		}
	}
	for document, text := range texts {
		for _, to := range link.FindAllStringSubmatch(text, -1) {
			name, anchor, anchored := strings.Cut(to[1], "#")
			target := filepath.Join(filepath.Dir(document), name)
			if name == "" {
				target = document
			}
			if strings.Contains(name, ":") { // of the world
				continue
			}
			if _, err := os.Stat(target); err != nil || anchored && !anchors[target+"#"+anchor] {
				t.Errorf("%s: the link to %s leads nowhere", document, to[1])
			}
		}
	}
}

// TestFilesOfTheDesignExist holds the files that the documents for builders name, seen from internal or from the root,
// against the files that are there.
func TestFilesOfTheDesignExist(t *testing.T) {
	named := 0
	for _, pattern := range []string{"CONTRIBUTING.md", "docs/architecture.md", "docs/design/*.md", "docs/decisions/*.md"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range goFile.FindAllStringSubmatch(string(text), -1) {
				named++
				if strings.Contains(file[1], "NAME") { // a file that somebody will add
					continue
				}
				_, inside := os.Stat(filepath.Join(root, "internal", file[1]))
				if _, outside := os.Stat(filepath.Join(root, file[1])); inside != nil && outside != nil {
					t.Errorf("%s names the file %s, which does not exist", path, file[1])
				}
			}
		}
	}
	if named < 80 {
		t.Errorf("%d files found: are they written in another way now?", named)
	}
}
