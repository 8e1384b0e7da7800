package mediaservertest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// plexRig is a Plex of mira, shared with alex, and the helpers to ask it.
type plexRig struct {
	t *testing.T
	s *Server
	// url is what is asked: the server, or plex.tv.
	url string
}

func newPlexRig(t *testing.T, change func(*Config)) plexRig {
	cfg := Config{
		Kind: Plex, ID: "machine-1", Name: "attic", Settle: time.Millisecond,
		Users: []User{{Name: "mira", Password: "pw", Home: true}, {Name: "alex", Password: "pw2", Libraries: []string{"3"}},
			{Name: "bench", Managed: true, Home: true, PIN: "1234"}},
		Libraries: []Library{{ID: "3", Name: "动画", Kind: "show"}, {ID: "4", Name: "家庭录像", Kind: "homevideos"}},
		Shows:     []Show{{ID: "4700", Library: "3", Title: "灯塔守望者", IDs: map[string]string{"Tvdb": "900000"}}},
	}
	for n := range 5 {
		cfg.Items = append(cfg.Items, Item{Library: "3", Show: "4700", Title: "第夜", Season: 2, Episode: n + 1, Date: "2024-05-19", IDs: map[string]string{"Tvdb": "900002"}})
	}
	if change != nil {
		change(&cfg)
	}
	s := Start(t, cfg)
	s.PlexTV().PollEvery = time.Nanosecond
	return plexRig{t, s, s.URL}
}

// ask asks with a token; the answer is nil where it is no JSON object.
func (rig plexRig) ask(method, path, token string) (int, object) {
	rig.t.Helper()
	r, err := http.NewRequestWithContext(rig.t.Context(), method, rig.url+path, nil)
	if err != nil {
		rig.t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("X-Plex-Client-Identifier", "client-1")
	r.Header.Set("X-Plex-Product", "Watchmark")
	r.Header.Set("X-Plex-Token", token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		rig.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		rig.t.Fatal(err)
	}
	var o object
	if strings.HasPrefix(string(text), "[") {
		text = []byte(`{"list":` + string(text) + `}`)
	}
	_ = json.Unmarshal(text, &o) // a page is none
	return answer.StatusCode, o
}

// account signs somebody in at plex.tv.
func (rig plexRig) account(name string) string {
	rig.t.Helper()
	_, pin := rig.ask("POST", "/api/v2/pins?strong=true", "")
	if err := rig.s.Confirm(pin["code"].(string), name); err != nil {
		rig.t.Fatal(err)
	}
	_, pin = rig.ask("GET", "/api/v2/pins/"+jsonText(pin["id"]), "")
	return pin["authToken"].(string)
}

// token is the token of the server that plex.tv lists for an account.
func (rig plexRig) token(account string) string {
	rig.t.Helper()
	_, list := rig.ask("GET", "/api/v2/resources?includeHttps=1&includeRelay=1", account)
	for _, one := range list["list"].([]any) {
		if one := one.(object); one["provides"] == "server" {
			return one["accessToken"].(string)
		}
	}
	return ""
}

// rows are the keys of what a list of the server holds.
func (rig plexRig) rows(path, token string) []string {
	rig.t.Helper()
	status, o := rig.ask("GET", path, token)
	if status != http.StatusOK {
		rig.t.Fatalf("%s: status %d", path, status)
	}
	var keys []string
	for _, one := range o["MediaContainer"].(object)["Metadata"].([]any) {
		key, _ := one.(object)["ratingKey"].(string) // what was deleted has none
		keys = append(keys, key)
	}
	return keys
}

func jsonText(v any) string {
	text, _ := json.Marshal(v) // it came as JSON
	return string(text)
}

// socket opens a live connection; what it gives is the next notification, nil when the connection was lost.
func (rig plexRig) socket(token string) func() object {
	rig.t.Helper()
	conn, answer, err := websocket.Dial(rig.t.Context(), rig.s.URL+"/:/websockets/notifications?filters=playing", &websocket.DialOptions{HTTPHeader: http.Header{"X-Plex-Token": {token}}})
	if err != nil {
		rig.t.Fatal(err)
	}
	if answer.Body != nil {
		_ = answer.Body.Close()
	}
	rig.t.Cleanup(func() { _ = conn.CloseNow() })
	return func() object {
		rig.t.Helper()
		ctx, cancel := context.WithTimeout(rig.t.Context(), 10*time.Second)
		defer cancel()
		_, text, err := conn.Read(ctx)
		if err != nil {
			return nil
		}
		var o struct{ NotificationContainer object }
		if err := json.Unmarshal(text, &o); err != nil {
			rig.t.Fatal(err)
		}
		return o.NotificationContainer
	}
}
