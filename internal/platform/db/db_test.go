package db_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"watchmark/internal/platform/db"
)

func open(t *testing.T, dir string) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func exec(t *testing.T, d *db.DB, statement string, args ...any) {
	t.Helper()
	err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, statement, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, d *db.DB, table string) int {
	t.Helper()
	var n int
	if err := d.Read().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

const addSetting = `INSERT INTO settings (key, value, updated_at) VALUES (?, '1', 0)`

func TestCommittedRowsAreThereAfterReopening(t *testing.T) {
	onBoth(t, func(t *testing.T, p place) {
		d := p.open(t)
		exec(t, d, addSetting, "a")
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if n := count(t, p.open(t), "settings"); n != 1 {
			t.Errorf("%d settings after reopening, want 1", n)
		}
	})
}

func TestFailedWriteLeavesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, p place) {
		d := p.open(t)
		wrong := errors.New("changed my mind")
		err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, addSetting, "a"); err != nil {
				return err
			}
			return wrong
		})
		if !errors.Is(err, wrong) {
			t.Errorf("Write returned %v, want the function's own error", err)
		}
		if n := count(t, d, "settings"); n != 0 {
			t.Errorf("%d settings after a failed write, want 0", n)
		}
	})
}

func TestReaderCannotWrite(t *testing.T) {
	onBoth(t, func(t *testing.T, p place) {
		d := p.open(t)
		if _, err := d.Read().ExecContext(t.Context(), addSetting, "a"); err == nil {
			t.Error("a write through the reader pool succeeded")
		}
	})
}

func TestForeignKeysHold(t *testing.T) {
	onBoth(t, func(t *testing.T, p place) {
		d := p.open(t)
		err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO account_media_users (account_id, name) VALUES (7, 'mira')`)
			return err
		})
		if err == nil {
			t.Error("a row that points to no account was accepted")
		}
	})
}

func TestParallelWritersAndReadersNeverFindTheDatabaseLocked(t *testing.T) {
	onBoth(t, func(t *testing.T, p place) {
		service, tool := p.open(t), p.open(t) // as the service and the command line at once
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				d := service
				if i%4 == 0 {
					d = tool
				}
				for j := range 25 {
					exec(t, d, addSetting, string(rune('a'+i))+strings.Repeat("x", j))
					count(t, d, "settings")
				}
			})
		}
		wg.Wait()
		if n := count(t, service, "settings"); n != 200 {
			t.Errorf("%d settings, want 200", n)
		}
	})
}

func TestDatabaseOfANewerProgramIsRefused(t *testing.T) {
	p := place{folder: t.TempDir()} // a server may be newer: TestAnOlderProgramWorksOnANewerDatabaseUpToTheFloor
	d := p.open(t)
	exec(t, d, `UPDATE goose_db_version SET version_id = version_id + 1000 WHERE version_id > 0`)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := p.tryOpen(t.Context())
	if err == nil || !strings.Contains(err.Error(), "newer program") {
		t.Fatalf("error %v, want one that says so", err)
	}
}

func TestMigrationCopiesTheDatabaseFirstAndKeepsThree(t *testing.T) {
	dir := t.TempDir()
	migrations := fstest.MapFS{}
	for version := 1; version <= 6; version++ {
		up := fmt.Sprintf("-- +goose Up\nCREATE TABLE t%d (id INTEGER);\n", version)
		migrations[fmt.Sprintf("%05d_t.sql", version)] = &fstest.MapFile{Data: []byte(up)}
		d, err := db.OpenWith(t.Context(), dir, migrations)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	copies, err := filepath.Glob(filepath.Join(dir, "*.before-*"))
	if err != nil {
		t.Fatal(err)
	}
	var versions []string
	for _, path := range copies {
		versions = append(versions, filepath.Ext(path))
	}
	if want := []string{".before-000003", ".before-000004", ".before-000005"}; !slices.Equal(versions, want) {
		t.Fatalf("copies %v, want %v", versions, want)
	}
	copied, err := sql.Open("sqlite", copies[2])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = copied.Close() }()
	if _, err := copied.ExecContext(t.Context(), "SELECT * FROM t5"); err != nil {
		t.Errorf("the copy from before version 6 lacks the table of version 5: %v", err)
	}
	if _, err := copied.ExecContext(t.Context(), "SELECT * FROM t6"); err == nil {
		t.Error("the copy from before version 6 has the table of version 6")
	}
}

// openOld opens a database of an earlier version in a folder.
func openOld(t *testing.T, dir string, version int) *db.DB {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("migrations", "*.sql"))
	if err != nil {
		t.Fatal(err)
	}
	before := fstest.MapFS{}
	for _, name := range names[:version] {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		before[filepath.Base(name)] = &fstest.MapFile{Data: text}
	}
	old, err := db.OpenWith(t.Context(), dir, before)
	if err != nil {
		t.Fatal(err)
	}
	return old
}

func TestWhatWaitedBeforeThereWereQuestionsIsRunAgain(t *testing.T) {
	dir := t.TempDir()
	old := openOld(t, dir, 2)
	for _, status := range []string{"review", "ignored", "error"} {
		exec(t, old, `INSERT INTO records (status, is_test, source, action, media_type, user_name, title, original_title, release_date, event, created_at, updated_at)
			VALUES (?, 0, 'plex', 'watched', 'episode', 'mira', 'a', '', '', '{}', 0, 0)`, status)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	d := open(t, dir)
	for status, want := range map[string]int{"review": 0, "received": 1, "ignored": 1, "error": 1} {
		if n := count(t, d, "records WHERE status = '"+status+"'"); n != want {
			t.Errorf("%d records are %s, want %d", n, status, want)
		}
	}
}

func TestMappingsKeepWhatTheyHoldForAndGetNames(t *testing.T) {
	dir := t.TempDir()
	old := openOld(t, dir, 8)
	for title, c := range map[string]struct {
		season any
		origin string
	}{"answer": {nil, "confirm"}, "answer for a season": {2, "confirm"}, "person": {nil, "person"}} {
		exec(t, old, `INSERT INTO mappings (title, is_regex, season, subject_id, episode_offset, origin, created_at, updated_at) VALUES (?, 0, ?, 7, 0, ?, 0, 0)`, title, c.season, c.origin)
	}
	exec(t, old, `INSERT INTO records (status, is_test, source, action, media_type, user_name, title, original_title, release_date, event, subject_id, subject_name, created_at, updated_at)
		VALUES ('success', 0, 'plex', 'watched', 'episode', 'mira', 'a', '', '', '{}', 7, 'seven', 0, 0)`)
	exec(t, old, `INSERT INTO pending_candidates (title_key, film, title, original_title, media_type, candidates, reason, status, decision, created_at, updated_at)
		VALUES ('a', 0, 'a', '', 'episode', '[]', '', 'confirmed', '{"mapping":{"id":1,"origin":"confirm"}}', 0, 0)`)
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	d := open(t, dir)
	if n := count(t, d, "mappings WHERE first_season = 1"); n != 1 {
		t.Errorf("%d mappings hold for the first season alone", n)
	}
	if n := count(t, d, "mappings WHERE subject_name = 'seven'"); n != 3 {
		t.Errorf("%d mappings have the name", n)
	}
	if n := count(t, d, `pending_candidates WHERE decision LIKE '%"first_season":true,"origin":"confirm"%'`); n != 1 {
		t.Error("what an undo brings back would hold for every season")
	}
}

func TestRulesOfRecordsAreReadFromTheirTraces(t *testing.T) {
	dir := t.TempDir()
	old := openOld(t, dir, 23)
	exec(t, old, `INSERT INTO pending_candidates (title_key, film, title, original_title, media_type, candidates, reason, status, decision, created_at, updated_at)
		VALUES ('a', 0, 'a', '', 'episode', '[]', '', 'confirmed', '{}', 100, 100)`)
	exec(t, old, `INSERT INTO mappings (title, is_regex, subject_id, episode_offset, origin, created_at, updated_at) VALUES ('a', 0, 7, 3, 'confirm', 0, 0)`)
	mapped := `{"name":"mapping","output":{"mapping_id":%s,"subject_id":7,"episode_offset":-2}}`
	cases := []struct {
		name, method, trace string
		updated             int
		want                string
	}{
		{"led", "mapping", `{"steps":[{"name":"block","output":{}},` + strings.Replace(mapped, "%s", "4", 1) + `]}`, 100, "4 7 -2"},
		{"led twice", "mapping", `{"steps":[` + strings.Replace(mapped, "%s", "4", 1) + `,` + strings.Replace(mapped, "%s", "5", 1) + `]}`, 200, "5 7 -2"},
		{"by the api", "api", `{"steps":[{"name":"mapping","output":{}},{"name":"correct","output":{"mapping_id":4}}]}`, 200, ""},
		{"before any answer", "mapping", `{"steps":[` + strings.Replace(mapped, "%s", "4", 1) + `]}`, 99, ""},
		{"cut off", "mapping", `{"steps":[{"name":"mapping","output":"mapping_id`, 200, "1 7 3"},
		{"cut off, by the api", "api", `{"steps":[{`, 200, ""},
		{"other shapes", "api", `{"steps":[1,"mapping_id",null,{"name":"mapping","output":{"mapping_id":"4"}}]}`, 200, ""},
		{"no list", "api", `{"steps":{"mapping_id":4}}`, 200, ""},
	}
	for i, c := range cases {
		exec(t, old, `INSERT INTO records (id, status, is_test, source, action, media_type, user_name, title, original_title, release_date, event, method, subject_id, created_at, updated_at)
			VALUES (?, 'success', 0, 'plex', 'watched', 'episode', 'mira', 'a', '', '', '{}', ?, 7, 0, ?)`, i+1, c.method, c.updated)
		exec(t, old, `INSERT INTO traces (record_id, trace) VALUES (?, ?)`, i+1, c.trace)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	d := open(t, dir)
	for i, c := range cases {
		var got string
		if err := d.Read().QueryRowContext(t.Context(), `SELECT COALESCE(rule_id || ' ' || rule_subject_id || ' ' || rule_offset, '') FROM records WHERE id = ?`, i+1).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != c.want {
			t.Errorf("%s: rule %q, want %q", c.name, got, c.want)
		}
	}
}

func TestDamagedFileIsRefusedWithAdvice(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, db.FileName)
	if err := os.WriteFile(path, []byte(strings.Repeat("not a database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := db.Open(t.Context(), dir)
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "watchmark restore FILE") {
		t.Fatalf("error %v, want one that names the file and what to do", err)
	}
	if content, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(content), "not a database") {
		t.Errorf("the damaged file was touched: %v", err)
	}
}

func TestDatabaseIsReadableByItsOwnerOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data folder, with % and ?")
	open(t, dir)
	info, err := os.Stat(filepath.Join(dir, db.FileName))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode().Perm())
	}
}
