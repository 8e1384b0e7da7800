package db_test

import (
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	_ "github.com/jackc/pgx/v5/stdlib" // another client of the server
	"github.com/pressly/goose/v3"

	"watchmark/internal/platform/db"
)

// lines are the rows of a query of one text column, in order.
func lines(t *testing.T, from db.Querier, query string, args ...any) []string {
	t.Helper()
	found, err := db.Values[string](t.Context(), from, "ask for "+query, query, args...)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	return found
}

var (
	casts     = regexp.MustCompile(`::(bigint|integer|text|double precision)(\[\])?`)
	noise     = regexp.MustCompile(`[()\[\]\s'"]+`)
	collation = regexp.MustCompile(`(?i)\s+COLLATE\s+"C"`)
)

// plainly is a piece of a schema without what only one engine writes.
func plainly(text string) string {
	text = collation.ReplaceAllString(casts.ReplaceAllString(text, ""), "")
	text = strings.NewReplacer("= any (array[", "in (", "else null", "").Replace(strings.ToLower(text))
	return noise.ReplaceAllString(text, "")
}

func TestBothEnginesHaveTheSameSchema(t *testing.T) {
	folder := place{folder: t.TempDir()}.open(t).Read()
	server := onServer(t).open(t).Read()
	const ours = ` name NOT LIKE 'sqlite_%' AND name NOT LIKE 'goose_%' `
	for _, c := range []struct{ name, folder, server string }{
		{"columns",
			`SELECT t.name || '.' || c.name || ' ' || CASE c.type WHEN 'INTEGER' THEN 'bigint' WHEN 'BLOB' THEN 'bytea' ELSE lower(c.type) END ||
				CASE WHEN c."notnull" = 1 OR c.pk > 0 THEN ' not null' ELSE '' END || ' default ' || COALESCE(c.dflt_value, '') || ' key ' || c.pk
			FROM sqlite_master AS t JOIN pragma_table_info(t.name) AS c WHERE t.type = 'table' AND t.` + strings.ReplaceAll(strings.TrimSpace(ours), "AND name", "AND t.name"),
			`SELECT c.table_name || '.' || c.column_name || ' ' || c.data_type || CASE WHEN c.is_nullable = 'NO' THEN ' not null' ELSE '' END ||
				' default ' || COALESCE(c.column_default, '') || ' key ' || COALESCE(array_position(i.indkey::smallint[], c.ordinal_position::smallint) + 1, 0)
			FROM information_schema.columns c LEFT JOIN pg_index i ON i.indisprimary AND i.indrelid = to_regclass(c.table_name)
			WHERE c.table_schema = current_schema() AND c.table_name NOT LIKE 'goose_%'`},
		{"indexes",
			`SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND` + ours,
			`SELECT replace(replace(indexdef, ' USING btree', ''), current_schema() || '.', '') FROM pg_indexes i WHERE schemaname = current_schema() AND tablename NOT LIKE 'goose_%'
				AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = to_regclass(i.indexname))`},
		{"unique columns",
			`SELECT t.name || ' ' || (SELECT group_concat(c.name) FROM pragma_index_info(i.name) AS c) FROM sqlite_master AS t JOIN pragma_index_list(t.name) AS i
				WHERE t.type = 'table' AND i.origin = 'u'`,
			`SELECT conrelid::regclass || ' ' || (SELECT string_agg(a.attname, ',' ORDER BY k.place) FROM unnest(conkey) WITH ORDINALITY AS k (number, place)
				JOIN pg_attribute a ON a.attrelid = conrelid AND a.attnum = k.number) FROM pg_constraint WHERE contype = 'u' AND connamespace = current_schema()::regnamespace`},
		{"references",
			`SELECT t.name || '.' || r."from" || ' ' || r."table" || '.' || r."to" || ' ' || lower(r.on_delete) FROM sqlite_master AS t JOIN pragma_foreign_key_list(t.name) AS r WHERE t.type = 'table'`,
			`SELECT f.conrelid::regclass || '.' || a.attname || ' ' || f.confrelid::regclass || '.' || b.attname || ' ' ||
				CASE f.confdeltype WHEN 'c' THEN 'cascade' WHEN 'n' THEN 'set null' ELSE 'no action' END
			FROM pg_constraint f JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = f.conkey[1] JOIN pg_attribute b ON b.attrelid = f.confrelid AND b.attnum = f.confkey[1]
			WHERE f.contype = 'f' AND f.connamespace = current_schema()::regnamespace`},
		{"triggers",
			`SELECT name FROM sqlite_master WHERE type = 'trigger'`,
			`SELECT DISTINCT trigger_name::text FROM information_schema.triggers WHERE trigger_schema = current_schema()`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var found [2][]string
			for i, part := range [][]string{lines(t, folder, c.folder), lines(t, server, c.server)} {
				for _, line := range part {
					found[i] = append(found[i], plainly(line))
				}
				slices.Sort(found[i])
			}
			if len(found[0]) == 0 {
				t.Error("nothing is compared")
			}
			if diff := cmp.Diff(found[0], found[1]); diff != "" {
				t.Errorf("SQLite (-) and PostgreSQL (+) differ:\n%s", diff)
			}
		})
	}
	for name, query := range map[string]string{
		"texts that are not compared by their bytes": `SELECT table_name || '.' || column_name FROM information_schema.columns
			WHERE table_schema = current_schema() AND table_name NOT LIKE 'goose_%' AND data_type = 'text' AND COALESCE(collation_name, '') <> 'C'`,
		"types that SQLite has otherwise": `SELECT table_name || '.' || column_name || ' ' || data_type FROM information_schema.columns
			WHERE table_schema = current_schema() AND table_name NOT LIKE 'goose_%' AND data_type NOT IN ('text', 'bigint', 'double precision', 'bytea')`,
	} {
		if found := lines(t, server, query); len(found) > 0 {
			t.Errorf("%s: %v", name, found)
		}
	}
}

func TestMigrationsOfAServerCanBeTakenBack(t *testing.T) {
	p := onServer(t)
	if err := p.open(t).Close(); err != nil {
		t.Fatal(err)
	}
	pool, err := sql.Open("pgx", p.address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pool.Close() }()
	provider, err := goose.NewProvider(goose.DialectPostgres, pool, db.ServerMigrations())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.DownTo(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if left := lines(t, pool, `SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema() AND tablename NOT LIKE 'goose_%'`); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
	p.open(t)
}

func TestAMigrationRunsAlsoAfterOneWithAHigherNumber(t *testing.T) {
	onBoth(t, func(t *testing.T, p place) {
		open := func(numbers ...int) *db.DB {
			t.Helper()
			migrations := fstest.MapFS{}
			for _, n := range numbers {
				migrations[fmt.Sprintf("%05d_t.sql", n)] = &fstest.MapFile{Data: fmt.Appendf(nil, "-- +goose Up\nCREATE TABLE t%d (id INTEGER PRIMARY KEY);\n", n)}
			}
			with := db.OpenWith
			at := p.folder
			if p.address != "" {
				with, at = db.OpenServerWith, p.address
			}
			d, err := with(t.Context(), at, migrations)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = d.Close() })
			return d
		}
		_ = open(1, 3).Close()
		if n := count(t, open(1, 2, 3), "t2"); n != 0 {
			t.Error(n)
		}
	})
}

func TestReplicasThatStartAtTheSameTimeMigrateOnce(t *testing.T) {
	p := onServer(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			d, err := p.tryOpen(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			_ = d.Close()
		})
	}
	all.Wait()
	if twice := lines(t, p.open(t).Read(), `SELECT CAST(version_id AS TEXT) FROM goose_db_version GROUP BY version_id HAVING COUNT(*) > 1`); len(twice) > 0 {
		t.Errorf("%v ran twice", twice)
	}
}
