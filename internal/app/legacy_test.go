package app_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// The bodies that the documents of Bangumi-syncer have media servers send, by the path they send them to.
var legacyBodies = []struct{ name, path, contentType, body string }{
	{"the script of its page", "/Custom", "application/json",
		`{"media_type":"episode","title":"灯塔守望者","ori_title":"","season":1,"episode":1,"release_date":"2024-01-10","user_name":"Mira","source":"custom"}`},
	{"Tautulli by its template", "/Custom", "application/json",
		`{"media_type": "episode", "title": "灯塔守望者", "ori_title": " ", "season": "1", "episode": "2", "release_date": "2024-01-17", "user_name": "Mira", "source": "plex"}`},
	{"Plex", "/Plex", "multipart/form-data; boundary=x",
		"--x\r\nContent-Disposition: form-data; name=\"payload\"\r\nContent-Type: application/json\r\n\r\n" +
			`{"event":"media.scrobble","user":true,"Account":{"title":"Mira"},"Metadata":{"librarySectionType":"show","type":"episode","title":"第3话","grandparentTitle":"灯塔守望者","parentIndex":1,"index":3,"originallyAvailableAt":"2024-01-24"}}` +
			"\r\n--x--\r\n"},
	{"Emby", "/Emby", "application/json",
		`{"Event":"playback.stop","User":{"Name":"Mira","Id":"1"},"Item":{"Type":"Episode","Name":"第4话","SeriesName":"灯塔守望者","ParentIndexNumber":1,"IndexNumber":4,"PremiereDate":"2024-01-31T00:00:00.0000000Z"},"PlaybackInfo":{"PlayedToCompletion":true}}`},
	{"Jellyfin by its template", "/Jellyfin", "text/plain; charset=utf-8",
		`{"media_type": "Episode","title": "灯塔守望者","season": 1,"episode": 5,"ori_title": " ","release_date": "2024-01-01","user_name": "Mira","NotificationType": "PlaybackStop","PlayedToCompletion": "True", "source": "jellyfin"}`},
	{"Jellyfin by its template of older versions", "/Jellyfin", "text/plain; charset=utf-8",
		`{"media_type": "Episode","title": "灯塔守望者","ori_title": " ","season": 1,"episode": 6,"release_date": "2024-01-01","user_name": "Mira","NotificationType": "PlaybackStop","PlayedToCompletion": "True"}`},
}

func TestLegacyPathsMarkWithoutAChangeAtTheMediaServer(t *testing.T) {
	s := start(t, "WATCHMARK_SERVER_LEGACY_PATHS=true")
	for i, c := range legacyBodies {
		t.Run(c.name, func(t *testing.T) {
			path := c.path
			if i%2 == 1 {
				path += "/a-key-from-when-it-asked-for-one"
			}
			ids := s.accepted(s.do(s.request(http.MethodPost, path, c.contentType, c.body)))
			if r := s.settled(ids[0]); r.Status != "success" || *r.EpisodeSort != float64(i+1) {
				t.Errorf("the record is %+v", r)
			}
		})
	}
}

func TestLegacyPathsAnswerOnlyWhenTheyAreOn(t *testing.T) {
	s := start(t)
	for _, path := range []string{"/Plex", "/Plex/", "/Emby", "/Jellyfin/key", "/Custom", "/Custom/" + s.hook} {
		got := s.do(s.request(http.MethodPost, path, "application/json", legacyBodies[0].body))
		if got.status != http.StatusNotFound || !strings.Contains(got.body, "server.legacy_paths") {
			t.Errorf("%s answers %d: %s", path, got.status, got.body)
		}
	}
	s.api(http.MethodPatch, "/api/settings", `{"server":{"legacy_paths":true}}`, http.StatusOK, nil)
	s.accepted(s.do(s.request(http.MethodPost, "/Custom/", "application/json", legacyBodies[0].body)))
	s.api(http.MethodPatch, "/api/settings", `{"server":{"legacy_paths":false}}`, http.StatusOK, nil)
	if got := s.do(s.request(http.MethodPost, "/Custom", "application/json", legacyBodies[0].body)); got.status != http.StatusNotFound {
		t.Errorf("switched off, the path answers %d", got.status)
	}
}

func TestLegacyKey(t *testing.T) {
	const key = "the-key-of-bangumi-syncer-0123456789"
	s := start(t, "WATCHMARK_SERVER_LEGACY_PATHS=true", "WATCHMARK_SERVER_LEGACY_KEY="+key)
	for _, c := range []struct {
		name, path string
		status     int
	}{
		{"the key", "/Custom/" + key, http.StatusAccepted},
		{"no key", "/Custom", http.StatusUnauthorized},
		{"no key behind a slash", "/Custom/", http.StatusUnauthorized},
		{"another key", "/Custom/" + key + "x", http.StatusUnauthorized},
		{"the key of the other paths", "/Custom/" + s.hook, http.StatusUnauthorized},
		{"the key on the other paths", "/webhook/custom/" + key, http.StatusUnauthorized},
		{"more behind the key", "/Custom/" + key + "/more", http.StatusNotFound},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := s.do(s.request(http.MethodPost, c.path, "application/json", legacyBodies[0].body))
			if got.status != c.status || strings.Contains(got.body, key) {
				t.Errorf("answers %d: %s", got.status, got.body)
			}
		})
	}
	if strings.Contains(s.logs.String(), key) {
		t.Error("the log holds the key")
	}
}

func TestLegacyPathsUnderABasePath(t *testing.T) {
	s := start(t, "WATCHMARK_SERVER_BASE_PATH=/wm", "WATCHMARK_SERVER_LEGACY_PATHS=true")
	root, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	under := s.url
	for _, base := range []string{under, root.Scheme + "://" + root.Host} {
		s.url = base
		for _, path := range []string{"/Custom", "/Custom/key"} {
			s.accepted(s.do(s.request(http.MethodPost, path, "application/json", legacyBodies[0].body)))
		}
	}
}

func TestLegacyPathsTakeNothingFromPagesOfOtherSites(t *testing.T) {
	s := start(t, "WATCHMARK_SERVER_LEGACY_PATHS=true")
	for header, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://elsewhere.example"} {
		request := s.request(http.MethodPost, "/Custom", "text/plain", legacyBodies[0].body)
		request.Header.Set(header, value)
		if got := s.do(request); got.status != http.StatusForbidden {
			t.Errorf("with %s the answer is %d: %s", header, got.status, got.body)
		}
	}
	if got := s.do(s.request(http.MethodGet, "/Custom", "", "")); got.status == http.StatusAccepted {
		t.Errorf("GET answers %d", got.status)
	}
	if marked := fmt.Sprint(s.marked()); marked != "map[]" {
		t.Errorf("marked %s", marked)
	}
}
