package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"watchmark/internal/testkit/mediaservertest"
)

// startWithSeasons is start with an id table by which the series 500 of TheTVDB is the entries 900001 and 900002.
func startWithSeasons(t *testing.T) *service {
	t.Helper()
	ids := `{"title":"灯台守のうた","type":"tv","sites":[{"site":"bangumi","id":"900001"},{"site":"anidb","id":"1"}]},` +
		`{"title":"灯台守のうた 第2期","type":"tv","sites":[{"site":"bangumi","id":"900002"},{"site":"anidb","id":"2"}]},`
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/list.xml" {
			_, _ = w.Write([]byte(`<anime-list><anime anidbid="1" tvdbid="500" defaulttvdbseason="1"><name>One</name></anime>` +
				`<anime anidbid="2" tvdbid="500" defaulttvdbseason="2"><name>Two</name></anime></anime-list>`))
			return
		}
		_, _ = w.Write([]byte(strings.Replace(tableOf(9000), `"items":[`, `"items":[`+ids, 1)))
	}))
	t.Cleanup(site.Close)
	s := start(t, "WATCHMARK_MATCHING_DATASET_URL="+site.URL+"/data.json", "WATCHMARK_IDMAP_ENABLED=true",
		"WATCHMARK_IDMAP_ANIME_LISTS_URL="+site.URL+"/list.xml", "WATCHMARK_IDMAP_SHINKRO_URL=", "WATCHMARK_IDMAP_UPDATE_CRON=")
	running, err := s.app.Lists.Update(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.taskEnds(running.Status().ID)
	return s
}

func TestAnImportTeachesTheIDsOfSeries(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	t.Parallel()
	for source, c := range map[string]struct {
		watcher string
		body    string // of an event, with the server, the series and the episode left open
	}{
		"plex": {"1", `{"event":"media.scrobble","Account":{"id":1,"title":"Mira"},"Server":{"title":"Home Plex","uuid":%q},"Metadata":{"type":"episode",
			"grandparentTitle":"A show that nobody knows at all","grandparentRatingKey":%q,"parentIndex":2,"index":%d}}`},
		"emby": {"a1", `{"Event":"playback.stop","User":{"Name":"Mira","Id":"a1"},"Server":{"Name":"Home emby","Id":%q},"PlaybackInfo":{"PlayedToCompletion":true},
			"Item":{"Type":"Episode","SeriesName":"A show that nobody knows at all","SeriesId":%q,"ParentIndexNumber":2,"IndexNumber":%d,"ProviderIds":{"Tvdb":"77"}}}`},
		"jellyfin": {"a1", `{"NotificationType":"PlaybackStop","PlayedToCompletion":true,"NotificationUsername":"Mira","ServerId":%q,"ServerName":"Home jellyfin","ItemType":"Episode",
			"SeriesName":"A show that nobody knows at all","SeriesId":%q,"SeasonNumber":2,"EpisodeNumber":%d,"Provider_tvdb":"77"}`},
	} {
		t.Run(source, func(t *testing.T) {
			cfg := library(source, c.watcher, "zz")
			cfg.Shows[1].IDs = map[string]string{"tvdb": "500"}
			cfg.Items = append(cfg.Items[:0:0], cfg.Items[4]) // a film: nothing of the series was watched
			const server = "server-1"
			remote := mediaservertest.Start(t, cfg)
			s := startWithSeasons(t)
			watch := func(server, series string, episode int) recordView {
				t.Helper()
				return s.settled(s.accepted(s.webhook(source, "application/json", fmt.Sprintf(c.body, server, series, episode)))[0])
			}
			if got := watch(server, "200", 2); got.SubjectID != 0 {
				t.Fatalf("before the import it came out as %+v", got)
			}
			body := importBody(source, remote.URL, "Mira")
			s.imports("preview", body)
			if got := watch(server, "200", 3); got.SubjectID != 0 {
				t.Errorf("after a preview, which remembers nothing, it came out as %+v", got)
			}
			s.imports("run", body)
			got := watch(server, "200", 7)
			if got.Status != "success" || got.SubjectID != 900002 || got.EpisodeID != 90000207 {
				t.Errorf("after the import it came out as %+v", got)
			}
			trace := s.api(http.MethodGet, fmt.Sprintf("/api/match-records/%d/trace", got.ID), "", http.StatusOK, nil).body
			if !strings.Contains(trace, "learned from the import of Home ") || !strings.Contains(trace, `"tvdb":"500"`) {
				t.Errorf("the trace says %s", trace)
			}
			if page := s.get(fmt.Sprintf("/records/%d", got.ID)).body; !strings.Contains(page, "learned from the import of Home ") || !strings.Contains(page, "Source of the IDs") {
				t.Error("the page of the record does not say where the ids come from")
			}
			if got := watch(server, "", 8); got.EpisodeID != 90000208 {
				t.Errorf("an event that does not name the series came out as %+v", got)
			}
			if got := watch("cellar", "200", 9); got.SubjectID != 0 {
				t.Errorf("an event of another server came out as %+v", got)
			}
			if got := watch(server, "201", 10); got.SubjectID != 0 {
				t.Errorf("an event of another series came out as %+v", got)
			}
		})
	}
}

// The ids of a script are those of the series or of the film, wherever its event is tried.
func TestScriptsNameSeriesByTheTVDB(t *testing.T) {
	s := startWithSeasons(t)
	for name, c := range map[string]struct {
		body string
		want int
	}{
		"the id at TheTVDB":                  {`{"title":"Qwerty","season":2,"episode":7,"user_name":"Mira","ids":{"tvdb":"500"}}`, 900002},
		"as a number, and an id at IMDb":     {`{"title":"Qwerty","season":2,"episode":7,"user_name":"Mira","ids":{"imdb":"tt1","TVDB":500}}`, 900002},
		"the id of a series is not a film's": {`{"title":"Qwerty","media_type":"movie","user_name":"Mira","ids":{"tvdb":"500"}}`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var trace struct {
				Result struct {
					SubjectID int `json:"subject_id"`
				} `json:"result"`
			}
			if s.api(http.MethodPost, "/api/test-match", c.body, http.StatusOK, &trace); trace.Result.SubjectID != c.want {
				t.Errorf("test-match answers %d, not %d", trace.Result.SubjectID, c.want)
			}
			if got := s.settled(s.custom(c.body)); got.SubjectID != c.want {
				t.Errorf("the record is %+v, want %d", got, c.want)
			}
		})
	}
}

// One of the two plugins of Jellyfin tells the ids of the series, the other one does not.
func TestAnEventTeachesTheIDsOfItsSeries(t *testing.T) {
	s := startWithSeasons(t)
	told := s.accepted(s.webhook("jellyfin", "application/json", `{"Event":"Scrobble","User":{"Name":"Mira"},"Server":{"Name":"Attic","Id":"9b1d0a"},
		"Item":{"Type":"Episode","SeriesName":"Qwerty","SeriesId":"77aa","ParentIndexNumber":2,"IndexNumber":6},"Series":{"Name":"Qwerty","ProviderIds":{"Tvdb":"500"}}}`))
	if got := s.settled(told[0]); got.EpisodeID != 90000206 {
		t.Fatalf("the event with ids came out as %+v", got)
	}
	later := s.accepted(s.webhook("jellyfin", "text/plain", `{"NotificationType":"PlaybackStop","PlayedToCompletion":true,"NotificationUsername":"Mira","ServerId":"9b1d0a",
		"ServerName":"Attic","ItemType":"Episode","SeriesName":"Qwerty","SeriesId":"77aa","SeasonNumber":2,"EpisodeNumber":7}`))
	if got := s.settled(later[0]); got.EpisodeID != 90000207 {
		t.Errorf("the event without ids came out as %+v", got)
	}
	if page := s.get(fmt.Sprintf("/records/%d", later[0])).body; !strings.Contains(page, "learned from an earlier event of Attic") {
		t.Error("the page of the record does not say where the ids come from")
	}
}
