package app_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"watchmark/internal/app"
	"watchmark/internal/archive/dumptest"
	"watchmark/internal/logtest"
	"watchmark/internal/memnet"
)

// weekly publishes dumps, and notes when it was asked for the newest one.
type weekly struct {
	address string // that it is reached by; empty is http://releases
	mu      sync.Mutex
	down    bool
	version string
	zip     []byte
	asked   []string
}

func (w *weekly) publish(t *testing.T, version string, seed uint64) {
	t.Helper()
	spec := dumptest.Scaled(0.001)
	spec.Seed = seed
	var zip bytes.Buffer
	if err := dumptest.Write(&zip, spec); err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.version, w.zip = version, zip.Bytes()
}

func (w *weekly) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.URL.Path != "/latest.json" {
		_, _ = out.Write(w.zip)
		return
	}
	w.asked = append(w.asked, time.Now().UTC().Format("Jan 2 15:04"))
	if w.down {
		out.WriteHeader(http.StatusNotFound)
		return
	}
	name := "dump-" + w.version + ".zip"
	_ = json.NewEncoder(out).Encode(map[string]any{"name": name, "browser_download_url": cmp.Or(w.address, "http://releases") + "/" + name, "size": len(w.zip),
		"digest": fmt.Sprintf("sha256:%x", sha256.Sum256(w.zip)), "updated_at": "2000-01-01T00:00:00Z"})
}

// The archive is switched on late on a Tuesday while the source is down: an hour's wait
// after each failure, then Wednesday at 8 in Shanghai.
func TestArchiveKeepsItsSchedule(t *testing.T) {
	skipUnderRace(t)
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) { // begins on Saturday, 2000-01-01 at 00:00 UTC
		network := memnet.New(t)
		source := &weekly{down: true}
		site := &http.Server{Handler: source, ReadHeaderTimeout: time.Minute}
		siteDoor, door := network.Listen("releases"), network.Listen("watchmark")
		siteEnded := make(chan struct{})
		go func() { _ = site.Serve(siteDoor); close(siteEnded) }()
		defer func() { _ = site.Close(); <-siteEnded }()
		service, err := app.New(t.Context(), app.Options{DataDir: dir, Logs: &logtest.Buffer{}, Environ: []string{
			"WATCHMARK_CATALOG_API_URL=http://catalog", "WATCHMARK_SERVER_LISTEN=127.0.0.1:1", "WATCHMARK_AUTH_ENABLED=false",
			"WATCHMARK_CATALOG_ARCHIVE_MIN_FREE_MB=10", "WATCHMARK_CATALOG_ARCHIVE_POINTER_URL=http://releases/latest.json"}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- service.Serve(ctx, door) }()
		defer func() {
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		}()
		version := func() string {
			synctest.Wait()
			info, _ := service.Archive.Info()
			return info.Version
		}

		time.Sleep(3*24*time.Hour + 20*time.Hour + 30*time.Minute)
		if err := service.Settings.Patch(ctx, map[string]map[string]any{"catalog_archive": {"enabled": true}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(150 * time.Minute) // until 23:00: failures at 20:30, 21:30 and 22:30
		source.publish(t, "2000-01-04.210000Z", 1)
		source.mu.Lock()
		source.down = false
		source.mu.Unlock()
		time.Sleep(45 * time.Minute)
		if got := version(); got != "2000-01-04.210000Z" {
			t.Errorf("after the source is back, the archive is %q", got)
		}
		source.publish(t, "2000-01-05.000000Z", 2)
		time.Sleep(10 * time.Minute)
		if got := version(); got != "2000-01-04.210000Z" {
			t.Errorf("before Wednesday at 8, the archive is %q", got)
		}
		time.Sleep(10 * time.Minute)
		if got := version(); got != "2000-01-05.000000Z" {
			t.Errorf("after it, the archive is %q", got)
		}
		source.mu.Lock()
		defer source.mu.Unlock()
		if diff := gocmp.Diff([]string{"Jan 4 20:30", "Jan 4 21:30", "Jan 4 22:30", "Jan 4 23:30", "Jan 5 00:00"}, source.asked); diff != "" {
			t.Errorf("the source was asked (-want +got):\n%s", diff)
		}
	})
}
