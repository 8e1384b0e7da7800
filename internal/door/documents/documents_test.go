package documents_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/door/documents"
	"watchmark/internal/platform/bilingual"
)

// small is a handful of documents.
var small = fstest.MapFS{
	"README.md":             {Data: []byte("# Documents\n\n## Begin\n\n- [First](first.md): see [Plex](sources/plex.md)\n\n## Sources\n\n- [Plex](sources/plex.md)\n- [API](api.md)\n")},
	"first.md":              {Data: []byte("# First\n\nFor <b>all</b> & <script>alert(1)</script>.\n\n## The proxy\n\nSet `public_url` of the\nservice.\nThen see the\n[other page](sources/plex.md),\nor **this**.\n\n    code <b>\n\n## The proxy\n\nSee [there](sources/plex.md#step-1-webhook), [API](api.md), [here](#the-proxy), https://example.org.\n")},
	"sources/plex.md":       {Data: []byte("# Plex\n\n## Step 1: webhook\n\n[back](../first.md) ![the page](../pictures/a.png) [none](../none.md)\n\n| a | |\n| --- | ---: |\n| Proxy | 2 |\n")},
	"zh-CN/README.md":       {Data: []byte("# 文档\n\n## 入门\n\n- [第一步](first.md)\n- [Plex](sources/plex.md)\n")},
	"zh-CN/first.md":        {Data: []byte("# 第一步\n\n写给所有人。\n\n## 反向代理（nginx）\n\n设置地址，\n离线可用。\n\n## 再看\n\n见 [Plex](sources/plex.md#第-1-步)。\n")},
	"zh-CN/sources/plex.md": {Data: []byte("# Plex\n\n## 第 1 步\n\n![图](../pictures/a.png) 离线时也会标记，离线数据在本机。\n\n| 现象 | 办法 |\n| --- | --- |\n| 没有记录 | 查看来源 |\n")},
}

func load(t *testing.T, language bilingual.Language) *documents.Library {
	t.Helper()
	l, err := documents.Load(small, language, documents.Options{BasePath: "/base", CopyButton: "<button>copy</button>"})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestDocumentsBecomePages(t *testing.T) {
	for name, c := range map[string]struct {
		language bilingual.Language
		path     string
		has, not []string
	}{
		"tags are left out": {bilingual.English, "/docs/first", []string{"&amp;"}, []string{"<b>", "<script", "<h1"}},
		"anchors":           {bilingual.English, "/docs/first", []string{`<h2 id="the-proxy">`, `<h2 id="the-proxy-1">`}, nil},
		"code can be copied": {bilingual.English, "/docs/first",
			[]string{`<div class="copy-block" data-copy><pre tabindex="0"><code>code &lt;b&gt;</code></pre><button>copy</button></div>`}, nil},
		"links": {bilingual.English, "/docs/first",
			[]string{`href="/base/docs/sources/plex#step-1-webhook"`, `href="/base/api/docs"`, `href="#the-proxy"`, `href="https://example.org"`}, []string{".md"}},
		"links from below":    {bilingual.English, "/docs/sources/plex", []string{`href="/base/docs/first"`, `src="/base/docs/pictures/a.png"`, `href="../none.md"`}, nil},
		"tables":              {bilingual.English, "/docs/sources/plex", []string{`<div class="scrolls" tabindex="0"><table>`, "<th>a</th><td></td>", "<td>Proxy</td><td>2</td>", "</table></div>"}, []string{"style="}},
		"both anchors":        {bilingual.Chinese, "/docs/first", []string{`<h2 id="反向代理nginx"><span id="the-proxy"></span>`, `<span id="the-proxy-1">`}, nil},
		"English lines":       {bilingual.English, "/docs/first", []string{"of the\nservice.\nThen see the\n<a href=", "</a>,\nor <strong>"}, nil},
		"Chinese lines":       {bilingual.Chinese, "/docs/first", []string{"设置地址，离线可用。"}, nil},
		"Chinese links":       {bilingual.Chinese, "/docs/first", []string{`href="/base/docs/sources/plex#%E7%AC%AC-1-%E6%AD%A5"`}, nil},
		"pictures in Chinese": {bilingual.Chinese, "/docs/sources/plex", []string{`src="/base/docs/zh-CN/pictures/a.png"`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := load(t, c.language).Document(c.path)
			if d == nil {
				t.Fatal("there is no such document")
			}
			for _, text := range c.has {
				if !strings.Contains(string(d.HTML), text) {
					t.Errorf("the page lacks %s: %s", text, d.HTML)
				}
			}
			for _, text := range c.not {
				if strings.Contains(string(d.HTML), text) {
					t.Errorf("the page has %s: %s", text, d.HTML)
				}
			}
		})
	}
}

func TestContents(t *testing.T) {
	l := load(t, bilingual.English)
	want := []documents.Chapter{
		{Title: "Begin", Pages: []documents.Entry{{Path: "/docs/first", Title: "First"}}},
		{Title: "Sources", Pages: []documents.Entry{{Path: "/docs/sources/plex", Title: "Plex"}, {Path: "/api/docs", Title: "API"}}},
	}
	if diff := cmp.Diff(want, l.Chapters); diff != "" {
		t.Errorf("the contents differ (-want +got):\n%s", diff)
	}
	before, behind := l.Beside("/docs/first")
	if before != nil || behind == nil || behind.Title != "Plex" {
		t.Errorf("beside the first document stand %v and %v", before, behind)
	}
	if before, behind = l.Beside("/docs/sources/plex"); before == nil || before.Title != "First" || behind == nil || behind.Title != "API" {
		t.Errorf("beside the last document stand %v and %v", before, behind)
	}
	if l.Document("/docs/none") != nil {
		t.Error("there is a document that does not exist")
	}
}

func TestSearch(t *testing.T) {
	for name, c := range map[string]struct {
		language bilingual.Language
		query    string
		paths    []string
	}{
		"headings first":           {bilingual.English, "proxy", []string{"/docs/first#the-proxy", "/docs/first#the-proxy-1", "/docs/sources/plex#step-1-webhook"}},
		"capital letters":          {bilingual.English, "PROXY public", []string{"/docs/first#the-proxy"}},
		"every word":               {bilingual.English, "proxy nothing", nil},
		"over two lines":           {bilingual.English, "the service", []string{"/docs/first#the-proxy"}},
		"in code":                  {bilingual.English, "code", []string{"/docs/first#the-proxy"}},
		"the beginning":            {bilingual.English, "alert", []string{"/docs/first"}},
		"two Chinese characters":   {bilingual.Chinese, "离线", []string{"/docs/first#反向代理nginx", "/docs/sources/plex#第-1-步"}},
		"Chinese over two lines":   {bilingual.Chinese, "地址，离线", []string{"/docs/first#反向代理nginx"}},
		"Chinese words":            {bilingual.Chinese, "离线 nginx", []string{"/docs/first#反向代理nginx"}},
		"title and text":           {bilingual.Chinese, "plex 标记", []string{"/docs/sources/plex#第-1-步"}},
		"nothing":                  {bilingual.English, "  ", nil},
		"bytes that are no letter": {bilingual.English, "\xff\xfe", nil},
		"too long":                 {bilingual.English, "proxy" + strings.Repeat(" ", 95) + "nothing", []string{"/docs/first#the-proxy", "/docs/first#the-proxy-1", "/docs/sources/plex#step-1-webhook"}},
	} {
		t.Run(name, func(t *testing.T) {
			var paths []string
			for _, f := range load(t, c.language).Search(c.query) {
				paths = append(paths, f.Path)
			}
			if diff := cmp.Diff(c.paths, paths); diff != "" {
				t.Errorf("found is something else (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSearchMarksHits(t *testing.T) {
	found := load(t, bilingual.Chinese).Search("离线")[1]
	want := []documents.Piece{{Text: "图 "}, {Text: "离线", Hit: true}, {Text: "时也会标记，"}, {Text: "离线", Hit: true}, {Text: "数据在本机。 现象 办法 没有记录 查看来源"}}
	if diff := cmp.Diff(want, found.Snippet); diff != "" || !found.Within {
		t.Errorf("the snippet differs (-want +got):\n%s", diff)
	}
}

func TestSearchIsBounded(t *testing.T) {
	many := fstest.MapFS{
		"README.md": {Data: []byte("# Documents\n")},
		"long.md":   {Data: []byte("# Long\n" + strings.Repeat("\n## Word\n\n"+strings.Repeat("word ", 500)+"\n", 50))},
	}
	l, err := documents.Load(many, bilingual.English, documents.Options{})
	if err != nil {
		t.Fatal(err)
	}
	found := l.Search("word")
	if len(found) != 30 {
		t.Errorf("%d sections found", len(found))
	}
	length := 0
	for _, p := range found[0].Snippet {
		length += len(p.Text)
	}
	if length > 200 {
		t.Errorf("a snippet of %d bytes", length)
	}
}

func FuzzSearch(f *testing.F) {
	for _, query := range []string{"proxy", "离线 plex", "\xff", "İ", "…"} {
		f.Add(query)
	}
	l, err := documents.Load(small, bilingual.Chinese, documents.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, query string) {
		for _, found := range l.Search(query) {
			hit := false
			for _, p := range append(append(found.Title, found.Heading...), found.Snippet...) {
				hit = hit || p.Hit
			}
			if !hit {
				t.Errorf("%q finds %v, which shows no hit", query, found)
			}
		}
	})
}
