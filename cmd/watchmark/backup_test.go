package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// furnished is a running service with an account of mira, a changed setting and one mark.
func furnished(t *testing.T, list *process, data string) (service *process, key string) {
	t.Helper()
	service = serve(t, data, list.url)
	key = makeKey(t, data, "tests")
	wants(t, http.StatusCreated, http.MethodPost, service.url+"/api/accounts", key, `{"username":"mira","access_token":"`+token+`","media_user_names":["Mira"]}`, nil)
	wants(t, http.StatusOK, http.MethodPatch, service.url+"/api/settings", key, `{"sync":{"coalesce_ms":123}}`, nil)
	if r := service.settled(key, service.send(episode1)); r.Status != "success" {
		t.Fatalf("the first record is %+v", r)
	}
	return service, key
}

// snapshot is every file of a folder with its content.
func snapshot(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, path := range leftIn(t, folder) {
		content, err := os.ReadFile(path)
		must(t, err)
		files[filepath.Base(path)] = string(content)
	}
	return files
}

func TestBackupOfARunningServiceIsRestoredElsewhere(t *testing.T) {
	list := simulate(t)
	data, other, file := t.TempDir(), filepath.Join(t.TempDir(), "new"), filepath.Join(t.TempDir(), "all.backup")
	service, key := furnished(t, list, data)
	got := finish(t, command(t, nil, "backup", file, "--data", data), "")
	if got.code != 0 {
		t.Fatalf("exit %d: %s", got.code, got.err)
	}
	mustHold(t, got.out, "the database and secret.key", "Whoever has this file has the tokens")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the backup has mode %v (%v)", info.Mode(), err)
	}
	if got := finish(t, command(t, nil, "backup", file, "--data", data), ""); got.code != 1 || !strings.Contains(got.err, "the file exists") {
		t.Errorf("over a file: exit %d, %s", got.code, got.err)
	}
	service.kill()

	got = finish(t, command(t, nil, "restore", file, "--data", other), "")
	if got.code != 0 {
		t.Fatalf("exit %d: %s", got.code, got.err)
	}
	mustHold(t, got.out, "secret.key, watchmark.db")
	again := serve(t, other, list.url)
	var records struct{ Items []record }
	wants(t, http.StatusOK, http.MethodGet, again.url+"/api/records", key, "", &records)
	if len(records.Items) != 1 || records.Items[0].Status != "success" {
		t.Errorf("records %+v", records)
	}
	mustHold(t, wants(t, http.StatusOK, http.MethodPost, again.url+"/api/accounts/1/test", key, "", nil).body, `"ok":true`)
	mustHold(t, wants(t, http.StatusOK, http.MethodGet, again.url+"/api/settings", key, "", nil).body, `"coalesce_ms":123`)
	if r := again.settled(key, again.send(strings.Replace(episode1, `"episode":1`, `"episode":2`, 1))); r.Status != "success" {
		t.Errorf("a new record is %+v", r)
	}
	if left := leftIn(t, other); len(left) != 6 { // database, its two journals, key, lock, address
		t.Errorf("the folder holds %v", left)
	}
}

func TestRestoreKeepsWhatItReplaces(t *testing.T) {
	list := simulate(t)
	data, file := t.TempDir(), filepath.Join(t.TempDir(), "all.backup")
	service, key := furnished(t, list, data)
	must(t, os.WriteFile(filepath.Join(data, "watchmark.toml"), []byte("[sync]\nworkers = 2\n"), 0o600))
	if got := finish(t, command(t, nil, "backup", file, "--data", data), ""); got.code != 0 {
		t.Fatal(got.err)
	}
	second := service.send(strings.Replace(episode1, `"episode":1`, `"episode":2`, 1))
	service.settled(key, second)
	service.kill()
	must(t, os.WriteFile(filepath.Join(data, "watchmark.toml"), []byte("[sync]\nworkers = 3\n"), 0o600))
	if got := finish(t, command(t, nil, "restore", file, "--data", data), ""); got.code != 0 {
		t.Fatal(got.err)
	}
	files := snapshot(t, data)
	mustHold(t, files["watchmark.toml"], "workers = 2")
	mustHold(t, files["watchmark.toml.before-restore"], "workers = 3")
	again := serve(t, data, list.url)
	if got := call(t, http.MethodGet, fmt.Sprintf("%s/api/records/%d", again.url, second), key, ""); got.status != http.StatusNotFound {
		t.Errorf("the record from after the backup: %d", got.status)
	}
	again.kill()
	if got := finish(t, command(t, nil, "restore", filepath.Join(data, "watchmark.db.before-restore"), "--data", data), ""); got.code != 0 {
		t.Fatal(got.err)
	}
	again = serve(t, data, list.url)
	wants(t, http.StatusOK, http.MethodGet, fmt.Sprintf("%s/api/records/%d", again.url, second), key, "", nil)
}

func TestRestoreRefusesWhatWouldLoseSomething(t *testing.T) {
	list := simulate(t)
	data, file := t.TempDir(), filepath.Join(t.TempDir(), "all.backup")
	service, _ := furnished(t, list, data)
	if got := finish(t, command(t, nil, "backup", file, "--data", data), ""); got.code != 0 {
		t.Fatal(got.err)
	}
	if got := finish(t, command(t, nil, "restore", file, "--data", data), ""); got.code != 1 || !strings.Contains(got.err, "another watchmark runs on this data folder: stop it first") {
		t.Errorf("under a running service: exit %d, %s", got.code, got.err)
	}
	service.kill()
	whole, err := os.ReadFile(file)
	must(t, err)
	garbage := bytes.Clone(whole)
	copy(garbage[len(garbage)/2:], bytes.Repeat([]byte("garbage "), 1024))
	before := snapshot(t, data)
	for name, c := range map[string]struct {
		content []byte
		says    string
	}{
		"truncated":    {whole[:len(whole)*2/3], "the database is damaged"},
		"garbage":      {garbage, "does not have the checksum that it had when it was made"},
		"no database":  {[]byte(strings.Repeat("a text ", 1000)), "the database is damaged"},
		"an empty one": {nil, "this is no database of watchmark"},
	} {
		bad := filepath.Join(t.TempDir(), "bad")
		must(t, os.WriteFile(bad, c.content, 0o600))
		got := finish(t, command(t, nil, "restore", bad, "--data", data), "")
		if got.code != 1 || !strings.Contains(got.err, c.says) {
			t.Errorf("%s: exit %d, %s", name, got.code, got.err)
		}
	}
	if got := finish(t, command(t, nil, "restore", filepath.Join(data, "nothing"), "--data", data), ""); got.code != 1 || !strings.Contains(got.err, "no such file") {
		t.Errorf("no file: exit %d, %s", got.code, got.err)
	}
	if after := snapshot(t, data); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Error("a refused restore changed the folder")
	}
}

func TestTwoServicesDoNotShareAFolder(t *testing.T) {
	data := t.TempDir()
	first := serve(t, data, nowhere)
	got := finish(t, command(t, nil, "serve", "--listen", "127.0.0.1:0", "--data", data), "")
	if got.code != 1 || !strings.Contains(got.err, "another watchmark runs on this data folder") {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
	first.kill()
	serve(t, data, nowhere)
}

func TestDamagedDatabaseIsNotReplacedInSilence(t *testing.T) {
	list := simulate(t)
	for name, c := range map[string]struct {
		damage func(t *testing.T, path string)
		says   string
	}{
		"garbage in the middle": {func(t *testing.T, path string) {
			file, err := os.OpenFile(path, os.O_RDWR, 0)
			must(t, err)
			info, err := file.Stat()
			must(t, err)
			_, err = file.WriteAt(bytes.Repeat([]byte("garbage "), 4096), info.Size()/4)
			must(t, err)
			must(t, file.Close())
		}, "watchmark restore FILE"},
		"cut in the middle": {func(t *testing.T, path string) {
			info, err := os.Stat(path)
			must(t, err)
			must(t, os.Truncate(path, info.Size()/2))
		}, "watchmark restore FILE"},
		"gone, its journal left": {func(t *testing.T, path string) { must(t, os.Remove(path)) }, "its journal"},
		"emptied":                {func(t *testing.T, path string) { must(t, os.Truncate(path, 0)) }, "its journal"},
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			service, _ := furnished(t, list, data)
			service.kill()
			// Whoever opens the database alone brings the journal into the file.
			if got := finish(t, command(t, nil, "api-key", "list", "--data", data), ""); got.code != 0 {
				t.Fatal(got.err)
			}
			service = serve(t, data, list.url)
			service.send(episode1)
			service.kill() // leaves a journal
			c.damage(t, filepath.Join(data, "watchmark.db"))
			before := snapshot(t, data)
			got := finish(t, command(t, nil, "serve", "--listen", "127.0.0.1:0", "--data", data), "")
			if got.code != 1 || !strings.Contains(got.err, c.says) || strings.Contains(got.err, "is running") {
				t.Errorf("exit %d: %s", got.code, got.err)
			}
			if after := snapshot(t, data); before["watchmark.db"] == "" && after["watchmark.db"] != "" {
				t.Error("a new database was made")
			}
		})
	}
}
