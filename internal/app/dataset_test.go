package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chromedp/chromedp"
	gocmp "github.com/google/go-cmp/cmp"

	"watchmark/internal/browsertest"
)

// tableOf is a document of bangumi-data with n subjects.
func tableOf(n int) string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(`{"title":"灯塔守望者 %d","type":"tv","sites":[{"site":"bangumi","id":"%d"}]}`, i, i+1)
	}
	return `{"siteMeta":{},"items":[` + strings.Join(items, ",") + `]}`
}

// TestBrowserAbout walks the way of somebody who refreshes the id table by hand: it
// fails, then it does not, then there is nothing newer.
func TestBrowserAbout(t *testing.T) {
	tab := browsertest.Start(t)
	var up atomic.Bool
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !up.Load() {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte(tableOf(9000)))
	}))
	t.Cleanup(site.Close)
	s := start(t, "WATCHMARK_MATCHING_DATASET_URL="+site.URL+"/data.json", "WATCHMARK_AUTH_ENABLED=false", "WATCHMARK_SERVER_LISTEN=127.0.0.1:1")
	browsertest.Run(t, tab, browsertest.Sized(1280, 900), chromedp.Navigate(s.url+"/"), browsertest.Until(browsertest.Listening),
		browsertest.Click("details.menu summary"), browsertest.Click(`.menu-body a[href="/about"]`),
		browsertest.Until(browsertest.Says("#table", "came with this program")), browsertest.Until(browsertest.Listening),
		browsertest.Click("#table-refresh button"), browsertest.Until(browsertest.Says("#run [role=status]", "Failed: fetch the id table: the address answered 404 Not Found")),
		browsertest.Until(browsertest.Says("#table-state", "In use, but not renewed")),
	)
	up.Store(true)
	const idle = `!document.querySelector("#table-refresh[data-busy]")` // a form that is under way takes no click
	browsertest.Run(t, tab, browsertest.Until(idle), browsertest.Click("#table-refresh button"), browsertest.Until(browsertest.Says("#run [role=status]", "Refreshed and in use: 9,000 entries.")),
		browsertest.Until(browsertest.Says("#run .log", "the id table was refreshed")), browsertest.Until(browsertest.Says("#table", "9,000 entries")),
		browsertest.Until(`document.querySelector("#table-state").innerText.trim() === "In use"`),
		browsertest.Until(idle), browsertest.Click("#table-refresh button"), browsertest.Until(browsertest.Says("#run [role=status]", "There is no newer table.")),
	)
	picture(t, tab, "about-run.png")
}

// The table is fetched every day at 8:30. The source is down on the first one: an hour's
// wait after each failure. A restart knows of it all.
func TestDatasetKeepsItsSchedule(t *testing.T) {
	document := tableOf(9000)
	inBubble(t, func(t *testing.T, b *bubble) {
		var mu sync.Mutex
		var asked []string
		up := false
		b.site("tables", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, time.Now().UTC().Format("Jan 2 15:04"))
			if !up {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			_, _ = w.Write([]byte(document))
		}))
		environ := []string{"WATCHMARK_MATCHING_DATASET_CRON=CRON_TZ=UTC 30 8 * * *", "WATCHMARK_MATCHING_DATASET_URL=http://tables/data.json"}
		time.Sleep(8 * time.Hour) // before the start: a service ticks
		service, stop := b.start(environ...)
		time.Sleep(2 * time.Hour) // until 10:00: failures at 8:30 and 9:30
		mu.Lock()
		up = true
		mu.Unlock()
		time.Sleep(time.Hour)
		synctest.Wait()
		if s := service.Dataset.Status(); s.Entries != 9000 {
			t.Errorf("after the source is back, the status is %+v", s)
		}
		stop()
		time.Sleep(2*24*time.Hour + 20*time.Hour + 30*time.Minute) // two times are missed
		service, _ = b.start(environ...)
		time.Sleep(30 * time.Minute)
		if err := service.Settings.Patch(t.Context(), map[string]map[string]any{"matching": {"dataset_enabled": false}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if table, why := service.Dataset.Table(); table != nil || why != "the id table is switched off" {
			t.Errorf("switched off, there is a table, or none because %q", why)
		}
		mu.Lock()
		defer mu.Unlock()
		if diff := gocmp.Diff([]string{"Jan 1 08:30", "Jan 1 09:30", "Jan 1 10:30", "Jan 4 07:30"}, asked); diff != "" {
			t.Errorf("the source was asked (-want +got):\n%s", diff)
		}
	})
}

func TestDatasetMayNeverBeRefreshedByItself(t *testing.T) {
	s := start(t)
	if s.app.Dataset.Status().NextRun == nil {
		t.Error("by default nothing is planned")
	}
	s.api(http.MethodPatch, "/api/settings", `{"matching":{"dataset_cron":""}}`, http.StatusOK, nil)
	if next := s.app.Dataset.Status().NextRun; next != nil {
		t.Errorf("without a schedule the next one is at %v", next)
	}
}
