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

	"watchmark/internal/catalog"
	"watchmark/internal/platform/task"
	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/testkit/catalogtest"
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
		browsertest.Click("details.menu summary"), browsertest.Click(`.menu-body a[href="/settings/about"]`),
		browsertest.Until(browsertest.Says("#table", "came with this program")), browsertest.Until(browsertest.Listening),
		browsertest.Click("#table-refresh button"), browsertest.Until(browsertest.Says("#run [role=status]", "Failed: the ID table cannot be downloaded: the address answered 404 Not Found")),
		browsertest.Until(browsertest.Says("#table-state", "In use, update failed")),
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
		if table, why := service.Dataset.Table(); table != nil || why.Code != "dataset_off" {
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

// refreshTable runs a refresh of the id table to its end.
func (s *service) refreshTable() {
	s.t.Helper()
	running, err := s.app.Dataset.Refresh(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	for {
		_, more := running.After(0)
		if running.Status().State != task.Running {
			break
		}
		<-more
	}
}

// A table as it is since 0.3.219, with entries that begin inside a season, is fetched and read rightly; one in
// which the first part of a season is gone is refused, and told, and the one before goes on to serve.
func TestATableOfPartsIsFetchedAndAWrongOneRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	row := func(subject int, tmdb, begin string) string {
		return fmt.Sprintf(`{"title":"呪術廻戦 %d","type":"tv","begin":"%sT10:00:00.000Z","sites":[{"site":"bangumi","id":"%d"},{"site":"tmdb","id":%q}]}`, subject, begin, subject, tmdb)
	}
	with := func(rows ...string) string {
		return strings.Replace(tableOf(9000), `"items":[`, `"items":[`+strings.Join(rows, ",")+",", 1)
	}
	var document atomic.Value
	document.Store(with(row(294993, "tv/95479", "2020-10-02"), row(369304, "tv/95479/season/1/episode/25", "2023-07-06")))
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(document.Load().(string))) }))
	t.Cleanup(site.Close)
	s := start(t, "WATCHMARK_MATCHING_DATASET_URL="+site.URL+"/data.json")
	for subject, first := range map[catalog.SubjectID]int{294993: 1, 369304: 25} {
		s.list.AddSubject(catalogtest.Subject{ID: subject, Type: catalog.Anime, Name: fmt.Sprintf("呪術廻戦 %d", subject), Platform: "TV"})
		for i := range 23 {
			s.list.AddEpisodes(subject, catalogtest.Episode{ID: catalog.EpisodeID(int(subject)*100 + i + 1), Sort: float64(first + i)})
		}
	}
	refresh := func() (status struct {
		Outcome string `json:"last_outcome"`
		Error   string `json:"last_error"`
		Entries int
		Moved   []struct{ Kind string }
	}) {
		s.refreshTable()
		s.api(http.MethodGet, "/api/dataset/status", "", http.StatusOK, &status)
		return status
	}
	leads := func(episode, want int) {
		t.Helper()
		var trace struct {
			Result struct {
				EpisodeID int `json:"episode_id"`
			}
		}
		s.api(http.MethodPost, "/api/test-match", fmt.Sprintf(`{"title":"Sorcery Fight","season":1,"episode":%d,"user_name":"Mira","ids":{"tmdb":"95479"}}`, episode), http.StatusOK, &trace)
		if trace.Result.EpisodeID != want {
			t.Errorf("episode %d leads to %d, want %d", episode, trace.Result.EpisodeID, want)
		}
	}
	if got := refresh(); got.Outcome != "refreshed" || got.Entries != 9002 {
		t.Fatalf("the status is %+v", got)
	}
	leads(5, 29499305)
	leads(27, 36930403)
	document.Store(with(row(369304, "tv/95479", "2023-07-06")))
	if got := refresh(); got.Outcome != "refused" || got.Entries != 9002 || len(got.Moved) == 0 || !strings.Contains(got.Error, "leads to 369304 instead of 294993") {
		t.Errorf("the status is %+v", got)
	}
	leads(5, 29499305)
	if page := s.get("/settings/about").body; !strings.Contains(page, "In use, new version not accepted") || !strings.Contains(page, "update Watchmark") {
		t.Error("the page About does not tell it")
	}
}
