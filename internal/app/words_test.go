package app_test

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/settings"
)

// toReword are the beginnings of what does not follow the glossary yet: reasons by their codes, settings by their keys, files by their paths.
var toReword = []string{"docs/moving.md"}

// exempt is what the glossary leaves alone: settings, paths, states, code, addresses of links.
var exempt = regexp.MustCompile("(?ms)^## \\[\\w+\\]$|\\bLOGIN\\b|^[ ]*```.*?^[ ]*```|`[^`]*`|\\]\\([^)]*\\)|https?://\\S+|\\{\\w+(:q)?\\}|\\b\\w+[._/]\\w[\\w./]*")

// forbidden are the words of the column “not” of the glossary.
func forbidden(t *testing.T) map[string]*regexp.Regexp {
	t.Helper()
	page, err := os.ReadFile("../../docs/design/words.md")
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]*regexp.Regexp{}
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 4 || strings.Contains(cells[0], "---") || strings.TrimSpace(cells[0]) == "English" {
			continue
		}
		for word := range strings.FieldsFuncSeq(cells[3], func(r rune) bool { return r == ',' || r == '、' }) {
			word = strings.TrimSpace(word)
			if word == "" {
				continue
			}
			expression := regexp.QuoteMeta(word)
			if word[0] < unicode.MaxASCII {
				expression = `(?i)\b` + expression + `(s|es)?\b`
			}
			words[word] = regexp.MustCompile(expression)
		}
	}
	if len(words) < 20 {
		t.Fatalf("the glossary has %d words", len(words))
	}
	return words
}

// TestOneThingHasOneName holds the glossary, docs/design/words.md, over all texts for people.
func TestOneThingHasOneName(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	words := forbidden(t)
	check := func(where, text string) {
		if slices.ContainsFunc(toReword, func(prefix string) bool { return strings.HasPrefix(where, prefix) }) {
			return
		}
		text = exempt.ReplaceAllString(text, " ")
		for word, expression := range words {
			if at := expression.FindStringIndex(text); at != nil {
				t.Errorf("%s says %q, which the glossary does not: %q", where, word, text[max(0, at[0]-40):min(len(text), at[1]+40)])
			}
		}
	}
	for _, kind := range reason.Kinds() {
		check("reason "+kind.Code(), kind.Texts().English+"\n"+kind.Texts().Chinese)
	}
	for _, section := range settings.Describe() {
		check("setting "+section.Name, strings.Join([]string{section.Label, section.LabelZH, section.Help, section.HelpZH}, "\n"))
		for _, key := range section.Keys {
			texts := []string{key.Label, key.LabelZH, key.Help, key.HelpZH}
			for _, choice := range key.Choices {
				texts = append(texts, choice.Label, choice.LabelZH)
			}
			check("setting "+key.Path, strings.Join(texts, "\n"))
		}
	}
	locales, err := filepath.Glob("../door/web/locales/*/*.json")
	if err != nil || len(locales) == 0 {
		t.Fatalf("%d files of locales: %v", len(locales), err)
	}
	for _, path := range locales {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var texts map[string]string
		if err := json.Unmarshal(data, &texts); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for key, text := range texts {
			check(strings.TrimPrefix(path, "../door/web/")+" "+key, text)
		}
	}
	builders := []string{"docs/api.md", "docs/architecture.md", "docs/design", "docs/decisions"}
	err = filepath.WalkDir("../../docs", func(path string, entry fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, "../../")
		if err != nil || entry.IsDir() && slices.Contains(builders, name) {
			return cmp.Or(err, fs.SkipDir)
		}
		if !strings.HasSuffix(name, ".md") || slices.Contains(builders, name) {
			return nil
		}
		data, err := os.ReadFile(path)
		check(name, string(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
