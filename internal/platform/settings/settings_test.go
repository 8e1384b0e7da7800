package settings_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"watchmark/internal/platform/changes"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/settings"
	"watchmark/internal/testkit/dbtest"
)

// house is one installation: a data folder that outlives a Manager.
type house struct {
	store *settings.Store
	opts  settings.Options
}

func newHouse(t *testing.T) *house {
	t.Helper()
	d := dbtest.Open(t)
	box, err := secret.OpenBox(t.TempDir(), "", false)
	if err != nil {
		t.Fatal(err)
	}
	store := settings.NewStore(d, changes.New(d))
	return &house{store: store, opts: settings.Options{Overrides: store, Sealer: box}}
}

// file writes text as the house's watchmark.toml.
func (h *house) file(t *testing.T, text string) {
	t.Helper()
	h.opts.File = filepath.Join(t.TempDir(), "watchmark.toml")
	if err := os.WriteFile(h.opts.File, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// put stores values as they stand in the database.
func (h *house) put(t *testing.T, values map[string]string) {
	t.Helper()
	pointers := map[string]*string{}
	for key, value := range values {
		pointers[key] = &value
	}
	if err := h.store.Change(t.Context(), func(map[string]string) (map[string]*string, error) { return pointers, nil }); err != nil {
		t.Fatal(err)
	}
}

func (h *house) start(t *testing.T) *settings.Manager {
	t.Helper()
	m, err := settings.Load(t.Context(), h.opts)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// problems are the lines of an error that must be settings.Errors, without the
// folder of the file.
func (h *house) problems(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var errs settings.Errors
	if !errors.As(err, &errs) {
		t.Fatalf("error is %T (%v), want settings.Errors", err, err)
	}
	var field *reason.FieldError
	if !errors.As(err, &field) {
		t.Fatalf("no reason.FieldError in %v", err)
	}
	text := err.Error()
	if h.opts.File != "" {
		text = strings.ReplaceAll(text, filepath.Dir(h.opts.File)+string(filepath.Separator), "")
	}
	return strings.Split(text, "\n")
}

// keyOf finds a key of the schema.
func keyOf(t *testing.T, schema []settings.Section, path string) settings.Key {
	t.Helper()
	for _, sec := range schema {
		for _, key := range sec.Keys {
			if key.Path == path {
				return key
			}
		}
	}
	t.Fatalf("no key %s in the schema", path)
	return settings.Key{}
}

func viewOf(m *settings.Manager, path string) any {
	section, key, _ := strings.Cut(path, ".")
	return m.View()[section][key]
}

// one is a patch of one key.
func one(path string, value any) map[string]map[string]any {
	section, key, _ := strings.Cut(path, ".")
	return map[string]map[string]any{section: {key: value}}
}

// brokenStore fails to write.
type brokenStore struct{ settings.Overrides }

var errDiskFull = errors.New("disk full")

func (brokenStore) Change(context.Context, func(map[string]string) (map[string]*string, error)) error {
	return errDiskFull
}

// stored is what stands in the database.
func (h *house) stored(t *testing.T) map[string]string {
	t.Helper()
	values, err := h.store.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func TestTheDatabaseIsNamedByFileOrEnvironmentOnly(t *testing.T) {
	const url = "postgres://mira:hunter2@db.lan:5432/watchmark"
	h := newHouse(t)
	m := h.start(t)
	if err := m.Patch(t.Context(), one("database.url", url)); err == nil || !strings.Contains(err.Error(), "WATCHMARK_DATABASE_URL") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("on the page it is answered %v", err)
	}
	h.put(t, map[string]string{"database.url": `"` + url + `"`})
	if m = h.start(t); m.Current().Database.URL.Reveal() != "" {
		t.Error("what stands in the database names another one")
	}
	h.file(t, "[database]\nurl = \"postgresql://other\"\n")
	for environ, want := range map[string]string{"": "postgresql://other", "WATCHMARK_DATABASE_URL=" + url: url} {
		h.opts.Environ = []string{environ}
		if got, err := settings.DatabaseURL(h.opts); err != nil || got != want {
			t.Errorf("with %q it is %q (%v)", environ, got, err)
		}
	}
	if viewOf(h.start(t), "database.url") != settings.Mask {
		t.Error("the page shows it")
	}
	h.opts.Environ = []string{"WATCHMARK_DATABASE_URL=mysql://mira:hunter2@db.lan/x"}
	if _, err := settings.DatabaseURL(h.opts); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("of another server: %v", err)
	}
}
