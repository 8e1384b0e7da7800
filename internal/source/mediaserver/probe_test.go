package mediaserver_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"watchmark/internal/source/mediaserver"
)

var deviceID = regexp.MustCompile(`DeviceId="[^"]*"`)

func TestProbe(t *testing.T) {
	plex := says(`{"MediaContainer":{"size":0,"claimed":true,"machineIdentifier":"546684a3d1","version":"1.42.2"}}`)
	refusesWithoutHeader := func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"X-Emby-Authorization is missing"}`))
	}
	page := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html>"))
	}
	for _, c := range []struct {
		name    string
		answers map[string]http.HandlerFunc
		path    string // behind the address that is entered
		kind    mediaserver.Kind
		base    string // behind the address that is found
	}{
		{"Jellyfin", map[string]http.HandlerFunc{"/System/Info/Public": says(jellyfinPublic)}, "", mediaserver.Jellyfin, ""},
		{"the page of Jellyfin", map[string]http.HandlerFunc{"/System/Info/Public": says(jellyfinPublic)}, "/web/#/home.html", mediaserver.Jellyfin, ""},
		{"Jellyfin with a base path", map[string]http.HandlerFunc{"/jellyfin/System/Info/Public": says(jellyfinPublic)}, "/jellyfin", mediaserver.Jellyfin, "/jellyfin"},
		{"Jellyfin that sends to its base path", map[string]http.HandlerFunc{
			"/System/Info/Public":          func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/jellyfin/web/", http.StatusFound) },
			"/jellyfin/System/Info/Public": says(jellyfinPublic),
		}, "", mediaserver.Jellyfin, "/jellyfin"},
		{"Emby", map[string]http.HandlerFunc{"/System/Info/Public": says(embyPublic), "/emby/System/Info/Public": says(embyPublic)}, "", mediaserver.Emby, ""},
		{"Emby with its prefix", map[string]http.HandlerFunc{"/emby/System/Info/Public": says(embyPublic)}, "/emby", mediaserver.Emby, ""},
		{"Plex", map[string]http.HandlerFunc{"/identity": plex}, "", mediaserver.Plex, ""},
		{"fnOS, whose pages answer everything", map[string]http.HandlerFunc{"/System/Info/Public": page, "/emby/System/Info/Public": page, "/identity": page, "/Users/AuthenticateByName": refusesWithoutHeader}, "", mediaserver.FnOS, ""},
		{"UGREEN", map[string]http.HandlerFunc{"/emby/System/Info": says(`{"ProductName":"UGREEN Video Center","Version":"v1.1.0","Id":"ugreen-video-serv"}`)}, "", mediaserver.Ugreen, ""},
		{"ZSpace", map[string]http.HandlerFunc{"/emby/System/Info/Public": says(`{"ServerVersion":"4.7.0.0","ServerName":"z4"}`)}, "", mediaserver.ZSpace, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDoor(t, c.answers)
			for _, address := range []string{d.URL + c.path, strings.TrimPrefix(d.URL, "http://") + c.path} {
				found, err := newDialer(t).Probe(t.Context(), address, "")
				if err != nil || found.Kind != c.kind || found.URL != d.URL+c.base {
					t.Errorf("%s: %+v %v", address, found, err)
				}
			}
		})
	}
}

func TestProbeShowsACertificateThatNobodyHasSigned(t *testing.T) {
	secure := httptest.NewTLSServer(says(jellyfinPublic))
	t.Cleanup(secure.Close)
	found, err := newDialer(t).Probe(t.Context(), secure.URL, "")
	if err != nil || len(found.Pin) != 64 || found.Kind != mediaserver.Jellyfin {
		t.Fatalf("%+v %v", found, err)
	}
	confirmed, err := newDialer(t).Probe(t.Context(), secure.URL, found.Pin)
	if err != nil || confirmed.Kind != mediaserver.Jellyfin || confirmed.Pin != "" {
		t.Errorf("%+v %v", confirmed, err)
	}
	// A plain address whose server sends on to the secure one.
	d := newDoor(t, map[string]http.HandlerFunc{"/System/Info/Public": func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, secure.URL+r.URL.Path, http.StatusMovedPermanently)
	}})
	if found, err := newDialer(t).Probe(t.Context(), d.URL, ""); err != nil || found.URL != secure.URL || found.Pin == "" {
		t.Errorf("%+v %v", found, err)
	}
}

func TestProbeFollowsToNoOtherHost(t *testing.T) {
	other := newDoor(t, map[string]http.HandlerFunc{"/System/Info/Public": says(jellyfinPublic)})
	d := newDoor(t, map[string]http.HandlerFunc{"/System/Info/Public": func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1)+r.URL.Path, http.StatusFound)
	}})
	if found, err := newDialer(t).Probe(t.Context(), d.URL, ""); err == nil || len(other.requests) > 0 {
		t.Errorf("%+v, which was asked: %v", found, other.requests)
	}
}
