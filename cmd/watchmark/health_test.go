package main

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

func TestHealth(t *testing.T) {
	data := t.TempDir()
	ask := func() ran {
		return finish(t, command(t, []string{"HTTP_PROXY=" + nowhere}, "health", "--data", data), "")
	}
	if got := ask(); got.code != 1 {
		t.Errorf("before the first start: %+v", got)
	} else {
		mustHold(t, got.err, "no service has run", data)
	}

	must(t, os.WriteFile(filepath.Join(data, "watchmark.toml"), []byte("[server]\nbase_path = \"/below\"\n"), 0o600))
	service := launch(t, command(t, []string{"WATCHMARK_CATALOG_API_URL=" + nowhere}, "serve", "--data", data, "--listen", "0.0.0.0:0"), serviceListens)
	if got := ask(); got != (ran{}) {
		t.Errorf("while it runs, on all addresses and below a path: %+v", got)
	}
	wants(t, http.StatusOK, http.MethodGet, service.url+"/health", "", "", nil)

	service.kill()
	if got := ask(); got.code != 1 {
		t.Errorf("after its end: %+v", got)
	} else {
		mustHold(t, got.err, "does not answer")
	}
}

func TestTheSetupLinkOfAContainerLeavesTheMachineOpen(t *testing.T) {
	for name, c := range map[string]struct {
		environ []string
		want    string
	}{
		"nothing is known": {nil, "HOST stands for the machine"},
		"address is known": {[]string{"WATCHMARK_SERVER_PUBLIC_URL=https://watch.example.org"}, "    https://watch.example.org/setup?token="},
	} {
		t.Run(name, func(t *testing.T) {
			service := launch(t, command(t, append(c.environ, "PUID=0", "WATCHMARK_CONTAINER=true", "WATCHMARK_CATALOG_API_URL="+nowhere), "serve", "--data", t.TempDir(), "--listen", "0.0.0.0:0"), serviceListens)
			service.printed(setupLink)
			text, _ := service.out.read()
			mustHold(t, text, c.want)
		})
	}
}
