package mediaservertest

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// refused is what a handshake is answered with.
func (p *person) refused(path string) int {
	p.t.Helper()
	header := http.Header{}
	for name, value := range p.headers {
		header.Set(name, value)
	}
	conn, answer, err := websocket.Dial(p.t.Context(), "ws"+strings.TrimPrefix(p.s.URL, "http")+path, &websocket.DialOptions{HTTPHeader: header})
	if err == nil {
		_ = conn.CloseNow()
		p.t.Fatal("the handshake passed")
	}
	if answer == nil {
		p.t.Fatal(err)
	}
	return answer.StatusCode
}

func TestHandshake(t *testing.T) {
	dead := signedIn(t, start(t, Config{Kind: Jellyfin}))
	must(t, dead.s.Revoke("mira"))
	old := signedIn(t, start(t, Config{Kind: Jellyfin, Version: "12.0.0"}))
	old.headers = nil
	for name, c := range map[string]struct {
		p    *person
		path string
		want int
	}{
		"a dead token":                {dead, "/socket", 403},
		"the old query on 12":         {old, "/socket?api_key=" + old.token, 403},
		"a proxy that lets none pass": {signedIn(t, start(t, Config{Kind: Jellyfin, NoPush: true})), "/socket", 404},
		"emby without the query":      {signedIn(t, start(t, Config{Kind: Emby})), "/embywebsocket", 403},
		"zspace":                      {signedIn(t, start(t, Config{Kind: ZSpace})), "/emby/embywebsocket", 404},
		"fnos shows its page":         {signedIn(t, start(t, Config{Kind: FnOS})), "/embywebsocket", 200},
	} {
		if got := c.p.refused(c.path); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// A Jellyfin forgets a client that does not say that it listens, and leaves its socket open (section 2.2).
func TestForgottenSocket(t *testing.T) {
	s := start(t, Config{Kind: Jellyfin, KeepAlive: 150 * time.Millisecond})
	messages := signedIn(t, s).listen("/socket") // answers once
	<-messages
	<-messages
	must(t, s.Watch("mira", episode(t, s, 1)))
	next(t, messages)
	b := s.front.(*browser)
	forgotten := func() bool {
		served := false
		b.each(nil, func(one *socket) { served = served || b.serves(one) })
		return !served
	}
	for deadline := time.Now().Add(10 * time.Second); !forgotten(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it is not forgotten")
		}
	}
	must(t, s.Watch("mira", episode(t, s, 2)))
	b.push()
	select {
	case m, open := <-messages:
		t.Errorf("%v, open: %v", m, open)
	default:
	}
	s.Cut()
	for m := range messages {
		t.Errorf("%v", m)
	}
}

// All versions of a film turn played at once on 12 (section 2.6).
func TestVersions(t *testing.T) {
	s := start(t, Config{Kind: Jellyfin, Version: "12.0.0"})
	library := s.cfg.Libraries[1].ID
	one := s.Add(Item{Library: library, Title: "深海", Versions: "deep", Path: "/media/a.mkv"})
	two := s.Add(Item{Library: library, Title: "深海 4K", Versions: "deep", Path: "/media/b.mkv"})
	must(t, s.Watch("mira", one.ID))
	if d, err := s.Data("mira", two.ID); err != nil || !d.Played {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestSessions(t *testing.T) {
	for name, c := range map[string]struct {
		cfg      Config
		everyone bool
	}{
		"jellyfin 10.8":  {Config{Kind: Jellyfin, Version: "10.8.13"}, true},
		"jellyfin 10.10": {Config{Kind: Jellyfin, Version: "10.10.7"}, false},
		"emby":           {Config{Kind: Emby}, true},
	} {
		s := start(t, c.cfg)
		p := signedIn(t, s)
		must(t, s.Start("mira", episode(t, s, 1)))
		must(t, s.Start("alex", episode(t, s, 2)))
		var sessions []struct {
			UserName       string
			NowPlayingItem *row
		}
		p.get("/Sessions?activeWithinSeconds=960", &sessions)
		seen := map[string]string{}
		for _, one := range sessions {
			if one.NowPlayingItem != nil {
				seen[one.UserName] = one.NowPlayingItem.ID
			}
		}
		if seen["mira"] != episode(t, s, 1) || (seen["alex"] != "") != c.everyone {
			t.Errorf("%s: %v", name, seen)
		}
	}
}

// Writing, with the push that comes back (sections 2.7 and 3.5).
func TestWrites(t *testing.T) {
	for _, c := range []struct {
		name, method, path, body string
		cfg                      Config
		status                   int
		want                     Data
	}{
		{"jellyfin 10.8 with a date", "POST", "/Users/U/PlayedItems/I?datePlayed=2026-05-19T12:00:00Z", "", Config{Kind: Jellyfin, Version: "10.8.13"}, 200,
			Data{Played: true, Count: 1, At: time.Date(2026, 5, 19, 12, 0, 0, 0, time.UTC)}},
		{"jellyfin 10.8 knows no UserPlayedItems", "POST", "/UserPlayedItems/I?userId=U", "", Config{Kind: Jellyfin, Version: "10.8.13"}, 404, Data{}},
		{"jellyfin 12", "POST", "/UserPlayedItems/I?userId=U&datePlayed=20260519120000", "", Config{Kind: Jellyfin, Version: "12.0.0"}, 200,
			Data{Played: true, Count: 1, At: time.Date(2026, 5, 19, 12, 0, 0, 0, time.UTC)}},
		{"exactly", "POST", "/UserItems/I/UserData?userId=U", `{"Played":true,"PlayCount":7,"LastPlayedDate":"2026-05-19T12:00:00.0000000Z"}`, Config{Kind: Jellyfin}, 200,
			Data{Played: true, Count: 7, At: time.Date(2026, 5, 19, 12, 0, 0, 0, time.UTC)}},
		{"jellyfin 10.8 writes nothing exactly", "POST", "/UserItems/I/UserData?userId=U", `{"Played":true}`, Config{Kind: Jellyfin, Version: "10.8.13"}, 404, Data{}},
		{"emby takes digits alone", "POST", "/emby/Users/U/PlayedItems/I?DatePlayed=2026-05-19T12:00:00Z", "", Config{Kind: Emby}, 400, Data{}},
		{"emby", "POST", "/emby/Users/U/PlayedItems/I?DatePlayed=20260519120000", "", Config{Kind: Emby}, 200,
			Data{Played: true, Count: 1, At: time.Date(2026, 5, 19, 12, 0, 0, 0, time.UTC)}},
		{"emby unmarks", "POST", "/emby/Users/U/PlayedItems/I/Delete", "", Config{Kind: Emby}, 200, Data{}},
		{"an unknown item", "POST", "/Users/U/PlayedItems/0", "", Config{Kind: Jellyfin}, 404, Data{}},
		{"a NAS", "POST", "/emby/Users/U/PlayedItems/I", "", Config{Kind: ZSpace}, 404, Data{}},
		{"somebody else", "POST", "/Users/O/PlayedItems/I", "", Config{Kind: Jellyfin}, 403, Data{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, c.cfg)
			p := signedIn(t, s)
			other, err := s.User("alex")
			must(t, err)
			id := episode(t, s, 7)
			path := strings.NewReplacer("/U/", "/"+p.id+"/", "=U", "="+p.id, "/I", "/"+id, "/O/", "/"+other.ID+"/").Replace(c.path)
			if status, text := p.ask(c.method, path, c.body); status != c.status {
				t.Errorf("%d %s, want %d", status, text, c.status)
			}
			if got, err := s.Data("mira", id); err != nil || got != c.want {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	t.Run("who may not change preferences", func(t *testing.T) {
		s := start(t, Config{Kind: Jellyfin, Users: []User{{Name: "mira", Password: "mira", KeepOut: true}}})
		p := signedIn(t, s)
		if status, _ := p.ask("POST", "/UserItems/"+episode(t, s, 1)+"/UserData?userId="+p.id, `{"Played":true}`); status != 403 {
			t.Errorf("%d", status)
		}
	})
	t.Run("a write comes back as a push", func(t *testing.T) {
		s := start(t, Config{Kind: Jellyfin})
		p := signedIn(t, s)
		messages := p.listen("/socket")
		<-messages
		<-messages
		if status, _ := p.ask("POST", "/UserPlayedItems/"+episode(t, s, 1), ""); status != 200 {
			t.Fatal(status)
		}
		if user, entries := next(t, messages); user != p.id || entries[0]["Played"] != true {
			t.Errorf("%v", entries)
		}
	})
}

// A clock that is wrong is told by the header and by the dates; a zone that lies by the dates alone.
func TestClock(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	s := start(t, Config{Kind: Jellyfin, Now: func() time.Time { return now }, Zone: time.FixedZone("summer", 2*3600)})
	s.SetAhead(24 * time.Hour)
	p := signedIn(t, s)
	must(t, s.Mark("mira", episode(t, s, 1), time.Time{}))
	var got rows
	p.get("/Users/"+p.id+"/Items?Ids="+episode(t, s, 1), &got)
	if at := got.Items[0].UserData.LastPlayedDate; at != "2026-07-02T14:00:00.0000000Z" {
		t.Error(at)
	}
	answer, err := plainClient.Get(s.URL + "/System/Info/Public")
	must(t, err)
	_ = answer.Body.Close()
	if at := answer.Header.Get("Date"); at != "Thu, 02 Jul 2026 12:00:00 GMT" {
		t.Error(at)
	}
}

// The control paths that the documents name.
func TestControl(t *testing.T) {
	s := start(t, Config{Kind: Jellyfin})
	p := signedIn(t, s)
	for _, c := range []struct {
		path, body string
		status     int
		says       string
	}{
		{"/_sim/jellyfin/play", `{"user":"mira","title":"灯塔守望者","season":2,"episode":7}`, 204, ""},
		{"/_sim/jellyfin/play", `{"user":"mira","title":"剧场版 灯塔守望者 北之光"}`, 204, ""},
		{"/_sim/jellyfin/play", `{"user":"nobody","title":"灯塔守望者","season":2,"episode":7}`, 404, "mira, alex"},
		{"/_sim/jellyfin/play", `{"user":"mira","title":"nothing","season":2,"episode":7}`, 404, "沙漏之城"},
		{"/_sim/jellyfin/play", `{"user":"mira","title":"灯塔守望者","season":2,"episode":70}`, 404, "S2E12"},
		{"/_sim/jellyfin/play", `{`, 400, "not what this path takes"},
		{"/_sim/emby/play", `{}`, 404, "simulated jellyfin"},
		{"/_sim/jellyfin/season", `{"user":"mira","title":"沙漏之城","season":1}`, 204, ""},
		{"/_sim/jellyfin/season", `{"user":"mira","title":"沙漏之城","season":1,"on":false}`, 204, ""},
		{"/_sim/jellyfin/start", `{"user":"alex","title":"沙漏之城","season":1,"episode":3}`, 204, ""},
		{"/_sim/jellyfin/stop", `{"user":"alex","title":"沙漏之城","season":1,"episode":3,"percent":40}`, 204, ""},
		{"/_sim/jellyfin/libraries", `{"user":"alex","libraries":["电影"]}`, 204, ""},
		{"/_sim/jellyfin/libraries", `{"user":"alex","libraries":["nothing"]}`, 404, "动画, 电影"},
		{"/_sim/jellyfin/zone", `{"seconds":7200}`, 204, ""},
		{"/_sim/jellyfin/nonsense", `{}`, 404, ""},
	} {
		if status, text := p.ask("POST", c.path, c.body); status != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%s %s = %d %s", c.path, c.body, status, text)
		}
	}
	var list struct{ Played []Watched }
	p.get("/_sim/jellyfin/played", &list)
	if len(list.Played) != 2 || list.Played[0].User != "mira" || list.Played[0].Episode != 7 || list.Played[0].Count != 1 || list.Played[0].PlayedAt == "" {
		t.Errorf("%+v", list.Played)
	}
	if status, _ := p.ask("POST", "/_sim/jellyfin/starting", ""); status != 204 {
		t.Error(status)
	}
	if status, _ := p.ask("GET", "/System/Info/Public", ""); status != 503 {
		t.Error(status)
	}
	if status, _ := p.ask("POST", "/_sim/jellyfin/starting", `{"on":false}`); status != 204 {
		t.Error(status)
	}
	if status, _ := p.ask("POST", "/_sim/jellyfin/down", ""); status != 204 {
		t.Error(status)
	}
	if status, _ := p.ask("GET", "/System/Info/Public", ""); status != 0 {
		t.Error(status)
	}
	p.get("/_sim/jellyfin/played", &list)
}
