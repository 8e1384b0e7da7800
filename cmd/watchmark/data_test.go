package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestAPIKeysWorkWhereverTheyWereMade(t *testing.T) {
	data := t.TempDir()
	before := makeKey(t, data, "made before the service")
	service := serve(t, data, nowhere)
	during := makeKey(t, data, "made beside the service")
	for _, key := range []string{before, during} {
		wants(t, http.StatusOK, http.MethodGet, service.url+"/api/records", key, "", nil)
	}
	wants(t, http.StatusUnauthorized, http.MethodGet, service.url+"/api/records", during[:len(during)-1]+"x", "", nil)

	if got := finish(t, command(t, nil, "api-key", "create", "made before the service", "--data", data), ""); got.code != 1 || got.out != "" || !strings.Contains(got.err, "with this name already") {
		t.Errorf("the same name again: exit %d, prints %q and %q", got.code, got.out, got.err)
	}
	listed := finish(t, command(t, nil, "api-key", "list", "--data", data), "")
	mustHold(t, listed.out, "made before the service", "made beside the service", during[len(during)-4:])
	if strings.Contains(listed.out, during) || strings.Contains(listed.out, before) {
		t.Errorf("the list shows a key: %s", listed.out)
	}
	var id string
	for line := range strings.Lines(listed.out) {
		if strings.Contains(line, "made beside the service") {
			id = strings.Fields(line)[0]
		}
	}
	if got := finish(t, command(t, nil, "api-key", "delete", id, "--data", data), ""); got.code != 0 {
		t.Fatalf("delete %s: exit %d, %s", id, got.code, got.err)
	}
	wants(t, http.StatusUnauthorized, http.MethodGet, service.url+"/api/records", during, "", nil)
	wants(t, http.StatusOK, http.MethodGet, service.url+"/api/records", before, "", nil)
}

func TestPasswordIsSetBesideTheService(t *testing.T) {
	data := t.TempDir()
	set := func(name, text string) ran {
		t.Helper()
		return finish(t, command(t, nil, "password", name, "--data", data), text)
	}
	if got := set("mira", "a new password\n"); got.code != 1 || !strings.Contains(got.err, "setup link") {
		t.Errorf("before the setup: exit %d, %s", got.code, got.err)
	}
	service := serve(t, data, nowhere)
	service.setUp("mira")
	login := func(password string, status int) answer {
		t.Helper()
		return wants(t, status, http.MethodPost, service.url+"/api/login", "", fmt.Sprintf(`{"name":"mira","password":%q}`, password), nil)
	}
	session := login(password, http.StatusOK).header.Get("Set-Cookie")
	if got := set("mira", "too short\n"); got.code != 1 || !strings.Contains(got.err, "at least 10") {
		t.Errorf("a short password: exit %d, %s", got.code, got.err)
	}
	if got := set("mira", ""); got.code != 1 || !strings.Contains(got.err, "standard input") {
		t.Errorf("no password: exit %d, %s", got.code, got.err)
	}
	if got := set("alex", "a new password\n"); got.code != 1 || !strings.Contains(got.err, `"mira"`) {
		t.Errorf("a wrong name: exit %d, %s", got.code, got.err)
	}
	login(password, http.StatusOK)
	if got := set("mira", "a new password\n"); got.code != 0 || strings.Contains(got.out+got.err, "a new password") {
		t.Errorf("exit %d, prints %q and %q", got.code, got.out, got.err)
	}
	login(password, http.StatusUnauthorized)
	login("a new password", http.StatusOK)
	cookie, _, _ := strings.Cut(session, ";")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, service.url+"/api/records", nil)
	must(t, err)
	request.Header.Set("Cookie", cookie)
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	must(t, response.Body.Close())
	if response.StatusCode != http.StatusUnauthorized {
		t.Errorf("a session of before is answered %d", response.StatusCode)
	}
}
