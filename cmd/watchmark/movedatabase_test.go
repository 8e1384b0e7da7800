package main

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"watchmark/internal/platform/db"
	"watchmark/internal/testkit/postgrestest"
)

// serveOn starts the service on a data folder and a database on a server.
func serveOn(t *testing.T, data, address, catalogURL string) *process {
	t.Helper()
	return launch(t, command(t, []string{"WATCHMARK_CATALOG_API_URL=" + catalogURL, "WATCHMARK_CATALOG_WEB_URL=" + catalogURL, "WATCHMARK_AUTH_WEBHOOK_KEY=" + webhooks, "WATCHMARK_DATABASE_URL=" + address},
		"serve", "--listen", "127.0.0.1:0", "--data", data), serviceListens)
}

// mustFail runs a command that must fail and say something.
func mustFail(t *testing.T, environ []string, says string, args ...string) {
	t.Helper()
	if got := finish(t, command(t, environ, args...), ""); got.code != 1 || !strings.Contains(got.err, says) {
		t.Errorf("%v ends with %d and says %q, not %q", args, got.code, got.err, says)
	}
}

// did runs a command that must succeed, and answers what it prints.
func did(t *testing.T, args ...string) string {
	t.Helper()
	got := finish(t, command(t, nil, args...), "")
	if got.code != 0 {
		t.Fatalf("%v ends with %d: %s", args, got.code, got.err)
	}
	return got.out
}

func TestDataMovesToAServerAndBack(t *testing.T) {
	address := postgrestest.Schema(t, postgrestest.Shared(t).URL())
	list := simulate(t)
	data, back := t.TempDir(), filepath.Join(t.TempDir(), "back")
	service, key := furnished(t, list, data)

	mustFail(t, nil, "another watchmark runs on this data folder", "move-database", "--to", address, "--data", data)
	mustHold(t, did(t, "move-database", "--to", address, "--data", data, "--dry-run"), "records", "accounts", "Nothing was moved")
	if schema := schemaOf(t, address); schema != 0 {
		t.Errorf("the dry run left schema version %d", schema)
	}
	service.kill()
	mustFail(t, []string{"WATCHMARK_SECRET_KEY=" + strings.Repeat("ab", 32)}, "opens nothing that is encrypted", "move-database", "--to", address, "--data", data)
	if schema := schemaOf(t, address); schema != 0 {
		t.Errorf("a refused move left schema version %d", schema)
	}
	// As in a container that holds nothing but the program: there is no folder for temporary files.
	bare := []string{"TMPDIR=" + filepath.Join(data, "nowhere")}
	if got := finish(t, command(t, bare, "move-database", "--to", address, "--data", data, "--dry-run"), ""); got.code != 0 {
		t.Errorf("without a folder for temporary files a dry run ends with %d: %s", got.code, got.err)
	}
	moved := finish(t, command(t, bare, "move-database", "--to", address, "--data", data), "")
	mustHold(t, moved.out+moved.err, "records", "watchmark.db.moved", "WATCHMARK_DATABASE_URL")
	if got := finish(t, command(t, nil, "serve", "--data", data), ""); got.code != 1 || !strings.Contains(got.err, "was moved to a PostgreSQL database") {
		t.Errorf("a service without the address ends with %d: %s", got.code, got.err)
	}
	mustFail(t, nil, "was moved already", "move-database", "--to", address, "--data", data)

	there := serveOn(t, data, address, list.url)
	var records struct{ Items []record }
	wants(t, http.StatusOK, http.MethodGet, there.url+"/api/records", key, "", &records)
	if len(records.Items) != 1 || records.Items[0].Status != "success" {
		t.Errorf("records %+v", records)
	}
	mustHold(t, wants(t, http.StatusOK, http.MethodPost, there.url+"/api/accounts/1/test", key, "", nil).body, `"ok":true`)
	if r := there.settled(key, there.send(strings.Replace(episode1, `"episode":1`, `"episode":2`, 1))); r.Status != "success" || r.ID <= records.Items[0].ID {
		t.Errorf("a new record is %+v", r)
	}
	// What the service holds there becomes a file for any folder, which is not put back into PostgreSQL.
	onServer := []string{"WATCHMARK_DATABASE_URL=" + address}
	file, restored := filepath.Join(t.TempDir(), "all.backup"), filepath.Join(t.TempDir(), "restored")
	if got := finish(t, command(t, append(bare, onServer...), "backup", file, "--data", data), ""); got.code != 0 || !strings.Contains(got.out, "the database and secret.key") {
		t.Fatalf("backup ends with %d: %s%s", got.code, got.out, got.err)
	}
	mustFail(t, onServer, "into which nothing is restored", "restore", file, "--data", restored)
	mustHold(t, did(t, "restore", file, "--data", restored), "secret.key, watchmark.db")
	mustFail(t, onServer, "has a database of its own", "serve", "--data", restored) // on the server it would seem to be restored
	copied := serve(t, restored, list.url)
	wants(t, http.StatusOK, http.MethodGet, copied.url+"/api/records", key, "", &records)
	if len(records.Items) != 2 {
		t.Errorf("the backup holds %+v", records)
	}
	copied.kill()
	mustHold(t, call(t, http.MethodPost, there.url+"/api/backups", key, "").body, "backup_on_server")
	mustHold(t, call(t, http.MethodGet, there.url+"/api/backups", key, "").body, `"on_server":true`)
	if got := finish(t, command(t, onServer, "doctor", "--data", data), ""); !strings.Contains(got.out, "PostgreSQL answers") {
		t.Errorf("doctor says %s%s", got.out, got.err)
	}
	settingsFile := filepath.Join(data, "watchmark.toml")
	must(t, os.WriteFile(settingsFile, []byte("[database]\nurl = \""+address+"\"\n"), 0o644))
	mustHold(t, finish(t, command(t, nil, "doctor", "--data", data), "").out, "others may read watchmark.toml", "PostgreSQL answers")
	must(t, os.Remove(settingsFile))
	must(t, os.MkdirAll(back, 0o700))
	secretKey, err := os.ReadFile(filepath.Join(data, "secret.key"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(back, "secret.key"), secretKey, 0o600))
	mustFail(t, nil, "the service runs on this database", "move-database", "--from", address, "--data", back)
	must(t, there.cmd.Process.Signal(os.Interrupt))
	<-there.ended

	mustFail(t, nil, "missing: put the old secret.key back", "move-database", "--from", address, "--data", t.TempDir())
	other := []string{"WATCHMARK_SECRET_KEY=" + strings.Repeat("ab", 32)}
	mustFail(t, append(other, "WATCHMARK_DATABASE_URL="+address), "is not the one of its database", "serve", "--data", t.TempDir())
	mustFail(t, []string{"WATCHMARK_DATABASE_URL=" + address}, "needs a key that all replicas have", "serve", "--data", t.TempDir())
	mustFail(t, other, "is not the one of its database", "move-database", "--from", address, "--data", back)
	mustHold(t, did(t, "move-database", "--from", address, "--data", back, "--dry-run"), "records", "Nothing was moved")
	mustHold(t, did(t, "move-database", "--from", address, "--data", back), "records", "does not start on the old database")
	mustFail(t, []string{"WATCHMARK_DATABASE_URL=" + address}, "was moved to the data folder "+back, "serve", "--data", data)
	home := serve(t, back, list.url)
	wants(t, http.StatusOK, http.MethodGet, home.url+"/api/records", key, "", &records)
	if len(records.Items) != 2 {
		t.Errorf("records %+v", records)
	}
	mustHold(t, wants(t, http.StatusOK, http.MethodPost, home.url+"/api/accounts/1/test", key, "", nil).body, `"ok":true`)
}

// TestAKilledMoveGoesOn kills the command between its steps.
func TestAKilledMoveGoesOn(t *testing.T) {
	address := postgrestest.Schema(t, postgrestest.Shared(t).URL())
	data := t.TempDir()
	d, err := db.Open(t.Context(), data)
	must(t, err)
	must(t, d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
			INSERT INTO records (status, is_test, source, action, media_type, user_name, title, original_title, release_date, event, created_at, updated_at)
			SELECT 'processing', 0, 'plex', 'finished', 'episode', 'mira', 'title ' || i, '', '', '{}', i, i FROM n`)
		return err
	}))
	must(t, d.Close())
	key := filepath.Join(data, "secret.key")
	must(t, os.WriteFile(key, []byte(strings.Repeat("ab", 32)), 0o600))

	for _, at := range []string{`copying: +(3)\d`, `copying: +(6)\d`, `comparing: +(4)\d`} {
		launch(t, command(t, nil, "move-database", "--to", address, "--data", data), regexp.MustCompile(at)).kill()
	}
	mustFail(t, []string{"WATCHMARK_DATABASE_URL=" + address, "WATCHMARK_SECRET_KEY=" + strings.Repeat("ab", 32)}, "run it again to its end", "serve", "--data", t.TempDir())
	mustHold(t, did(t, "move-database", "--to", address, "--data", data), "30000")

	to, err := db.OpenServer(t.Context(), address)
	must(t, err)
	defer func() { must(t, to.Close()) }()
	var received int
	must(t, to.Read().QueryRowContext(t.Context(), `SELECT COUNT(*) FROM records WHERE status = 'received'`).Scan(&received))
	if received != 30000 {
		t.Errorf("%d of 30000 that were in work are given back", received)
	}
}

// TestAMoveGoesOnWhereItsTablesWereMade: what stops it there, here a table of somebody else, leaves a part of them.
func TestAMoveGoesOnWhereItsTablesWereMade(t *testing.T) {
	address := postgrestest.Schema(t, postgrestest.Shared(t).URL())
	data := t.TempDir()
	from, err := db.Open(t.Context(), data)
	must(t, err)
	must(t, from.Close())
	must(t, os.WriteFile(filepath.Join(data, "secret.key"), []byte(strings.Repeat("ab", 32)), 0o600))
	to, err := db.LookAtServer(t.Context(), address)
	must(t, err)
	defer func() { must(t, to.Close()) }()
	exec := func(statement string) {
		t.Helper()
		must(t, to.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, statement)
			return err
		}))
	}

	exec(`CREATE TABLE jobs (name TEXT PRIMARY KEY)`)
	mustFail(t, nil, "already exists", "move-database", "--to", address, "--data", data)
	exec(`DROP TABLE jobs`)
	part := schemaOf(t, address)
	if newest, err := db.NewestSchema(); err != nil || part == 0 || part >= newest {
		t.Fatalf("it stopped at schema version %d of %d (%v)", part, newest, err)
	}
	exec(`INSERT INTO settings (key, value, updated_at) VALUES ('a', 'b', 1)`)
	for _, args := range [][]string{{"--dry-run"}, {}} {
		mustFail(t, nil, "use the version of the program that ran on it last", append([]string{"move-database", "--to", address, "--data", data}, args...)...)
	}
	if schemaOf(t, address) != part {
		t.Error("a database that is used was changed")
	}
	exec(`DELETE FROM settings`)
	did(t, "move-database", "--to", address, "--data", data, "--dry-run")
	did(t, "move-database", "--to", address, "--data", data)
}

// schemaOf is the schema version of a database on a server.
func schemaOf(t *testing.T, address string) int64 {
	t.Helper()
	d, err := db.LookAtServer(t.Context(), address)
	must(t, err)
	must(t, d.Close())
	return d.SchemaVersion()
}

// TestADatabaseOfAnotherVersionIsLeftAlone, though opening it might bring it to this one.
func TestADatabaseOfAnotherVersionIsLeftAlone(t *testing.T) {
	address := postgrestest.Schema(t, postgrestest.Shared(t).URL())
	to, err := db.OpenServer(t.Context(), address)
	must(t, err)
	must(t, to.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (1000, true)`)
		return err
	}))
	must(t, to.Close())
	data := t.TempDir()
	from, err := db.Open(t.Context(), data)
	must(t, err)
	must(t, from.Close())
	must(t, os.WriteFile(filepath.Join(data, "secret.key"), []byte(strings.Repeat("ab", 32)), 0o600))
	for _, args := range [][]string{{"--to", address, "--dry-run"}, {"--to", address}, {"--from", address, "--dry-run"}, {"--from", address}} {
		mustFail(t, nil, "schema version 1000", append([]string{"move-database", "--data", data}, args...)...)
	}
}

// TestPagesSayWhatTheDatabaseNeeds: who is signed in reads it in the own language, and no more than that.
func TestPagesSayWhatTheDatabaseNeeds(t *testing.T) {
	cluster := postgrestest.Start(t)
	list := simulate(t)
	address := strings.Replace(cluster.URL(), ":test@", ":s3cret-word@", 1)
	service := launch(t, command(t, []string{"WATCHMARK_CATALOG_API_URL=" + list.url, "WATCHMARK_CATALOG_WEB_URL=" + list.url, "WATCHMARK_SECRET_KEY=" + strings.Repeat("ab", 32), "WATCHMARK_DATABASE_URL=" + address},
		"serve", "--listen", "127.0.0.1:0", "--data", t.TempDir()), serviceListens)
	page := func(path string) (status int, body string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, service.url+path, nil)
		must(t, err)
		request.Header.Set("Accept-Language", "zh-CN")
		request.AddCookie(&http.Cookie{Name: "watchmark_session", Value: strings.Repeat("a", 43)})
		answer, err := http.DefaultTransport.RoundTrip(request)
		must(t, err)
		text, err := io.ReadAll(answer.Body)
		must(t, errors.Join(err, answer.Body.Close()))
		return answer.StatusCode, string(text)
	}
	wants(t, http.StatusOK, http.MethodGet, service.url+"/health", "", "", nil)
	cluster.Stop(t, "immediate")
	for _, path := range []string{"/records", "/login"} {
		until(t, path+" tells of the database", func() bool {
			status, body := page(path)
			return status == http.StatusServiceUnavailable && strings.Contains(body, "数据库无法使用") && strings.Contains(body, "无法连接数据库服务器") && !strings.Contains(body, "s3cret") && !strings.Contains(body, "127.0.0.1:")
		})
	}
	cluster.Again(t)
	until(t, "pages are shown again", func() bool {
		status, _ := page("/records")
		return status == http.StatusSeeOther // to the sign-in: the session is nobody's
	})
}
