package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/settings"
)

func TestGeneratedFilesAreFresh(t *testing.T) {
	for path, want := range generated() {
		got, err := os.ReadFile(filepath.Join("..", "..", "..", "..", filepath.FromSlash(path)))
		if err != nil {
			t.Errorf("%v; run go generate ./internal/platform/settings", err)
			continue
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s is stale, run go generate ./internal/platform/settings (-want +got):\n%s", path, diff)
		}
	}
}

// TestExampleLoadsAsTheDefaults holds that the example sets nothing as it is,
// and every key to its default when all are uncommented.
func TestExampleLoadsAsTheDefaults(t *testing.T) {
	asItIs := example(settings.Describe())
	uncommented := regexp.MustCompile(`(?m)^#([a-z_]+ = )`).ReplaceAllString(asItIs, "$1")
	for text, source := range map[string]settings.Source{asItIs: settings.FromDefault, uncommented: settings.FromFile} {
		file := filepath.Join(t.TempDir(), "watchmark.toml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := settings.Load(t.Context(), settings.Options{File: file, Overrides: nothingStored{}})
		if err != nil {
			t.Fatal(err)
		}
		view := m.View()
		for _, sec := range m.Schema() {
			for _, key := range sec.Keys {
				if key.Source != source {
					t.Errorf("%s comes from the %s, want the %s", key.Path, key.Source, source)
				}
				if diff := cmp.Diff(key.Default, view[sec.Name][name(key)]); diff != "" {
					t.Errorf("%s is not at its default (-want +got):\n%s", key.Path, diff)
				}
			}
		}
	}
}

func TestReferenceTellsEachKey(t *testing.T) {
	schema := settings.Describe()
	english, chinese := reference(schema, bilingual.English), reference(schema, bilingual.Chinese)
	for _, sec := range schema {
		for _, key := range sec.Keys {
			for text, parts := range map[string][]string{english: {key.Env, key.Label, key.Help}, chinese: {key.Env, key.LabelZH, key.HelpZH}} {
				for _, part := range parts {
					if !strings.Contains(text, part) {
						t.Errorf("%s: the reference lacks %q", key.Path, part)
					}
				}
			}
			if strings.Contains(key.Label+key.LabelZH+key.Help+key.HelpZH, "|") {
				t.Errorf("%s: a | in its texts would break the table", key.Path)
			}
		}
	}
}

// nothingStored is an empty database.
type nothingStored struct{ settings.Overrides }

func (nothingStored) All(context.Context) (map[string]string, error) { return nil, nil }

func (nothingStored) Follow(func(context.Context) error) {}
