package mediaservertest

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

const identity = `MediaBrowser Client="W", Device="attic", DeviceId="wm-1", Version="1.0"`

// person is a client that sends exactly what a test says.
type person struct {
	t       *testing.T
	s       *Server
	headers map[string]string
	id      string // of the user
	token   string
}

var plainClient = &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}

// ask sends a request and gives the status with the body.
func (p *person) ask(method, path, body string) (int, string) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.s.URL+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	for name, value := range p.headers {
		r.Header.Set(name, value)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := plainClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// get decodes what a path answers with 200.
func (p *person) get(path string, into any) {
	p.t.Helper()
	status, text := p.ask("GET", path, "")
	if status != 200 {
		p.t.Fatalf("GET %s = %d %s", path, status, text)
	}
	if err := json.NewDecoder(bytes.NewBufferString(text)).Decode(into); err != nil {
		p.t.Fatalf("GET %s: %v in %s", path, err, text)
	}
}

// signedIn is mira with the header that the kind wants.
func signedIn(t *testing.T, s *Server) *person {
	t.Helper()
	p := &person{t: t, s: s}
	name, prefix := "Authorization", ""
	switch s.cfg.Kind {
	case Ugreen, ZSpace:
		name, prefix = "X-Emby-Authorization", "/emby"
	case FnOS:
		name = "X-Emby-Authorization"
	}
	p.headers = map[string]string{name: identity}
	status, text := p.ask("POST", prefix+"/Users/AuthenticateByName", `{"Username":"mira","Pw":"mira"}`)
	var login struct {
		AccessToken string
		User        struct {
			ID string `json:"Id"`
		}
	}
	if err := json.Unmarshal([]byte(text), &login); status != 200 || err != nil {
		t.Fatalf("sign-in = %d %s", status, text)
	}
	p.token, p.id = login.AccessToken, login.User.ID
	p.headers[name] = identity + `, Token="` + p.token + `"`
	return p
}

type row struct {
	ID                                   string `json:"Id"`
	Name, Type, SeriesName, PremiereDate string
	IndexNumber                          *int
	UserData                             struct {
		Played                bool
		PlayCount             int
		LastPlayedDate        string
		PlaybackPositionTicks int64
	}
}

type rows struct {
	Items            []row
	TotalRecordCount int
}

// listen opens the websocket and gives the messages without the keep-alive ones.
func (p *person) listen(path string) <-chan map[string]any {
	p.t.Helper()
	header := http.Header{}
	for name, value := range p.headers {
		header.Set(name, value)
	}
	conn, _, err := websocket.Dial(p.t.Context(), "ws"+strings.TrimPrefix(p.s.URL, "http")+path, &websocket.DialOptions{HTTPHeader: header})
	if err != nil {
		p.t.Fatal(err)
	}
	conn.SetReadLimit(16 << 20)
	messages := make(chan map[string]any, 100)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	p.t.Cleanup(func() { cancel(); <-ended })
	go func() {
		defer close(ended)
		defer close(messages)
		for {
			_, text, err := conn.Read(ctx)
			if err != nil {
				return
			}
			var m map[string]any
			if json.Unmarshal(text, &m) != nil {
				return
			}
			messages <- m
			if m["MessageType"] == "ForceKeepAlive" {
				if conn.Write(ctx, websocket.MessageText, []byte(`{"MessageType":"KeepAlive"}`)) != nil {
					return
				}
			}
		}
	}()
	return messages
}

// next is the next push, without what is no push.
func next(t *testing.T, messages <-chan map[string]any) (user string, entries []map[string]any) {
	t.Helper()
	for {
		select {
		case m, ok := <-messages:
			if !ok {
				t.Fatal("the connection is lost")
			}
			if m["MessageType"] != "UserDataChanged" {
				continue
			}
			data := m["Data"].(map[string]any)
			for _, e := range data["UserDataList"].([]any) {
				entries = append(entries, e.(map[string]any))
			}
			return data["UserId"].(string), entries
		case <-time.After(20 * time.Second):
			t.Fatal("no push")
		}
	}
}

// start runs a sample server with mira and alex.
func start(t *testing.T, cfg Config) *Server {
	t.Helper()
	sample := Sample(cfg.Kind, User{Name: "mira", Password: "mira"}, User{Name: "alex", Password: "alex"})
	cfg.Libraries, cfg.Shows, cfg.Items = sample.Libraries, sample.Shows, sample.Items
	if cfg.Users == nil {
		cfg.Users = sample.Users
	}
	cfg.Quiet = max(cfg.Quiet, time.Millisecond)
	return Start(t, cfg)
}

// episode is the id of an episode of the show that most tests watch.
func episode(t *testing.T, s *Server, number int) string {
	t.Helper()
	i, err := s.Find("灯塔守望者", 2, number)
	if err != nil {
		t.Fatal(err)
	}
	return i.ID
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
