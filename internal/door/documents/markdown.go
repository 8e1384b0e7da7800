package documents

import (
	"html/template"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"watchmark/internal/platform/bilingual"
)

// markdown reads documents and writes them as HTML: Markdown as GitHub reads it, as far as documents use it. Lines of Chinese are joined
// without a space.
func markdown(copyButton template.HTML, language bilingual.Language) goldmark.Markdown {
	extensions := []goldmark.Extender{extension.Table, extension.Linkify}
	if language == bilingual.Chinese { // in English the space after a full stop, and before a link, would go
		extensions = append(extensions, extension.NewCJK(extension.WithEastAsianLineBreaks(extension.EastAsianLineBreaksCSS3Draft)))
	}
	return goldmark.New(
		goldmark.WithExtensions(extensions...),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(blocks{string(copyButton)}, 100))),
	)
}

// blocks writes what our pages write in another way: code that can be copied, tables that can be scrolled.
type blocks struct{ copyButton string }

// RegisterFuncs is asked for by goldmark.
func (b blocks) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindCodeBlock, b.code)
	r.Register(ast.KindFencedCodeBlock, b.code)
	r.Register(tables.KindTable, func(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
		tag := "</table></div>\n"
		if entering {
			tag = "<div class=\"scrolls\" tabindex=\"0\"><table>\n"
		}
		_, err := w.WriteString(tag)
		return ast.WalkContinue, err
	})
	r.Register(tables.KindTableCell, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		tag := "td" // an empty cell heads nothing
		if n.Parent().Kind() == tables.KindTableHeader && n.HasChildren() {
			tag = "th"
		}
		if !entering {
			tag = "/" + tag
		}
		_, err := w.WriteString("<" + tag + ">")
		return ast.WalkContinue, err
	})
}

func (b blocks) code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	code := template.HTMLEscapeString(strings.TrimRight(string(n.Lines().Value(source)), "\n"))
	_, err := w.WriteString(`<div class="copy-block" data-copy><pre tabindex="0"><code>` + code + `</code></pre>` + b.copyButton + "</div>\n")
	return ast.WalkSkipChildren, err
}

// parsed is a document that was read.
type parsed struct {
	name     string // without ".md"
	file     string
	language bilingual.Language
	source   []byte
	root     ast.Node
	headings []heading
}

type heading struct {
	Heading
	node *ast.Heading
}

// parse reads a document and gives its headings their anchors.
func parse(files fs.FS, name string, language bilingual.Language) (*parsed, error) {
	file := fileOf(name, language)
	source, err := fs.ReadFile(files, file)
	if err != nil {
		return nil, err
	}
	d := &parsed{name: name, file: file, language: language, source: source, root: markdown("", language).Parser().Parse(text.NewReader(source))}
	taken := map[string]int{}
	d.each(func(n ast.Node) {
		node, is := n.(*ast.Heading)
		if !is {
			return
		}
		said := d.text(node)
		id := slug(said)
		taken[id]++
		if before := taken[id] - 1; before > 0 {
			id += "-" + strconv.Itoa(before)
		}
		node.SetAttributeString("id", []byte(id))
		d.headings = append(d.headings, heading{Heading{node.Level, said, id}, node})
	})
	return d, nil
}

// anchor gives each heading the anchor of the heading at its place in another document, too.
func (d *parsed) anchor(other *parsed) {
	taken := map[string]bool{}
	for _, h := range d.headings {
		taken[h.ID] = true
	}
	for i, h := range d.headings {
		if i >= len(other.headings) || taken[other.headings[i].ID] {
			continue
		}
		place := ast.NewString([]byte(`<span id="` + other.headings[i].ID + `"></span>`)) // a slug needs no escaping
		place.SetCode(true)                                                               // written as it is
		h.node.InsertBefore(h.node, h.node.FirstChild(), place)
	}
}

// each calls f for every node, parents first.
func (d *parsed) each(f func(ast.Node)) {
	_ = ast.Walk(d.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // fails when the function does
		if entering {
			f(n)
		}
		return ast.WalkContinue, nil
	})
}

var unslugged = regexp.MustCompile(`[^\p{L}\p{M}\p{N}\p{Pc} -]`)

// slug is the anchor that GitHub gives a heading.
func slug(heading string) string {
	return strings.ReplaceAll(strings.ToLower(unslugged.ReplaceAllString(heading, "")), " ", "-")
}

// text is what a node says, in one line.
func (d *parsed) text(n ast.Node) string {
	var out strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // fails when the function does
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				out.Write(n.Segment.Value(d.source))
				if n.SoftLineBreak() || n.HardLineBreak() {
					out.WriteByte('\n')
				}
			}
		case *ast.AutoLink:
			if entering {
				out.Write(n.Label(d.source))
			}
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			if entering {
				out.Write(n.Lines().Value(d.source))
			}
		default:
			if !entering && n.Type() == ast.TypeBlock {
				out.WriteString("\n\n")
			}
		}
		return ast.WalkContinue, nil
	})
	return oneLine(out.String())
}

// firstWide is the first of the characters that stand without spaces between them, Chinese ones and their punctuation.
const firstWide = '\u2e80'

// oneLine puts a space for what parts the lines of a text, but none between two Chinese characters, unless an empty line
// stands between them.
func oneLine(text string) string {
	var out strings.Builder
	apart := false
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(line), " ")
		if line == "" {
			apart = true
			continue
		}
		before, _ := utf8.DecodeLastRuneInString(out.String())
		next, _ := utf8.DecodeRuneInString(line)
		if out.Len() > 0 && (apart || before < firstWide || next < firstWide) {
			out.WriteByte(' ')
		}
		apart = false
		out.WriteString(line)
	}
	return out.String()
}
