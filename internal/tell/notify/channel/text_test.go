package channel_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"watchmark/internal/tell/notify/channel"
)

func TestExpandIsASinglePass(t *testing.T) {
	values := map[string]string{"title": "{error}", "error": "boom", "s2": "two", "text": "葬送的 芙莉莲"}
	for template, want := range map[string]string{
		"{title}: {error}":            "{error}: boom",
		"{unknown}!":                  "!",
		"{s2} { title } {Title} {} {": "two { title } {Title} {} {",
		"{{title}}":                   "{{error}}",
		"":                            "",
		"{text:7} {text:6}, {text:5}": "葬送的 芙莉莲 葬送的 芙…, 葬送的…",
		"{text:1}{text:0}{text:x}":    "…{text:0}{text:x}",
	} {
		if got := channel.Expand(template, func(name string) string { return values[name] }); got != want {
			t.Errorf("%q became %q, not %q", template, got, want)
		}
	}
}

func TestCutIsByBytesAtWholeCharacters(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "…"}, {"abcde", 4, "a…"}, {"芙莉莲", 9, "芙莉莲"}, {"芙莉莲", 8, "芙…"}, {"芙莉莲", 6, "芙…"}, {"芙莉莲", 5, "…"}, {"芙莉莲", 2, ""},
		{"ab cdef", 6, "ab…"}, {"", 0, ""},
	} {
		if got := channel.Cut(c.text, c.limit); got != c.want {
			t.Errorf("%q in %d bytes is %q, not %q", c.text, c.limit, got, c.want)
		}
	}
}

func TestMarkdownFromOutsideMeansNothing(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"mention of WeCom":     {"<@userid> hi", "＜＠userid＞ hi"},
		"mention of everybody": {"@all", "＠all"},
		"link":                 {"[bank](https://x.example)", "［bank］(https://x.example)"},
		"link by reference":    {"[a]: https://x.example", "［a］: https://x.example"},
		"picture":              {"![p](https://x.example/p.png)", "!［p］(https://x.example/p.png)"},
		"colour":               {`<font color="warning">red</font>`, `＜font color="warning"＞red＜/font＞`},
		"entity":               {"&lt;font&#62; R&B a & b", "＆lt;font＆#62; R＆B a & b"},
		"heading":              {"# Big\n  ### small\nC# is #1", "＃ Big\n＃＃＃ small\nC# is #1"},
		"heading by a line":    {"Title\n---\n===\nx-y", "Title\n－－－\n＝＝＝\nx-y"},
		"quote":                {"> said", "＞ said"},
		"emphasis":             {"**b** *i* __u__ snake_case _x_", "＊＊b＊＊ ＊i＊ ＿＿u＿＿ snake_case ＿x＿"},
		"code":                 {"`c`\n```\n    indented", "｀c｀\n｀｀｀\nindented"},
		"struck out":           {"~~x~~", "～～x～～"},
		"number that counts":   {"86. Eighty Six", "86． Eighty Six"},
		"escapes":              {`\[x\]`, `＼［x＼］`},
		"table":                {"a | b", "a ｜ b"},
		"title as it is":       {"Re:ゼロ (2nd season) - 12.5 «x» 100%", "Re:ゼロ (2nd season) - 12.5 «x» 100%"},
	} {
		if got := channel.EscapeMarkdown(c.text); got != c.want {
			t.Errorf("%s: %q became %q, not %q", name, c.text, got, c.want)
		}
	}
}

var meaningful = regexp.MustCompile("(?m)[<>\\[\\]@*`~|\\\\]|^[ ]*#|^[ ]*(=+|-+)[ ]*$|&[A-Za-z#]|^[ ]*[0-9]+\\.( |$)")

func FuzzEscapeMarkdown(f *testing.F) {
	for _, s := range []string{"<@userid>", "@all", "[x](y)", `<font color="info">`, "# a\n---\n", "&lt;&&lt;", "__a__b_", "  - =\n + -", " 1. \n1.2", "\x00\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "")
		got := channel.EscapeMarkdown(text)
		if found := meaningful.FindString(got); found != "" {
			t.Errorf("%q became %q, in which %q means something", text, got, found)
		}
		if !utf8.ValidString(got) || channel.EscapeMarkdown(got) != got {
			t.Errorf("%q became %q, and then %q", text, got, channel.EscapeMarkdown(got))
		}
	})
}

func FuzzCut(f *testing.F) {
	f.Add("芙莉莲", 5)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if limit < 0 || !utf8.ValidString(text) {
			t.Skip()
		}
		if got := channel.Cut(text, limit); len(got) > limit || !utf8.ValidString(got) {
			t.Errorf("%q in %d bytes is %q", text, limit, got)
		}
	})
}

// A value changes neither the structure of a template nor another value.
func FuzzTemplate(f *testing.F) {
	f.Add(`{"a":"{title}","b":["{text} {error}",1,null],"{title}":true}`, `"}],{title}`, "{error}")
	f.Fuzz(func(t *testing.T, text, title, message string) {
		template, err := channel.ParseTemplate(text)
		if err != nil {
			t.Skip()
		}
		fill := func(m channel.Message) (out any) {
			channel.RenderTo(template, m, func(filled any) bool { out = filled; return true })
			return out
		}
		got := fill(channel.Message{Title: title, Text: message})
		encoded, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var back any
		if err := json.Unmarshal(encoded, &back); err != nil {
			t.Fatal(err)
		}
		if a, b := shape(got), shape(fill(channel.Message{})); a != b {
			t.Errorf("%s became %s by values, %s without", text, a, b)
		}
	})
}

// shape is JSON without its strings.
func shape(v any) string {
	switch v := v.(type) {
	case string:
		return "s"
	case []any:
		out := "["
		for _, one := range v {
			out += shape(one) + ","
		}
		return out + "]"
	case map[string]any:
		names := map[string]string{}
		for name, one := range v {
			names[name] = shape(one)
		}
		out, _ := json.Marshal(names) // in order
		return string(out)
	}
	out, _ := json.Marshal(v)
	return string(out)
}
