package main

import (
	"database/sql"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // looks into the data folder of a running command

	"watchmark/internal/testkit/movetest"
)

// moveIn runs the command to its end, with text on its standard input.
func moveIn(t *testing.T, folder, data, text string, flags ...string) ran {
	t.Helper()
	return finish(t, command(t, nil, append([]string{"import-from", "bangumi-syncer", folder, "--data", data}, flags...)...), text)
}

func TestImportFromAsksAndTakes(t *testing.T) {
	catalog := simulate(t)
	data, folder := t.TempDir(), movetest.Second(t)
	shown := moveIn(t, folder, data, "", "--dry-run")
	mustHold(t, shown.out, "mira, for emby mira, plex_mira", "would be taken", "3 records would be taken as they came out", "2 rows cannot be taken",
		"[dev] ssl_verify: certificates are always checked", "its login:", "Nothing was taken: run it without --dry-run")
	for _, c := range []struct{ answer, says string }{{"n\n", "Nothing was taken"}, {"\n", "Nothing was taken"}, {"", "add --yes"}} {
		got := moveIn(t, folder, data, c.answer)
		mustHold(t, got.out+got.err, c.says, "Take it? [y/N]")
		if (got.code == 0) != (c.answer != "") {
			t.Errorf("with the answer %q it ends with %d", c.answer, got.code)
		}
	}
	taken := moveIn(t, folder, data, "y\n")
	mustHold(t, taken.out, "Done:", "3 records taken as they came out", "server.legacy_paths")
	if taken.code != 0 {
		t.Errorf("exit %d: %s", taken.code, taken.err)
	}
	again := moveIn(t, folder, data, "")
	mustHold(t, again.out, "here already", "There is nothing to take that is not here already.")
	for _, text := range []string{shown.out + shown.err, taken.out + taken.err, again.out + again.err} {
		for _, secret := range movetest.Secrets {
			if strings.Contains(text, secret) {
				t.Errorf("it prints %s", secret)
			}
		}
	}

	key := makeKey(t, data, "tests")
	service := serve(t, data, catalog.url)
	var records struct{ Items []record }
	wants(t, http.StatusOK, http.MethodGet, service.url+"/api/records", key, "", &records)
	if len(records.Items) != 3 {
		t.Errorf("there are %d records", len(records.Items))
	}
	if list := catalog.marks(); list.Writes != 0 {
		t.Errorf("the catalog was written: %+v", list)
	}
	// The service would know nothing of what comes behind its back.
	if got := moveIn(t, folder, data, "", "--yes"); got.code != 1 || !strings.Contains(got.err, "stop it first") {
		t.Errorf("beside the service it ends with %d: %s", got.code, got.err)
	}
}

func TestImportFromTellsWhatIsWrong(t *testing.T) {
	for name, folder := range map[string]string{"is no folder": filepath.Join(t.TempDir(), "none"), "there is no config.ini": t.TempDir()} {
		if got := moveIn(t, folder, t.TempDir(), "", "--yes"); got.code != 1 || !strings.Contains(got.err, name) {
			t.Errorf("%s ends with %d: %s", folder, got.code, got.err)
		}
	}
}

// long is a folder whose history has n records, all of them different.
func long(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	movetest.Write(t, dir, "config/config.ini", "[bangumi]\nusername = mira\naccess_token = "+movetest.MiraToken+"\nmedia_server_username = Mira\n")
	movetest.Database(t, dir, "data/sync_records.db", false,
		`CREATE TABLE sync_records (id INTEGER PRIMARY KEY, timestamp DATETIME, user_name TEXT, title TEXT, season INTEGER, episode INTEGER, status TEXT, source TEXT)`,
		fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
			INSERT INTO sync_records SELECT i, '2024-01-10 21:30:00', 'Mira', '灯塔守望者', 1, i %% 900, 'success', 'plex' FROM n`, n))
	return dir
}

func TestImportFromGoesOnAfterAKill(t *testing.T) {
	const n = 10_000
	data, folder := t.TempDir(), long(t, n)
	cmd := command(t, nil, "import-from", "bangumi-syncer", folder, "--data", data, "--yes")
	must(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for before, deadline := 0, time.Now().Add(patience); before == 0; {
		before = recordsIn(t, data)
		select {
		case err := <-ended:
			t.Fatalf("it ended before it could be killed: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatal("nothing is taken")
		}
	}
	must(t, cmd.Process.Kill())
	<-ended //nolint:errcheck // it may have ended just before
	cut := recordsIn(t, data)
	if cut == n {
		t.Log("all was taken before the kill")
	}
	got := moveIn(t, folder, data, "", "--yes")
	mustHold(t, got.out, fmt.Sprintf("%d records would be taken", n-cut))
	if now := recordsIn(t, data); got.code != 0 || now != n {
		t.Errorf("after %d and a kill there are %d records, exit %d: %s", cut, now, got.code, got.err)
	}
	mustHold(t, moveIn(t, folder, data, "", "--yes").out, "There is nothing to take")
}

// recordsIn counts the records of a data folder that a command writes; 0 while there is none.
func recordsIn(t *testing.T, data string) (n int) {
	t.Helper()
	d, err := sql.Open("sqlite", "file:"+filepath.Join(data, "watchmark.db")+"?mode=ro&_pragma=busy_timeout(2000)")
	must(t, err)
	defer func() { must(t, d.Close()) }()
	_ = d.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM records").Scan(&n) // there is none yet
	return n
}
