package web_test

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"watchmark/internal/platform/reason"
)

const root = "../../.." // of the project, seen from here

var (
	quote     = regexp.MustCompile("`([^`]+)`")
	code      = regexp.MustCompile("(?ms)^[ ]*```.*?^[ ]*```$|`[^`\\n]*`")
	fence     = regexp.MustCompile("(?ms)^[ ]*```.*?^[ ]*```$")
	heading   = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	link      = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	unslugged = regexp.MustCompile(`[^\p{L}\p{N}\s_-]`)
	goFile    = regexp.MustCompile("`([a-z][\\w/.-]*/[\\w/.-]*\\.go)`")
)

// everythingSaid has a line for each text of the pages and each literal of the program.
func everythingSaid(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	put := func(text string) { all.WriteString(strings.ReplaceAll(text, "\n", " ") + "\n") }
	for _, text := range catalogueOf(t, "en") {
		put(text)
	}
	for _, kind := range reason.Kinds() {
		put(kind.Texts().English)
	}
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(gotoken.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if e, is := n.(ast.Expr); is {
				if text, is := textOf(e); is {
					put(text)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// textOf is the text of a literal, of a format, or of a sum with one.
func textOf(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == gotoken.STRING
	case *ast.ParenExpr:
		return textOf(e.X)
	case *ast.CallExpr:
		if f, is := e.Fun.(*ast.SelectorExpr); is && f.Sel.Name == "Sprintf" {
			return textOf(e.Args[0])
		}
	case *ast.BinaryExpr:
		if e.Op != gotoken.ADD {
			return "", false
		}
		left, is := textOf(e.X)
		right, too := textOf(e.Y)
		if !is {
			left = "%s"
		}
		if !too {
			right = "%s"
		}
		return left + right, is || too
	}
	return "", false
}

// TestTroubleshootingQuotes holds what stands as code in the first column of a table of the page against what the
// service says: a text of it must have the pieces between the … of the quote, in their order.
func TestTroubleshootingQuotes(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/troubleshooting.md"))
	if err != nil {
		t.Fatal(err)
	}
	said, quotes := everythingSaid(t), 0
	for line := range strings.Lines(string(page)) {
		row, inTable := strings.CutPrefix(line, "| ")
		first, _, _ := strings.Cut(row, " | ")
		for _, quoted := range quote.FindAllStringSubmatch(first, -1) {
			pattern := strings.ReplaceAll(regexp.QuoteMeta(quoted[1]), "…", ".*")
			if inTable && !regexp.MustCompile(pattern).MatchString(said) {
				t.Errorf("the service does not say %q: quote it as it stands in internal/door/web/locales/en or the sources, with … for what differs", quoted[1])
			}
			quotes++
		}
	}
	if quotes < 100 {
		t.Errorf("%d quotes found: is the page built in another way now?", quotes)
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
	isUnfinished := func(file string) bool {
		name, err := filepath.Rel(filepath.Join(root, "docs"), file)
		return err == nil && slices.Contains(unfinished, strings.TrimPrefix(strings.TrimSuffix(name, ".md"), "zh-CN/"))
	}
	for document, text := range texts {
		if isUnfinished(document) {
			continue
		}
		for _, to := range link.FindAllStringSubmatch(text, -1) {
			name, anchor, anchored := strings.Cut(to[1], "#")
			target := filepath.Join(filepath.Dir(document), name)
			if name == "" {
				target = document
			}
			if strings.Contains(name, ":") || isUnfinished(target) { // of the world
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
