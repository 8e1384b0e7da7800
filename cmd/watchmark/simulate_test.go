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
