package cover_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/cover"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/secret"
	"watchmark/internal/testkit/catalogtest"
)

// rig is a Cache at work against a catalog of its own.
type rig struct {
	*cover.Cache
	catalog *catalogtest.Server
	client  *catalog.Client
	folder  string
	host    string
}

func out(t *testing.T, maxBody int64) *httpx.Client {
	t.Helper()
	client, err := httpx.New(httpx.Config{PerMinute: 60000, Burst: 10000, MaxBody: maxBody, Timeout: 10 * time.Second, UserAgent: catalog.UserAgent("test")}, &secret.Masker{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func newRig(t *testing.T) *rig {
	t.Helper()
	server, base := catalogtest.Start(t, catalogtest.Config{Users: []catalogtest.User{{Username: "mira", Token: "mira-token"}}})
	if err := server.LoadSample(); err != nil {
		t.Fatal(err)
	}
	client, err := catalog.New(catalog.Config{APIURL: base, WebURL: base, UserAgent: catalog.UserAgent("test")}, out(t, 0), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{catalog: server, client: client, folder: filepath.Join(t.TempDir(), "covers"), host: base}
	r.Cache = cover.NewCache(cover.Config{
		Folder: r.folder, HTTP: out(t, cover.LongestImage), Host: func() string { return r.host }, Subject: client.Subject,
		Reachable: func() bool { return client.Reachability().Reachable }, Log: slog.New(slog.DiscardHandler),
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.Run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
	return r
}

// elsewhere has images come from a host that answers what fn says, and counts what it was asked.
func (r *rig) elsewhere(t *testing.T, fn http.HandlerFunc) *atomic.Int64 {
	t.Helper()
	var asked atomic.Int64
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		asked.Add(1)
		fn(w, req)
	}))
	t.Cleanup(host.Close)
	r.host = host.URL
	return &asked
}

func (r *rig) lookUps() int { return r.catalog.Requests()["GET /v0/subjects/{id}"] }

func (r *rig) images() int {
	return r.catalog.Requests()["GET /r/{width}/pic/cover/{size}/{file...}"] + r.catalog.Requests()["GET /pic/cover/{size}/{file...}"]
}

func (r *rig) mustGet(t *testing.T, id catalog.SubjectID) cover.Image {
	t.Helper()
	got, err := r.Get(t.Context(), id)
	if err != nil {
		t.Fatalf("cover of %d: %v", id, err)
	}
	if got.Type != "image/jpeg" || http.DetectContentType(got.Data) != "image/jpeg" {
		t.Fatalf("cover of %d is %q, %d bytes", id, got.Type, len(got.Data))
	}
	return got
}

func until(t *testing.T, what string, there func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !there(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

func TestCoverIsFetchedOnceAndKept(t *testing.T) {
	r := newRig(t)
	first := r.mustGet(t, 900001)
	shown, _, err := image.DecodeConfig(bytes.NewReader(first.Data))
	if err != nil || shown.Width != 200 {
		t.Errorf("the cover is %d pixels wide (%v), want the small one", shown.Width, err)
	}
	again := r.mustGet(t, 900001)
	if !bytes.Equal(first.Data, again.Data) || r.lookUps() != 1 || r.images() != 1 {
		t.Errorf("%d look-ups and %d images for one cover", r.lookUps(), r.images())
	}
}

func TestSubjectsWithoutACover(t *testing.T) {
	r := newRig(t)
	r.catalog.AddSubject(
		catalogtest.Subject{ID: 7, Type: catalog.Anime, Name: "大人", Image: "0a/1b/7_x.jpg", NSFW: true},
		catalogtest.Subject{ID: 8, Type: catalog.Anime, Name: "消えた絵", Image: "0a/1b/9_gone.jpg"},
	)
	for name, id := range map[string]catalog.SubjectID{"it has none": 900007, "it is unknown": 4242, "it is for adults": 7, "the image is gone": 8} {
		t.Run(name, func(t *testing.T) {
			before := r.lookUps()
			for range 2 {
				if _, err := r.Get(t.Context(), id); !errors.Is(err, cover.ErrNone) {
					t.Errorf("%v, want ErrNone", err)
				}
			}
			if n := r.lookUps() - before; n != 1 {
				t.Errorf("%d look-ups, want 1", n)
			}
		})
	}
	// The catalog shows an adult subject to everybody for a minute after somebody with a login read it.
	r.catalog.AddSubject(catalogtest.Subject{ID: 17, Type: catalog.Anime, Name: "大人", Image: "0a/1b/17_x.jpg", NSFW: true})
	if _, err := r.client.As("mira-token").Me(t.Context()); err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.host+"/v0/subjects/17", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"Authorization": {"Bearer mira-token"}, "User-Agent": {"test/test/1"}}
	answer, err := http.DefaultClient.Do(request)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer, err)
	}
	_ = answer.Body.Close()
	if s, err := r.client.Subject(t.Context(), 17); err != nil || !s.NSFW {
		t.Fatalf("the catalog does not show it: %+v, %v", s, err)
	}
	if _, err := r.Get(t.Context(), 17); !errors.Is(err, cover.ErrNone) {
		t.Errorf("adult subject that shows for a minute: %v, want ErrNone", err)
	}
	if entries, err := os.ReadDir(r.folder); len(entries) > 0 {
		t.Errorf("kept: %v (%v)", entries, err)
	}
}

func TestMergedSubjectHasTheCoverOfTheOther(t *testing.T) {
	r := newRig(t)
	r.catalog.AddSubject(catalogtest.Subject{ID: 9, Type: catalog.Anime, Name: "旧", MergedInto: 900001})
	if !bytes.Equal(r.mustGet(t, 9).Data, r.mustGet(t, 900001).Data) {
		t.Error("the covers differ")
	}
}

func TestSearchSavesTheLookUp(t *testing.T) {
	r := newRig(t)
	cached := catalog.NewCached(r.client)
	cached.OnFound(r.Learn)
	hits, err := cached.Search(t.Context(), catalog.SearchQuery{Keyword: "灯塔守望者", Limit: 20})
	if err != nil || len(hits) == 0 {
		t.Fatal(hits, err)
	}
	r.mustGet(t, hits[0].ID)
	if n := r.lookUps(); n != 0 {
		t.Errorf("%d look-ups after a search", n)
	}
}

func TestNothingIsLookedUpWhileTheCatalogIsDown(t *testing.T) {
	r := newRig(t)
	if err := r.catalog.SetFault(catalogtest.Fault{Mode: catalogtest.Status, Status: 429, Paths: catalogtest.Reads}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.client.Episodes(t.Context(), 900001); !errors.Is(err, catalog.ErrUnreachable) {
		t.Fatal(err)
	}
	before := r.client.Reachability()
	// From then on the breaker lets one request through: it is to be one that a mark needs.
	until(t, "a trial is due", func() bool { return time.Now().After(before.NextTrial) })
	for range 3 {
		if _, err := r.Get(t.Context(), 900001); !errors.Is(err, cover.ErrLater) {
			t.Errorf("%v, want ErrLater", err)
		}
	}
	if n := r.lookUps(); n != 0 || !reflect.DeepEqual(r.client.Reachability(), before) {
		t.Errorf("%d look-ups, and the breaker went from %+v to %+v", n, before, r.client.Reachability())
	}
	r.catalog.Reset()
	if _, err := r.client.Episodes(catalog.Probing(t.Context()), 900001); err != nil {
		t.Fatal(err)
	}
	r.mustGet(t, 900001)
}

func TestLookUpsLeaveTheRateToMarks(t *testing.T) {
	r := newRig(t)
	for id := range catalog.SubjectID(100) {
		_, _ = r.Get(t.Context(), 1000+id)
	}
	if n := r.lookUps(); n > 62 || n < 60 {
		t.Errorf("%d look-ups at once, want 60", n)
	}
}

func TestImageHostThatFailsIsLeftAlone(t *testing.T) {
	for name, fault := range map[string]catalogtest.Fault{
		"503": {Mode: catalogtest.Status}, "a web page": {Mode: catalogtest.HTML}, "refused": {Mode: catalogtest.Refuse}, "403": {Mode: catalogtest.Status, Status: 403},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			fault.Paths = catalogtest.Images
			if err := r.catalog.SetFault(fault); err != nil {
				t.Fatal(err)
			}
			if _, err := r.Get(t.Context(), 900001); !errors.Is(err, cover.ErrLater) {
				t.Errorf("%v, want ErrLater", err)
			}
			asked := r.images()
			if _, err := r.Get(t.Context(), 900002); !errors.Is(err, cover.ErrLater) || r.images() != asked {
				t.Errorf("%v, and the host was asked %d times more", err, r.images()-asked)
			}
			if reach := r.client.Reachability(); !reach.Reachable {
				t.Error("images count as the catalog")
			}
		})
	}
}

func TestOnlyImagesAreKept(t *testing.T) {
	const script = `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`
	for name, body := range map[string]string{"a drawing with a script": script, "nothing": "", "text": "no", "too much": "\xff\xd8\xff" + strings.Repeat("x", cover.LongestImage)} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.elsewhere(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "image/jpeg")
				_, _ = w.Write([]byte(body))
			})
			if _, err := r.Get(t.Context(), 900001); !errors.Is(err, cover.ErrNone) {
				t.Errorf("%v, want ErrNone", err)
			}
		})
	}
	t.Run("another kind than the host says", func(t *testing.T) {
		r := newRig(t)
		r.elsewhere(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_ = png.Encode(w, image.NewGray(image.Rect(0, 0, 2, 3)))
		})
		if got, err := r.Get(t.Context(), 900001); err != nil || got.Type != "image/png" {
			t.Errorf("%q, %v", got.Type, err)
		}
	})
	t.Run("a file that somebody put there", func(t *testing.T) {
		r := newRig(t)
		if err := errors.Join(os.MkdirAll(r.folder, 0o700), os.WriteFile(filepath.Join(r.folder, "900001"), []byte(script), 0o600)); err != nil {
			t.Fatal(err)
		}
		r.mustGet(t, 900001)
	})
}

func TestMirrorThatMakesNothingSmaller(t *testing.T) {
	r := newRig(t)
	asked := r.elsewhere(t, func(w http.ResponseWriter, req *http.Request) {
		if strings.HasPrefix(req.URL.Path, "/r/200/") {
			http.NotFound(w, req)
			return
		}
		_ = png.Encode(w, image.NewGray(image.Rect(0, 0, 2, 3)))
	})
	if _, err := r.Get(t.Context(), 900001); err != nil || asked.Load() != 2 {
		t.Errorf("%v after %d requests", err, asked.Load())
	}
}

func TestOldCoverIsShownAndRenewed(t *testing.T) {
	r := newRig(t)
	r.mustGet(t, 900001)
	file := filepath.Join(r.folder, "900001")
	old := time.Now().Add(-40 * 24 * time.Hour)
	if err := os.Chtimes(file, old, old); err != nil {
		t.Fatal(err)
	}
	if got := r.mustGet(t, 900001); time.Since(got.At) < 24*time.Hour {
		t.Error("the old cover was not shown")
	}
	until(t, "the cover is renewed", func() bool { return time.Since(r.mustGet(t, 900001).At) < 24*time.Hour })
}

func TestFolderIsBounded(t *testing.T) {
	r := newRig(t)
	leftover := filepath.Join(r.folder, ".new-left")
	if err := errors.Join(os.MkdirAll(r.folder, 0o700), os.WriteFile(leftover, []byte("by a crash"), 0o600)); err != nil {
		t.Fatal(err)
	}
	size := int64(len(r.mustGet(t, 900001).Data))
	if _, err := os.Stat(leftover); !os.IsNotExist(err) {
		t.Error("what a crash left is still there:", err)
	}
	r.KeepAtMost(4 * size)
	for i, id := range []catalog.SubjectID{900002, 900003, 900004, 900005, 900006} {
		r.mustGet(t, id)
		at := time.Now().Add(time.Duration(i-10) * time.Minute)
		if err := os.Chtimes(filepath.Join(r.folder, strconv.Itoa(int(id))), at, at); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(r.folder)
	if err != nil {
		t.Fatal(err)
	}
	var total int64
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	if total > 4*size || len(entries) == 0 {
		t.Errorf("the folder holds %d bytes in %d files, at most %d are allowed", total, len(entries), 4*size)
	}
	if _, err := os.Stat(filepath.Join(r.folder, "900006")); err != nil {
		t.Error("the newest cover went first:", err)
	}
}

func TestSmaller(t *testing.T) {
	for path, want := range map[string]string{
		"/pic/cover/l/12/34/8_abcde.jpg":       "/r/200/pic/cover/l/12/34/8_abcde.jpg",
		"/r/400/pic/cover/l/12/34/8_abcde.jpg": "/r/200/pic/cover/l/12/34/8_abcde.jpg",
		"/pic/cover/c/12/34/8_abcde.jpg":       "/r/200/pic/cover/l/12/34/8_abcde.jpg",
		"/img/no_icon_subject.png":             "/img/no_icon_subject.png",
		"/covers/8.webp":                       "/covers/8.webp",
	} {
		if got := cover.Smaller(path); got != want {
			t.Errorf("%s gives %s, want %s", path, got, want)
		}
	}
}
