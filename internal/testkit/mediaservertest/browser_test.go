package mediaservertest

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// The header rules of upstreams/watchers.md section 1.
func TestHeaders(t *testing.T) {
	authorization := func(token string) map[string]string {
		return map[string]string{"Authorization": identity + `, Token="` + token + `"`}
	}
	old := func(token string) map[string]string {
		return map[string]string{"X-Emby-Authorization": identity + `, Token="` + token + `"`}
	}
	plain := func(token string) map[string]string { return map[string]string{"X-Emby-Token": token} }
	for _, c := range []struct {
		name    string
		cfg     Config
		headers func(string) map[string]string
		query   string
		want    int
	}{
		{"jellyfin 10.8 old", Config{Kind: Jellyfin, Version: "10.8.13"}, old, "", 200},
		{"jellyfin 10.11 plain", Config{Kind: Jellyfin}, plain, "", 200},
		{"jellyfin 10.11 legacy off", Config{Kind: Jellyfin, LegacyOff: true}, plain, "", 401},
		{"jellyfin 12", Config{Kind: Jellyfin, Version: "12.0.0"}, authorization, "", 200},
		{"jellyfin 12 old", Config{Kind: Jellyfin, Version: "12.0.0"}, old, "", 401},
		{"jellyfin 12 plain", Config{Kind: Jellyfin, Version: "12.0.0"}, plain, "", 401},
		{"jellyfin 12 api_key", Config{Kind: Jellyfin, Version: "12.0.0"}, nil, "?api_key=", 401},
		{"jellyfin 12 ApiKey", Config{Kind: Jellyfin, Version: "12.0.0"}, nil, "?ApiKey=", 200},
		{"emby", Config{Kind: Emby}, authorization, "", 200},
		{"emby plain", Config{Kind: Emby}, plain, "", 200},
		{"zspace without its header", Config{Kind: ZSpace}, authorization, "", 401},
		{"zspace", Config{Kind: ZSpace}, old, "", 200},
		{"ugreen", Config{Kind: Ugreen}, old, "", 200},
		{"fnos without its header", Config{Kind: FnOS}, plain, "", 400},
		{"fnos", Config{Kind: FnOS}, old, "", 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := signedIn(t, start(t, c.cfg))
			p.headers = nil
			if c.headers != nil {
				p.headers = c.headers(p.token)
			}
			prefix := ""
			if c.cfg.Kind == ZSpace || c.cfg.Kind == Ugreen {
				prefix = "/emby"
			}
			query := c.query
			if query != "" {
				query += p.token
			}
			if status, text := p.ask("GET", prefix+"/Users/"+p.id+"/Views"+query, ""); status != c.want {
				t.Errorf("%d %s, want %d", status, text, c.want)
			}
		})
	}
}

func TestSignIn(t *testing.T) {
	t.Run("an old header on 12 is 400", func(t *testing.T) {
		p := &person{t: t, s: start(t, Config{Kind: Jellyfin, Version: "12.0.0"}), headers: map[string]string{"X-Emby-Authorization": identity}}
		if status, _ := p.ask("POST", "/Users/AuthenticateByName", `{"Username":"mira","Pw":"mira"}`); status != 400 {
			t.Errorf("%d", status)
		}
	})
	t.Run("three wrong passwords lock", func(t *testing.T) {
		p := &person{t: t, s: start(t, Config{Kind: Jellyfin}), headers: map[string]string{"Authorization": identity}}
		for _, want := range []int{401, 401, 401, 403} {
			if status, _ := p.ask("POST", "/Users/AuthenticateByName", `{"Username":"mira","Pw":"no"}`); status != want {
				t.Errorf("%d, want %d", status, want)
			}
		}
	})
	t.Run("the same device ends the token before", func(t *testing.T) {
		s := start(t, Config{Kind: Jellyfin})
		first := signedIn(t, s)
		signedIn(t, s)
		if status, _ := first.ask("GET", "/Users/Me", ""); status != 401 {
			t.Errorf("%d", status)
		}
	})
	t.Run("too many sessions", func(t *testing.T) {
		s := start(t, Config{Kind: Jellyfin, Users: []User{{Name: "mira", Password: "mira", MaxSessions: 1}}})
		p := signedIn(t, s)
		p.headers["Authorization"] = strings.Replace(identity, "wm-1", "wm-2", 1)
		if status, _ := p.ask("POST", "/Users/AuthenticateByName", `{"Username":"mira","Pw":"mira"}`); status != 403 {
			t.Errorf("%d", status)
		}
	})
	t.Run("quick connect", func(t *testing.T) {
		for version, method := range map[string]string{"10.8.13": "GET", "10.10.7": "GET", "10.11.8": "POST", "12.0.0": "POST"} {
			now := time.Now()
			s := start(t, Config{Kind: Jellyfin, Version: version, Now: func() time.Time { return now }})
			p := &person{t: t, s: s, headers: map[string]string{"Authorization": identity}}
			if other := map[string]string{"10.8.13": "POST", "12.0.0": "GET"}[version]; other != "" {
				if status, _ := p.ask(other, "/QuickConnect/Initiate", ""); status != http.StatusMethodNotAllowed {
					t.Errorf("%s %s = %d", version, other, status)
				}
			}
			status, text := p.ask(method, "/QuickConnect/Initiate", "")
			_, secret, _ := strings.Cut(text, `"Secret":"`)
			secret, _, _ = strings.Cut(secret, `"`)
			_, code, _ := strings.Cut(text, `"Code":"`)
			code, _, _ = strings.Cut(code, `"`)
			if status != 200 || len(secret) != 64 || len(code) != 6 {
				t.Fatalf("%s = %d %s", version, status, text)
			}
			must(t, s.Confirm(code, "mira"))
			if status, text = p.ask("GET", "/QuickConnect/Connect?secret="+secret, ""); !strings.Contains(text, `"Authenticated":true`) {
				t.Errorf("%d %s", status, text)
			}
			if status, text = p.ask("POST", "/Users/AuthenticateWithQuickConnect", `{"Secret":"`+secret+`"}`); status != 200 || !strings.Contains(text, "AccessToken") {
				t.Errorf("%d %s", status, text)
			}
			_, text = p.ask(method, "/QuickConnect/Initiate", "")
			_, secret, _ = strings.Cut(text, `"Secret":"`)
			now = now.Add(11 * time.Minute)
			if status, _ = p.ask("GET", "/QuickConnect/Connect?secret="+secret[:64], ""); status != 404 {
				t.Errorf("an old code is %d", status)
			}
		}
	})
}

// What a path before the API does: section 1.
func TestPrefix(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		path string
		want int
	}{
		{Config{Kind: Jellyfin}, "/emby/System/Info/Public", 200},
		{Config{Kind: Jellyfin, Version: "12.0.0"}, "/emby/System/Info/Public", 404},
		{Config{Kind: Jellyfin, Base: "/jellyfin"}, "/system/info/public", 200},
		{Config{Kind: Emby}, "/emby/System/Info/Public", 200},
		{Config{Kind: Emby}, "/System/Info/Public", 200},
		{Config{Kind: Emby}, "/QuickConnect/Enabled", 404},
		{Config{Kind: Ugreen}, "/emby/System/Info/Public", 404},
		{Config{Kind: FnOS}, "/System/Info/Public", 200},
	} {
		p := &person{t: t, s: start(t, c.cfg)}
		if status, text := p.ask("GET", c.path, ""); status != c.want {
			t.Errorf("%s %s %s = %d %s, want %d", c.cfg.Kind, c.cfg.Version, c.path, status, text, c.want)
		}
	}
}

// A whole play is one push with the season, the show and the theme song beside the episode; progress alone is none.
func TestPush(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		path string
	}{{Config{Kind: Jellyfin}, "/socket"}, {Config{Kind: Emby}, "/embywebsocket?deviceId=wm-1"}} {
		t.Run(string(c.cfg.Kind), func(t *testing.T) {
			t.Parallel()
			c.cfg.Quiet = 50 * time.Millisecond
			s := start(t, c.cfg)
			p := signedIn(t, s)
			if c.cfg.Kind == Emby {
				c.path += "&api_key=" + p.token
			}
			messages := p.listen(c.path)
			if c.cfg.Kind == Jellyfin {
				if m := <-messages; m["MessageType"] != "ForceKeepAlive" {
					t.Fatalf("%v", m)
				}
				if m := <-messages; m["MessageType"] != "KeepAlive" {
					t.Fatalf("%v", m)
				}
			} else if status, _ := p.ask("GET", "/System/Info", ""); status != 200 { // the socket is registered when it answered
				t.Fatal(status)
			}
			id := episode(t, s, 7)
			must(t, s.Progress("mira", id, 40))
			must(t, s.Watch("mira", id))
			user, entries := next(t, messages)
			if user != p.id || len(entries) != 5 && len(entries) != 4 || entries[0]["ItemId"] != id || entries[0]["Played"] != true {
				t.Errorf("user %s, %v", user, entries)
			}
			must(t, s.MarkSeason("mira", must1(s.showOf("灯塔守望者")), 2, true))
			if _, entries = next(t, messages); len(entries) != 14 {
				t.Errorf("a season is %d entries", len(entries))
			}
			must(t, s.Watch("alex", id))
			if c.cfg.Kind == Emby { // tells everybody
				if user, _ = next(t, messages); user == p.id {
					t.Error("a push of another person was expected")
				}
			}
			must(t, s.Unmark("mira", id))
			if user, entries = next(t, messages); user != p.id || entries[0]["Played"] != false {
				t.Errorf("%v", entries)
			}
		})
	}
}

func must1(id string, err error) string {
	if err != nil {
		panic(err)
	}
	return id
}
