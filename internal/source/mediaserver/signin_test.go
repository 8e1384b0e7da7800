package mediaserver_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
	"watchmark/internal/source/mediaserver"
)

func TestSignInByPassword(t *testing.T) {
	for _, c := range []struct {
		kind   mediaserver.Kind
		prefix string
		public string
		header []string // that sign-in and later requests have; the others are not sent
	}{
		{mediaserver.Jellyfin, "", jellyfinPublic, []string{"Authorization"}},
		{mediaserver.Emby, "/emby", embyPublic, []string{"Authorization"}},
		{mediaserver.FnOS, "", "", []string{"Authorization", "X-Emby-Authorization"}},
		{mediaserver.ZSpace, "/emby", `{"ServerVersion":"4.7.0.0"}`, []string{"Authorization", "X-Emby-Authorization"}},
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			var body string
			d := newDoor(t, map[string]http.HandlerFunc{})
			d.answers["POST "+c.prefix+"/Users/AuthenticateByName"] = func(w http.ResponseWriter, r *http.Request) {
				if c.kind.Experimental() && r.Header.Get("X-Emby-Authorization") == "" {
					w.WriteHeader(http.StatusBadRequest)
					_, _ = w.Write([]byte(`{"error":"X-Emby-Authorization is missing"}`))
					return
				}
				text, _ := io.ReadAll(r.Body)
				body = string(text)
				says(signedIn)(w, r)
			}
			if c.public != "" {
				d.answers["/System/Info/Public"], d.answers["/emby/System/Info/Public"] = says(c.public), says(c.public)
			}
			d.answers[c.prefix+"/System/Info"] = says(`{"ServerName":"attic","Version":"4.9.1.0","Id":"` + serverID + `"}`)
			d.answers[c.prefix+"/Users/Me"], d.answers[c.prefix+"/Users/"+userID] = says(`{"Name":"mira","Id":"`+userID+`"}`), says(`{"Name":"mira","Id":"`+userID+`"}`)
			d.answers[c.prefix+"/Users/"+userID+"/Views"] = says(`{"Items":[]}`)
			dialer := newDialer(t)
			login, err := dialer.SignIn(t.Context(), mediaserver.Server{Kind: c.kind, URL: d.URL + "/"}, " mira ", "open sesame")
			if err != nil {
				t.Fatal(err)
			}
			s := login.Server
			if login.UserName != "mira" || s.UserID != userID || s.Token.Reveal() != token || s.URL != d.URL || s.ID != serverID || login.Name != "attic" || s.Device == "" {
				t.Errorf("login %+v", login)
			}
			if body != `{"Pw":"open sesame","Username":"mira"}` {
				t.Errorf("sent %s", body)
			}
			again, err := dialer.SignIn(t.Context(), mediaserver.Server{Kind: c.kind, URL: d.URL}, "Mira", "open sesame")
			if err != nil || again.Server.Device != s.Device {
				t.Errorf("signing in again names the device %q, first %q: %v", again.Server.Device, s.Device, err)
			}
			client, err := dialer.Open(s)
			if err != nil {
				t.Fatal(err)
			}
			who, err := client.Who(t.Context())
			if err != nil || who.UserName != "mira" && !c.kind.Experimental() || who.Name != "attic" {
				t.Errorf("%+v %v", who, err)
			}
			sent := d.last()
			want := `MediaBrowser Client="Watchmark", Device="Watchmark", DeviceId="` + s.Device + `", Version="1.4.0", Token="` + token + `"`
			for _, name := range c.header {
				if sent.Get(name) != want {
					t.Errorf("%s: %q, want %q", name, sent.Get(name), want)
				}
			}
			for _, name := range []string{"X-Emby-Authorization", "X-Emby-Token"} {
				if c.kind == mediaserver.Jellyfin && sent.Get(name) != "" {
					t.Errorf("%s was sent to Jellyfin", name)
				}
			}
		})
	}
}

func TestSignInThatFails(t *testing.T) {
	tls := httptest.NewTLSServer(says(jellyfinPublic))
	t.Cleanup(tls.Close)
	for _, c := range []struct {
		name, kind, user string
		answers          map[string]http.HandlerFunc
		url, field, code string
	}{
		{"a wrong password", "jellyfin", "mira", map[string]http.HandlerFunc{"/System/Info/Public": says(jellyfinPublic), "/Users/AuthenticateByName": status(401)}, "", "password", "media_server_wrong_password"},
		{"a user who is not let in", "jellyfin", "mira", map[string]http.HandlerFunc{"/System/Info/Public": says(jellyfinPublic), "/Users/AuthenticateByName": status(403)}, "", "username", "media_server_user_refused"},
		{"another kind", "emby", "mira", map[string]http.HandlerFunc{"/System/Info/Public": says(jellyfinPublic)}, "", "kind", "media_server_is_other"},
		{"Plex", "jellyfin", "mira", map[string]http.HandlerFunc{"/identity": says(`{"MediaContainer":{"machineIdentifier":"546684a3d1","version":"1.42"}}`)}, "", "kind", "media_server_is_other"},
		{"a web page", "jellyfin", "mira", map[string]http.HandlerFunc{"/System/Info/Public": says("<html>hello</html>")}, "", "url", "media_server_nothing_found"},
		{"no user name", "jellyfin", " ", nil, "", "username", "media_server_no_user_name"},
		{"an answer without a token", "jellyfin", "mira", map[string]http.HandlerFunc{"/System/Info/Public": says(jellyfinPublic), "/Users/AuthenticateByName": says(`{"User":{"Id":"../x"},"AccessToken":"a b"}`)}, "", "url", "media_server_not_that"},
		{"a certificate that nobody has signed", "jellyfin", "mira", nil, tls.URL, "certificate_sha256", "media_server_untrusted_certificate"},
		{"a certificate other than the one that was confirmed", "jellyfin", "mira", nil, tls.URL + " pinned", "certificate_sha256", "media_server_other_certificate"},
		{"an address of machines", "jellyfin", "mira", nil, "http://169.254.169.254", "url", "media_server_forbidden_address"},
		{"an address with a password", "jellyfin", "mira", nil, "http://mira:x@attic", "url", "media_server_with_password"},
		{"nobody", "jellyfin", "mira", nil, "http://127.0.0.1:1", "url", "media_server_no_answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.url == "" {
				c.url = newDoor(t, c.answers).URL
			}
			url, pinned := strings.CutSuffix(c.url, " pinned")
			at := mediaserver.Server{Kind: mediaserver.Kind(c.kind), URL: url}
			if pinned {
				at.Pin = strings.Repeat("ab", 32)
			}
			_, err := newDialer(t).SignIn(t.Context(), at, c.user, secret.Text("secret word"))
			var field *reason.FieldError
			if !errors.As(err, &field) || field.Field != c.field || field.What.Code != c.code {
				t.Errorf("got %#v, want %s at %s", err, c.code, c.field)
			}
		})
	}
}

func TestPasswordGoesToTheServerOfTheLoginAlone(t *testing.T) {
	d := newDoor(t, map[string]http.HandlerFunc{"/System/Info/Public": says(jellyfinPublic), "/Users/AuthenticateByName": says(signedIn)})
	_, err := newDialer(t).SignIn(t.Context(), mediaserver.Server{Kind: mediaserver.Jellyfin, URL: d.URL, ID: "another"}, "mira", "open sesame")
	if !errors.Is(err, mediaserver.ErrOther) || len(d.asked("Authenticate")) > 0 {
		t.Errorf("%v after %v", err, d.requests)
	}
}

func TestSignInByCode(t *testing.T) {
	for _, version := range []string{"10.8", "10.9", "12"} {
		t.Run(version, func(t *testing.T) {
			confirmed := `false`
			begin := says(`{"Secret":"a1b2c3d4","Code":"482913","Authenticated":false}`)
			d := newDoor(t, map[string]http.HandlerFunc{
				"/System/Info/Public":   says(jellyfinPublic),
				"/QuickConnect/Enabled": says("true"),
				"/QuickConnect/Connect": func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Query().Get("secret") != "a1b2c3d4" {
						http.NotFound(w, r)
						return
					}
					says(`{"Authenticated":`+confirmed+`}`)(w, r)
				},
				"POST /Users/AuthenticateWithQuickConnect": says(signedIn),
			})
			switch version {
			case "10.8":
				d.answers["GET /QuickConnect/Initiate"], d.answers["/QuickConnect/Initiate"] = begin, status(http.StatusMethodNotAllowed)
			case "12":
				d.answers["POST /QuickConnect/Initiate"] = begin
			default:
				d.answers["/QuickConnect/Initiate"] = begin
			}
			dialer, s := newDialer(t), mediaserver.Server{Kind: mediaserver.Jellyfin, URL: d.URL}
			found, err := dialer.Probe(t.Context(), d.URL, "")
			if err != nil || !found.Codes {
				t.Errorf("%+v %v", found, err)
			}
			code, err := dialer.StartCode(t.Context(), s)
			if err != nil || code.Text != "482913" {
				t.Fatal(code, err)
			}
			device := deviceID.FindString(d.last().Get("Authorization"))
			if _, done, err := dialer.FinishCode(t.Context(), s, code); done || err != nil {
				t.Errorf("before it was confirmed: %v %v", done, err)
			}
			confirmed = `true`
			login, done, err := dialer.FinishCode(t.Context(), s, code)
			if err != nil || !done || login.Server.Token != token || !strings.Contains(device, login.Server.Device) {
				t.Errorf("%+v %v %v; the code was asked for by %s", login, done, err, device)
			}
			code.Secret = "wm-1 other"
			if _, _, err := dialer.FinishCode(t.Context(), s, code); err == nil || !strings.Contains(err.Error(), "expired") {
				t.Errorf("an expired code: %v", err)
			}
		})
	}
}
