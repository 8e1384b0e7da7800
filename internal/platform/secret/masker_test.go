package secret_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/platform/secret"
)

func TestSensitiveField(t *testing.T) {
	for _, name := range []string{
		"Authorization", "Proxy-Authorization", "X-Emby-Authorization", "Cookie", "Set-Cookie", "access_token", "refreshToken",
		"X-Plex-Token", "tokens", "otp", "OTP", "otp_code", "code", "Code", "device_code", "code_verifier", "verifier", "password",
		"userPassword", "client_secret", "api_key", "apikey", "API-Key", "email", "user_email", "E-Mail", "X-Webhook-Key", "Pw", "pin",
	} {
		if !secret.SensitiveField(name) {
			t.Errorf("%s is sensitive", name)
		}
	}
	for _, name := range []string{"status_code", "error_code", "codec", "key", "episode", "title", "keyword", "option", "userName", "Content-Type"} {
		if secret.SensitiveField(name) {
			t.Errorf("%s is harmless", name)
		}
	}
}

func TestMaskText(t *testing.T) {
	var m secret.Masker
	for _, c := range []struct{ name, in, want string }{
		{"bearer", "sent Bearer abc.def-1 to it", "sent Bearer *** to it"},
		{"header line", "Authorization: Bearer abc def\nnext", "Authorization: ***\nnext"},
		{"cookie line", "Cookie: a=b; c=d\r\nX: y", "Cookie: ***\r\nX: y"},
		{"basic", "basic dXNlcjpwYXNzd29yZA==", "basic ***"},
		{"query", "GET /x?api_key=abc&n=1&code=77&key=k1", "GET /x?api_key=***&n=1&code=***&key=***"},
		{"escaped query", "next=%2Fcb%3Fcode%3Dabc%26n%3D1", "next=%2Fcb%3Fcode%3D***%26n%3D1"},
		{"quoted value", `token="a b" n=1`, `token="***" n=1`},
		{"broken JSON", `{"access_token":"a\"b","n":1`, `{"access_token":"***","n":1`},
		{"escaped JSON", `body "{\"token\":\"a\\\"b\",\"n\":1}"`, `body "{\"token\":\"***\",\"n\":1}"`},
		{"cut JSON", `{"n":1,"token":"abc`, `{"n":1,"token":***`},
		{"nested broken", `{"tokens":{"a":"x","b":["y"]},"n":1`, `{"tokens":***,"n":1`},
		{"url user", "proxy http://bench:pw@proxy.example:3128/", "proxy http://***@proxy.example:3128/"},
		{"mail", "from mira@example.org, mira%40example.org", "from ***, ***"},
		{"address of a calendar", "GET https://h.example/wm/calendar/ABCDEFGHIJKLMNOPQRSTUVWXYZ.ics?x=1 and /docs/calendar, /api/calendar/address", "GET https://h.example/wm/calendar/***.ics?x=1 and /docs/calendar, /api/calendar/address"},
		{"webhook path", "POST /webhook/plex/k9k9k9?x=1", "POST /webhook/plex/***?x=1"},
		{"status code", `status_code=404 {"status_code":404}`, `status_code=404 {"status_code":404}`},
		{"title", "Code:Realize and Re:Zero, THE iDOLM@STER", "Code:Realize and Re:Zero, THE iDOLM@STER"},
		{"sentence", "refresh token: catalog refused the token", "refresh token: catalog refused the token"},
		{"value in prose", "token: 3f9ac0", "token: ***"},
		{"password in prose", "password: hunter", "password: ***"},
	} {
		if got := m.Mask(c.in); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestMaskBody(t *testing.T) {
	var m secret.Masker
	m.Add("s3cr3t/value")
	multipart := "--b\r\nContent-Disposition: form-data; name=\"payload\"\r\n\r\n{\"token\":\"x\",\"n\":1}\r\n" +
		"--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nx\r\n" +
		"--b\r\nContent-Disposition: form-data; name=\"thumb\"; filename=\"t.jpg\"\r\nContent-Type: image/jpeg\r\n\r\nJPEG\r\n--b--\r\n"
	for _, c := range []struct{ name, kind, in, want string }{
		{"nested", "application/json", `{"a":[{"Access_Token":"x","n":1},{"code":12,"status_code":404}],"email":"m"}`,
			`{"a":[{"Access_Token":"***","n":1},{"code":"***","status_code":404}],"email":"***"}`},
		{"whole object", "application/json", `{"tokens":{"a":["b"]},"password":["x"],"n":null,"has_token":true,"token":null,"code":""}`,
			`{"tokens":"***","password":"***","n":null,"has_token":true,"token":null,"code":""}`},
		{"JSON in a string", "application/json", `{"p":"{\"token\":\"x\"}"}`, `{"p":"{\"token\":\"***\"}"}`},
		{"escaped key", "application/json", `{"tok\u0065n":"x"}`, `{"token":"***"}`},
		{"repeated key", "", `{"token":"x","token":"y"}`, `{"token":"***","token":"***"}`},
		{"infobox", "", `[{"key":"别名","value":[{"v":"Frieren"}]}]`, `[{"key":"别名","value":[{"v":"Frieren"}]}]`},
		{"order and titles stay", "application/json; charset=utf-8", `{"b":"A & B <c>","a":[1,2.50,[]],"o":{}}`, `{"b":"A & B <c>","a":[1,2.50,[]],"o":{}}`},
		{"a URL inside", "application/json", `{"u":"https://x.example/a?token=abc&n=1"}`, `{"u":"https://x.example/a?token=***&n=1"}`},
		{"known inside", "application/json", `{"u":"a s3cr3t\/value b"}`, `{"u":"a *** b"}`},
		{"form", "application/x-www-form-urlencoded", "grant_type=x&client_secret=abc&co%64e=1&key=&n=a+b&p=%7B%22otp%22%3A1%7D",
			"grant_type=x&client_secret=***&co%64e=***&key=&n=a+b&p=%7B%22otp%22%3A%22***%22%7D"},
		{"multipart", "multipart/form-data; boundary=b", multipart, "payload={\"token\":\"***\",\"n\":1}\npassword=***\nthumb=(file of 4 bytes)\n"},
		{"broken multipart", "multipart/form-data; boundary=zz", `token=abc x`, `token=*** x`},
		{"image", "image/png", "\x89PNG", "(4 bytes of image/png)"},
		{"broken JSON", "application/json", `{"token":"abc",`, `{"token":"***",`},
		{"deep", "", strings.Repeat("[", 20000) + strings.Repeat("]", 20000), strings.Repeat("[", 20000) + strings.Repeat("]", 20000)},
	} {
		if got := m.Body(c.kind, []byte(c.in), 1<<20); got != c.want {
			t.Errorf("%s:\n got %.300s\nwant %.300s", c.name, got, c.want)
		}
	}
}

func TestMaskHeaderAndURL(t *testing.T) {
	var m secret.Masker
	got := m.Header(http.Header{"Authorization": {"Bearer x"}, "X-Plex-Token": {"a", "b"}, "Location": {"/cb?code=12&state=s"}, "Accept": {"*/*"}})
	want := http.Header{"Authorization": {"***"}, "X-Plex-Token": {"***", "***"}, "Location": {"/cb?code=***&state=s"}, "Accept": {"*/*"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for in, want := range map[string]string{
		"https://mira:pw@h.example/webhook/custom/abc?key=1&user=a%20b#access_token=z": "https://***@h.example/webhook/custom/***?key=***&user=a%20b#access_token=***",
		"https://h.example/v0/subjects/1?limit=20":                                     "https://h.example/v0/subjects/1?limit=20",
	} {
		u, err := url.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.URL(u); got != want {
			t.Errorf("got %s want %s", got, want)
		}
	}
}

func TestShortValuesAreNotLearnt(t *testing.T) {
	var m secret.Masker
	m.Add("abc")
	m.Add("")
	if got := m.Mask("abcabc"); got != "abcabc" {
		t.Error(got)
	}
}

func TestReplacedSecretsAreForgotten(t *testing.T) {
	var m secret.Masker
	masked := func(text string) bool { return m.Mask("a "+text+" b") == "a *** b" }
	m.Hold("settings", "webhook-key-1", "client-secret", "abc")
	m.Hold("channel 1", "client-secret")
	m.Add("token-in-use")
	for n := range 300 {
		if n == 200 {
			m.Add("token-in-use")
			m.Hold("settings", "webhook-key-2") // client-secret is held by the channel
		}
		m.Add(fmt.Sprintf("token-number-%d", n))
	}
	for text, want := range map[string]bool{
		"token-number-0": false, "token-number-43": false, // of 300, and two more since 200
		"token-number-48": true, "token-number-299": true, "token-in-use": true,
		"webhook-key-1": true, "webhook-key-2": true, "client-secret": true, "abc": false,
	} {
		if masked(text) != want {
			t.Errorf("%s is masked: %t", text, !want)
		}
	}
	m.Hold("channel 1")
	for n := range 300 {
		m.Add(fmt.Sprintf("token-of-later-%d", n))
	}
	for text, want := range map[string]bool{"webhook-key-1": false, "webhook-key-2": true, "client-secret": false, "token-in-use": false} {
		if masked(text) != want {
			t.Errorf("later %s is masked: %t", text, !want)
		}
	}
}

func TestMaskerIsConcurrent(t *testing.T) {
	var m secret.Masker
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			value := fmt.Sprintf("value-%d-secret", i)
			m.Add(value)
			if got := m.Mask("x " + value); got != "x ***" {
				t.Error(got)
			}
		})
	}
	wg.Wait()
}

// wraps are the ways one text ends up in another one.
var wraps = map[string]func(string) string{
	"json object": func(s string) string { b, _ := json.Marshal(map[string]any{"x": []any{1, s}}); return string(b) },
	"form":        func(s string) string { return url.Values{"n": {s}, "m": {"1"}}.Encode() },
	"url":         func(s string) string { return "https://h.example/" + url.PathEscape(s) + "/x?a=1" },
	"sentence":    func(s string) string { return "it said " + s + ", then stopped" },
	"base64":      func(s string) string { return base64.StdEncoding.EncodeToString([]byte("user:" + s)) },
	"log quote":   func(s string) string { return fmt.Sprintf("body=%q", s) },
}

// What was added is gone from every text, whatever two wraps it is in.
func TestMaskLeavesNoKnownSecret(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	alphabet := []rune("abcXYZ019-_/+=&?%\"'\\<> 密é")
	for range 60 {
		runes := make([]rune, 6+random.IntN(20))
		for i := range runes {
			runes[i] = alphabet[random.IntN(len(alphabet))]
		}
		value := string(runes)
		var m secret.Masker
		m.Add(value)
		for name1, wrap1 := range wraps {
			for name2, wrap2 := range wraps {
				if name1 == "base64" && name2 == "base64" {
					continue // base64 of base64 cannot be told from any other data
				}
				text := wrap2(wrap1(value))
				for kind, got := range map[string]string{
					"text": m.Mask(text), "json": m.Body("application/json", []byte(text), 1<<20),
					"form": m.Body("application/x-www-form-urlencoded", []byte(text), 1<<20),
				} {
					if strings.Contains(got, value) || got == text && value != "" {
						t.Fatalf("%q in %s in %s as %s: %s", value, name1, name2, kind, got)
					}
				}
			}
		}
	}
}

func FuzzBody(f *testing.F) {
	f.Add("application/json", []byte(`{"a":[{"token":"x"}]}`), "topsecret1")
	f.Add("application/x-www-form-urlencoded", []byte("a=b&token=x%"), "to&ps=ec")
	f.Add("multipart/form-data; boundary=b", []byte("--b\r\n\r\nx\r\n--b--"), "s\"ecret\\")
	f.Add("", []byte(`token:"a\\"b`), "123456")
	f.Fuzz(func(t *testing.T, kind string, body []byte, value string) {
		var m secret.Masker
		m.Add(value)
		got := m.Body(kind, body, 1<<20)
		// A value made of the mask or of JSON punctuation is no secret.
		if len(value) >= 6 && !strings.ContainsAny(value, "*\"\\{}[],:\n()=& ") && strings.Contains(got, value) && !strings.Contains(got, "bytes of") {
			t.Errorf("%q stays in %q", value, got)
		}
		if trimmed := bytes.TrimSpace(body); json.Valid(trimmed) && strings.HasPrefix(got, "{") && !json.Valid([]byte(got)) {
			t.Errorf("JSON broken: %q → %q", body, got)
		}
		got = m.Body("application/json", []byte(`{"x":[{"nested":{"access_token":`+jsonString(value)+`}}]}`), 1<<20)
		if got != `{"x":[{"nested":{"access_token":"***"}}]}` && value != "" {
			t.Errorf("by name: %s", got)
		}
	})
}

func jsonString(s string) string { b, _ := json.Marshal(s); return string(b) }

type holder struct{ Name, Address string }

func TestHandlerMasks(t *testing.T) {
	var m secret.Masker
	m.Add("topsecretvalue")
	var out bytes.Buffer
	log := slog.New(m.Handler(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))
	log = log.With("api_key", "k-in-with", "who", "mira").WithGroup("g").With("t", secret.Text("text-in-with"))
	log.DebugContext(context.Background(), "sent topsecretvalue", "access_token", "plain-token", "err", errors.New("bad topsecretvalue Bearer xyzxyz"),
		"n", 3, "status_code", 404, "headers", http.Header{"X": {"topsecretvalue"}}, slog.Group("in", "password", "pw-in-group", "ok", true),
		slog.Group("tokens", "a", "in-token-group"), "h", holder{"mira", "mira@example.org"}, "raw", []byte(`{"otp":"123123"}`))
	got := out.String()
	for _, leak := range []string{"topsecret", "plain-token", "xyzxyz", "pw-in-group", "in-token-group", "k-in-with", "text-in-with", "example.org", "123123"} {
		if strings.Contains(got, leak) {
			t.Errorf("%s is in %s", leak, got)
		}
	}
	for _, kept := range []string{`"who":"mira"`, `"n":3`, `"status_code":404`, `"ok":true`, `"level":"DEBUG"`, `"access_token":"***"`} {
		if !strings.Contains(got, kept) {
			t.Errorf("%s is gone from %s", kept, got)
		}
	}
}

func TestALongBodyIsCutBehindWhatIsMasked(t *testing.T) {
	var m secret.Masker
	m.Add("s3cr3t/value-of-a-token")
	for name, c := range map[string]struct{ kind, body string }{
		"json":              {"application/json", `{"a":"` + strings.Repeat("x", 80) + `","b":"s3cr3t/value-of-a-token","c":[` + strings.Repeat(`"x",`, 100) + `""]}`},
		"json, broken late": {"application/json", `{"a":"` + strings.Repeat("x", 80) + `","b":"s3cr3t/value-of-a-token","c":"` + strings.Repeat("x", 100) + `", oops`},
		"text":              {"text/plain", strings.Repeat("x", 90) + "s3cr3t/value-of-a-token" + strings.Repeat("x", 90)},
	} {
		for most := 80; most < 130; most++ {
			got := m.Body(c.kind, []byte(c.body), most)
			if strings.Contains(got, "s3cr3t") || len(got) > most || !strings.HasSuffix(got, fmt.Sprintf("… (%d bytes)", len(c.body))) {
				t.Errorf("%s, %d bytes: %s", name, most, got)
			}
		}
	}
}

func BenchmarkMask(b *testing.B) {
	var m secret.Masker
	for i := range 20 {
		m.Add(fmt.Sprintf("token-value-%d-abcdefgh", i))
	}
	body := []byte(`{"data":[` + strings.Repeat(`{"id":1227087,"name":"旅立ちの章","airdate":"2023-09-29","desc":"some text"},`, 100) + `{}]}`)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		m.Body("application/json", body, 4<<10)
	}
}

// TestWhatPointersLeadToIsLogged: neither where they lead nor how Go writes a map helps who reads a log.
func TestWhatPointersLeadToIsLogged(t *testing.T) {
	season, pi := 2, 7.5
	type named string
	var out bytes.Buffer
	log := slog.New(new(secret.Masker).Handler(slog.NewJSONHandler(&out, nil)))
	log.Info("step", "input", map[string]any{"season": &season, "episode": &pi, "title": `a "b"`, "token": "hunter2secret"}, "one", &season, "list", []int64{1, 2}, "source", named("plex"),
		"shape", struct {
			Season *int `json:"season"`
		}{&season}, "secret", []secret.Text{"hunter2secret"}, "nothing", (*int)(nil), "odd", func() {})
	line := map[string]any{}
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"input": `{"episode":7.5,"season":2,"title":"a \"b\"","token":"***"}`, "one": `2`, "list": `[1,2]`, "source": `"plex"`, "shape": `{"season":2}`, "nothing": `null`,
	} {
		if got, _ := json.Marshal(line[name]); string(got) != want {
			t.Errorf("%s is logged as %s, want %s", name, got, want)
		}
	}
	if text := out.String(); strings.Contains(text, "hunter2") || strings.Contains(text, "map[") {
		t.Errorf("logged: %s", text)
	}
}
