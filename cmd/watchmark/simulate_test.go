package main

import (
	"net/http"
	"regexp"
	"testing"
)

// TestSimulatedMediaServers plays an episode on each that docs/design/simulated.md names.
func TestSimulatedMediaServers(t *testing.T) {
	kinds := []string{"jellyfin", "emby", "plex", "zspace", "fnos"}
	args := []string{"--media-user", "mira:pw", "--media-user", "alex:pw"}
	for _, kind := range kinds {
		args = append(args, "--"+kind, "127.0.0.1:0")
	}
	process := simulate(t, args...)
	for _, kind := range kinds {
		address := process.printed(regexp.MustCompile(`simulated `+kind+` on (\S+)`)) + "/_sim/" + kind
		wants(t, http.StatusNoContent, http.MethodPost, address+"/play", "", `{"user":"alex","title":"灯塔守望者","season":2,"episode":7}`, nil)
		got := wants(t, http.StatusOK, http.MethodGet, address+"/played", "", "", nil)
		mustHold(t, got.body, `"user":"alex","title":"灯塔守望者","season":2,"episode":7`)
	}
	process.printed(regexp.MustCompile(`WATCHMARK_WATCHER_PLEX_AUTH_URL=(\S+/auth)`))
}

// TestSimulateAlone starts stand-ins without a token: a person who tries one needs none. The catalog's usual address may be taken here.
func TestSimulateAlone(t *testing.T) {
	media := regexp.MustCompile(`simulated jellyfin on (\S+)`)
	for range 2 {
		process := launch(t, command(t, nil, "simulate", "--jellyfin", "127.0.0.1:0", "--media-user", "mira:pw"), media)
		process.printed(regexp.MustCompile(`(simulated catalog on \S+ \(token of mira: simulated-token,|no simulated catalog: )`))
		wants(t, http.StatusNoContent, http.MethodPost, process.url+"/_sim/jellyfin/play", "", `{"user":"mira","title":"灯塔守望者","season":2,"episode":7}`, nil)
	}
	catalog := launch(t, command(t, nil, "simulate", "--listen", "127.0.0.1:0"), catalogListens)
	wants(t, http.StatusOK, http.MethodGet, catalog.url+"/v0/me", "simulated-token", "", nil)
}
