package db_test

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"watchmark/internal/platform/db"
	"watchmark/internal/testkit/dbtest"
)

func TestFacts(t *testing.T) {
	d := dbtest.Open(t)
	for _, want := range []string{"", "one", "another"} {
		if want != "" {
			if err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error { return db.SetFact(ctx, tx, "test", want) }); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := d.Fact(t.Context(), "test"); err != nil || got != want {
			t.Errorf("the fact is %q (%v), want %q", got, err, want)
		}
	}
	if floor, err := d.SchemaFloor(t.Context()); err != nil || floor < 38 || floor > d.SchemaVersion() {
		t.Errorf("the floor is %d (%v), the schema %d", floor, err, d.SchemaVersion())
	}
}

// ofNext are the migrations of this program and one more.
func ofNext(t *testing.T, up string) fs.FS {
	t.Helper()
	files, err := fs.Sub(db.Migrations, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	all := fstest.MapFS{"99998_next.sql": {Data: fmt.Appendf(nil, "-- +goose Up\n%s\n-- +goose Down\nSELECT 1;\n", up)}}
	err = fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, path)
		all[path] = &fstest.MapFile{Data: text}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestAnOlderProgramWorksOnANewerDatabaseUpToTheFloor(t *testing.T) {
	for name, c := range map[string]struct {
		up     string
		refuse bool
	}{
		"a column more":   {"ALTER TABLE records ADD COLUMN test_only BIGINT NOT NULL DEFAULT 0;", false},
		"a raised floor":  {"UPDATE facts SET value = '99998' WHERE name = 'schema_floor';", true},
		"the floor is us": {"UPDATE facts SET value = '38' WHERE name = 'schema_floor';", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := onServer(t)
			old := p.open(t)
			next, err := db.OpenServerWith(t.Context(), p.address, ofNext(t, c.up))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = next.Close() }()
			// Who runs goes on either way; readiness tells of the floor.
			if err := old.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error { return db.SetFact(ctx, tx, "test", "old") }); err != nil {
				t.Error(err)
			}
			again, err := db.OpenServer(t.Context(), p.address)
			if err == nil {
				defer func() { _ = again.Close() }()
			}
			switch {
			case c.refuse && (err == nil || !strings.Contains(err.Error(), "newer program")):
				t.Errorf("it starts below the floor: %v", err)
			case !c.refuse && err != nil:
				t.Error(err)
			case !c.refuse && again.SchemaVersion() != old.SchemaVersion():
				t.Errorf("it says that it knows version %d", again.SchemaVersion())
			}
		})
	}
}
