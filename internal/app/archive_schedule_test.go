package app_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"watchmark/internal/testkit/dumptest"
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
	inBubble(t, func(t *testing.T, b *bubble) {
		source := &weekly{down: true}
		b.site("releases", source)
		time.Sleep(3*24*time.Hour + 20*time.Hour + 30*time.Minute) // before the start: a service ticks
		service, _ := b.start("WATCHMARK_CATALOG_ARCHIVE_MIN_FREE_MB=10", "WATCHMARK_CATALOG_ARCHIVE_POINTER_URL=http://releases/latest.json")
		version := func() string {
			synctest.Wait()
			info, _ := service.Archive.Info()
			return info.Version
		}

		if err := service.Settings.Patch(t.Context(), map[string]map[string]any{"catalog_archive": {"enabled": true}}); err != nil {
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
