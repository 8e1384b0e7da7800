package app_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/mediaservertest"
)

// overheard stands before a media server and notes the tokens that it gives.
type overheard struct {
	*httptest.Server
	mu     sync.Mutex
	tokens []string
}

var givenToken = regexp.MustCompile(`"(?:AccessToken|accessToken|authToken|Secret)":"([^"]+)"`)

func overhear(t *testing.T, server *mediaservertest.Server) *overheard {
	t.Helper()
	target := must(url.Parse(server.URL))(t)
	o := &overheard{}
	o.Server = httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Del("Accept-Encoding")
		},
		ModifyResponse: func(r *http.Response) error {
			if r.StatusCode == http.StatusSwitchingProtocols {
				return nil
			}
			body, err := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			o.mu.Lock()
			defer o.mu.Unlock()
			for _, m := range givenToken.FindAllStringSubmatch(string(body), -1) {
				o.tokens = append(o.tokens, m[1])
			}
			return err
		},
	})
	t.Cleanup(o.Close)
	return o
}

// TestSecretsOfMediaServersStayIn signs in at media servers of three kinds, has them fail, and then looks for what opens them
// in the log, in answers, on pages, and in every file of the data folder, backups among them.
func TestSecretsOfMediaServersStayIn(t *testing.T) {
	// A shorter PIN stands now and then in the fraction of a second by chance: lines of the log tell nanoseconds.
	const pin, wrongPIN = "4711820936558214", "9900173846027751"
	jellyfin, emby := mediaServer(t, mediaservertest.Jellyfin), mediaServer(t, mediaservertest.Emby)
	plex := mediaservertest.Start(t, mediaservertest.Sample(mediaservertest.Plex, mediaservertest.User{Name: "bench", Password: mediaPassword, Admin: true, Home: true},
		mediaservertest.User{Name: "mira", Home: true, Managed: true, PIN: pin}))
	atJellyfin, atEmby, atPlex := overhear(t, jellyfin), overhear(t, emby), overhear(t, plex)
	s := start(t, "WATCHMARK_LOG_LEVEL=debug", "WATCHMARK_WATCHER_PLEX_URL="+atPlex.URL, "WATCHMARK_WATCHER_PLEX_CLIENTS_URL="+atPlex.URL, "WATCHMARK_WATCHER_PLEX_AUTH_URL="+atPlex.URL+"/auth")
	const wrong = "not-the-password-of-bench"
	add := func(kind, at, password string, status int) {
		s.api(http.MethodPost, "/api/servers", fmt.Sprintf(`{"kind":%q,"url":%q,"username":"bench","password":%q}`, kind, at, password), status, nil)
	}
	add("jellyfin", atJellyfin.URL, wrong, http.StatusUnprocessableEntity)
	add("jellyfin", atJellyfin.URL, mediaPassword, http.StatusCreated)
	add("emby", atEmby.URL, mediaPassword, http.StatusCreated)
	for _, at := range []string{"http://bench:" + wrong + "@127.0.0.1:9", "bench:" + wrong + "@127.0.0.1"} {
		s.api(http.MethodPost, "/api/servers/probe", fmt.Sprintf(`{"url":%q}`, at), http.StatusUnprocessableEntity, nil)
		add("jellyfin", at, mediaPassword, http.StatusUnprocessableEntity)
	}
	var begun struct {
		ID     int64 `json:"id"`
		SignIn struct {
			Code string `json:"code"`
		} `json:"sign_in"`
	}
	s.api(http.MethodPost, "/api/servers", `{"kind":"plex"}`, http.StatusCreated, &begun)
	if err := plex.PlexTV().Approve(begun.SignIn.Code, "bench"); err != nil {
		t.Fatal(err)
	}
	type login struct {
		State   string `json:"state"`
		Known   int    `json:"known"`
		Choices struct {
			Servers, People []struct{ ID, Name string }
		} `json:"choices"`
	}
	of := func(id int64) (l login) {
		s.api(http.MethodGet, fmt.Sprintf("/api/servers/%d", id), "", http.StatusOK, &l)
		return l
	}
	s.wait("choices at Plex", func() bool { return len(of(begun.ID).Choices.Servers) > 0 })
	choices := of(begun.ID).Choices
	person := ""
	for _, one := range choices.People {
		if one.Name == "mira" {
			person = one.ID
		}
	}
	choose := fmt.Sprintf("/api/servers/%d/choose", begun.ID)
	s.api(http.MethodPost, choose, fmt.Sprintf(`{"server":%q,"person":%q,"pin":%q}`, choices.Servers[0].ID, person, wrongPIN), http.StatusUnprocessableEntity, nil)
	s.api(http.MethodPost, choose, fmt.Sprintf(`{"server":%q,"person":%q,"pin":%q}`, choices.Servers[0].ID, person, pin), http.StatusOK, nil)
	watches(t, jellyfin, 7)
	watches(t, emby, 7)

	places := map[string]string{}
	run := func(path, body string) {
		var begun struct {
			ID int64 `json:"task_id"`
		}
		s.api(http.MethodPost, path, body, http.StatusAccepted, &begun)
		s.taskEnds(begun.ID)
		places["task of "+path] = s.get(fmt.Sprintf("/api/tasks/%d", begun.ID)).body + s.get(fmt.Sprintf("/api/tasks/%d/stream", begun.ID)).body
	}
	for id := range int64(3) {
		run(fmt.Sprintf("/api/servers/%d/sync", id+1), "")
	}
	// The servers end the sign-ins, and break.
	for _, server := range []*mediaservertest.Server{jellyfin, emby, plex} {
		server.Fail(http.StatusBadGateway, 0)
		server.Cut()
	}
	run("/api/servers/1/sync", "")
	for _, server := range []*mediaservertest.Server{jellyfin, emby, plex} {
		server.Fail(0, 0)
		if err := server.Revoke(""); err != nil {
			t.Fatal(err)
		}
	}
	run("/api/servers/2/sync", "")
	if !dbtest.OnServer() { // which has backups of its own
		run("/api/backups", "")
	}

	for _, path := range []string{"/api/servers", "/api/servers/1", "/api/servers/2", "/api/servers/3", "/api/records?limit=50", "/api/records/1", "/api/logs?limit=200&level=debug", "/api/diagnostics", "/api/tasks", "/api/jobs", "/api/settings",
		"/api/notification/inbox", "/sources", "/sources/servers", "/sources/servers/1", "/sources/servers/2", "/sources/servers/3", "/settings/tools/log", "/records/1", "/"} {
		got := s.get(path)
		if got.status != http.StatusOK {
			t.Errorf("%s answers %d", path, got.status)
		}
		places[path] = got.body
	}
	s.stop()
	places["log"] = s.logs.String()
	for place, content := range dbtest.Kept(t, s.dir) {
		places[place] = content
		if packed, err := zip.NewReader(strings.NewReader(content), int64(len(content))); err == nil {
			for _, file := range packed.File {
				inner := must(file.Open())(t)
				places[place+" "+file.Name] = string(must(io.ReadAll(inner))(t))
				_ = inner.Close()
			}
		}
	}

	secrets := []string{mediaPassword, wrong, pin, wrongPIN}
	for _, o := range []*overheard{atJellyfin, atEmby, atPlex} {
		o.mu.Lock()
		if len(o.tokens) == 0 {
			t.Error("a server gave no token")
		}
		secrets = append(secrets, o.tokens...)
		o.mu.Unlock()
	}
	for _, secret := range secrets {
		for place, content := range places {
			if strings.Contains(content, secret) || strings.Contains(content, url.QueryEscape(secret)) {
				t.Errorf("%s: %s is there in clear", place, secret)
			}
		}
	}
	if !strings.Contains(places["log"], "/System/Info/Public") || len(places) < 25 {
		t.Errorf("nothing was looked at: %d places", len(places))
	}
}
