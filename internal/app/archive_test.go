package app_test

import (
	"archive/zip"
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/archive"
	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/testkit/catalogtest"
)

// weekOld is the dump of a week ago, of shows that the catalog has changed since.
var weekOld = map[string][]string{
	"subject.jsonlines": {
		`{"id":501,"type":2,"name":"雨の図書館","name_cn":"雨中图书馆","platform":1,"date":"2026-04-05"}`,
		`{"id":502,"type":2,"name":"砂の時計台","name_cn":"沙之钟楼","platform":1,"date":"2026-04-06"}`,
		`{"id":504,"type":2,"name":"風の測量士","name_cn":"风之测量师","platform":1,"date":"2026-04-08"}`,
		`{"id":503,"type":2,"name":"夜の果樹園","name_cn":"夜之果园","platform":1,"date":"2026-04-07","nsfw":true}`,
	},
	"episode.jsonlines": {
		`{"id":50101,"subject_id":501,"sort":1,"type":0,"airdate":"2026-04-05"}`, `{"id":50102,"subject_id":501,"sort":2,"type":0,"airdate":"2026-04-12"}`,
		`{"id":50201,"subject_id":502,"sort":1,"type":0,"airdate":"2026-04-06"}`,
		`{"id":50401,"subject_id":504,"sort":1,"type":0,"airdate":"2026-04-08"}`, `{"id":50402,"subject_id":504,"sort":2,"type":0,"airdate":"2026-04-15"}`,
		`{"id":50301,"subject_id":503,"sort":1,"type":0,"airdate":"2026-04-07"}`,
	},
	"subject-relations.jsonlines": {},
}

// dumpOf is the zip of members.
func dumpOf(t *testing.T, members map[string][]string) []byte {
	t.Helper()
	var dump bytes.Buffer
	w := zip.NewWriter(&dump)
	for name, rows := range members {
		member, err := w.Create(name)
		if err == nil {
			_, err = io.WriteString(member, strings.Join(rows, "\n"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dump.Bytes()
}

// withArchive is start with the archive of weekOld switched on.
func withArchive(t *testing.T) *service {
	t.Helper()
	s := start(t, "WATCHMARK_CATALOG_ARCHIVE_POINTER_URL=http://127.0.0.1:9/latest.json")
	dump := dumpOf(t, weekOld)
	if _, err := s.app.Archive.Import(t.Context(), archive.Dump{Data: bytes.NewReader(dump), Size: int64(len(dump))}, func(archive.Progress) {}); err != nil {
		t.Fatal(err)
	}
	s.api(http.MethodPatch, "/api/settings", `{"catalog_archive":{"enabled":true}}`, http.StatusOK, nil)
	s.list.AddSubject(
		catalogtest.Subject{ID: 501, Type: catalog.Anime, Name: "雨の図書館", NameCN: "雨中图书馆", Platform: "TV", Date: "2026-04-05"},
		catalogtest.Subject{ID: 502, Type: catalog.Anime, Name: "砂の時計台", NameCN: "沙之钟楼", MergedInto: 602},
		catalogtest.Subject{ID: 602, Type: catalog.Anime, Name: "砂の時計台", NameCN: "沙之钟楼", Platform: "TV", Date: "2026-04-06"},
		catalogtest.Subject{ID: 503, Type: catalog.Anime, Name: "夜の果樹園", NameCN: "夜之果园", Platform: "TV", Date: "2026-04-07", NSFW: true},
	)
	s.list.AddEpisodes(501, catalogtest.Episode{ID: 50101, Sort: 1, AirDate: "2026-04-05"},
		catalogtest.Episode{ID: 50102, Sort: 2, AirDate: "2026-04-12"}, catalogtest.Episode{ID: 50103, Sort: 3, AirDate: "2026-04-19"})
	s.list.AddEpisodes(602, catalogtest.Episode{ID: 60201, Sort: 1, AirDate: "2026-04-06"})
	s.list.AddSubject(catalogtest.Subject{ID: 504, Type: catalog.Anime, Name: "風の測量士", NameCN: "风之测量师", Platform: "TV", Date: "2026-04-08"})
	s.list.AddEpisodes(504, catalogtest.Episode{ID: 50401, Sort: 1, AirDate: "2026-04-08"}, catalogtest.Episode{ID: 50412, Sort: 2, AirDate: "2026-04-15"})
	s.list.AddEpisodes(503, catalogtest.Episode{ID: 50301, Sort: 1, AirDate: "2026-04-07"})
	return s
}

func TestTheArchiveIsAWeekOld(t *testing.T) {
	s := withArchive(t)
	for _, c := range []struct {
		name, event string
		marked      string
		message     string
	}{
		{"it knows the episode", `{"title":"雨中图书馆","season":1,"episode":2,"release_date":"2026-04-12","user_name":"Mira"}`, "mira/50102", ""},
		{"it lacks the newest episode", `{"title":"雨中图书馆","season":1,"episode":3,"release_date":"2026-04-19","user_name":"Mira"}`, "mira/50103", ""},
		{"the subject was merged since", `{"title":"沙之钟楼","season":1,"episode":1,"release_date":"2026-04-06","user_name":"Mira"}`, "mira/60201", ""},
		{"the subject is hidden from look-ups without a login", `{"title":"夜之果园","season":1,"episode":1,"release_date":"2026-04-07","user_name":"Mira"}`, "mira/50301", ""},
		{"it lacks the show", `{"title":"灯塔守望者","season":1,"episode":5,"user_name":"Mira"}`, "mira/90000105", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			id := s.custom(c.event)
			if r := s.settled(id); r.Status != "success" {
				t.Errorf("the record is %+v", r)
			}
			if !s.marked()[c.marked] {
				t.Errorf("marked are %v, not %s", s.marked(), c.marked)
			}
			s.explained(id)
		})
	}
	if len(s.marked()) != 5 {
		t.Errorf("marked are %v", s.marked())
	}
}

func TestAPersonMayChooseWhatOnlyTheArchiveShows(t *testing.T) {
	s := withArchive(t)
	if got := s.api(http.MethodGet, "/api/subjects/503", "", http.StatusOK, nil); !strings.Contains(got.body, "夜之果园") {
		t.Errorf("what the catalog hides: %s", got.body)
	}
	s.api(http.MethodGet, "/api/subjects/505", "", http.StatusNotFound, nil)
	if err := s.list.SetFault(catalogtest.Fault{Mode: catalogtest.Status, Status: http.StatusBadGateway}); err != nil {
		t.Fatal(err)
	}
	if got := s.api(http.MethodGet, "/api/subjects/501", "", http.StatusOK, nil); !strings.Contains(got.body, "雨中图书馆") {
		t.Errorf("while the catalog is down: %s", got.body)
	}
	s.api(http.MethodGet, "/api/subjects/505", "", http.StatusServiceUnavailable, nil)
}

// The catalog refuses a batch as a whole: an episode that was made anew since must not
// cost the others that are marked together with it.
func TestOneStaleEpisodeCostsNoOther(t *testing.T) {
	s := withArchive(t)
	first := s.custom(`{"title":"风之测量师","season":1,"episode":1,"release_date":"2026-04-08","user_name":"Mira"}`)
	second := s.custom(`{"title":"风之测量师","season":1,"episode":2,"release_date":"2026-04-15","user_name":"Mira"}`)
	for _, id := range []int64{first, second} {
		if r := s.settled(id); r.Status != "success" {
			t.Errorf("the record is %+v", r)
		}
	}
	if diff := cmp.Diff(map[string]bool{"mira/50401": true, "mira/50412": true}, s.marked()); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
}

// While the catalog is down the archive still tells what was watched: the record waits
// with its subject and episode, and the first request that gets through marks it.
func TestTheArchiveMatchesWhileTheCatalogIsDown(t *testing.T) {
	s := withArchive(t)
	if err := s.list.SetFault(catalogtest.Fault{Mode: catalogtest.Refuse}); err != nil {
		t.Fatal(err)
	}
	id := s.custom(`{"title":"雨中图书馆","season":1,"episode":1,"release_date":"2026-04-05","user_name":"Mira"}`)
	if r := s.settled(id); r.Status != "queued" || r.SubjectID != 501 || r.EpisodeID != 50101 {
		t.Fatalf("with the catalog down the record is %+v", r)
	}
	var trace struct {
		Result struct {
			Status string `json:"status"`
			Method string `json:"method"`
		} `json:"result"`
	}
	s.api(http.MethodPost, "/api/test-match", `{"title":"雨の図書舘","season":1,"episode":2,"release_date":"2026-04-12","user_name":"Mira"}`, http.StatusOK, &trace)
	if trace.Result.Status != "matched" || trace.Result.Method != "archive" {
		t.Errorf("with the catalog down a slip of the pen is %+v", trace.Result)
	}
	if err := s.list.SetFault(catalogtest.Fault{Mode: catalogtest.None}); err != nil {
		t.Fatal(err)
	}
	s.until(id, func(r recordView) bool { return r.Status == "success" })
	if diff := cmp.Diff(map[string]bool{"mira/50101": true}, s.marked()); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
}

// TestBrowserArchive walks the way of somebody who tries the archive: switched on, the
// import as it goes, a title looked for, another dump uploaded, switched off.
func TestBrowserArchive(t *testing.T) {
	tab := browsertest.Start(t)
	source := &weekly{}
	source.publish(t, "2026-11-17.210306Z", 1)
	site := httptest.NewServer(source)
	t.Cleanup(site.Close)
	source.address = site.URL
	s := start(t, "WATCHMARK_CATALOG_ARCHIVE_MIN_FREE_MB=10", "WATCHMARK_CATALOG_ARCHIVE_POINTER_URL="+site.URL+"/latest.json", "WATCHMARK_AUTH_ENABLED=false", "WATCHMARK_SERVER_LISTEN=127.0.0.1:1")
	upload := filepath.Join(t.TempDir(), "dump.zip")
	if err := os.WriteFile(upload, dumpOf(t, weekOld), 0o600); err != nil {
		t.Fatal(err)
	}
	browsertest.Complaints(t, tab)
	browsertest.Run(t, tab, browsertest.Sized(1280, 900), chromedp.Navigate(s.url+"/titles/archive"), browsertest.Until(browsertest.Listening),
		browsertest.Until(browsertest.Says("#archive .verdict", "Switched off")),
		browsertest.Click("#archive .verdict button"),
		browsertest.Until(browsertest.Says("#run [role=status]", "Imported.")),
		browsertest.Until(browsertest.Says("#run .log", "the offline data was imported")),
		browsertest.Until(browsertest.Says("#archive .verdict", "In use")),
		browsertest.Until(browsertest.Says("#archive .facts", "2026-11-17.210306Z")),
		browsertest.Until(browsertest.Says("#archive-search", "Search a title")),
		browsertest.Click("#archive-update button"), browsertest.Until(browsertest.Says("#run [role=status]", "There is no newer dump.")),
	)
	picture(t, tab, "archive-run.png")
	browsertest.Run(t, tab, chromedp.Navigate(s.url+"/titles/archive"), browsertest.Until(browsertest.Listening),
		browsertest.Click("#upload summary"), chromedp.SetUploadFiles("#dump", []string{upload}),
		browsertest.Click("#upload button"), browsertest.Until(browsertest.Says("#run [role=status]", "probably incomplete")),
		browsertest.Until(browsertest.Says("#archive .verdict", "In use, but the update failed")),
	)
	picture(t, tab, "archive-refused.png")
	browsertest.Run(t, tab,
		browsertest.Click("#upload summary"), chromedp.SetUploadFiles("#dump", []string{upload}), browsertest.Click("#smaller"),
		browsertest.Click("#upload button"), browsertest.Until(browsertest.Says("#run [role=status]", "Imported.")),
		browsertest.Until(browsertest.Says("#archive .facts", "sha256-")),
		// What ran says nothing of use: the archive can be switched off below it.
		browsertest.Click("#archive .verdict button"), browsertest.Until(browsertest.Says("#archive .verdict", "Switched off")),
		browsertest.Until(`!/in use/i.test(document.querySelector("#main").innerText)`),
		// Switched on again, it is the one that was chosen, not the newest one.
		browsertest.Click("#archive .verdict button"), browsertest.Until(browsertest.Says("#archive .verdict", "In use")),
		browsertest.Until(browsertest.Says("#archive .facts", "sha256-")),
		chromedp.Navigate(s.url+"/titles/archive"), browsertest.Until(browsertest.Listening),
		browsertest.Type("#q", "雨中图书管"), browsertest.Click("form[role=search] button"),
		browsertest.Until(browsertest.Says(".found", "雨の図書館")), browsertest.Until(browsertest.Says(".found", "similar")),
	)
	picture(t, tab, "archive-search.png")
	browsertest.Run(t, tab, browsertest.Click("#archive .verdict button"), browsertest.Until(browsertest.Says("#archive .verdict", "Switched off")))
}
