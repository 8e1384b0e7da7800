package api_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"watchmark/internal/match/seriesid"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/task"
	"watchmark/internal/source/importer"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/source/watcher"
	"watchmark/internal/testkit/mediaservertest"
)

// newWatcher asks media servers for the rig. It asks none by itself until something is connected.
func (r *rig) newWatcher(box *secret.Box, masker *secret.Masker, log *slog.Logger) *watcher.Service {
	k := watcher.NewService(watcher.Config{
		DB: r.db, Box: box, Masker: masker, Tasks: r.tasks, Holds: r.holds, Replicas: func(context.Context) (int, error) { return 1, nil }, Intake: r.engine, Log: log, Routed: r.engine.Routed,
		Remember: func(context.Context, []seriesid.Series) error { return nil }, ForecastFor: r.engine.ForecastFor,
		Account: func(ctx context.Context, id int64) error {
			_, err := r.accounts.Get(ctx, id)
			return err
		},
		Import: func(context.Context, int64, importer.History, bool) (*task.Task, error) {
			return nil, importer.ErrRunning
		}, // whose own tests read histories
		Enabled: func() bool { return r.settings.Current().Watcher.Enabled },
		Dialer:  r.dialer(masker, log),
	})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { k.Run(ctx); close(ended) }()
	r.t.Cleanup(func() { stop(); <-ended })
	return k
}

// dialer asks media servers.
func (r *rig) dialer(masker *secret.Masker, log *slog.Logger) *mediaserver.Dialer {
	return &mediaserver.Dialer{
		HTTP: func() httpx.Config { return unhurried }, Masker: masker, Installation: "watchmark-tests", Version: "1.2.3", Log: log,
		Plex: func() mediaserver.PlexAddresses {
			w := r.settings.Current().Watcher
			return mediaserver.PlexAddresses{Account: w.PlexURL, Clients: w.PlexClientsURL, Page: w.PlexAuthURL}
		},
	}
}

const mediaPassword = "password-of-the-media-server"

// mediaServer is a simulated media server with the sample, whose users are mira and alex.
func mediaServer(t *testing.T, kind mediaservertest.Kind) *mediaservertest.Server {
	t.Helper()
	return mediaservertest.Start(t, mediaservertest.Sample(kind, mediaservertest.User{Name: "mira", Password: mediaPassword, Admin: true}, mediaservertest.User{Name: "alex", Password: "of-alex"}))
}

// plays has mira play an episode of the sample to its end.
func plays(t *testing.T, server *mediaservertest.Server, episodes ...int) {
	t.Helper()
	for _, n := range episodes {
		item, err := server.Find("灯塔守望者", 2, n)
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Watch("mira", item.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// becomes waits until something holds.
func (r *rig) becomes(holds func() bool) {
	r.t.Helper()
	tick, late := time.NewTicker(20*time.Millisecond), time.After(2*time.Minute)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-late:
			r.t.Fatal("it never came true")
		}
	}
}

// taskEnds waits for a task that an answer names, and returns its last event.
func (r *rig) taskEnds(started reply) string {
	r.t.Helper()
	started.want(http.StatusAccepted, `"task_id":`)
	_, all := r.events(fmt.Sprintf("/api/tasks/%v/stream", started.get("task_id")), "", 100_000)
	if len(all) == 0 || all[len(all)-1].name != "result" {
		r.t.Fatalf("%s: the stream ends with %v", started.what, all)
	}
	return all[len(all)-1].data
}

func TestServersAreConnectedChangedAndLeft(t *testing.T) {
	server, other := mediaServer(t, mediaservertest.Jellyfin), mediaServer(t, mediaservertest.Emby)
	r := newRig(t)
	r.mira()
	plays(t, server, 1, 2)
	r.do("GET", "/api/servers", nil).want(http.StatusOK, `{"items":[],"next_cursor":""}`)
	r.do("POST", "/api/servers/probe", map[string]string{"url": server.URL}).want(http.StatusOK, `"kind":"jellyfin"`, `"codes":true`, `"version":"10.11.8"`)
	r.do("POST", "/api/servers/probe", map[string]string{"url": "http://127.0.0.1:9"}).problem(http.StatusUnprocessableEntity, "body.url", "no answer from this address")
	body := func(pairs ...string) map[string]string {
		m := map[string]string{"kind": "jellyfin", "url": server.URL, "username": "mira", "password": mediaPassword}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	for _, c := range []struct {
		name  string
		body  map[string]string
		field string
	}{
		{"a wrong password", body("password", "wrong"), "body.password"},
		{"another kind of server", body("url", other.URL), "body."},
		{"an address without a server", body("url", "http://127.0.0.1:9"), "body.url"},
		{"no address", body("url", ""), "body.url"},
		{"a kind that does not exist", body("kind", "kodi"), "body.kind"},
		{"Emby without a user name", map[string]string{"kind": "emby", "url": other.URL}, "body.username"},
		{"Plex with a password", map[string]string{"kind": "plex", "username": "mira", "password": mediaPassword}, "body.username"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r.t = t
			r.do("POST", "/api/servers", c.body).problem(http.StatusUnprocessableEntity, c.field)
			r.do("GET", "/api/servers", nil).want(http.StatusOK, `"items":[]`)
		})
	}
	r.t = t
	r.do("POST", "/api/servers", body()).want(http.StatusCreated, `"id":1`, `"state":"connected"`, `"user_name":"mira"`, `"media_user_name":"mira"`, `"accounts":["mira"]`, `"kind":"jellyfin"`)
	r.do("POST", "/api/servers", body("kind", "emby", "url", other.URL, "username", "alex", "password", "of-alex", "media_user_name", "alex upstairs")).
		want(http.StatusCreated, `"id":2`, `"media_user_name":"alex upstairs"`, `"accounts":[]`)

	// Everything that was played is compared now. What was played before it was connected is known, and no record.
	r.becomes(func() bool { return r.do("GET", "/api/servers/1", nil).get("known") == 2.0 })
	plays(t, server, 3)
	if ended := r.taskEnds(r.do("POST", "/api/servers/1/sync", nil)); !strings.Contains(ended, `"state":"done"`) || !strings.Contains(ended, `"full":true`) {
		t.Errorf("the sync ends as %s", ended)
	}
	r.becomes(func() bool {
		return strings.Contains(r.do("GET", "/api/records?source=watcher", nil).body, `"user_name":"mira"`)
	})
	r.do("GET", "/api/servers/1", nil).want(http.StatusOK, `"known":3`, `"last_event":"灯塔守望者 S2 E3"`)

	libraries, _ := r.do("GET", "/api/servers/1", nil).get("libraries").([]any)
	if len(libraries) == 0 {
		t.Fatal("the login has no libraries")
	}
	first, _ := libraries[0].(map[string]any)
	r.do("PATCH", "/api/servers/1", map[string]any{"media_user_name": "mira TV", "enabled": false, "libraries": []any{first["id"]}}).
		want(http.StatusOK, `"media_user_name":"mira TV"`, `"enabled":false`, `"picked":true`, `"picked":false`)
	r.do("PATCH", "/api/servers/1", map[string]any{"libraries": []string{"nowhere"}}).problem(http.StatusUnprocessableEntity, "body.libraries")
	r.do("PATCH", "/api/servers/1", map[string]any{"url": other.URL}).problem(http.StatusUnprocessableEntity, "body.")
	r.do("PATCH", "/api/servers/1", map[string]any{"token": "x"}).problem(http.StatusUnprocessableEntity, "token")
	r.do("POST", "/api/servers/1/sign-in", map[string]string{"username": "alex", "password": "of-alex"}).problem(http.StatusUnprocessableEntity, "body.username", "another user")
	r.do("POST", "/api/servers/1/sign-in", map[string]string{"username": "mira", "password": mediaPassword}).want(http.StatusOK, `"state":"connected"`)
	r.do("POST", "/api/servers/1/held", map[string]bool{"take": true}).problem(http.StatusConflict, "No plays wait")
	r.do("POST", "/api/servers/1/choose", map[string]string{"server": "x"}).problem(http.StatusConflict, "nothing to choose")
	r.do("POST", "/api/servers/1/history", map[string]bool{"dry_run": true}).problem(http.StatusUnprocessableEntity, "body.media_user_name", "mira TV")
	r.do("POST", "/api/servers/1/seed", map[string]any{"account_id": 99}).problem(http.StatusUnprocessableEntity, "body.account_id")
	r.do("POST", "/api/tasks/99/undo", nil).problem(http.StatusNotFound, "")
	r.do("DELETE", "/api/servers/1", nil).want(http.StatusNoContent)
	for _, what := range []string{"GET /api/servers/1", "DELETE /api/servers/1", "POST /api/servers/1/sync", "GET /api/servers/99"} {
		method, path, _ := strings.Cut(what, " ")
		r.do(method, path, nil).problem(http.StatusNotFound, "no such sign-in")
	}
	for _, what := range []string{"GET /api/servers", "POST /api/servers", "POST /api/servers/probe", "POST /api/servers/2/sync", "DELETE /api/servers/2"} {
		method, path, _ := strings.Cut(what, " ")
		r.anonymous(method, path, nil).problem(http.StatusUnauthorized, "")
	}
	for _, text := range []string{r.do("GET", "/api/servers", nil).body, r.log.String()} {
		if strings.Contains(text, mediaPassword) || strings.Contains(text, "of-alex") {
			t.Errorf("a password is told: %.300s", text)
		}
	}
	r.do("PATCH", "/api/settings", map[string]any{"watcher": map[string]any{"enabled": false}}).want(http.StatusOK)
	r.do("POST", "/api/servers", body()).problem(http.StatusConflict, "switched off")
}

func TestServersAreSignedInAtByCode(t *testing.T) {
	server := mediaServer(t, mediaservertest.Jellyfin)
	r := newRig(t)
	added := r.do("POST", "/api/servers", map[string]string{"kind": "jellyfin", "url": server.URL}).want(http.StatusCreated, `"state":"signed_out"`, `"sign_in":{"code":"`, `"url":""`)
	code, _ := added.get("sign_in", "code").(string)
	if err := server.Confirm(code, "mira"); err != nil {
		t.Fatal(err)
	}
	r.becomes(func() bool { return r.do("GET", "/api/servers/1", nil).get("state") == "connected" })
	if got := r.do("GET", "/api/servers/1", nil).want(http.StatusOK, `"user_name":"mira"`); strings.Contains(got.body, `"sign_in"`) || strings.Contains(got.body, code) {
		t.Errorf("the code is still there: %s", got.body)
	}
	// Again, in place of the sign-in that there is.
	code, _ = r.do("POST", "/api/servers/1/sign-in", map[string]string{}).want(http.StatusOK, `"state":"connected"`).get("sign_in", "code").(string)
	if err := server.Confirm(code, "mira"); err != nil {
		t.Fatal(err)
	}
	r.becomes(func() bool { return !strings.Contains(r.do("GET", "/api/servers/1", nil).body, `"sign_in"`) })
}

func TestServersOfPlexAreChosen(t *testing.T) {
	server := mediaservertest.Start(t, mediaservertest.Sample(mediaservertest.Plex, mediaservertest.User{Name: "alex", Password: "of-alex", Admin: true, Home: true},
		mediaservertest.User{Name: "mira", Home: true, Managed: true, PIN: "4711"}))
	r := newRig(t, "WATCHMARK_WATCHER_PLEX_URL="+server.URL, "WATCHMARK_WATCHER_PLEX_CLIENTS_URL="+server.URL, "WATCHMARK_WATCHER_PLEX_AUTH_URL="+server.URL+"/auth")
	r.mira()
	added := r.do("POST", "/api/servers", map[string]string{"kind": "plex"}).want(http.StatusCreated, `"state":"signed_out"`, server.URL+"/auth#?")
	code, _ := added.get("sign_in", "code").(string)
	if err := server.PlexTV().Approve(code, "alex"); err != nil {
		t.Fatal(err)
	}
	r.becomes(func() bool { return strings.Contains(r.do("GET", "/api/servers/1", nil).body, `"choices"`) })
	got := r.do("GET", "/api/servers/1", nil).want(http.StatusOK, `"people":[`, `"pin":true`)
	id := func(list, name string) string {
		all, _ := got.get("choices", list).([]any)
		at := slices.IndexFunc(all, func(one any) bool {
			choice, _ := one.(map[string]any)
			return name == "" || choice["name"] == name
		})
		if at < 0 {
			t.Fatalf("%s has no %s: %s", list, name, got.body)
		}
		choice, _ := all[at].(map[string]any)
		return choice["id"].(string)
	}
	choose := map[string]string{"server": id("servers", ""), "person": id("people", "mira"), "pin": "0000"}
	r.do("POST", "/api/servers/1/choose", choose).problem(http.StatusUnprocessableEntity, "body.pin")
	r.do("POST", "/api/servers/1/choose", map[string]string{"server": "nowhere"}).problem(http.StatusUnprocessableEntity, "body.server")
	choose["pin"] = "4711"
	r.do("POST", "/api/servers/1/choose", choose).want(http.StatusOK, `"state":"connected"`, `"user_name":"mira"`, `"accounts":["mira"]`)
	if text := r.log.String(); strings.Contains(text, "4711") {
		t.Error("the PIN is in the log")
	}
}

func TestCertificatesOfServersAreConfirmed(t *testing.T) {
	server := mediaServer(t, mediaservertest.Ugreen)
	r := newRig(t)
	found := r.do("POST", "/api/servers/probe", map[string]string{"url": server.URL}).want(http.StatusOK, `"kind":"ugreen"`)
	pin, _ := found.get("certificate_sha256").(string)
	if len(pin) != 64 {
		t.Fatalf("the fingerprint is %q", pin)
	}
	body := map[string]string{"kind": "ugreen", "url": server.URL, "username": "mira", "password": mediaPassword}
	r.do("POST", "/api/servers", body).problem(http.StatusUnprocessableEntity, "body.certificate_sha256", pin)
	body["certificate_sha256"] = strings.Repeat("0", 64)
	r.do("POST", "/api/servers", body).problem(http.StatusUnprocessableEntity, "body.certificate_sha256")
	body["certificate_sha256"] = pin
	r.do("POST", "/api/servers", body).want(http.StatusCreated, `"state":"connected"`)
}

func TestPlaysThatCameAllAtOnceWaitForAPerson(t *testing.T) {
	server := mediaServer(t, mediaservertest.Jellyfin)
	r := newRig(t)
	r.mira()
	r.do("POST", "/api/servers", map[string]string{"kind": "jellyfin", "url": server.URL, "username": "mira", "password": mediaPassword}).want(http.StatusCreated)
	marks := func(titles ...string) { // as a file of metadata does: without a date
		t.Helper()
		r.becomes(func() bool { return r.do("GET", "/api/servers/1", nil).get("way") == "live" })
		for _, title := range titles {
			for season := 1; season <= 2; season++ {
				for n := 1; n <= 24; n++ {
					if item, err := server.Find(title, season, n); err == nil {
						if err := server.Import("mira", item.ID); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
		}
		r.taskEnds(r.do("POST", "/api/servers/1/sync", nil))
		r.becomes(func() bool { return strings.Contains(r.do("GET", "/api/servers/1", nil).body, `"episodes":[1,2,3`) })
	}
	marks("灯塔守望者", "沙漏之城")
	r.do("GET", "/api/records?source=watcher", nil).want(http.StatusOK, `"items":[]`)
	r.do("POST", "/api/servers/1/held", map[string]bool{"take": false}).want(http.StatusOK, `"held":[]`)
	r.do("GET", "/api/records?source=watcher", nil).want(http.StatusOK, `"items":[]`)
	marks("深海电车", "月影茶馆", "港町夜行巴士")
	r.do("POST", "/api/servers/1/held", map[string]bool{"take": true}).want(http.StatusOK, `"held":[]`)
	r.becomes(func() bool {
		return strings.Contains(r.do("GET", "/api/records?source=watcher", nil).body, "月影茶馆")
	})
	r.do("POST", "/api/servers/1/held", map[string]any{}).problem(http.StatusUnprocessableEntity, "take")
}
