package main

import (
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"watchmark/internal/upkeep/diagnose"
)

func TestDoctorTellsWhatCannotBeReached(t *testing.T) {
	list := simulate(t)
	gone := httptest.NewServer(nil)
	gone.Close()
	environ := []string{"WATCHMARK_CATALOG_WEB_URL=" + list.url, "WATCHMARK_CATALOG_IMAGE_URL=" + list.url, "WATCHMARK_CATALOG_ARCHIVE_POINTER_URL=" + gone.URL,
		"WATCHMARK_TRACKER_AUTH_URL=" + gone.URL + "/a", "WATCHMARK_TRACKER_API_URL=" + gone.URL + "/b", "WATCHMARK_TRACKER_APP_API_URL=" + gone.URL + "/c"}
	doctor := func(more []string, args ...string) ran {
		t.Helper()
		return finish(t, command(t, append(more, environ...), append([]string{"doctor", "--data", t.TempDir()}, args...)...), "")
	}
	well := doctor([]string{"WATCHMARK_CATALOG_API_URL=" + list.url, "WATCHMARK_MATCHING_DATASET_ENABLED=false", "WATCHMARK_MATCHING_DATASET_URL=" + gone.URL + "/d"})
	if well.code != 0 || well.err != "" {
		t.Errorf("while all that is in use answers: exit %d, %s", well.code, well.err)
	}
	mustHold(t, well.out, "ok      Catalog API")
	mustHold(t, well.out, "FAILED  Offline archive")
	mustHold(t, well.out, "(not in use)")
	ill := doctor([]string{"WATCHMARK_CATALOG_API_URL=" + gone.URL, "WATCHMARK_MATCHING_DATASET_URL=" + gone.URL + "/d"})
	if ill.code != 1 {
		t.Errorf("while the catalog is down: exit %d", ill.code)
	}
	mustHold(t, ill.out, "direct: dns 0 ms, tcp FAILED: dial tcp")
	mustHold(t, ill.out, "nothing listens on this port")
	mustHold(t, ill.err, "cannot be reached")
	var found struct{ Machine, Services []map[string]any }
	if err := json.Unmarshal([]byte(doctor([]string{"WATCHMARK_CATALOG_API_URL=" + gone.URL, "WATCHMARK_MATCHING_DATASET_URL=" + gone.URL + "/d"}, "--json").out), &found); err != nil || len(found.Services) < 5 || len(found.Machine) != 7 {
		t.Errorf("as JSON: %v", err)
	}
}

func TestOwnAuthorityIsTrusted(t *testing.T) {
	list := simulate(t)
	to, err := url.Parse(list.url)
	must(t, err)
	secured := httptest.NewUnstartedServer(httputil.NewSingleHostReverseProxy(to))
	secured.Config.ErrorLog = log.New(io.Discard, "", 0) // of who does not trust it
	secured.StartTLS()
	defer secured.Close()
	own := filepath.Join(t.TempDir(), "own.pem")
	must(t, os.WriteFile(own, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secured.Certificate().Raw}), 0o600))
	match := func(environ ...string) ran {
		t.Helper()
		return finish(t, command(t, append(environ, "WATCHMARK_CATALOG_API_URL="+secured.URL), "match", "灯塔守望者", "--data", t.TempDir()), "")
	}
	unknown := match()
	mustHold(t, unknown.out, "unreachable", "for certificates of your own authority set network.ca_certificates")
	mustHold(t, match("WATCHMARK_NETWORK_CA_CERTIFICATES="+own).out, "matched: 900001")
	missing := match("WATCHMARK_NETWORK_CA_CERTIFICATES=" + own + ".old")
	if missing.code != 1 {
		t.Errorf("exit %d", missing.code)
	}
	mustHold(t, missing.err, "network.ca_certificates", "own.pem.old")
}

func TestDoctorLooksAtTheMachine(t *testing.T) {
	list := simulate(t)
	strange := httptest.NewServer(nil)
	defer strange.Close()
	data := t.TempDir()
	service := serve(t, data, list.url)
	doctor := func(listen string, environ ...string) ran {
		t.Helper()
		gone := "http://127.0.0.1:1"
		return finish(t, command(t, append(environ, "WATCHMARK_SERVER_LISTEN="+listen, "WATCHMARK_CATALOG_API_URL="+list.url, "WATCHMARK_CATALOG_WEB_URL="+list.url, "WATCHMARK_CATALOG_IMAGE_URL="+list.url,
			"WATCHMARK_MATCHING_DATASET_ENABLED=false", "WATCHMARK_MATCHING_DATASET_URL="+gone, "WATCHMARK_CATALOG_ARCHIVE_POINTER_URL="+gone,
			"WATCHMARK_TRACKER_AUTH_URL="+gone, "WATCHMARK_TRACKER_API_URL="+gone, "WATCHMARK_TRACKER_APP_API_URL="+gone), "doctor", "--data", data), "")
	}
	address := func(url string) string { return strings.TrimPrefix(url, "http://") }
	well := doctor(address(service.url))
	if well.code != 0 {
		t.Errorf("exit %d: %s\n%s", well.code, well.err, well.out)
	}
	for _, text := range []string{"ok      data folder", "ok      permissions", "whole, schema version", "ok      clock", "are free", "ok      address           watchmark dev runs at", "ok      backups"} {
		mustHold(t, well.out, text)
	}
	mustHold(t, doctor("127.0.0.1:1").out, "ok      address           watchmark dev runs at "+service.url) // by --listen
	key := filepath.Join(data, "secret.key")
	must(t, os.Chmod(key, 0o644))
	old := filepath.Join(t.TempDir(), "watchmark-20240101-041700.backup") // in a folder that the service does not look at
	must(t, os.WriteFile(old, nil, 0o600))
	running := strings.TrimSuffix(service.url, "/") + "/health"
	must(t, os.Remove(filepath.Join(data, "watchmark.address"))) // as of a service of before
	ill := doctor(address(strange.URL), "WATCHMARK_BACKUP_DIR="+filepath.Dir(old))
	must(t, os.WriteFile(filepath.Join(data, "watchmark.address"), []byte(running), 0o600))
	if ill.code != 1 {
		t.Errorf("exit %d: %s", ill.code, ill.out)
	}
	mustHold(t, ill.out, "FAILED  permissions       others may read secret.key (mode 644): run chmod 600 "+key)
	mustHold(t, ill.out, "what answers there is no watchmark")
	mustHold(t, ill.out, "FAILED  backups           the newest in "+filepath.Dir(old)+" is of 2024-01-01 04:17:00")
	mustHold(t, ill.err, "something on this machine needs mending")
	service.kill()

	must(t, os.WriteFile(filepath.Join(data, "watchmark.db"), []byte(strings.Repeat("no database ", 1000)), 0o600))
	must(t, os.RemoveAll(filepath.Join(data, "watchmark.db-wal")))
	broken := doctor(address(service.url))
	if broken.code != 1 {
		t.Errorf("exit %d of a damaged database", broken.code)
	}
	mustHold(t, broken.out, "ok      data folder")
	mustHold(t, broken.err, "restore a backup")
}

func TestTargetsHaveNames(t *testing.T) {
	t.Parallel()
	for _, kind := range diagnose.Kinds {
		if targetNames[kind] == "" {
			t.Errorf("doctor has no name for %s", kind)
		}
	}
}
