package fetch_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"watchmark/internal/catalog/archive/fetch"
	"watchmark/internal/platform/httpx"
)

func TestFreshDownload(t *testing.T) {
	dump := content(1)
	s := serve(t, file(dump, `"v1"`))
	cfg := config(t)
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, old := range []string{"download-2025-12-30.210306Z.part", "download-2025-12-30.210306Z.part.json", "other.db"} {
		if err := os.WriteFile(filepath.Join(cfg.Dir, old), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var told []int64
	path, err := fetch.Download(t.Context(), cfg, release(s.URL, dump), func(done, total int64) {
		if total != size || len(told) > 0 && done <= told[len(told)-1] {
			t.Errorf("progress %d of %d after %v", done, total, told)
		}
		told = append(told, done)
	})
	if err != nil || path != part(cfg) {
		t.Fatal(path, err)
	}
	if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, dump) {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	if len(told) == 0 || told[len(told)-1] != size {
		t.Errorf("progress %v", told)
	}
	var left []string
	entries, err := os.ReadDir(cfg.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		left = append(left, entry.Name())
		if info, err := entry.Info(); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	}
	same(t, "the folder", left, "download-"+version+".part", "download-"+version+".part.json", "other.db")
	same(t, "requests", s.requests(), "/")

	got(t, cfg, release(s.URL, dump), dump)
	same(t, "requests for what is there", s.requests())
	for range 2 {
		if err := fetch.Remove(path); err != nil {
			t.Error(err)
		}
	}
	if entries, err = os.ReadDir(cfg.Dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestCutIsResumed(t *testing.T) {
	dump := content(1)
	whole := file(dump, `"v1"`)
	s := serve(t, inTurn(upTo(half, whole, cut), upTo(half/2, whole, cut), whole))
	got(t, config(t), release(s.URL, dump), dump)
	same(t, "requests", s.requests(), "/", `/ bytes=524288- "v1"`, `/ bytes=786432- "v1"`)
}

func TestCutWithoutProgressEnds(t *testing.T) {
	dump := content(1)
	whole := file(dump, `"v1"`)
	s := serve(t, inTurn(upTo(half, whole, cut), upTo(0, whole, cut)))
	cfg := config(t)
	_, err := fetch.Download(t.Context(), cfg, release(s.URL, dump), silent)
	has(t, err, "direct: the transfer broke off after 524288 of 1048576 bytes", "no connection to")
	if n := len(s.requests()); n != 2 {
		t.Errorf("%d requests", n)
	}
}

func TestStallIsResumed(t *testing.T) {
	dump := content(1)
	whole := file(dump, "")
	s := serve(t, inTurn(upTo(half, whole, stall), whole))
	cfg := configWith(t, httpx.Config{PerMinute: 60000, Burst: 1000, Timeout: 2 * time.Second})
	got(t, cfg, release(s.URL, dump), dump)
	if requests := s.requests(); len(requests) < 2 || requests[1] != "/ bytes=524288-" {
		t.Errorf("%q", requests)
	}
}

func TestCancelThenResume(t *testing.T) {
	dump := content(1)
	whole := file(dump, `"v1"`)
	s := serve(t, inTurn(upTo(half, whole, stall), whole))
	cfg := config(t)
	begin(t, cfg, release(s.URL, dump), half)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := fetch.Download(ended, cfg, release(s.URL, dump), silent); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	s.requests()
	var first int64
	_, err := fetch.Download(t.Context(), cfg, release(s.URL, dump), func(done, _ int64) {
		if first == 0 {
			first = done
		}
	})
	if err != nil || first != half {
		t.Errorf("begins at %d, %v", first, err)
	}
	same(t, "requests", s.requests(), `/ bytes=524288- "v1"`)
	got(t, cfg, release(s.URL, dump), dump)
}

// A part is only built on when it is certain to be of the same file, or the digest will tell.
func TestWhenAPartIsUsed(t *testing.T) {
	dump := content(1)
	resumed, anew := "bytes=524288-", ""
	for _, c := range []struct {
		what         string
		etag, later  string
		noDigest     bool
		moved        bool
		spoil        func(t *testing.T, note string)
		want, wantIf string
	}{
		{what: "digest and validator", etag: `"v1"`, later: `"v1"`, want: resumed, wantIf: ` "v1"`},
		{what: "digest alone", want: resumed},
		{what: "digest, weak validator", etag: `W/"v1"`, later: `W/"v1"`, want: resumed},
		{what: "digest, another source", etag: `"v1"`, later: `"x"`, moved: true, want: resumed},
		{what: "validator alone", noDigest: true, etag: `"v1"`, later: `"v1"`, want: resumed, wantIf: ` "v1"`},
		{what: "validator that changed", noDigest: true, etag: `"v1"`, later: `"v2"`, want: resumed, wantIf: ` "v1"`},
		{what: "neither", noDigest: true, want: anew},
		{what: "weak validator alone", noDigest: true, etag: `W/"v1"`, later: `W/"v1"`, want: anew},
		{what: "another source without digest", noDigest: true, etag: `"v1"`, later: `"v1"`, moved: true, want: anew},
		{what: "no note", etag: `"v1"`, later: `"v1"`, want: anew, spoil: func(t *testing.T, note string) {
			if err := os.Remove(note); err != nil {
				t.Fatal(err)
			}
		}},
		{what: "a torn note", etag: `"v1"`, later: `"v1"`, want: anew, spoil: func(t *testing.T, note string) {
			if err := os.Truncate(note, 20); err != nil {
				t.Fatal(err)
			}
		}},
		{what: "too long a part", etag: `"v1"`, later: `"v1"`, want: anew, spoil: func(t *testing.T, note string) {
			if err := os.Truncate(strings.TrimSuffix(note, ".json"), size+1); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.what, func(t *testing.T) {
			s := serve(t, inTurn(upTo(half, file(dump, c.etag), stall), file(dump, c.later)))
			other := serve(t, file(dump, c.later))
			cfg := config(t)
			r := release(s.URL, dump)
			if c.noDigest {
				r.Digest = ""
			}
			begin(t, cfg, r, half)
			if c.spoil != nil {
				c.spoil(t, part(cfg)+".json")
			}
			s.requests()
			asked := s
			if c.moved {
				asked, r.URL = other, other.URL
			}
			got(t, cfg, r, dump)
			same(t, "requests", asked.requests(), strings.TrimSpace("/ "+c.want+c.wantIf))
		})
	}
}

func TestPartOfAnotherDigestIsNotUsed(t *testing.T) {
	old, dump := content(1), content(2)
	s := serve(t, inTurn(upTo(half, file(old, ""), stall), file(dump, "")))
	cfg := config(t)
	begin(t, cfg, release(s.URL, old), half)
	s.requests()
	got(t, cfg, release(s.URL, dump), dump)
	same(t, "requests", s.requests(), "/")
}

// The note says it is right, but a bad source or disk made it wrong: one source is enough to recover.
func TestSpoiltPartIsFetchedAnew(t *testing.T) {
	dump := content(1)
	for _, n := range []int64{half, size} {
		s := serve(t, inTurn(upTo(half, file(dump, ""), stall), file(dump, "")))
		cfg := config(t)
		begin(t, cfg, release(s.URL, dump), half)
		if err := os.WriteFile(part(cfg), make([]byte, n), 0o600); err != nil {
			t.Fatal(err)
		}
		s.requests()
		got(t, cfg, release(s.URL, dump), dump)
		if requests := s.requests(); requests[len(requests)-1] != "/" {
			t.Errorf("%q", requests)
		}
	}
}

// Without a digest nothing but the answer's head tells that the bytes are the right ones.
func TestServersWithOddRanges(t *testing.T) {
	dump := content(1)
	whole := file(dump, `"v1"`)
	partial := func(etag, contentRange string, b []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") == "" {
				whole(w, r)
				return
			}
			w.Header().Set("ETag", etag)
			w.Header().Set("Content-Range", contentRange)
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(b)
		}
	}
	const v1 = `"v1"`
	const rest = "/ bytes=524288- " + v1
	for _, c := range []struct {
		what string
		then http.HandlerFunc
		want []string
	}{
		{"no ranges", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(dump) }, []string{rest}},
		{"416", func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") != "" {
				w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
				return
			}
			whole(w, r)
		}, []string{rest, "/"}},
		{"no Content-Range", partial(v1, "", dump[half:]), []string{rest, "/"}},
		{"another beginning", partial(v1, "bytes 524287-1048575/1048576", dump[half-1:size-1]), []string{rest, "/"}},
		{"another file", partial(v1, "bytes 524288-1048575/1048577", make([]byte, half)), []string{rest, "/"}},
		{"another end", partial(v1, "bytes 524288-1048576/*", make([]byte, half+1)), []string{rest, "/"}},
		{"another validator", partial(`"v2"`, "bytes 524288-1048575/1048576", make([]byte, half)), []string{rest, "/"}},
		{"a part of the rest", inTurn(partial(v1, "bytes 524288-524299/*", dump[half:half+12]), whole), []string{rest, "/ bytes=524300- " + v1}},
		{"more than it says", partial(v1, "bytes 524288-524299/*", dump[half:]), []string{rest, "/"}},
		{"less than nothing", partial(v1, "bytes 524288-500000/*", dump[half:]), []string{rest, "/"}},
		{"numbers beyond 64 bits", partial(v1, "bytes 524288-99999999999999999999/*", dump[half:]), []string{rest, "/"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			s := serve(t, inTurn(upTo(half, whole, stall), c.then))
			cfg := config(t)
			r := release(s.URL, dump)
			r.Digest = ""
			begin(t, cfg, r, half)
			s.requests()
			got(t, cfg, r, dump)
			same(t, "requests", s.requests(), c.want...)
		})
	}
}

func TestWrongDigestThenMirror(t *testing.T) {
	dump := content(1)
	wrong := serve(t, file(content(2), `"v1"`))
	mirror := serve(t, file(dump, `"v1"`))
	cfg := config(t)
	cfg.Mirrors = []string{mirror.URL + "/"}
	got(t, cfg, release(wrong.URL+"/dump", dump), dump)
	same(t, "direct", wrong.requests(), "/dump")
	same(t, "mirror", mirror.requests(), "/"+wrong.URL+"/dump")
}

func TestMirrorGoesOnWhereDirectStopped(t *testing.T) {
	dump := content(1)
	direct := serve(t, inTurn(upTo(half, file(dump, `"v1"`), cut), status(http.StatusForbidden)))
	mirror := serve(t, file(dump, `"x"`))
	cfg := config(t)
	cfg.Mirrors = []string{mirror.URL + "/"}
	got(t, cfg, release(direct.URL, dump), dump)
	same(t, "mirror", mirror.requests(), "/"+direct.URL+" bytes=524288-")
}

func TestNullDigestIsDownloaded(t *testing.T) {
	dump := content(1)
	s := serve(t, file(dump, ""))
	r := release(s.URL, dump)
	r.Digest = ""
	got(t, config(t), r, dump)
}

func TestAllSourcesFail(t *testing.T) {
	dump := content(1)
	whole := file(dump, `"v1"`)
	direct := serve(t, inTurn(upTo(half, whole, stall), status(http.StatusNotFound), whole))
	short := serve(t, file(dump[:half+5], ""))
	page := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<html>")
	})
	packed := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(dump)
	})
	cfg := config(t)
	cfg.Mirrors = []string{short.URL, page.URL, packed.URL, "http://nowhere.invalid"}
	r := release(direct.URL, dump)
	begin(t, cfg, r, half)
	_, err := fetch.Download(t.Context(), cfg, r, silent)
	has(t, err, "download the dump "+version, "direct: it answered 404 Not Found",
		strings.TrimPrefix(short.URL, "http://")+": its file has 524293 bytes, and 1048576",
		strings.TrimPrefix(page.URL, "http://")+": it answered with a web page", strings.TrimPrefix(packed.URL, "http://")+": it answered with a compressed file",
		"mirror nowhere.invalid: the name nowhere.invalid cannot be resolved")
	direct.requests()
	got(t, cfg, r, dump)
	same(t, "the part that stayed", direct.requests(), `/ bytes=524288- "v1"`)
}

func TestWrongFilesLeaveNothing(t *testing.T) {
	dump := content(1)
	for _, c := range []struct {
		what string
		body http.HandlerFunc
		want string
	}{
		{"another digest", file(content(2), ""), "not the one that was announced: its checksum is sha256:"},
		{"more bytes than announced", func(w http.ResponseWriter, _ *http.Request) {
			_ = http.NewResponseController(w).Flush()
			_, _ = w.Write(append(bytes.Clone(dump), 0))
		}, "not the one that was announced: more than 1048576 bytes came"},
		{"more bytes than announced, by its length", file(append(bytes.Clone(dump), 0), ""), "1048577 bytes, and 1048576"},
	} {
		t.Run(c.what, func(t *testing.T) {
			s := serve(t, c.body)
			cfg := config(t)
			_, err := fetch.Download(t.Context(), cfg, release(s.URL, dump), silent)
			has(t, err, c.want)
			if entries, err := os.ReadDir(cfg.Dir); err != nil || len(entries) != 0 {
				t.Errorf("%v, %v", entries, err)
			}
			if n := len(s.requests()); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestBadReleaseIsRefused(t *testing.T) {
	dump := content(1)
	s := serve(t, file(dump, ""))
	for want, change := range map[string]func(*fetch.Release){
		"version":                func(r *fetch.Release) { r.Version = "../" + version },
		"size of 2097153 bytes":  func(r *fetch.Release) { r.Size = 2*size + 1 },
		"checksum":               func(r *fetch.Release) { r.Digest = "sha256:abc" },
		"usable http or https":   func(r *fetch.Release) { r.URL = "ftp://files.example/x" },
		"size of 0 bytes is not": func(r *fetch.Release) { r.Size = 0 },
	} {
		cfg := config(t)
		r := release(s.URL, dump)
		change(&r)
		_, err := fetch.Download(t.Context(), cfg, r, silent)
		has(t, err, want)
		if _, err := os.Stat(cfg.Dir); err == nil {
			t.Errorf("%s: the folder was made", want)
		}
	}
	same(t, "requests", s.requests())
}

func TestDiskThatRefuses(t *testing.T) {
	dump := content(1)
	s := serve(t, file(dump, ""))
	cfg := config(t)
	if err := os.MkdirAll(part(cfg), 0o700); err != nil { // a folder where the file has to be
		t.Fatal(err)
	}
	_, err := fetch.Download(t.Context(), cfg, release(s.URL, dump), silent)
	has(t, err, "open the download")
	same(t, "requests", s.requests())
}

func TestCheckSpace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "yet")
	if err := fetch.CheckSpace(dir, 0); err != nil {
		t.Error(err)
	}
	err := fetch.CheckSpace(dir, math.MaxInt32)
	if !errors.Is(err, fetch.ErrNoSpace) {
		t.Fatal(err)
	}
	has(t, err, "MB free", "2147483647 MB are needed")
}
