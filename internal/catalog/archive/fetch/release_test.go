package fetch_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"watchmark/internal/catalog/archive/fetch"
)

const address = "https://files.example/releases/download/archive/" + name

func text(s string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, s) }
}

func TestPointer(t *testing.T) {
	hex := strings.Repeat("0a", 32)
	want := fetch.Release{Version: version, URL: address, Digest: "sha256:" + hex, Size: 1000}
	plain := want
	plain.Digest = ""
	byTime := want
	byTime.Version = "2026-01-06.210325Z"
	for _, c := range []struct {
		what, pointer string
		want          fetch.Release
	}{
		{"as published", `{"browser_download_url":"` + address + `","content_type":"application/zip","created_at":"2026-01-06T21:03:07Z",
			"digest":"sha256:` + hex + `","id":1,"label":"","name":"` + name + `","node_id":"RA_1","size":1000,"updated_at":"2026-01-06T21:03:25Z","url":"https://api.example/1"}`, want},
		{"digest in capitals, another zone", `{"browser_download_url":"` + address + `","digest":"SHA256:` + strings.ToUpper(hex) + `","name":"` + name + `","size":1000,"updated_at":"2026-01-07T05:03:25+08:00"}`, want},
		{"null digest", `{"browser_download_url":"` + address + `","digest":null,"name":"` + name + `","size":1000,"updated_at":"2026-01-06T21:03:25Z"}`, plain},
		{"no digest", `{"browser_download_url":"` + address + `","name":"` + name + `","size":1000,"updated_at":"2026-01-06T21:03:25Z"}`, plain},
		{"no time", `{"browser_download_url":"` + address + `","digest":"sha256:` + hex + `","name":"` + name + `","size":1000,"updated_at":7}`, want},
		{"no name", `{"browser_download_url":"` + address + `","digest":"sha256:` + hex + `","size":1000,"updated_at":"2026-01-06T21:03:25Z"}`, byTime},
		{"name with ../", `{"browser_download_url":"` + address + `","digest":"sha256:` + hex + `","name":"dump-../../x.zip","size":1000,"updated_at":"2026-01-06T21:03:25Z"}`, byTime},
		{"name of the 7z", `{"browser_download_url":"` + address + `","digest":"sha256:` + hex + `","name":"dump-` + version + `.7z","size":1000,"updated_at":"2026-01-06T21:03:25Z"}`, byTime},
		{"name with a fraction", `{"browser_download_url":"` + address + `","digest":"sha256:` + hex + `","name":"dump-2026-01-06.210306.5Z.zip","size":1000,"updated_at":"2026-01-06T21:03:25Z"}`, byTime},
		{"name of no day", `{"browser_download_url":"` + address + `","digest":"sha256:` + hex + `","name":"dump-2026-02-30.210306Z.zip","size":1000,"updated_at":"2026-01-06T21:03:25Z"}`, byTime},
	} {
		t.Run(c.what, func(t *testing.T) {
			cfg := config(t)
			cfg.PointerURL = serve(t, text(c.pointer)).URL
			r, err := fetch.Latest(t.Context(), cfg)
			if err != nil || r != c.want {
				t.Errorf("%+v, %v, want %+v", r, err, c.want)
			}
		})
	}
}

func TestHostilePointer(t *testing.T) {
	for _, c := range []struct{ what, pointer, want string }{
		{"huge", strings.Repeat(" ", 64<<10) + `{"browser_download_url":"` + address + `","name":"` + name + `","size":1000}`, "longer than 65536 bytes"},
		{"endless", strings.Repeat(" ", 9<<20), "too large"},
		{"a page", "<html>sign in</html>", "cannot be read"},
		{"cut", `{"name":"` + name, "cannot be read"},
		{"deep", strings.Repeat("[", 60000), "cannot be read"},
		{"nothing in it", `{}`, "neither the name of a dump nor a time"},
		{"name with ../ alone", `{"browser_download_url":"` + address + `","name":"../` + name + `","size":1000}`, "neither the name"},
		{"a year of five digits", `{"browser_download_url":"` + address + `","size":1000,"updated_at":"9999-12-31T23:59:59-01:00"}`, "the version is not"},
		{"ftp", `{"browser_download_url":"ftp://files.example/x","name":"` + name + `","size":1000}`, "not a usable http"},
		{"a file", `{"browser_download_url":"file:///etc/passwd","name":"` + name + `","size":1000}`, "not a usable http"},
		{"credentials", `{"browser_download_url":"https://mira:pw@files.example/x","name":"` + name + `","size":1000}`, "not a usable http"},
		{"no size", `{"browser_download_url":"` + address + `","name":"` + name + `"}`, "size of 0 bytes"},
		{"negative size", `{"browser_download_url":"` + address + `","name":"` + name + `","size":-5}`, "size of -5 bytes"},
		{"too large", `{"browser_download_url":"` + address + `","name":"` + name + `","size":2097153}`, "size of 2097153 bytes"},
		{"beyond 64 bits", `{"browser_download_url":"` + address + `","name":"` + name + `","size":99999999999999999999}`, "cannot be read"},
		{"no SHA-256", `{"browser_download_url":"` + address + `","name":"` + name + `","size":1000,"digest":"sha256:../x"}`, "not a SHA-256"},
		{"another digest", `{"browser_download_url":"` + address + `","name":"` + name + `","size":1000,"digest":"md5:` + strings.Repeat("0", 32) + `"}`, "not a SHA-256"},
	} {
		t.Run(c.what, func(t *testing.T) {
			cfg := config(t)
			cfg.PointerURL = serve(t, text(c.pointer)).URL
			r, err := fetch.Latest(t.Context(), cfg)
			has(t, err, "look for the newest dump", "direct", c.want)
			if r != (fetch.Release{}) {
				t.Errorf("%+v", r)
			}
			if len(err.Error()) > 1000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
		})
	}
}

func TestPointerByMirror(t *testing.T) {
	mirror := serve(t, text(`{"browser_download_url":"`+address+`","name":"`+name+`","size":1000}`))
	broken := serve(t, status(http.StatusNotFound))
	cfg := config(t)
	cfg.PointerURL = "http://nowhere.invalid/aux/latest.json"
	cfg.Mirrors = []string{broken.URL + "/gh/", mirror.URL} // the second without its slash
	r, err := fetch.Latest(t.Context(), cfg)
	if err != nil || r.URL != address || r.Version != version {
		t.Errorf("%+v, %v", r, err)
	}
	same(t, "the first mirror", broken.requests(), "/gh/http://nowhere.invalid/aux/latest.json")
	same(t, "the second mirror", mirror.requests(), "/http://nowhere.invalid/aux/latest.json")
}

func TestPointerNowhere(t *testing.T) {
	page := serve(t, text("<html>"))
	cfg := config(t)
	cfg.PointerURL = serve(t, status(http.StatusTooManyRequests)).URL
	cfg.Mirrors = []string{page.URL + "/", "http://nowhere.invalid/", "not an address"}
	_, err := fetch.Latest(t.Context(), cfg)
	has(t, err, "direct: it answered 429 Too Many Requests", "mirror "+strings.TrimPrefix(page.URL, "http://")+": the index cannot be read",
		"mirror nowhere.invalid: the name nowhere.invalid cannot be resolved", "mirror: the address is not a usable")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := fetch.Latest(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
