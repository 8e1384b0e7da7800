package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

func TestServeRefusesSettingsThatCannotBeMeant(t *testing.T) {
	for name, c := range map[string]struct {
		environ []string
		file    string
		listen  string
		want    []string
	}{
		"no login on every address, by environment": {[]string{"WATCHMARK_AUTH_ENABLED=false"}, "", "0.0.0.0:0", []string{"auth.enabled", "0.0.0.0:0"}},
		"no login on a public address, by file":     {nil, "[auth]\nenabled = false\n", "203.0.113.5:8787", []string{"auth.enabled", "203.0.113.5:8787"}},
		"misspelt key in the file":                  {nil, "[catalog]\napi_ulr = \"http://127.0.0.1:9\"\n", "127.0.0.1:0", []string{"watchmark.toml", "did you mean catalog.api_url?"}},
		"misspelt section in the file":              {nil, "[catalgo]\napi_url = \"http://127.0.0.1:9\"\n", "127.0.0.1:0", []string{"did you mean [catalog]?"}},
		"misspelt variable":                         {[]string{"WATCHMARK_CATALOG_API_ULR=http://127.0.0.1:9"}, "", "127.0.0.1:0", []string{"did you mean WATCHMARK_CATALOG_API_URL?"}},
		"value out of range":                        {nil, "[sync]\nworkers = 0\n", "127.0.0.1:0", []string{"sync.workers"}},
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			if c.file != "" {
				must(t, os.WriteFile(filepath.Join(data, "watchmark.toml"), []byte(c.file), 0o600))
			}
			got := finish(t, command(t, c.environ, "serve", "--data", data, "--listen", c.listen), "")
			if got.code != 1 {
				t.Errorf("exit %d", got.code)
			}
			mustHold(t, got.err, c.want...)
		})
	}
}

func TestServeWithoutLoginAtHome(t *testing.T) {
	service := launch(t, command(t, []string{"WATCHMARK_AUTH_ENABLED=false", "WATCHMARK_CATALOG_API_URL=" + nowhere},
		"serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0"), serviceListens)
	wants(t, http.StatusOK, http.MethodGet, service.url+"/api/records", "", "", nil)
	if text, _ := service.out.read(); setupLink.MatchString(text) {
		t.Errorf("a setup link is printed: %s", text)
	}
}

func TestServeSaysThatThePortIsTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = taken.Close() }()
	got := finish(t, command(t, nil, "serve", "--data", t.TempDir(), "--listen", taken.Addr().String()), "")
	if got.code != 1 {
		t.Errorf("exit %d", got.code)
	}
	mustHold(t, got.err, taken.Addr().String(), "--listen")
}

// setUp makes the administrator with the link the service printed.
func (p *process) setUp(name string) {
	p.t.Helper()
	link := p.printed(setupLink)
	wants(p.t, http.StatusOK, http.MethodPost, p.url+"/api/setup", "", fmt.Sprintf(`{"token":%q,"name":%q,"password":%q}`, link, name, password), nil)
}

func TestTheSetupLinkIsPrintedUntilItIsUsed(t *testing.T) {
	data := t.TempDir()
	first := serve(t, data, nowhere)
	link := first.printed(setupLink)
	first.kill()
	second := serve(t, data, nowhere)
	if got := call(t, http.MethodPost, second.url+"/api/setup", "", fmt.Sprintf(`{"token":%q,"name":"mira","password":%q}`, link, password)); got.status != http.StatusUnauthorized {
		t.Errorf("the link of before the restart is answered %d", got.status)
	}
	second.setUp("mira")
	second.kill()
	third := serve(t, data, nowhere)
	wants(t, http.StatusOK, http.MethodGet, third.url+"/health", "", "", nil)
	if text, _ := third.out.read(); setupLink.MatchString(text) {
		t.Errorf("the link is printed after the setup: %s", text)
	}
}

// addAccount makes mira's account with an API key of the command.
func (p *process) addAccount(data string) (key string) {
	p.t.Helper()
	key = makeKey(p.t, data, "tests")
	wants(p.t, http.StatusCreated, http.MethodPost, p.url+"/api/accounts", key,
		fmt.Sprintf(`{"username":"mira","access_token":%q,"media_user_names":["Mira"]}`, token), nil)
	return key
}

// TestNoWatchIsLostByKill cuts the service off at once after its 202, in several states of
// the catalog, and expects one mark after the restart, written once.
func TestNoWatchIsLostByKill(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault string
		until func(t *testing.T, service, list *process) // waits for the moment to kill
	}{
		"before anything was asked": {`{"mode":"hang"}`, func(*testing.T, *process, *process) {}},
		"before the write": {`{"mode":"hang","paths":"writes"}`, func(_ *testing.T, service, _ *process) {
			service.printed(regexp.MustCompile(`(msg="request sent" method=POST url=\S+/v0/users/-/collections/900001)`))
		}},
		"after the write, unanswered": {`{"mode":"slow","paths":"writes"}`, func(t *testing.T, _, list *process) {
			for deadline := time.Now().Add(patience); len(list.marks().Marks) == 0; time.Sleep(5 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the write does not come")
				}
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list, data := simulate(t), t.TempDir()
			service := serve(t, data, list.url)
			key := service.addAccount(data)
			wants(t, http.StatusNoContent, http.MethodPost, list.url+"/_sim/fault", "", c.fault, nil)
			id := service.send(episode1)
			c.until(t, service, list)
			service.kill()
			wants(t, http.StatusNoContent, http.MethodPost, list.url+"/_sim/fault", "", `{"mode":"none"}`, nil)
			again := serve(t, data, list.url)
			if r := again.settled(key, id); r.Status != "success" || r.EpisodeID != 90000101 {
				t.Errorf("the record is %+v", r)
			}
			told := list.marks()
			if len(told.Marks) != 1 || told.Marks[0].Username != "mira" || told.Marks[0].EpisodeID != 90000101 || told.Marks[0].Type != 2 {
				t.Errorf("on the list: %+v", told.Marks)
			}
			if told.Writes != 2 { // the entry and the episode
				t.Errorf("%d writes", told.Writes)
			}
		})
	}
}
